"""The nodes of a workspace's topologies that use a topic, with their formats."""

from __future__ import annotations

from typing import Annotated

from accounts.models import Workspace
from deployments.models import Deployment
from django.db.models import F
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
    deployment: Annotated[int | None, "The topology's deployment; null without one."]
    name: str
    node: str


def uses_of(workspace: Workspace, topic: str) -> list[TopicUse]:
    """Return nodes of the newest versions that read or write the topic by name, readers first."""
    newest = (
        Version.objects.filter(topology__workspace=workspace, number=F("topology__latest_number"))
        .select_related("topology")
        .order_by("-topology__updated_at")[:MOST_LOOKED_AT]
    )
    deployed = dict(Deployment.objects.filter(workspace=workspace).values_list("topology_id", "pk"))
    found: list[TopicUse] = [
        {
            "topology": version.topology_id,
            "deployment": deployed.get(version.topology_id),
            "name": version.topology.name,
            "node": node["id"],
            **use,
        }
        for version in newest
        for node in document_in(version.document, None)["nodes"]
        if (use := _use(node, topic)) is not None
    ]
    return sorted(found, key=lambda each: not each["reads"])


def _use(node: DocumentNode, topic: str) -> UsedFormats | None:
    params = node.get("params") or {}
    if not isinstance(params.get("key"), dict) or not isinstance(params.get("value"), dict):
        return None
    if node["kind"].startswith("source."):
        if topic in (params.get("topics") or [params.get("topic")]):
            return {"reads": True, **settings_of_source(node)}
    elif node["kind"] == "sink.topic" and params.get("topic") == topic:
        return {"reads": False, "key": params["key"], "value": params["value"], "time_field": None}
    return None
