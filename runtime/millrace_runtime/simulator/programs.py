"""The process that reads programs: `python -m millrace_runtime.simulator.programs`.

It reads requests from standard input and writes responses to standard output, as the simulator's
process does, but has no Spark session: each program runs in a child that is forked from this
process, whose imports are done, so that a reading takes milliseconds.

A child is confined to a folder of its own and ends with its program, together with all processes
that the program has started. The next child waits for the next request and reads it itself:
programs never pass through the memory from which later children are forked. SIGUSR1 ends the
program that runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from millrace_model.simulations import Answered, ProgramRequest
from millrace_services import frames

from millrace_runtime.errors import MillraceError
from millrace_runtime.program import document_of
from millrace_runtime.services import confinement
from millrace_runtime.session import session

#: bytes that a program and the processes that it starts may each allocate
MEMORY = 2 << 30
#: seconds that a program may run
SECONDS = 30.0
#: maximum size of a response
MOST_BYTES = 32 << 20
#: seconds after which a program's priority is lowered, so that it does not delay other processes
PATIENCE_SECONDS = 1.0
_LOWER_PRIORITY, _LOWEST = 10, 19
#: seconds within which the processes of a program must have ended
_ENDING_SECONDS = 5.0
#: seconds between two checks of a program
_STEP_SECONDS = 0.1
#: what a child sends once it has its request
_BEGUN = b"+"
_SUBREAPER = 36

ENDED = (
    "program_ended",
    "The program's process ended before the program did: it may have called os._exit, or needed "
    "too much memory.",
)
TOO_LONG = (
    "program_too_long",
    f"The program ran for more than {SECONDS:g} s and was stopped: it may have a loop that does "
    "not end.",
)
TOO_LARGE = ("program_too_large", f"The program's topology is larger than {MOST_BYTES >> 20} MB.")
CANCELLED = ("simulation_cancelled", "The reading of the program was canceled.")


class Child:
    """A forked process that reads one request, runs its program and sends the response."""

    def __init__(self, base: str | None) -> None:
        self.folder = tempfile.mkdtemp(prefix="program-", dir=base)
        self.output, inherited = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _run(self.folder, inherited)
            except BaseException:  # noqa: BLE001 - a child must never return
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(inherited)

    def wait(self) -> bool:
        """Wait until it has a request; return whether it got one."""
        return os.read(self.output, 1) == _BEGUN

    def response(self, stopped: list[bool], seconds: float) -> bytearray:
        """Return the frame of its response. Raises MillraceError for a program that has none.

        `stopped`: not empty once the program should end.
        """
        until = time.monotonic() + seconds
        header = self._bytes(bytearray(frames.HEADER.size), 0, until, stopped)
        (size,) = frames.HEADER.unpack(header)
        if size > MOST_BYTES:
            raise MillraceError(*TOO_LARGE)
        return self._bytes(header + bytearray(size), len(header), until, stopped)

    def _bytes(self, found: bytearray, count: int, until: float, stopped: list[bool]) -> bytearray:
        """Fill a buffer that has some bytes already."""
        patience = time.monotonic() + PATIENCE_SECONDS
        while count < len(found):
            ready, _, _ = select.select([self.output], [], [], _STEP_SECONDS)
            now = time.monotonic()
            if stopped:
                raise MillraceError(*CANCELLED)
            if ready:
                with memoryview(found)[count:] as rest:
                    part = os.readv(self.output, [rest])
                count += part
                if part == 0:
                    raise MillraceError(*ENDED)
            elif _has_ended(self.pid):  # a process that it has started may still have the pipe
                raise MillraceError(*ENDED)
            if now > until:
                raise MillraceError(*TOO_LONG)
            if now > patience:
                self._give_way()
                patience = until
        return found

    def _give_way(self) -> None:
        with contextlib.suppress(OSError):
            lower = os.getpriority(os.PRIO_PROCESS, self.pid) + _LOWER_PRIORITY
            os.setpriority(os.PRIO_PROCESS, self.pid, min(lower, _LOWEST))

    def end(self) -> bool:
        """End it and all that it has started, and delete its folder; return whether all ended."""
        ended = _end_all(self.pid)
        os.close(self.output)
        shutil.rmtree(self.folder, ignore_errors=True)
        return ended


def _run(folder: str, output: int) -> None:
    """Handle the request that arrives next, in a child."""
    for number in (signal.SIGUSR1, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    request = _request()
    if request is None:
        return
    os.write(output, _BEGUN)
    for name in (confinement.FOLDER, session.SCRATCH):
        if name in os.environ:
            os.environ[name] = folder
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    confinement.confine(Path(folder))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.dup2(output, 3)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    frame = frames.encode(answer(request))
    while frame:
        frame = frame[os.write(3, frame) :]


def answer(request: ProgramRequest) -> Answered:
    """Return a frame with the document of a program, or with the error."""
    try:
        found = document_of(request["name"], request["program"], request.get("files") or {})
        return {"answer": {"document": found}}
    except MillraceError as error:
        return {"answer": {"error": error.as_dict()}}


def _request() -> ProgramRequest | None:
    """Return the next request, without reading anything of the one after it; None at the end."""
    header = _bytes(frames.HEADER.size)
    if header is None:
        return None
    body = _bytes(frames.HEADER.unpack(header)[0])
    found: ProgramRequest | None = None if body is None else frames.decode(body)
    return found


def _bytes(count: int) -> bytes | None:
    parts = []
    while count:
        part = os.read(0, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _has_ended(pid: int) -> bool:
    """Return whether a child has ended, without waiting for it."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_all(child: int) -> bool:
    """End a child and, on Linux, all processes that came from it; return whether all have ended.

    Those whose parents have ended are children of this process.
    """
    until = time.monotonic() + _ENDING_SECONDS
    while time.monotonic() < until:
        for pid in {child, *_children()}:
            # A child that has ended keeps its pid until it is waited for.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        time.sleep(0.001)
    return False


def _children() -> list[int]:
    try:
        return list(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))
    except OSError:
        return []


def main(seconds: float = SECONDS) -> int:
    """Handle requests until standard input ends. `seconds`: those that a program may run."""
    answers = os.dup(sys.stdout.fileno())
    # Other output must not end up between the responses.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    base = os.environ.get(confinement.FOLDER)
    if confinement.version():
        confinement.readable()  # asks for the folder of Java, once
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    stopped: list[bool] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, lambda *_: stopped.append(True))
    _send(answers, frames.encode({"answer": {}}))
    # Many programs import it, which takes longer than everything else in a reading.
    importlib.import_module("pyspark.sql.functions")
    gc.collect()
    gc.freeze()
    while True:
        child = Child(base)
        if not child.wait():
            child.end()
            return 0
        stopped.clear()
        try:
            frame = child.response(stopped, seconds)
        except MillraceError as error:
            frame = bytearray(frames.encode({"answer": {"error": error.as_dict()}}))
        if not child.end():
            frame = bytearray(frames.encode({"exceeded": "process"}))
        _send(answers, frame)
        # Later children could otherwise find it in their memory.
        frame[:] = bytes(len(frame))


def _send(output: int, frame: bytes | bytearray) -> None:
    left = memoryview(frame)
    while left:
        left = left[os.write(output, left) :]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the parent process has ended
        os._exit(0)
