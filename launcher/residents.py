"""Resident processes: each keeps what commands load, so that the next one is fast.

One kind keeps a Spark session for commands on documents (`cli.resident`), the other one the backend
for commands on deployments (`launcher.residing`). A command starts one; it ends after some idle
minutes, with `./millrace down`, and when another version of the code starts one. The caller passes
its folder, environment and standard streams, so that the output is that of a cold call. Sockets are
in a folder that only their owner can open. Uses only the standard library.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any, TypedDict

#: seconds to wait for a process that ends, whose Java may write an archive of its classes
END_SECONDS = 60.0
#: seconds to wait for one that starts
STARTING_SECONDS = 120.0
#: seconds after which the caller is told what it waits for
TOLD_SECONDS = 1.0
#: default of MILLRACE_RESIDENT_MINUTES
IDLE_MINUTES = 10.0
#: largest request
MOST_BYTES = 64 << 20
#: how the names of sockets of those with the backend begin
BACKEND = "backend-"
#: variables whose value a process of another command must not keep
_SECRET = ("PASSWORD", "SECRET", "TOKEN", "SASL", "CREDENTIAL", "KAFKA_CONFIG")
#: variables that change what a command does; a resident process has those of its start
_SEEN = ("MILLRACE_", "SPARK_", "JAVA_", "PYTHON", "LC_", "HTTP", "http")
_EACH_CALL = {"MILLRACE_CALLED_FROM", "MILLRACE_RESIDENT", "MILLRACE_SERVER", "MILLRACE_TOKEN"}


class Caller(TypedDict):
    """What a resident process sees of the process that calls it."""

    folder: str
    #: of standard output and standard error
    encoding: list[str]
    environment: dict[str, str]
    #: Python's path, and the words of the command line
    imports: list[str]
    words: list[str]


@dataclass(frozen=True)
class Resident:
    """A resident process: its socket and its process id."""

    socket: Path
    pid: int

    @property
    def of_backend(self) -> bool:
        """Whether it keeps the backend instead of a Spark session."""
        return self.socket.name.startswith(BACKEND)


def enabled() -> bool:
    """Return whether this call may use a resident process."""
    chosen = os.environ.get("MILLRACE_RESIDENT")
    if chosen is not None:
        return chosen not in ("", "0", "false", "no")
    if os.environ.get("CI"):
        return False
    return not any(
        value and name.startswith("MILLRACE_") and any(word in name.upper() for word in _SECRET)
        for name, value in os.environ.items()
        if name not in _EACH_CALL
    )


def key(folders: Iterable[Path], *more: str, seen: tuple[str, ...] = ()) -> str:
    """Return a name for processes with the same code and settings as this one.

    `folders`: of the code. `seen`: how the names of further variables begin that matter.
    """
    digest = hashlib.sha256(" ".join([sys.executable, *more]).encode())
    for name, value in sorted(os.environ.items()):
        if name.startswith(_SEEN + seen) and name not in _EACH_CALL:
            digest.update(f"{name}={value}\n".encode())
    for file in _code(folders):
        found = os.stat(file)  # noqa: PTH116 - half the time of a Path for each of 900 files
        digest.update(f"{file} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _code(folders: Iterable[Path]) -> list[str]:
    """Return the files of the code that a resident process has loaded."""
    return sorted(
        f"{folder}/{name}"
        for room in folders
        for folder, _, names in os.walk(room)
        for name in names
        if name.endswith((".py", ".scala", ".jar"))
    )


def folder() -> Path | None:
    """Return the private folder of this user's sockets; None if it is not private.

    The folder is created if necessary. Sockets have short names, because their paths are limited.
    """
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    path = Path(base) / f"millrace-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError:
        return None
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return path if mine and stat.S_IMODE(found.st_mode) == 0o700 else None


def living() -> list[Resident]:
    """Return the resident processes of this user; files of processes that ended are deleted."""
    place = folder()
    found = []
    for path in sorted(place.glob("*.json")) if place else []:
        with suppress(OSError, ValueError, KeyError):
            notes = json.loads(path.read_text(encoding="utf-8"))
            resident = Resident(path.with_suffix(".sock"), int(notes["pid"]))
            if connected(resident.socket):
                found.append(resident)
            elif not _exists(resident.pid):
                path.unlink()
                resident.socket.unlink(missing_ok=True)
    return found


def connected(path: Path) -> bool:
    """Return whether a process of this user listens at a socket."""
    connection = connect(path)
    if connection is None:
        return False
    connection.close()
    return True


def connect(path: Path) -> socket.socket | None:
    """Return a connection to a process of this user, or None."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        return None
    if peer(connection) not in (None, os.getuid()):
        connection.close()
        return None
    return connection


def peer(connection: socket.socket) -> int | None:
    """Return the user at the other end; None where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return None
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    return int(user)


def start(base: Path, *command: str) -> Popen[bytes]:
    """Start a process that will listen at `base`.sock; its output goes to a log beside it."""
    environment = {name: os.environ[name] for name in os.environ if name != "MILLRACE_TOKEN"}
    with base.with_suffix(".log").open("wb") as log:
        os.fchmod(log.fileno(), 0o600)
        return Popen(
            [sys.executable, "-m", *command],
            stdin=DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment,
        )  # fmt: skip


def started(base: Path, process: Popen[bytes], loads: str) -> socket.socket | None:
    """Return a connection to a process that starts; None if it does not start.

    After a second, a terminal is told what the command waits for: `loads`, such as "Spark".
    """
    began, told = time.monotonic(), not sys.stderr.isatty()
    while time.monotonic() < began + STARTING_SECONDS and process.poll() is None:
        connection = connect(base.with_suffix(".sock"))
        if connection is not None:
            return connection
        if not told and time.monotonic() > began + TOLD_SECONDS:
            told = True
            print(f"Loading {loads}; the next call finds it loaded …", file=sys.stderr)
        time.sleep(0.02)
    if process.poll() is None:
        process.terminate()
    return None


def listen(base: Path) -> socket.socket:
    """Listen at `base`.sock, and note this process; accepting ends after the idle minutes."""
    listening = base.with_suffix(".sock")
    listening.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    server.bind(str(listening))
    os.umask(before)
    base.with_suffix(".json").write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
    server.listen(4)
    server.settimeout(float(os.environ.get("MILLRACE_RESIDENT_MINUTES") or IDLE_MINUTES) * 60)
    return server


def forget(base: Path) -> None:
    """Delete the files of this process, which ends.

    If its caller was killed while it started, another process may have taken its place.
    """
    with suppress(OSError, ValueError, KeyError):
        if json.loads(base.with_suffix(".json").read_text(encoding="utf-8"))["pid"] != os.getpid():
            return
    for suffix in (".sock", ".json", ".lock", ".log"):
        base.with_suffix(suffix).unlink(missing_ok=True)


def caller() -> Caller:
    """Return what a resident process sees of this process."""
    return {
        "folder": str(Path.cwd()),
        "encoding": [sys.stdout.encoding, sys.stderr.encoding],
        "environment": dict(os.environ),
        "imports": sys.path,
        "words": sys.argv,
    }


def call(connection: socket.socket, request: Caller) -> int | None:
    """Send a request with this process's standard streams, and return the exit code.

    None if the process has ended before it got the request.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    text = json.dumps(request).encode()
    streams = [_input(), sys.stdout.fileno(), sys.stderr.fileno()]
    try:
        socket.send_fds(connection, [len(text).to_bytes(8, "big")], streams)
        connection.sendall(text)
        answer = connection.recv(1)
    except OSError:
        return None
    if not answer:
        # Its Java or its process was killed, perhaps after a part of the output.
        print("The resident process ended unexpectedly; try again.", file=sys.stderr)
        return 1
    return answer[0]


def _input() -> int:
    """Return the descriptor of standard input, or one without content if that is closed."""
    try:
        os.fstat(0)
    except OSError:
        return os.open(os.devnull, os.O_RDONLY)
    return 0


def received(connection: socket.socket) -> tuple[Any, list[int]] | None:
    """Return a request and the caller's standard streams, which are closed by who gets them.

    None from a caller that only looks whether somebody listens.
    """
    head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
    size = int.from_bytes(head, "big")
    try:
        if len(head) == 8 and len(descriptors) == 3 and size <= MOST_BYTES:
            return json.loads(exactly(connection, size)), descriptors
    except OSError:
        pass
    for each in descriptors:
        os.close(each)
    return None


def exactly(connection: socket.socket, size: int) -> bytes:
    """Return the next bytes. Raises OSError if the other end closes the connection before."""
    found = b""
    while len(found) < size:
        part = connection.recv(min(1 << 20, size - len(found)))
        if not part:
            raise OSError("the connection was closed")
        found += part
    return found


def become(caller: Caller, descriptors: list[int]) -> None:
    """Give this process, a fork, the folder, environment and standard streams of a caller."""
    for number, each in enumerate(descriptors):
        os.dup2(each, number)
    os.chdir(caller["folder"])
    os.environ.clear()
    os.environ.update(caller["environment"])
    sys.path[:], sys.argv[:] = caller["imports"], caller["words"]
    out, errors = caller["encoding"]
    sys.stdin = os.fdopen(0, "r", encoding=out, closefd=False)
    sys.stdout = os.fdopen(1, "w", 1, out, closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors, "backslashreplace", closefd=False)


def stop(residents: Iterable[Resident]) -> None:
    """End resident processes, and wait for them."""
    ending = list(residents)
    for each in ending:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each.pid, signal.SIGTERM)
    deadline = time.monotonic() + END_SECONDS
    while any(_exists(each.pid) for each in ending) and time.monotonic() < deadline:
        time.sleep(0.05)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
