"""Connections to Redis, and the names of its keys."""

from __future__ import annotations

from functools import cache

import redis
from django.conf import settings
from millrace_model.events import (
    run_open,
    run_records,
    run_snapshot,
    run_stream,
    run_watched,
)

__all__ = [
    "CURSORS", "HEARTBEATS", "LIVE_LENGTH", "client", "cursor_stream", "live_stream", "presence",
    "run_open", "run_records", "run_snapshot", "run_stream", "run_watched",
]  # fmt: skip

#: events kept for pages that reconnect after a short absence
LIVE_LENGTH = 2_000
ANSWER_SECONDS = 1.0
#: positions of pointers kept for pages that read them a moment later
CURSORS = 50


@cache
def client() -> redis.Redis:
    """The process's connection pool for short, synchronous commands."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
    )


#: the last heartbeat for each deployment: a hash of deployment id to epoch seconds
HEARTBEATS = "millrace:heartbeats"


def live_stream(workspace: int) -> str:
    """Return the key of the stream with all live events of a workspace."""
    return f"millrace:live:{workspace}"


def presence(topology: int) -> str:
    """Return the key of the hash of users who have the topology open: user id to JSON."""
    return f"millrace:presence:{topology}"


def cursor_stream(topology: int) -> str:
    """Return the key of the stream with positions of pointers, apart from events that last."""
    return f"millrace:cursors:{topology}"
