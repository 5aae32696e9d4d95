"""Plans, as the compile endpoint, ``describe --json`` and a program's ``plan.json`` show them."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import DocumentEdge, Position


class SubtopologyJson(TypedDict):
    """A sub-topology: ids of its nodes, names of its topics and stores."""

    id: int
    nodes: list[str]
    sources: list[str]
    sinks: list[str]
    stores: list[str]
    tasks: int


class PlacedSubtopology(SubtopologyJson):
    """A sub-topology, which runs as one set of tasks, and its levels."""

    level: Annotated[int, "The first level of the sub-topology."]
    levels: list[int]


class InternalTopic(TypedDict):
    """A repartition or changelog topic as Kafka Streams would create it."""

    name: str
    partitions: int
    kind: Annotated[str, "repartition or changelog"]


class TopicRead(TypedDict):
    """A topic that the topology reads by name."""

    name: str
    partitions: int
    known: Annotated[
        str, "Where the number is from: broker, declared (by the document) or assumed."
    ]


class NodePlan(TypedDict):
    """How a node is executed, and the sub-topologies that it is in."""

    runs_as: Annotated[str, "stream_task or python"]
    guarantee: str
    why: str
    subtopologies: list[int]


class EdgePlan(TypedDict):
    """How an edge is executed; ``index`` is its 0-based position in the document."""

    index: int
    shuffle: Annotated[bool, "Whether its records move to other tasks."]


class DescriptionJson(TypedDict):
    """The output of ``describe --json``, with the guarantees of nodes if they are requested."""

    subtopologies: list[SubtopologyJson]
    internal_topics: list[InternalTopic]
    nodes: NotRequired[dict[str, NodePlan]]


class PlanJson(TypedDict):
    """The physical plan."""

    subtopologies: list[PlacedSubtopology]
    internal_topics: list[InternalTopic]
    topics: list[TopicRead]
    text: Annotated[str, "Text like that of Kafka Streams' Topology#describe."]
    nodes: dict[str, NodePlan]
    edges: list[EdgePlan]


class ProgramNode(TypedDict):
    """The steps of a node, and how it runs."""

    steps: list[str]
    runs_as: str


class ProgramPlan(TypedDict):
    """The content of a program's ``plan.json``."""

    tasks: int
    levels: int
    subtopologies: list[PlacedSubtopology]
    internal_topics: list[InternalTopic]
    nodes: dict[str, ProgramNode]


class PortJson(TypedDict):
    """Role and types of a port."""

    role: Annotated[str, "stream, table, windowed_table or global_table"]
    key: Annotated[str, "A Spark SQL type; `?` if unknown."]
    value: Annotated[str, "A Spark SQL type; `?` if unknown."]
    key_changed: bool


class CodeFile(TypedDict):
    """A generated file."""

    path: str
    text: str


class SpanJson(TypedDict):
    """The lines of a file that belong to a node; 1-based, ``end`` is inclusive."""

    path: str
    node: str
    start: int
    end: int


class CodeJson(TypedDict):
    """The generated program, and which of its lines belong to which node."""

    files: list[CodeFile]
    source_map: list[SpanJson]
    between: Annotated[
        list[str], "Topics that a plain program writes and reads between its queries."
    ]


class ConditionJson(TypedDict):
    """The types of a condition's columns, and diagnostics of its predicate."""

    columns: dict[str, Annotated[str, "A Spark SQL type; `?` if unknown."]]
    diagnostics: list[DiagnosticJson]


class SentenceJson(TypedDict):
    """A sentence by its form, such as `counts by {key}`, so that it can be translated.

    For each name in the form, ``values`` has text of the document or another sentence.
    """

    form: str
    values: dict[str, str | SentenceJson]


class InnerNode(TypedDict):
    """A node of a fragment; ``local`` is its id in the definition."""

    id: str
    local: str
    kind: str
    label: NotRequired[str]
    position: NotRequired[Position]
    shuffled: NotRequired[Annotated[list[str], "Inputs at which records are repartitioned."]]


class FragmentJson(TypedDict):
    """What a fragment node stands for in plans, figures and simulations."""

    nodes: list[InnerNode]
    edges: list[DocumentEdge]


class CompilationJson(TypedDict):
    """Diagnostics, types, plan and code of a document, valid or not."""

    diagnostics: list[DiagnosticJson]
    ports: dict[str, dict[str, PortJson]]
    plan: PlanJson | None
    summary: Annotated[dict[str, SentenceJson], "A sentence about each node that can be read."]
    code: CodeJson | None
    fragments: NotRequired[
        Annotated[dict[str, FragmentJson], "The contents of fragment nodes; absent without any."]
    ]
    conditions: NotRequired[
        Annotated[list[ConditionJson], "The conditions of the request; absent if it has none."]
    ]
