"""Serves the description of the API, which `./millrace api` generates."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views import View

FILE = Path(__file__).parents[1] / "openapi.json"


@cache
def _content() -> tuple[bytes, str]:
    """Return the description and its ETag, read once in the life of the process."""
    content = FILE.read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


class DescriptionView(View):
    """The description of the API in the form of OpenAPI; anybody may read it."""

    def get(self, request: HttpRequest) -> HttpResponseBase | None:
        """Return the committed description; generating it takes long."""
        content, etag = _content()
        headers = {"ETag": etag, "Cache-Control": "no-cache"}
        response = HttpResponse(
            content, content_type="application/vnd.oai.openapi+json", headers=headers
        )
        return get_conditional_response(request, etag, response=response)
