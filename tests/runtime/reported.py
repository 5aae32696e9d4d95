"""A driver's reports to Redis, as the backend reads them."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

import redis

Event = dict[str, Any]


class Reported:
    """The events of one run; start its job with `options`."""

    def __init__(self, url: str) -> None:
        self.run = uuid.uuid4().hex
        self.options = ("--report", url, "--run", self.run)
        self._redis: redis.Redis = redis.Redis.from_url(url)

    def events(self, kind: str) -> list[Event]:
        """All `state`, `progress` or `log` events so far, oldest first."""
        entries: Any = self._redis.xrange(f"millrace:run:{self.run}")
        found = [json.loads(fields[b"event"]) for _, fields in entries]
        return [event for event in found if event["event"] == kind]

    def until(
        self, kind: str, holds: Callable[[Event], bool], seconds: float = 120, *, dead: Any = None
    ) -> Event:
        """Return the newest event of a kind once it holds; `dead()` adds to a timeout's error."""
        deadline = time.monotonic() + seconds
        while True:
            found = self.events(kind)
            if found and holds(found[-1]):
                return found[-1]
            if time.monotonic() > deadline:
                raise AssertionError(f"last {kind}: {found[-1:]} {dead() if dead else ''}")
            time.sleep(0.1)

    def until_running(self, *, dead: Any = None) -> None:
        """Wait until the job reports that it runs."""
        self.until("state", lambda event: event["state"] == "running", dead=dead)
