"""Conversion of the bytes of keys and values to readable text, and back.

The formats are those of the topology document (`millrace_compiler.parameters.formats`). Unless a
format is chosen, it is guessed from the bytes.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from millrace_backend.errors import cause

from records.choices import WINDOWED, RecordFormat

#: characters of a text in a list of records
SHOWN = 2_000
_NUMBERS = {
    RecordFormat.INTEGER: ">i",
    RecordFormat.LONG: ">q",
    RecordFormat.FLOAT: ">f",
    RecordFormat.DOUBLE: ">d",
}
#: whole numbers of eight bytes are expected to be smaller; other values are read as doubles
_PLAUSIBLE = 1 << 53
_BLANKS = "\t\n\r"
#: milliseconds from 1980 to 2100, which eight bytes at the end of a windowed key contain
_TIMES = range(315_532_800_000, 4_102_444_800_000)
#: prefix that a schema registry's serializers write: a zero byte and the schema's id
_SCHEMA_HEADER = struct.Struct(">bI")


class Undecodable(ValueError):
    """Raised for bytes or text that are not valid in a format; the message has the reason."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.cause = cause(code, message, facts)


@dataclass(frozen=True)
class Decoded:
    """A decoded key or value: its format, and its text, or None for null."""

    format: str
    text: str | None
    size: int
    error: str | None = None
    #: schema id that the bytes appear to begin with
    schema_id: int | None = None

    @property
    def value(self) -> Any:
        """The value that a JSON path is applied to."""
        if self.text is None or self.format in {RecordFormat.STRING, RecordFormat.BYTES}:
            return self.text
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return self.text


def decode(raw: bytes | None, chosen: str = RecordFormat.AUTO) -> Decoded:
    """Decode bytes; return hexadecimal digits and the reason if they do not match the format."""
    if raw is None:
        return Decoded("null", None, 0)
    if chosen == RecordFormat.AUTO:
        return _guessed(raw)
    try:
        return Decoded(chosen, text_of(raw, chosen), len(raw))
    except Undecodable as error:
        return Decoded(RecordFormat.BYTES, raw.hex(), len(raw), str(error))


def text_of(raw: bytes, format: str) -> str:
    """Return bytes as text in a format. Raises Undecodable if they are not valid in it."""
    if format in _NUMBERS:
        return _number(raw, format)
    if format == RecordFormat.BOOLEAN:
        if raw not in {b"\x00", b"\x01"}:
            raise Undecodable("bytes_boolean", "A boolean is one byte, 0 or 1.", found=raw.hex())
        return "true" if raw == b"\x01" else "false"
    if format == RecordFormat.BYTES:
        return raw.hex()
    if format in WINDOWED:
        return _key_with_window(raw, WINDOWED[format])
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        message = f"Not UTF-8: byte {error.start} is not valid."
        raise Undecodable("bytes_encoding", message, position=error.start) from None
    if format == RecordFormat.JSON:
        _check_json(text)
    return text


def _check_json(text: str) -> None:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Undecodable("json_invalid", f"Not JSON: {error}.", reason=error) from None


def _number(raw: bytes, format: str) -> str:
    layout = _NUMBERS[RecordFormat(format)]
    size = struct.calcsize(layout)
    if len(raw) != size:
        message = f"The format {format} needs {size} bytes, found {len(raw)}."
        raise Undecodable("bytes_size", message, format=format, needed=size, found=len(raw))
    return str(struct.unpack(layout, raw)[0])


def _guessed(raw: bytes, *, windowed: bool = True) -> Decoded:
    size = len(raw)
    try:
        text: str | None = raw.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and all(each.isprintable() or each in _BLANKS for each in text):
        return Decoded(RecordFormat.JSON if _is_json(text) else RecordFormat.STRING, text, size)
    if size == 4:
        return Decoded(RecordFormat.INTEGER, text_of(raw, RecordFormat.INTEGER), size)
    if size == 8:
        whole = abs(struct.unpack(">q", raw)[0]) < _PLAUSIBLE
        kind = RecordFormat.LONG if whole else RecordFormat.DOUBLE
        return Decoded(kind, text_of(raw, kind), size)
    found = _windowed(raw) if windowed else None
    if found is not None:
        return found
    if raw in {b"\x00", b"\x01"}:
        return Decoded(RecordFormat.BOOLEAN, text_of(raw, RecordFormat.BOOLEAN), size)
    schema_id = None
    if size > _SCHEMA_HEADER.size:
        magic, number = _SCHEMA_HEADER.unpack_from(raw)
        schema_id = number if magic == 0 else None
    return Decoded(RecordFormat.BYTES, raw.hex(), size, schema_id=schema_id)


def _windowed(raw: bytes) -> Decoded | None:
    """Decode a key with the bounds of its window, in milliseconds; None for other bytes.

    The key must be text or a whole number: arbitrary bytes may end like a time.
    """
    for name, count in sorted(WINDOWED.items()):
        inner, bounds = raw[: -8 * count], raw[-8 * count :]
        if len(bounds) < 8 * count:
            continue
        times = struct.unpack(f">{count}q", bounds)
        if not all(time in _TIMES for time in times) or times[0] < times[-1]:
            continue
        key = _guessed(inner, windowed=False) if inner else None
        if key is None or key.format in {RecordFormat.BYTES, RecordFormat.DOUBLE}:
            continue
        return Decoded(name, _key_with_window(raw, count), len(raw))
    return None


def _key_with_window(raw: bytes, bounds: int) -> str:
    """Return a key and the bounds of its window, which are its last bytes. Raises Undecodable."""
    if len(raw) < 8 * bounds:
        needed, found = 8 * bounds, len(raw)
        message = f"A key with a window has at least {needed} bytes, found {found}."
        raise Undecodable("bytes_window", message, needed=needed, found=found)
    inner, window = raw[: -8 * bounds], raw[-8 * bounds :]
    *end, start = struct.unpack(f">{bounds}q", window)
    shown = {"start": start, **({"end": end[0]} if end else {})}
    key = _guessed(inner, windowed=False).value
    return json.dumps({"key": key, "window": shown}, ensure_ascii=False)


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def encode(text: str, format: str) -> bytes:
    """Return the bytes of a text in a format; for ``bytes``, the text is hexadecimal digits.

    Raises Undecodable with the reason if the text is not valid in the format.
    """
    if format in _NUMBERS:
        return _packed(text, format)
    if format == RecordFormat.BOOLEAN:
        if text not in {"true", "false"}:
            raise Undecodable("text_boolean", "A boolean is true or false.")
        return b"\x01" if text == "true" else b"\x00"
    if format == RecordFormat.BYTES:
        try:
            return binascii.unhexlify("".join(text.split()))
        except ValueError as error:
            message = f"Not hexadecimal digits: {error}."
            raise Undecodable("text_hexadecimal", message, reason=error) from None
    if format == RecordFormat.JSON:
        _check_json(text)
    return text.encode()


def _packed(text: str, format: str) -> bytes:
    layout = _NUMBERS[RecordFormat(format)]
    read: Callable[[str], float] = int if layout in {">i", ">q"} else float
    try:
        return struct.pack(layout, read(text))
    except (ValueError, struct.error, OverflowError):
        size = struct.calcsize(layout)
        message = f"{text[:40]!r} is not a valid {format} ({size} bytes)."
        raise Undecodable(
            "text_number", message, text=text[:40], format=format, size=size
        ) from None


def cut(text: str | None, most: int = SHOWN) -> tuple[str | None, bool]:
    """Return the beginning of a text, and whether it was truncated."""
    if text is None or len(text) <= most:
        return text, False
    return text[:most], True


def as_base64(raw: bytes | None, most: int) -> str | None:
    """Return at most the first `most` bytes in Base64."""
    return None if raw is None else base64.b64encode(raw[:most]).decode()
