"""Keys with windows: the bytes of Kafka's TimeWindowedSerde and SessionWindowedSerde."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from millrace_runtime import columns
from millrace_runtime.formats import Format
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

TIME: Format = {"format": "time_windowed", "inner": "string", "window_size": 300_000}
SESSION: Format = {"format": "session_windowed", "inner": "long"}


@pytest.mark.spark
def test_bytes_of_windowed_keys_are_those_of_kafka(warm: Any) -> None:
    window = "named_struct('start', timestamp_millis(5), 'end', timestamp_millis(300005))"
    text = columns.encode(F.expr(f"named_struct('key', 'a', 'window', {window})"), TIME)
    number = columns.encode(F.expr(f"named_struct('key', 7L, 'window', {window})"), SESSION)
    row = warm.spark.range(1).select(text.alias("time"), number.alias("session")).first()
    assert row is not None
    assert bytes(row["time"]) == b"a" + struct.pack(">q", 5)
    assert bytes(row["session"]) == struct.pack(">qqq", 7, 300_005, 5)


@pytest.mark.spark
def test_the_end_of_a_window_is_its_start_and_its_size(warm: Any) -> None:
    raw = (b"a" + struct.pack(">q", 5)).hex()
    key = columns.decode(F.expr(f"X'{raw}'"), TIME)
    row = warm.spark.range(1).select(key.alias("key")).selectExpr(
        "key.key", "unix_millis(key.window.start) AS start", "unix_millis(key.window.end) AS end"
    ).first()  # fmt: skip
    assert row is not None
    assert tuple(row) == ("a", 5, 300_005)
