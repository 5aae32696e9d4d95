"""Types of the formats in which records are generated or sampled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.models import User, Workspace
from millrace_backend.errors import ApiError
from millrace_compiler.formats import SIMPLE
from millrace_compiler.types import DataType, NoType, parse_type
from topologies.compiling import types_of_formats

#: formats whose schema is a text of its own or in a registry
BY_SCHEMA = ("avro", "protobuf")


def by_schema(format: Mapping[str, Any]) -> bool:
    """Whether bytes of a format of the document are read by a schema, which it names."""
    return format.get("format") in BY_SCHEMA and bool({"schema", "registry"} & format.keys())


def types_of(
    person: User, workspace: Workspace, formats: Mapping[str, Mapping[str, Any]]
) -> dict[str, DataType]:
    """The types of formats of the document, by `key` and `value`.

    Raises ApiError with what is wrong, also where a schema cannot be had from its registry.
    """
    asked = {part: each for part, each in formats.items() if each.get("format") in BY_SCHEMA}
    found: dict[str, DataType] = {}
    if asked:
        found, diagnostics = types_of_formats(asked, person, workspace)
        for each in diagnostics:
            part = each["parameter"]
            fields = {part: [each["message"]]} if part else None
            raise ApiError("invalid", each["message"], each["hint"], fields=fields)
    return {part: found.get(part) or type_of(each, part) for part, each in formats.items()}


def type_of(format: Mapping[str, Any], part: str) -> DataType:
    """The type of a format that needs no more than itself. Raises ApiError for others."""
    name = format.get("format")
    if name in SIMPLE:
        return SIMPLE[str(name)]
    if name != "json":
        known = (*SIMPLE, "json", *BY_SCHEMA)
        raise _refused(
            part,
            f"Records of the format {name} cannot be generated.",
            f"Formats that can be: {', '.join(known)}.",
        )
    schema = format.get("schema")
    if not isinstance(schema, str) or not schema.strip():
        raise _refused(part, "The format json needs a schema.", "For instance item STRING, n INT.")
    try:
        return parse_type(schema)
    except NoType as error:
        raise _refused(part, f"The schema cannot be read: {error}.", "") from None


def _refused(part: str, message: str, hint: str) -> ApiError:
    return ApiError("invalid", f"The {part}: {message}", hint, fields={part: [message]})
