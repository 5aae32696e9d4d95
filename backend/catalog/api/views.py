"""Views for the catalog, the templates and the health of the backend."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from django.db import DatabaseError, connection
from django.http import HttpResponse
from django.utils.http import parse_etags
from drf_spectacular.utils import extend_schema, inline_serializer
from millrace_backend import redis
from millrace_backend.views import ApiView
from redis.exceptions import RedisError
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.api.serializers import CatalogSerializer, TemplateSerializer
from catalog.templates import templates


@cache
def catalog_content() -> tuple[bytes, str]:
    """Return the catalog's JSON and its ETag, which change only with the installation."""
    from millrace_compiler import catalog

    content = json.dumps(catalog(), ensure_ascii=False, separators=(",", ":")).encode()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


class CatalogView(ApiView):
    """The catalog of operators."""

    @extend_schema(responses=CatalogSerializer, operation_id="catalog_get")
    def get(self, request: Request) -> HttpResponse:
        """Return families, kinds, formats, settings and functions; supports ``If-None-Match``."""
        content, tag = catalog_content()
        headers = {"ETag": tag, "Cache-Control": "private, max-age=0, must-revalidate"}
        # The compression makes the tag a weak one: `W/"…"`.
        known = parse_etags(request.headers.get("If-None-Match", ""))
        if tag in {each.removeprefix("W/") for each in known}:
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(content, content_type="application/json", headers=headers)


class TemplatesView(ApiView):
    """Templates to start a topology from."""

    @extend_schema(responses=TemplateSerializer(many=True), operation_id="template_list")
    def get(self, request: Request) -> Response:
        """List all templates."""
        return Response(TemplateSerializer(templates(), many=True).data)


class HealthView(ApiView):
    """Whether the backend is ready."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()

    @extend_schema(
        responses=inline_serializer(
            "Health",
            {
                "status": serializers.ChoiceField(choices=["ok", "degraded"]),
                "database": serializers.BooleanField(),
                "redis": serializers.BooleanField(),
            },
        ),
        auth=[],
        operation_id="health",
    )
    def get(self, request: Request) -> Response:
        """Return 200 if all services respond, else 503."""
        found: dict[str, Any] = {"database": _database_answers(), "redis": _redis_answers()}
        well = all(found.values())
        return Response({"status": "ok" if well else "degraded", **found}, 200 if well else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _redis_answers() -> bool:
    try:
        return bool(redis.client().ping())
    except RedisError:
        return False
