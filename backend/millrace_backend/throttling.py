"""Limits of requests per minute, counted in Redis. Without Redis, nothing is limited."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import structlog
from redis.exceptions import RedisError
from rest_framework.throttling import (
    AnonRateThrottle,
    ScopedRateThrottle,
    SimpleRateThrottle,
    UserRateThrottle,
)

from millrace_backend import redis

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

log = structlog.get_logger(__name__)


class WindowThrottle(SimpleRateThrottle):
    """Counts the requests of a minute, and of the part of the minute before that is not over.

    DRF keeps the time of each request, which is read and written with every request. A minute and
    the one before are two numbers, and one command of Redis. While Redis does not respond,
    requests are let through.
    """

    #: requests, and seconds, of the rate
    num_requests: int
    duration: int

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Return whether the request is within its limit."""
        key = None if self.rate is None else self.get_cache_key(request, view)
        if key is None:
            return True
        self._window, self._over = divmod(time.time() / self.duration, 1)
        names = [f"millrace:{key}:{self._window - back:.0f}" for back in (0, 1)]
        try:
            with redis.client().pipeline(transaction=False) as commands:
                commands.incr(names[0])
                commands.expire(names[0], 2 * self.duration)
                commands.get(names[1])
                self._now, _, before = commands.execute()
                self._before = int(before or 0)
            if self._now + self._before * (1 - self._over) <= self.num_requests:
                return True
            # A refused request does not make the wait longer.
            redis.client().decr(names[0])
        except RedisError as error:
            log.warning("requests could not be counted", reason=str(error))
            return True
        return False

    def wait(self) -> float:
        """Return the seconds until one more request is within the limit."""
        free = self.num_requests - self._now
        over = 1.0 if free < 0 or not self._before else 1 - free / self._before
        return max(over - self._over, 0.0) * self.duration


class AnonymousThrottle(AnonRateThrottle, WindowThrottle):
    """Limits anonymous requests by address."""

    scope = "anonymous"


class UserThrottle(UserRateThrottle, WindowThrottle):
    """Limits requests of signed-in users by account."""

    scope = "user"


class ScopeThrottle(ScopedRateThrottle, WindowThrottle):
    """Limits requests to views with a ``throttle_scope``."""
