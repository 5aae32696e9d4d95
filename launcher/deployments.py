"""Commands of the backend: ``deploy``, ``scale``, ``shadow``, ``old-state``, ``installation``."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from millrace_runtime.errors import MillraceError

from launcher import places
from launcher.console import Problem
from launcher.ports import HOST


def main(arguments: list[str]) -> int:
    """Run the backend's command, which declares the options, and return its exit code."""
    command = f"millrace_{arguments[0].replace('-', '_')}"
    with tempfile.TemporaryDirectory(prefix="millrace-program-") as scratch:
        try:
            given = _documents(arguments[1:], Path(scratch))
        except MillraceError as error:
            raise Problem(error.message) from None
        return subprocess.run(
            [sys.executable, str(places.MANAGE), command, *given],
            env={**environment(), **os.environ},
            check=False,
        ).returncode


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
    return found
