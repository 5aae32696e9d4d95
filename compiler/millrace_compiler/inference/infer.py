"""Infers the types of all ports, with as few round trips to the analyzer as possible.

Each operator's inference is a generator that yields questions and receives answers. The questions
of all nodes with known inputs are sent in one round trip. A faulty node does not stop the pass:
its outputs have the types that can still be inferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from millrace_compiler.declarations.operator import Ask, Inference, Operator, Scope
from millrace_compiler.declarations.ports import Port
from millrace_compiler.diagnostics.diagnostics import Diagnostic, Diagnostics
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.inference.analysis import (
    Analyzer,
    ExpressionError,
    ExpressionRequest,
    ExpressionResult,
)
from millrace_compiler.inference.expression_faults import certain, fault_of
from millrace_compiler.types.types import DataType, NoType, parse_type

Ports = dict[tuple[str, str], Port]
#: The columns that the analyzer names for random values and for the processing time.
_REPEATS = frozenset({"$seed", "$now"})


@dataclass
class _Running:
    operator: Operator
    inference: Inference
    asks: list[Ask]


def infer_ports(
    graph: Graph,
    analyzer: Analyzer,
    report: Diagnostics,
    given: Mapping[str, Port] | None = None,
) -> Ports:
    """The types of all output ports, as far as they are known.

    ``given``: by source, the port for which it stands, which may have a window or a changed key.
    """
    return _Pass(graph, analyzer, report, given or {}).run()


class _Pass:
    def __init__(
        self, graph: Graph, analyzer: Analyzer, report: Diagnostics, given: Mapping[str, Port]
    ) -> None:
        self.graph, self.analyzer, self.report, self.given = graph, analyzer, report, given
        self.ports: Ports = {}
        self.running: list[_Running] = []
        before = {id_: graph.needed_by(id_) for id_ in graph.order}
        self.waiting = {id_: len(found) for id_, found in before.items()}
        self.children: dict[str, list[str]] = {id_: [] for id_ in graph.order}
        for id_, found in before.items():
            for parent in found:
                if parent in self.children:
                    self.children[parent].append(id_)
        self.ready = [id_ for id_, count in self.waiting.items() if not count]

    def run(self) -> Ports:
        while self.ready or self.running:
            while self.ready:
                self._start(self.graph.operators[self.ready.pop(0)])
            if self.running:
                self._answer()
        return self.ports

    # ---- starting and finishing a node -----------------------------------------------------

    def _start(self, operator: Operator) -> None:
        inputs: dict[str, list[Port]] = {}
        sound = True
        for port in operator.inputs():
            edges = self.graph.inputs[operator.id][port.name]
            found = [self.ports.get((edge.source, edge.source_port)) for edge in edges]
            if not port.many:
                found = found[:1]
            known = [item for item in found if item is not None]
            sound = sound and len(known) == len(found) and bool(known)
            for item in known:
                if item.role not in port.roles:
                    self._report_role(operator, port.name, item, port.roles)
                    sound = False
            inputs[port.name] = known
        outs = {owner.id: self.ports.get((owner.id, "out")) for owner in operator.read_tables}
        tables = {id_: port for id_, port in outs.items() if port is not None}
        scope = Scope(operator, inputs, tables, self.report)
        if not sound:
            self._finish(operator, self._fallback(operator, inputs))
            return
        inference = operator.infer(scope)
        self._step(_Running(operator, inference, []), None)

    def _report_role(
        self, operator: Operator, port: str, found: Port, needed: tuple[str, ...]
    ) -> None:
        words = {"stream": "a stream", "table": "a table", "global_table": "a global table"}
        code = "role_global" if found.role == "global_table" else "role"
        self.report.add(
            "role_not_global" if needed == ("global_table",) else code,
            operator.id,
            port,
            found=words[found.role],
            needed=" or ".join(words[role] for role in needed),
            port=port,
        )

    def _fallback(self, operator: Operator, inputs: Mapping[str, list[Port]]) -> dict[str, Port]:
        """Outputs of a node that could not be typed: their role, where that is certain."""
        first = next((ports[0] for ports in inputs.values() if ports), None)
        result: dict[str, Port] = {}
        for port in operator.out_ports:
            if port.role != "same":
                result[port.name] = Port(port.role, None, None)
            elif first is not None:
                result[port.name] = Port(first.role, None, None)
        if operator.dynamic_outputs:
            result.update({name: Port("stream", None, None) for name in operator.outputs()})
        return result

    def _finish(self, operator: Operator, ports: Mapping[str, Port]) -> None:
        inherited = self._versions_of_inputs(operator)
        given = self.given.get(operator.id)
        for name, found in ports.items():
            port = found if given is None else _given(found, given)
            versions_of = inherited
            if port.role == "table" and operator.decides_versions:
                versions_of = None if port.history is None else operator.id
            self.ports[operator.id, name] = replace(port, versions_of=versions_of)
        for child in self.children[operator.id]:
            self.waiting[child] -= 1
            if not self.waiting[child]:
                self.ready.append(child)

    def _versions_of_inputs(self, operator: Operator) -> str | None:
        """The versioned table as which Kafka Streams treats all inputs of a node, if any."""
        edges = [
            edge
            for port, found in self.graph.inputs[operator.id].items()
            if operator.drives(port)
            for edge in found
        ]
        ports = [self.ports.get((edge.source, edge.source_port)) for edge in edges]
        found = [port.versions_of for port in ports if port is not None]
        return found[0] if found and len(found) == len(edges) and None not in found else None

    def _step(self, node: _Running, answers: list[DataType | None] | None) -> None:
        try:
            node.asks = next(node.inference) if answers is None else node.inference.send(answers)
        except StopIteration as stop:
            self._finish(node.operator, stop.value)
        else:
            self.running.append(node)

    # ---- questions --------------------------------------------------------------------------

    def _answer(self) -> None:
        """Asks the questions of all running nodes in one round trip."""
        nodes, self.running = self.running, []
        requests: list[ExpressionRequest] = []
        for node in nodes:
            requests += [_request(ask) for ask in node.asks if ask.text]
        results = iter(self.analyzer.analyze(requests) if requests else [])
        for node in nodes:
            answers = [
                self._judge(node.operator, ask, next(results)) if ask.text else ask.expects
                for ask in node.asks
            ]
            self._step(node, answers)

    def _judge(self, operator: Operator, ask: Ask, result: ExpressionResult) -> DataType | None:
        error = result.error
        for warning in result.warnings:
            self._report(operator, ask, warning)
        repeats = _REPEATS.intersection(result.columns)
        if error is None and repeats and not ask.once:
            error = ExpressionError("", "EVALUATED_AGAIN")
            self._report(operator, ask, error)
            return ask.expects
        if error is None:
            if repeats:
                self.graph.drawing.setdefault(operator.id, ask.parameter)
            try:
                return parse_type(result.type or "")
            except NoType:
                return None
        unknown = any(type_ is None for _, type_ in ask.columns)
        if not unknown or certain(error):
            self._report(operator, ask, error)
        return ask.expects

    def _report(self, operator: Operator, ask: Ask, error: ExpressionError) -> None:
        fault = fault_of(ask.text, ask.columns, error)
        self.report.put(
            Diagnostic(fault.code, operator.id, ask.parameter, ask.path, fault.position, fault.data)
        )


def _given(port: Port, given: Port) -> Port:
    """The port with what a format cannot have of the one for which its source stands."""
    return replace(
        port, key_changed=given.key_changed, window=given.window, inner_key=given.inner_key
    )


def _request(ask: Ask) -> ExpressionRequest:
    """The request without columns of unknown type; other columns can still be checked."""
    columns = tuple((name, type_.text) for name, type_ in ask.columns if type_ is not None)
    expects = ask.expects.text if ask.expects else None
    return ExpressionRequest(ask.text, columns, expects, ask.functions)
