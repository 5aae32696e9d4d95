"""Middleware for request ids in the log, the built page's files, and compression."""

from __future__ import annotations

import copy
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

log = structlog.get_logger("millrace.request")

#: seconds after which a response is logged as slow
SLOW_SECONDS = 2.0
GetResponse = Callable[[HttpRequest], HttpResponseBase]


class RequestLogMiddleware:
    """Binds a request id to every log line, and logs slow and failed requests."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle the request; the response has the id in ``X-Request-Id``."""
        request_id = uuid.uuid4().hex[:16]
        request.request_id = request_id  # type: ignore[attr-defined]
        began = time.monotonic()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self._get_response(request)
            seconds = time.monotonic() - began
            if response.status_code >= 500 or seconds > SLOW_SECONDS:
                log.warning(
                    "request",
                    method=request.method,
                    path=request.path,
                    status=response.status_code,
                    seconds=round(seconds, 3),
                )
        response.headers["X-Request-Id"] = request_id
        return response


class NoStoreMiddleware:
    """Keeps responses of the API out of caches, which other people may be able to read."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle the request; a response with a header of its own keeps it."""
        response = self._get_response(request)
        if request.path.startswith("/api/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def _changed(path: Path) -> int | None:
    """Return when a file or folder was changed, in ns; None if it does not exist."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


class PageMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # whitenoise has no types
    """Serves the built page and static files; browsers cache hashed files indefinitely.

    The page may be built again meanwhile: its files are looked up again once they have changed.
    """

    #: the files by their addresses
    files: dict[str, StaticFile]

    def __init__(self, get_response: Any = None) -> None:
        super().__init__(get_response)
        self._others = self.files
        self._build: object = None
        self._look_again()

    def __call__(self, request: HttpRequest) -> Any:
        """Return a file, or the response to the request if there is none at its address."""
        try:
            if "." in request.path_info and not request.path_info.startswith("/api/"):
                self._look_again()
            return super().__call__(request)
        except FileNotFoundError:
            # The page is being built at this moment.
            return self.get_response(request)

    def _look_again(self) -> None:
        """Look up the files of the page if it has been built since."""
        folder = settings.MILLRACE_PAGE
        build = [_changed(folder / name) for name in ("", "assets", "index.html")]
        if build == self._build:
            return
        # Another request may be looking for a file.
        found = copy.copy(self)
        found.files = dict(self._others)
        if folder.is_dir():
            found.add_files(str(folder))
        self.files, self._build = found.files, build

    def immutable_file_test(self, path: str, url: str) -> bool:
        """Return whether the bundler put a hash of the content into the file's name."""
        return url.startswith("/assets/")

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Return the file's content; under ASGI, an open file would be read in the event loop."""
        found = static_file.get_response(request.method, request.META)
        content = b""
        if found.file is not None:
            with found.file as file:
                content = file.read()
        response = HttpResponse(content, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response


class CompressionMiddleware(GZipMiddleware):
    """Compresses API responses, but not live events, which would wait in the compressor."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Return the response, compressed if it is not streamed and the client accepts that."""
        if response.streaming:
            return response
        return super().process_response(request, response)
