"""What a deployment waits for without limit: an outage is neither a failure nor a crash."""

from __future__ import annotations

import errno

from millrace_workers.model import Outage

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
#: bytes on the disk of the data folder, below which nothing is started
NEEDED_SPACE = 50_000_000
#: failures that say that a part outside does not answer
CODES = frozenset(
    {
        "analyzer",
        "broker_unreachable",
        "checkpoint_in_use",
        "checkpoint_lease_lost",
        "disk_full",
        "redis_unreachable",
        "storage_unreachable",
    }
)
DISK_FULL = "The disk of the data folder is full. Free some space; it continues by itself."


class Away(Exception):
    """A part that the deployment needs does not answer; it is asked again later."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def pause_after(attempts: int) -> float:
    """Seconds before the next attempt: 1, 2, 4 … 60."""
    return float(min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(attempts - 1, 10)))


def after(before: Outage | None, away: Away, now: float) -> Outage:
    """The outage as it stands after one more attempt; it began with whatever was away first."""
    attempts, since = (1, now) if before is None else (before.attempts + 1, before.since)
    return Outage(away.code, away.message, since, attempts, now + pause_after(attempts))


def is_full(error: OSError) -> bool:
    """Whether the error means that the disk is full."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}
