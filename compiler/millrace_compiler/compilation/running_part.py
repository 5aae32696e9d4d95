"""A part of a topology, to be simulated alone.

Records that are *pinned* on an edge stand for everything before it: in the document of the part,
the edge begins at a source of its own topic, with the role and the types that the edge has in the
whole topology. The part has the nodes that follow a pinned edge (or only one node, ``to``) and what
these need. A *muted* node does nothing: its records pass unchanged where they have the type that it
gives; otherwise they stop before it. For a node with a *double*, a table of answers runs
(:mod:`millrace_compiler.compilation.doubles`).

Pinned edges, muted nodes and doubles never affect compiled programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from millrace_model.documents import (
    DocumentEdge,
    DocumentNode,
    Double,
    Format,
    TopologyDocument,
)

from millrace_compiler.compilation.compilation import Compilation
from millrace_compiler.compilation.doubles import NoDouble, double_of
from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.declarations.ports import Port
from millrace_compiler.documents.document import Edge
from millrace_compiler.graphs.graph import STORE_PORT, Graph
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.types.types import STRING, DataType

#: Source, source port, target and target port of an edge.
Ends = tuple[str, str, str, str]


class NoPart(ValueError):
    """The part cannot run; ``code`` and ``facts`` identify the reason."""

    def __init__(self, code: str, message: str, **facts: str) -> None:
        super().__init__(message)
        self.code, self.facts = code, facts


@dataclass(frozen=True)
class Part:
    """A part of a topology.

    ``ports``: types of the sources that stand for edges, by node. ``topics``: those that these
    sources read, by edge. ``edges``: for each edge of ``document`` its index in the whole, or None.
    ``origins``: node and port of the whole for which a source stands. ``muted``: whether the
    records of a muted node pass it. ``doubles``: the nodes for which a double runs.
    """

    document: TopologyDocument
    ports: Mapping[str, Port]
    topics: Mapping[Ends, str]
    edges: tuple[int | None, ...]
    origins: Mapping[str, tuple[str, str]]
    muted: Mapping[str, bool]
    doubles: tuple[str, ...] = ()


def part_of(
    whole: Compilation,
    document: TopologyDocument,
    pins: Iterable[Ends] = (),
    *,
    to: str | None = None,
    muted: Iterable[str] = (),
    doubles: Iterable[Double] = (),
    stands: Mapping[Ends, Sequence[Ends]] | None = None,
    within: Mapping[str, Sequence[str]] | None = None,
) -> Part:
    """The part of a compiled document. The compilation may have errors outside the part.

    ``stands``: the edges that run in place of one to or from a fragment. They begin at one source.
    ``within``: the nodes that run in place of a fragment.

    Raises NoPart if a pinned edge or a node does not exist, if the type of an edge that has to be
    cut is unknown, or if a node cannot have its double.
    """
    ahead = [] if to is None else list((within or {}).get(to, [to]))
    return _Cutting(whole, document, muted, doubles, stands or {}).part(list(pins), ahead)


def with_doubles(
    whole: Compilation, document: TopologyDocument, doubles: Iterable[Double]
) -> tuple[TopologyDocument, tuple[str, ...]]:
    """A compiled document with doubles in place of their nodes, and these nodes.

    Doubles of nodes that it does not have are passed over. Raises NoPart as :func:`part_of`.
    """
    part = part_of(whole, document, doubles=doubles)
    return part.document, part.doubles


class _Cutting:
    def __init__(
        self,
        whole: Compilation,
        document: TopologyDocument,
        muted: Iterable[str],
        doubles: Iterable[Double],
        stands: Mapping[Ends, Sequence[Ends]],
    ) -> None:
        self.whole, self.document, self.stands = whole, document, stands
        #: for each pinned edge, all that begin at the same source; the first one names its topic
        self.together: dict[int, list[Edge]] = {}
        self.pinned_as: dict[int, Ends] = {}
        self.graph: Graph = whole.graph
        self.edges = whole.document.edges
        self.by_ends: dict[Ends, Edge] = {}
        for edge in self.edges:
            self.by_ends.setdefault(ends_of(edge), edge)
        self.replaced: dict[str, DocumentNode] = {}
        self.stopped: set[str] = set()
        for id_ in dict.fromkeys(muted):
            self._mute(id_)
        muted_ = {*self.replaced, *self.stopped}
        self.doubled: list[str] = []
        for double in doubles:
            if double["node"] not in muted_ and double["node"] in self.graph.operators:
                self._double(double)

    def part(self, pins: list[Ends], to: list[str]) -> Part:
        cut = {edge.index: edge for pin in pins for edge in self._pinned(pin)}
        wanted = self._wanted(list(cut.values()), to) - self.stopped
        if not wanted:
            raise NoPart(
                "part_empty", "All nodes of the part are muted, so there is nothing to run."
            )
        for edge in self.edges:
            if edge.source in self.stopped and edge.target_port != STORE_PORT:
                cut.setdefault(edge.index, edge)
        return self._built(self._needed(wanted, cut), cut)

    # ---- which nodes ------------------------------------------------------------------------

    def _pinned(self, ends: Ends) -> list[Edge]:
        edges = [self.by_ends.get(each) for each in self.stands.get(ends, [ends])]
        found = [edge for edge in edges if edge is not None and edge.target_port != STORE_PORT]
        if not found or len(found) < len(edges):
            source, target = ends[0], ends[2]
            message = (
                f"Records are pinned on an edge from {source} to {target}, which does not exist."
            )
            raise NoPart("pin_unknown", message, source=source, target=target)
        for edge in found:
            self.together[edge.index] = found
            self.pinned_as[edge.index] = ends
        return found

    def _wanted(self, pinned: list[Edge], to: list[str]) -> set[str]:
        operators = self.graph.operators
        if to:
            nodes = [
                id_ for id_ in to if id_ in operators and not isinstance(operators[id_], Store)
            ]
            if not nodes:
                message = f"{to[0]} is not a node that gets records, so nothing can run up to it."
                raise NoPart("part_node_unknown", message, to=to[0])
            return set(nodes)
        if not pinned:
            return {id_ for id_, each in operators.items() if not isinstance(each, Store)}
        found: set[str] = set()
        ahead = [edge.target for edge in pinned]
        while ahead:
            id_ = ahead.pop()
            if id_ in found:
                continue
            found.add(id_)
            ahead += [edge.target for edge in self.graph.outgoing[id_]]
        return found

    def _needed(self, wanted: set[str], cut: Mapping[int, Edge]) -> set[str]:
        """The nodes with all that they need: inputs that are not cut, stores, and their users."""
        users: dict[str, list[str]] = {}
        stores: dict[str, list[str]] = {}
        for edge in self.edges:
            if edge.target_port == STORE_PORT:
                users.setdefault(edge.source, []).append(edge.target)
                stores.setdefault(edge.target, []).append(edge.source)
        found: set[str] = set()
        ahead = sorted(wanted)
        while ahead:
            id_ = ahead.pop()
            if id_ in found or id_ in self.stopped or id_ not in self.graph.operators:
                continue
            found.add(id_)
            if isinstance(self.graph.operators[id_], Store):
                ahead += users.get(id_, [])
                continue
            ahead += stores.get(id_, [])
            for edges in self.graph.inputs[id_].values():
                ahead += [edge.source for edge in edges if edge.index not in cut]
        return found

    # ---- muted nodes ------------------------------------------------------------------------

    def _mute(self, id_: str) -> None:
        operator = self.graph.operators.get(id_)
        if operator is None or isinstance(operator, Store):
            return
        passing = self._passing(operator)
        if passing is None:
            self.stopped.add(id_)
        else:
            node: DocumentNode = {"id": id_, "kind": passing, "params": {}}
            if passing == "filter":
                node["params"] = {"predicate": "true"}
            self.replaced[id_] = node

    def _passing(self, operator: Operator) -> str | None:
        """The kind of node that passes on the records of a muted node; None if they stop."""
        outputs = operator.outputs()
        inputs = [edge for edges in self.graph.inputs[operator.id].values() for edge in edges]
        ports = {edge.target_port for edge in inputs}
        if len(outputs) != 1 or not inputs or len(ports) != 1 or len(operator.inputs()) != 1:
            return None
        after = self.whole.ports.get((operator.id, outputs[0]))
        before = [self.whole.ports.get((edge.source, edge.source_port)) for edge in inputs]
        known = [port for port in before if port is not None]
        if after is None or len(known) != len(before) or outputs != ("out",) or ports != {"in"}:
            return None
        if any((each.key, each.value) != (after.key, after.value) for each in known):
            return None
        if after.key is None or after.value is None:
            return None
        roles = {each.role for each in known}
        if after.role == "table":
            return "filter" if roles == {"table"} else "to_table" if len(known) == 1 else None
        if roles == {"stream"}:
            return "filter" if len(known) == 1 else "merge"
        return "to_stream" if len(known) == 1 else None

    # ---- doubles ----------------------------------------------------------------------------

    def _double(self, double: Double) -> None:
        id_ = double["node"]
        operator = self.graph.operators[id_]
        before = {
            port: [self.whole.ports.get((edge.source, edge.source_port)) for edge in edges]
            for port, edges in self.graph.inputs[id_].items()
            if edges
        }
        try:
            after = self.whole.ports.get((id_, "out"))
            kind, params = double_of(operator, before, after, double)
        except NoDouble as reason:
            message = f"{id_} cannot have its double: {reason}."
            raise NoPart(reason.code, message, node=id_) from None
        self.replaced[id_] = {"id": id_, "kind": kind, "params": {**params}}
        self.doubled.append(id_)

    # ---- the document -----------------------------------------------------------------------

    def _built(self, found: set[str], cut: Mapping[int, Edge]) -> Part:
        raw = {node["id"]: node for node in self.document["nodes"]}
        nodes = [self.replaced.get(id_, node) for id_, node in raw.items() if id_ in found]
        edges: list[DocumentEdge] = []
        indexes: list[int | None] = []
        topics, ports, origins = {}, {}, {}
        partitions: dict[str, int] = {}
        sources: dict[int, str] = {}
        joined: set[tuple[str, str, str]] = set()
        for edge in self.edges:
            if edge.target not in found:
                continue
            if edge.index not in cut:
                replaced = edge.target in self.replaced and edge.target_port == STORE_PORT
                if edge.source in found and not replaced:
                    edges.append(_edge(*ends_of(edge)))
                    indexes.append(edge.index)
                continue
            others = self.together.get(edge.index, [edge])
            known = next((sources[each.index] for each in others if each.index in sources), None)
            if known is not None:
                # Of several edges into the same input, one brings the records.
                if (known, edge.target, edge.target_port) not in joined:
                    joined.add((known, edge.target, edge.target_port))
                    edges.append(_edge(known, "out", edge.target, edge.target_port))
                    indexes.append(edge.index)
                continue
            port = self._typed(edge)
            id_ = sources[edge.index] = self._free(f"pinned-{edge.index}")
            joined.add((id_, edge.target, edge.target_port))
            nodes.append(_source(id_, port))
            if port.history is not None:
                store = f"{id_}-store"
                params = {"name": store, "history_retention": port.history}
                nodes.append({"id": store, "kind": "store.versioned", "params": params})
                edges.append(_edge(store, "out", id_, STORE_PORT))
                indexes.append(None)
            edges.append(_edge(id_, "out", edge.target, edge.target_port))
            indexes.append(edge.index)
            topics[self.pinned_as.get(edge.index, ends_of(edge))], ports[id_] = id_, port
            origins[id_] = (edge.source, edge.source_port)
            partitions[id_] = self._partitions(edge.source)
        # Stores that only muted nodes use are not connected.
        connected = {edge["source"] for edge in edges}
        nodes = [
            node
            for node in nodes
            if node["id"] in connected or not node["kind"].startswith("store.")
        ]
        declared = {name: dict(each) for name, each in (self.document.get("topics") or {}).items()}
        declared |= {name: {"partitions": number} for name, number in partitions.items()}
        document = cast(
            TopologyDocument, {**self.document, "nodes": nodes, "edges": edges, "topics": declared}
        )
        document.pop("drawing", None)
        passes = {**dict.fromkeys(self.stopped, False), **dict.fromkeys(self.replaced, True)}
        for id_ in self.doubled:
            del passes[id_]
        ran = tuple(id_ for id_ in self.doubled if id_ in found)
        return Part(document, ports, topics, tuple(indexes), origins, passes, ran)

    def _typed(self, edge: Edge) -> Port:
        port = self.whole.ports.get((edge.source, edge.source_port))
        if port is None or port.key is None or port.value is None:
            message = (
                f"The type of the records from {edge.source} to {edge.target} is not known, "
                f"because {edge.source} or a node before it has errors."
            )
            raise NoPart("pin_untyped", message, source=edge.source, target=edge.target)
        return port

    def _free(self, name: str) -> str:
        """The name, or a longer one that is neither a node nor a topic of the document."""
        taken = set(self.graph.operators) | set(self.whole.document.topics)
        for operator in self.graph.operators.values():
            taken.update(operator.topic_names() if isinstance(operator, Source) else ())
            taken.add(str(operator.values.get("topic")))
        while name in taken:
            name += "-x"
        return name

    def _partitions(self, node: str) -> int:
        """The largest number of partitions of the topics from which the records of a node come."""
        most, seen, ahead = 1, set(), [node]
        while ahead:
            id_ = ahead.pop()
            operator = self.graph.operators.get(id_)
            if id_ in seen or operator is None:
                continue
            seen.add(id_)
            if isinstance(operator, Source):
                topics = operator.topic_names()
                most = max([most, *(self.whole.document.partitions(each) for each in topics)])
            number = operator.values.get("partitions") if operator.kind == "repartition" else None
            if isinstance(number, int):
                most = max(most, number)
                continue
            ahead += [
                edge.source
                for port, edges in self.graph.inputs[id_].items()
                for edge in edges
                if operator.drives(port) and not self._is_global(edge)
            ]
        return most

    def _is_global(self, edge: Edge) -> bool:
        port = self.whole.ports.get((edge.source, edge.source_port))
        return port is not None and port.role == "global_table"


def ends_of(edge: Edge) -> Ends:
    """The ends of an edge, which identify it."""
    return (edge.source, edge.source_port, edge.target, edge.target_port)


def _edge(source: str, source_port: str, target: str, target_port: str) -> DocumentEdge:
    return {
        "source": source, "source_port": source_port,
        "target": target, "target_port": target_port,
    }  # fmt: skip


def _source(id_: str, port: Port) -> DocumentNode:
    topics = {"topics": [id_]} if port.role == "stream" else {"topic": id_}
    formats = {"key": _format(port.key), "value": _format(port.value)}
    return {"id": id_, "kind": f"source.{port.role}", "params": {**topics, **formats}}


def _format(type_: DataType | None) -> Format:
    """JSON can carry any type; of a null, or an unknown one, the type does not matter."""
    known = STRING if type_ is None or type_.name == "VOID" else type_
    return {"format": "json", "schema": known.schema}
