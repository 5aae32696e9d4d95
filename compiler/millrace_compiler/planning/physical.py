"""Lowers the valid nodes of a typed graph, in order, to the physical graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Operator
from millrace_compiler.declarations.ports import Port
from millrace_compiler.declarations.steps import Handle, Names, Physical
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.inference.infer import Ports
from millrace_compiler.planning.internal_names import Inputs, InternalNames
from millrace_compiler.planning.optimization import optimize


class _Ids:
    """Assigns unique step ids, which are never the id of another node."""

    def __init__(self, reserved: set[str]) -> None:
        self.reserved, self.used = reserved, set[str]()

    def take(self, node: str, wanted: str) -> str:
        name, serial = wanted, 1
        while name in self.used or (name in self.reserved and name != node):
            serial += 1
            name = f"{wanted}-{serial}"
        self.used.add(name)
        return name


def lower_graph(
    graph: Graph, ports: Ports, settings: Mapping[str, object] | None = None
) -> Physical:
    """Lowers all nodes whose inputs are valid; skips other nodes and their descendants."""
    kafka_streams = (settings or {}).get("names") == "kafka_streams"
    physical = Physical(names=Names(kafka_streams))
    read = {table.id for each in graph.operators.values() for table in each.read_tables}
    names = InternalNames(physical.names, frozenset(read))
    ids = _Ids({node.id for node in graph.document.nodes})
    relaxed = keeping_null_keys(graph)
    for id_ in graph.order:
        operator = graph.operators[id_]
        if id_ in graph.merged and (graph.merged[id_], "out") in physical.handles:
            physical.aliases[id_] = graph.merged[id_]
            physical.handles[id_, "out"] = physical.handles[graph.merged[id_], "out"]
            names.add(operator, {})
            continue
        inputs = _inputs(graph, operator, ports, physical)
        tables = {each.id: physical.handles.get((each.id, "out")) for each in operator.read_tables}
        known = {id_: handle for id_, handle in tables.items() if handle is not None}
        if inputs is None or len(known) < len(tables):
            continue
        names.add(operator, _sources(graph, operator, inputs))
        outputs = {port: ports[id_, port] for port in operator.outputs() if (id_, port) in ports}
        lowering = NodeLowering(
            physical,
            id_,
            lambda wanted, node=id_: ids.take(node, wanted),  # type: ignore[misc]
            inputs,
            outputs,
            known,
            id_ in relaxed,
        )
        for port, handle in operator.lower(lowering).items():
            physical.handles[id_, port] = handle
        called = operator.step_functions()
        if called is not None:
            for step in physical.node_steps.get(id_, []):
                physical.steps[step].params["functions"] = called
    optimize(graph, physical, settings or {})
    return physical


def _sources(
    graph: Graph, operator: Operator, inputs: Mapping[str, list[tuple[Handle, Port]]]
) -> Inputs:
    """The inputs with the node and port that they come from."""
    edges = graph.inputs[operator.id]
    return {
        port: [
            (handle, (edge.source, edge.source_port))
            for (handle, _), edge in zip(found, edges[port], strict=False)
        ]
        for port, found in inputs.items()
    }


def _inputs(
    graph: Graph, operator: Operator, ports: Ports, physical: Physical
) -> dict[str, list[tuple[Handle, Port]]] | None:
    found: dict[str, list[tuple[Handle, Port]]] = {}
    for port in operator.inputs():
        edges = graph.inputs[operator.id][port.name]
        if not port.many:
            edges = edges[:1]
        items = []
        for edge in edges:
            handle = physical.handles.get((edge.source, edge.source_port))
            type_ = ports.get((edge.source, edge.source_port))
            if handle is None or type_ is None or type_.role not in port.roles:
                return None
            items.append((handle, type_))
        if not items:
            return None
        found[port.name] = items
    return found


def keeping_null_keys(graph: Graph) -> set[str]:
    """Left and outer joins and the nodes before them, whose repartitions keep null keys [RP5]."""
    below: dict[str, list[str]] = defaultdict(list)
    found = set()
    for id_, operator in graph.operators.items():
        ports = operator.driving_ports or tuple(graph.inputs[id_])
        below[id_] = [edge.source for port in ports for edge in graph.inputs[id_].get(port, [])]
        if operator.keeps_null_keys and operator.values.get("type") in ("left", "outer"):
            found.add(id_)
    stack = list(found)
    while stack:
        for parent in below[stack.pop()]:
            if parent not in found:
                found.add(parent)
                stack.append(parent)
    return found
