"""Generated records as Kafka takes them; the simulator encodes Avro and Protobuf."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from millrace_backend.errors import ApiError, Unavailable
from topologies.simulating import ask

from records.codecs import Undecodable, encode
from records.generating import Recipe
from records.types import by_schema

#: key, value and timestamp (ms) as Kafka takes them
Record = tuple[bytes | None, bytes | None, int]


def records_of(recipe: Recipe, due: Sequence[tuple[int, int]], owner: str) -> list[Record]:
    """The records of some numbers and times (ms).

    Raises Unavailable while the simulator starts, ApiError with the code `value_unfit` where a
    field's rule does not fit the format, and with others for a schema that cannot be had.
    """
    made = [recipe.made(number, now) for number, now in due]
    keys = _bytes(recipe.key, [each.key for each in made], owner)
    values = _bytes(recipe.value, [each.value for each in made], owner)
    return [
        (key, each.raw or value, each.time)
        for each, key, value in zip(made, keys, values, strict=True)
    ]


def _bytes(format: Mapping[str, Any], values: Sequence[Any], owner: str) -> list[bytes | None]:
    if not by_schema(format):
        try:
            return [_encoded(each, format["format"]) for each in values]
        except Undecodable as error:
            raise ApiError("value_unfit", str(error)) from None
    answer = ask({"do": "encode", "owner": owner, "format": dict(format), "values": list(values)})
    if answer.get("state") == "starting":
        raise Unavailable(
            "simulator_starting",
            "The simulator, which encodes these formats, is starting.",
            "Try again in a few seconds.",
        )
    return [None if each is None else base64.b64decode(each) for each in answer["bytes"]]


def _encoded(value: Any, format: str) -> bytes | None:
    if value is None:
        return None
    if format == "json":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    if format == "bytes":
        return base64.b64decode(value)
    return encode(value if isinstance(value, str) else json.dumps(value), format)
