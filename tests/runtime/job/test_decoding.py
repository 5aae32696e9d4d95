"""Records of a topic in the formats of a topology: Avro, Protobuf, a registry's header."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import fastavro
import pytest
from accounts.models import User
from millrace_backend.errors import ApiError
from records import decoding
from records.decoding import Reader
from records.reading import Raw

from cli.simulating import Warm

pytestmark = pytest.mark.spark

AVRO = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "item", "type": "string"}, {"name": "n", "type": ["null", "int"]}],
}
PROTOBUF = 'syntax = "proto3"; message Order { string item = 1; int32 n = 2; }'
STRING = {"format": "string"}


@pytest.fixture(autouse=True)
def simulator(warm: Warm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the simulator's own code in this process, without its socket."""
    from millrace_runtime.simulator.process import simulate

    monkeypatch.setattr(
        decoding, "ask", lambda request: simulate(warm.spark, warm.analyzer, request)
    )


def raw(key: bytes | None, value: bytes | None) -> Raw:
    return Raw(0, 0, 5, False, key, value, [])


def avro(order: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(AVRO), order)
    return out.getvalue()


def reader(value: Any, key: Any = STRING) -> Reader:
    return Reader(User(pk=1), key, value)


def test_avro_is_read_and_what_is_none_is_shown_as_bytes_with_the_reason() -> None:
    found = reader({"format": "avro", "schema": json.dumps(AVRO)}).decoded(
        [
            raw(b"a", avro({"item": "tea", "n": 2})),
            raw(b"b", b"\xff\xff\xff"),
            raw(None, None),
            raw(b"d", avro({"item": "清茶", "n": None})),
        ]
    )
    (key, value), (_, bad), (no_key, nothing), (_, last) = found
    assert (key.format, key.text) == ("string", "a")
    assert (value.format, json.loads(value.text or "")) == ("avro", {"item": "tea", "n": 2})
    assert (bad.format, bad.text) == ("bytes", "ffffff")
    assert "avro (value)" in (bad.error or "")
    assert (no_key.text, nothing.text) == (None, None)
    assert json.loads(last.text or "") == {"item": "清茶", "n": None}


def test_protobuf_and_numbers_are_read() -> None:
    order = b"\x0a\x03tea\x10\x02"
    found = reader({"format": "protobuf", "schema": PROTOBUF}, {"format": "long"})
    ((key, value),) = found.decoded([raw(struct.pack(">q", 7), order)])
    assert (key.format, key.text) == ("long", "7")
    assert json.loads(value.text or "") == {"item": "tea", "n": 2}


def test_a_schema_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ApiError) as refused:
        reader({"format": "avro", "schema": "{"}).decoded([raw(b"a", b"b")])
    assert refused.value.code == "unreadable_format"
