"""Simulations: input lines, the request to the simulator and its response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, Required, TypedDict

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
    """A line that a node printed; ``after`` is 0 if no input line was being processed."""

    level: str
    node: str | None
    message: str
    after: int


#: Records of a node; `dropped` by reason, where `dead_letter` is one.
NodeCounts = TypedDict("NodeCounts", {"in": int, "out": int, "dropped": dict[str, int]})

#: A step of a record in a trace; `millrace_runtime.reports.trace` describes its fields.
TraceStep = TypedDict(
    "TraceStep",
    {
        "seq": int,
        "parent": int | None,
        "after": int,
        "event": str,
        "node": str,
        "record": Any,
        "from": str | None,
        "port": str | None,
        "input": int,
        "inside": bool,
        "task": str,
        "stream_time": int | None,
        "edge": int | None,
        "reason": str,
        "message": str,
        "level": str,
        "store": str,
        "row": Any,
        "line": int,
        "function": str,
        "locals": list[Any],
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
    """Input lines that are done; counts, except for plain Spark."""

    done: int
    lines: int
    edges: NotRequired[list[int]]
    nodes: NotRequired[dict[str, NodeCounts]]


class StoppedFields(ErrorFields):
    """Why a run stopped, at an input line."""

    kind: str
    after: NotRequired[int]


class DifferenceJson(TypedDict):
    """A difference between a result and what was expected: a sentence with its code and facts."""

    code: str
    facts: dict[str, str]
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
    #: how results are compared (`millrace_runtime.simulator.comparing`), and for which cuts
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


class EdgeEnds(TypedDict, total=False):
    """An edge by its ends; ports are `out` and `in` unless stated."""

    source: Required[str]
    source_port: str | None
    target: Required[str]
    target_port: str | None


class PinnedLine(InputLine, total=False):
    """An input line, or a record that is pinned on an edge, in place of a topic."""

    edge: EdgeEnds


class PartRequest(TypedDict, total=False):
    """The part of a topology that is to run (`millrace_compiler.running_part`)."""

    pins: list[EdgeEnds]
    to: str | None
    muted: list[str]


class PartRan(TypedDict):
    """The part that ran: its nodes, and whether the records of a muted node passed it."""

    nodes: list[str]
    muted: dict[str, bool]


class SimulationResult(TypedDict):
    """The result of a simulation, as the page shows it."""

    outputs: list[OutputLine]
    output_count: int
    dropped: int
    edges: list[int]
    nodes: dict[str, NodeCounts]
    stores: dict[str, list[StoreEntry]]
    steps: list[TraceStep]
    truncated: bool
    stops_truncated: bool
    stores_truncated: bool
    logs: list[LogLine]
    error: StoppedFields | None
    stopped_after: int | None
    differences: NotRequired[list[DifferenceJson] | None]
    breakpoints: NotRequired[dict[str, list[Breakpoint]]]
    part: NotRequired[PartRan | None]


class Breakpoint(TypedDict):
    """A requested line, and the line of the statement where it stops, if there is one."""

    line: int | None
    at: int | None


class PlainRow(TypedDict):
    """A record that plain Spark and Kafka Streams give, or only one of them.

    ``differs``: how; ``codes`` explain that, if it is ``explained``.
    """

    kafka_streams: OutputLine | None
    spark: OutputLine | None
    differs: Sequence[str]
    codes: list[str]
    explained: bool


class PlainTopic(TypedDict):
    """The first records of a topic on both sides, and the numbers of all."""

    topic: str
    sinks: list[str]
    counts: dict[str, int]
    rows: list[PlainRow]


class BothDropped(TypedDict):
    """Numbers of dropped records, and the codes that explain a difference."""

    kafka_streams: int
    spark: int
    codes: list[str]


class BothStopped(TypedDict):
    """Why a record stopped one side."""

    kafka_streams: StoppedFields | None
    spark: StoppedFields | None


class PlainComparison(TypedDict):
    """Plain Spark beside Kafka Streams, and the verdict."""

    verdict: str
    unexplained: list[DifferenceJson]
    topics: list[PlainTopic]
    dropped: BothDropped
    stopped: BothStopped
    seconds: NotRequired[float]


class PlainResult(TypedDict):
    """The lines on plain Spark, in such micro-batches, beside Kafka Streams."""

    cut: str
    diagnostics: list[DiagnosticJson]
    comparison: PlainComparison | None


class SimulationAnswer(TypedDict):
    """The response to a request to simulate."""

    diagnostics: list[DiagnosticJson]
    result: SimulationResult | None
    plain: PlainResult | None


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
    """A store of a checkpoint."""

    id: str
    name: str
    kind: str


class TaskTime(TypedDict):
    """A task and its stream time."""

    task: str
    stream_time: int | None


class Window(TypedDict):
    """A window of a row; ``end`` is None for unlimited windows."""

    start: int
    end: int | None


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
    """Whether a simulator is ``ready`` or ``starting``, and the progress of a run."""

    state: str
    progress: RunProgress | None


class Simulated(SimulationAnswer):
    """The response of the simulate endpoint; nothing ran if ``state`` is ``starting``."""

    state: str
