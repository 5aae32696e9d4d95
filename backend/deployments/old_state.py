"""State that a deployment left when it was moved or reset: kept until a person deletes it.

It cannot be deleted within a day; with ``MILLRACE_OLD_STATE_DAYS``, it is deleted automatically
after that. The driver lists what it left in its notes (`kept` in stores.json) and alone writes
them; this module reads and deletes the folders, never the notes. Folders that are not on this
machine are reached through the process that reads stores.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import structlog
from django.conf import settings
from django.utils import timezone
from millrace_backend.errors import ApiError, Unavailable
from millrace_model.notes import Notes
from topologies import simulating

from deployments import files
from deployments.models import Deployment

log = structlog.get_logger(__name__)

LEAST_KEPT = timedelta(days=1)
#: seconds to wait for the process that reads stores to start
STARTING_SECONDS = 20.0
#: the driver's notes beside its checkpoint: the current ones, and those of a pending move
NOTES, WAITING = "stores.json", "stores.next.json"


@dataclass(frozen=True)
class OldState:
    """A folder that is no longer used; `bytes`: the size of its files."""

    name: str
    left_at: datetime
    #: the version that wrote it, if a run of it is known
    version: int | None
    bytes: int

    @property
    def deletable_at(self) -> datetime:
        """The time from which a person may delete it."""
        return self.left_at + LEAST_KEPT

    @property
    def deleted_at(self) -> datetime | None:
        """When it is deleted automatically; None: never."""
        kept: timedelta | None = settings.OLD_STATE_KEPT
        return None if kept is None else self.left_at + max(kept, LEAST_KEPT)


def old_states(row: Deployment) -> list[OldState]:
    """Return the state that the deployment left and that still exists, newest first.

    Raises ApiError if the storage of its checkpoint does not respond.
    """
    checkpoint = row.directory / "checkpoint"
    notes, waiting = (
        cast("Notes", files.read_object(row.directory, checkpoint / name))
        for name in (NOTES, WAITING)
    )
    used = {notes.get("stream", "stream"), waiting.get("stream")}
    if "base" in waiting:
        used.add(waiting["base"]["stream"])
    left = {each["stream"]: _moment(each["left"]) for each in notes.get("kept", [])}
    runs = list(row.runs.order_by("-epoch").values_list("started_at", "version__number"))
    found = []
    for name, size in _sizes(row, [name for name in left if name not in used]).items():
        # The newest of these runs left the state behind; the one before it wrote it.
        before = [version for started, version in runs if started <= left[name]]
        found.append(OldState(name, left[name], before[1] if len(before) > 1 else None, size))
    return sorted(found, key=lambda each: each.left_at, reverse=True)


def delete(row: Deployment, name: str) -> None:
    """Delete one of `old_states`. Raises ApiError if the storage does not respond."""
    if row.state_location is None:
        files.remove_folder(row.directory, row.directory / "checkpoint" / name)
    else:
        _ask(row, row.state_location, "delete_kept", [name])


def forget_old_state() -> int:
    """Delete what was left longer ago than ``OLD_STATE_KEPT``, if that is set; return the count.

    Safe to repeat.
    """
    now, deleted = timezone.now(), 0
    if settings.OLD_STATE_KEPT is None:
        return 0
    for row in Deployment.objects.all():
        try:
            for each in old_states(row):
                if each.deleted_at is not None and each.deleted_at <= now:
                    delete(row, each.name)
                    log.info("old state deleted", deployment=row.pk, folder=each.name)
                    deleted += 1
        except ApiError as error:  # retried by the next call
            log.warning("old state could not be deleted", deployment=row.pk, error=error.message)
    return deleted


def _sizes(row: Deployment, names: list[str]) -> dict[str, int]:
    """Return the sizes in bytes of those folders that exist."""
    if row.state_location is not None and names:
        sizes: dict[str, int] = _ask(row, row.state_location, "kept_sizes", names)["bytes"]
        return sizes
    folders = {name: row.directory / "checkpoint" / name for name in names}
    return {
        name: _size(folder)
        for name, folder in folders.items()
        if files.is_folder(row.directory, folder)
    }


def _size(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.lstat().st_size if file.is_file() else 0
        except OSError:
            continue  # deleted in the meantime
    return total


def _ask(row: Deployment, location: str, do: str, names: list[str]) -> Any:
    """Return the answer of the process that reads stores, which may have to be started first."""
    owner = f"old state of deployment {row.pk}"
    request = {"do": do, "owner": owner, "checkpoint": location, "names": names}
    deadline = time.monotonic() + STARTING_SECONDS
    while (answer := simulating.ask(request, reader=True)).get("state") == "starting":
        if time.monotonic() > deadline:
            raise Unavailable(
                "reader_starting",
                f"The process that reads {location} is starting.",
                "Try again in a few seconds.",
            )
        time.sleep(0.3)
    return answer


def _moment(text: str) -> datetime:
    """Parse the time at which a folder was left, as written in the name of its successor."""
    return datetime.strptime(text, "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
