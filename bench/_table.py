"""Figures as a table: name, seconds of wall-clock time, seconds of CPU time, limit."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Row:
    """One measurement, in seconds."""

    name: str
    wall: float
    processor: float
    limit: float | None = None


def show(rows: Iterable[Row]) -> None:
    """Print the table and the machine's load, which affects wall-clock times."""
    print(f"{'':44}{'wall s':>9}{'cpu s':>9}{'limit s':>9}")
    for row in rows:
        limit = "" if row.limit is None else f"{row.limit:9.2f}"
        print(f"{row.name:44}{row.wall:9.3f}{row.processor:9.3f}{limit}")
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


def processor_seconds(*processes: psutil.Process) -> float:
    """Return the CPU seconds that processes and their descendants have used so far.

    Those of descendants that have ended count once their parent has noticed.
    """
    used = 0.0
    for each in {each for root in processes for each in (root, *root.children(recursive=True))}:
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        used += times.user + times.system + times.children_user + times.children_system
    return used
