"""The Python side of `process` nodes: one process per stream task, started by the operator.

Frames of 4 bytes length and JSON go over standard input and output, strictly in turns. What a
processor says (forward, put ...) is kept in a list until an answer is needed or the call is done,
so stores and forwards happen in the order of the program. Uses the standard library only: it
starts in a few ms.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import decimal
import json
import linecache
import math
import os
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

STREAM_TIME = "STREAM_TIME"
WALL_CLOCK_TIME = "WALL_CLOCK_TIME"

Convert = Callable[[Any], Any]
Json = dict[str, Any]
# A frame is sent at the latest with so many messages: keeps the memory of long loops flat.
MOST_MESSAGES = 2000

_UNITS = {
    "ms": 1,
    "millisecond": 1,
    "second": 1000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}


def duration(value: int | str) -> int:
    """A duration in ms: a whole number of ms, or text like "250 ms", "1 second", "2 hours"."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number, _, unit = str(value).strip().lower().partition(" ")
    unit = unit.strip()
    scale = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
    if scale is None or not number.lstrip("-").isdigit():
        raise ValueError(f"{value!r} is no duration: write a number of ms, or like '1 second'")
    return int(number) * scale


class Record:
    """A record: key, value, timestamp (ms), headers as a list of (name, bytes)."""

    __slots__ = ("headers", "key", "timestamp", "value")

    def __init__(
        self, key: Any, value: Any, timestamp: int, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        self.key = key
        self.value = value
        self.timestamp = timestamp
        self.headers = list(headers)

    def replace(self, **changes: Any) -> Record:
        """A copy with other fields: key, value, timestamp, headers."""
        unknown = set(changes) - {"key", "value", "timestamp", "headers"}
        if unknown:
            raise TypeError(f"a record has no {', '.join(sorted(unknown))}")
        return Record(
            changes.get("key", self.key),
            changes.get("value", self.value),
            changes.get("timestamp", self.timestamp),
            changes.get("headers", self.headers),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        mine = (self.key, self.value, self.timestamp, self.headers)
        return mine == (other.key, other.value, other.timestamp, other.headers)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Record({self.key!r}, {self.value!r}, {self.timestamp!r}, {self.headers!r})"


class Processor:
    """What a `process` node's class extends. All methods may be left out."""

    def init(self, context: Context) -> None:
        """Called once per task, before the first record."""

    def process(self, record: Record) -> None:
        """Called for every record."""

    def close(self) -> None:
        """Called when the task ends."""


# -- values ----------------------------------------------------------------------------------------


def _same(value: Any) -> Any:
    return value


def decoder(kind: Any) -> Convert:
    """From JSON to Python for a Spark type (its JSON form); null stays None."""
    if isinstance(kind, str):
        if kind in ("float", "double"):
            return _float
        if kind == "binary":
            return _optional(base64.b64decode)
        if kind.startswith("decimal"):
            return _optional(decimal.Decimal)
        return _same
    if kind["type"] == "array":
        element = decoder(kind["elementType"])
        if element is _same:
            return _same
        return _optional(lambda items: [element(item) for item in items])
    if kind["type"] == "map":
        key, value = decoder(kind["keyType"]), decoder(kind["valueType"])
        return _optional(lambda pairs: {key(k): value(v) for k, v in pairs})
    fields = {field["name"]: decoder(field["type"]) for field in kind["fields"]}
    if all(convert is _same for convert in fields.values()):
        return _same
    return _optional(lambda row: {name: convert(row[name]) for name, convert in fields.items()})


def _optional(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _float(value: Any) -> Any:
    return None if value is None else float(value)


_INTEGERS = {"byte": 8, "short": 16, "integer": 32, "long": 64}


def encoder(kind: Any, what: str) -> Convert:
    """From Python to JSON for a Spark type; raises TypeError with `what` for what does not fit."""
    if isinstance(kind, str):
        if kind in _INTEGERS:
            return _integer(kind, what)
        made = {
            "string": _text, "boolean": _boolean, "float": _number, "double": _number,
            "binary": _binary, "date": _date, "timestamp": _timestamp,
            "timestamp_ntz": _timestamp, "void": _nothing,
        }.get("decimal" if kind.startswith("decimal") else kind, _decimal)  # fmt: skip
        return made(kind, what)
    if kind["type"] == "array":
        return _list(encoder(kind["elementType"], f"an element of {what}"), what)
    if kind["type"] == "map":
        key = encoder(kind["keyType"], f"a key of {what}")
        return _map(key, encoder(kind["valueType"], f"a value of {what}"), what)
    fields = {
        field["name"]: encoder(field["type"], f"{what}.{field['name']}") for field in kind["fields"]
    }
    return _struct(fields, what)


def _misfit(value: Any, what: str, needs: str) -> TypeError:
    return TypeError(f"{what} must be {needs}, not {type(value).__name__} {value!r}"[:300])


def _integer(kind: str, what: str) -> Convert:
    limit = 1 << (_INTEGERS[kind] - 1)

    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise _misfit(value, what, "an int")
        if not -limit <= value < limit:
            raise OverflowError(f"{what} must fit {_INTEGERS[kind]} bits, {value} does not")
        return value

    return convert


def _text(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        raise _misfit(value, what, "a str")

    return convert


def _boolean(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        raise _misfit(value, what, "a bool")

    return convert


def _number(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise _misfit(value, what, "a float")
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return value

    return convert


def _binary(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, bytes | bytearray):
            raise _misfit(value, what, "bytes")
        return base64.b64encode(value).decode()

    return convert


def _decimal(kind: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, int | decimal.Decimal) or isinstance(value, bool):
            raise _misfit(value, what, f"a Decimal ({kind})")
        return str(value)

    return convert


def _date(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dt.date):
            return value.isoformat()[:10]
        if isinstance(value, str):
            return dt.date.fromisoformat(value).isoformat()
        raise _misfit(value, what, "a date or its ISO text")

    return convert


def _timestamp(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dt.datetime):
            at = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
            return round(at.timestamp() * 1000)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise _misfit(value, what, "an int (ms) or a datetime")

    return convert


def _nothing(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        raise _misfit(value, what, "None")

    return convert


def _list(element: Convert, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise _misfit(value, what, "a list")
        return [element(item) for item in value]

    return convert


def _map(key: Convert, item: Convert, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise _misfit(value, what, "a dict")
        return [[key(k), item(v)] for k, v in value.items()]

    return convert


def _struct(fields: dict[str, Convert], what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise _misfit(value, what, "a dict")
        unknown = [name for name in value if name not in fields]
        if unknown:
            known = ", ".join(fields)
            raise TypeError(f"{what} has no field {unknown[0]!r}; its fields are {known}")
        return {name: field(value.get(name)) for name, field in fields.items()}

    return convert


# -- the pipe --------------------------------------------------------------------------------------


class Channel:
    """The two pipes and the processors behind them."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source = source
        self._target = target
        self._messages: list[Any] = []
        self._hosts: dict[str, Host] = {}

    def tell(self, *message: Any) -> None:
        """Something that needs no answer."""
        self._messages.append(message)
        if len(self._messages) >= MOST_MESSAGES:
            self._ask(["flush"])

    def ask(self, *message: Any) -> Any:
        """Something that does; processors of other nodes may run meanwhile."""
        return self._ask(message)

    def _ask(self, message: Sequence[Any]) -> Any:
        if message[0] != "flush":
            self._messages.append(message)
        self._send(None)
        while True:
            frame = self._read()
            if frame is None:
                raise SystemExit(0)
            if "answer" in frame:
                return frame["answer"]
            self._serve(frame)

    def _send(self, end: Any) -> None:
        messages, self._messages = self._messages, []
        data = json.dumps([messages, end], separators=(",", ":"), allow_nan=False).encode()
        self._target.write(struct.pack(">i", len(data)) + data)
        self._target.flush()

    def _read(self) -> Json | None:
        head = self._source.read(4)
        if len(head) < 4:
            return None
        data = self._source.read(struct.unpack(">i", head)[0])
        frame: Json = json.loads(data)
        return frame

    def run(self) -> None:
        """Serves calls until the pipe ends."""
        while True:
            frame = self._read()
            if frame is None or frame.get("call") == "close":
                break
            self._serve(frame)
        for host in self._hosts.values():
            with contextlib.suppress(Exception):
                host.close()

    def _serve(self, frame: Json) -> None:
        try:
            if frame["call"] == "start":
                self._hosts[frame["node"]] = host = Host(self, frame)
                host.enter(frame, host.start)
            else:
                host = self._hosts[frame["node"]]
                host.enter(frame, lambda: host.call(frame))
            end: Json = {"done": True}
        except Exception as error:  # noqa: BLE001 - whatever user code raises is data
            end = {"error": _told(error)}
        self._send(end)


def _told(error: Exception) -> Json:
    """An exception as data; the traceback without this file's own lines."""
    shown = traceback.TracebackException.from_exception(error)
    for part in _chain(shown):
        part.stack[:] = [frame for frame in part.stack if frame.filename != __file__]
    lines = [frame.lineno for frame in shown.stack if frame.filename.startswith("<")]
    where = f" (line {lines[-1]})" if lines else ""
    if isinstance(error, SyntaxError) and error.lineno:
        where = f" (line {error.lineno})"
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return {
        "type": type(error).__name__,
        "message": f"{type(error).__name__}: {text}{where}" if text else type(error).__name__,
        "traceback": "".join(shown.format()),
    }


def _chain(first: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    part: traceback.TracebackException | None = first
    while part is not None:
        yield part
        part = part.__cause__ or part.__context__


# -- processors ------------------------------------------------------------------------------------


class Host:
    """One processor: its class, its context and its types."""

    def __init__(self, channel: Channel, frame: Json) -> None:
        self.channel = channel
        self.name = frame["name"]
        self.fixed = frame["fixed"]
        self.ports = frame["ports"]
        self.task_id = frame["task_id"]
        self.read_key = decoder(frame["in"]["key"])
        self.read_value = decoder(frame["in"]["value"])
        self.write_key = encoder(frame["out"]["key"], "the key")
        self.write_value = encoder(frame["out"]["value"], "the value")
        self.stores = {
            store["name"]: _KINDS[store["kind"]](channel, store) for store in frame["stores"]
        }
        self.schedules: dict[int, Callable[[int], None]] = {}
        self.now: Json = frame
        self.key: Any = None
        self._code = frame["code"]
        self._class_name = frame["class_name"]
        self._context = Context(self)
        self._processor: Any = None

    def enter(self, frame: Json, body: Callable[[], None]) -> None:
        """Runs `body` with what the frame says of the record in work."""
        before, self.now = self.now, frame
        key = self.key
        try:
            body()
        finally:
            self.now, self.key = before, key

    def start(self) -> None:
        """Runs the code, makes the processor and calls its `init`."""
        file = f"<{self.name}>"
        lines = self._code.splitlines(keepends=True)
        linecache.cache[file] = (len(self._code), None, lines, file)
        space: dict[str, Any] = {
            "__name__": f"processor_{self.name}",
            "Processor": Processor,
            "Record": Record,
            "STREAM_TIME": STREAM_TIME,
            "WALL_CLOCK_TIME": WALL_CLOCK_TIME,
        }
        exec(compile(self._code, file, "exec"), space)  # noqa: S102 - the node's own code
        made = space.get(self._class_name)
        if not isinstance(made, type):
            raise NameError(f"the code defines no class {self._class_name}")
        self._processor = made()
        init = getattr(self._processor, "init", None)
        if init is not None:
            init(self._context)

    def call(self, frame: Json) -> None:
        """Processes a record or runs a punctuation."""
        if frame["call"] == "process":
            key, value, timestamp, headers = frame["record"]
            self.key = self.read_key(key)
            pairs = [(k, None if v is None else base64.b64decode(v)) for k, v in headers]
            self._processor.process(
                Record(self.key, self.read_value(value), timestamp, pairs)  # type: ignore[arg-type]
            )
        else:
            callback = self.schedules.get(frame["schedule"])
            if callback is not None:
                callback(frame["now"])

    def close(self) -> None:
        """Calls the processor's `close`."""
        close = getattr(self._processor, "close", None)
        if close is not None:
            close()

    def forward(self, record: Record, to: str | None) -> None:
        """Sends a record to the children of one port, or of all."""
        if not isinstance(record, Record):
            raise _misfit(record, "what is forwarded", "a Record")
        if to is not None and to not in self.ports:
            raise ValueError(f"there is no output {to!r}; there are {', '.join(self.ports)}")
        stamp = record.timestamp
        if not isinstance(stamp, int) or isinstance(stamp, bool) or stamp < 0:
            raise ValueError(f"a record's timestamp must be an int, not negative (ms): {stamp!r}")
        if self.fixed and record.key != self.key:
            raise ValueError("process_values must leave the key as it is; use process to change it")
        headers = [
            [name, None if value is None else base64.b64encode(value).decode()]
            for name, value in record.headers
        ]
        body = [self.write_key(record.key), self.write_value(record.value), stamp, headers]
        self.channel.tell("forward", body, to)


class Schedule:
    """A running schedule."""

    def __init__(self, host: Host, number: int) -> None:
        self._host = host
        self._number = number

    def cancel(self) -> None:
        """Ends it."""
        if self._host.schedules.pop(self._number, None) is not None:
            self._host.channel.tell("cancel", self._number)


class Context:
    """What a processor knows and can do."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._scheduled = 0

    @property
    def task_id(self) -> str:
        """Sub-topology and task: "0_1"."""
        return str(self._host.task_id)

    @property
    def topic(self) -> str | None:
        """The topic of the record in work; None in a punctuation."""
        return self._host.now["topic"]  # type: ignore[no-any-return]

    @property
    def partition(self) -> int:
        """The partition of the record in work; -1 in a punctuation."""
        return int(self._host.now["partition"])

    @property
    def offset(self) -> int:
        """The offset of the record in work; -1 in a punctuation."""
        return int(self._host.now["offset"])

    def store(self, name: str) -> Any:
        """The store of that name, if it is connected to this node."""
        found = self._host.stores.get(name)
        if found is None:
            known = ", ".join(self._host.stores) or "none"
            raise KeyError(f"no store {name!r} is connected to this node; connected: {known}")
        return found

    def schedule(self, interval: int | str, type: str, callback: Callable[[int], None]) -> Schedule:
        """Calls `callback(ms)` every interval of stream time or of the wall clock."""
        every = duration(interval)
        if every < 1:
            raise ValueError(f"the interval must be at least 1 ms, not {interval!r}")
        if type not in (STREAM_TIME, WALL_CLOCK_TIME):
            raise ValueError(f"the type must be STREAM_TIME or WALL_CLOCK_TIME, not {type!r}")
        self._scheduled += 1
        self._host.schedules[self._scheduled] = callback
        self._host.channel.tell("schedule", self._scheduled, every, type)
        return Schedule(self._host, self._scheduled)

    def forward(self, record: Record, to: str | None = None) -> None:
        """Sends a record on: to one port's children, or to all in the order of the edges."""
        self._host.forward(record, to)

    def commit(self) -> None:
        """Asks for an early commit; a micro-batch commits by itself."""

    def current_stream_time(self) -> int:
        """The highest timestamp that the task took, in ms; -1 before the first record."""
        return int(self._host.now["stream_time"])

    def current_system_time(self) -> int:
        """The wall clock in ms; in a simulation it moves by input lines only."""
        return int(self._host.now["wall_clock"])


# -- stores ----------------------------------------------------------------------------------------


class _Store:
    def __init__(self, channel: Channel, spec: Json) -> None:
        self._channel = channel
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

    def _tell(self, *message: Any) -> None:
        self._channel.tell("store", self.name, *message)

    def _ask(self, *message: Any) -> Any:
        return self._channel.ask("store", self.name, *message)

    def _pages(self, *message: Any) -> Iterator[Any]:
        number, items = self._ask(*message)
        while True:
            yield from items
            if number is None:
                return
            number, items = self._ask("next", number)

    def _window(self, key: Json) -> Json:
        return {"key": self._read_key(key["key"]), "window": key["window"]}


class KeyValueStore(_Store):
    """The latest value of each key. Iteration gives (key, value) by the serialized key's bytes."""

    def get(self, key: Any) -> Any:
        """The value, or None."""
        return self._read_value(self._ask("get", self._key(key)))

    def put(self, key: Any, value: Any) -> None:
        """Sets the value; None deletes."""
        self._tell("put", self._key(key), self._write_value(value))

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


class WindowStore(_Store):
    """Values by key and window start (ms)."""

    def put(self, key: Any, value: Any, start: int) -> None:
        """Sets the value of a window; None deletes."""
        self._tell("put", self._key(key), self._write_value(value), int(start))

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

    def _windows(self, *message: Any) -> Iterator[tuple[Json, Any]]:
        for key, value in self._pages(*message):
            yield self._window(key), self._read_value(value)

    def all(self) -> Iterator[tuple[Json, Any]]:
        """({"key", "window": {"start", "end"}}, value) of every window."""
        return self._windows("all")

    def fetch_all(self, start: int, to: int) -> Iterator[tuple[Json, Any]]:
        """The same of the windows that start in [start, to]."""
        return self._windows("fetch_all", int(start), int(to))


class SessionStore(_Store):
    """Values by key and session; both ends (ms) are included."""

    def put(self, key: Any, start: int, end: int, value: Any) -> None:
        """Sets the value of a session; None deletes."""
        self._tell("put", self._key(key), int(start), int(end), self._write_value(value))

    def remove(self, key: Any, start: int | None = None, end: int | None = None) -> None:
        """Removes a session: by key, start and end, or by the key that an iteration gave."""
        if start is None or end is None:
            start, end = key["window"]["start"], key["window"]["end"]
            key = key["key"]
        self._tell("remove", self._key(key), int(start), int(end))

    def fetch(self, key: Any) -> Iterator[tuple[Json, Any]]:
        """({"key", "window": {"start", "end"}}, value) of the key's sessions."""
        return self._sessions("fetch", self._key(key))

    def find_sessions(
        self, key: Any, earliest_end: int, latest_start: int
    ) -> Iterator[tuple[Json, Any]]:
        """The same of sessions that end at or after, and start at or before, the given times."""
        return self._sessions("find", self._key(key), int(earliest_end), int(latest_start))

    def _sessions(self, *message: Any) -> Iterator[tuple[Json, Any]]:
        for key, value in self._pages(*message):
            yield self._window(key), self._read_value(value)


class VersionedStore(_Store):
    """The values of each key over time."""

    def put(self, key: Any, value: Any, timestamp: int) -> None:
        """Sets the value from `timestamp` (ms) on; None deletes from then on."""
        self._tell("put", self._key(key), self._write_value(value), int(timestamp))

    def get(self, key: Any, as_of: int | None = None) -> tuple[Any, int] | None:
        """(value, timestamp) of the latest version, or of the one valid at `as_of`; or None."""
        found = self._ask("get", self._key(key), None if as_of is None else int(as_of))
        return None if found is None else (self._read_value(found[0]), found[1])

    def delete(self, key: Any, timestamp: int) -> Any:
        """Deletes from `timestamp` on; gives the value that was valid then, or None."""
        return self._read_value(self._ask("delete", self._key(key), int(timestamp)))


_KINDS: dict[str, type[_Store]] = {
    "key_value": KeyValueStore,
    "window": WindowStore,
    "session": SessionStore,
    "versioned": VersionedStore,
}


def main() -> None:
    """Runs until the operator closes the pipe. What processors print goes to standard error."""
    here = Path(__file__).resolve().parent  # its modules must not hide those of processors
    sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != here]
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.environ["TZ"] = "UTC"
    time.tzset()
    Channel(source, target).run()


if __name__ == "__main__":
    main()
