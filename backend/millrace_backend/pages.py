"""Serves the page's HTML file at every address that the page's own router handles."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from millrace_backend.errors import respond


def page(request: HttpRequest, path: str = "") -> HttpResponse:
    """Return index.html. It must not be cached, because it names the current bundle."""
    if request.method not in {"GET", "HEAD"}:
        return respond(405, "method_not_allowed", "Pages support only GET and HEAD.")
    if "." in path.rsplit("/", 1)[-1]:
        # HTML in place of a missing file would hide that the file is missing.
        return HttpResponse("Not found.\n", status=404, content_type="text/plain")
    index = settings.MILLRACE_PAGE / "index.html"
    try:
        content = index.read_bytes()
    except OSError:
        return HttpResponse(
            "The page is not built yet. Run `./millrace up`, or `npm run build` in frontend/.\n",
            status=503,
            content_type="text/plain",
        )
    return HttpResponse(content, headers={"Cache-Control": "no-cache"})
