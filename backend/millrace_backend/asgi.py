"""The ASGI application."""

import os

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "millrace_backend.settings")
django.setup(set_prefix=False)

# Models can be imported only after django.setup().
from deployments import watch  # noqa: E402
from topologies import compiling  # noqa: E402

from millrace_backend.bodies import BodyLimit  # noqa: E402


class Handler(ASGIHandler):
    """Django's handler, with the middleware and the view of a request in one thread.

    Django calls middleware in the event loop, which hands each method of one that is not
    asynchronous to a thread and waits for it: five times the processor time of most views.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        """Load the middleware for calls in a thread."""
        del is_async
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response of the middleware and the view."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


application = BodyLimit(Handler())

watch.start()
compiling.pool().warm()
