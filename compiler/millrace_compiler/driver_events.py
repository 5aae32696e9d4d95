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
    cause: NotRequired[CauseFields]


class ErrorFields(TypedDict):
    """Why a driver failed."""

    code: str
    node: str | None
    parameter: str | None
    message: str
    facts: NotRequired[dict[str, str]]
    cause: NotRequired[CauseFields]
    exception: NotRequired[str | None]
    record: NotRequired[dict[str, Any] | None]


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


#: Totals of a node since the start of the run. `latency` has histograms by `event` and `arrival`.
NodeFigures = TypedDict(
    "NodeFigures",
    {
        "in": int,
        "out": int,
        "dead_letters": NotRequired[int],
        "dropped": NotRequired[dict[str, int]],
        "misses": NotRequired[dict[str, int]],
        "latency": NotRequired[dict[str, Any]],
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
    topic_partitions: NotRequired[list[dict[str, Any]]]


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
    stores: NotRequired[list[dict[str, Any]]]
    lost: NotRequired[list[dict[str, Any]]]
    topic_partitions: NotRequired[list[dict[str, Any]]]
    state: NotRequired[str]


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
