"""The control file of a driver, which pauses or drains a running job."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, Literal

Wanted = Literal["run", "pause", "drain"]

LOOK_SECONDS = 0.2
HEARTBEAT_SECONDS = 5.0


def wanted(file: str | None) -> Wanted:
    """Return the word in the control file: `run` if there is no file, or for any other word."""
    if file is None:
        return "run"
    try:
        word = Path(file).read_text(encoding="utf-8").strip()
    except OSError:
        return "run"
    return word if word in ("pause", "drain") else "run"  # type: ignore[return-value]


def wait_while_paused(file: str | None, stopping: threading.Event, report: Any) -> None:
    """Return when the file no longer contains `pause`, or the job is stopped."""
    due = 0.0
    while wanted(file) == "pause" and not stopping.wait(LOOK_SECONDS):
        # Before the first query, no other report shows that the driver is alive.
        if time.monotonic() >= due:
            report.state("paused")
            due = time.monotonic() + HEARTBEAT_SECONDS
    if not stopping.is_set():
        report.state("starting")
