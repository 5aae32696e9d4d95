"""Functions that start, find and stop processes, so that none is left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform.startswith("linux") else None


def end_with_parent() -> None:
    """Request SIGTERM when the parent dies (Linux). Runs in a child, before exec."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def signal_group(group: int, number: signal.Signals) -> bool:
    """Send a signal to a whole process group; False if there is none."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def group_members(groups: Iterable[int]) -> list[psutil.Process]:
    """Return the running processes of these groups."""
    wanted = set(groups)
    found = []
    for process in psutil.process_iter():
        with suppress(ProcessLookupError, PermissionError, psutil.Error):
            if os.getpgid(process.pid) in wanted and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def kill_children() -> None:
    """Kill all processes that this one has started, and their children."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()


def stop_groups(groups: Iterable[int], grace: float) -> None:
    """Send TERM to all groups together, then KILL to the rest after `grace` seconds."""
    wanted = [group for group in groups if signal_group(group, signal.SIGTERM)]
    deadline = time.monotonic() + grace
    while wanted and group_members(wanted) and time.monotonic() < deadline:
        time.sleep(0.1)
    for group in wanted:
        signal_group(group, signal.SIGKILL)
