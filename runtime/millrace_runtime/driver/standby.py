"""A driver that is prepared beside the one that it replaces, and then takes over its checkpoint.

The worker passes a folder and, in MILLRACE_LOCK, the descriptor of an open lock file. The driver
creates the file `ready` in the folder, and waits for a file `go`. Then it takes the lock as soon as
it is free. Until it has the lock, it writes neither to the checkpoint nor to topics.
"""

from __future__ import annotations

import fcntl
import os
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from millrace_runtime.errors import MillraceError

LOCK = "MILLRACE_LOCK"
LOOK_SECONDS = 0.01
#: the driver ends if the file `wanted` was not touched for this long, and there is no `go`
FORGOTTEN_SECONDS = 120.0


class Standby:
    """Waits until the checkpoint is free."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        self._folder = folder
        self._descriptor = descriptor

    @classmethod
    def of(cls, folder: str | None, environment: Mapping[str, str]) -> Standby | None:
        """Return the standby of a job's options, or None for a job that begins at once.

        Raises MillraceError `option_missing` without an open lock file.
        """
        if folder is None:
            return None
        descriptor = environment.get(LOCK, "")
        if not descriptor.isdecimal():
            raise MillraceError(
                "option_missing",
                f"--standby needs the descriptor of a lock file in {LOCK}.",
                facts={"option": LOCK},
            )
        return cls(Path(folder), int(descriptor))

    def wait(self, stopping: threading.Event) -> bool:
        """Wait; return whether the checkpoint is this driver's now. If not, the driver must end."""
        (self._folder / "ready").touch()
        seen, since = self._wanted(), time.monotonic()
        while not stopping.is_set():
            if (self._folder / "go").exists():
                if self._take():
                    return True
            elif self._wanted() != seen:
                seen, since = self._wanted(), time.monotonic()
            elif time.monotonic() - since > FORGOTTEN_SECONDS:
                return False
            stopping.wait(LOOK_SECONDS)
        return False

    def _wanted(self) -> int:
        """Return a number that changes with each request. It is not a time: clocks may be set."""
        try:
            return (self._folder / "wanted").stat().st_mtime_ns
        except OSError:
            return 0

    def _take(self) -> bool:
        """Take the lock if it is free. It is held by this process and by the one that opened it."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        text = f"process {os.getpid()} on {socket.gethostname()}"
        os.truncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)
        return True
