"""The events that a running driver reports to Redis, and the names of its keys.

The runtime writes the events; the workers and the backend read them. Each entry of the stream has
one field with an event as JSON. A driver of an earlier version may omit fields that were added
later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

from millrace_model.reading import Moment


def run_stream(report_id: str) -> str:
    """Key of the stream with the events of a run's driver."""
    return f"millrace:run:{report_id}"


def run_snapshot(report_id: str) -> str:
    """Key of the driver's last progress event."""
    return f"{run_stream(report_id)}:snapshot"


def run_open(report_id: str) -> str:
    """Key that exists while a page shows the run; its driver then reports every second."""
    return f"{run_stream(report_id)}:open"


def run_watched(report_id: str) -> str:
    """Key that exists while a page shows the run's records."""
    return f"{run_stream(report_id)}:watched"


def run_records(report_id: str) -> str:
    """Key of the last records over each edge of the run, while a page shows them."""
    return f"{run_stream(report_id)}:records"


def run_keys(report_id: str) -> tuple[str, ...]:
    """All keys of a run, the stream first."""
    names = (run_stream, run_snapshot, run_open, run_watched, run_records)
    return tuple(name(report_id) for name in names)


class CauseFields(TypedDict):
    """A cause or reason: its code, its sentence in English, and the facts in the sentence."""

    code: str
    message: str
    facts: NotRequired[Annotated[dict[str, str], "The values in the message, for translations."]]
    cause: NotRequired[Annotated[CauseFields | None, "The cause that the message quotes."]]


class CauseJson(TypedDict):
    """A cause as the database stores it and the API shows it."""

    code: str
    message: str
    facts: dict[str, str]
    cause: CauseJson | None


class FailureJson(CauseJson):
    """Why a deployment does not run, and where in the document."""

    node: NotRequired[str | None]
    parameter: NotRequired[str | None]
    record: NotRequired[FailedRecord | None]


class OutageJson(CauseJson):
    """What a deployment waits for, since when, and the time of the next attempt (epoch s)."""

    since: float
    attempts: int
    retry_at: float


class ErrorFields(TypedDict):
    """Why a driver failed."""

    code: str
    node: str | None
    parameter: str | None
    message: str
    facts: NotRequired[Annotated[dict[str, str], "The values in the message, for translations."]]
    cause: NotRequired[Annotated[CauseFields | None, "The cause that the message quotes."]]
    exception: NotRequired[str | None]
    record: NotRequired[FailedRecord | None]


class FailedRecord(TypedDict, total=False):
    """The record that caused a failure."""

    topic: str | None
    partition: int | None
    offset: int | None
    key: Any
    timestamp: int | None


class Fault(TypedDict, total=False):
    """A failure as the operator reports it; ``cause`` if the message is taken from it."""

    kind: str
    code: str | None
    node: str | None
    parameter: str | None
    exception: str | None
    message: str
    stacktrace: str | None
    cause: CauseFields | None
    record: FailedRecord | None


class StateEvent(TypedDict):
    """The driver's state: starting, running, paused, stopping, stopped, failed ..."""

    event: Literal["state"]
    at: int
    state: str
    error: ErrorFields | None


class StepEvent(TypedDict):
    """Progress of a long start: a sentence with its code and facts."""

    event: Literal["step"]
    at: int
    detail: str
    code: NotRequired[str]
    facts: NotRequired[dict[str, str]]


class LogEvent(TypedDict):
    """A log line, with the node of the topology that it is about, if any."""

    event: Literal["log"]
    at: int
    level: str
    node: str | None
    message: str


class Durations(TypedDict):
    """Latency in ms over the last ten seconds; null if there was no record."""

    avg: float | None
    min: int | None
    max: int | None
    p50: int | None
    p99: int | None
    count: Annotated[int, "Since the run started, as are `sum` and `buckets`."]
    sum: int
    buckets: Annotated[
        list[list[int]],
        "Histogram as pairs of an upper bound in ms and the number of records below it, down to "
        "half the bound.",
    ]


class Latency(TypedDict):
    """Latency of the records that entered a node."""

    event: NotRequired[Annotated[Durations, "Latency from the record's timestamp."]]
    arrival: NotRequired[
        Annotated[Durations, "Latency from the arrival of the input record in Kafka."]
    ]


class TopicPartition(TypedDict):
    """A position: the last offset that was read, the end and the records in between, if known."""

    topic: str
    partition: int
    offset: int
    read: NotRequired[int]
    end_offset: NotRequired[int | None]
    lag: NotRequired[int | None]


class StoreFigures(TypedDict):
    """Size of a store."""

    name: str
    node: str
    rows: int | None
    bytes: int | None


class LostRecords(TypedDict):
    """Records of a topic partition that the broker deleted before they were read."""

    topic: str
    partition: int
    records: int


#: Totals of a node since the start of the run. `latency` has histograms by `event` and `arrival`.
NodeFigures = TypedDict(
    "NodeFigures",
    {
        "in": int,
        "out": int,
        "dead_letters": NotRequired[int],
        "dropped": NotRequired[dict[str, int]],
        "misses": NotRequired[dict[str, int]],
        "latency": NotRequired[Latency],
    },
)


class TaskFigures(TypedDict):
    """A task's totals since the start of the run, and where it runs."""

    task: str
    subtopology: NotRequired[int]
    level: NotRequired[int]
    partition: NotRequired[int]
    executor: NotRequired[str]
    host: NotRequired[str | None]
    thread: NotRequired[str]
    thread_changes: NotRequired[int]
    records: NotRequired[int]
    stream_time: NotRequired[int | None]
    last_active: NotRequired[int]
    state_rows: NotRequired[int | None]
    topic_partitions: NotRequired[list[TopicPartition]]


class ProgressEvent(TypedDict):
    """Metrics of a run up to its last batch. `at` is epoch ms; durations are ms, rates per second.

    `batch_ms`: for how long the current batch has been running. `topic_partitions`: the position in
    each partition, if there are no tasks (plain dialect).
    """

    event: Literal["progress"]
    at: int
    batch: NotRequired[int | None]
    duration_ms: NotRequired[int | None]
    batch_ms: NotRequired[int]
    input_rate: NotRequired[float]
    process_rate: NotRequired[float]
    phases: NotRequired[dict[str, int]]
    nodes: NotRequired[dict[str, NodeFigures]]
    tasks: NotRequired[list[TaskFigures]]
    stores: NotRequired[list[StoreFigures]]
    lost: NotRequired[list[LostRecords]]
    topic_partitions: NotRequired[list[TopicPartition]]
    state: NotRequired[str]


class SourceProgress(TypedDict, total=False):
    """A source in Spark's progress of a query; offsets by topic and partition, or their JSON."""

    startOffset: Any
    endOffset: Any
    latestOffset: Any
    numInputRows: int


class SinkProgress(TypedDict, total=False):
    """The sink in Spark's progress of a query."""

    numOutputRows: int


class QueryProgress(TypedDict, total=False):
    """Spark's progress of a query (``StreamingQueryProgress.json``); empty before the first."""

    name: str | None
    batchId: int
    inputRowsPerSecond: float
    processedRowsPerSecond: float
    durationMs: dict[str, int]
    sources: list[SourceProgress]
    sink: SinkProgress


DriverEvent = StateEvent | StepEvent | LogEvent | ProgressEvent

_KINDS = ("state", "step", "log", "progress")


def encode(event: DriverEvent) -> str:
    """The event as JSON text."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def decode(text: bytes | str | None) -> DriverEvent | None:
    """The event in a JSON text; ``None`` if the text is not an event."""
    try:
        event = json.loads(text) if text else None
    except ValueError:
        return None
    if not isinstance(event, dict) or not isinstance(event.get("at"), int | float):
        return None
    return cast(DriverEvent, event) if event.get("event") in _KINDS else None


def of_entry(fields: Mapping[Any, Any]) -> DriverEvent | None:
    """The event in an entry of the stream, or ``None``."""
    return decode(next(iter(fields.values()), None))


#: Figures of a node with rates per second, as the API shows them.
NodeRates = TypedDict(
    "NodeRates",
    {
        "in": int,
        "out": int,
        "dropped": Annotated[dict[str, int], "Dropped records by reason, without dead letters."],
        "misses": Annotated[
            dict[str, int],
            "Records for which an inner join found nothing on the other side, by reason. They are "
            "not among the dropped records, as in Kafka Streams.",
        ],
        "dead_letters": Annotated[
            int, "Records sent to the dead letter topic instead of the next node."
        ],
        "in_rate": float | None,
        "out_rate": float | None,
        "latency": Annotated[
            Latency | None,
            "Null if not measured. Latency is measured at sources and at last nodes.",
        ],
    },
)


class TaskRates(TypedDict):
    """A task, and where it runs."""

    task: Annotated[str, "Task id as in Kafka Streams: sub-topology and partition, such as 0_1."]
    subtopology: int
    level: int
    partition: int
    executor: str
    host: str | None
    thread: Annotated[
        str, "The thread that ran the task last: Spark uses any free thread of the executor."
    ]
    thread_changes: Annotated[int, "Since the run started."]
    topic_partitions: list[TopicPartition]
    records: int
    rate: Annotated[float | None, "Current rate in records per second."]
    stream_time: Annotated[int | None, "Epoch milliseconds."]
    last_active: Annotated[int | None, "Epoch milliseconds."]
    state_rows: int | None


class RuntimeJson(TypedDict):
    """A driver's last report; ``stale`` if it is outdated."""

    deployment: int
    run: Annotated[str, "The report id of the run."]
    at: Annotated[int, "Epoch milliseconds, by the driver's clock."]
    as_of: Moment
    stale: bool
    batch: Annotated[int | None, "Number of the last batch; null before the first has ended."]
    duration_ms: int | None
    input_rate: float | None
    process_rate: float | None
    phases: dict[str, int]
    nodes: dict[str, NodeRates]
    tasks: list[TaskRates]
    stores: list[StoreFigures]
    lost: Annotated[list[LostRecords], "Since the run started."]
    topic_partitions: Annotated[
        list[TopicPartition], "Of a plain PySpark program, which has no tasks of Kafka Streams."
    ]
