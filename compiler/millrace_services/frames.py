"""JSON values over a pipe: four bytes of length, then UTF-8."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

HEADER = struct.Struct(">I")


def encode(value: object) -> bytes:
    """A value with its length in front."""
    body = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return HEADER.pack(len(body)) + body


def decode(body: bytes) -> Any:
    """The value of a body, without its length."""
    return json.loads(body)


def read(stream: BinaryIO) -> Any:
    """The next value; None at the end of the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (size,) = HEADER.unpack(header)
    return decode(stream.read(size))
