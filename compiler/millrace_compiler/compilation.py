"""The compiler's passes in their order, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from millrace_compiler.analysis import Analyzer, AnalyzerUnavailable
from millrace_compiler.diagnostics import Diagnostic, Diagnostics
from millrace_compiler.document import Document, read_document
from millrace_compiler.graph import Graph
from millrace_compiler.infer import Ports, infer_ports
from millrace_compiler.operator import Store
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.physical import lower_graph
from millrace_compiler.plain.emit import emit_plain
from millrace_compiler.plan import Plan, make_plan, runs_as
from millrace_compiler.plan_text import plan_text
from millrace_compiler.program.text import Span
from millrace_compiler.program.writer import write_program
from millrace_compiler.registries import DEFAULT, Schemas, resolve_schemas
from millrace_compiler.settings import read_settings
from millrace_compiler.task_graph import task_graph

Dialect = Literal["exact", "plain"]


class Refused(ValueError):
    """The graph is refused; ``diagnostics`` contains the reasons."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        errors = [d for d in diagnostics if d.severity == "error"]
        super().__init__("\n".join(d.to_text() for d in errors))
        self.diagnostics = diagnostics


@dataclass
class Compilation:
    """Everything that was found out about a document."""

    document: Document
    graph: Graph
    diagnostics: list[Diagnostic]
    ports: Ports
    plan: Plan | None
    code: dict[str, str] | None
    source_map: list[Span] = field(default_factory=list)
    summaries: dict[str, str] = field(default_factory=dict)
    dialect: Dialect = "exact"
    #: Topics that a plain program writes and reads between its queries.
    between: tuple[str, ...] = ()
    #: Which checkpoints a plain program can continue: those of the same identity.
    identity: str | None = None
    #: What the stream-task operator runs (:mod:`millrace_compiler.task_graph`).
    task_graph: dict[str, Any] | None = None

    @property
    def differences(self) -> list[dict[str, str | None]]:
        """What the plain dialect does otherwise than Kafka Streams: code and node of each."""
        found = [d for d in self.diagnostics if d.severity == "difference"]
        return [{"code": d.code, "node": d.node} for d in found]

    @property
    def ok(self) -> bool:
        """Whether there is code: no errors, perhaps warnings."""
        return self.code is not None

    def require(self) -> Compilation:
        """Itself, if there is code. Raises :class:`Refused` otherwise."""
        if not self.ok:
            raise Refused(self.diagnostics)
        return self

    def to_json(self) -> dict[str, object]:
        """The answer of the compile endpoint, without ``revision``."""
        ports: dict[str, dict[str, object]] = {}
        for (node, port), found in self.ports.items():
            ports.setdefault(node, {})[port] = found.to_json()
        code: dict[str, object] | None = None
        if self.code is not None:
            code = {
                "files": [{"path": path, "text": text} for path, text in self.code.items()],
                "source_map": [span.to_json() for span in self.source_map],
                "between": list(self.between),
            }
        return {
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
            "ports": ports,
            "plan": self._plan_json(),
            "summary": self.summaries,
            "code": code,
        }

    def plan_json(self) -> dict[str, object]:
        """What `plan.json` beside a program has: what `describe` shows, with levels and tasks.

        Raises :class:`Refused` for a document that was refused.
        """
        plan = self.require().plan
        if plan is None or self.task_graph is None:
            raise ValueError("a program of the exact dialect has a plan")
        subs = range(len(plan.subtopologies))
        return {
            "tasks": self.task_graph["tasks"],
            "levels": len(set(plan.levels.values())),
            "subtopologies": [subtopology_json(plan, index) for index in subs],
            "internal_topics": plan.internal_topics(),
            "nodes": {
                id_: {"steps": plan.physical.node_steps.get(id_, []), "runs_as": node["runs_as"]}
                for id_, node in self.nodes_json(plan).items()
            },
        }

    def _plan_json(self) -> dict[str, object] | None:
        plan = self.plan
        if plan is None:
            return None
        return {
            "subtopologies": [
                subtopology_json(plan, index) for index in range(len(plan.subtopologies))
            ],
            "internal_topics": plan.internal_topics(),
            "text": plan_text(plan),
            "nodes": self.nodes_json(plan),
            "edges": [
                {
                    "index": edge.index,
                    "shuffle": (edge.target, edge.target_port) in plan.physical.shuffled,
                }
                for edge in self.document.edges
            ],
        }

    def nodes_json(self, plan: Plan) -> dict[str, dict[str, object]]:
        """How each node runs, its guarantee, and the sub-topologies that it is in."""
        nodes: dict[str, dict[str, object]] = {}
        for id_, operator in self.graph.operators.items():
            if isinstance(operator, Store):
                continue
            runs = runs_as(plan, operator)
            if runs is None:
                continue
            steps = plan.physical.node_steps[plan.physical.aliases.get(id_, id_)]
            subs = sorted({plan.of_step[step] for step in steps if step in plan.of_step})
            nodes[id_] = {
                "runs_as": runs,
                "guarantee": operator.guarantee,
                "why": operator.why,
                "subtopologies": subs,
            }
        return nodes


def subtopology_json(plan: Plan, index: int, *, levels: bool = True) -> dict[str, object]:
    """One sub-topology as ``describe --json`` has it, with its levels if asked for."""
    sub = plan.subtopologies[index]
    found: dict[str, object] = {
        "id": sub.id,
        "nodes": sub.nodes,
        "sources": sub.sources,
        "sinks": sub.sinks,
        "stores": sub.stores,
        "tasks": sub.tasks,
    }
    if levels:
        used = sorted({plan.levels.get(step.id, 0) for step in sub.steps})
        found |= {"level": used[0] if used else 0, "levels": used}
    return found


def compile_document(
    raw: Mapping[str, object] | object,
    analyzer: Analyzer,
    schemas: Schemas | None = None,
    *,
    real_time: bool = False,
    dialect: Dialect = "exact",
) -> Compilation:
    """Compiles a raw document. Never raises for what stands in it, nor for a silent analyzer.

    ``schemas`` is asked for the types of formats that name a schema registry and no schema; by
    default the registry itself, over HTTP. ``real_time``: whether it is to run in real time, for
    which not all settings are possible; the code is the same. ``dialect``: ``exact`` gives Kafka
    Streams' results, ``plain`` is ordinary Structured Streaming, with what differs as diagnostics.
    """
    report = Diagnostics()
    document = read_document(raw, report)
    settings = read_settings(document, report)
    if real_time and settings.get("processing_guarantee") == "exactly_once":
        report.add("real_time_exactly_once", None, "processing_guarantee")
    graph = Graph(document, report)
    if real_time:
        _check_real_time(graph, report)
    unread = _unread(graph, report)
    resolve_schemas(graph, schemas or DEFAULT, report)
    try:
        ports = infer_ports(graph, analyzer, report)
    except AnalyzerUnavailable as error:
        report.add("analyzer", None, None, reason=str(error))
        ports = {}
    physical = lower_graph(graph, ports)
    plan = make_plan(graph, physical, report)
    written = None
    if dialect == "plain" and not report.failed:
        written = emit_plain(graph, ports, settings, report, analyzer)
    elif not report.failed:
        written = write_program(graph, settings)
    compilation = Compilation(
        document,
        graph,
        list(report),
        ports,
        plan if physical.steps else None,
        None,
        summaries={
            id_: operator.summary()
            for id_, operator in graph.operators.items()
            if id_ not in unread
        },
        dialect=dialect,
    )
    if written is not None:
        compilation.code = written.files
        compilation.source_map = written.spans
        compilation.between, compilation.identity = written.between, written.identity
        if dialect == "exact":
            compilation.task_graph = task_graph(plan, settings)
    return compilation


def _check_real_time(graph: Graph, report: Diagnostics) -> None:
    for operator in graph.operators.values():
        if isinstance(operator, Source) and operator.read_by():
            report.add("real_time_reader", operator.id, "reader")


def _unread(graph: Graph, report: Diagnostics) -> set[str]:
    """Nodes with an unreadable parameter: their sentence would describe a placeholder."""
    found = set()
    for diagnostic in report:
        operator = graph.operators.get(diagnostic.node or "")
        faulty = operator is not None and diagnostic.severity == "error"
        if operator and faulty and diagnostic.parameter in operator.parameters:
            found.add(operator.id)
    return found
