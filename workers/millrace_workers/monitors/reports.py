"""What a driver reported, from its Redis stream."""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import redis

from millrace_workers.model import Failure

#: how far back a state event is looked for; progress and log events lie between
LOOK_BACK = 500
#: log events may lie before the last progress
PULSE_LOOK_BACK = 10
#: of a run, besides its stream: the last progress, whether a page shows it, whether a page shows
#: its records, and these
KEYS = ("snapshot", "open", "watched", "records")
#: commands of a driver that reports
REPORTING = [
    *("+ping", "+hello", "+auth", "+client|setinfo", "+client|setname"),
    *("+xadd", "+xtrim", "+set", "+expire", "+del", "+exists"),
]


@dataclass(frozen=True)
class StateReport:
    """The last state a driver reported: starting, running, stopping, stopped or failed.

    ``at``: when it was received, in epoch seconds; for a start with progress, the last time.
    """

    state: str
    at: float
    failure: Failure | None
    #: the progress of a long start, as reported last
    detail: str | None = None


@dataclass(frozen=True)
class Pulse:
    """The newest event of a driver, at `at` (epoch seconds), and how far its batch is."""

    at: float
    #: from the last progress or state event; None where neither is among the newest events
    state: str | None
    #: for how long its batch has been at work, in seconds
    batch_seconds: float


class Reports:
    """Reads the streams ``millrace:run:<report id>``."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._redis: redis.Redis = redis.Redis.from_url(url, socket_timeout=5)

    def last_state(self, report_id: str) -> StateReport | None:
        """The newest state event of a run; None where there is none yet.

        The event of a driver that has run for long may have been trimmed: then its progress counts.
        Raises redis.RedisError where Redis does not answer.
        """
        entries: list[Any] = self._redis.xrevrange(  # type: ignore[assignment]
            f"millrace:run:{report_id}", count=LOOK_BACK
        )
        progress: float | None = None
        step: dict[str, Any] | None = None
        for _, fields in entries:
            event: dict[str, Any] = json.loads(next(iter(fields.values())))
            if event.get("event") == "state":
                last = step or event
                failure = failure_of(event.get("error"))
                return StateReport(event["state"], last["at"] / 1000, failure, last.get("detail"))
            if event.get("event") == "step" and step is None:
                step = event
            if event.get("event") == "progress" and progress is None:
                progress = event["at"] / 1000
        return None if progress is None else StateReport("running", progress, None)

    def pulse(self, report_id: str) -> Pulse | None:
        """The newest sign of life of a run; None where nothing is known.

        Raises redis.RedisError where Redis does not answer.
        """
        entries: list[Any] = self._redis.xrevrange(  # type: ignore[assignment]
            f"millrace:run:{report_id}", count=PULSE_LOOK_BACK
        )
        events: list[dict[str, Any]] = [
            json.loads(next(iter(fields.values()))) for _, fields in entries
        ]
        if not events:
            return None
        last = next((each for each in events if each.get("state")), {})
        busy = float(last.get("batch_ms") or 0) / 1000
        return Pulse(events[0]["at"] / 1000, last.get("state"), busy)

    def grant(self, report_id: str) -> str:
        """The address with which a driver reports into its own stream and does nothing else.

        Safe to repeat: Redis forgets users when it restarts. An address without a password is
        handed on as it is: that server lets in everybody.
        Raises redis.RedisError where Redis does not answer or allows no new users.
        """
        address = urlsplit(self._url)
        if not address.password:
            return self._url
        name = f"millrace-run-{report_id}"
        password = hmac.digest(address.password.encode(), name.encode(), "sha256").hex()
        stream = f"millrace:run:{report_id}"
        self._redis.acl_setuser(
            name,
            enabled=True,
            reset=True,
            passwords=[f"+{password}"],
            keys=[stream, *(f"{stream}:{each}" for each in KEYS)],
            commands=REPORTING,
        )
        host = address.netloc.rpartition("@")[2]
        return urlunsplit(address._replace(netloc=f"{name}:{password}@{host}"))

    def revoke(self, report_id: str) -> None:
        """The run has ended: its user may not report any more."""
        if urlsplit(self._url).password:
            self._redis.acl_deluser(f"millrace-run-{report_id}")

    def forget(self, report_id: str) -> None:
        """Drop the stream of a run whose number is used for the first time."""
        stream = f"millrace:run:{report_id}"
        self._redis.delete(stream, *(f"{stream}:{each}" for each in KEYS))


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
