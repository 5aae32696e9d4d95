"""Simulations: input lines, the request to the simulator and its response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from millrace_model.diagnostics import Announced, DiagnosticJson
from millrace_model.documents import Format, TopologyDocument
from millrace_model.events import CauseFields, ErrorFields, NodeFigures, StoreFigures, TaskFigures
from millrace_model.plans import InternalTopic, SubtopologyJson
from millrace_model.state import StoreDrops


class InputLine(TypedDict, total=False):
    """A line of input: a record, an advance of the wall clock in ms, or a restart.

    Null means the same as a missing field.
    """

    topic: str
    key: Any
    value: Any
    #: bytes in base64, instead of a value
    key_bytes: str | None
    value_bytes: str | None
    timestamp: int
    partition: int
    offset: int
    headers: dict[str, str | None]
    advance_wall_clock: int
    restart: Any


class OutputLine(TypedDict, total=False):
    """An output, or what a test expects of one.

    ``after`` is the number of the input line that caused it, if it is known.
    """

    after: int
    topic: Required[str]
    key: Any
    value: Any
    timestamp: int
    headers: dict[str, str | None]
    #: if it is not 0, of what a search shows
    partition: int


class LineParts(TypedDict):
    """The parts of a record of an input line; bytes are in base64."""

    partition: int
    timestamp: int
    key: str | None
    value: str | None
    headers: list[tuple[str, str | None]]


class LoggedLine(TypedDict):
    """A line that a node printed, as the operator has it."""

    level: str
    node: str | None
    message: str
    merge: int


class RawProgress(TypedDict):
    """Progress of a simulation as the operator has it; ``done``: cuts, without micro-batches."""

    counts: list[list[Any]]
    done: NotRequired[int]


class Statistics(TypedDict):
    """Totals of a run, as the operator counts them."""

    nodes: dict[str, NodeFigures]
    tasks: list[TaskFigures]
    stores: list[StoreFigures]
    dropped: int


class StoreEntry(TypedDict, total=False):
    """A row of a store; the key of a window store contains its window."""

    key: Any
    value: Any
    timestamp: int | None


class OperatorRecord(TypedDict):
    """A record for a simulated task; bytes are in base64, ``merge`` is its place among all."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    merge: int
    key: str | None
    value: str | None
    headers: list[tuple[str, str | None]]


class OperatorRow(TypedDict):
    """A row that a simulated task wrote for the sink ``dest``, or a message if that is negative.

    ``key`` and ``value`` are values, the others bytes in base64.
    """

    dest: int
    merge: int
    topic: str | None
    partition: int | None
    timestamp: int
    key: Any
    value: Any
    key_bytes: str | None
    value_bytes: str | None
    partition_key: str | None
    headers: list[tuple[str, str | None]]
    #: of a record that stopped the job, as JSON
    fault: str


class LogLine(TypedDict):
    """A line that a node printed."""

    after: Annotated[int, "Number of the input line that was being processed; 0 if there was none."]
    level: str
    node: str | None
    message: str


#: Records of a node; `dropped` by reason, where `dead_letter` is one.
NodeCounts = TypedDict("NodeCounts", {"in": int, "out": int, "dropped": dict[str, int]})


class StepRecord(TypedDict):
    """A record as it enters a node; `old` is the former value of a table's update."""

    key: Any
    value: Any
    old: NotRequired[Any]
    timestamp: int
    headers: dict[str, str | None]


class StoreRow(TypedDict):
    """A row of a store; a row without a value was deleted or has expired."""

    key: Any
    value: Any
    timestamp: int | None
    tombstone: NotRequired[
        Annotated[bool, "The row is a version without a value; it ends the previous version."]
    ]


class Local(TypedDict):
    """A local variable, or an attribute of `self`; long values are truncated."""

    name: str
    value: str


#: A step of a record in a trace; `millrace_runtime.reports.trace` describes its events.
TraceStep = TypedDict(
    "TraceStep",
    {
        "seq": Required[int],
        "parent": Required[Annotated[int | None, "The step that caused it."]],
        "after": Required[Annotated[int, "Number of its input line, starting at 1."]],
        "event": Required[Annotated[str, "record, drop, end, store, punctuate, log or stop"]],
        "node": Required[str],
        "task": str,
        "stream_time": int | None,
        "from": str | None,
        "port": str | None,
        "input": Annotated[int, "0: the first, or left, input."],
        "edge": Annotated[int | None, "The index of the document's edge."],
        "inside": Annotated[
            bool, "Whether the record was in the node before, and comes from another part of it."
        ],
        "record": StepRecord,
        "reason": str,
        "dead_letter": bool,
        "window_start": int,
        "window_end": int,
        "closed_until": Annotated[int, "Windows that end before this time, in ms, are closed."],
        "time": int,
        "kept_from": int,
        "store": str,
        "row": StoreRow,
        "clock": str,
        "now": int,
        "level": Annotated[str, "Of a printed line: info or warning."],
        "message": str,
        "line": Annotated[int, "Of a stop at a breakpoint."],
        "function": str,
        "locals": list[Local],
        "more_locals": Annotated[bool, "Whether there are more local variables than are listed."],
    },
    total=False,
)


class RawTrace(TypedDict):
    """A trace as the operator has it, with the steps of the task graph."""

    steps: list[Any]
    truncated: bool
    stops_truncated: bool
    stores_truncated: bool
    counts: list[list[Any]]


class Counts(TypedDict):
    """Records by edge (in the document's order) and by node."""

    edges: list[int]
    nodes: dict[str, NodeCounts]


class RunProgress(TypedDict):
    """The number of processed input lines, their total, and the records so far.

    `edges` and `nodes` are as in a result; they are missing while plain Spark runs.
    """

    done: int
    lines: int
    edges: NotRequired[list[int]]
    nodes: NotRequired[dict[str, NodeCounts]]


class StoppedFields(ErrorFields):
    """Why the job stopped, at the input line `after`."""

    kind: str
    after: NotRequired[int]


class DifferenceJson(TypedDict):
    """A difference from what was expected, with its message in English."""

    code: str
    facts: Annotated[dict[str, str], "The values in the message, for translations."]
    message: str


class RefusedFields(TypedDict):
    """Why a document is refused: its first error, and all diagnostics."""

    kind: Literal["refused"]
    code: str
    node: str | None
    parameter: str | None
    message: str
    diagnostics: list[DiagnosticJson]


class TestResult(TypedDict):
    """The result of a test of a topology."""

    id: str
    title: str | None
    passed: bool
    differences: list[str]


class Answer(TypedDict, total=False):
    """The answer of a comparison with Kafka Streams: its differences, or why it failed."""

    differences: list[DifferenceJson]
    error: CauseFields


class Looked(TypedDict, total=False):
    """The answer of a comparison with Kafka Streams, or until then what it is doing."""

    answer: Answer
    doing: str


class Verification(TypedDict):
    """A comparison with Kafka Streams, as the API shows it."""

    id: str
    workspace: int
    state: str
    doing: str | None
    differences: list[DifferenceJson] | None
    error: CauseFields | None


class Conditioned(TypedDict, total=False):
    """A condition of a test on the records of a topic or the rows of a store."""

    topic: str
    store: str
    predicate: str
    records: str | int


class Described(TypedDict, total=False):
    """Sub-topologies and internal topics, of a scenario that compares descriptions."""

    subtopologies: list[SubtopologyJson]
    internal_topics: list[InternalTopic]


class ScenarioResult(Described, total=False):
    """The results of a scenario, in the form of a result file."""

    id: str
    outputs: list[OutputLine]
    stores: dict[str, list[StoreEntry]]
    dropped: int | None
    #: why the document is refused, or a record stopped it
    error: Any
    logs: list[LogLine]
    #: announced by the plain dialect
    differences: list[Announced]


class Expected(ScenarioResult, total=False):
    """What a test expects; only what is stated is compared."""

    conditions: list[Conditioned]


class Scenario(TypedDict, total=False):
    """A document with input lines and their results: a recorded scenario, or a test."""

    id: str
    name: str
    description: str
    title: str
    #: how results are compared (`millrace_runtime.results.comparing`), and for which cuts
    compare: str
    cuts: list[str]
    #: classes of Kafka Streams' own that take the place of processors, by node
    oracle_processors: dict[str, str]
    topology: Required[TopologyDocument]
    inputs: Required[list[InputLine]]
    expected: Expected
    #: results of Millrace, to be compared with those of Kafka Streams
    found: ScenarioResult
    #: differences that were found only beside other scenarios
    beside: list[str]


class SimulationResult(TypedDict):
    """Results of the input lines."""

    outputs: list[OutputLine]
    output_count: int
    dropped: int
    edges: Annotated[list[int], "Records over each edge of the document."]
    nodes: dict[str, NodeCounts]
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
    inputs: Required[list[InputLine]]
    trace: Required[int]
    expected: Expected | None
    breakpoints: dict[str, list[int]]
    partitions: dict[str, int]
    plain: Literal["each", "all"] | None
    begins: TaskStates | None


class CommittedBatch(TypedDict):
    """A committed micro-batch, when it was planned in ms, and the next offsets to read."""

    batch: int
    at: int
    places: dict[str, dict[str, int]]


class CommittedBatches(TypedDict):
    """The last micro-batches of a checkpoint; ``clock``: whether processors see the wall clock."""

    batches: list[CommittedBatch]
    levels: int | None
    subtopologies: dict[str, int] | None
    clock: bool | None


class RawTaskStates(TypedDict):
    """The state of tasks as the operator reads it; its text is the operator's own."""

    state: str
    wall_clock: int


class TaskStates(RawTaskStates):
    """The state of tasks after a micro-batch, with which a simulation can begin."""

    changes: list[StoreDrops]
    names: dict[str, str]
    nodes: dict[str, list[str | int]]
    tasks: int | None
    levels: int | None
    subtopologies: dict[str, int] | None


class StoreName(TypedDict):
    """A store's id, name and kind."""

    id: str
    name: str
    kind: str


class TaskTime(TypedDict):
    """The stream time of a task."""

    task: str
    stream_time: Annotated[int | None, "Milliseconds since the epoch."]


class Window(TypedDict):
    """A window or a session; milliseconds since the epoch."""

    start: int
    end: Annotated[int | None, "Null if it has no end."]


class StateRow(TypedDict):
    """A row of a store; key and value are JSON as text, which keeps all digits."""

    key: str
    value: str | None
    timestamp: int | None
    task: str
    window: NotRequired[Window]
    valid_from: NotRequired[int]


class RowsOfPage(TypedDict):
    """What the operator reads of a page."""

    tasks: list[TaskTime]
    rows: list[StateRow]
    next: str | None


class StatePage(RowsOfPage):
    """A page of a store, from a committed micro-batch; times are in ms."""

    store: StoreName
    batch: int
    committed_at: int


class ReadRequest(TypedDict, total=False):
    """A request to read a checkpoint; see `millrace_runtime.stores.reader`."""

    do: Required[str]
    owner: str
    checkpoint: Required[str]
    store: str
    query: Any
    batch: int
    tasks: list[int] | None
    names: list[str]


class EncodeRequest(TypedDict):
    """A request to encode values, each as JSON, in a format."""

    do: Literal["encode"]
    format: Format
    texts: list[str]


class EncodedBytes(TypedDict):
    """Encoded values in Base64, or null."""

    bytes: list[str | None]


class ProgramRequest(TypedDict):
    """A request for the document of a Python program."""

    do: Literal["read_program"]
    name: str
    program: str


class Answered(TypedDict):
    """A frame with the response to a request."""

    answer: Any


class Reported(TypedDict):
    """A frame with the progress of a request."""

    progress: RunProgress


class DropCount(TypedDict):
    """Records that a node dropped for a reason."""

    node: str
    reason: str
    count: int


class DriverStep(TypedDict):
    """What the tasks of a test driver did with some records (``TestDriver.scala``).

    ``nodes``: [node, records in, records out]. ``answer``: of an operation of a store.
    """

    rows: list[OperatorRow]
    drops: list[DropCount]
    nodes: NotRequired[list[tuple[str, int, int]]]
    logs: NotRequired[list[LoggedLine]]
    answer: NotRequired[Any]


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
