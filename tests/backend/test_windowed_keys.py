"""Keys with windows in the topic browser, which recognizes their bytes."""

from __future__ import annotations

import json
import struct

import pytest
from records.codecs import decode

START, END = 1_750_000_000_000, 1_750_000_300_000


def key(inner: bytes, *times: int) -> bytes:
    return inner + struct.pack(f">{len(times)}q", *times)


@pytest.mark.parametrize(
    ("raw", "format", "shown"),
    [
        (key(b"a", START), "time_windowed", {"key": "a", "window": {"start": START}}),
        (
            key(b"a", END, START),
            "session_windowed",
            {"key": "a", "window": {"start": START, "end": END}},
        ),
        (
            key(b'{"user": 1}', START),
            "time_windowed",
            {"key": {"user": 1}, "window": {"start": START}},
        ),
        (key(struct.pack(">i", 7), START), "time_windowed", {"key": 7, "window": {"start": START}}),
    ],
)
def test_a_key_with_a_window_is_shown_decoded(raw: bytes, format: str, shown: object) -> None:
    found = decode(raw)
    assert (found.format, json.loads(found.text or "")) == (format, shown)


@pytest.mark.parametrize(
    ("raw", "format"),
    [
        (key(b"", START), "long"),
        (key(b"a", 5), "bytes"),
        (key(b"\xff\xfe", START), "bytes"),
        (key(b"a", START, END)[:-1], "bytes"),
        (b"ordinary text, long enough", "string"),
    ],
)
def test_other_bytes_are_not_taken_for_a_window(raw: bytes, format: str) -> None:
    assert decode(raw).format == format
