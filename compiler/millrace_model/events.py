"""The events that a running driver reports to Redis, and the names of its keys.

The runtime writes the events; the workers and the backend read them. Each entry of the stream has
one field with an event as JSON. A driver of an earlier version may omit fields that were added
later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, cast


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
    facts: NotRequired[dict[str, str]]
    #: the underlying cause, which the sentence quotes
    cause: NotRequired[CauseFields | None]


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
    facts: NotRequired[dict[str, str]]
    cause: NotRequired[CauseFields | None]
    exception: NotRequired[str | None]
    record: NotRequired[FailedRecord | None]


class FailedRecord(TypedDict, total=False):
    """The record that stopped a job."""

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
    """Times of records in ms since the start of the run, and in the last seconds.

    ``buckets``: [below, records]. The others are of the last seconds, and null without records.
    """

    count: int
    sum: int
    buckets: list[list[int]]
    avg: float | None
    min: int | None
    max: int | None
    p50: int | None
    p99: int | None


class Latency(TypedDict):
    """Times from the timestamp, or from the arrival, of a record to its output."""

    event: NotRequired[Durations]
    arrival: NotRequired[Durations]


class TopicPartition(TypedDict):
    """A position: the last offset that was read, the end and the records in between, if known."""

    topic: str
    partition: int
    offset: int
    read: NotRequired[int]
    end_offset: NotRequired[int | None]
    lag: NotRequired[int | None]


class StoreFigures(TypedDict):
    """The size of a store."""

    name: str
    node: str
    rows: int | None
    bytes: int | None


class LostRecords(TypedDict):
    """Records that the broker deleted before they were read."""

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
        "dropped": dict[str, int],
        "misses": dict[str, int],
        "dead_letters": int,
        "in_rate": float | None,
        "out_rate": float | None,
        "latency": Latency | None,
    },
)


class TaskRates(TypedDict):
    """Figures of a task, as the API shows them."""

    task: str
    subtopology: int
    level: int
    partition: int
    executor: str
    host: str | None
    thread: str
    thread_changes: int
    topic_partitions: list[TopicPartition]
    records: int
    rate: float | None
    stream_time: int | None
    last_active: int | None
    state_rows: int | None


class RuntimeJson(TypedDict):
    """A driver's report with rates, as the API shows it."""

    deployment: int
    run: str
    at: int
    as_of: str
    stale: bool
    batch: int | None
    duration_ms: int | None
    input_rate: float | None
    process_rate: float | None
    phases: dict[str, int]
    nodes: dict[str, NodeRates]
    tasks: list[TaskRates]
    stores: list[StoreFigures]
    lost: list[LostRecords]
    topic_partitions: list[TopicPartition]
