"""Reads of a checkpoint: its micro-batches, its stores, and the state of tasks."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, Required, TypedDict

from millrace_model.state import StoreDrops


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
