"""What a driver reported, from its Redis stream."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import redis
from millrace_compiler.driver_events import (
    DriverEvent,
    ErrorFields,
    StepEvent,
    of_entry,
    run_keys,
    run_stream,
)

from millrace_workers.model import Cause, Failure

#: how far back a state event is looked for; progress and log events lie between
LOOK_BACK = 500
#: log events may lie before the last progress
PULSE_LOOK_BACK = 10
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
    detail: Cause | None = None


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
        """The newest sign of life of a run; None where nothing is known.

        Raises redis.RedisError where Redis does not answer.
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
        """The run has ended: its user may not report any more."""
        if urlsplit(self._url).password:
            self._redis.acl_deluser(f"millrace-run-{report_id}")

    def forget(self, report_id: str) -> None:
        """Drop the stream of a run whose number is used for the first time."""
        self._redis.delete(*run_keys(report_id))


def failure_of(error: ErrorFields | None) -> Failure | None:
    """The failure in a state event."""
    if error is None:
        return None
    message = error.get("message") or "The driver failed without a message."
    known = {name: value for name, value in error.items() if value is not None}
    return Failure.of({**known, "code": error.get("code") or "driver_failed", "message": message})


def _detail(step: StepEvent) -> Cause:
    """Drivers of an earlier version report the sentence alone."""
    return Cause(step.get("code", ""), step["detail"], facts=step.get("facts", {}))
