"""State that a deployment left when it was moved or reset: kept until a person deletes it.

Nobody deletes it within a day; with ``MILLRACE_OLD_STATE_DAYS`` it is deleted by itself after that.

The driver lists what it left in its notes (`kept` in stores.json) and alone writes them; here the
folders are read and deleted, never the notes.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.utils import timezone

from deployments.models import Deployment

log = structlog.get_logger(__name__)

LEAST_KEPT = timedelta(days=1)
#: what the driver keeps beside its checkpoint: notes of it, and of a move that waits
NOTES, WAITING = "stores.json", "stores.next.json"


@dataclass(frozen=True)
class OldState:
    """A folder that is no longer used."""

    folder: Path
    left_at: datetime
    #: the version that wrote it, where a run of it is known
    version: int | None

    @property
    def name(self) -> str:
        """What it is called among those of its deployment."""
        return self.folder.name

    @property
    def deletable_at(self) -> datetime:
        """From when on a person may delete it."""
        return self.left_at + LEAST_KEPT

    @property
    def deleted_at(self) -> datetime | None:
        """When it is deleted by itself; None: never."""
        kept: timedelta | None = settings.OLD_STATE_KEPT
        return None if kept is None else self.left_at + max(kept, LEAST_KEPT)

    @property
    def bytes(self) -> int:
        """The size of its files."""
        total = 0
        for file in self.folder.rglob("*"):
            try:
                total += file.stat().st_size if file.is_file() else 0
            except OSError:
                continue  # deleted meanwhile
        return total


def old_states(row: Deployment) -> list[OldState]:
    """What is still there of what the deployment left, the newest first."""
    checkpoint = row.directory / "checkpoint"
    notes, waiting = (_read(checkpoint / name) for name in (NOTES, WAITING))
    used = {notes.get("stream", "stream"), waiting.get("stream")}
    used.add((waiting.get("base") or {}).get("stream"))
    runs = list(row.runs.order_by("-epoch").values_list("started_at", "version__number"))
    found = []
    for each in notes.get("kept", []):
        folder = checkpoint / each["stream"]
        if each["stream"] not in used and folder.is_dir():
            left = _moment(each["left"])
            # The newest of these runs is the one that left it.
            before = [version for started, version in runs if started <= left]
            found.append(OldState(folder, left, before[1] if len(before) > 1 else None))
    return sorted(found, key=lambda each: each.left_at, reverse=True)


def forget_old_state() -> int:
    """Delete what was left longer ago than ``OLD_STATE_KEPT``, if that is set; how many folders.

    Safe to repeat.
    """
    now, deleted = timezone.now(), 0
    if settings.OLD_STATE_KEPT is None:
        return 0
    for row in Deployment.objects.all():
        for each in old_states(row):
            if each.deleted_at is not None and each.deleted_at <= now:
                shutil.rmtree(each.folder, ignore_errors=True)
                log.info("old state deleted", deployment=row.pk, folder=each.folder.name)
                deleted += 1
    return deleted


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _moment(text: str) -> datetime:
    """The time in the name of the folder that came after it."""
    return datetime.strptime(text, "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
