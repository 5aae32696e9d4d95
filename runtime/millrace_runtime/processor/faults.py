"""Faults and output of user code as data: exceptions, printed lines, threads left behind."""

from __future__ import annotations

import io
import sys
import threading
import traceback
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TextIO

from millrace_runtime.processor.channel import Channel

HERE = Path(__file__).resolve().parent
LONGEST_LINE = 10_000


def lasting(error: BaseException) -> bool:
    """Whether the process must not be reused, as its memory or state cannot be trusted."""
    return isinstance(error, MemoryError | TimeoutError) or not isinstance(error, Exception)


def described(error: BaseException, files: Collection[str]) -> dict[str, object]:
    """Return an exception as data: type, message with the line in user code, traceback.

    `files`: the names under which user code was compiled. The traceback omits the worker's own
    lines.
    """
    shown = traceback.TracebackException.from_exception(error)
    for part in _chain(shown):
        part.stack[:] = [frame for frame in part.stack if Path(frame.filename).parent != HERE]
    places = [(frame.filename, frame.lineno) for frame in shown.stack if frame.filename in files]
    file: str | None
    file, line = places[-1] if places else (None, None)
    text = str(error)
    if isinstance(error, SyntaxError):
        text = str(error.msg)
        if error.filename in files:
            file, line = error.filename, error.lineno
        elif error.filename:
            text += f" in {error.filename}, line {error.lineno}"
    # The code of a document has no file; its name is that of the node in angle brackets.
    named = f"{file}, " if file and not file.startswith("<") else ""
    where = f" ({named}line {line})" if line else ""
    name = type(error).__name__
    if isinstance(error, SystemExit):
        text = f"the code ended the process with exit code {error.code or 0}"
    elif isinstance(error, MemoryError) and not text:
        text = "the process is out of memory"
    return {
        "type": name,
        "message": f"{name}: {text}{where}" if text else f"{name}{where}",
        "traceback": "".join(shown.format()),
    }


def _chain(first: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    part: traceback.TracebackException | None = first
    while part is not None:
        yield part
        part = part.__cause__ or part.__context__


def leaked_threads(file: str) -> list[str]:
    """Return a sentence for each thread that still runs code of a processor."""
    frames = sys._current_frames()
    found = []
    for thread in threading.enumerate():
        if thread is threading.main_thread():
            continue
        frame = frames.get(thread.ident or -1)
        while frame is not None and frame.f_code.co_filename != file:
            frame = frame.f_back
        if frame is not None:
            found.append(
                f"the thread {thread.name} still runs after close (line {frame.f_lineno}); "
                "it was ended with the process"
            )
    return found


class LogStream(io.TextIOBase):
    """Standard output or standard error of user code, written to its node's log line by line.

    Output of other threads goes to the process's own stream.
    """

    def __init__(self, channel: Channel, level: str, own: TextIO) -> None:
        self._channel = channel
        self._level = level
        self._own = own
        self._begun = ""
        self._length = 0

    def writable(self) -> bool:
        """Return True, as a stream for output does."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the process's own stream, for code that bypasses this one."""
        return self._own.fileno()

    def write(self, text: str) -> int:
        """Send complete lines at once, the rest with its newline or at the end of the call."""
        if not self._channel.called:
            return self._own.write(text)
        *lines, rest = text.split("\n")
        for line in lines:
            self._begin(line)
            self._log()
        self._begin(rest)
        return len(text)

    def _begin(self, part: str) -> None:
        self._length += len(part)
        self._begun += part[: LONGEST_LINE - len(self._begun)]

    def flush(self) -> None:
        """Flush the process's own stream. Complete lines of a call have already been sent."""
        if not self._channel.called:
            self._own.flush()

    def end_line(self) -> None:
        """Send an incomplete line."""
        if self._length:
            self._log()

    def _log(self) -> None:
        line, length = self._begun, self._length
        self._begun, self._length = "", 0
        if length > len(line):
            line = f"{line} ... ({length} characters)"
        self._channel.send("log", self._level, line)
