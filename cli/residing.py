"""`python -m cli.residing BASE COMMAND`: the resident process, which runs commands in its session.

It listens at BASE.sock, one command at a time, and ends after some idle minutes, with SIGTERM, or
if its caller goes away in the middle of a command: nothing of an interrupted command goes on.
COMMAND is the first one.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from millrace_runtime.errors import MillraceError

from cli import oracle
from cli.documents import kept
from cli.main import main as run
from cli.main import refused
from cli.preloaded import Ended, Preloaded
from cli.programs import programs
from cli.resident import Request
from cli.simulating import Warm
from launcher import processes, residents


def main(base: Path, command: str) -> int:
    """Serve commands until the process has been idle for long enough."""
    preloaded = Preloaded()
    signal.signal(signal.SIGTERM, lambda *_: _leave(base))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["MILLRACE_RESIDENT"] = "0"
    oracle.kept.resident = True
    if command == "verify":
        oracle.kept.start()
    # It keeps the session open, and the other instances use its analyzer.
    kept.analyzer = Warm().analyzer
    server = residents.listen(base)
    with contextlib.suppress(TimeoutError):
        while True:
            connection, _ = server.accept()
            with connection:
                if residents.peer(connection) in (None, os.getuid()):
                    _serve(base, connection, preloaded)
    _leave(base)
    return 0


def _leave(base: Path) -> None:
    """End this process and its Java."""
    residents.forget(base)
    if oracle.kept.oracle is not None:  # it has temporary folders
        with contextlib.suppress(Exception):
            oracle.kept.oracle.close()
    processes.kill_children()
    os._exit(0)


def _serve(base: Path, connection: socket.socket, preloaded: Preloaded) -> None:
    """Run one command."""
    found = residents.received(connection)
    if found is None:
        return
    request: Request
    request, descriptors = found
    try:
        ended = threading.Event()
        threading.Thread(target=_watch, args=(base, connection, ended), daemon=True).start()
        with _standing_in(request, descriptors[1:]):
            code = _code(request, descriptors, preloaded)
        ended.set()
        connection.sendall(bytes([code & 0xFF]))
    finally:
        for each in descriptors:
            os.close(each)


def _watch(base: Path, connection: socket.socket, ended: threading.Event) -> None:
    """End the process if the caller closes the connection before the command has ended."""
    with contextlib.suppress(OSError):
        if connection.recv(1, socket.MSG_PEEK):
            return
    if not ended.is_set():
        _leave(base)


def _code(request: Request, descriptors: list[int], preloaded: Preloaded) -> int:
    try:
        if request["run"]:
            programs.add(preloaded.read(request, descriptors))
        return run(request["argv"])
    except MillraceError as error:
        return refused(error)
    except Ended as end:
        return end.code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


@contextlib.contextmanager
def _standing_in(request: Request, descriptors: list[int]) -> Iterator[None]:
    """Give the command the caller's folder, output and programs."""
    before = sys.stdout, sys.stderr
    streams = []
    for descriptor, encoding, errors in zip(
        descriptors, request["encoding"], ("strict", "backslashreplace"), strict=True
    ):
        raw = os.fdopen(os.dup(descriptor), "wb")
        streams.append(
            io.TextIOWrapper(raw, encoding, errors, line_buffering=os.isatty(descriptor))
        )
    os.chdir(request["folder"])
    programs.add(request["programs"])
    sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        programs.forget()
        for stream in streams:
            with contextlib.suppress(OSError):
                stream.close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
