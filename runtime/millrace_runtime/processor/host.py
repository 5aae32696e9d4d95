"""One processor in a worker: its class, its context and its types."""

from __future__ import annotations

import base64
import linecache
from collections.abc import Callable
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from millrace_runtime.processor import (
    STREAM_TIME,
    WALL_CLOCK_TIME,
    Processor,
    ProcessorContext,
    Record,
)
from millrace_runtime.processor.channel import Channel
from millrace_runtime.processor.handling import DeadLetter, FailedRecord, RecordError, Response
from millrace_runtime.processor.running import run_code
from millrace_runtime.processor.stores import GIVEN_STORES, open_store
from millrace_runtime.processor.values import (
    Convert,
    FrozenStruct,
    Struct,
    decoder,
    encoder,
    misfit,
)

if TYPE_CHECKING:
    from millrace_runtime.processor.breakpoints import Breakpoints
    from millrace_runtime.processor.frames import Frame
    from millrace_runtime.processor.modules import Modules


def given_names() -> dict[str, Any]:
    """Return what code can use without an import, and modules import from `millrace_runtime`."""
    handling = (DeadLetter, FailedRecord, RecordError, Response)
    return {
        "Processor": Processor,
        "ProcessorContext": ProcessorContext,
        "Record": Record,
        "Struct": Struct,
        "FrozenStruct": FrozenStruct,
        **GIVEN_STORES,
        **{each.__name__: each for each in handling},
        "STREAM_TIME": STREAM_TIME,
        "WALL_CLOCK_TIME": WALL_CLOCK_TIME,
    }


def stopping(
    channel: Channel,
    file: str,
    code: str,
    frame: Frame,
    modules: Modules | None,
    place: str | None = None,
) -> Breakpoints | None:
    """Return the breakpoints that a simulation requests; None in a deployment.

    `place`: the setting that has the code, if it is not a node's.
    """
    asked = frame.get("breakpoints")
    if asked is None:
        return None
    # Imported here, so that deployments do not wait for it.
    from millrace_runtime.processor.breakpoints import Breakpoints

    found = Breakpoints(file, code, (), asked["most"], lambda stop: channel.note("stop", stop))
    found.add(file, code, asked["lines"], place)
    if modules is not None:
        modules.stop_at(asked["modules"], found)
    return found


class Host:
    """One processor: its class, its context and its types."""

    def __init__(self, channel: Channel, frame: Frame, modules: Modules | None = None) -> None:
        self.channel = channel
        self.name = frame["name"]
        self.fixed = frame["fixed"]
        self._only_stores = frame["only_stores"]
        self.ports = frame["ports"]
        self.task_id = frame["task_id"]
        self._inputs = [
            (each["method"], decoder(each["key"]), decoder(each["value"]))
            for each in frame["inputs"]
        ]
        self.write_key = encoder(frame["out"]["key"], "the key")
        self.write_value = encoder(frame["out"]["value"], "the value")
        self.stores = {
            store["name"]: open_store(store, self.send, self.ask) for store in frame["stores"]
        }
        self.schedules: dict[int, Callable[[int], None]] = {}
        self.now: Frame = frame
        self.key: Any = None
        self.file = frame.get("file") or f"<{self.name}>"
        self.closing = False
        self._code = frame["code"]
        self._class_name = frame["class_name"]
        self._arguments = frame["arguments"]
        self._context = ProcessorContext[Any, Any](self)
        self._processor: Any = None
        self._handlers: list[tuple[Any, Convert, Convert]] = []
        self._breakpoints = stopping(channel, self.file, self._code, frame, modules)

    def enter(self, frame: Frame, body: Callable[[], None]) -> None:
        """Run `body` with the frame's context of the current record."""
        before, self.now = self.now, frame
        key = self.key
        try:
            if self._breakpoints is None:
                body()
            else:
                self._breakpoints.run(body)
        finally:
            self.now, self.key = before, key

    def run(self, frame: Frame) -> None:
        """Run a call with the frame's context, as `enter` does with a function."""
        if self._breakpoints is not None:
            self.enter(frame, lambda: self.call(frame))
            return
        before, self.now, key = self.now, frame, self.key
        try:
            self.call(frame)
        finally:
            self.now, self.key = before, key

    def start(self) -> None:
        """Run the code, create the processor and call its `init`."""
        lines = self._code.splitlines(keepends=True)
        # Processors of one file each have their own lines of it; the others are empty.
        earlier = linecache.getlines(self.file) if self.file in linecache.cache else []
        both = zip_longest(lines, earlier, fillvalue="\n")
        shown = [own if own.strip() else other for own, other in both]
        linecache.cache[self.file] = (sum(map(len, shown)), None, shown, self.file)
        module = run_code(self._code, self.file, f"processor_{self.name}", given_names())
        made = getattr(module, self._class_name, None)
        if not isinstance(made, type):
            raise NameError(f"the code does not define the class {self._class_name}")
        self._processor = made(**self._arguments)
        init = getattr(self._processor, "init", None)
        if init is not None:
            init(self._context)
        self._handlers = [
            (getattr(self._processor, method, None), key, value)
            for method, key, value in self._inputs
        ]

    def call(self, frame: Frame) -> None:
        """Process a record or run a punctuation."""
        if frame["call"] == "process":
            method, read_key, read_value = self._handlers[frame["input"]]
            key, value, timestamp, headers = frame["record"]
            self.key = read_key(key)
            pairs: Any = headers and [
                (k, None if v is None else base64.b64decode(v)) for k, v in headers
            ]
            method(Record(self.key, read_value(value), timestamp, pairs))
        else:
            callback = self.schedules.get(frame["schedule"])
            if callback is not None:
                callback(frame["now"])

    def close(self) -> None:
        """Call the processor's `close`, which can no longer send or store anything."""
        self.closing = True
        close = getattr(self._processor, "close", None)
        if close is not None:
            close()

    def cancel(self, number: int) -> None:
        """End a schedule; also during `close`."""
        if self.schedules.pop(number, None) is not None:
            self.channel.send("cancel", number)

    def send(self, *message: Any) -> None:
        """Send a message that has no response. Raises RuntimeError after the task's end."""
        self.open()
        self.channel.send(*message)

    def ask(self, *message: Any) -> Any:
        """Send a message and return its response. Raises RuntimeError after the task's end."""
        self.open()
        return self.channel.ask(*message)

    def open(self) -> None:
        """Raise RuntimeError if the task has ended, because effects of a call would be lost."""
        if self.closing:
            raise RuntimeError("close is called after the task's last record: it cannot forward, "
                               "store or schedule anything")  # fmt: skip

    def acting(self, what: str) -> None:
        """Raise RuntimeError for the processor of a global store, which only writes the store."""
        self.open()
        if self._only_stores:
            raise RuntimeError(f"the processor of a global store cannot {what}: "
                               "it only writes its store")  # fmt: skip

    def forward(self, record: Record[Any, Any], to: str | None) -> None:
        """Send a record to the children of one port, or of all ports."""
        self.acting("forward records")
        if not isinstance(record, Record):
            raise misfit(record, "what is forwarded", "a Record")
        if to is not None and to not in self.ports:
            raise ValueError(f"there is no output {to!r}; outputs: {', '.join(self.ports)}")
        stamp = record.timestamp
        whole = type(stamp) is int or (isinstance(stamp, int) and not isinstance(stamp, bool))
        if not whole or stamp < 0:
            raise ValueError(f"a record's timestamp must be a non-negative int (ms), not {stamp!r}")
        if self.fixed and record.key != self.key:
            raise ValueError("process_values must not change the key; use process to change it")
        headers = [_header(header) for header in record.headers] if record.headers else []
        body = [self.write_key(record.key), self.write_value(record.value), stamp, headers]
        self.channel.send("forward", body, to)


def _header(header: Any) -> list[str | None]:
    """Return a header as JSON. Raises TypeError if it is not a pair of a name and bytes."""
    if not isinstance(header, tuple | list) or len(header) != 2:
        raise misfit(header, "a header", "a pair (name, bytes)")
    name, value = header
    if not isinstance(name, str):
        raise misfit(name, "the name of a header", "a str")
    if value is not None and not isinstance(value, bytes | bytearray):
        raise misfit(value, f"the header {name}", "bytes")
    return [name, None if value is None else base64.b64encode(value).decode()]
