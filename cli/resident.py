"""Lets a resident process, whose Spark session is warm, run a command: the side of the caller.

The caller passes its folder, environment and standard streams, so that the output is that of a cold
call, and imports as little as possible. A program runs in a fork that has loaded what programs
import (`cli.preloaded`), or in the caller while the resident process starts. Without a resident
process, or if it is busy, the command runs cold, in the caller. `MILLRACE_RESIDENT=0` turns this
off; so does CI.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from cli.programs import is_program, programs
from launcher import residents

if TYPE_CHECKING:  # this process asks another one: it imports as little as possible
    from cli.programs import Programs

#: commands that a resident process runs; the attributes are paths of documents or programs
DOCUMENTS: dict[str, tuple[str, ...]] = {
    "compare-results": ("old", "new"),
    "compare-state": ("old", "new"),
    "compile": ("document",),
    "describe": ("document",),
    "differ": ("old", "new"),
    "simulate": ("document",),
    "test-topology": ("document",),
    "verify": ("document",),
}
#: variables whose value a process of another command must not keep
_SECRET = ("PASSWORD", "SECRET", "TOKEN", "SASL", "CREDENTIAL", "KAFKA_CONFIG")
#: variables that change what a command does; a resident process has those of its start
_SEEN = ("MILLRACE_", "SPARK_", "JAVA_", "PYTHON", "LC_", "HTTP", "http")
_EACH_CALL = {"MILLRACE_CALLED_FROM", "MILLRACE_RESIDENT"}
STARTING_SECONDS = 120.0
MOST_BYTES = 64 << 20


class Request(TypedDict):
    """A command for a resident process, with what it sees of the caller's process."""

    argv: list[str]
    folder: str
    #: of standard output and standard error
    encoding: list[str]
    #: the documents of programs that the caller has run, else the paths of those to run
    programs: Programs
    run: list[str]
    environment: dict[str, str]
    #: Python's path, and the words of the command line
    imports: list[str]
    words: list[str]


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
    )


def ask(arguments: argparse.Namespace, argv: Sequence[str]) -> int | None:
    """Run a command in the resident process and return its exit code; None to run it cold.

    Raises MillraceError for a program that fails.
    """
    if arguments.command not in DOCUMENTS or not enabled() or _runs_long(arguments):
        return None
    place = residents.folder()
    if place is None:
        return None
    paths = [str(getattr(arguments, name)) for name in DOCUMENTS[arguments.command]]
    request: Request = {
        "argv": list(argv),
        "folder": str(Path.cwd()),
        "encoding": [sys.stdout.encoding, sys.stderr.encoding],
        "programs": {"documents": {}, "places": {}, "lines": {}},
        "run": [path for path in paths if is_program(path)],
        "environment": dict(os.environ),
        "imports": sys.path,
        "words": sys.argv,
    }
    base = place / key()
    with base.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another command uses it
            return None
        connection = residents.connect(base.with_suffix(".sock")) or _started(base, request)
        if connection is None:
            return None
        with connection:
            return _answer(connection, request)


def _runs_long(arguments: argparse.Namespace) -> bool:
    """Return whether a command runs many scenarios, or several releases of Kafka Streams."""
    return arguments.command == "verify" and not (arguments.document and not arguments.kafka)


def key() -> str:
    """Return a name for processes with the same code, settings and folder as this one."""
    digest = hashlib.sha256(f"{sys.executable} {Path.cwd()}".encode())
    for name, value in sorted(os.environ.items()):
        if name.startswith(_SEEN) and name not in _EACH_CALL:
            digest.update(f"{name}={value}\n".encode())
    for file in _code():
        found = os.stat(file)  # noqa: PTH116 - half the time of a Path for each of 900 files
        digest.update(f"{file} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _code() -> list[str]:
    """Return the files of the code that a resident process has loaded."""
    runtime, compiler = _package("millrace_runtime"), _package("millrace_compiler")
    own = Path(__file__).parent
    rooms = [own, own.with_name("oracle"), Path(residents.__file__).parent, runtime, compiler]
    rooms += [_package("millrace_model"), _package("millrace_services")]
    rooms.append(runtime.parent / "scala")
    return sorted(
        f"{folder}/{name}"
        for room in rooms
        for folder, _, names in os.walk(room)
        for name in names
        if name.endswith((".py", ".scala", ".jar"))
    )


def _package(name: str) -> Path:
    """Return the folder of a package without importing it."""
    found = find_spec(name)
    return Path(str(found.origin if found else "")).parent


def _started(base: Path, request: Request) -> socket.socket | None:
    """Start a resident process and return a connection to it; None if it does not start.

    Programs run here meanwhile. Raises MillraceError for one that fails.
    """
    residents.stop(filter(_idle, residents.living()))  # of other versions and folders
    with base.with_suffix(".log").open("wb") as log:
        os.fchmod(log.fileno(), 0o600)
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.residing", str(base)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    for path in request["run"]:
        programs.read(path)
    request["run"], request["programs"] = [], programs.all()
    deadline = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        connection = residents.connect(base.with_suffix(".sock"))
        if connection is not None:
            return connection
        time.sleep(0.02)
    if process.poll() is None:
        process.terminate()
    return None


def _idle(other: residents.Resident) -> bool:
    """Return whether no command uses another resident process."""
    try:
        with other.socket.with_suffix(".lock").open("a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _answer(connection: socket.socket, request: Request) -> int | None:
    """Send a request with this process's standard streams, and return the exit code."""
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
