"""Stores as processors use them. All data is in the operator's own stores."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast, overload

from millrace_runtime.processor.frames import StoreSpec
from millrace_runtime.processor.values import Struct, decoder, encoder, misfit

K = TypeVar("K")
V = TypeVar("V")


class Window(Struct):
    """A window's bounds in ms; the end of an unlimited window is None."""

    start: int
    end: int | None


class Windowed(Struct, Generic[K]):
    """A key with its window."""

    key: K
    window: Window


class ValueAndTimestamp(NamedTuple, Generic[V]):
    """A value with its timestamp (ms), as Kafka Streams has them: also a tuple of both."""

    value: V
    timestamp: int


class ValueTimestampHeaders(NamedTuple, Generic[V]):
    """A value with a timestamp (ms) and headers, as a store with headers keeps it."""

    value: V
    timestamp: int
    headers: Sequence[tuple[str, bytes | None]] = ()


class AggregationWithHeaders(NamedTuple, Generic[V]):
    """A value with headers, as a session store with headers keeps it."""

    aggregation: V
    headers: Sequence[tuple[str, bytes | None]] = ()


def _row(given: Any, name: str, kind: str) -> dict[str, object] | None:
    """Return a value with headers as its row. One without a value is None, and deletes."""
    if given is None:
        return None
    needed = AggregationWithHeaders if kind == "session" else ValueTimestampHeaders
    if not isinstance(given, needed):
        raise misfit(given, f"the value of {name}", needed.__name__)
    if given[0] is None:
        return None
    headers = []
    for header in given.headers:
        if not isinstance(header, tuple | list) or len(header) != 2 or type(header[0]) is not str:
            raise misfit(header, "a header", "a pair (name, bytes)")
        headers.append({"name": header[0], "value": header[1]})
    return {**given._asdict(), "headers": headers}


def _with_headers(
    row: Any,
) -> ValueTimestampHeaders[Any] | AggregationWithHeaders[Any] | None:
    if row is None:
        return None
    headers = [(header["name"], header["value"]) for header in row["headers"]]
    if "aggregation" in row:
        return AggregationWithHeaders(row["aggregation"], headers)
    return ValueTimestampHeaders(row["value"], row["timestamp"], headers)


class Store(Generic[K, V]):
    """Base class of stores. ``send`` and ``ask`` reach the operator's own store."""

    def __init__(self, spec: StoreSpec, send: Callable[..., None], ask: Callable[..., Any]) -> None:
        self._host_send, self._host_ask = send, ask
        self.name = spec["name"]
        types = spec["types"]
        self._read_key = decoder(types["key"])
        self._read_value = decoder(types["value"])
        self._write_key = encoder(types["key"], f"the key of {self.name}")
        self._write_value = encoder(types["value"], f"the value of {self.name}")
        if spec.get("headers"):
            read, write = self._read_value, self._write_value
            self._read_value = lambda row: _with_headers(read(row))
            self._write_value = lambda value: write(_row(value, self.name, spec["kind"]))

    def _value_and_timestamp(self, found: Any) -> ValueAndTimestamp[V] | None:
        return None if found is None else ValueAndTimestamp(self._read_value(found[0]), found[1])

    def _key(self, key: Any) -> Any:
        if key is None:
            raise ValueError(f"the key of {self.name} must not be None")
        return self._write_key(key)

    def _send(self, *message: Any) -> None:
        self._host_send("store", self.name, *message)

    def _ask(self, *message: Any) -> Any:
        return self._host_ask("store", self.name, *message)

    def _pages(self, *message: Any) -> Iterator[Any]:
        number, items = self._ask(*message)
        while True:
            yield from items
            if number is None:
                return
            number, items = self._ask("next", number)

    def _windowed(self, *message: Any) -> Iterator[tuple[Windowed[K], V]]:
        for key, value in self._pages(*message):
            # Without its type argument, which Python would keep as an attribute: a field.
            window: Windowed[K] = Windowed(
                key=self._read_key(key["key"]), window=Window(key["window"])
            )
            yield window, self._read_value(value)


class ReadOnly(Store[K, V]):
    """Base class of stores of tables, which only their nodes write."""

    def __init__(self, spec: StoreSpec, send: Callable[..., None], ask: Callable[..., Any]) -> None:
        super().__init__(spec, send, ask)
        self._owner = spec["owner"]
        self._timestamps = spec["timestamps"]

    if not TYPE_CHECKING:  # A type checker reports such a method by itself.

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                f"the store {self.name} has no method {name!r}: it belongs to the node "
                f"{self._owner}, and a processor can only read it"
                if name in _WRITES
                else f"a {type(self).__name__} has no method {name!r}"
            )

    def _timed(self, *message: Any) -> ValueAndTimestamp[V] | None:
        if not self._timestamps:
            raise AttributeError(f"the values of {self.name} have no timestamps")
        return self._value_and_timestamp(self._ask("get_with_timestamp", *message))


_WRITES = {"put", "put_if_absent", "delete", "remove"}


class _KeyValueReads(Store[K, V]):
    def get(self, key: K) -> V | None:
        """Return the value, or None."""
        return cast("V | None", self._read_value(self._ask("get", self._key(key))))

    def _entries(self, *message: Any) -> Iterator[tuple[K, V]]:
        for key, value in self._pages(*message):
            yield self._read_key(key), self._read_value(value)

    def range(self, first: K | None, last: K | None) -> Iterator[tuple[K, V]]:
        """Iterate from first to last, both included; None is an open end."""
        return self._entries("range", self._write_key(first), self._write_key(last), True)

    def reverse_range(self, first: K | None, last: K | None) -> Iterator[tuple[K, V]]:
        """Iterate over a range like `range`, but in reverse order."""
        return self._entries("range", self._write_key(first), self._write_key(last), False)

    def all(self) -> Iterator[tuple[K, V]]:
        """Iterate over all entries."""
        return self._entries("range", None, None, True)

    def reverse_all(self) -> Iterator[tuple[K, V]]:
        """Iterate over all entries in reverse order."""
        return self._entries("range", None, None, False)

    def prefix_scan(self, prefix: K | bytes) -> Iterator[tuple[K, V]]:
        """Iterate over keys whose bytes start with those of the prefix (a key, or bytes)."""
        if isinstance(prefix, bytes):
            return self._entries("prefix", base64.b64encode(prefix).decode(), True)
        return self._entries("prefix", self._key(prefix), False)

    def approximate_num_entries(self) -> int:
        """Return the number of entries."""
        return int(self._ask("count"))


class ReadOnlyKeyValueStore(ReadOnly[K, V], _KeyValueReads[K, V]):
    """The rows of a table. Iterators return (key, value), ordered by serialized keys."""

    def get_with_timestamp(self, key: K) -> ValueAndTimestamp[V] | None:
        """Return the value and its timestamp in ms, or None."""
        return self._timed(self._key(key))


class KeyValueStore(_KeyValueReads[K, V]):
    """The latest value of each key. Iterators return (key, value), ordered by serialized keys."""

    def put(self, key: K, value: V | None) -> None:
        """Set the value; None deletes it."""
        self._send("put", self._key(key), self._write_value(value))

    def put_if_absent(self, key: K, value: V) -> V | None:
        """Set the value if there is none; return the old value or None."""
        old = self._ask("put_if_absent", self._key(key), self._write_value(value))
        return cast("V | None", self._read_value(old))

    def delete(self, key: K) -> V | None:
        """Delete the value; return the old value or None."""
        return cast("V | None", self._read_value(self._ask("delete", self._key(key))))


class _WindowReads(Store[K, V]):
    @overload
    def fetch(self, key: K, start: int) -> V | None: ...
    @overload
    def fetch(self, key: K, start: int, to: int) -> Iterator[tuple[int, V]]: ...
    def fetch(self, key: K, start: int, to: int | None = None) -> Any:
        """Return the value of the window at `start`; with `to`, (start, value) of those between."""
        if to is None:
            return self._read_value(self._ask("get", self._key(key), int(start)))
        return self._times("fetch", self._key(key), int(start), int(to), True)

    def backward_fetch(self, key: K, start: int, to: int) -> Iterator[tuple[int, V]]:
        """Iterate over (start, value) of windows that start in [start, to], the latest first."""
        return self._times("fetch", self._key(key), int(start), int(to), False)

    def _times(self, *message: Any) -> Iterator[tuple[int, V]]:
        for start, value in self._pages(*message):
            yield start, self._read_value(value)

    def all(self) -> Iterator[tuple[Windowed[K], V]]:
        """Iterate over ({"key", "window": {"start", "end"}}, value) of every window."""
        return self._windowed("all")

    def fetch_all(self, start: int, to: int) -> Iterator[tuple[Windowed[K], V]]:
        """Iterate like `all`, over the windows that start in [start, to]."""
        return self._windowed("fetch_all", int(start), int(to))


class ReadOnlyWindowStore(ReadOnly[K, V], _WindowReads[K, V]):
    """The rows of a windowed table, by key and window start (ms)."""

    def fetch_with_timestamp(self, key: K, start: int) -> ValueAndTimestamp[V] | None:
        """Return the value of the window at `start` and its timestamp in ms, or None."""
        return self._timed(self._key(key), int(start))


class WindowStore(_WindowReads[K, V]):
    """Values by key and window start (ms)."""

    def put(self, key: K, value: V | None, start: int) -> None:
        """Set the value of a window; None deletes it."""
        self._send("put", self._key(key), self._write_value(value), int(start))


class _SessionReads(Store[K, V]):
    def fetch(self, key: K) -> Iterator[tuple[Windowed[K], V]]:
        """Iterate over ({"key", "window": {"start", "end"}}, value) of the key's sessions."""
        return self._windowed("fetch", self._key(key))

    def find_sessions(
        self, key: K, earliest_end: int, latest_start: int
    ) -> Iterator[tuple[Windowed[K], V]]:
        """Iterate like `fetch`, over sessions within two times (ms).

        They end at or after `earliest_end`, and start at or before `latest_start`.
        """
        return self._windowed("find", self._key(key), int(earliest_end), int(latest_start))


class ReadOnlySessionStore(ReadOnly[K, V], _SessionReads[K, V]):
    """The sessions of a table, by key; both ends (ms) are included."""


class SessionStore(_SessionReads[K, V]):
    """Values by key and session; both ends (ms) are included."""

    def put(self, key: K, start: int, end: int, value: V | None) -> None:
        """Set the value of a session; None deletes it."""
        self._send("put", self._key(key), int(start), int(end), self._write_value(value))

    def remove(
        self, key: K | Windowed[K], start: int | None = None, end: int | None = None
    ) -> None:
        """Remove a session: by key, start and end, or by a key that an iterator returned."""
        inner: Any = key
        if start is None or end is None:
            start, end, inner = inner["window"]["start"], inner["window"]["end"], inner["key"]
        self._send("remove", self._key(inner), int(start), int(end))


class _VersionedReads(Store[K, V]):
    def get(self, key: K, as_of: int | None = None) -> ValueAndTimestamp[V] | None:
        """Return the latest version or that valid at `as_of`, with its timestamp, or None."""
        found = self._ask("get", self._key(key), None if as_of is None else int(as_of))
        return self._value_and_timestamp(found)


class ReadOnlyVersionedStore(ReadOnly[K, V], _VersionedReads[K, V]):
    """The values of each key of a table over time."""


class VersionedStore(_VersionedReads[K, V]):
    """The values of each key over time."""

    def put(self, key: K, value: V | None, timestamp: int) -> None:
        """Set the value from `timestamp` (ms) on; None deletes it from then on."""
        self._send("put", self._key(key), self._write_value(value), int(timestamp))

    def delete(self, key: K, timestamp: int) -> V | None:
        """Delete the value from `timestamp` on; return the value that was valid then, or None."""
        old = self._read_value(self._ask("delete", self._key(key), int(timestamp)))
        return cast("V | None", old)


KINDS: dict[str, type[Store[Any, Any]]] = {
    "key_value": KeyValueStore,
    "window": WindowStore,
    "session": SessionStore,
    "versioned": VersionedStore,
}
READ_ONLY: dict[str, type[Store[Any, Any]]] = {
    "key_value": ReadOnlyKeyValueStore,
    "window": ReadOnlyWindowStore,
    "session": ReadOnlySessionStore,
    "versioned": ReadOnlyVersionedStore,
}

#: The classes that code of processors can name without importing them.
_GIVEN: tuple[type[Any], ...] = (
    *KINDS.values(), *READ_ONLY.values(), Window, Windowed, ValueTimestampHeaders,
    AggregationWithHeaders,
)  # fmt: skip
GIVEN_STORES = {each.__name__: each for each in _GIVEN}


def open_store(
    spec: StoreSpec, send: Callable[..., None], ask: Callable[..., Any]
) -> Store[Any, Any]:
    """Return a store. One with an `owner`, the node that writes it, can only be read."""
    kinds = READ_ONLY if "owner" in spec else KINDS
    return kinds[spec["kind"]](spec, send, ask)
