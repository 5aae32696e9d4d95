"""Simulations: the request to the simulator and its response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import DocumentEdge, Double, TopologyDocument
from millrace_model.events import CauseFields
from millrace_model.reads import TaskStates
from millrace_model.records import InputLine, LetterFailure, LogLine, OutputLine, StoreEntry
from millrace_model.scenarios import DifferenceJson, Expected, StoppedFields
from millrace_model.traces import NodeCounts, RunProgress, TraceStep


class PinnedLine(InputLine, total=False):
    """An input line, or a record that is pinned on an edge, in place of a topic."""

    edge: DocumentEdge


class PartRequest(TypedDict, total=False):
    """The part of a topology that is to run (`millrace_compiler.compilation.running_part`).

    Nodes and edges within fragments have the ids with which they run.
    """

    pins: list[DocumentEdge]
    to: str | None
    muted: list[str]
    doubles: list[Double]


class PartRan(TypedDict):
    """The part that ran."""

    nodes: list[str]
    muted: Annotated[
        dict[str, bool], "By muted node: whether records passed it, or stopped before it."
    ]
    doubles: Annotated[list[str], "Nodes for which a double ran."]


class InnerEdge(TypedDict):
    """An edge of the document with its fragments expanded, and the records over it."""

    source: str
    source_port: str
    target: str
    target_port: str
    records: int


class SimulationResult(TypedDict):
    """Results of the input lines."""

    outputs: list[OutputLine]
    output_count: int
    dropped: int
    edges: Annotated[list[int], "Records over each edge of the document."]
    nodes: dict[str, NodeCounts]
    inner_edges: NotRequired[
        Annotated[
            list[InnerEdge],
            "With fragments: edges between the nodes that run, those within fragments among them.",
        ]
    ]
    stores: dict[str, list[StoreEntry]]
    steps: list[TraceStep]
    truncated: Annotated[bool, "Whether there were more steps than are returned."]
    stops_truncated: Annotated[
        bool, "Whether there were more stops at breakpoints than are returned."
    ]
    stores_truncated: Annotated[
        bool, "Whether the stores started with more rows than the steps contain."
    ]
    breakpoints: NotRequired[dict[str, list[Breakpoint]]]
    logs: list[LogLine]
    failures: Annotated[list[LetterFailure], "The errors of records that became dead letters."]
    error: StoppedFields | None
    stopped_after: Annotated[
        int | None,
        "Of a run that was canceled: the number of input lines that it processed. The results "
        "are those of these lines.",
    ]
    differences: NotRequired[
        Annotated[
            list[DifferenceJson] | None,
            "Differences from the expected results; null without expected results.",
        ]
    ]
    part: NotRequired[Annotated[PartRan, "The part that ran; absent for all of it."]]


class Breakpoint(TypedDict):
    """Where a breakpoint stops."""

    line: Annotated[int, "As requested."]
    at: Annotated[
        int | None,
        "The line of the statement; null if no statement in a function follows.",
    ]


class PlainRow(TypedDict):
    """A record of Kafka Streams, of plain Spark, or of both."""

    kafka_streams: OutputLine | None
    spark: OutputLine | None
    differs: Annotated[
        Sequence[Literal["value", "headers", "timestamp", "order", "input", "missing", "extra"]],
        "order: another place in its micro-batch; input: caused by another input line; missing: "
        "only Kafka Streams writes it; extra: only plain Spark does.",
    ]
    codes: Annotated[list[str], "Codes of the diagnostics that explain it."]
    explained: Annotated[bool, "Whether a diagnostic explains each difference."]


class PlainCounts(TypedDict):
    """Records of a topic: equal, equal except for the timestamp, different, or of one side only."""

    equal: int
    time: int
    different: int
    kafka_streams: int
    spark: int


class PlainTopic(TypedDict):
    """The records of a topic on both sides; `sinks` are the nodes that write it."""

    topic: str
    sinks: list[str]
    counts: PlainCounts
    rows: Annotated[list[PlainRow], "The first 2,000; all of them are counted."]


class BothDropped(TypedDict):
    """Counts of dropped records, and the codes that explain why they differ."""

    kafka_streams: int
    spark: int
    codes: list[str]


class BothStopped(TypedDict):
    """Why each side stopped, if it did."""

    kafka_streams: StoppedFields | None
    spark: StoppedFields | None


class PlainComparison(TypedDict):
    """The results of plain Spark beside those of Kafka Streams."""

    verdict: Annotated[
        str,
        "predicted: diagnostics explain each difference; wrong: at least one has no diagnostic.",
    ]
    unexplained: Annotated[list[DifferenceJson], "Differences without a diagnostic."]
    topics: list[PlainTopic]
    dropped: BothDropped
    stopped: BothStopped
    seconds: NotRequired[float]


class PlainResult(TypedDict):
    """The run in plain Spark; without a comparison, plain Spark cannot express the topology."""

    cut: str
    diagnostics: list[DiagnosticJson]
    comparison: PlainComparison | None


class SimulationAnswer(TypedDict):
    """The response to a request to simulate."""

    diagnostics: list[DiagnosticJson]
    result: SimulationResult | None
    plain: Annotated[
        PlainResult | None,
        "Null unless it was requested, and if it was canceled before its first micro-batch ended.",
    ]


class SimulationRequest(TypedDict, total=False):
    """A request to simulate; see `millrace_runtime.simulator.simulator`."""

    do: Required[Literal["simulate"]]
    owner: str
    run: str | None
    document: Required[TopologyDocument]
    inputs: Required[list[InputLine] | list[PinnedLine]]
    trace: Required[int]
    part: PartRequest | None
    expected: Expected | None
    breakpoints: dict[str, list[int]]
    partitions: dict[str, int]
    plain: Literal["each", "all"] | None
    begins: TaskStates | None


class DifferingInput(TypedDict):
    """An input on which two versions differ, with the outputs of each."""

    inputs: Annotated[list[InputLine], "Input lines."]
    topics: Annotated[list[str], "Topics with different records."]
    old: Annotated[list[OutputLine], "Output lines."]
    new: Annotated[list[OutputLine], "Output lines."]
    old_stopped: Annotated[int | None, "Number of the input line that stops the old version."]
    new_stopped: Annotated[int | None, "Number of the input line that stops the new version."]


class SearchResult(TypedDict):
    """What a search found, and how much it tried."""

    found: Annotated[DifferingInput | None, "Null if the results are equal for all inputs."]
    line: Annotated[str, "All of it in one line of Markdown, for a pull request."]
    inputs: Annotated[int, "Number of inputs that were tried."]
    seconds: float
    nodes: Annotated[int, "Number of nodes of both versions."]
    branches: Annotated[
        int,
        "What the nodes of both versions can do: a record enters it, one leaves it, its predicate "
        "is false.",
    ]
    covered: Annotated[int, "How many of them happened."]
    missed: Annotated[dict[str, list[str]], "Nodes that no record reached, by version (old, new)."]
    only_old: Annotated[list[str], "Topics that only the old version writes."]
    only_new: Annotated[list[str], "Topics that only the new version writes."]


class ProgramRequest(TypedDict):
    """A request for the document of a Python program."""

    do: Literal["read_program"]
    owner: str
    run: str | None
    name: str
    program: str
    files: NotRequired[Annotated[dict[str, str], "Modules beside the program, by path."]]


class ProgramProblem(TypedDict):
    """Why a program has no document."""

    code: str
    message: str
    node: Annotated[str | None, "The node of the topology that it is about."]
    file: Annotated[str | None, "The file that it is in: the program, or a module beside it."]
    line: Annotated[int | None, "The line of the file, counted from 1."]


class ProgramRead(TypedDict):
    """The document of a program, or why it has none. One of them is null."""

    document: TopologyDocument | None
    problem: ProgramProblem | None


class Answered(TypedDict):
    """A frame with the response to a request."""

    answer: Any


class Reported(TypedDict):
    """A frame with the progress of a request."""

    progress: RunProgress


class ServiceError(CauseFields):
    """Why the simulator or the store reader refuses a request."""

    node: NotRequired[str | None]
    parameter: NotRequired[str | None]
    hint: NotRequired[str]


class Prepared(TypedDict):
    """Whether a simulation can start immediately, and the progress of a run of the user."""

    state: Literal["ready", "starting"]
    progress: RunProgress | None


class Simulated(SimulationAnswer):
    """Diagnostics and result; without a result, the document was refused or has not run yet."""

    state: Annotated[str, "starting: the simulator is starting; try again in a second."]
