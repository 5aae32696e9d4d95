"""Formats and columns of the operator: bytes in Kafka and values in Spark SQL."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from millrace_compiler.types.protobuf import read_protobuf
from millrace_runtime import columns
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

pytestmark = [pytest.mark.spark, pytest.mark.slow]

AVRO = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
    ],
}
PROTO = """
syntax = "proto3";
message Order {
  int64 id = 1;
  string name = 2;
  repeated int32 numbers = 3;
  optional int32 seen = 8;
  enum Color { RED = 0; GREEN = 1; }
  Color color = 6;
}
"""
PROTOBUF = {"format": "protobuf", "schema": PROTO, "message": read_protobuf(PROTO).message}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from cli.simulating import Warm

    warm = Warm()
    yield warm.spark
    warm.close()


def one(spark: Any, expression: str, format: Any) -> tuple[bytes, Any]:
    """Return the bytes of a value in a format, and the value read back from them."""
    df = spark.sql(f"SELECT {expression} AS v")
    df = df.select(columns.encode(F.col("v"), format).alias("bytes"))
    row = df.select("bytes", columns.decode(F.col("bytes"), format).alias("back")).first()
    return bytes(row["bytes"]), row["back"]


def read(spark: Any, data: bytes, format: Any) -> Any:
    """Return the value of the bytes, or the fault's message."""
    decoded = columns.decode(F.lit(data), format)
    tried = columns.attempt(decoded, "source", "value", "deserialization").alias("tried")
    row = spark.range(1).select(tried).first()["tried"]
    if row["fault"] is not None:
        return json.loads(row["fault"])["message"]
    return row["value"]


def test_a_long_is_eight_bytes_big_endian(spark: Any) -> None:
    assert one(spark, "-2L", {"format": "long"}) == (b"\xff" * 7 + b"\xfe", -2)


def test_bytes_of_the_wrong_length_are_refused(spark: Any) -> None:
    assert read(spark, b"abc", {"format": "long"}) == "format long needs 8 bytes, found 3"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1, "other": [2]}', (1, None)),
        ('{"b": "x"}', (None, "x")),
        ('{"a": "1"}', 'found the text "1" at /a, needs INT'),
        ("[1]", "found an array at /0, needs STRUCT<a: INT, b: STRING>"),
        ('{"a": 1} 2', "more than one JSON value"),
        ('{"a": 3000000000}', None),
    ],
)
def test_json_must_fit_its_schema(spark: Any, text: str, found: Any) -> None:
    value = read(spark, text.encode(), {"format": "json", "schema": "a INT, b STRING"})
    if isinstance(found, tuple):
        assert tuple(value) == found
    elif found is None:
        assert "out of range" in value
    elif text == "[1]":
        assert value.startswith("found an array")
    else:
        assert value == found


SHORT = "a INT, b STRING, c BIGINT, d BOOLEAN, e STRUCT<f: STRING, g: INT>"
PIECES = [
    '"a"', '"b"', '"c"', '"d"', '"e":{"f":"x","g":1}', '"e":{}', '"b":"x"', '"b":""', '"other":1',
    "{", "}", "{}", ":", ",", " ", "\n", "1", "0", "-1", "-0", "01", "1.5", "1e3", "123456789",
    "2147483647", "2147483648", "999999999999999999", "9223372036854775807", "9223372036854775808",
    "null", "true", "false", "nul", "[]", '"tail', '"\\n"', '"\\u00e9"', '"é"', "\t", "\x00",
    '"a":1', '"c":-12', '"d":true', '"a":null', '"a":1.5', '"c":9223372036854775808', '"a":01',
]  # fmt: skip


def test_json_is_read_and_written_the_same_by_the_short_way(spark: Any) -> None:
    of = spark._jvm.org.apache.spark.sql.millrace
    schema = of.Expressions.parseType(SHORT)
    short, way = of.JsonBytes.of(schema), of.Json
    chance = random.Random(23)
    texts = ['{"a":1,"b":"x","c":-9,"d":false,"e":{"f":"y","g":-0}}', ' {"c" : 7 , "a":null}\n']
    for _ in range(600):
        fields = chance.choices(PIECES, k=chance.randrange(5))
        texts.append(
            "{"
            + chance.choice([",", ",", ":", ""]).join(fields)
            + chance.choice(["}", "}", " } ", "}1"])
        )
    taken = 0
    for data in [*(text.encode() for text in texts), b'{"a":1}\xff', b'{"b":"\xe9"}', b""]:
        row = short.parse(data)
        if row is None:
            continue
        taken += 1
        assert row.equals(way.parse(data, schema)), data
        written = short.bytes(row)
        assert written is not None
        assert bytes(written) == bytes(way.bytes(row, schema)), data
    assert taken > 100
    escaped = way.parse('{"b":"a\\"é"}'.encode(), schema)
    assert short.bytes(escaped) is None
    assert of.JsonBytes.of(of.Expressions.parseType("a DOUBLE, b INT")) is None


def test_a_timestamp_is_written_as_ms_and_read_from_ms_or_iso_text(spark: Any) -> None:
    format = {"format": "json", "schema": "t TIMESTAMP"}
    data, _ = one(spark, "named_struct('t', timestamp'2024-01-01 00:00:00.5')", format)
    assert data == b'{"t":1704067200500}'
    same = read(spark, data, format)
    assert read(spark, b'{"t": "2024-01-01T01:00:00.500+01:00"}', format) == same


def test_infinities_and_decimals_in_json(spark: Any) -> None:
    data, _ = one(
        spark,
        "named_struct('x', double('-Infinity'), 'd', cast(1.50 AS DECIMAL(9, 2)))",
        {"format": "json", "schema": "x DOUBLE, d DECIMAL(9, 2)"},
    )
    assert data == b'{"x":"-Infinity","d":1.50}'


def test_avro_is_read_as_it_was_written(spark: Any) -> None:
    format = {"format": "avro", "schema": json.dumps(AVRO)}
    value = "named_struct('id', 5L, 'note', 'x', 'at', timestamp_millis(7), 'tags', array('a'))"
    data, back = one(spark, value, format)
    assert data == b"\x0a\x02\x02x\x0e\x02\x02a\x00"
    assert (back["id"], back["note"], back["tags"]) == (5, "x", ["a"])


def test_avro_behind_a_registrys_header_is_read_without_a_registry(spark: Any) -> None:
    format = {"format": "avro", "schema": json.dumps(AVRO)}
    value = read(spark, b"\x00\x00\x00\x00\x2a" + b"\x0a\x00\x0e\x00", format)
    assert (value["id"], value["note"], value["tags"]) == (5, None, [])


def test_avro_that_ends_too_early_is_refused(spark: Any) -> None:
    found = read(spark, b"\x0a", {"format": "avro", "schema": json.dumps(AVRO)})
    assert found == "the bytes are shorter than the Avro schema requires"


def test_protobuf_is_read_as_it_was_written(spark: Any) -> None:
    data, back = one(
        spark,
        "named_struct('id', 150L, 'name', 'testing', 'numbers', array(3, 270, 86942), "
        "'seen', 0, 'color', 'GREEN')",
        PROTOBUF,
    )
    assert data.hex() == "0896011207" + b"testing".hex() + "1a06038e029ea7054000" + "3001"
    assert tuple(back) == (150, "testing", [3, 270, 86942], 0, "GREEN")


def test_protobuf_fields_that_are_not_there(spark: Any) -> None:
    value = read(spark, b"", PROTOBUF)
    assert tuple(value) == (0, "", [], None, "RED")


def test_keys_go_where_kafkas_default_partitioner_sends_them(spark: Any) -> None:
    keys = [None, b"", b"a", b"ab", b"abc", b"abcd", b"kafka"]
    df = spark.createDataFrame([(key,) for key in keys], "key BINARY")
    rows = df.select(columns.partition_for(F.col("key"), 1 << 30).alias("p")).collect()
    # murmur2 of Kafka's clients, with the sign bit cleared.
    known = {b"21": -973932308, b"foobar": -790332482, b"abc": 479470107}
    assert rows[0]["p"] == 0
    assert rows[4]["p"] == (known[b"abc"] & 0x7FFFFFFF) % (1 << 30)
    gateway = columns.gateway()
    for key, hashed in known.items():
        assert gateway.Partitioner.murmur2(bytearray(key)) == hashed


def test_a_step_that_raises_becomes_a_fault_and_its_siblings_go_on(spark: Any) -> None:
    df = spark.createDataFrame([("1",), ("x",), (None,)], "v STRING")
    tried = columns.attempt(F.expr("CAST(v AS INT)"), "step", "value").alias("tried")
    rows = [row["tried"] for row in df.select(tried).collect()]
    assert [row["value"] for row in rows] == [1, None, None]
    fault = json.loads(rows[1]["fault"])
    assert (fault["kind"], fault["node"], fault["parameter"]) == ("processing", "step", "value")
    assert fault["code"] == "CAST_INVALID_INPUT"
    assert rows[2]["fault"] is None
