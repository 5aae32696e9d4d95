"""The driver's own words, from the Redis stream it reports into."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import redis

from millrace_workers.model import Failure

#: how far back a state event is looked for; progress and log events lie between
LOOK_BACK = 500


@dataclass(frozen=True)
class Report:
    """The last state a driver reported: starting, running, stopping, stopped or failed."""

    state: str
    at: float
    failure: Failure | None


class Reports:
    """Reads the streams ``millrace:run:<report id>``."""

    def __init__(self, url: str) -> None:
        self._redis: redis.Redis = redis.Redis.from_url(url, socket_timeout=5)

    def last_state(self, report_id: str) -> Report | None:
        """The newest state event of a run; None where there is none yet.

        A driver that has run for long said so too far back: then its progress says it.
        Raises redis.RedisError where Redis does not answer.
        """
        entries: list[Any] = self._redis.xrevrange(  # type: ignore[assignment]
            f"millrace:run:{report_id}", count=LOOK_BACK
        )
        progress: float | None = None
        for _, fields in entries:
            event: dict[str, Any] = json.loads(next(iter(fields.values())))
            if event.get("event") == "state":
                return Report(event["state"], event["at"] / 1000, failure_of(event.get("error")))
            if event.get("event") == "progress" and progress is None:
                progress = event["at"] / 1000
        return None if progress is None else Report("running", progress, None)

    def forget(self, report_id: str) -> None:
        """Drop the stream of a run whose number is used for the first time."""
        self._redis.delete(f"millrace:run:{report_id}", f"millrace:run:{report_id}:snapshot")


def failure_of(error: dict[str, Any] | None) -> Failure | None:
    """The failure in a state event."""
    if error is None:
        return None
    return Failure(
        code=error.get("code") or "driver_failed",
        message=error.get("message") or "The driver failed without a message.",
        node=error.get("node"),
        parameter=error.get("parameter"),
        record=error.get("record"),
    )
