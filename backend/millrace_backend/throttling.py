"""Limits of requests per minute, counted in Redis. Without Redis, nothing is limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
from redis.exceptions import RedisError
from rest_framework.throttling import (
    AnonRateThrottle,
    ScopedRateThrottle,
    SimpleRateThrottle,
    UserRateThrottle,
)

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

log = structlog.get_logger(__name__)


class OpenOnFailure(SimpleRateThrottle):
    """Lets requests through while Redis, which counts them, does not respond."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Return whether the request is within its limit."""
        try:
            return super().allow_request(request, view)
        except RedisError as error:
            log.warning("requests could not be counted", reason=str(error))
            return True


class AnonymousThrottle(OpenOnFailure, AnonRateThrottle):
    """Limits anonymous requests by address."""

    scope = "anonymous"


class UserThrottle(OpenOnFailure, UserRateThrottle):
    """Limits requests of signed-in users by account."""

    scope = "user"


class ScopeThrottle(OpenOnFailure, ScopedRateThrottle):
    """Limits requests to views with a ``throttle_scope``."""
