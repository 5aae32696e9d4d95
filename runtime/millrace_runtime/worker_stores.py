"""Stores as processors use them. All data is in the operator's own stores."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from millrace_runtime.worker_values import decoder, encoder

Json = dict[str, Any]


class Store:
    """Base class of stores. ``send`` and ``ask`` reach the operator's own store."""

    def __init__(self, spec: Json, send: Callable[..., None], ask: Callable[..., Any]) -> None:
        self._host_send, self._host_ask = send, ask
        self.name = spec["name"]
        types = spec["types"]
        self._read_key = decoder(types["key"])
        self._read_value = decoder(types["value"])
        self._write_key = encoder(types["key"], f"the key of {self.name}")
        self._write_value = encoder(types["value"], f"the value of {self.name}")

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

    def _windowed(self, *message: Any) -> Iterator[tuple[Json, Any]]:
        for key, value in self._pages(*message):
            window = {"key": self._read_key(key["key"]), "window": key["window"]}
            yield window, self._read_value(value)


class ReadOnly(Store):
    """Base class of stores of tables, which only their nodes write."""

    def __init__(self, spec: Json, send: Callable[..., None], ask: Callable[..., Any]) -> None:
        super().__init__(spec, send, ask)
        self._owner = spec["owner"]
        self._timestamps = spec["timestamps"]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"the store {self.name} has no method {name!r}: it belongs to the node "
            f"{self._owner}, and a processor can only read it"
            if name in _WRITES
            else f"a {type(self).__name__} has no method {name!r}"
        )

    def _timed(self, *message: Any) -> tuple[Any, int] | None:
        if not self._timestamps:
            raise AttributeError(f"the values of {self.name} have no timestamps")
        found = self._ask("timed", *message)
        return None if found is None else (self._read_value(found[0]), found[1])


_WRITES = {"put", "put_if_absent", "delete", "remove"}


class _KeyValueReads(Store):
    def get(self, key: Any) -> Any:
        """Return the value, or None."""
        return self._read_value(self._ask("get", self._key(key)))

    def _entries(self, *message: Any) -> Iterator[tuple[Any, Any]]:
        for key, value in self._pages(*message):
            yield self._read_key(key), self._read_value(value)

    def range(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate from first to last, both included; None is an open end."""
        return self._entries("range", self._write_key(first), self._write_key(last), True)

    def reverse_range(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over a range like `range`, but in reverse order."""
        return self._entries("range", self._write_key(first), self._write_key(last), False)

    def all(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over all entries."""
        return self._entries("range", None, None, True)

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over all entries in reverse order."""
        return self._entries("range", None, None, False)

    def prefix_scan(self, prefix: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over keys whose bytes start with those of the prefix (a key, or bytes)."""
        if isinstance(prefix, bytes):
            return self._entries("prefix", base64.b64encode(prefix).decode(), True)
        return self._entries("prefix", self._key(prefix), False)

    def approximate_num_entries(self) -> int:
        """Return the number of entries."""
        return int(self._ask("count"))


class ReadOnlyKeyValueStore(ReadOnly, _KeyValueReads):
    """The rows of a table. Iterators return (key, value), ordered by serialized keys."""

    def get_with_timestamp(self, key: Any) -> tuple[Any, int] | None:
        """Return (value, timestamp in ms), or None."""
        return self._timed(self._key(key))


class KeyValueStore(_KeyValueReads):
    """The latest value of each key. Iterators return (key, value), ordered by serialized keys."""

    def put(self, key: Any, value: Any) -> None:
        """Set the value; None deletes it."""
        self._send("put", self._key(key), self._write_value(value))

    def put_if_absent(self, key: Any, value: Any) -> Any:
        """Set the value if there is none; return the old value or None."""
        old = self._ask("put_if_absent", self._key(key), self._write_value(value))
        return self._read_value(old)

    def delete(self, key: Any) -> Any:
        """Delete the value; return the old value or None."""
        return self._read_value(self._ask("delete", self._key(key)))


class _WindowReads(Store):
    def fetch(self, key: Any, start: int, to: int | None = None) -> Any:
        """Return the value of the window at `start`; with `to`, (start, value) of those between."""
        if to is None:
            return self._read_value(self._ask("get", self._key(key), int(start)))
        return self._times("fetch", self._key(key), int(start), int(to), True)

    def backward_fetch(self, key: Any, start: int, to: int) -> Iterator[tuple[int, Any]]:
        """Iterate over (start, value) of windows that start in [start, to], the latest first."""
        return self._times("fetch", self._key(key), int(start), int(to), False)

    def _times(self, *message: Any) -> Iterator[tuple[int, Any]]:
        for start, value in self._pages(*message):
            yield start, self._read_value(value)

    def all(self) -> Iterator[tuple[Json, Any]]:
        """Iterate over ({"key", "window": {"start", "end"}}, value) of every window."""
        return self._windowed("all")

    def fetch_all(self, start: int, to: int) -> Iterator[tuple[Json, Any]]:
        """Iterate like `all`, over the windows that start in [start, to]."""
        return self._windowed("fetch_all", int(start), int(to))


class ReadOnlyWindowStore(ReadOnly, _WindowReads):
    """The rows of a windowed table, by key and window start (ms)."""

    def fetch_with_timestamp(self, key: Any, start: int) -> tuple[Any, int] | None:
        """Return (value, timestamp in ms) of the window at `start`, or None."""
        return self._timed(self._key(key), int(start))


class WindowStore(_WindowReads):
    """Values by key and window start (ms)."""

    def put(self, key: Any, value: Any, start: int) -> None:
        """Set the value of a window; None deletes it."""
        self._send("put", self._key(key), self._write_value(value), int(start))


class _SessionReads(Store):
    def fetch(self, key: Any) -> Iterator[tuple[Json, Any]]:
        """Iterate over ({"key", "window": {"start", "end"}}, value) of the key's sessions."""
        return self._windowed("fetch", self._key(key))

    def find_sessions(
        self, key: Any, earliest_end: int, latest_start: int
    ) -> Iterator[tuple[Json, Any]]:
        """Iterate like `fetch`, over sessions within two times (ms).

        They end at or after `earliest_end`, and start at or before `latest_start`.
        """
        return self._windowed("find", self._key(key), int(earliest_end), int(latest_start))


class ReadOnlySessionStore(ReadOnly, _SessionReads):
    """The sessions of a table, by key; both ends (ms) are included."""


class SessionStore(_SessionReads):
    """Values by key and session; both ends (ms) are included."""

    def put(self, key: Any, start: int, end: int, value: Any) -> None:
        """Set the value of a session; None deletes it."""
        self._send("put", self._key(key), int(start), int(end), self._write_value(value))

    def remove(self, key: Any, start: int | None = None, end: int | None = None) -> None:
        """Remove a session: by key, start and end, or by a key that an iterator returned."""
        if start is None or end is None:
            start, end = key["window"]["start"], key["window"]["end"]
            key = key["key"]
        self._send("remove", self._key(key), int(start), int(end))


class _VersionedReads(Store):
    def get(self, key: Any, as_of: int | None = None) -> tuple[Any, int] | None:
        """Return (value, timestamp) of the latest version or that valid at `as_of`, or None."""
        found = self._ask("get", self._key(key), None if as_of is None else int(as_of))
        return None if found is None else (self._read_value(found[0]), found[1])


class ReadOnlyVersionedStore(ReadOnly, _VersionedReads):
    """The values of each key of a table over time."""


class VersionedStore(_VersionedReads):
    """The values of each key over time."""

    def put(self, key: Any, value: Any, timestamp: int) -> None:
        """Set the value from `timestamp` (ms) on; None deletes it from then on."""
        self._send("put", self._key(key), self._write_value(value), int(timestamp))

    def delete(self, key: Any, timestamp: int) -> Any:
        """Delete the value from `timestamp` on; return the value that was valid then, or None."""
        return self._read_value(self._ask("delete", self._key(key), int(timestamp)))


KINDS: dict[str, type[Store]] = {
    "key_value": KeyValueStore,
    "window": WindowStore,
    "session": SessionStore,
    "versioned": VersionedStore,
}
READ_ONLY: dict[str, type[ReadOnly]] = {
    "key_value": ReadOnlyKeyValueStore,
    "window": ReadOnlyWindowStore,
    "session": ReadOnlySessionStore,
    "versioned": ReadOnlyVersionedStore,
}


def open_store(spec: Json, send: Callable[..., None], ask: Callable[..., Any]) -> Store:
    """Return a store. One with an `owner`, the node that writes it, can only be read."""
    kinds: dict[str, type[Store]] = {**READ_ONLY} if "owner" in spec else KINDS
    return kinds[spec["kind"]](spec, send, ask)
