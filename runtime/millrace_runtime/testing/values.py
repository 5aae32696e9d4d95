"""Keys and values of tests: Python values, as processors see them, and their bytes on a topic."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import json
import uuid
from collections.abc import Callable
from typing import Any, Protocol

from millrace_runtime import columns
from millrace_runtime.formats import Format
from millrace_runtime.processor.values import Struct, decoder, encoder


class Serde(Protocol):
    """Converts between Python values and bytes."""

    def encode(self, value: Any) -> bytes | None:
        """Return the bytes of a value. Raises TypeError for a value that does not fit."""

    def decode(self, raw: bytes | None) -> Any:
        """Return the value of bytes."""


class FormatSerde:
    """The values of a format; JSON is any JSON value. `what` is named in errors."""

    def __init__(self, format: Format, what: str) -> None:
        self._format = json.dumps(format)
        self._what = what
        self._json = format["format"] == "json"
        kind = None if self._json else json.loads(columns.gateway().TestDriver.typeOf(self._format))
        self._read = None if kind is None else decoder(kind)
        self._write = None if kind is None else encoder(kind, what)

    def encode(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if self._write is None:
            return json_bytes(value, self._what)
        text = json.dumps(self._write(value))
        return base64.b64decode(columns.gateway().TestDriver.encode(self._format, text))

    def decode(self, raw: bytes | None) -> Any:
        if raw is None:
            return None
        if self._read is None:
            return json.loads(raw, object_hook=Struct)
        text = columns.gateway().TestDriver.decode(self._format, base64.b64encode(raw).decode())
        return self._read(json.loads(text))


class SinkValues:
    """The keys or values that a sink writes. `read`: returns them as JSON from bytes in base64."""

    def __init__(self, kind: Any, read: Callable[[str], str]) -> None:
        self._decode = None if kind is None else decoder(kind)
        self._read = read

    def decode(self, raw: bytes | None) -> Any:
        """Return the value of bytes."""
        if raw is None:
            return None
        if self._decode is None:
            return json.loads(raw, object_hook=Struct)
        return self._decode(json.loads(self._read(base64.b64encode(raw).decode())))


def json_bytes(value: Any, what: str) -> bytes:
    """Return a value as JSON. Raises TypeError for what JSON cannot represent."""
    numbers: dict[str, str] = {}

    def plain(part: Any) -> Any:
        if isinstance(part, dt.datetime | dt.date):
            return part.isoformat()
        if isinstance(part, decimal.Decimal):
            # The text of its number, which `json` cannot write, takes the place of a mark.
            mark = uuid.uuid4().hex
            numbers[f'"{mark}"'] = str(part) if part.is_finite() else f'"{part}"'
            return mark
        if isinstance(part, bytes):
            return base64.b64encode(part).decode()
        raise TypeError(f"{what} must be a JSON value, found {type(part).__name__} {part!r}"[:300])

    text = json.dumps(value, default=plain, ensure_ascii=False, separators=(",", ":"))
    for mark, number in numbers.items():
        text = text.replace(mark, number, 1)
    return text.encode()
