"""Parent of one driver: starts it, waits for it, writes down how it ended.

Runs detached from the worker: neither the worker's end nor its restart touches the driver.
Usage: ``python shim.py DIRECTORY LOG -- COMMAND...``. Writes ``process.json`` and ``exit.json``
into DIRECTORY. Standard library only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def write(path: Path, content: dict[str, object]) -> None:
    """Write JSON so that a reader sees all of it or nothing."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(path)


def main(arguments: list[str]) -> int:
    """Start the driver and wait for its end."""
    directory, log_path, command = Path(arguments[0]), Path(arguments[1]), arguments[3:]
    # The group is told to stop as a whole; the shim itself stays to note the exit code.
    for quiet in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(quiet, lambda _signal, _frame: None)
    with log_path.open("ab") as log:
        driver = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    write(directory / "process.json", {"pid": driver.pid, "group": os.getpgrp()})
    code = driver.wait()
    write(directory / "exit.json", {"pid": driver.pid, "exit_code": code, "at": time.time()})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
