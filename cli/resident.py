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
import socket
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

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


class Request(residents.Caller):
    """A command for a resident process, with what it sees of the caller's process."""

    argv: list[str]
    #: the documents of programs that the caller has run, else the paths of those to run
    programs: Programs
    run: list[str]


def ask(arguments: argparse.Namespace, argv: Sequence[str]) -> int | None:
    """Run a command in the resident process and return its exit code; None to run it cold.

    Raises MillraceError for a program that fails.
    """
    if arguments.command not in DOCUMENTS or not residents.enabled() or _runs_long(arguments):
        return None
    place = residents.folder()
    if place is None:
        return None
    paths = [str(getattr(arguments, name)) for name in DOCUMENTS[arguments.command]]
    request: Request = {
        **residents.caller(),
        "argv": list(argv),
        "programs": {"documents": {}, "places": {}, "lines": {}},
        "run": [path for path in paths if is_program(path)],
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
            return residents.call(connection, request)


def _runs_long(arguments: argparse.Namespace) -> bool:
    """Return whether a command runs many scenarios, or several releases of Kafka Streams."""
    return arguments.command == "verify" and not (arguments.document and not arguments.kafka)


def key() -> str:
    """Return a name for processes with the same code, settings and folder as this one."""
    runtime, own = _package("millrace_runtime"), Path(__file__).parent
    folders = [own, own.with_name("oracle"), Path(residents.__file__).parent, runtime]
    folders += [_package(f"millrace_{each}") for each in ("compiler", "model", "services")]
    return residents.key([*folders, runtime.parent / "scala"], str(Path.cwd()))


def _package(name: str) -> Path:
    """Return the folder of a package without importing it."""
    found = find_spec(name)
    return Path(str(found.origin if found else "")).parent


def _started(base: Path, request: Request) -> socket.socket | None:
    """Start a resident process and return a connection to it; None if it does not start.

    Programs run here meanwhile. Raises MillraceError for one that fails.
    """
    others = (each for each in residents.living() if not each.of_backend)
    residents.stop(filter(_idle, others))  # of other versions and folders
    process = residents.start(base, "cli.residing", str(base), request["argv"][0])
    for path in request["run"]:
        programs.read(path)
    request["run"], request["programs"] = [], programs.all()
    return residents.started(base, process, "Spark")


def _idle(other: residents.Resident) -> bool:
    """Return whether no command uses another resident process."""
    try:
        with other.socket.with_suffix(".lock").open("a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
