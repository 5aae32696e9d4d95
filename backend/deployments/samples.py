"""The last records over the edges of a running deployment, which its driver captures on request.

Each request sets a key that expires soon; the driver looks for it every second.
"""

from __future__ import annotations

import json
import statistics
import time

from millrace_backend import redis
from millrace_backend.errors import NotFound
from millrace_model.documents import DocumentEdge
from millrace_model.drivers import DeploymentSettings
from millrace_model.samples import EdgeKeys, EdgeSamples, KeyCounts, Samples
from topologies.models import Version
from topologies.topics import topic_failure

from deployments.environments import document_in, environment_of
from deployments.models import Deployment
from deployments.plain_dialect import refuse_plain
from deployments.runtime import read_runtime

#: pages ask every two seconds; a hidden page stops asking
WATCHED_SECONDS = 10
#: maximum number of an edge's records in an answer; the driver keeps no more
MOST_RECORDS = 20


def name_of(edge: DocumentEdge) -> str:
    """The name of an edge: ``<source>.<port>><target>.<port>``."""
    return (
        f"{edge['source']}.{edge.get('source_port') or 'out'}"
        f">{edge['target']}.{edge.get('target_port') or 'in'}"
    )


def edges_of(version: Version, settings: DeploymentSettings | None) -> dict[str, list[str]]:
    """The edges that run in place of each edge of a version, and those within its fragments."""
    document = document_in(version, settings)
    found = {name_of(edge): [name_of(edge)] for edge in document.get("edges") or []}
    if version.document.get("fragments"):
        # The compiler is loaded at its first use, as in `topologies.compiling`.
        from millrace_compiler.graphs.fragments import edges_in_place

        for edge, running in edges_in_place(version.document, environment_of(settings)):
            found.setdefault(name_of(edge), [name_of(each) for each in running])
    return found


def look(deployment: Deployment, edge: str) -> Samples:
    """Return the last records over an edge, newest first, and request that they are captured.

    ``deployment`` has its workspace loaded. Raises NotFound for an edge that the running version
    does not have or a topic that the workspace may not use (any more), redis.RedisError if Redis
    does not respond.
    """
    refuse_plain(deployment, "show the records of its edges")
    run = (
        deployment.runs.filter(ended_at__isnull=True)
        .select_related("version")
        .only("report_id", "version__number", "version__document", "settings")
        .first()
    )
    if run is None:
        return {"sampling": "stopped", "at": None, "records": [], "keys": None}
    document = document_in(run.version, run.settings)
    running = edges_of(run.version, run.settings).get(edge)
    if running is None:
        raise NotFound(
            "no_such_edge",
            f"Version {run.version.number}, which runs, has no edge “{edge[:200]}”.",
            "An edge is named <source>.<port>><target>.<port>, such as orders.out>valid.in.",
            fields={"edge": ["Not in the running version."]},
        )
    failure = topic_failure(document, deployment.workspace.topic_prefixes)
    if failure is not None:
        raise NotFound(
            failure["code"],
            failure["message"],
            "Records of topics that the workspace may not use are not shown.",
            facts=failure["facts"],
        )
    sent = redis.client().pipeline(transaction=False)
    sent.set(redis.run_watched(run.report_id), 1, ex=WATCHED_SECONDS)
    sent.get(redis.run_records(run.report_id))
    raw = sent.execute()[-1]
    # The driver has not seen the request yet.
    if raw is None:
        return {"sampling": "starting", "at": None, "records": [], "keys": None}
    found: EdgeSamples = json.loads(raw)
    # Edges from the same port have the same records.
    sources: dict[str, str] = {}
    for each in running:
        if found["edges"].get(each):
            sources.setdefault(each.partition(">")[0], each)
    records = [record for each in sources.values() for record in found["edges"][each]]
    if len(sources) > 1:
        records.sort(key=lambda record: (record["seen"], record["number"]), reverse=True)
    keys = found["keys"].get(next(iter(sources.values()))) if len(sources) == 1 else None
    return {
        "sampling": "on",
        "at": found["at"],
        "records": records[:MOST_RECORDS],
        "keys": _keys(deployment, run.report_id, keys),
    }


def _keys(deployment: Deployment, report_id: str, counted: KeyCounts | None) -> EdgeKeys | None:
    """Return the most frequent keys, and the record counts of all tasks that receive the edge."""
    if counted is None:
        return None
    tasks = dict(counted["tasks"])
    report = read_runtime(deployment.pk, report_id, time.time() * 1000)
    subs = {name.partition("_")[0] for name in tasks}
    for each in report["tasks"] if report else []:
        # Tasks without a record over the edge are included, because skew is about idle tasks.
        if each["task"].partition("_")[0] in subs:
            tasks.setdefault(each["task"], 0)
    median = statistics.median(tasks.values()) if tasks else 0
    return {
        "since": counted["since"],
        "records": counted["records"],
        "sampled": counted["sampled"],
        "top": [{"key": key, "records": records} for key, records in counted["top"]],
        "tasks": [{"task": task, "records": tasks[task]} for task in sorted(tasks, key=_place)],
        "skew": round(max(tasks.values()) / median, 2) if median else None,
    }


def _place(task: str) -> tuple[int, ...]:
    return tuple(int(part) for part in task.split("_"))
