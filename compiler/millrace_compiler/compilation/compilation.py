"""Runs the compiler's passes in order; the result is a :class:`Compilation`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from millrace_model.diagnostics import Announced
from millrace_model.documents import TopologyDocument
from millrace_model.graphs import TaskGraph
from millrace_model.plans import (
    CodeJson,
    CompilationJson,
    EdgePlan,
    NodePlan,
    PlacedSubtopology,
    PlanJson,
    PortJson,
    ProgramPlan,
    SubtopologyJson,
    TopicRead,
)

from millrace_compiler.declarations.operator import Store
from millrace_compiler.declarations.ports import Port
from millrace_compiler.diagnostics.diagnostics import Diagnostic, Diagnostics
from millrace_compiler.documents.document import Document, read_document
from millrace_compiler.graphs.expansion import Expansion
from millrace_compiler.graphs.fragments import expand
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.graphs.topology_parameters import resolve
from millrace_compiler.inference.analysis import Analyzer, AnalyzerUnavailable
from millrace_compiler.inference.infer import Ports, infer_ports
from millrace_compiler.inference.registries import DEFAULT, Schemas, resolve_schemas
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.parameters.settings import read_settings
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.plain.emit import emit_plain
from millrace_compiler.planning.physical import lower_graph
from millrace_compiler.planning.plan import Plan, make_plan, runs_as
from millrace_compiler.planning.plan_text import plan_text
from millrace_compiler.planning.task_graph import task_graph
from millrace_compiler.program.fragments import Fragments, read_fragments
from millrace_compiler.program.parameters import read_parameters
from millrace_compiler.program.text import Span
from millrace_compiler.program.writer import write_program

Dialect = Literal["exact", "plain"]


class Refused(ValueError):
    """The graph is refused; ``diagnostics`` contains the reasons."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        errors = [d for d in diagnostics if d.severity == "error"]
        super().__init__("\n".join(d.to_text() for d in errors))
        self.diagnostics = diagnostics


@dataclass
class Compilation:
    """The result of compiling a document."""

    document: Document
    graph: Graph
    diagnostics: list[Diagnostic]
    ports: Ports
    plan: Plan | None
    code: dict[str, str] | None
    source_map: list[Span] = field(default_factory=list)
    summaries: dict[str, Sentence] = field(default_factory=dict)
    dialect: Dialect = "exact"
    #: Topics through which the queries of a plain program exchange records.
    between: tuple[str, ...] = ()
    #: A plain program can continue only checkpoints of the same identity.
    identity: str | None = None
    #: Input of the stateful operator (:mod:`millrace_compiler.planning.task_graph`).
    task_graph: TaskGraph | None = None
    #: Which nodes are from which fragments.
    expansion: Expansion = field(default_factory=lambda: Expansion(None))

    @property
    def differences(self) -> list[Announced]:
        """Code and node of each difference between the plain dialect and Kafka Streams."""
        found = [d for d in self.diagnostics if d.severity == "difference"]
        return [{"code": d.code, "node": d.node} for d in found]

    @property
    def ok(self) -> bool:
        """Whether there is code: no errors, perhaps warnings."""
        return self.code is not None

    def require(self) -> Compilation:
        """Returns itself if there is code. Raises :class:`Refused` otherwise."""
        if not self.ok:
            raise Refused(self.diagnostics)
        return self

    def require_task_graph(self) -> TaskGraph:
        """The task graph. Raises :class:`Refused`, and ValueError for a plain program."""
        graph = self.require().task_graph
        if graph is None:
            raise ValueError("a plain program has no task graph")
        return graph

    def to_json(self) -> CompilationJson:
        """The response of the compile endpoint, without ``revision``."""
        ports: dict[str, dict[str, PortJson]] = {}
        for (node, port), found in self.ports.items():
            ports.setdefault(node, {})[port] = found.to_json()
        for (node, port), inner in self.expansion.outputs.items():
            if inner in self.ports:
                ports.setdefault(node, {})[port] = self.ports[inner].to_json()
        code: CodeJson | None = None
        if self.code is not None:
            code = {
                "files": [{"path": path, "text": text} for path, text in self.code.items()],
                "source_map": [span.to_json() for span in self.source_map],
                "between": list(self.between),
            }
        answer: CompilationJson = {
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
            "ports": ports,
            "plan": self._plan_json(),
            "summary": {node: each.to_json() for node, each in self.summaries.items()},
            "code": code,
        }
        if self.expansion.origins:
            shuffled = () if self.plan is None else self.plan.physical.shuffled
            answer["fragments"] = self.expansion.to_json(shuffled)
        return answer

    def plan_json(self) -> ProgramPlan:
        """The content of a program's `plan.json`: what `describe` shows, with levels and tasks.

        Raises :class:`Refused` for a refused document.
        """
        plan = self.require().plan
        if plan is None or self.task_graph is None:
            raise ValueError("a program of the exact dialect has a plan")
        subs = range(len(plan.subtopologies))
        return {
            "tasks": self.task_graph["tasks"],
            "levels": len(set(plan.levels.values())),
            "subtopologies": [placed_subtopology(plan, index) for index in subs],
            "internal_topics": plan.internal_topics(),
            "nodes": {
                id_: {"steps": plan.physical.node_steps.get(id_, []), "runs_as": node["runs_as"]}
                for id_, node in self.nodes_json(plan).items()
            },
        }

    def _plan_json(self) -> PlanJson | None:
        plan = self.plan
        if plan is None:
            return None
        return {
            "subtopologies": [
                placed_subtopology(plan, index) for index in range(len(plan.subtopologies))
            ],
            "internal_topics": plan.internal_topics(),
            "topics": self.topics_read(plan),
            "text": plan_text(plan),
            "nodes": self.nodes_json(plan),
            "edges": self._edges_json(plan),
        }

    def _edges_json(self, plan: Plan) -> list[EdgePlan]:
        """Whether records of each edge are moved; an edge to a fragment stands for those within."""
        indexes, shuffled = self.expansion.edges, plan.physical.shuffled
        found: dict[int, EdgePlan] = {}
        for edge in self.document.edges:
            index = edge.index if indexes is None else indexes[edge.index]
            if index is not None:
                row = found.setdefault(index, {"index": index, "shuffle": False})
                row["shuffle"] |= (edge.target, edge.target_port) in shuffled
        return [found[index] for index in sorted(found)]

    def topics_read(self, plan: Plan) -> list[TopicRead]:
        """The topics that are read by name, with their partitions and where these are from."""
        reads = [step.reads for step in plan.physical.steps.values() if step.reads]
        named = dict.fromkeys(
            topic
            for each in reads
            if not each.reader
            for topic in each.topics
            if topic not in plan.physical.topics
        )
        return [
            {
                "name": topic,
                "partitions": self.document.partitions(topic),
                "known": self.document.partitions_from(topic),
            }
            for topic in named
        ]

    def nodes_json(self, plan: Plan) -> dict[str, NodePlan]:
        """How each node runs, its guarantee, and the sub-topologies that it is in."""
        nodes: dict[str, NodePlan] = {}
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


def subtopology_json(plan: Plan, index: int) -> SubtopologyJson:
    """A sub-topology in the JSON form of ``describe --json``."""
    sub = plan.subtopologies[index]
    return {
        "id": sub.id,
        "nodes": sub.nodes,
        "sources": sub.sources,
        "sinks": sub.sinks,
        "stores": sub.stores,
        "tasks": sub.tasks,
    }


def placed_subtopology(plan: Plan, index: int) -> PlacedSubtopology:
    """A sub-topology with its levels."""
    used = sorted({plan.levels.get(step.id, 0) for step in plan.subtopologies[index].steps})
    return {**subtopology_json(plan, index), "level": used[0] if used else 0, "levels": used}


def compile_document(
    raw: Mapping[str, object] | object,
    analyzer: Analyzer,
    schemas: Schemas | None = None,
    *,
    real_time: bool = False,
    dialect: Dialect = "exact",
    partitions: Mapping[str, int] | None = None,
    ports: Mapping[str, Port] | None = None,
) -> Compilation:
    """Compiles a raw document. Never raises for its content, nor for an unavailable analyzer.

    ``schemas`` provides the schemas of formats that name only a schema registry; by default it asks
    the registry over HTTP. ``real_time``: whether the program is to run in real time, which
    excludes some settings; the code is the same. ``dialect``: ``exact`` gives Kafka Streams'
    results, ``plain`` is ordinary Structured Streaming, with its differences as diagnostics.
    ``partitions`` of topics on the broker determine the plan, in place of those that the document
    declares; the code is the same. ``ports``: those for which sources of a part of a topology stand
    (:mod:`millrace_compiler.compilation.running_part`). Parameters of the topology have their
    defaults; for those of an environment, see
    :func:`millrace_compiler.graphs.fragments.resolved`.
    """
    report = Diagnostics()
    resolution = resolve(raw, report)
    expansion = expand(resolution.document, report)
    document = replace(read_document(expansion.document, report), actual=dict(partitions or {}))
    settings = read_settings(document, report)
    if real_time and settings.get("processing_guarantee") == "exactly_once":
        report.add("real_time_exactly_once", None, "processing_guarantee")
    graph = Graph(document, report)
    if real_time:
        _check_real_time(graph, report)
    unread = _unread(graph, report)
    resolve_schemas(graph, schemas or DEFAULT, report)
    try:
        inferred = infer_ports(graph, analyzer, report, ports)
    except AnalyzerUnavailable as error:
        report.add("analyzer", None, None, reason=str(error))
        inferred = {}
    expansion.check_types(inferred, report)
    physical = lower_graph(graph, inferred, settings)
    plan = make_plan(graph, physical, report)
    _check_results(graph, plan, report)
    _check_self_joins(graph, plan, report)
    written = None
    if dialect == "plain" and not report.failed:
        written = emit_plain(graph, inferred, settings, report, analyzer)
    elif not report.failed:
        filled = cast(TopologyDocument, resolution.document)
        declared = read_parameters(raw, filled, expansion, graph, settings)
        if declared is None:
            written = write_program(graph, settings, _fragments(filled, expansion, graph, settings))
        else:
            written = write_program(graph, settings, *declared)
    compilation = Compilation(
        document,
        graph,
        list(resolution.original(expansion.original(report))),
        inferred,
        plan if physical.steps else None,
        None,
        summaries={
            id_: operator.summary()
            for id_, operator in graph.operators.items()
            if id_ not in unread
        },
        dialect=dialect,
        expansion=expansion,
    )
    if written is not None:
        compilation.code = written.files
        compilation.source_map = written.spans
        compilation.between, compilation.identity = written.between, written.identity
        if dialect == "exact":
            compilation.task_graph = task_graph(plan, settings)
    return compilation


def _fragments(
    document: object, expansion: Expansion, graph: Graph, settings: Mapping[str, object]
) -> Fragments | None:
    """The fragments of a document without errors as functions of its program."""
    if not expansion.origins:
        return None
    return read_fragments(cast(TopologyDocument, document), expansion, graph, settings)


def _check_real_time(graph: Graph, report: Diagnostics) -> None:
    for operator in graph.operators.values():
        if isinstance(operator, Source) and operator.read_by():
            report.add("real_time_reader", operator.id, "reader")


def _check_results(graph: Graph, plan: Plan, report: Diagnostics) -> None:
    """Warns if the results go nowhere; a store alone is enough, as it can be queried."""
    effects = any(operator.has_effects for operator in graph.operators.values())
    queried = any(
        step.is_global or (step.keeps.stores and graph.operators[step.node].buffer is None)
        for step in plan.physical.steps.values()
    )
    if graph.operators and not (report.failed or effects or queried):
        report.add("no_results")


def _check_self_joins(graph: Graph, plan: Plan, report: Diagnostics) -> None:
    """Warns of left and outer joins that the optimization made inner ones."""
    for step in plan.physical.steps.values():
        type_ = graph.operators[step.node].values.get("type") if step.op == "join_self" else None
        if type_ in {"left", "outer"}:
            report.add("self_join_inner", step.node, "type", type=str(type_))


def _unread(graph: Graph, report: Diagnostics) -> set[str]:
    """Nodes with an unreadable parameter, whose summary would describe a placeholder."""
    found = set()
    for diagnostic in report:
        operator = graph.operators.get(diagnostic.node or "")
        faulty = operator is not None and diagnostic.severity == "error"
        if operator and faulty and diagnostic.parameter in operator.parameters:
            found.add(operator.id)
    return found
