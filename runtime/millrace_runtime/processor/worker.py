"""The Python side of `process` nodes: one process per stream task, started by the operator.

    worker.py [TIMEOUT_MS [MEMORY_MB]]

Frames of 4 bytes length and JSON go over standard input and output, strictly in turns. Messages of
a processor (forward, put ...) are queued until a response is needed or the call ends, so that
stores and forwards happen in the order of the program. Whatever user code does (raise, exit,
hang, use all memory) becomes an error of its call. Uses the standard library only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    # This file is run by its path. An empty module stands in for the package, so that its __init__
    # is not imported, and the modules of this folder must not hide those of a processor.
    _package = types.ModuleType("millrace_runtime")
    _package.__path__ = [str(HERE.parent)]
    sys.modules.setdefault("millrace_runtime", _package)
    sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != HERE]

from millrace_runtime.processor.calling import FunctionHost  # noqa: E402
from millrace_runtime.processor.calling import file_of as file_of_functions  # noqa: E402
from millrace_runtime.processor.channel import Channel, Ended  # noqa: E402
from millrace_runtime.processor.faults import LogStream, described, lasting, leaked_threads  # noqa: E402
from millrace_runtime.processor.frames import End, Frame  # noqa: E402
from millrace_runtime.processor.handling import HandlerHost  # noqa: E402
from millrace_runtime.processor.host import Host, given_names, stopping  # noqa: E402
from millrace_runtime.processor.limits import Deadline, limit_memory  # noqa: E402
from millrace_runtime.processor.windowing import WindowHost, file_of  # noqa: E402

if TYPE_CHECKING:
    from millrace_runtime.processor.breakpoints import Breakpoints
    from millrace_runtime.processor.modules import Modules


def _given(name: str) -> Any:
    """Return a name of the runtime that code imports. Raises AttributeError."""
    try:
        return given_names()[name]
    except KeyError:
        raise AttributeError(f"{name} is not available to the code of processors") from None


class PythonWorker:
    """The processors of one task; serves the calls of the operator."""

    def __init__(self, source: BinaryIO, target: BinaryIO, deadline: Deadline) -> None:
        self.channel = Channel(source, target, deadline, self._serve)
        self.streams: list[LogStream] = []
        self._deadline = deadline
        self._hosts: dict[str, Host] = {}
        self._handlers: dict[str, HandlerHost] = {}
        self._windows: dict[str, WindowHost] = {}
        self._functions: dict[str, FunctionHost] = {}
        self._modules: Modules | None = None

    def run(self) -> None:
        """Serve calls until the pipe is closed."""
        while True:
            try:
                frame = self.channel.read()
            except MemoryError as error:
                self.channel.end({"error": described(error, ())})
                continue
            if frame is None:
                return
            self._serve(frame)

    def _serve(self, frame: Frame) -> None:
        end: End
        self.channel.calls += 1
        before = self._deadline.begin(frame.get("limit_ms"))
        try:
            self._call(frame)
            self._deadline.end(before)
            end = {"done": True}
        except Ended:
            raise
        except BaseException as error:  # noqa: BLE001 - every error of user code is data
            # Describing the error is the worker's own work and has no deadline.
            self._deadline.end(before)
            hosts, handlers = self._hosts.values(), self._handlers.values()
            own = {each.file for each in hosts} | {each.file for each in handlers}
            files = own | {each.file for each in self._windows.values()}
            files |= {each.file for each in self._functions.values()}
            files |= set() if self._modules is None else self._modules.files
            end = {"error": described(error, files), "lost": lasting(error)}
        for stream in self.streams:
            stream.end_line()
        self.channel.calls -= 1
        try:
            self.channel.end(end)
        except MemoryError as error:
            self.channel.discard()
            self.channel.end({"error": described(error, ()), "lost": True})

    def _call(self, frame: Frame) -> None:
        node, call = frame["node"], frame["call"]
        if frame.get("modules") and not self._modules:
            self._import_from(frame["modules"])
        if call == "process" or call == "punctuate":
            self._hosts[node].run(frame)
        elif call == "start":
            self._hosts[node] = host = Host(self.channel, frame, self._modules)
            host.enter(frame, host.start)
        elif call == "handler":
            handler = HandlerHost(self.channel, frame, self._stopping(frame))
            handler.start(given_names())
            self._handlers[node] = handler
        elif call == "handle":
            self._handlers[node].handle(frame)
        elif call == "windows":
            modules = self._modules
            stops = stopping(self.channel, file_of(frame), frame["code"], frame, modules)
            self._windows[node] = windows = WindowHost(self.channel, frame, stops)
            windows.start(given_names())
        elif call == "function":
            self._functions[node].call(frame)
        elif call == "functions":
            file, modules = file_of_functions(frame), self._modules
            stops = stopping(self.channel, file, frame["code"], frame, modules)
            self._functions[node] = functions = FunctionHost(self.channel, frame, stops)
            functions.start(given_names())
        elif call == "windows_of":
            self._windows[node].call(frame)
        else:
            self._close(frame)

    def _import_from(self, sources: dict[str, str]) -> None:
        # Imported here, so that tasks without modules do not wait for it.
        from millrace_runtime.processor.modules import Modules

        found = Modules(sources)
        found.install()
        self._modules = found

    def _stopping(self, frame: Frame) -> Breakpoints | None:
        """Return the breakpoints of a handler."""
        setting = f"{frame['kind']}_function"
        file = frame.get("file") or f"<{setting}>"
        place = f"settings.{setting}"
        return stopping(self.channel, file, frame["code"], frame, self._modules, place)

    def _close(self, frame: Frame) -> None:
        host = self._hosts[frame["node"]]
        host.enter(frame, host.close)
        for leaked in leaked_threads(host.file):
            self.channel.send("log", "warning", leaked)


def main() -> None:
    """Run until the operator closes the pipe. Output of processors goes to their node's log."""
    timeout_ms, memory_mb = ([int(word) for word in sys.argv[1:3]] + [0, 0])[:2]
    limit_memory(memory_mb)
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.environ["TZ"] = "UTC"
    time.tzset()
    # Ctrl-C is handled by the driver, which then ends the calls in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The package of this process is empty. Code imports from it what it also has without import.
    package = sys.modules["millrace_runtime"]
    if getattr(package, "__file__", None) is None:
        vars(package)["__getattr__"] = _given
    worker = PythonWorker(source, target, Deadline(timeout_ms))
    sys.stdout = printed = LogStream(worker.channel, "info", sys.stdout)
    sys.stderr = warned = LogStream(worker.channel, "warning", sys.stderr)
    worker.streams = [printed, warned]
    with contextlib.suppress(Ended, BrokenPipeError):
        worker.run()
    # Non-daemon threads that user code left behind must not keep the process alive.
    os._exit(0)


if __name__ == "__main__":
    main()
