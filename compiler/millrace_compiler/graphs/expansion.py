"""What a document with fragments is expanded to, and where each part of it is from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Any, cast

from millrace_model.documents import Position
from millrace_model.plans import FragmentJson, InnerNode

from millrace_compiler.declarations.ports import Port
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.graphs.fragment_ports import Declared
from millrace_compiler.graphs.topology_parameters import Resolution

#: joins the ids of a fragment node and of a node in its definition
SEPARATOR = "--"


def title(node: str, inner: str) -> str:
    """Return how messages call a node within a fragment: `node > inner node`."""
    return f"{node} > {inner.removeprefix(node + SEPARATOR)}"


@dataclass(frozen=True)
class Origin:
    """Where a node of the expanded document is from.

    ``node``: the fragment node in the document. ``definition``: its definition, by name and
    version, and ``local``: its id there. ``filled``: the arguments that were filled in. ``raw``:
    the node as its definition has it.
    """

    node: str
    definition: str
    local: str
    filled: Resolution
    raw: Mapping[str, object]


@dataclass(frozen=True)
class Input:
    """A typed input of a fragment node, and where its records come from."""

    node: str
    port: str
    declared: Declared
    sources: tuple[tuple[str, str], ...]


@dataclass
class Expansion:
    """An ordinary document, and what its nodes and edges are in the one with fragments.

    ``edges``: for each edge its index there, or None within a fragment. ``outputs``: node and port
    of the expanded document for each output port of a fragment node.
    """

    document: object
    origins: dict[str, Origin] = field(default_factory=dict)
    edges: list[int | None] | None = None
    outputs: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    inputs: list[Input] = field(default_factory=list)
    #: fragment nodes that could not be expanded
    failed: set[str] = field(default_factory=set)
    #: input ports in fragments before which an edge is missing
    unfed: set[tuple[str, str]] = field(default_factory=set)

    def original(self, found: Diagnostics) -> Diagnostics:
        """Return diagnostics at the nodes of the document with fragments.

        What follows from a fragment that could not be expanded is left out.
        """
        told = Diagnostics()
        for each in found:
            if each.code == "edge_end" and str(each.data.get("missing")) in self.failed:
                continue
            if each.code == "input_missing" and (each.node, each.parameter) in self.unfed:
                continue
            origin = self.origins.get(each.node or "")
            if origin is None:
                told.put(each)
                continue
            local = Diagnostics()
            local.put(changed(each, node=origin.local))
            for one in origin.filled.original(local):
                told.put(changed(one, node=origin.node, inner=each.node))
        return told

    def title(self, node: str) -> str:
        """Return how messages call a node of the expanded document."""
        origin = self.origins.get(node)
        if origin is None:
            return node
        return title(origin.node, node)

    def to_json(self, shuffled: Iterable[tuple[str, str]] = ()) -> dict[str, FragmentJson]:
        """Return the inner nodes and edges of each fragment node, by its id.

        ``shuffled``: nodes and their inputs at which records are repartitioned.
        """
        moved: dict[str, list[str]] = {}
        for id_, port in sorted(shuffled):
            moved.setdefault(id_, []).append(port)
        found: dict[str, FragmentJson] = {}
        for id_, origin in self.origins.items():
            row = found.setdefault(origin.node, {"nodes": [], "edges": []})
            node: InnerNode = {
                "id": id_,
                "local": origin.local,
                "kind": str(origin.raw.get("kind")),
            }
            label, position = origin.raw.get("label"), origin.raw.get("position")
            if isinstance(label, str):
                node["label"] = label
            if isinstance(position, dict):
                node["position"] = cast(Position, position)
            if id_ in moved:
                node["shuffled"] = moved[id_]
            row["nodes"].append(node)
        rows = self.document.get("edges") if isinstance(self.document, dict) else None
        for edge in rows or ():
            ends = edge_ends(edge)
            if ends is None:
                continue
            tops = [self.origins[end].node if end in self.origins else "" for end in ends[::2]]
            if tops[0] and tops[0] == tops[1]:
                found[tops[0]]["edges"].append(edge)
        return found

    def check_types(self, ports: Mapping[tuple[str, str], Port], report: Diagnostics) -> None:
        """Report records that do not have the declared types of an input."""
        for each in self.inputs:
            for source in each.sources:
                port = ports.get(source)
                fault = None if port is None else each.declared.fault(port)
                if fault is not None:
                    found, needed = fault
                    report.add(
                        "fragment_input_type", each.node, each.port, port=each.port, found=found,
                        needed=needed,
                    )  # fmt: skip


def edge_ends(edge: object) -> tuple[str, str, str, str] | None:
    """Return the node and port at both ends of an edge; None if it is not valid."""
    if not isinstance(edge, dict):
        return None
    found = (
        edge.get("source"), edge.get("source_port") or "out",
        edge.get("target"), edge.get("target_port") or "in",
    )  # fmt: skip
    return cast(Any, found) if all(isinstance(each, str) for each in found) else None
