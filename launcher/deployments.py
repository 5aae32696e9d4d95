"""Commands of the backend, from ``deploy`` to ``installation`` and ``sign-in``."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from millrace_runtime.errors import MillraceError

from launcher import control, places, residents
from launcher.ports import HOST

#: folders of the code that a resident process has loaded
_ROOMS = ("backend", "compiler", "launcher", "runtime", "workers")
#: how the names of variables begin that the backend reads when it is loaded
_SETTINGS = ("DATABASE_URL", "REDIS_URL", "KAFKA_", "DJANGO_", "SMTP_", "SSL_", "AWS_", "TZ")


class Request(residents.Caller):
    """A command for a resident process."""

    #: its name, then its options
    arguments: list[str]


def main(arguments: list[str]) -> int:
    """Run the backend's command, which declares the options, and return its exit code."""
    os.environ.update({**environment(), **os.environ})
    asked = _asked(arguments)
    return run_here(arguments) if asked is None else asked


def _asked(arguments: list[str]) -> int | None:
    """Run the command in the resident process; None to run it here."""
    place = residents.folder() if residents.enabled() else None
    if place is None:
        return None
    rooms = [places.REPOSITORY / each for each in _ROOMS]
    base = place / f"{residents.BACKEND}{residents.key(rooms, seen=_SETTINGS)}"
    connection = residents.connect(base.with_suffix(".sock")) or _started(base)
    if connection is None:
        return None
    with connection:
        request: Request = {**residents.caller(), "arguments": arguments}
        return residents.call(connection, request)


def _started(base: Path) -> socket.socket | None:
    """Start a resident process, which other ones make room for."""
    with base.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection = residents.connect(base.with_suffix(".sock"))
        if connection is not None:  # another command has started it
            return connection
        for other in residents.living():
            if other.of_backend:  # it ends after the commands that it runs
                with suppress(ProcessLookupError):
                    os.kill(other.pid, signal.SIGTERM)
        process = residents.start(base, "launcher.residing", str(base))
        return residents.started(base, process, "the backend")


def run_here(arguments: list[str]) -> int:
    """Run the command in this process, with the backend's settings in its environment."""
    command = f"millrace_{arguments[0].replace('-', '_')}"
    with tempfile.TemporaryDirectory(prefix="millrace-program-") as scratch:
        try:
            given = _documents(arguments[1:], Path(scratch))
        except MillraceError as error:
            print(f"millrace: {error.message}", file=sys.stderr)
            return 1
        from django.core.management import execute_from_command_line

        try:
            execute_from_command_line([str(places.MANAGE), command, *given])
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        return 0


def _documents(arguments: list[str], scratch: Path) -> list[str]:
    """Return the arguments with a document in place of a program: `--document job.py`.

    The command gets the program's name and the lines of its nodes as well: `--program FILE`.

    Raises MillraceError with file and line for a program that fails.
    """
    found = list(arguments)
    for place, argument in enumerate(arguments):
        option, _, path = argument.rpartition("=")
        separate = place > 0 and arguments[place - 1] == "--document"
        if separate:
            option, path = "", argument
        is_program = path.endswith(".py") or (bool(path) and Path(path).is_dir())
        if is_program and (separate or option == "--document"):
            from millrace_runtime.program import checked_document, load_program

            with contextlib.redirect_stdout(sys.stderr):
                topology = load_program(path)
                document = checked_document(topology)
            written = scratch / "document.json"
            written.write_text(json.dumps(document), encoding="utf-8")
            found[place] = f"{option}={written}" if option else str(written)
            places_ = {node: line for node, line in topology.places.items() if node is not None}
            program = scratch / "program.json"
            program.write_text(json.dumps({"name": Path(path).name, "places": places_}), "utf-8")
            found += ["--program", str(program)]
    return found


def environment() -> dict[str, str]:
    """Return settings with the addresses of this system's services, if it has been started."""
    found = {
        "MILLRACE_DATA": str(places.data()),
        "DJANGO_SETTINGS_MODULE": "millrace_backend.settings",
        "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH),
    }
    with suppress(OSError, ValueError):
        ports = json.loads((places.run() / "ports.json").read_text(encoding="utf-8"))
        password = (places.run() / "redis-password").read_text(encoding="utf-8").strip()
        found["REDIS_URL"] = f"redis://:{password}@{HOST}:{ports['redis']}/0"
        found["KAFKA_BOOTSTRAP_SERVERS"] = f"{HOST}:{ports['broker']}"
        found["MILLRACE_ANALYZER"] = str(places.socket("analyzer"))
        found["MILLRACE_STORE_READER"] = str(places.socket("store-reader"))
    # Links lead to the port that `up` was started with.
    address = control.read_state().get("address")
    if address:
        found["MILLRACE_PUBLIC_URL"] = address
    return found
