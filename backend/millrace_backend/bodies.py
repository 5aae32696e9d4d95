"""Limits the bodies of requests before Django, which would store all of a body in a file."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from django.conf import settings

from millrace_backend.errors import too_large

log = structlog.get_logger("millrace.request")

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class _TooLarge(Exception):
    pass


class BodyLimit:
    """An ASGI application that responds with 413 to larger bodies than Django accepts."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        left, began = limit, False

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body") or b"")
            if left < 0:
                raise _TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        try:
            if _announced(scope) > limit:
                raise _TooLarge
            await self._application(scope, counted, noted)
        except _TooLarge:
            log.warning("body too large", method=scope["method"], path=scope["path"])
            if not began:
                await _respond(send)


def _announced(scope: Scope) -> int:
    """Return the length that the request announces; 0 if it does not."""
    given = dict(scope["headers"]).get(b"content-length", b"0")
    return int(given) if given.isdigit() else 0


async def _respond(send: Send) -> None:
    content = json.dumps(too_large()).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        # The rest of the body is not read.
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": content})
