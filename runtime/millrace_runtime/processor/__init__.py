"""Names that the code of a `process` node can use without an import."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, overload

if TYPE_CHECKING:
    from millrace_runtime.processor.frames import Frame, Moment
    from millrace_runtime.processor.stores import Store

K = TypeVar("K")
V = TypeVar("V")
S = TypeVar("S", bound="Store[Any, Any]")

STREAM_TIME = "STREAM_TIME"
WALL_CLOCK_TIME = "WALL_CLOCK_TIME"

_UNITS = {
    "ms": 1,
    "millisecond": 1,
    "second": 1000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}


def duration(value: int | str | dt.timedelta) -> int:
    """Return a duration in ms: of a whole number of ms, text such as "2 hours", or a timedelta."""
    if isinstance(value, dt.timedelta):
        return value // dt.timedelta(milliseconds=1)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number, _, unit = str(value).strip().lower().partition(" ")
    unit = unit.strip()
    scale = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
    if scale is None or not number.lstrip("-").isdigit():
        raise ValueError(
            f"{value!r} is not a duration: use a number of ms, or text such as '1 second'"
        )
    return int(number) * scale


_FIELDS = frozenset({"key", "value", "timestamp", "headers"})


class Record(Generic[K, V]):
    """A record: key, value, timestamp (ms), and headers as a list of (name, bytes)."""

    __slots__ = ("headers", "key", "timestamp", "value")

    def __init__(
        self, key: K, value: V, timestamp: int, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        self.key = key
        self.value = value
        self.timestamp = timestamp
        self.headers = list(headers)

    def replace(self, **changes: Any) -> Record[Any, Any]:
        """Return a copy with changed fields: key, value, timestamp, headers."""
        if not changes.keys() <= _FIELDS:
            raise TypeError(f"a record has no {', '.join(sorted(changes.keys() - _FIELDS))}")
        given = changes.get
        return Record(
            given("key", self.key),
            given("value", self.value),
            given("timestamp", self.timestamp),
            given("headers", self.headers),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        mine = (self.key, self.value, self.timestamp, self.headers)
        return mine == (other.key, other.value, other.timestamp, other.headers)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Record({self.key!r}, {self.value!r}, {self.timestamp!r}, {self.headers!r})"


class Host(Protocol):
    """The interface of the process that runs a processor, for the processor's context."""

    now: Frame
    task_id: Any
    stores: dict[str, Any]
    schedules: dict[int, Callable[[int], None]]

    def open(self) -> None:
        """Raise if the task has ended."""

    def acting(self, what: str) -> None:
        """Raise if the task has ended, or if the processor only writes a global store."""

    def send(self, *message: Any) -> None:
        """Send a message that has no response."""

    def ask(self, *message: Any) -> Any:
        """Send a message and return its response."""

    def forward(self, record: Record[Any, Any], to: str | None) -> None:
        """Forward a record to the children of one port, or of all ports."""

    def cancel(self, number: int) -> None:
        """End a schedule; also during `close`."""


class Schedule:
    """A running schedule."""

    def __init__(self, host: Host, number: int) -> None:
        self._host = host
        self._number = number

    def cancel(self) -> None:
        """Cancel the schedule."""
        self._host.cancel(self._number)


class ProcessorContext(Generic[K, V]):
    """The context of a processor: its stores, schedules and current record.

    `ProcessorContext[str, int]`: forwarded records have keys of type str and values of type int.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._scheduled = 0

    @property
    def task_id(self) -> str:
        """Id of the task: sub-topology and partition, such as "0_1"."""
        return str(self._host.task_id)

    @property
    def topic(self) -> str | None:
        """Topic of the current record; None in a punctuation."""
        return self._host.now["topic"]

    @property
    def partition(self) -> int:
        """Partition of the current record; -1 in a punctuation."""
        return int(self._host.now["partition"])

    @property
    def offset(self) -> int:
        """Offset of the current record; -1 in a punctuation."""
        return int(self._host.now["offset"])

    @overload
    def store(self, name: str) -> Any: ...
    @overload
    def store(self, name: str, kind: type[S]) -> S: ...
    def store(self, name: str, kind: Any = None) -> Any:
        """Return the store with this name, which must be connected to this node.

        `kind`: its class for type checkers, such as `KeyValueStore[str, int]`. Raises TypeError if
        the store is of another kind.
        """
        self._host.open()
        found = self._host.stores.get(name)
        if found is None:
            known = ", ".join(self._host.stores) or "none"
            raise KeyError(f"no store {name!r} is connected to this node; connected: {known}")
        expected = getattr(kind, "__origin__", kind)
        if expected is not None and not isinstance(found, expected):
            has = type(found).__name__
            raise TypeError(f"the store {name} is a {has}, not a {expected.__name__}")
        return found

    def schedule(
        self,
        interval: int | str | dt.timedelta,
        type: str,
        callback: Callable[[int], None],
        *,
        start_time: int | dt.datetime | None = None,
    ) -> Schedule:
        """Call `callback(ms)` at every interval of stream time or of the wall clock.

        `interval`: in ms, as text such as "10 seconds", or a timedelta.

        `start_time`: when it is called first, in ms or as a datetime (without a time zone: UTC),
        and from which the intervals count; those that have passed already are left out. Default:
        0 of stream time, or one interval from now of the wall clock.
        """
        self._host.acting("schedule punctuations")
        every = duration(interval)
        if every < 1:
            raise ValueError(f"the interval must be at least 1 ms, not {interval!r}")
        if type not in (STREAM_TIME, WALL_CLOCK_TIME):
            raise ValueError(f"the type must be STREAM_TIME or WALL_CLOCK_TIME, not {type!r}")
        start = None if start_time is None else _milliseconds(start_time)
        self._scheduled += 1
        self._host.schedules[self._scheduled] = callback
        self._host.send("schedule", self._scheduled, every, type, start)
        return Schedule(self._host, self._scheduled)

    def forward(self, record: Record[K, V], to: str | None = None) -> None:
        """Forward a record to the children of one port, or of all in the order of the edges."""
        self._host.forward(record, to)

    def commit(self) -> None:
        """Do nothing: each micro-batch commits when it ends."""

    def current_stream_time(self) -> int:
        """Return the highest timestamp of the task in ms; -1 before the first record."""
        return int(self._host.now["stream_time"])

    def current_system_time(self) -> int:
        """Return the wall-clock time in ms; in a simulation, only input lines advance it."""
        return int(self._host.now["wall_clock"])

    def processing_time(self) -> int:
        """Return the time in ms at which the record is processed, as `now()` in expressions.

        It is the same if a micro-batch is processed again, which `current_system_time` is not.
        """
        return int(self._moment["time"])

    def random(self) -> Random:
        """Return random numbers that are the same if the record is processed again.

        The generator is seeded with the record's place and the node. All calls of one `process` or
        punctuation return the same one, which continues.
        """
        moment = self._moment
        if "random" not in moment:
            moment["random"] = Random(moment["seed"])  # noqa: S311 - no secrets
        return moment["random"]  # type: ignore[no-any-return]

    @property
    def _moment(self) -> Moment:
        """Seed and processing time of the current call."""
        now = self._host.now
        if "moment" not in now:
            now["moment"] = self._host.ask("moment")
        return now["moment"]


def _milliseconds(start_time: int | dt.datetime) -> int:
    """Return a start time in ms. Raises TypeError, or ValueError if it is before 1970."""
    if isinstance(start_time, dt.datetime):
        at = start_time if start_time.tzinfo else start_time.replace(tzinfo=dt.UTC)
        start_time = round(at.timestamp() * 1000)
    if not isinstance(start_time, int) or isinstance(start_time, bool):
        raise TypeError(f"the start time must be an int (ms) or a datetime, not {start_time!r}")
    if start_time < 0:
        raise ValueError(f"the start time must not be before 1970, but is {start_time}")
    return start_time


class Processor:
    """Base class of processors. All methods are optional.

    A class may have an `__init__` with arguments that JSON can hold; a program passes an instance,
    such as `process(Enrich(threshold=3))`, and each task creates its own one.
    """

    #: The arguments with which the instance was created.
    created_with: tuple[tuple[Any, ...], dict[str, object]]

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        made = super().__new__(cls)
        made.created_with = (args, keywords)
        return made

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        """Called once for each task, before the first record."""

    def process(self, record: Record[Any, Any]) -> None:
        """Called for each record."""

    def close(self) -> None:
        """Called when the task ends."""
