"""One job at a time on a checkpoint that is no local folder, where no lock of files holds.

A lease is a file `owners/N`; the highest N owns the checkpoint, and N is the fencing number: of two
jobs only one can create a file. The owner renews its file every few seconds. A job that finds one
takes the next number when the file was released, or has not changed for `SECONDS` by its own
monotonic clock. No two clocks are compared. An owner that finds a higher number, or could not renew
for so long that another may have, ends its process at once; what it may still do until then cannot
commit a batch, since Spark's log has each batch once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from millrace_runtime import storage
from millrace_runtime.errors import MillraceError
from millrace_runtime.storage import StoredPath

#: an owner that has not renewed for so long has lost the checkpoint
SECONDS = 20.0
RENEW_SECONDS = 4.0
#: an owner that could not renew for so long ends; the rest is for those that end slowly
GIVE_UP_SECONDS = 14.0
#: old leases that are kept, for diagnosis
KEPT = 5


def taken(location: str, run: str, lost: Callable[[MillraceError], None]) -> Lease | None:
    """The lease of a job on its checkpoint, renewed from now on; None for a local folder.

    Waits until a lease that is not renewed has run out. `lost` must end the process.
    Raises MillraceError `checkpoint_in_use`.
    """
    folder = storage.folder_of(location)
    if not isinstance(folder, StoredPath):
        return None
    owners = folder / "owners"
    found = sorted(int(each.name) for each in owners.glob("*") if each.name.isdecimal())
    last = found[-1] if found else 0
    if last:
        _wait_for(owners / str(last), location)
    owner = f"{socket.gethostname()}, process {os.getpid()}, run {run}"
    lease = Lease(owners, last + 1, owner, lost)
    if not (owners / str(lease.number)).begin(lease.text()):
        raise _in_use(location, _read(owners / str(lease.number)))
    for number in found[:-KEPT]:
        (owners / str(number)).unlink(missing_ok=True)
    lease.keep()
    return lease


def _wait_for(file: StoredPath, location: str) -> None:
    first = _read(file)
    deadline = time.monotonic() + SECONDS
    while not first.get("released") and time.monotonic() < deadline:
        time.sleep(0.5)
        now = _read(file)
        if now != first and not now.get("released"):
            raise _in_use(location, now)
        first = now


def _read(file: StoredPath) -> dict[str, Any]:
    """A lease's file; nothing of one that its owner has not written.

    Not every file system creates or replaces a file so that it is whole all the time.
    """
    for _ in range(20):
        with contextlib.suppress(OSError, ValueError):
            return _parsed(file)
        time.sleep(0.1)
    try:
        return _parsed(file)
    except (FileNotFoundError, ValueError):
        return {}


def _parsed(file: StoredPath) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def _in_use(location: str, found: dict[str, Any]) -> MillraceError:
    owner = found.get("owner", "one that has just started")
    return MillraceError(
        "checkpoint_in_use",
        f"Another driver runs on the checkpoint {location}: {owner}.",
        facts={"holder": found.get("owner", "–")},
    )


@dataclasses.dataclass
class Lease:
    """A fencing number, and the thread that renews its file. `lost` is called when it is lost."""

    owners: StoredPath
    number: int
    owner: str
    lost: Callable[[MillraceError], None]
    _renewals: int = 0
    _stop: threading.Event = dataclasses.field(default_factory=threading.Event)
    _turn: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    #: when the last renewal that succeeded began
    _renewed: float = 0.0

    def text(self, *, released: bool = False) -> str:
        """The content of the lease's file; another one with each renewal."""
        return json.dumps(
            {"owner": self.owner, "renewals": self._renewals, "released": released}, indent=1
        )

    def keep(self) -> None:
        """Renew from now on, by a thread of its own; another one watches that it succeeds."""
        self._renewed = time.monotonic()
        for work in (self._renew, self._watch):
            threading.Thread(target=work, name="lease", daemon=True).start()

    def release(self) -> None:
        """Let another job begin at once. Nothing where the storage does not answer in time."""
        self._stop.set()
        work = threading.Thread(target=self._release, name="lease", daemon=True)
        work.start()
        work.join(RENEW_SECONDS)

    def _release(self) -> None:
        with self._turn:
            try:
                (self.owners / str(self.number)).write_text(self.text(released=True))
            except Exception as error:  # noqa: BLE001 - Spark's JVM may be gone
                _warn("released", error)

    def _renew(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            # A process that was stopped finds here that its time is over, before it asks anybody.
            if self._overdue():
                return
            with self._turn:
                if self._stop.is_set():
                    return
                begun = time.monotonic()
                try:
                    if (self.owners / str(self.number + 1)).is_file():
                        self._lose()
                        return
                    self._renewals += 1
                    (self.owners / str(self.number)).write_text(self.text())
                    self._renewed = begun
                except Exception as error:  # noqa: BLE001 - Spark's JVM may be gone
                    _warn("renewed", error)

    def _watch(self) -> None:
        """End in time although a request of the renewal has not returned."""
        while not self._stop.wait(min(1.0, RENEW_SECONDS)):
            if self._overdue():
                self._lose()

    def _overdue(self) -> bool:
        return time.monotonic() - self._renewed >= GIVE_UP_SECONDS

    def _lose(self) -> None:
        if not self._stop.is_set():
            self._stop.set()
            self.lost(
                MillraceError(
                    "checkpoint_lease_lost",
                    f"The lease {self.number} on the checkpoint {self.owners.parent} could not be "
                    "renewed in time: this process was stopped, the storage did not answer, or "
                    "another driver has taken over.",
                )
            )


def _warn(what: str, error: Exception) -> None:
    print(f"WARN the lease was not {what}: {error}", file=sys.stderr, flush=True)
