"""Connections to Redis and the names of what lies there."""

from __future__ import annotations

from functools import cache

import redis
from django.conf import settings

#: events kept for pages that come back after a short absence
LIVE_LENGTH = 2_000
ANSWER_SECONDS = 1.0


@cache
def client() -> redis.Redis:
    """The process's connection pool for short, synchronous commands."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
    )


#: the last heartbeat for each deployment: a hash of deployment id to epoch seconds
HEARTBEATS = "millrace:heartbeats"


def live_stream(workspace: int) -> str:
    """Everything that pages of a workspace hear about."""
    return f"millrace:live:{workspace}"


def run_stream(report_id: str) -> str:
    """What the driver of one run reports."""
    return f"millrace:run:{report_id}"


def run_snapshot(report_id: str) -> str:
    """The driver's last progress report."""
    return f"millrace:run:{report_id}:snapshot"


def run_open(report_id: str) -> str:
    """There while a page shows the run: its driver then reports every second."""
    return f"millrace:run:{report_id}:open"


def run_watched(report_id: str) -> str:
    """There while a person looks at the run's records."""
    return f"millrace:run:{report_id}:watched"


def run_records(report_id: str) -> str:
    """The last records over each edge of the run, while a person looks."""
    return f"millrace:run:{report_id}:records"


def presence(topology: int) -> str:
    """Who has the topology open: a hash of user id to JSON."""
    return f"millrace:presence:{topology}"
