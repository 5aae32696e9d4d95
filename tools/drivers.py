"""Drivers of deployments: detached from their workers, listed as files, ended with the launcher.

Workers write <data>/run/drivers/<deployment>.json: {"pid", "started" (epoch seconds), "group"}.
"""

from __future__ import annotations

import json
from pathlib import Path

from tools import processes

STOP_SECONDS = 10.0


def living(folder: Path) -> list[int]:
    """The process groups of the drivers that run; a pid that was given away again is no driver."""
    groups = []
    for note in sorted(folder.glob("*.json")):
        try:
            content = json.loads(note.read_text(encoding="utf-8"))
            pid, started, group = content["pid"], content["started"], content["group"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if processes.is_alive(int(pid), float(started)):
            groups.append(int(group))
    return groups


def stop(folder: Path) -> int:
    """Stop all drivers together, gracefully first; returns how many there were."""
    groups = living(folder)
    processes.stop_groups(groups, STOP_SECONDS)
    return len(groups)
