"""The Python side of `process` nodes: one process per stream task, started by the operator.

    worker.py [TIMEOUT_MS [MEMORY_MB]]

Frames of 4 bytes length and JSON go over standard input and output, strictly in turns. What a
processor calls (forward, put ...) is kept in a list until an answer is needed or the call is done,
so stores and forwards happen in the order of the program. Whatever user code does (raises, exits,
does not return, takes all memory) ends as an error of its call. Uses the standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import sys
import threading
import time
import types
from collections.abc import Sequence
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

from millrace_runtime.worker_faults import LogStream, described, lasting, leaked_threads  # noqa: E402
from millrace_runtime.worker_host import Host  # noqa: E402
from millrace_runtime.worker_limits import Deadline, limit_memory  # noqa: E402

Json = dict[str, Any]
# A frame is sent at the latest with so many messages: keeps the memory of long loops flat.
MOST_MESSAGES = 2000


class _Ended(BaseException):
    """The operator has closed the pipe."""


class Channel:
    """The two pipes and the processors behind them."""

    def __init__(self, source: BinaryIO, target: BinaryIO, deadline: Deadline) -> None:
        self._source = source
        self._target = target
        self._deadline = deadline
        self._messages: list[Any] = []
        self._hosts: dict[str, Host] = {}
        self._thread = threading.get_ident()
        self._calls = 0
        self.streams: list[LogStream] = []
        os.register_at_fork(after_in_child=self._forked)

    def send(self, *message: Any) -> None:
        """Something that needs no answer."""
        self._check()
        self._messages.append(message)
        if len(self._messages) >= MOST_MESSAGES:
            self._ask(["flush"])

    def ask(self, *message: Any) -> Any:
        """Something that does; processors of other nodes may run meanwhile."""
        self._check()
        return self._ask(message)

    @property
    def called(self) -> bool:
        """Whether the calling thread is that of a call at work."""
        return self._calls > 0 and threading.get_ident() == self._thread

    def _check(self) -> None:
        if not self.called:
            raise RuntimeError(
                "context and stores can be used only during a call of the processor, and only by "
                "the calling thread"
            )

    def _forked(self) -> None:
        """A child of `os.fork` has the pipes as well and must not write to them."""
        self._thread = -1

    def _ask(self, message: Sequence[Any]) -> Any:
        if message[0] != "flush":
            self._messages.append(message)
        data = self._encoded(None)
        left = self._deadline.pause()
        self._write(data)
        while True:
            frame = self._read()
            if frame is None:
                raise _Ended
            if "answer" in frame:
                self._deadline.resume(left)
                return frame["answer"]
            self._serve(frame)

    def _encoded(self, end: Any) -> bytes:
        messages, self._messages = self._messages, []
        return json.dumps([messages, end], separators=(",", ":"), allow_nan=False).encode()

    def _send(self, end: Any) -> None:
        self._write(self._encoded(end))

    def _write(self, data: bytes) -> None:
        if threading.get_ident() != self._thread:
            os._exit(0)
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
            try:
                frame = self._read()
            except MemoryError as error:
                self._send({"error": described(error, ())})
                continue
            if frame is None:
                return
            self._serve(frame)

    def _serve(self, frame: Json) -> None:
        end: Json
        self._calls += 1
        before = self._deadline.begin(frame.get("limit_ms"))
        try:
            self._call(frame)
            self._deadline.end(before)
            end = {"done": True}
        except _Ended:
            raise
        except BaseException as error:  # noqa: BLE001 - every error of user code is data
            # Describing the error is the worker's own work and has no deadline.
            self._deadline.end(before)
            files = {host.file for host in self._hosts.values()}
            end = {"error": described(error, files), "lost": lasting(error)}
        for stream in self.streams:
            stream.end_line()
        self._calls -= 1
        try:
            self._send(end)
        except MemoryError as error:
            self._messages.clear()
            self._send({"error": described(error, ()), "lost": True})

    def _call(self, frame: Json) -> None:
        node, call = frame["node"], frame["call"]
        if call == "process" or call == "punctuate":
            host = self._hosts[node]
            host.enter(frame, lambda: host.call(frame))
        elif call == "start":
            self._hosts[node] = host = Host(self, frame)
            host.enter(frame, host.start)
        else:
            self._close(frame)

    def _close(self, frame: Json) -> None:
        host = self._hosts[frame["node"]]
        host.enter(frame, host.close)
        for leaked in leaked_threads(host.file):
            self.send("log", "warning", leaked)


def main() -> None:
    """Runs until the operator closes the pipe. What processors print goes to their node's log."""
    timeout_ms, memory_mb = ([int(word) for word in sys.argv[1:3]] + [0, 0])[:2]
    limit_memory(memory_mb)
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.environ["TZ"] = "UTC"
    time.tzset()
    # An interrupt from the keyboard is for the driver, which then ends the calls in its order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel(source, target, Deadline(timeout_ms))
    sys.stdout = printed = LogStream(channel, "info", sys.stdout)
    sys.stderr = warned = LogStream(channel, "warning", sys.stderr)
    channel.streams = [printed, warned]
    with contextlib.suppress(_Ended, BrokenPipeError):
        channel.run()
    # Threads that user code left behind, and not daemons, must not keep the process alive.
    os._exit(0)


if __name__ == "__main__":
    main()
