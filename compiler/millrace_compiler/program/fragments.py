"""Fragments of a document that can be functions of its program.

A function has inputs and no sources, the calls of its nodes contain its parameters, and the edges
of its outputs come last. The nodes of other fragments are written where these are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from millrace_model.documents import (
    FRAGMENT,
    DocumentNode,
    FragmentDefinition,
    TopologyDocument,
)

from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.documents.document import FORMAT, read_document
from millrace_compiler.graphs.expansion import Expansion
from millrace_compiler.graphs.fragments import expand, expanded_but
from millrace_compiler.graphs.graph import STORE_PORT, Graph
from millrace_compiler.program.placeholders import Placeholders, params_of
from millrace_compiler.program.used import InputPort, OutputPort, Ports, Use, kinds_of, ports_of


@dataclass
class Definition:
    """A definition that can be a function. ``outputs``: what it returns, by output."""

    reference: str
    raw: FragmentDefinition
    ports: Ports
    graph: Graph
    placeholders: Placeholders
    outputs: dict[str, Operator]


@dataclass
class Fragments:
    """The fragments of a program: its graph with their uses, and the functions that it calls.

    ``nodes``: for each function, the nodes in which each of its nodes runs.
    """

    graph: Graph
    definitions: dict[str, Definition]
    nodes: dict[str, dict[str, list[str]]]
    #: fragment nodes by the function that their nodes are from
    uses: dict[str, list[str]]

    @property
    def operators(self) -> list[Operator]:
        """The nodes of the graph and of the functions, without ports."""
        graphs = [self.graph, *(each.graph for each in self.definitions.values())]
        found = (operator for graph in graphs for operator in graph.operators.values())
        return [each for each in found if not isinstance(each, InputPort | OutputPort)]


def read_fragments(
    document: TopologyDocument,
    expansion: Expansion,
    expanded: Graph,
    settings: Mapping[str, object],
) -> Fragments | None:
    """Return the fragments that can be functions; None if a program can have none of them.

    ``document``: one that compiles, with the values of its parameters filled in; ``expanded``: its
    graph without fragments.
    """
    definitions = document.get("fragments") or {}
    uses = {
        each["id"]: str(params_of(each).get("fragment"))
        for each in document["nodes"]
        if each["kind"] == FRAGMENT
    }
    reader = _Reader(definitions)
    kept = {name for name in uses.values() if reader.read(name) is not None}
    if not kept:
        return None
    outer = expanded_but(document, kept)
    ports = {name: each.ports for name, each in reader.found.items() if each is not None}
    report = Diagnostics()
    graph = Graph(read_document(outer, report), report, kinds_of(ports))
    if report.failed:
        return None
    needed: dict[str, Definition] = {}
    for name in uses.values():
        if name in kept:
            reader.collect(name, needed)
    tops = {id_ for id_, name in uses.items() if name in kept}
    nodes: dict[str, dict[str, list[str]]] = {name: {} for name in needed}
    used: dict[str, dict[str, None]] = {name: {} for name in needed}
    for id_, origin in expansion.origins.items():
        if origin.node in tops and origin.definition in needed:
            nodes[origin.definition].setdefault(origin.local, []).append(id_)
            used[origin.definition][origin.node] = None
    made = Fragments(graph, needed, nodes, {name: list(each) for name, each in used.items()})
    numbered = settings.get("names") == "kafka_streams" or settings.get("optimization")
    if numbered and _order(document, made) != expanded.order:
        return None
    return made


def _order(document: TopologyDocument, fragments: Fragments) -> list[str]:
    """The order of the nodes that the program gives, on which the names of Kafka Streams depend."""
    made = {**document, **_ordered(document["nodes"], fragments.graph)}
    made["fragments"] = {
        name: {**each.raw, **_ordered(each.raw["nodes"], each.graph)}
        for name, each in fragments.definitions.items()
    }
    report = Diagnostics()
    return Graph(read_document(expand(made, report).document, report), report).order


def _ordered(nodes: Sequence[DocumentNode], graph: Graph) -> dict[str, object]:
    """The nodes and edges of a graph, in the order in which a program adds them."""
    raw = {each["id"]: each for each in nodes}
    order = [*graph.order, *(id_ for id_ in graph.operators if id_ not in graph.order)]
    found = [edge for id_ in order for edges in graph.inputs[id_].values() for edge in edges]
    edges = [
        {"source": each.source, "source_port": each.source_port,
         "target": each.target, "target_port": each.target_port}
        for each in found
    ]  # fmt: skip
    edges += [
        {"source": each.id, "target": id_, "target_port": STORE_PORT}
        for id_ in order
        for each in graph.operators[id_].connected
    ]
    # Nodes of fragments that cannot be functions are not among those of the document.
    known = {id_: raw.get(id_) or _raw(graph.operators[id_]) for id_ in order}
    return {"nodes": list(known.values()), "edges": edges}


def _raw(operator: Operator) -> DocumentNode:
    node = operator.node
    return {"id": node.id, "kind": node.kind, "params": dict(node.params)}


@dataclass
class _Reader:
    """Reads definitions, each after those that it uses."""

    definitions: Mapping[str, FragmentDefinition]
    found: dict[str, Definition | None] = field(default_factory=dict)

    def read(self, reference: str) -> Definition | None:
        """Return a definition; None if it cannot be a function."""
        if reference not in self.found:
            self.found[reference] = self._made(reference)
        return self.found[reference]

    def collect(self, reference: str, into: dict[str, Definition]) -> None:
        """Add a definition and those that it uses, these first."""
        made = self.found[reference]
        if made is None or reference in into:
            return
        for operator in made.graph.operators.values():
            if isinstance(operator, Use):
                self.collect(operator.reference, into)
        into[reference] = made

    def _made(self, reference: str) -> Definition | None:
        raw = self.definitions[reference]
        name, _, version = reference.rpartition("@")
        ids = {each["id"] for each in raw["nodes"] if isinstance(each.get("id"), str)}
        if len(ids) < len(raw["nodes"]):  # a port without an id, or with that of another
            return None
        ports = ports_of(raw)
        if str(int(version)) != version or not name.strip() or not ports.inputs:
            return None
        if STORE_PORT in ports.inputs:
            return None
        known: dict[str, Ports] = {}
        for node in raw["nodes"]:
            if node["kind"].startswith("source."):
                return None
            if node["kind"] == FRAGMENT:
                inner = str(params_of(node).get("fragment"))
                used = self.read(inner)
                if used is None:
                    return None
                known[inner] = used.ports
        placeholders = Placeholders({each: each for each in raw.get("parameters") or {}})
        marked = {"format": FORMAT, "name": name, "nodes": placeholders.mark(raw),
                  "edges": raw["edges"]}  # fmt: skip
        report = Diagnostics()
        graph = Graph(read_document(marked, report), report, kinds_of(known))
        if report.failed or not _keeps_parameters(raw, graph, placeholders):
            return None
        outputs = _outputs(graph, ports)
        if outputs is None:
            return None
        return Definition(reference, raw, ports, graph, placeholders, outputs)


def _keeps_parameters(raw: FragmentDefinition, graph: Graph, placeholders: Placeholders) -> bool:
    """Whether the calls of each node contain the parameters that the node contains."""
    for node in raw["nodes"]:
        operator = graph.operators[node["id"]]
        if isinstance(operator, InputPort | OutputPort):
            continue
        if isinstance(operator, Store) and not any(
            operator in each.connected for each in graph.operators.values()
        ):
            return False
        if not keeps_parameters(node, graph, placeholders):
            return False
    return True


def keeps_parameters(node: DocumentNode, graph: Graph, placeholders: Placeholders) -> bool:
    """Whether the calls of a node contain the parameters that the node contains."""
    operator = graph.operators[node["id"]]
    params = {
        name: value
        for name, value in params_of(node).items()
        if name not in operator.parameters or operator.parameters[name].widget != "code"
    }
    words = [(each.args, each.keywords) for each in operator.words()]
    return placeholders.names(params) == placeholders.names(words)


def _outputs(graph: Graph, ports: Ports) -> dict[str, Operator] | None:
    """What a function returns; None if its outputs would not come after its other edges.

    The children of a node are in the order of the edges, and a function adds those of its outputs
    last, in the order of its outputs.
    """
    found: dict[str, Operator] = {}
    for name in ports.outputs:
        edges = graph.inputs[name]["in"]
        source = graph.operators[edges[0].source] if len(edges) == 1 else None
        if source is None or (isinstance(source, InputPort) and source.role == "global_table"):
            return None
        found[name] = source
    places = {name: index for index, name in enumerate(ports.outputs)}
    for children in graph.outgoing.values():
        order = [places.get(edge.target, -1) for edge in children]
        if order != sorted(order):
            return None
    return found
