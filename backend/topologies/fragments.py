"""Fragments of a workspace: topologies that other topologies use as a part.

A document contains the definitions that it uses, so it does not depend on the fragments of the
workspace. What is known of them here is where newer versions are from.
"""

from __future__ import annotations

from typing import TypedDict

from django.db.models import Count, QuerySet
from millrace_backend.errors import Conflict
from millrace_model.documents import INPUT, OUTPUT, DocumentNode, TopologyDocument

from topologies.models import FragmentUse, Topology, Version

#: number of names in a message
NAMED = 5
#: maximum number of fragments whose uses are noted for a version
MOST_USES = 1_000


def is_fragment(document: TopologyDocument) -> bool:
    """Whether a document has ports, as only fragments do."""
    return any(node["kind"] in (INPUT, OUTPUT) for node in document["nodes"])


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


def references(document: TopologyDocument) -> list[tuple[str, int]]:
    """Return names and versions of the definitions that a document contains."""
    fragments: object = document.get("fragments")
    found = []
    for text in fragments if isinstance(fragments, dict) else ():
        name, _, number = str(text).rpartition("@")
        if name and number.isascii() and number.isdigit() and len(number) < 10:
            found.append((name, int(number)))
    return list(dict.fromkeys(found))[:MOST_USES]


class FragmentUser(TypedDict):
    """A topology whose newest version contains versions of a fragment."""

    topology: int
    name: str
    is_fragment: bool
    versions: list[int]


def users_of(fragment: Topology) -> list[FragmentUser]:
    """Return the topologies that use a fragment, with the versions of it that each contains."""
    found: dict[int, FragmentUser] = {}
    uses = FragmentUse.objects.filter(fragment=fragment).select_related("topology")
    for use in uses.order_by("topology__name", "number"):
        name, inner = use.topology.name, use.topology.is_fragment
        row = found.setdefault(
            use.topology_id,
            {"topology": use.topology_id, "name": name, "is_fragment": inner, "versions": []},
        )
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


class FragmentInput(TypedDict):
    """An input, with what it needs; None: anything."""

    name: str
    role: str | None
    key: str | None
    value: str | None


class FragmentInterface(TypedDict):
    """Inputs, outputs and names of parameters."""

    inputs: list[FragmentInput]
    outputs: list[str]
    parameters: list[str]


def interface_of(version: Version | None) -> FragmentInterface:
    """Return inputs, outputs and parameters of a version of a fragment."""
    nodes = [] if version is None else version.document["nodes"]
    parameters: object = None if version is None else version.document.get("parameters")
    return {
        "inputs": [_input(node) for node in nodes if node["kind"] == INPUT],
        "outputs": [node["id"] for node in nodes if node["kind"] == OUTPUT],
        "parameters": list(parameters) if isinstance(parameters, dict) else [],
    }


def _input(node: DocumentNode) -> FragmentInput:
    params = node.get("params") or {}
    role, key, value = (
        each if isinstance(each, str) else None
        for each in (params.get("role"), params.get("key"), params.get("value"))
    )
    return {"name": node["id"], "role": role, "key": key, "value": value}
