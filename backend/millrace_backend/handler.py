"""Django's ASGI handler, with each request in one thread of a pool."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import IO

from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from millrace_backend.bodies import Receive, Scope, Send
from millrace_backend.errors import refused, too_busy
from millrace_backend.requesters import Requester, current_requester
from millrace_backend.threads import LIVE, REQUESTS, Full


class ThreadHandler(ASGIHandler):
    """Calls the middleware and the view of a request in one thread.

    Django calls middleware in the event loop, which hands each method of one that is not
    asynchronous to a thread and waits for it, many times for a request. No middleware and no view
    of Millrace is asynchronous. Live events are: the event loop sends them, as in Django.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        """Load the middleware for calls in a thread."""
        del is_async
        super().load_middleware(is_async=False)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, when it is the turn of whoever sent it."""
        requester = Requester(scope)
        current_requester.set(requester)
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body:
            try:
                response = await REQUESTS.run(
                    requester.owner,
                    partial(self._respond, scope, body),
                    leaving=partial(self.listen_for_disconnect, receive),
                )
            except RequestAborted:
                return
            except Full as full:
                response = refused(too_busy(own=full.own))
            if response.streaming:
                await self._stream(response, receive, send, requester)
            else:
                await self.send_response(response, send)

    def _respond(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        """Return the response of the middleware and the view, closed unless it is streamed."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        created = self.create_request(scope, body)
        response = created[1] if created[0] is None else self.get_response(created[0])
        # As Django does: the sender of the signal when the request has ended.
        response._handler_class = self.__class__  # type: ignore[attr-defined]
        if not response.streaming:
            response.close()
        return response

    async def _stream(
        self, response: HttpResponseBase, receive: Receive, send: Send, requester: Requester
    ) -> None:
        """Send what the response yields until its end, or until the client leaves."""
        sending = asyncio.create_task(self.send_response(response, send))
        leaving = asyncio.create_task(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
            left = not sending.done()
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            await LIVE.run(requester.owner, response.close)
        if not left:
            sending.result()
