"""Drivers of deployments: detached from their workers, listed in files, stopped by the launcher.

Workers write <data>/run/drivers/<deployment>.json: {"pid", "born", "group"}, and host-<name>.json
for the parent of drivers that share a JVM (`millrace_workers.launchers.host`).
"""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from millrace_workers.launchers import shim

from launcher import processes

#: a driver finishes its micro-batch first; a killed one is only repeated
STOP_SECONDS = 15.0


@dataclass(frozen=True)
class Driver:
    """A driver, identified by its pid, its start time (``shim.born``) and its process group."""

    pid: int
    born: str
    group: int

    def lives(self) -> bool:
        """Return whether it is running; another process with a reused pid does not count."""
        return shim.born(self.pid) == self.born


def living(folder: Path, *, hosts: bool = True) -> list[Driver]:
    """Return the running drivers, and with `hosts` the parents of those that share a JVM."""
    found = []
    for note in sorted(folder.glob("*.json")):
        if not hosts and note.name.startswith("host-"):
            continue
        with suppress(OSError, ValueError, KeyError, TypeError):
            content = json.loads(note.read_text(encoding="utf-8"))
            driver = Driver(int(content["pid"]), str(content["born"]), int(content["group"]))
            if driver.lives():
                found.append(driver)
    return found


def stop(folder: Path) -> int:
    """Stop all drivers together, gracefully first; return their number."""
    drivers = living(folder)
    for driver in drivers:
        # Only the driver gets the signal: it stops its query and then its JVM, in this order.
        with suppress(ProcessLookupError):
            os.kill(driver.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while time.monotonic() < deadline and any(driver.lives() for driver in drivers):
        time.sleep(0.1)
    for driver in drivers:
        processes.signal_group(driver.group, signal.SIGKILL)
    return len(drivers)
