"""Types of the formats in which records are generated, decoded or encoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from accounts.models import User, Workspace
from millrace_backend.errors import ApiError, Forbidden, Unavailable
from millrace_compiler.documents.durations import NoDuration, parse_duration
from millrace_compiler.parameters.formats import SIMPLE
from millrace_compiler.types.types import DataType, NoType, parse_type, windowed
from millrace_model.documents import Format
from topologies.compiling import types_of_formats

from records.choices import WINDOWED, RecordFormat

#: formats whose schema is text or in a registry
BY_SCHEMA = (RecordFormat.AVRO.value, RecordFormat.PROTOBUF.value)
#: errors by code of the diagnostic, if a schema is refused through no fault of the request
_CLASSES = {"registry_unasked": Forbidden, "registry_unreachable": Unavailable}


def by_schema(format: Format) -> bool:
    """Return whether a format needs a schema and names one."""
    return format.get("format") in BY_SCHEMA and bool({"schema", "registry"} & format.keys())


def types_of(
    person: User, workspace: Workspace, formats: Mapping[str, Format]
) -> dict[str, DataType]:
    """Return the types of formats of the document, by `key` and `value`.

    Raises ApiError with the diagnostic of a format, also if its registry has no schema for it.
    """
    asked = {part: each for part, each in formats.items() if each.get("format") in BY_SCHEMA}
    found: dict[str, DataType] = {}
    if asked:
        found, diagnostics = types_of_formats(asked, person, workspace)
        for each in diagnostics:
            part = each["parameter"]
            fields = {part: [each["message"]]} if part else None
            refusal = _CLASSES.get(each["code"], ApiError)
            raise refusal(
                each["code"], each["message"], each["hint"], fields=fields, facts=each["facts"]
            )
    return {part: found.get(part) or type_of(each, part) for part, each in formats.items()}


def type_of(format: Format, part: str) -> DataType:
    """Return the type of a simple format, of JSON with a schema, or of a key with a window.

    Raises ApiError for others.
    """
    name = format.get("format")
    if name in WINDOWED and part == "key":
        return _windowed(format)
    if name in SIMPLE:
        return SIMPLE[str(name)]
    if name != "json":
        known = (*SIMPLE, "json", *BY_SCHEMA)
        raise _refused(
            part,
            f"Records of the format {name} cannot be generated.",
            f"Supported formats: {', '.join(known)}.",
        )
    schema = format.get("schema")
    if not isinstance(schema, str) or not schema.strip():
        raise _refused(part, "The format json needs a schema.", "For instance item STRING, n INT.")
    try:
        return parse_type(schema)
    except NoType as error:
        raise _refused(part, f"The schema cannot be read: {error}.", "") from None


def _windowed(format: Format) -> DataType:
    if format["format"] == "time_windowed":
        try:
            fits = parse_duration(format.get("window_size")) > 0
        except NoDuration:
            fits = False
        if not fits:
            message = "The format time_windowed needs the size of its windows."
            raise _refused("key", message, 'For instance "1 hour".')
    inner = cast(Format, {**format, "format": format.get("inner")})
    if inner["format"] in WINDOWED:
        raise _refused("key", "A key has one window.", "")
    return windowed(type_of(inner, "key"))


def unknown_field(type_: DataType, value: Any, path: str = "") -> str | None:
    """Return the path of a field in a JSON value that its type lacks, or None."""
    inner: list[tuple[DataType, Any, str]] = []
    if type_.name == "STRUCT" and isinstance(value, dict):
        known = dict(zip(type_.fields, type_.inner, strict=True))
        for name, each in value.items():
            if name not in known:
                return f"{path}.{name}".lstrip(".")
            inner.append((known[name], each, f"{path}.{name}"))
    elif type_.name == "ARRAY" and isinstance(value, list):
        inner = [(type_.inner[0], each, f"{path}[{n}]") for n, each in enumerate(value)]
    elif type_.name == "MAP" and isinstance(value, dict):
        inner = [(type_.inner[1], each, f"{path}.{name}") for name, each in value.items()]
    return next(filter(None, (unknown_field(*each) for each in inner)), None)


def _refused(part: str, message: str, hint: str) -> ApiError:
    return ApiError("invalid", f"The {part}: {message}", hint, fields={part: [message]})
