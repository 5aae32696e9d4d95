"""The last records over the edges of a running deployment: its driver keeps them while one looks.

Asking is looking: it sets a key that the driver reads every second, and that expires soon.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from millrace_backend import redis
from millrace_backend.errors import NotFound
from topologies.topics import topic_failure

from deployments.models import Deployment

#: pages ask every two seconds; a hidden page stops asking
WATCHED_SECONDS = 10
#: records of an edge in an answer, as the driver keeps them
MOST_RECORDS = 20


def edges_of(document: Mapping[str, Any]) -> set[str]:
    """The names of a document's edges: ``<source>.<port>><target>.<port>``."""
    return {
        f"{edge['source']}.{edge.get('source_port') or 'out'}"
        f">{edge['target']}.{edge.get('target_port') or 'in'}"
        for edge in document.get("edges") or []
    }


def look(deployment: Deployment, edge: str) -> dict[str, Any]:
    """The last records over an edge, newest first, and that somebody looks at them.

    ``deployment`` has its workspace at hand. Raises NotFound for an edge that the running version
    does not have or a topic that the workspace may not use (any more), redis.RedisError where Redis
    does not answer.
    """
    run = (
        deployment.runs.filter(ended_at__isnull=True)
        .select_related("version")
        .only("report_id", "version__number", "version__document")
        .first()
    )
    if run is None:
        return {"sampling": "stopped", "at": None, "records": []}
    document = run.version.document
    if edge not in edges_of(document):
        raise NotFound(
            "no_such_edge",
            f"Version {run.version.number}, which runs, has no edge “{edge[:200]}”.",
            "An edge is named <source>.<port>><target>.<port>, such as orders.out>valid.in.",
            fields={"edge": ["Not in the version that runs."]},
        )
    failure = topic_failure(document, deployment.workspace.topic_prefixes)
    if failure is not None:
        raise NotFound(
            failure["code"],
            failure["message"],
            "Records of topics that the workspace may not use are not shown.",
        )
    sent = redis.client().pipeline(transaction=False)
    sent.set(redis.run_watched(run.report_id), 1, ex=WATCHED_SECONDS)
    sent.get(redis.run_records(run.report_id))
    raw = sent.execute()[-1]
    # A driver that has not seen the request yet.
    if raw is None:
        return {"sampling": "starting", "at": None, "records": []}
    found = json.loads(raw)
    return {
        "sampling": "on" if found["here"] else "elsewhere",
        "at": found["at"],
        "records": found["edges"].get(edge, [])[:MOST_RECORDS],
    }
