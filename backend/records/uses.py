"""The nodes of a workspace's topologies that use a topic, with their formats."""

from __future__ import annotations

from typing import Any

from accounts.models import Workspace
from deployments.models import Deployment
from django.db.models import F
from millrace_compiler.types.generating import settings_of_source
from millrace_model.documents import DocumentNode
from topologies.environments import document_in
from topologies.models import Version

#: number of topologies that are searched, the last changed first
MOST_LOOKED_AT = 200


def uses_of(workspace: Workspace, topic: str) -> list[dict[str, Any]]:
    """Return nodes of the newest versions that read or write the topic by name, readers first."""
    newest = (
        Version.objects.filter(topology__workspace=workspace, number=F("topology__latest_number"))
        .select_related("topology")
        .order_by("-topology__updated_at")[:MOST_LOOKED_AT]
    )
    deployed = dict(Deployment.objects.filter(workspace=workspace).values_list("topology_id", "pk"))
    found = [
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


def _use(node: DocumentNode, topic: str) -> dict[str, object] | None:
    params = node.get("params") or {}
    if node["kind"].startswith("source."):
        if topic not in (params.get("topics") or [params.get("topic")]):
            return None
        if not isinstance(params.get("key"), dict) or not isinstance(params.get("value"), dict):
            return None
        return {"reads": True, **settings_of_source(node)}
    if node["kind"] == "sink.topic" and params.get("topic") == topic:
        formats = {part: params.get(part) for part in ("key", "value")}
        if all(isinstance(each, dict) for each in formats.values()):
            return {"reads": False, **formats, "time_field": None}
    return None
