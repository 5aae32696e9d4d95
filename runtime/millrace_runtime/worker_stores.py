"""Stores as processors use them. Every answer comes from the operator's own store."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from millrace_runtime.worker_values import decoder, encoder

Json = dict[str, Any]


class Store:
    """What all stores share. ``send`` and ``ask`` reach the operator's own store."""

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


class KeyValueStore(Store):
    """The latest value of each key. Iteration gives (key, value) by the serialized key's bytes."""

    def get(self, key: Any) -> Any:
        """The value, or None."""
        return self._read_value(self._ask("get", self._key(key)))

    def put(self, key: Any, value: Any) -> None:
        """Sets the value; None deletes."""
        self._send("put", self._key(key), self._write_value(value))

    def put_if_absent(self, key: Any, value: Any) -> Any:
        """Sets the value if there is none; gives the old value or None."""
        old = self._ask("put_if_absent", self._key(key), self._write_value(value))
        return self._read_value(old)

    def delete(self, key: Any) -> Any:
        """Deletes; gives the old value or None."""
        return self._read_value(self._ask("delete", self._key(key)))

    def _entries(self, *message: Any) -> Iterator[tuple[Any, Any]]:
        for key, value in self._pages(*message):
            yield self._read_key(key), self._read_value(value)

    def range(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        """From first to last, both included; None is an open end."""
        return self._entries("range", self._write_key(first), self._write_key(last), True)

    def reverse_range(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        """The same, backwards: last first."""
        return self._entries("range", self._write_key(first), self._write_key(last), False)

    def all(self) -> Iterator[tuple[Any, Any]]:
        """Everything."""
        return self._entries("range", None, None, True)

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """Everything, backwards."""
        return self._entries("range", None, None, False)

    def prefix_scan(self, prefix: Any) -> Iterator[tuple[Any, Any]]:
        """Keys whose bytes start with those of the prefix (a key, or bytes)."""
        if isinstance(prefix, bytes):
            return self._entries("prefix", base64.b64encode(prefix).decode(), True)
        return self._entries("prefix", self._key(prefix), False)

    def approximate_num_entries(self) -> int:
        """The number of entries."""
        return int(self._ask("count"))


class WindowStore(Store):
    """Values by key and window start (ms)."""

    def put(self, key: Any, value: Any, start: int) -> None:
        """Sets the value of a window; None deletes."""
        self._send("put", self._key(key), self._write_value(value), int(start))

    def fetch(self, key: Any, start: int, to: int | None = None) -> Any:
        """The value of the window at `start`; with `to`: (start, value) of those in between."""
        if to is None:
            return self._read_value(self._ask("get", self._key(key), int(start)))
        return self._times("fetch", self._key(key), int(start), int(to), True)

    def backward_fetch(self, key: Any, start: int, to: int) -> Iterator[tuple[int, Any]]:
        """(start, value) of the windows that start in [start, to], the latest first."""
        return self._times("fetch", self._key(key), int(start), int(to), False)

    def _times(self, *message: Any) -> Iterator[tuple[int, Any]]:
        for start, value in self._pages(*message):
            yield start, self._read_value(value)

    def all(self) -> Iterator[tuple[Json, Any]]:
        """({"key", "window": {"start", "end"}}, value) of every window."""
        return self._windowed("all")

    def fetch_all(self, start: int, to: int) -> Iterator[tuple[Json, Any]]:
        """The same of the windows that start in [start, to]."""
        return self._windowed("fetch_all", int(start), int(to))


class SessionStore(Store):
    """Values by key and session; both ends (ms) are included."""

    def put(self, key: Any, start: int, end: int, value: Any) -> None:
        """Sets the value of a session; None deletes."""
        self._send("put", self._key(key), int(start), int(end), self._write_value(value))

    def remove(self, key: Any, start: int | None = None, end: int | None = None) -> None:
        """Removes a session: by key, start and end, or by the key that an iteration gave."""
        if start is None or end is None:
            start, end = key["window"]["start"], key["window"]["end"]
            key = key["key"]
        self._send("remove", self._key(key), int(start), int(end))

    def fetch(self, key: Any) -> Iterator[tuple[Json, Any]]:
        """({"key", "window": {"start", "end"}}, value) of the key's sessions."""
        return self._windowed("fetch", self._key(key))

    def find_sessions(
        self, key: Any, earliest_end: int, latest_start: int
    ) -> Iterator[tuple[Json, Any]]:
        """The same of sessions that end at or after, and start at or before, the given times."""
        return self._windowed("find", self._key(key), int(earliest_end), int(latest_start))


class VersionedStore(Store):
    """The values of each key over time."""

    def put(self, key: Any, value: Any, timestamp: int) -> None:
        """Sets the value from `timestamp` (ms) on; None deletes from then on."""
        self._send("put", self._key(key), self._write_value(value), int(timestamp))

    def get(self, key: Any, as_of: int | None = None) -> tuple[Any, int] | None:
        """(value, timestamp) of the latest version, or of the one valid at `as_of`; or None."""
        found = self._ask("get", self._key(key), None if as_of is None else int(as_of))
        return None if found is None else (self._read_value(found[0]), found[1])

    def delete(self, key: Any, timestamp: int) -> Any:
        """Deletes from `timestamp` on; gives the value that was valid then, or None."""
        return self._read_value(self._ask("delete", self._key(key), int(timestamp)))


KINDS: dict[str, type[Store]] = {
    "key_value": KeyValueStore,
    "window": WindowStore,
    "session": SessionStore,
    "versioned": VersionedStore,
}
