"""Leases on checkpoints outside of local folders, where file locks do not work: one job at a time.

A lease is a file `owners/N`. The highest N owns the checkpoint, and N is the fencing token: of two
jobs, only one can create a file. It is never replaced, since on some file systems a file that is
being replaced is missing for a moment. The owner renews its lease every few seconds, in a second
file, `owners/N.renewals`. A job that finds a lease takes the next number if it was released, or has
not changed for `SECONDS` by the job's own monotonic clock; clocks of two machines are never
compared. An owner that finds a higher number, or
could not renew for so long that another may have taken over, ends its process at once. Until then
it cannot commit a batch, since Spark's log has each batch once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import socket
import threading
import time
from collections.abc import Callable

from millrace_model.notes import LeaseNotes
from millrace_model.reading import read

from millrace_runtime.checkpoint import storage
from millrace_runtime.checkpoint.storage import StoredPath
from millrace_runtime.errors import MillraceError
from millrace_runtime.services import log

#: an owner that has not renewed for this long has lost the checkpoint
SECONDS = 20.0
RENEW_SECONDS = 4.0
#: how long the end of a job waits for the storage
RELEASE_SECONDS = 4.0
#: an owner that could not renew for this long ends; the rest is the time to do so
GIVE_UP_SECONDS = 14.0
#: number of old leases that are kept for diagnosis
KEPT = 5


def taken(location: str, run: str, lost: Callable[[MillraceError], None]) -> Lease | None:
    """Acquire the lease on a job's checkpoint, and keep renewing it; None for a local folder.

    Waits until a lease that is not renewed has expired. `lost` must end the process.
    Raises MillraceError `checkpoint_in_use`.
    """
    folder = storage.folder_of(location)
    if not isinstance(folder, StoredPath):
        return None
    owners = folder / "owners"
    found = sorted(int(each.name) for each in owners.glob("*") if each.name.isdecimal())
    last = found[-1] if found else 0
    if last:
        _wait_for(owners, last, location)
    owner = f"{socket.gethostname()}, process {os.getpid()}, run {run}"
    lease = Lease(owners, last + 1, owner, lost)
    if not (owners / str(lease.number)).begin(lease.text()):
        raise _in_use(location, _read(owners, lease.number))
    for number in found[:-KEPT]:
        _renewals(owners, number).unlink(missing_ok=True)
        (owners / str(number)).unlink(missing_ok=True)
    lease.keep()
    return lease


def _renewals(owners: StoredPath, number: int) -> StoredPath:
    return owners / f"{number}.renewals"


def _wait_for(owners: StoredPath, number: int, location: str) -> None:
    first = _read(owners, number)
    deadline = time.monotonic() + SECONDS
    while not first.get("released") and time.monotonic() < deadline:
        time.sleep(0.5)
        now = _read(owners, number)
        if now != first and not now.get("released"):
            raise _in_use(location, now)
        first = now


def _read(owners: StoredPath, number: int) -> LeaseNotes:
    """Return what the files of a lease say; empty if its owner has not written them.

    Retries, because not every file system creates files with their content.
    """
    for attempt in range(20):
        time.sleep(0.1 if attempt else 0.0)
        with contextlib.suppress(OSError, ValueError):
            return _parsed(owners, number)
    try:
        return _parsed(owners, number)
    except (FileNotFoundError, ValueError):
        return {}


def _parsed(owners: StoredPath, number: int) -> LeaseNotes:
    found = read(LeaseNotes, json.loads((owners / str(number)).read_text()))
    with contextlib.suppress(FileNotFoundError):
        found.update(read(LeaseNotes, json.loads(_renewals(owners, number).read_text())))
    return found


def _in_use(location: str, found: LeaseNotes) -> MillraceError:
    owner = found.get("owner", "one that has just started")
    return MillraceError(
        "checkpoint_in_use",
        f"Another driver runs on the checkpoint {location}: {owner}.",
        facts={"holder": found.get("owner", "–")},
    )


@dataclasses.dataclass
class Lease:
    """A fencing token, and the threads that renew it. `lost` is called when it is lost."""

    owners: StoredPath
    number: int
    owner: str
    lost: Callable[[MillraceError], None]
    _renewals: int = 0
    _stop: threading.Event = dataclasses.field(default_factory=threading.Event)
    _turn: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    #: when the last successful renewal began
    _renewed: float = 0.0

    def text(self, *, released: bool = False) -> str:
        """Return the content of the file of renewals, which changes with each of them."""
        return json.dumps(
            {"owner": self.owner, "renewals": self._renewals, "released": released}, indent=1
        )

    def keep(self) -> None:
        """Start a thread that renews the lease, and one that checks that renewals succeed."""
        self._renewed = time.monotonic()
        for work in (self._renew, self._watch):
            threading.Thread(target=work, name="lease", daemon=True).start()

    def release(self) -> None:
        """Let another job begin at once, or give up if the storage does not respond in time."""
        self._stop.set()
        work = threading.Thread(target=self._release, name="lease", daemon=True)
        work.start()
        work.join(RELEASE_SECONDS)

    def _release(self) -> None:
        with self._turn:
            try:
                _renewals(self.owners, self.number).write_text(self.text(released=True))
            except Exception as error:  # noqa: BLE001 - Spark's JVM may be gone
                _warn("released", error)

    def _renew(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            # A process that was suspended must not renew a lease that has expired meanwhile.
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
                    _renewals(self.owners, self.number).write_text(self.text())
                    self._renewed = begun
                except Exception as error:  # noqa: BLE001 - Spark's JVM may be gone
                    _warn("renewed", error)

    def _watch(self) -> None:
        """End the process in time even if a request of the renewal does not return."""
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
    log.write("warning", f"The lease was not {what}: {error}")
