"""Outages, which a deployment waits for without limit: they are neither failures nor crashes."""

from __future__ import annotations

import errno

from millrace_workers.model import Cause, Outage

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
#: free bytes on the disk of the data folder, below which nothing is started
NEEDED_SPACE = 50_000_000
#: codes of failures that are outages
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
DISK_FULL = Cause(
    "disk_full", "The disk of the data folder is full. Free some space; it continues by itself."
)


class Away(Exception):
    """A service that the deployment needs does not respond; it is asked again later."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause


def pause_after(attempts: int) -> float:
    """Seconds before the next attempt: 1, 2, 4 … 60."""
    return float(min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(attempts - 1, 10)))


def after(before: Outage | None, away: Away, now: float) -> Outage:
    """Return the outage after one more failed attempt; it has lasted since the first one."""
    attempts, since = (1, now) if before is None else (before.attempts + 1, before.since)
    cause, retry_at = away.cause, now + pause_after(attempts)
    return Outage(
        cause.code, cause.message, since, attempts, retry_at, facts=cause.facts, cause=cause.cause
    )


def is_full(error: OSError) -> bool:
    """Whether the error means that the disk is full."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}
