"""Resident processes: each keeps a Spark session, so that the next command on a document is fast.

A command starts one when it needs Spark (`cli.resident`); it ends after some idle minutes, with
`./millrace down`, and when another version of the code starts one. Its socket is in a folder that
only its owner can open. Uses only the standard library.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: seconds to wait for a process that ends
END_SECONDS = 10.0


@dataclass(frozen=True)
class Resident:
    """A resident process: its socket and its process id."""

    socket: Path
    pid: int


def folder() -> Path | None:
    """Return the private folder of this user's sockets; None if it is not private.

    The folder is created if necessary. Sockets have short names, because their paths are limited.
    """
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    path = Path(base) / f"millrace-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError:
        return None
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return path if mine and stat.S_IMODE(found.st_mode) == 0o700 else None


def living() -> list[Resident]:
    """Return the resident processes of this user; files of processes that ended are deleted."""
    place = folder()
    found = []
    for path in sorted(place.glob("*.json")) if place else []:
        with suppress(OSError, ValueError, KeyError):
            notes = json.loads(path.read_text(encoding="utf-8"))
            resident = Resident(path.with_suffix(".sock"), int(notes["pid"]))
            if connected(resident.socket):
                found.append(resident)
            elif not _exists(resident.pid):
                path.unlink()
                resident.socket.unlink(missing_ok=True)
    return found


def connected(path: Path) -> bool:
    """Return whether a process of this user listens at a socket."""
    connection = connect(path)
    if connection is None:
        return False
    connection.close()
    return True


def connect(path: Path) -> socket.socket | None:
    """Return a connection to a process of this user, or None."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        return None
    if peer(connection) not in (None, os.getuid()):
        connection.close()
        return None
    return connection


def peer(connection: socket.socket) -> int | None:
    """Return the user at the other end; None where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return None
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    return int(user)


def stop(residents: Iterable[Resident]) -> None:
    """End resident processes, and wait for them."""
    ending = list(residents)
    for each in ending:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each.pid, signal.SIGTERM)
    deadline = time.monotonic() + END_SECONDS
    while any(_exists(each.pid) for each in ending) and time.monotonic() < deadline:
        time.sleep(0.05)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
