"""Encoding of generated or typed records for Kafka; the simulator encodes Avro and Protobuf."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, cast

from accounts.models import User, Workspace
from millrace_backend.errors import ApiError, Unavailable
from millrace_compiler.types.generating import Recipe
from millrace_compiler.types.types import DataType
from millrace_model.documents import Format
from topologies.simulating import ask

from records.choices import WINDOWED
from records.codecs import Undecodable, encode
from records.types import BY_SCHEMA, by_schema, types_of, unknown_field

#: key, value and timestamp (ms) in the form in which they are written to Kafka
Record = tuple[bytes | None, bytes | None, int]
#: error codes for a value that a person typed
_UNFIT = {"unknown_field", "value_null", "value_unfit"}


def encoded_by_schema(recipe: Recipe) -> bool:
    """Return whether the simulator encodes the recipe's records."""
    return by_schema(recipe.key) or by_schema(recipe.value)


def records_of(recipe: Recipe, due: Sequence[tuple[int, int]], owner: str) -> list[Record]:
    """Return the encoded records with these numbers and times (ms).

    Raises Unavailable while the simulator is starting, ApiError with the code `value_unfit` if a
    field's rule does not fit the format, and with other codes for a schema that cannot be obtained.
    """
    made = [recipe.made(number, now) for number, now in due]
    keys = _bytes(recipe.key, [each.key for each in made], owner)
    values = _bytes(recipe.value, [each.value for each in made], owner)
    return [
        (key, each.raw or value, each.time)
        for each, key, value in zip(made, keys, values, strict=True)
    ]


def bytes_of_texts(
    person: User, workspace: Workspace, parts: Mapping[str, Mapping[str, str] | None]
) -> dict[str, bytes | None]:
    """Encode the `text` of a key and a value, each with its format; None stays None.

    The text of Avro and Protobuf is JSON. Raises ApiError for text that does not fit its format or
    a schema that cannot be obtained, Unavailable while the simulator is starting.
    """
    formats: dict[str, Format] = {
        name: cast(Format, {each: given for each, given in part.items() if each != "text"})
        for name, part in parts.items()
        if part is not None and part["format"] in BY_SCHEMA
    }
    types = types_of(person, workspace, formats)
    found: dict[str, bytes | None] = dict.fromkeys(parts)
    for name, part in parts.items():
        if part is None:
            continue
        try:
            if name not in formats:
                found[name] = encode(part["text"], part["format"])
                continue
            text = _fitting(part["text"], types[name])
            (found[name],) = _by_schema(formats[name], [text], f"person {person.pk}")
        except Undecodable as error:
            raise ApiError(
                "value_unfit",
                f"The {name} cannot be written: {error}",
                fields={name: [str(error)]},
                cause=error.cause,
            ) from error
        except ApiError as error:
            if error.code in _UNFIT:
                error.fields = {name: [error.message]}
            raise
    return found


def _fitting(text: str, type_: DataType) -> str:
    """Return the JSON text unchanged if it has only fields of the type.

    Raises Undecodable for text that is not JSON, ApiError for null and for unknown fields.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Undecodable("json_invalid", f"Not JSON: {error}.", reason=error) from None
    if value is None:
        raise ApiError(
            "value_null",
            "null is not a valid value in this format.",
            "To write a record without a value, choose Null.",
        )
    unknown = unknown_field(type_, value)
    if unknown is not None:
        raise ApiError("unknown_field", f"The schema has no field {unknown}.", field=unknown)
    return text


def _bytes(format: Format, values: Sequence[Any], owner: str) -> list[bytes | None]:
    if by_schema(format):
        texts = [None if each is None else json.dumps(each) for each in values]
        return _by_schema(format, texts, owner)
    try:
        if format["format"] in WINDOWED:
            return [_windowed(each, format) for each in values]
        return [_encoded(each, format["format"]) for each in values]
    except Undecodable as error:
        raise ApiError("value_unfit", str(error), cause=error.cause) from None


def _by_schema(format: Format, texts: Sequence[str | None], owner: str) -> list[bytes | None]:
    """Encode JSON texts in Avro or Protobuf."""
    answer = ask({"do": "encode", "owner": owner, "format": dict(format), "texts": list(texts)})
    if answer.get("state") == "starting":
        raise Unavailable(
            "simulator_starting",
            "The simulator, which encodes these formats, is starting.",
            "Try again in a few seconds.",
        )
    return [None if each is None else base64.b64decode(each) for each in answer["bytes"]]


def _windowed(value: Any, format: Format) -> bytes:
    """Encode a key and the bounds of its window as Kafka's serializers of windowed keys do."""
    inner = _encoded(value["key"], str(format["inner"])) or b""
    times = [value["window"][name] for name in ("end", "start")[-WINDOWED[format["format"]] :]]
    return inner + struct.pack(f">{len(times)}q", *times)


def _encoded(value: Any, format: str) -> bytes | None:
    if value is None:
        return None
    if format == "json":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    if format == "bytes":
        return base64.b64decode(value)
    return encode(value if isinstance(value, str) else json.dumps(value), format)
