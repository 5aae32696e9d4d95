"""Handlers of errors: what a document's function gets and answers, and how it is called.

Uses the standard library only: a processor's process imports it.
"""

from __future__ import annotations

import base64
import linecache
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from millrace_runtime.processor.running import run_code

if TYPE_CHECKING:
    from millrace_runtime.processor.breakpoints import Breakpoints
    from millrace_runtime.processor.channel import Channel
    from millrace_runtime.processor.frames import Frame

Json = dict[str, object]
Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True)
class RecordError:
    """An error of a record, as a handler gets it.

    `kind`: `deserialization`, `processing` or `production`; `node` and `parameter`: where it
    happened; `exception`: the name of its class, such as `ZeroDivisionError`; `task_id`: such as
    "0_1", or None for a result that the producer refuses.
    """

    kind: str
    node: str
    parameter: str | None
    exception: str
    message: str
    stacktrace: str
    task_id: str | None


class FieldUnknown(BaseException):
    """An unknown field of an error was read. `except Exception` in a handler does not catch it."""


class PartlyKnownError(RecordError):
    """An error of which some fields are unknown, as in Kafka Streams.

    Reading one of them sends a message `unknown` and ends the call.
    """

    def __init__(
        self, channel: Channel, fields: Mapping[str, str | None], unknown: Sequence[str]
    ) -> None:
        super().__init__(**{**dict.fromkeys(unknown, ""), **fields})  # type: ignore[arg-type]
        self.__dict__["_refused"] = channel, frozenset(unknown)

    def __getattribute__(self, name: str) -> Any:
        fields = object.__getattribute__(self, "__dict__")
        if "_refused" in fields:
            channel, unknown = fields["_refused"]
            if name == "__dict__":
                name = min(unknown)
            if name in unknown:
                channel.note("unknown", name)
                raise FieldUnknown(name)
        return object.__getattribute__(self, name)


@dataclass(frozen=True)
class DeadLetter:
    """A record for the dead letter topic.

    `key` and `value`: bytes, text as UTF-8, or None. `timestamp` in ms: that of the failed record
    if None. `partition`: that of the key if None.
    """

    key: bytes | str | None
    value: bytes | str | None
    headers: Sequence[tuple[str, bytes | str | None]] = ()
    timestamp: int | None = None
    partition: int | None = None


@dataclass(frozen=True)
class FailedRecord:
    """The record of an error: the source record, as its topic has it.

    Key and value are bytes. For a result that the producer refuses, they are those of the result.
    In a punctuation, there is no record: `topic`, `key` and `value` are None.
    """

    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Headers
    topic: str | None
    partition: int
    offset: int

    def dead_letter(self, error: RecordError) -> DeadLetter:
        """Return the dead letter that the handler `dead_letter` writes: Kafka Streams' own."""
        # A comparison with Kafka Streams leaves these headers out, so unknown fields are allowed.
        fields: Json = object.__getattribute__(error, "__dict__")
        described = {
            **{name: fields[name] for name in ("exception", "message", "stacktrace")},
            "topic": self.topic, "partition": self.partition, "offset": self.offset,
        }  # fmt: skip
        added = [(f"__streams.errors.{name}", str(each)) for name, each in described.items()]
        return DeadLetter(self.key, self.value, [*self.headers, *added])


@dataclass(frozen=True)
class Response:
    """The answer of a handler: `Response.resume(...)` or `Response.fail(...)`."""

    goes_on: bool
    dead_letters: tuple[DeadLetter, ...]

    @classmethod
    def resume(cls, *dead_letters: DeadLetter) -> Response:
        """Drop the record where it failed and go on. The dead letters are written."""
        return cls(True, dead_letters)

    @classmethod
    def fail(cls, *dead_letters: DeadLetter) -> Response:
        """Stop the job at the record. The dead letters are written before, at least once."""
        return cls(False, dead_letters)


Handler = Callable[[FailedRecord, RecordError], Response]


class HandlerHost:
    """A handler in the Python process of a task or of a sink."""

    def __init__(
        self, channel: Channel, frame: Frame, breakpoints: Breakpoints | None = None
    ) -> None:
        self.channel = channel
        self.file = frame.get("file") or f"<{frame['kind']}_function>"
        self._kind = frame["kind"]
        self._code, self._function = frame["code"], frame["function"]
        self._letters = frame["letters"]
        self._handle: Any = None
        self._breakpoints = breakpoints

    def start(self, names: Json) -> None:
        """Run the code, which may use `names`, and find the function."""
        lines = self._code.splitlines(keepends=True)
        linecache.cache[self.file] = (len(self._code), None, lines, self.file)
        module = run_code(self._code, self.file, f"handler_{self._kind}", names)
        self._handle = getattr(module, self._function)

    def handle(self, frame: Frame) -> None:
        """Call the function and send its answer."""
        given = frame["record"]
        record = FailedRecord(
            _bytes(given["key"]), _bytes(given["value"]), given["timestamp"],
            [(name, _bytes(value)) for name, value in given["headers"]],
            given["topic"], given["partition"], given["offset"],
        )  # fmt: skip
        unknown = frame.get("unknown")
        error = (
            PartlyKnownError(self.channel, frame["error"], unknown)
            if unknown
            else RecordError(**frame["error"])
        )
        answer = self._answer(record, error)
        if not isinstance(answer, Response):
            raise TypeError(
                f"{self._function} must return Response.resume(...) or Response.fail(...), "
                f"not {_short(answer)}"
            )
        letters = [_letter(each) for each in answer.dead_letters]
        if letters and not self._letters:
            raise ValueError(f"{self._function} returned a dead letter, but the topology has no "
                             "dead letter topic")  # fmt: skip
        self.channel.send("handled", answer.goes_on, letters)

    def _answer(self, record: FailedRecord, error: RecordError) -> Any:
        if self._breakpoints is None:
            return self._handle(record, error)
        answers: list[Any] = []
        self._breakpoints.run(lambda: answers.append(self._handle(record, error)))
        return answers[0]


def _letter(given: Any) -> Json:
    if not isinstance(given, DeadLetter):
        raise TypeError(f"a response takes objects of the class DeadLetter, not {_short(given)}")
    for name, value in (("timestamp", given.timestamp), ("partition", given.partition)):
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if value is not None and not whole:
            raise TypeError(
                f"the {name} of a dead letter must be a non-negative int, not {value!r}"
            )
    headers = []
    for header in given.headers:
        if not isinstance(header, tuple | list) or len(header) != 2 or type(header[0]) is not str:
            raise TypeError(f"a header must be a pair (name, bytes), not {_short(header)}")
        headers.append([header[0], _text(header[1], f"the header {header[0]}")])
    return {
        "key": _text(given.key, "the key"), "value": _text(given.value, "the value"),
        "timestamp": given.timestamp, "partition": given.partition, "headers": headers,
    }  # fmt: skip


def _text(value: Any, what: str) -> str | None:
    """Return bytes, or text in UTF-8, as base64."""
    if value is None:
        return None
    if isinstance(value, str):
        value = value.encode()
    if not isinstance(value, bytes | bytearray):
        raise TypeError(f"{what} of a dead letter must be bytes, str or None, not {_short(value)}")
    return base64.b64encode(value).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _short(value: Any) -> str:
    return f"{value!r}"[:100]
