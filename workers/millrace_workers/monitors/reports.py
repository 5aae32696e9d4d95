"""What a driver reported, from its Redis stream."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import redis
from millrace_model.events import (
    DriverEvent,
    ErrorFields,
    StepEvent,
    of_entry,
    run_keys,
    run_stream,
)

from millrace_workers.model import Cause, Failure

#: number of newest events to search for a state event; progress and log events may follow it
LOOK_BACK = 500
#: number of newest events to search for progress; log events may follow it
PULSE_LOOK_BACK = 10
#: Redis commands that a reporting driver needs
REPORTING = [
    *("+ping", "+hello", "+auth", "+client|setinfo", "+client|setname"),
    *("+xadd", "+xtrim", "+set", "+expire", "+del", "+exists"),
]


@dataclass(frozen=True)
class StateReport:
    """The last state that a driver reported: starting, running, asleep, paused, stopping, stopped
    or failed.

    ``at``: when it was received, in epoch seconds; if the start has reported progress since, the
    time of that.
    """

    state: str
    at: float
    failure: Failure | None
    #: the progress of a long start, as reported last
    detail: Cause | None = None


@dataclass(frozen=True)
class Pulse:
    """The newest event of a driver, received at `at` (epoch seconds), and the age of its batch."""

    at: float
    #: from the newest progress or state event; None if none is among the newest events
    state: str | None
    #: how long the batch has been running, in seconds
    batch_seconds: float


class Reports:
    """Reads the streams ``millrace:run:<report id>``."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._redis: redis.Redis = redis.Redis.from_url(url, socket_timeout=5)

    def last_state(self, report_id: str) -> StateReport | None:
        """Return the newest state of a run; None if there is none yet.

        The state event of a driver that has run for long may have been trimmed; then its progress
        counts. Raises redis.RedisError if Redis does not respond.
        """
        progress: float | None = None
        step: StepEvent | None = None
        for event in self._newest(report_id, LOOK_BACK):
            if event["event"] == "state":
                at = step["at"] if step else event["at"]
                detail = _detail(step) if step else None
                failure = failure_of(event.get("error"))
                return StateReport(event["state"], at / 1000, failure, detail)
            if event["event"] == "step" and step is None:
                step = event
            if event["event"] == "progress" and progress is None:
                progress = event["at"] / 1000
        return None if progress is None else StateReport("running", progress, None)

    def pulse(self, report_id: str) -> Pulse | None:
        """Return the last sign of life of a run; None if nothing is known.

        Raises redis.RedisError if Redis does not respond.
        """
        events = self._newest(report_id, PULSE_LOOK_BACK)
        if not events:
            return None
        at = events[0]["at"] / 1000
        for event in events:
            if event["event"] == "progress" and event.get("state"):
                return Pulse(at, event.get("state"), (event.get("batch_ms") or 0) / 1000)
            if event["event"] == "state":
                return Pulse(at, event["state"], 0.0)
        return Pulse(at, None, 0.0)

    def _newest(self, report_id: str, count: int) -> list[DriverEvent]:
        """The newest events of a run, newest first."""
        entries: list[Any] = self._redis.xrevrange(  # type: ignore[assignment]
            run_stream(report_id), count=count
        )
        found = (of_entry(fields) for _, fields in entries)
        return [event for event in found if event is not None]

    def grant(self, report_id: str) -> str:
        """Return the address with which a driver can report to its own stream and do nothing else.

        Safe to repeat: Redis forgets users when it restarts. An address without a password is
        returned unchanged, because that server accepts everyone. Raises redis.RedisError if Redis
        does not respond or allows no new users.
        """
        address = urlsplit(self._url)
        if not address.password:
            return self._url
        name = f"millrace-run-{report_id}"
        password = hmac.digest(address.password.encode(), name.encode(), "sha256").hex()
        self._redis.acl_setuser(
            name,
            enabled=True,
            reset=True,
            passwords=[f"+{password}"],
            keys=list(run_keys(report_id)),
            commands=REPORTING,
        )
        host = address.netloc.rpartition("@")[2]
        return urlunsplit(address._replace(netloc=f"{name}:{password}@{host}"))

    def revoke(self, report_id: str) -> None:
        """Delete the Redis user of a run that has ended, so that it can no longer report."""
        if urlsplit(self._url).password:
            self._redis.acl_deluser(f"millrace-run-{report_id}")

    def forget(self, report_id: str) -> None:
        """Delete what an earlier run left under this report id."""
        self._redis.delete(*run_keys(report_id))


def failure_of(error: ErrorFields | None) -> Failure | None:
    """Return the failure in a state event, if any."""
    if error is None:
        return None
    message = error.get("message") or "The driver failed without a message."
    known = {name: value for name, value in error.items() if value is not None}
    return Failure.of({**known, "code": error.get("code") or "driver_failed", "message": message})


def _detail(step: StepEvent) -> Cause:
    """Return the progress in a step event; drivers of earlier versions report only its text."""
    return Cause(step.get("code", ""), step["detail"], facts=step.get("facts", {}))
