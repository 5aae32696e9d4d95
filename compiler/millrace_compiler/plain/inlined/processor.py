"""The Processor API on `transformWithState`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
)

from millrace_compiler.plain.inlined.state import _bytes, _in_order

STREAM_TIME = "STREAM_TIME"


@dataclass
class Record:
    """A record; the timestamp is in milliseconds."""

    key: Any
    value: Any
    timestamp: int
    headers: Any = ()

    def replace(self, **changes: Any) -> "Record":
        """A copy with other fields."""
        return replace(self, **changes)


class Processor:
    """Base class of processors. Each task creates an instance for each micro-batch."""

    def init(self, context: "Context") -> None:
        """Called before the first record."""

    def process(self, record: Record) -> None:
        """Called for each record."""

    def close(self) -> None:
        """Called after the last record."""


class KeyValueStore:
    """A store of one task. Iterates over a copy of the rows, in the order of the keys' bytes."""

    def __init__(self, state: MapState) -> None:
        self.state = state

    def get(self, key: Any) -> Any:
        found = self.state.getValue((key,))
        return None if found is None else _python(found[0])

    def put(self, key: Any, value: Any) -> None:
        if value is None:
            self.state.removeKey((key,))
        else:
            self.state.updateValue((key,), (value,))

    def put_if_absent(self, key: Any, value: Any) -> Any:
        found = self.get(key)
        if found is None:
            self.put(key, value)
        return found

    def delete(self, key: Any) -> Any:
        found = self.get(key)
        self.state.removeKey((key,))
        return found

    def all(self) -> Iterator[tuple[Any, Any]]:
        return self.range(None, None)

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        return self.reverse_range(None, None)

    def range(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        return iter(self._rows(first, last))

    def reverse_range(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        return iter(self._rows(first, last)[::-1])

    def prefix_scan(self, prefix: Any) -> Iterator[tuple[Any, Any]]:
        return (row for row in self._rows(prefix) if _bytes(row[0]).startswith(_bytes(prefix)))

    def approximate_num_entries(self) -> int:
        return len(self._rows())

    def _rows(self, first: Any = None, last: Any = None) -> list[tuple[Any, Any]]:
        rows = {_bytes(key): (key, _python(value)) for (key,), (value,) in self.state.iterator()}
        return [
            rows[key]
            for key in sorted(rows)
            if (first is None or key >= _bytes(first)) and (last is None or key <= _bytes(last))
        ]


def _python(value: Any) -> Any:
    """A value with dictionaries in place of rows."""
    return Row(value=value).asDict(recursive=True)["value"]


@dataclass(eq=False)
class Schedule:
    """A punctuation by stream time, with its interval in milliseconds."""

    every: int
    callback: Callable[[int], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class Context:
    """The context of a processor."""

    outputs: tuple[str, ...]
    keeps_key: bool
    stores: dict[str, KeyValueStore]
    stream_time: int
    record: Record | None = None
    topic: str | None = None
    partition: int = -1
    offset: int = -1
    schedules: list[Schedule] = field(default_factory=list)
    forwarded: list[tuple[str | None, Record]] = field(default_factory=list)

    def store(self, name: str) -> KeyValueStore:
        return self.stores[name]

    def schedule(self, interval: int | str, type: str, callback: Callable[[int], None]) -> Schedule:
        made = Schedule(_milliseconds(interval), callback)
        self.schedules.append(made)
        return made

    def forward(self, record: Record, to: str | None = None) -> None:
        if to is not None and to not in self.outputs:
            raise ValueError(f"there is no output {to!r}; outputs: {', '.join(self.outputs)}")
        if self.keeps_key and (self.record is None or record.key != self.record.key):
            raise ValueError("process_values must not change the key")
        self.forwarded.append((to, record.replace()))

    def commit(self) -> None:
        """A micro-batch commits when it ends."""

    def current_stream_time(self) -> int:
        return self.stream_time

    def punctuate(self, before: int) -> None:
        """Runs each schedule that became due after `before`, once."""
        due = [(_next(before, each.every), each) for each in self.schedules]
        self.record, self.topic, self.partition, self.offset = None, None, -1, -1
        for at, schedule in sorted(due, key=lambda pair: pair[0]):
            if at <= self.stream_time and not schedule.cancelled:
                schedule.callback(self.stream_time)


def _next(before: int, every: int) -> int:
    """The first punctuation is due with the first record, others at multiples of the interval."""
    return 0 if before < 0 else (before // every + 1) * every


def _milliseconds(interval: int | str) -> int:
    if isinstance(interval, int):
        return interval
    units = {"week": 604_800_000, "day": 86_400_000, "hour": 3_600_000, "minute": 60_000}
    units |= {"second": 1000, "millisecond": 1, "ms": 1, "m": 1}
    number, unit = interval.lower().split()
    return int(number) * units[unit.removesuffix("s")]


class Task(StatefulProcessor):
    """Runs a processor on the records of one partition, as a task of Kafka Streams does.

    After each record, the punctuations that are due run. The stores and the stream time are
    kept by partition.
    """

    def __init__(
        self,
        processor: type[Processor],
        outputs: tuple[str, ...] = ("out",),
        stores: dict[str, tuple[str, str]] | None = None,
        keeps_key: bool = False,
        arguments: dict[str, object] | None = None,
    ) -> None:
        self.processor = processor
        self.outputs = outputs
        self.types = stores or {}
        self.keeps_key = keeps_key
        self.arguments = arguments or {}

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.time = handle.getValueState("stream_time", "time BIGINT")
        self.stores = {
            name: KeyValueStore(handle.getMapState(name, f"key {key}", f"value {value}"))
            for name, (key, value) in self.types.items()
        }

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        (time,) = (self.time.get() if self.time.exists() else None) or (-1,)
        context = Context(self.outputs, self.keeps_key, self.stores, time)
        processor = self.processor(**self.arguments)
        processor.init(context)
        for row in _in_order(rows):
            fields = row.asDict(recursive=True)
            headers = [(each["key"], each["value"]) for each in fields["headers"] or ()]
            record = Record(fields["key"], fields["value"], fields["timestamp"], headers)
            context.record, context.topic = record, row.topic
            context.partition, context.offset = row.partition, row.offset
            before = context.stream_time
            context.stream_time = max(before, record.timestamp)
            processor.process(record)
            context.punctuate(before)
            for port, each in context.forwarded:
                yield Row(
                    port=port,
                    key=each.key,
                    value=each.value,
                    timestamp=each.timestamp,
                    headers=[Row(key=name, value=value) for name, value in each.headers],
                    offset=row.offset,
                    partition=row.partition,
                    topic=row.topic,
                )
            context.forwarded = []
        processor.close()
        self.time.update((context.stream_time,))

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""
