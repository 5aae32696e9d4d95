"""Plans, as the compile endpoint, ``describe --json`` and a program's ``plan.json`` show them."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from millrace_model.diagnostics import DiagnosticJson


class SubtopologyJson(TypedDict):
    """A sub-topology: ids of its nodes, names of its topics and stores, and its levels."""

    id: int
    nodes: list[str]
    sources: list[str]
    sinks: list[str]
    stores: list[str]
    tasks: int
    level: NotRequired[int]
    levels: NotRequired[list[int]]


class InternalTopic(TypedDict):
    """A repartition topic or a changelog."""

    name: str
    partitions: int
    kind: str


class TopicRead(TypedDict):
    """A topic that is read by name. ``known``: where the number of its partitions is from."""

    name: str
    partitions: int
    known: str


class NodePlan(TypedDict):
    """How a node runs, and the sub-topologies that it is in."""

    runs_as: str
    guarantee: str
    why: str
    subtopologies: list[int]


class EdgePlan(TypedDict):
    """Whether records of an edge move to other tasks."""

    index: int
    shuffle: bool


class DescriptionJson(TypedDict):
    """The output of ``describe --json``, with the guarantees of nodes if they are requested."""

    subtopologies: list[SubtopologyJson]
    internal_topics: list[InternalTopic]
    nodes: NotRequired[dict[str, NodePlan]]


class PlanJson(TypedDict):
    """A plan."""

    subtopologies: list[SubtopologyJson]
    internal_topics: list[InternalTopic]
    topics: list[TopicRead]
    text: str
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
    subtopologies: list[SubtopologyJson]
    internal_topics: list[InternalTopic]
    nodes: dict[str, ProgramNode]


class PortJson(TypedDict):
    """The type of the records of a port; ``?`` if it is not known."""

    role: str
    key: str
    value: str
    key_changed: bool


class CodeFile(TypedDict):
    """A file of a program."""

    path: str
    text: str


class SpanJson(TypedDict):
    """The lines of a file that a node became."""

    path: str
    node: str
    start: int
    end: int


class CodeJson(TypedDict):
    """The files of a program, and which node became which lines.

    ``between``: topics through which the queries of a plain program exchange records.
    """

    files: list[CodeFile]
    source_map: list[SpanJson]
    between: list[str]


class ConditionJson(TypedDict):
    """The columns of a condition with their types, and what is wrong with it."""

    columns: dict[str, str]
    diagnostics: list[DiagnosticJson]


class SentenceJson(TypedDict):
    """A sentence: a form with names in braces, and for each name a text or another sentence."""

    form: str
    values: dict[str, str | SentenceJson]


class CompilationJson(TypedDict):
    """The response of the compile endpoint, without ``revision``."""

    diagnostics: list[DiagnosticJson]
    ports: dict[str, dict[str, PortJson]]
    plan: PlanJson | None
    summary: dict[str, SentenceJson]
    code: CodeJson | None
    #: of the conditions of a test, if it has some
    conditions: NotRequired[list[ConditionJson]]
