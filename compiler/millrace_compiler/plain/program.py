"""The program under construction: ordered statements, frames, and findings about nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.declarations.ports import Port
from millrace_compiler.diagnostics.diagnostics import Diagnostic, Diagnostics
from millrace_compiler.documents.durations import show_duration
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.inference.analysis import Analyzer, ExpressionRequest
from millrace_compiler.plain.text import Call, Chain, Expr, Name, names_in
from millrace_compiler.program.names import Names
from millrace_compiler.types.types import DataType, parse_type

Mode = Literal["append", "update"]
METADATA = ("headers", "topic", "partition", "offset")
#: Columns with a record's partition, which is its task, and its offset.
PLACE = ("offset", "partition", "topic")
HEADERS = "ARRAY<STRUCT<key: STRING, value: BINARY>>"


class CannotSay(Exception):
    """A node that plain Spark cannot express; the diagnostic is in the report."""


@dataclass(frozen=True)
class Frame:
    """A DataFrame variable with the columns key, value, timestamp, and those of `columns`.

    ``mode`` is the output mode that its query needs. ``stateful``: one of its steps has state, so
    no second one can follow in the same query. ``moved``: Kafka Streams repartitions here, so the
    partition of the source is no longer the task. ``final``: each key occurs once.
    """

    variable: str
    port: Port
    columns: tuple[str, ...] = ()
    mode: Mode = "append"
    stateful: bool = False
    moved: bool = False
    final: bool = False

    def to(self, variable: str, port: Port) -> Frame:
        """The frame after a stateless step."""
        return replace(self, variable=variable, port=port)


@dataclass(frozen=True)
class Statement:
    """An assignment for a node, or an expression statement if there is no ``target``."""

    node: str
    target: str | None
    expr: Expr


@dataclass
class Program:
    """The state of the emitter, to which the modules of this package write.

    ``between`` are the topics between two queries of the program, ``metadata`` the metadata columns
    that expressions read.
    """

    graph: Graph
    ports: Mapping[tuple[str, str], Port]
    settings: Mapping[str, object]
    report: Diagnostics
    analyzer: Analyzer
    names: Names
    metadata: frozenset[str] = frozenset()
    #: Names of the program, which classes of processors must not define.
    reserved: frozenset[str] = frozenset()
    statements: list[Statement] = field(default_factory=list)
    frames: dict[tuple[str, str], Frame] = field(default_factory=dict)
    between: list[str] = field(default_factory=list)
    #: Variables of the tables for lookups, by node.
    tables: dict[str, str] = field(default_factory=dict)
    #: For each variable, a name that is derived from the node's id alone.
    origins: dict[str, str] = field(default_factory=dict)
    ids: Names = field(default_factory=lambda: Names(set()))
    #: Names of the parts of the program beside the topology.
    parts: set[str] = field(default_factory=set)
    #: Unchanged code of processors, with the class name.
    code: list[tuple[str, str]] = field(default_factory=list)

    # ---- frames -----------------------------------------------------------------------------

    def inputs(self, node: Operator, port: str = "in") -> list[Frame]:
        """The frames at a port, in the order of the edges."""
        found = []
        for edge in self.graph.inputs[node.id][port]:
            frame = self.frames.get((edge.source, edge.source_port))
            if frame is None:
                raise CannotSay(edge.source)
            found.append(frame)
        return found

    def merged(self, node: Operator) -> list[Frame]:
        """The frames to merge into one stream; a stream that is merged with itself occurs once."""
        frames, graph = self.inputs(node), self.graph
        first, *second = (
            (graph.merged.get(edge.source, edge.source), edge.source_port)
            for edge in graph.inputs[node.id]["in"][:2]
        )
        return frames if [first] != second else [frames[0], *frames[2:]]

    def input(self, node: Operator, port: str = "in") -> Frame:
        """The frame at a port with one edge."""
        return self.inputs(node, port)[0]

    def port(self, node: Operator, port: str = "out") -> Port:
        """The inferred types of an output."""
        return self.ports[node.id, port]

    def type_of(self, text: str, port: Port) -> DataType:
        """The type of a valid expression over the records of a port."""
        columns = tuple((name, type_.text) for name, type_ in port.record() if type_)
        [found] = self.analyzer.analyze([ExpressionRequest(text, columns)])
        return parse_type(found.type or "BIGINT")

    def reaches(self, source: Operator, wanted: Callable[[Operator], bool]) -> bool:
        """Whether records of a source, or one merged with it, reach such a node with metadata."""
        found = {source.id, *(id_ for id_, as_ in self.graph.merged.items() if as_ == source.id)}
        waiting = list(found)
        while waiting:
            for edge in self.graph.outgoing[waiting.pop()]:
                target = self.graph.operators[edge.target]
                if wanted(target):
                    return True
                passes = target.drives(edge.target_port) and not target.makes_records
                if passes and target.id not in found:
                    found.add(target.id)
                    waiting.append(target.id)
        return False

    def mixes(self, node: Operator) -> bool:
        """Whether the order of a key's records is not that of a single topic."""
        found, waiting, sources = {node.id}, [node.id], 0
        while waiting:
            for port, edges in self.graph.inputs[waiting.pop()].items():
                for edge in edges:
                    before, after = (self.graph.operators[i] for i in (edge.source, edge.target))
                    if before.id in found or not after.drives(port):
                        continue
                    if before.makes_records:
                        return True
                    found.add(before.id)
                    waiting.append(before.id)
                    sources += before.family == "sources"
        return sources > 1

    def takes_table(self, node: Operator) -> bool:
        """Whether the input is a table."""
        edges = self.graph.inputs[node.id].get("in") or []
        return any(self.ports[edge.source, edge.source_port].role == "table" for edge in edges)

    # ---- statements -------------------------------------------------------------------------

    def variable(self, node: Operator, suffix: str = "") -> str:
        """A new variable named after a node."""
        label = (node.node.label or "").strip()
        words = [label, node.id] if not suffix else [f"{label} {suffix}", f"{node.id} {suffix}"]
        name = self.names.take(*(word for word in words if word.strip()))
        self.origins[name] = self.ids.take(f"{node.id} {suffix}", "step").replace("_", "-")
        return name

    def assign(self, node: Operator, expr: Expr, suffix: str = "") -> str:
        """Adds an assignment and returns its variable."""
        name = self.variable(node, suffix)
        self.statements.append(Statement(node.id, name, expr))
        return name

    def add(self, node: Operator, expr: Expr) -> None:
        """Adds an expression statement."""
        self.statements.append(Statement(node.id, None, expr))

    def needed(self) -> list[Statement]:
        """The statements on which writes depend, including the writes."""
        used: set[str] = set()
        found = []
        for each in reversed(self.statements):
            if each.target is None or each.target in used:
                used.update(names_in(each.expr))
                found.append(each)
        return found[::-1]

    def step(self, node: Operator, frame: Frame, *calls: Call, suffix: str = "") -> str:
        """Assigns method calls on a frame and returns the variable."""
        return self.assign(node, Chain(Name(frame.variable), calls), suffix)

    # ---- findings about nodes --------------------------------------------------------------

    def differs(self, code: str, node: Operator, **data: object) -> None:
        """Reports a difference from Kafka Streams at a node."""
        self.report.put(Diagnostic(code, node.id, data=data))

    def refuse(
        self, code: str, node: Operator, parameter: str | None = None, **data: object
    ) -> CannotSay:
        """Reports why a node is refused; returns the exception to raise."""
        self.report.put(Diagnostic(code, node.id, parameter or "kind", data=data))
        return CannotSay(node.id)

    def drops_nulls(self, node: Operator, what: str) -> None:
        """Reports that records are dropped without being counted."""
        self.differs("plain_drops", node, what=what)


def mentioned(graph: Graph) -> frozenset[str]:
    """Metadata columns that are mentioned in expressions of the topology."""
    words: set[str] = set()
    for operator in graph.operators.values():
        if not (operator.runs_python or isinstance(operator, Store)):
            for text in _texts(operator.node.params):
                words.update(re.findall(r"[A-Za-z_]\w*", text))
    return frozenset(words & set(METADATA))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            if name not in ("topic", "format", "schema", "dead_letter_topic"):
                yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def reads(text: str, column: str) -> bool:
    """Whether an expression reads a column, not a struct's field, a string or a cast's type."""
    return re.search(rf"(?<![\w.'])(?<!as )(?<!AS ){column}\b", text) is not None


def in_brackets(text: str) -> str:
    """An expression as an operand: in parentheses unless it is a column."""
    return text if re.fullmatch(r"[\w.]+", text) else f"({text})"


def known(type_: DataType | None) -> DataType:
    """Narrows a type: all types of a graph without errors are known."""
    if type_ is None:
        raise ValueError("the type is unknown")
    return type_


def interval(milliseconds: int) -> str:
    """A duration in the form of Spark's intervals."""
    return show_duration(milliseconds).replace(" ms", " milliseconds")
