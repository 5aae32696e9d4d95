"""Who uses a topic of the cluster: deployments of all workspaces that run or are to run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q
from millrace_compiler.documents.topic_patterns import NoPattern, topic_pattern
from millrace_compiler.graphs.needs import topics_of
from millrace_model.documents import DocumentNode, TopologyDocument
from redis.exceptions import RedisError

from deployments.choices import Desired
from deployments.environments import document_in
from deployments.models import Deployment, Run, Shadow
from deployments.outputs import possible_versions
from deployments.runtime import places_of, read_runtime
from deployments.shadows import shadow_document

#: endings of the names that Kafka Streams gives to the internal topics of a node
INTERNAL = ("-repartition", "-changelog")


@dataclass(frozen=True)
class TopicUse:
    """A deployment that uses a topic. ``how`` continues the sentence “The deployment …”.

    ``certain`` is False if it is not known whether the deployment uses this topic.
    """

    deployment: Deployment
    how: str
    certain: bool = True


def uses_of_topic(topic: str) -> Iterator[TopicUse]:
    """Yield the uses of a topic by deployments of any workspace, at most one for each deployment.

    A deployment counts if it should run or if its driver has not ended. The topics that running
    drivers report count too: another version may be running than the one that should.
    """
    running = Run.objects.filter(deployment=OuterRef("pk"), ended_at__isnull=True)
    rows = Deployment.objects.filter(Q(desired=Desired.RUNNING) | Exists(running))
    rows = rows.select_related("version", "topology", "shadow").prefetch_related("runs__version")
    for row in rows.iterator(chunk_size=20):
        uses = [*_declared(row, topic), *_reported(row, topic)]
        # A certain use before one that is only possible.
        yield from sorted(uses, key=lambda use: not use.certain)[:1]


def _declared(row: Deployment, topic: str) -> Iterator[TopicUse]:
    shadow: Shadow | None = getattr(row, "shadow", None)
    if shadow is not None and topic.endswith(shadow.suffix):
        yield TopicUse(row, "is a shadow that writes it")
    for version, settings in possible_versions(row):
        document: TopologyDocument = document_in(version, settings)
        if shadow is not None:
            document = shadow_document(document, shadow.suffix)
        for how, certain in uses_in(document, topic):
            yield TopicUse(row, how, certain)


def uses_in(document: TopologyDocument, topic: str) -> Iterator[tuple[str, bool]]:
    """Yield how a document uses a topic, and whether that is certain."""
    if topic in {need.topic for need in topics_of(document)}:
        yield "names it", True
    for node in document.get("nodes", []):
        params = node.get("params") or {}
        pattern = params.get("topic_pattern")
        if isinstance(pattern, str) and params.get("reader") is None and _matches(pattern, topic):
            yield f"reads topics like “{pattern}”", True
        if params.get("topic_expression"):
            yield f"writes topics whose names are computed by “{params['topic_expression']}”", False
        if _is_internal(node, topic):
            yield f"has a node {node['id']!r}, whose internal topic has this name", True


def _matches(pattern: str, topic: str) -> bool:
    try:
        return topic_pattern(pattern).matches(topic)
    except NoPattern:
        # Such a document does not compile; an older release may have accepted it.
        return True


def _is_internal(node: DocumentNode, topic: str) -> bool:
    """Return whether the topic has the name of a repartition or changelog topic of the node.

    Kafka Streams names them after the node or its store, sometimes with a part in between.
    """
    stem = next((topic.removesuffix(end) for end in INTERNAL if topic.endswith(end)), None)
    if stem is None:
        return False
    params = node.get("params") or {}
    names = [node["id"], *(params.get(name) for name in ("name", "store"))]
    return any(
        f"-{stem}-".find(f"-{name}-") >= 0 for name in names if isinstance(name, str) and name
    )


def _reported(row: Deployment, topic: str) -> Iterator[TopicUse]:
    """Yield a use if the running driver reports that it reads the topic, or cannot be asked."""
    run = row.live_run
    if run is None:
        return
    try:
        report = read_runtime(row.pk, run.report_id, time.time() * 1000)
    except RedisError:
        yield TopicUse(row, "is running and cannot be asked, because Redis does not respond", False)
        return
    if report is not None and topic in {place.get("topic") for place in places_of(report)}:
        yield TopicUse(row, "reads it at this moment")
