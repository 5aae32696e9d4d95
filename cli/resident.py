"""Lets a resident process, whose Spark session is warm, run a command: the side of the caller.

The caller runs programs itself and passes their documents, its folder and its standard output and
standard error, so that the output is that of a cold call. Without a resident process, or if it is
busy, the command runs cold, in the caller. `MILLRACE_RESIDENT=0` turns this off; so does CI.
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
from typing import TypedDict

from millrace_model.documents import TopologyDocument
from millrace_runtime.job.outside import Lines

from cli.programs import is_program, programs
from launcher import residents

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


class Programs(TypedDict):
    """Documents of programs, the places of their nodes and their code at its lines, by path."""

    documents: dict[str, TopologyDocument]
    places: dict[str, dict[str, str]]
    lines: dict[str, Lines]


class Request(Programs):
    """A command for a resident process: of this folder, and the encodings of its output."""

    argv: list[str]
    folder: str
    encoding: list[str]


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
    request: Request = {
        "argv": list(argv),
        "folder": str(Path.cwd()),
        "encoding": [sys.stdout.encoding, sys.stderr.encoding],
        **_programs(arguments),
    }
    base = place / key()
    with base.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another command uses it
            return None
        connection = residents.connect(base.with_suffix(".sock")) or _started(base)
        if connection is None:
            return None
        with connection:
            return _answer(connection, request)


def _runs_long(arguments: argparse.Namespace) -> bool:
    """Return whether a command runs many scenarios, or several releases of Kafka Streams."""
    return arguments.command == "verify" and not (arguments.document and not arguments.kafka)


def _programs(arguments: argparse.Namespace) -> Programs:
    """Return the documents of programs, which run in this process."""
    paths = [str(getattr(arguments, name)) for name in DOCUMENTS[arguments.command]]
    for path in paths:
        if is_program(path):
            programs.read(path)
    return {
        "documents": programs.documents, "places": programs.places, "lines": programs.lines,
    }  # fmt: skip


def key() -> str:
    """Return a name for processes with the same code, settings and folder as this one."""
    digest = hashlib.sha256(f"{sys.executable} {Path.cwd()}".encode())
    for name, value in sorted(os.environ.items()):
        if name.startswith(_SEEN) and name not in _EACH_CALL:
            digest.update(f"{name}={value}\n".encode())
    for file in _code():
        found = file.stat()
        digest.update(f"{file} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _code() -> list[Path]:
    """Return the files of the code that a resident process has loaded."""
    runtime, compiler = _package("millrace_runtime"), _package("millrace_compiler")
    own = Path(__file__).parent
    rooms = [own, own.with_name("oracle"), Path(residents.__file__).parent, runtime, compiler]
    rooms += [_package("millrace_model"), _package("millrace_services")]
    rooms.append(runtime.parent / "scala")
    return sorted(
        file for room in rooms for kind in ("*.py", "*.scala", "*.jar") for file in room.rglob(kind)
    )


def _package(name: str) -> Path:
    """Return the folder of a package without importing it."""
    found = find_spec(name)
    return Path(str(found.origin if found else "")).parent


def _started(base: Path) -> socket.socket | None:
    """Start a resident process and return a connection to it; None if it does not start."""
    residents.stop(filter(_idle, residents.living()))  # of other versions and folders
    with base.with_suffix(".log").open("wb") as log:
        os.fchmod(log.fileno(), 0o600)
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.residing", str(base)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
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
    """Send a request with this process's output, and return the exit code."""
    sys.stdout.flush()
    sys.stderr.flush()
    text = json.dumps(request).encode()
    try:
        head = len(text).to_bytes(8, "big")
        socket.send_fds(connection, [head], [sys.stdout.fileno(), sys.stderr.fileno()])
        connection.sendall(text)
        answer = connection.recv(1)
    except OSError:
        return None
    if not answer:
        # Its Java or its process was killed, perhaps after a part of the output.
        print("The resident process ended unexpectedly; try again.", file=sys.stderr)
        return 1
    return answer[0]
