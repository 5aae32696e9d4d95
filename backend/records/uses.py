"""The nodes of a workspace's topologies that use a topic, with their formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from accounts.models import Workspace
from deployments.models import Deployment
from django.db.models import F
from millrace_compiler.graphs.kinds import sink_kinds
from millrace_compiler.types.generating import settings_of_source
from millrace_model.documents import DocumentNode
from millrace_model.recipes import SourceFormats
from topologies.environments import document_in
from topologies.models import Version

#: number of topologies that are searched, the last changed first
MOST_LOOKED_AT = 200


class UsedFormats(SourceFormats):
    """The formats that a node states."""

    reads: Annotated[bool, "False for a node that writes the topic."]


class TopicUse(UsedFormats):
    """A node of a topology that reads or writes a topic, and the formats it states."""

    topology: int
    deployment: Annotated[int | None, "A deployment in which it does; null without one."]
    name: str
    node: str


def uses_of(workspace: Workspace, topic: str) -> list[TopicUse]:
    """Return nodes of the newest versions that read or write the topic by name, readers first.

    With the values of the environments in which a topology is deployed, and the defaults.
    """
    newest = (
        Version.objects.filter(topology__workspace=workspace, number=F("topology__latest_number"))
        .select_related("topology")
        .order_by("-topology__updated_at")[:MOST_LOOKED_AT]
    )
    deployed: dict[int, dict[str | None, int]] = {}
    for row in Deployment.objects.filter(workspace=workspace, is_shadow=False):
        deployed.setdefault(row.topology_id, {})[row.environment] = row.pk
    found: list[TopicUse] = [
        use
        for version in newest
        for use in _uses_in(version, deployed.get(version.topology_id, {}), topic)
    ]
    return sorted(found, key=lambda each: not each["reads"])


def _uses_in(version: Version, deployed: dict[str | None, int], topic: str) -> Iterator[TopicUse]:
    """Yield the uses of a version, each node once, for the first environment with one."""
    seen = set()
    for environment in dict.fromkeys([*deployed, None]):
        for node in document_in(version.document, environment)["nodes"]:
            use = _use(node, topic)
            if use is None or node["id"] in seen:
                continue
            seen.add(node["id"])
            yield {
                "topology": version.topology_id,
                "deployment": deployed.get(environment),
                "name": version.topology.name,
                "node": node["id"],
                **use,
            }


def _use(node: DocumentNode, topic: str) -> UsedFormats | None:
    params = node.get("params") or {}
    if not isinstance(params.get("key"), dict) or not isinstance(params.get("value"), dict):
        return None
    if node["kind"].startswith("source."):
        if topic in (params.get("topics") or [params.get("topic")]):
            return {"reads": True, **settings_of_source(node)}
    elif node["kind"] in sink_kinds() and params.get("topic") == topic:
        return {"reads": False, "key": params["key"], "value": params["value"], "time_field": None}
    return None
