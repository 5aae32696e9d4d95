"""Django's ASGI handler, with each request in one thread of a pool."""

from __future__ import annotations

from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase

from millrace_backend.threads import in_thread


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

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response of the middleware and the view."""
        return await in_thread(self.get_response, request)
