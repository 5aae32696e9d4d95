"""The Python side of `process` nodes: one process per stream task, started by the operator.

Frames of 4 bytes length and JSON go over standard input and output, strictly in turns. What a
processor says (forward, put ...) is kept in a list until an answer is needed or the call is done,
so stores and forwards happen in the order of the program. Uses the standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
import time
import traceback
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    # Run by its path. The package's own __init__ would import Spark, which takes a second: an
    # empty module of its name stands in, and the folder's modules must not hide a processor's.
    _package = types.ModuleType("millrace_runtime")
    _package.__path__ = [str(HERE)]
    sys.modules.setdefault("millrace_runtime", _package)
    sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != HERE]

from millrace_runtime.worker_host import Host  # noqa: E402

Json = dict[str, Any]
# A frame is sent at the latest with so many messages: keeps the memory of long loops flat.
MOST_MESSAGES = 2000


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
        part.stack[:] = [frame for frame in part.stack if Path(frame.filename).parent != HERE]
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


def main() -> None:
    """Runs until the operator closes the pipe. What processors print goes to standard error."""
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
