"""Topics of a test: records that are piped in, and those that sinks wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from millrace_runtime.errors import MillraceError
from millrace_runtime.keywords import Checked
from millrace_runtime.processor import duration
from millrace_runtime.testing.times import Duration, Time, milliseconds
from millrace_runtime.testing.values import Serde

#: Headers as a dict or as pairs; text is encoded as UTF-8.
Headers = Mapping[str, str | bytes | None] | Iterable[tuple[str, str | bytes | None]]
_ABSENT: Any = object()


@dataclass(frozen=True)
class TestRecord:
    """A record of a test. `timestamp` in ms; without one, that of the input topic is used.

    `headers`: pairs of a name and bytes. `partition` is None if no sink chose one; it is not
    compared.
    """

    __test__ = False  # for pytest: not a class of tests

    key: Any = None
    value: Any = None
    timestamp: int | None = None
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)
    partition: int | None = field(default=None, compare=False)

    def header(self, name: str) -> bytes | None:
        """Return the last header of this name, or None."""
        return next((value for each, value in reversed(self.headers) if each == name), None)


def header_pairs(headers: Headers | None) -> list[tuple[str, bytes | None]]:
    """Return headers as pairs of a name and bytes. Raises TypeError for other values."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    found: list[tuple[str, bytes | None]] = []
    for name, value in pairs:
        if not isinstance(name, str) or not isinstance(value, str | bytes | None):
            raise TypeError(f"a header must be a name with text or bytes, not {(name, value)!r}")
        found.append((name, value.encode() if isinstance(value, str) else value))
    return found


#: Sends bytes: key, value, timestamp, headers, partition, and the record that a drop names.
Send = Callable[
    [bytes | None, bytes | None, int, list[tuple[str, bytes | None]], int, TestRecord], None
]


class TestInputTopic(Checked):
    """A topic to which a test pipes records; each is processed completely before a call returns.

    A record without a timestamp gets the topic's time, which starts at `start_timestamp` and then
    advances by `auto_advance` with each such record.
    """

    __test__ = False

    def __init__(
        self, topic: str, key: Serde, value: Serde, start_timestamp: Time, auto_advance: Duration,
        send: Send,
    ) -> None:  # fmt: skip
        self.topic = topic
        self._key, self._value, self._send = key, value, send
        self._time = milliseconds(start_timestamp)
        self._advance = duration(auto_advance)
        if self._advance < 0:
            raise ValueError(f"auto_advance must not be negative, found {auto_advance!r}")

    def advance_time(self, advance: Duration) -> None:
        """Advance the topic's time. Raises ValueError for a negative duration."""
        by = duration(advance)
        if by < 0:
            raise ValueError(f"time only advances, found {advance!r}")
        self._time += by

    def pipe(
        self,
        key: Any = None,
        value: Any = None,
        timestamp: Time | None = None,
        headers: Headers | None = None,
        partition: int = 0,
    ) -> None:
        """Process a record. Raises RecordFailed if a node fails and its handler is `fail`."""
        pairs = header_pairs(headers)
        if isinstance(partition, bool) or not isinstance(partition, int) or partition < 0:
            raise ValueError(f"a partition is an int of 0 or more, not {partition!r}")
        raw = self._key.encode(key), self._value.encode(value)
        at = self._next() if timestamp is None else milliseconds(timestamp)
        self._send(*raw, at, pairs, partition, TestRecord(key, value, at, pairs, partition))

    def _next(self) -> int:
        at = self._time
        self._time += self._advance
        return at

    @overload
    def pipe_input(self, value_or_record: Any, /, *, timestamp: Time | None = None) -> None: ...
    @overload
    def pipe_input(self, key: Any, value: Any, timestamp: Time | None = None, /) -> None: ...
    @overload
    def pipe_input(self, key: Any, value: Any, /, *, timestamp: Time | None = None) -> None: ...
    @overload
    def pipe_input(self, *, key: Any, value: Any, timestamp: Time | None = None) -> None: ...
    def pipe_input(self, *given: Any, **named: Any) -> None:
        """Process a value without a key, a key and a value, or a TestRecord."""
        if len(given) == 1 and "value" not in named and "key" not in named:
            if isinstance(given[0], TestRecord):
                record = given[0]
                at = named.pop("timestamp", None)
                at = record.timestamp if at is None else at
                partition = record.partition or 0
                self.pipe(record.key, record.value, at, record.headers, partition, **named)
            else:
                self.pipe(None, given[0], **named)
        else:
            self.pipe(*given, **named)

    def pipe_value_list(
        self, values: Iterable[Any], start: Time | None = None, advance: Duration | None = None
    ) -> None:
        """Process values without keys; see `pipe_key_value_list`."""
        self.pipe_key_value_list(((None, value) for value in values), start, advance)

    def pipe_key_value_list(
        self,
        pairs: Iterable[tuple[Any, Any]],
        start: Time | None = None,
        advance: Duration | None = None,
    ) -> None:
        """Process keys with values.

        `start`, `advance`: the timestamp of the first one and the time between two (default: those
        of the topic).
        """
        if start is None:
            for key, value in pairs:
                self.pipe(key, value)
            return
        at, by = milliseconds(start), duration(0 if advance is None else advance)
        for number, (key, value) in enumerate(pairs):
            self.pipe(key, value, at + number * by)

    def pipe_record_list(self, records: Iterable[TestRecord]) -> None:
        """Process records."""
        for record in records:
            self.pipe_input(record)


class TestOutputTopic(Checked):
    """The records of a topic that sinks wrote, each of which is read once.

    `waiting` returns the records that were not read yet; several objects for one topic share them.
    """

    __test__ = False

    def __init__(
        self, topic: str, waiting: Callable[[], Sequence[Any]], take: Callable[[], Any],
        decode: Callable[[Any], TestRecord],
    ) -> None:  # fmt: skip
        self.topic = topic
        self._waiting, self._take, self._decode = waiting, take, decode

    def is_empty(self) -> bool:
        """Return whether all records were read."""
        return not self._waiting()

    def queue_size(self) -> int:
        """Return the number of records that were not read yet."""
        return len(self._waiting())

    get_queue_size = queue_size
    __len__ = queue_size

    def read_record(self) -> TestRecord:
        """Return the next record. Raises MillraceError `topic_empty` if there is none."""
        if self.is_empty():
            raise MillraceError(
                "topic_empty",
                f"There is no record in {self.topic}: nothing was written to it, or all of it was "
                "read already.",
                facts={"topic": self.topic},
            )
        return self._decode(self._take())

    def read_value(self) -> Any:
        """Return the value of the next record; see `read_record`."""
        return self.read_record().value

    def read_key_value(self) -> tuple[Any, Any]:
        """Return key and value of the next record; see `read_record`."""
        record = self.read_record()
        return record.key, record.value

    def read_records(self) -> list[TestRecord]:
        """Return all records that were not read yet."""
        found = []
        while not self.is_empty():
            found.append(self.read_record())
        return found

    read_records_to_list = read_records

    def read_values(self) -> list[Any]:
        """Return the values of all records that were not read yet."""
        return [record.value for record in self.read_records()]

    read_values_to_list = read_values

    def read_key_values(self) -> list[tuple[Any, Any]]:
        """Return key and value of all records that were not read yet."""
        return [(record.key, record.value) for record in self.read_records()]

    read_key_values_to_list = read_key_values

    def read_key_values_to_map(self) -> dict[Any, Any]:
        """Return the last value of each key. Raises MillraceError for keys that are not hashable.

        Windowed keys and other structs are dicts: read them with `read_key_values`.
        """
        found = {}
        for key, value in self.read_key_values():
            try:
                found[key] = value
            except TypeError:
                raise MillraceError(
                    "key_unhashable",
                    f"The key {key!r} is a {type(key).__name__}, which cannot be a key of a dict. "
                    "Use read_key_values().",
                ) from None
        return found
