"""`python -m cli.residing BASE`: the resident process, which runs commands in its Spark session.

It listens at BASE.sock, one command at a time, and ends after some idle minutes, with SIGTERM, or
if its caller goes away in the middle of a command: nothing of an interrupted command goes on.
"""

from __future__ import annotations

import contextlib
import io
import json
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
from cli.resident import MOST_BYTES, Request
from cli.simulating import Warm
from launcher import processes, residents

#: default of MILLRACE_RESIDENT_MINUTES
IDLE_MINUTES = 10.0


def main(base: Path) -> int:
    """Serve commands until the process has been idle for long enough."""
    preloaded = Preloaded()
    listening = base.with_suffix(".sock")
    notes = base.with_suffix(".json")
    signal.signal(signal.SIGTERM, lambda *_: _leave(base))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["MILLRACE_RESIDENT"] = "0"
    # It keeps the session open, and the other instances use its analyzer.
    kept.analyzer = Warm().analyzer
    oracle.kept.resident = True
    listening.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    server.bind(str(listening))
    os.umask(before)
    notes.write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
    server.listen(4)
    server.settimeout(float(os.environ.get("MILLRACE_RESIDENT_MINUTES") or IDLE_MINUTES) * 60)
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
    for suffix in (".sock", ".json", ".lock", ".log"):
        base.with_suffix(suffix).unlink(missing_ok=True)
    if oracle.kept.oracle is not None:  # it has temporary folders
        with contextlib.suppress(Exception):
            oracle.kept.oracle.close()
    processes.kill_children()
    os._exit(0)


def _serve(base: Path, connection: socket.socket, preloaded: Preloaded) -> None:
    """Run one command. A caller that only looks whether somebody listens sends nothing."""
    head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
    try:
        if len(head) < 8 or len(descriptors) != 3:
            return
        request = _request(connection, int.from_bytes(head, "big"))
        if request is None:
            return
        ended = threading.Event()
        threading.Thread(target=_watch, args=(base, connection, ended), daemon=True).start()
        with _standing_in(request, descriptors[1:]):
            code = _code(request, descriptors, preloaded)
        ended.set()
        connection.sendall(bytes([code & 0xFF]))
    finally:
        for each in descriptors:
            os.close(each)


def _request(connection: socket.socket, size: int) -> Request | None:
    if size > MOST_BYTES:
        return None
    received = b""
    while len(received) < size:
        part = connection.recv(min(1 << 16, size - len(received)))
        if not part:
            return None
        received += part
    found: Request = json.loads(received)
    return found


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
    sys.exit(main(Path(sys.argv[1])))
