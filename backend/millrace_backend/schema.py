"""Additions to the API's description: error responses, pages and causes."""

from __future__ import annotations

from functools import cache
from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "The form of every error response; some have further fields.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "hint"],
            "properties": {
                "code": {"type": "string", "description": "Stable error code."},
                "message": {"type": "string", "description": "What was found."},
                "hint": {"type": "string", "description": "How to fix it."},
                "fields": {
                    "type": "object",
                    "additionalProperties": {},
                    "description": "Error messages by field of the request.",
                },
            },
            "additionalProperties": {},
        }
    },
}


def add_errors(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Make the error shape the default response of every operation."""
    schemas = result["components"].setdefault("schemas", {})
    schemas["Error"] = ERROR_SCHEMA
    answer = {
        "description": "Refused",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    for path in result["paths"].values():
        for operation in path.values():
            operation["responses"].setdefault("default", answer)
    return result


@extend_schema_field({"allOf": [{"$ref": "#/components/schemas/Cause"}], "nullable": True})
class CauseField(serializers.JSONField):
    """A cause within another one."""


class SentenceSerializer(serializers.Serializer[Any]):
    """A sentence in English, with the code and the facts to write it in another language."""

    code = serializers.CharField()
    facts = serializers.DictField(
        child=serializers.CharField(allow_blank=True),
        help_text="The values in the message, for translations.",
    )
    message = serializers.CharField()


class CauseSerializer(SentenceSerializer):
    """A cause, with its message in English and the cause that the message quotes."""

    cause = CauseField(
        allow_null=True, required=False, help_text="The cause that the message quotes."
    )


@cache
def paged(serializer: type[serializers.Serializer[Any]]) -> Any:
    """Return the serializer of a page of these objects."""
    name = serializer.__name__.removesuffix("Serializer")
    return inline_serializer(
        f"{name}Page",
        {
            "count": serializers.IntegerField(),
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": serializer(many=True),
        },
    )
