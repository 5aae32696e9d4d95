"""Marks deployments that no worker monitors as *unknown*, from the backend itself.

Workers check every deployment once a second and record a heartbeat. After a while without one, the
last observation is outdated; the first worker that is back observes the deployment again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import structlog
from django.db import DatabaseError, close_old_connections
from millrace_backend import redis
from millrace_model.events import OutageJson
from redis.exceptions import RedisError

from deployments import reconciling
from deployments.choices import Observed
from deployments.models import Observation

log = structlog.get_logger(__name__)

#: a running worker sends a heartbeat every four seconds, on a busy machine a little later
SILENT_SECONDS = 15.0
TICK_SECONDS = 2.0


class Watch:
    """Mark deployments without a heartbeat for ``silent`` seconds as unknown."""

    def __init__(
        self, silent: float = SILENT_SECONDS, now: Callable[[], float] = time.time
    ) -> None:
        self._silent, self._now = silent, now
        #: by deployment: the last heartbeat, and the local time at which it was seen
        self._heard: dict[int, tuple[str, float]] = {}

    def look(self) -> None:
        """Check once. Without Redis there are no heartbeats, and no worker can work."""
        reason = ""
        try:
            heartbeats: Mapping[Any, Any] = redis.client().hgetall(redis.HEARTBEATS)
        except RedisError as error:
            heartbeats, reason = {}, str(error)
        words = {int(name): text.decode() for name, text in heartbeats.items()}
        watched = set(reconciling.due_for_reconcile())
        for gone in set(self._heard) - watched:
            del self._heard[gone]
        for deployment in watched:
            # Clocks of two machines are never compared: the local time of a new heartbeat counts.
            last, heard = self._heard.get(deployment, ("", self._now()))
            word = words.get(deployment, last)
            if word != last:
                heard = self._now()
            self._heard[deployment] = (word, heard)
            if self._now() - heard > self._silent:
                self._forget(deployment, heard, reason)

    def _forget(self, deployment: int, heard: float, reason: str) -> None:
        observation = Observation.objects.filter(deployment=deployment).first()
        if observation is None or observation.state == Observed.UNKNOWN:
            return
        log.warning("no worker monitors a deployment", deployment=deployment)
        reconciling.observe(
            deployment,
            Observed.UNKNOWN,
            found=observation.state,
            since=datetime.fromtimestamp(heard, UTC),
        )
        if reason:
            reconciling.record_outage(deployment, redis_away(reason, heard))


def redis_away(reason: str, since: float) -> OutageJson:
    """Return the outage of a deployment whose workers cannot report; its driver continues."""
    return {
        "code": "redis_unreachable",
        "message": f"Redis does not respond, so workers cannot report: {reason}",
        "facts": {"reason": reason},
        "cause": None,
        "since": since,
        "attempts": 1,
        "retry_at": since,
    }


def start() -> threading.Thread:
    """Start watching in a thread, for as long as the process lives."""

    def watch_on() -> None:
        watch = Watch()
        while True:
            time.sleep(TICK_SECONDS)
            try:
                watch.look()
            except DatabaseError as error:
                log.warning("workers could not be monitored", reason=str(error))
            finally:
                close_old_connections()

    thread = threading.Thread(target=watch_on, name="watch-workers", daemon=True)
    thread.start()
    return thread
