"""Keys with windows in the topic browser, which recognizes their bytes."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from millrace_backend.errors import ApiError
from records.codecs import decode
from records.encoding import records_of
from records.generating import recipe_of

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
    ("raw", "format", "shown"),
    [
        (key(b"a", 5), "time_windowed", {"key": "a", "window": {"start": 5}}),
        (key(b"", START), "time_windowed", {"key": "", "window": {"start": START}}),
        (key(b"\xff", 5), "time_windowed", {"key": "ff", "window": {"start": 5}}),
        (key(b"a", 9, 5), "session_windowed", {"key": "a", "window": {"start": 5, "end": 9}}),
    ],
)
def test_a_chosen_format_of_a_window_takes_any_time_and_key(
    raw: bytes, format: str, shown: object
) -> None:
    found = decode(raw, format)
    assert (found.format, json.loads(found.text or "")) == (format, shown)


@pytest.mark.parametrize(
    ("format", "schema"),
    [
        ({"format": "time_windowed", "inner": "string", "window_size": "5 minutes"}, None),
        ({"format": "session_windowed", "inner": "long"}, None),
        (
            {"format": "time_windowed", "inner": "json", "schema": "u INT", "window_size": 1000},
            "u",
        ),
    ],
)
def test_generated_keys_have_the_window_of_the_record(format: Any, schema: str | None) -> None:
    recipe = recipe_of("t", {"key": format, "value": {"format": "long"}, "keys": 3})
    for number in range(20):
        now = END + number * 61_000
        made = recipe.made(number, now)
        window = made.key["window"]
        assert 0 <= window["start"] <= now <= window["end"]
        ((raw, _, _),) = records_of(recipe, [(number, now)], "")
        shown = json.loads(decode(raw, format["format"]).text or "")
        assert shown["window"]["start"] == window["start"]
        assert shown["window"].get("end", window["end"]) == window["end"]
        assert schema is None or set(shown["key"]) == {schema}
        if format["format"] == "time_windowed":
            size = window["end"] - window["start"]
            assert (size, window["start"] % size) == (1000 if schema else 300_000, 0)


@pytest.mark.parametrize(
    ("format", "says"),
    [
        ({"format": "time_windowed", "inner": "string"}, "needs the size of its windows"),
        ({"format": "time_windowed", "inner": "string", "window_size": "soon"}, "needs the size"),
        ({"format": "session_windowed", "inner": "time_windowed"}, "one window"),
        ({"format": "session_windowed", "inner": "avro"}, "avro cannot be generated"),
    ],
)
def test_a_key_with_a_window_that_cannot_be_generated_is_refused(format: Any, says: str) -> None:
    with pytest.raises(ApiError, match=says):
        recipe_of("t", {"key": format, "value": {"format": "long"}})


def test_a_value_has_no_window() -> None:
    with pytest.raises(ApiError, match="session_windowed cannot be generated"):
        recipe_of(
            "t",
            {"key": {"format": "long"}, "value": {"format": "session_windowed", "inner": "long"}},
        )


def test_bytes_without_room_for_a_window_are_shown_with_the_reason() -> None:
    found = decode(b"short", "session_windowed")
    assert (found.format, found.text) == ("bytes", b"short".hex())
    assert found.error == "A key with a window has at least 16 bytes, found 5."


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
