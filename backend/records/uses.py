"""The nodes of a workspace's topologies that use a topic, with their formats."""

from __future__ import annotations

from collections.abc import Iterator
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
    found = [
        use
        for version in newest
        for use in _uses_in(version, deployed.get(version.topology_id, {}), topic)
    ]
    return sorted(found, key=lambda each: not each["reads"])


def _uses_in(
    version: Version, deployed: dict[str | None, int], topic: str
) -> Iterator[dict[str, Any]]:
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
