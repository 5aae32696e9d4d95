"""Types, durations, schemas: what can be read, and the result."""

from __future__ import annotations

import pytest
from millrace_compiler.documents.durations import NoDuration, parse_duration, show_duration
from millrace_compiler.types.avro import NoAvroSchema, avro_type
from millrace_compiler.types.protobuf import NoProtobufSchema, read_protobuf
from millrace_compiler.types.types import NoType, parse_type, widens


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("int", "INT"),
        ("LONG", "BIGINT"),
        (" bigint ", "BIGINT"),
        ("decimal", "DECIMAL(10,0)"),
        ("DECIMAL(12)", "DECIMAL(12,0)"),
        ("dec(12, 3)", "DECIMAL(12,3)"),
        ("varchar(20)", "STRING"),
        ("array<int>", "ARRAY<INT>"),
        ("MAP<STRING,ARRAY<double>>", "MAP<STRING, ARRAY<DOUBLE>>"),
        ("struct<a:int,b:string>", "STRUCT<a: INT, b: STRING>"),
        ("a INT, b ARRAY<STRING>", "STRUCT<a: INT, b: ARRAY<STRING>>"),
        ("a INT NOT NULL COMMENT 'how many', b STRING", "STRUCT<a: INT, b: STRING>"),
        ("`a b`: INT", "STRUCT<`a b`: INT>"),
        ("date DATE, timestamp TIMESTAMP", "STRUCT<date: DATE, timestamp: TIMESTAMP>"),
        ("struct<>", "STRUCT<>"),
        ("interval day to second", "INTERVAL DAY TO SECOND"),
    ],
)
def test_ddl_is_read_into_one_canonical_form(text: str, canonical: str) -> None:
    assert parse_type(text).text == canonical
    assert parse_type(canonical).text == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "INTT",
        "ARRAY<",
        "ARRAY<INT",
        "STRUCT<a>",
        "MAP<STRING>",
        "a INT, a INT",
        "a INT b INT",
        "DECIMAL(99,1)",
        "DECIMAL(3,5)",
        "INT;",
        "a: INT,",
        "ARRAY<" * 300 + "INT" + ">" * 300,
    ],
)
def test_what_is_no_type_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(NoType) as caught:
        parse_type(text)
    assert str(caught.value)


def test_a_struct_is_written_as_fields_where_a_schema_is_wanted() -> None:
    assert parse_type("struct<a:int,`b c`:string>").schema == "a INT, `b c` STRING"
    assert parse_type("array<int>").schema == "ARRAY<INT>"


@pytest.mark.parametrize(
    ("found", "needed", "fits"),
    [
        ("INT", "BIGINT", True),
        ("BIGINT", "INT", False),
        ("FLOAT", "DOUBLE", True),
        ("INT", "STRING", False),
        ("VOID", "STRING", True),
        ("INT", "DECIMAL(12,2)", True),
        ("BIGINT", "DECIMAL(12,2)", False),
        ("DECIMAL(5,2)", "DECIMAL(8,3)", True),
        ("DECIMAL(8,3)", "DECIMAL(8,2)", False),
        ("ARRAY<INT>", "ARRAY<BIGINT>", True),
        ("STRUCT<a: INT>", "STRUCT<a: BIGINT>", True),
        ("STRUCT<a: INT>", "STRUCT<b: INT>", False),
        ("DATE", "TIMESTAMP", True),
    ],
)
def test_only_what_loses_nothing_is_widened(found: str, needed: str, fits: bool) -> None:
    assert widens(parse_type(found), parse_type(needed)) is fits


@pytest.mark.parametrize(
    ("raw", "ms"),
    [
        (0, 0),
        (250, 250),
        ("250 ms", 250),
        ("5 seconds", 5000),
        ("1 minute", 60_000),
        ("2 hours", 7_200_000),
        ("7 days", 604_800_000),
        ("1 week", 604_800_000),
        ("-5 seconds", -5000),
        ("  1Minute ", 60_000),
    ],
)
def test_durations_are_whole_milliseconds_or_text(raw: object, ms: int) -> None:
    assert parse_duration(raw) == ms


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "5",
        "five seconds",
        "1.5 hours",
        "1 month",
        1.0,
        True,
        None,
        [],
        2**63,
        "99999999999999 weeks",
    ],
)
def test_what_is_no_duration_is_refused(raw: object) -> None:
    with pytest.raises(NoDuration):
        parse_duration(raw)


@pytest.mark.parametrize(
    ("ms", "text"), [(0, "0 ms"), (1500, "1500 ms"), (60_000, "1 minute"), (7_200_000, "2 hours")]
)
def test_durations_are_shown_in_the_largest_exact_unit(ms: int, text: str) -> None:
    assert show_duration(ms) == text
    assert parse_duration(text) == ms


def test_avro_records_become_structs() -> None:
    schema = """{"type": "record", "name": "Order", "namespace": "shop", "fields": [
        {"name": "item", "type": "string"},
        {"name": "count", "type": ["null", "int"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9,
            "scale": 2}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "size", "type": {"type": "enum", "name": "Size", "symbols": ["S", "L"]}},
        {"name": "other", "type": {"type": "map", "values": "shop.Size"}},
        {"name": "n", "type": ["int", "long"]}]}"""
    assert avro_type(schema).text == (
        "STRUCT<item: STRING, count: INT, at: TIMESTAMP, price: DECIMAL(9,2), tags: ARRAY<STRING>, "
        "size: STRING, other: MAP<STRING, STRING>, n: BIGINT>"
    )


@pytest.mark.parametrize(
    "schema",
    [
        "nonsense",
        "{}",
        '{"type": "record", "name": "A"}',
        '{"type": "unknown"}',
        '{"type": "record", "name": "A", "fields": [{"name": "a", "type": "A"}]}',
        "[" * 5000,
    ],
)
def test_what_is_no_avro_schema_is_refused_with_a_reason(schema: str) -> None:
    with pytest.raises(NoAvroSchema) as caught:
        avro_type(schema)
    assert str(caught.value)


def test_protobuf_messages_become_structs() -> None:
    schema = """
    syntax = "proto3";  // a comment
    package shop;
    import "google/protobuf/timestamp.proto";
    message Order {
      string item = 1;
      repeated Line lines = 2;
      map<string, int64> counts = 3;
      google.protobuf.Timestamp at = 4;
      oneof pay { string card = 5; bytes cash = 6 [deprecated = true]; }
      enum Size { S = 0; L = 1; }
      Size size = 7;
      message Line { double price = 1; uint32 n = 2; }
      reserved 8, 9;
    }
    """
    assert read_protobuf(schema).type.text == (
        "STRUCT<item: STRING, lines: ARRAY<STRUCT<price: DOUBLE, n: BIGINT>>, "
        "counts: MAP<STRING, BIGINT>, at: TIMESTAMP, card: STRING, cash: BINARY, size: STRING>"
    )


def test_an_edition_has_presence_and_packs_numbers() -> None:
    declared = """
    message A {
      option features.enum_type = CLOSED;
      int32 n = 1;
      repeated int32 all = 2 [features.json_format = ALLOW];
      repeated string features = 3;
    }
    """
    found = read_protobuf(f'edition = "2023"; {declared}').message
    assert found["messages"] == {
        "A": [
            {"name": "n", "number": 1, "kind": "int32"},
            {"name": "all", "number": 2, "kind": "int32", "repeated": True, "packed": True},
            {"name": "features", "number": 3, "kind": "string", "repeated": True},
        ]
    }


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ('edition = "2024"; message A { }', "edition 2024"),
        ('edition = "2023"; option features.field_presence = IMPLICIT; message A { }', "presence"),
        (
            "edition = '2023'; message A "
            "{ repeated int32 n = 1 [features.repeated_field_encoding = EXPANDED]; }",
            "features.repeated_field_encoding",
        ),
        (
            'edition = "2023"; message A { B b = 1 [deprecated = true, features = '
            "{ message_encoding: DELIMITED }]; message B { } }",
            "option features;",
        ),
    ],
)
def test_features_that_change_the_bytes_are_refused(schema: str, reason: str) -> None:
    with pytest.raises(NoProtobufSchema, match=reason):
        read_protobuf(schema)


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "message",
        "message A {",
        "message A { B b = 1; }",
        "message A { A a = 1; }",
        "message A { int32 x; }",
        "message A { int32 x = y; }",
    ],
)
def test_what_is_no_proto_is_refused_with_a_reason(schema: str) -> None:
    with pytest.raises(NoProtobufSchema) as caught:
        read_protobuf(schema)
    assert str(caught.value)
