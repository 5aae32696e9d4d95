"""Stores in memory for `MockProcessorContext`, with the methods of a processor's stores.

Order, retention and refused writes are those of the operator. Values are copied, as they are in a
deployment, where they are serialized. Types are not checked, but structs are a `Struct`.
"""

from __future__ import annotations

import copy
import json
import struct
from bisect import bisect_right, insort
from collections.abc import Callable, Iterator
from typing import Any

from millrace_compiler.types.types import DataType, NoType, parse_type

from millrace_runtime.dsl.stores import Store as Declared
from millrace_runtime.processor import duration
from millrace_runtime.processor.stores import ValueAndTimestamp, Window, Windowed
from millrace_runtime.processor.values import Struct, fields_of, key_of_map


def key_bytes(key: Any) -> bytes:
    """Return the bytes by which keys of one type are ordered, as their serialized bytes are."""
    if key is None:
        raise ValueError("the key must not be None")
    if isinstance(key, bool):
        return bytes([key])
    if isinstance(key, int):
        return (key & (1 << 64) - 1).to_bytes(8, "big")
    if isinstance(key, float):
        return struct.pack(">d", key)
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, bytes | bytearray):
        return bytes(key)
    return json.dumps(key, separators=(",", ":"), ensure_ascii=False, default=str).encode()


def shaped(kind: DataType | None) -> Callable[[Any], Any]:
    """Return a function that copies a value of a type as a deployment returns it."""
    if kind is None or not kind.inner:
        return copy.deepcopy
    parts = [shaped(each) for each in kind.inner]
    named = dict(zip(kind.fields, parts, strict=False))
    keys = key_of_map(parts[0])

    def made(value: Any) -> Any:
        if kind.name == "ARRAY" and isinstance(value, list | tuple):
            return [parts[0](each) for each in value]
        if kind.name == "MAP" and isinstance(value, dict):
            return {keys(key): parts[1](each) for key, each in value.items()}
        if kind.name != "STRUCT" or value is None:
            return copy.deepcopy(value)
        given = value if isinstance(value, dict) else fields_of(value, "a struct")
        return Struct({n: named.get(n, copy.deepcopy)(each) for n, each in given.items()})

    return made


def _windowed(key: Any, start: int, end: int) -> Windowed[Any]:
    # Without its type argument, which Python would keep as an attribute: a field.
    made: Windowed[Any] = Windowed(key=key, window=Window(start=start, end=end))
    return made


class _Store:
    """A store with the types of a declaration."""

    def __init__(self, declared: Declared) -> None:
        self.name = declared.name
        # Rows of stores with headers are no structs.
        self._key = shaped(_type(declared.params.get("key_type")))
        headers = declared.params.get("headers")
        self._value = shaped(None if headers else _type(declared.params.get("value_type")))


def _type(text: object) -> DataType | None:
    try:
        return parse_type(text) if isinstance(text, str) else None
    except NoType:
        return None


class MemoryKeyValueStore(_Store):
    """The latest value of each key. Iterators return (key, value), ordered by serialized keys."""

    def __init__(self, declared: Declared) -> None:
        super().__init__(declared)
        self._rows: dict[bytes, tuple[Any, Any]] = {}

    def get(self, key: Any) -> Any:
        """Return the value, or None."""
        return copy.deepcopy(self._rows.get(key_bytes(key), (None, None))[1])

    def put(self, key: Any, value: Any) -> None:
        """Set the value; None deletes it."""
        if value is None:
            self._rows.pop(key_bytes(key), None)
        else:
            self._rows[key_bytes(key)] = (self._key(key), self._value(value))

    def put_if_absent(self, key: Any, value: Any) -> Any:
        """Set the value if there is none; return the old value or None."""
        old = self.get(key)
        if old is None:
            self.put(key, value)
        return old

    def delete(self, key: Any) -> Any:
        """Delete the value; return the old value or None."""
        return self._rows.pop(key_bytes(key), (None, None))[1]

    def range(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate from first to last, both included; None is an open end."""
        return iter(self._between(first, last))

    def reverse_range(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over a range like `range`, but in reverse order."""
        return iter(self._between(first, last)[::-1])

    def all(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over all entries."""
        return self.range(None, None)

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over all entries in reverse order."""
        return self.reverse_range(None, None)

    def prefix_scan(self, prefix: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over keys whose bytes start with those of the prefix (a key, or bytes)."""
        start = key_bytes(prefix)
        return iter(
            [copy.deepcopy(self._rows[k]) for k in sorted(self._rows) if k[: len(start)] == start]
        )

    def approximate_num_entries(self) -> int:
        """Return the number of entries."""
        return len(self._rows)

    def _between(self, first: Any, last: Any) -> list[tuple[Any, Any]]:
        low = None if first is None else key_bytes(first)
        high = None if last is None else key_bytes(last)
        return [
            copy.deepcopy(self._rows[key])
            for key in sorted(self._rows)
            if (low is None or key >= low) and (high is None or key <= high)
        ]


class _Retained(_Store):
    """A store whose rows expire by its own clock, which writes move."""

    def __init__(self, declared: Declared, retention: int, persistent: bool) -> None:
        super().__init__(declared)
        self._retention, self._persistent = retention, persistent
        self._interval = max(retention // 2, 60_000)
        self._clock = -1

    @property
    def _visible_from(self) -> int:
        return self._clock - self._retention + 1

    def _part(self, time: int) -> int:
        return time // self._interval if self._persistent else time

    def _admit(self, time: int) -> bool:
        self._clock = max(self._clock, time)
        if self._persistent:
            oldest = (self._clock - self._retention) // self._interval
            return time // self._interval >= oldest and time >= self._visible_from
        return time > self._clock - self._retention


class MemoryWindowStore(_Retained):
    """Values by key and window start (ms)."""

    def __init__(
        self, declared: Declared, retention: int, size: int, *, persistent: bool, duplicates: bool
    ) -> None:
        super().__init__(declared, retention, persistent)
        self._size, self._duplicates = size, duplicates
        self._sequence = 0
        self._rows: dict[tuple[bytes, int, int], tuple[Any, Any]] = {}

    def put(self, key: Any, value: Any, start: int) -> None:
        """Set the value of a window; None deletes it."""
        raw = key_bytes(key)
        if self._duplicates:
            if value is None:
                return
            self._sequence += 1
        place = (raw, start, self._sequence)
        if self._admit(start):
            if value is None:
                self._rows.pop(place, None)
            else:
                self._rows[place] = (self._key(key), self._value(value))

    def fetch(self, key: Any, start: int, to: int | None = None) -> Any:
        """Return the value of the window at `start`; with `to`, (start, value) of those between."""
        if to is not None:
            return iter(self._times(key, start, to))
        if start < self._visible_from or (self._duplicates and not self._persistent):
            return None
        found = self._rows.get((key_bytes(key), start, self._sequence))
        return None if found is None else copy.deepcopy(found[1])

    def backward_fetch(self, key: Any, start: int, to: int) -> Iterator[tuple[int, Any]]:
        """Iterate over (start, value) of windows that start in [start, to], the latest first."""
        return iter(self._times(key, start, to)[::-1])

    def all(self) -> Iterator[tuple[Windowed[Any], Any]]:
        """Iterate over ({"key", "window": {"start", "end"}}, value) of every window."""
        return iter(self._windows(None, None))

    def fetch_all(self, start: int, to: int) -> Iterator[tuple[Windowed[Any], Any]]:
        """Iterate like `all`, over the windows that start in [start, to]."""
        return iter(self._windows(start, to))

    def _times(self, key: Any, start: int, to: int) -> list[tuple[int, Any]]:
        raw = key_bytes(key)
        return [(at, row[1]) for (k, at, _), row in self._live(start, to) if k == raw]

    def _windows(self, start: int | None, to: int | None) -> list[tuple[Windowed[Any], Any]]:
        rows = sorted(self._live(start, to), key=lambda each: self._part(each[0][1]))
        return [(_windowed(key, at, at + self._size), value) for (_, at, _), (key, value) in rows]

    def _live(self, start: int | None, to: int | None) -> list[tuple[Any, tuple[Any, Any]]]:
        low = max(self._visible_from, 0 if start is None else start)
        return [
            (place, copy.deepcopy(self._rows[place]))
            for place in sorted(self._rows)
            if place[1] >= low and (to is None or place[1] <= to)
        ]


class MemorySessionStore(_Retained):
    """Values by key and session; both ends (ms) are included."""

    def __init__(self, declared: Declared, retention: int, *, persistent: bool) -> None:
        super().__init__(declared, retention, persistent)
        self._rows: dict[tuple[bytes, int, int], tuple[Any, Any]] = {}  # by key, end and start

    def put(self, key: Any, start: int, end: int, value: Any) -> None:
        """Set the value of a session; None deletes it."""
        if self._admit(end):
            if value is None:
                self._rows.pop((key_bytes(key), end, start), None)
            else:
                self._rows[key_bytes(key), end, start] = (self._key(key), self._value(value))

    def remove(self, key: Any, start: int | None = None, end: int | None = None) -> None:
        """Remove a session: by key, start and end, or by a key that an iterator returned."""
        if start is None or end is None:
            start, end = key["window"]["start"], key["window"]["end"]
            key = key["key"]
        if self._persistent:
            self._clock = max(self._clock, end)
        self._rows.pop((key_bytes(key), end, start), None)

    def fetch(self, key: Any) -> Iterator[tuple[Windowed[Any], Any]]:
        """Iterate over ({"key", "window": {"start", "end"}}, value) of the key's sessions."""
        return self.find_sessions(key, 0, (1 << 63) - 1)

    def find_sessions(
        self, key: Any, earliest_end: int, latest_start: int
    ) -> Iterator[tuple[Windowed[Any], Any]]:
        """Iterate like `fetch`, over sessions within two times (ms)."""
        raw, low = key_bytes(key), max(earliest_end, self._visible_from, 0)
        return iter([
            (_windowed(found, start, end), value)
            for (k, end, start), (found, value) in sorted(
                copy.deepcopy(self._rows).items(), key=lambda each: each[0]
            )
            if k == raw and end >= low and start <= latest_start
        ])  # fmt: skip


class MemoryVersionedStore(_Store):
    """The values of each key over time."""

    def __init__(self, declared: Declared, history: int) -> None:
        super().__init__(declared)
        self._history, self._clock = history, -1
        self._versions: dict[bytes, list[tuple[int, Any]]] = {}

    def put(self, key: Any, value: Any, timestamp: int) -> None:
        """Set the value from `timestamp` (ms) on; None deletes it from then on."""
        self._put(key, value, timestamp)

    def _put(self, key: Any, value: Any, timestamp: int) -> bool:
        if timestamp < self._clock - self._history:
            return False
        self._clock = max(self._clock, timestamp)
        versions = self._versions.setdefault(key_bytes(key), [])
        versions[:] = [each for each in versions if each[0] != timestamp]
        insort(versions, (timestamp, self._value(value)), key=lambda each: each[0])
        return True

    def get(self, key: Any, as_of: int | None = None) -> ValueAndTimestamp[Any] | None:
        """Return the latest version or that valid at `as_of`, with its timestamp, or None."""
        versions = self._versions.get(key_bytes(key), [])
        place = len(versions)
        if as_of is not None:
            place = bisect_right(versions, as_of, key=lambda each: each[0])
            if as_of < self._clock - self._history and place < len(versions):
                return None  # before the history, only a latest version is known
        if place == 0 or versions[place - 1][1] is None:
            return None
        at, value = versions[place - 1]
        return ValueAndTimestamp(copy.deepcopy(value), at)

    def delete(self, key: Any, timestamp: int) -> Any:
        """Delete the value from `timestamp` on; return the value that was valid then, or None."""
        old = self.get(key, timestamp)
        return old[0] if self._put(key, None, timestamp) and old is not None else None


MemoryStore = MemoryKeyValueStore | MemoryWindowStore | MemorySessionStore | MemoryVersionedStore


def memory_store(declared: Declared) -> MemoryStore:
    """Return an empty store in memory for a store of a program."""
    params = declared.params
    persistent = bool(params.get("persistent", True))

    def ms(name: str) -> int:
        return duration(params.get(name, 0))

    match declared.kind:
        case "window":
            return MemoryWindowStore(
                declared, ms("retention"), ms("window_size"), persistent=persistent,
                duplicates=bool(params.get("retain_duplicates", False)),
            )  # fmt: skip
        case "session":
            return MemorySessionStore(declared, ms("retention"), persistent=persistent)
        case "versioned":
            return MemoryVersionedStore(declared, ms("history_retention"))
        case _:
            return MemoryKeyValueStore(declared)
