"""The stores of a topology in a test, with the methods that processors use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from millrace_runtime.processor.frames import DriverStore
from millrace_runtime.processor.stores import (
    KeyValueStore,
    SessionStore,
    Store,
    ValueAndTimestamp,
    VersionedStore,
    WindowStore,
)
from millrace_runtime.testing.times import Time, milliseconds

#: Calls an operation of a store in one task, and returns its answer.
Operate = Callable[[int, list[Any]], Any]


class TableStore(KeyValueStore[Any, Any]):
    """The latest value of each key of a table, with its timestamp.

    Writing changes the store and the copies of it that joins use. Nothing is forwarded.
    """

    def put(self, key: Any, value: Any, timestamp: Time | None = None) -> None:
        """Set the value; None deletes it. Without a timestamp, the row has that of no record."""
        at = [] if timestamp is None else [milliseconds(timestamp)]
        self._send("put", self._key(key), self._write_value(value), *at)

    def get_with_timestamp(self, key: Any) -> ValueAndTimestamp[Any] | None:
        """Return the value and its timestamp, or None."""
        return self._value_and_timestamp(self._ask("get_with_timestamp", self._key(key)))


class TableWindowStore(WindowStore[Any, Any]):
    """The values of a windowed table by key and start (ms), with their timestamps."""

    def put(self, key: Any, value: Any, start: Time, timestamp: Time | None = None) -> None:
        """Set the value of a window; None deletes it."""
        at = [] if timestamp is None else [milliseconds(timestamp)]
        parts = (self._key(key), self._write_value(value), milliseconds(start))
        self._send("put", *parts, *at)

    def get_with_timestamp(self, key: Any, start: Time) -> ValueAndTimestamp[Any] | None:
        """Return the value of a window and its timestamp, or None."""
        found = self._ask("get_with_timestamp", self._key(key), milliseconds(start))
        return self._value_and_timestamp(found)


_OF_TABLES: dict[str, type[Store[Any, Any]]] = {
    "key_value": TableStore,
    "window": TableWindowStore,
    "session": SessionStore,
    "versioned": VersionedStore,
}
_OF_PROCESSORS: dict[str, type[Store[Any, Any]]] = {
    "key_value": KeyValueStore,
    "window": WindowStore,
    "session": SessionStore,
    "versioned": VersionedStore,
}
#: operations that write one key
_WRITES = frozenset({"put", "put_if_absent", "delete", "remove"})
_READS = frozenset({"get", "get_with_timestamp"})


def open_store(
    spec: DriverStore, operate: Operate, partition: Callable[[Any], int], task: int | None
) -> Any:
    """Return a store. `task`: only its part in this task; None for all.

    `partition` returns the task of a key, by Kafka's partitioner.
    """
    everywhere = range(spec["tasks"])

    def ask(*message: Any) -> Any:
        _, _, op, *arguments = message
        given = list(message)
        if task is not None:
            return operate(task, given)
        if spec["global"]:
            answers = [operate(each, given) for each in (everywhere if op in _WRITES else [0])]
            return answers[0]
        if spec["tasks"] == 1:
            return operate(0, given)
        if op in _WRITES:
            return operate(partition(arguments[0]), given)
        if op in _READS:
            found = (operate(each, given) for each in everywhere)
            return next((answer for answer in found if answer is not None), None)
        if op == "count":
            return sum(operate(each, given) for each in everywhere)
        return [None, [item for each in everywhere for item in _items(operate, each, given)]]

    def send(*message: Any) -> None:
        ask(*message)

    kinds = _OF_TABLES if spec["table"] else _OF_PROCESSORS
    return kinds[spec["kind"]](spec, send, ask)


def _items(operate: Operate, task: int, message: list[Any]) -> list[Any]:
    number, items = operate(task, message)
    found = list(items)
    while number is not None:
        number, items = operate(task, [*message[:2], "next", number])
        found += items
    return found
