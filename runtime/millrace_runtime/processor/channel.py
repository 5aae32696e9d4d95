"""The pipes between the operator and a worker: frames of 4 bytes length and JSON, in turns."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring_ascii
from typing import Any, BinaryIO

from millrace_runtime.processor.frames import End, Frame
from millrace_runtime.processor.limits import Deadline

# Maximum number of messages in a frame, which limits the memory of long loops.
MOST_MESSAGES = 2000


def _encoder() -> Callable[[Any], str]:
    """Return `json.dumps` without spaces and NaN, prepared once: that makes a record cheaper."""
    made = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
    prepare = getattr(json.encoder, "c_make_encoder", None)
    if prepare is None:  # another implementation of Python
        return made.encode
    try:
        chunks = prepare(
            None, made.default, encode_basestring_ascii, None, made.key_separator,
            made.item_separator, False, False, False,
        )  # fmt: skip
    except TypeError:  # another release of it
        return made.encode
    return lambda value: "".join(chunks(value, 0))


_encode = _encoder()
_decode = json.JSONDecoder().raw_decode


class Ended(BaseException):
    """The operator has closed the pipe."""


class Channel:
    """The two pipes. ``serve`` runs a call that arrives while another waits for its response."""

    def __init__(
        self,
        source: BinaryIO,
        target: BinaryIO,
        deadline: Deadline,
        serve: Callable[[Frame], None],
    ) -> None:
        self._source, self._target = source, target
        self._deadline, self._serve = deadline, serve
        self._messages: list[Any] = []
        self._thread = threading.get_ident()
        #: Number of nested calls that are running.
        self.calls = 0
        os.register_at_fork(after_in_child=self._forked)

    def send(self, *message: Any) -> None:
        """Send a message that has no response."""
        self._check()
        self._messages.append(message)
        if len(self._messages) >= MOST_MESSAGES:
            self._ask(["flush"])

    def note(self, *message: Any) -> None:
        """Like `send`, from inside a trace function: never waits for the operator."""
        self._messages.append(message)

    def ask(self, *message: Any) -> Any:
        """Send a message and return its response; processors of other nodes may run meanwhile."""
        self._check()
        return self._ask(message)

    @property
    def called(self) -> bool:
        """Whether the calling thread is that of a running call."""
        return self.calls > 0 and threading.get_ident() == self._thread

    def end(self, end: End) -> None:
        """Send the end of a call, with the messages before it."""
        self._write(self._encoded(end))

    def discard(self) -> None:
        """Discard messages that have not been sent."""
        self._messages.clear()

    def read(self) -> Frame | None:
        """Return the next frame; ``None`` if the operator has closed the pipe."""
        head = self._source.read(4)
        if len(head) < 4:
            return None
        data = self._source.read(int.from_bytes(head, "big"))
        frame: Frame = _decode(data.decode())[0]
        return frame

    def _check(self) -> None:
        if not self.called:
            raise RuntimeError(
                "context and stores can be used only during a call of the processor, and only by "
                "the calling thread"
            )

    def _forked(self) -> None:
        """Prevent a child of `os.fork`, which inherits the pipes, from writing to them."""
        self._thread = -1

    def _ask(self, message: Sequence[Any]) -> Any:
        if message[0] != "flush":
            self._messages.append(message)
        data = self._encoded(None)
        left = self._deadline.pause()
        self._write(data)
        while True:
            frame = self.read()
            if frame is None:
                raise Ended
            if "answer" in frame:
                self._deadline.resume(left)
                return frame["answer"]
            self._serve(frame)

    def _encoded(self, end: End | None) -> bytes:
        messages, self._messages = self._messages, []
        return _encode([messages, end]).encode()

    def _write(self, data: bytes) -> None:
        if threading.get_ident() != self._thread:
            os._exit(0)
        self._target.write(len(data).to_bytes(4, "big") + data)
        self._target.flush()
