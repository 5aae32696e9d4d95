"""Fragments of a workspace: topologies that other topologies use as a part.

A document contains the definitions that it uses, so it does not depend on the fragments of the
workspace. What is known of them here is where newer versions are from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, QuerySet
from millrace_backend.errors import Conflict
from millrace_model.documents import TopologyDocument

from topologies.models import FragmentUse, Topology, Version

#: number of names in a message
NAMED = 5
#: maximum number of fragments whose uses are noted for a version
MOST_USES = 1_000
_INPUT, _OUTPUT = "fragment.input", "fragment.output"


def is_fragment(document: TopologyDocument) -> bool:
    """Whether a document has ports, as only fragments do."""
    return any(node["kind"] in (_INPUT, _OUTPUT) for node in document["nodes"])


def fragments_of(workspace: int) -> QuerySet[Topology]:
    """Return the fragments of a workspace, with the number of topologies that use each."""
    rows = Topology.objects.filter(workspace=workspace, is_fragment=True)
    found = rows.annotate(users=Count("used_by__topology", distinct=True))
    return found.order_by("-updated_at", "-id")


def note_uses(topology: Topology, document: TopologyDocument) -> None:
    """Store which versions of the workspace's fragments the newest version of a topology has."""
    FragmentUse.objects.filter(topology=topology).delete()
    used = references(document)
    names = {name for name, _ in used}
    if not names:
        return
    rows = topology.workspace.topologies.filter(is_fragment=True, name__in=names)
    known = dict(rows.exclude(pk=topology.pk).values_list("name", "pk"))
    FragmentUse.objects.bulk_create(
        FragmentUse(topology=topology, fragment_id=known[name], number=number)
        for name, number in used
        if name in known
    )


def references(document: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return names and versions of the definitions that a document contains."""
    fragments = document.get("fragments")
    found = []
    for text in fragments if isinstance(fragments, dict) else ():
        name, _, number = str(text).rpartition("@")
        if name and number.isascii() and number.isdigit() and len(number) < 10:
            found.append((name, int(number)))
    return list(dict.fromkeys(found))[:MOST_USES]


def users_of(fragment: Topology) -> list[dict[str, Any]]:
    """Return the topologies that use a fragment, with the versions of it that each contains."""
    found: dict[int, dict[str, Any]] = {}
    uses = FragmentUse.objects.filter(fragment=fragment).select_related("topology")
    for use in uses.order_by("topology__name", "number"):
        row = found.setdefault(
            use.topology_id,
            {"topology": use.topology_id, "name": use.topology.name, "versions": [],
             "is_fragment": use.topology.is_fragment},
        )  # fmt: skip
        row["versions"].append(use.number)
    return list(found.values())


def require_unused(fragment: Topology, doing: str) -> None:
    """Raise Conflict with the topologies that use a fragment, if there are any."""
    users = [each["name"] for each in users_of(fragment)]
    if users:
        shown = ", ".join(f"“{name}”" for name in users[:NAMED])
        more = f" and {len(users) - NAMED} more" if len(users) > NAMED else ""
        raise Conflict(
            "fragment_used",
            f"“{fragment.name}” cannot be {doing}: {shown}{more} use it.",
            "They contain the versions that they use and stay as they are, but cannot be updated "
            "to newer ones.",
            users=users,
        )


def interface_of(version: Version | None) -> dict[str, Any]:
    """Return inputs, outputs and parameters of a version of a fragment."""
    document = {} if version is None else version.document
    nodes = document.get("nodes") or []
    parameters = document.get("parameters")
    return {
        "inputs": [
            {
                "name": node["id"],
                **{
                    part: value if isinstance(value, str) else None
                    for part in ("role", "key", "value")
                    for value in [(node.get("params") or {}).get(part)]
                },
            }
            for node in nodes
            if node["kind"] == _INPUT
        ],
        "outputs": [node["id"] for node in nodes if node["kind"] == _OUTPUT],
        "parameters": list(parameters) if isinstance(parameters, dict) else [],
    }
