"""Short documents that describe something huge are refused in bounded time and space."""

from __future__ import annotations

import json
import time

import pytest
from millrace_compiler import Diagnostic
from millrace_compiler.documents.topic_patterns import NoPattern, TopicPattern

from tests.compiler.kit import compiled, document, faults, sink, stream

LONG_NAME = "a" * 30 + "b"


def doubling_avro(records: int) -> str:
    """Return a schema of records that each contain the previous one twice."""
    last: object = "string"
    for number in range(records):
        second = f"R{number - 1}" if number else "string"
        fields = [{"name": "a", "type": last}, {"name": "b", "type": second}]
        last = {"type": "record", "name": f"R{number}", "fields": fields}
    return json.dumps(last)


def doubling_protobuf(messages: int) -> str:
    parts = [f"message M{n} {{ M{n + 1} a = 1; M{n + 1} b = 2; }}" for n in range(messages)]
    return " ".join(['syntax = "proto3";', *parts, f"message M{messages} {{ string a = 1; }}"])


def reading(name: str, schema: str) -> object:
    value = {"format": name, "schema": schema}
    return document([stream(value=value), sink()], ["in > out"])


def findings(raw: object) -> list[Diagnostic]:
    started = time.perf_counter()
    found = compiled(raw).diagnostics
    assert time.perf_counter() - started < 5
    return found


@pytest.mark.parametrize(
    ("name", "schema"), [("avro", doubling_avro(40)), ("protobuf", doubling_protobuf(60))]
)
def test_a_schema_that_doubles_with_every_name_is_refused_with_the_reason(
    name: str, schema: str
) -> None:
    [found] = findings(reading(name, schema))
    assert (found.code, found.node, found.path) == ("format_bad_schema", "in", "value.schema")
    assert "a type of more than 100,000 characters" in found.message


@pytest.mark.parametrize(
    ("name", "schema"), [("avro", doubling_avro(8)), ("protobuf", doubling_protobuf(8))]
)
def test_a_schema_that_names_a_type_twice_is_read(name: str, schema: str) -> None:
    assert compiled(reading(name, schema)).ok


def test_the_size_of_a_type_is_about_the_length_of_its_text() -> None:
    found = compiled(reading("avro", doubling_avro(8))).ports["in", "out"].value
    assert found is not None
    assert len(found.text) <= found.size <= 1.5 * len(found.text)


@pytest.mark.parametrize(
    "schema",
    [
        " ".join(f"message M{n} {{ M{n + 1} a = 1; }}" for n in range(3000)) + "message M3000 {}",
        "message M { " + "oneof x { " * 3000,
        "message M { " * 3000,
    ],
)
def test_a_message_that_is_nested_without_end_is_refused(schema: str) -> None:
    [found] = findings(reading("protobuf", schema))
    assert "nested" in found.message


def test_a_pattern_that_backtracks_is_matched_in_linear_time() -> None:
    nodes = [stream(topic_pattern="(a+)+c"), stream("b", [LONG_NAME]), sink()]
    found = findings(document(nodes, ["in > out"], topics={LONG_NAME: 3}))
    assert "topic_pattern_overlap" not in {each.code for each in found}


def test_a_pattern_that_grows_without_end_is_refused() -> None:
    pattern = "((((a{1,1000}){1,1000}){1,1000}){1,1000})"
    raw = document([stream(topic_pattern=pattern), sink()], ["in > out"])
    assert [each.code for each in findings(raw)] == ["pattern"]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a)\1", "backreference"),
        (r"(?<n>a)\k<n>", "backreference"),
        ("a(?=b).*", "lookahead"),
        ("(?!a).*", "lookahead"),
        (".*(?<=b)", "lookbehind"),
        (".*(?<!b)", "lookbehind"),
        ("(?>a+)b", "atomic"),
        ("a++b", "possessive"),
        ("[a-z&&[^x]]+", "&&"),
        ("[a[0-9]]+", "“[” within a character class"),
        ("(?P<n>a)", "which Java does not support"),
        ("(", "missing"),
        ("a{x}", "“{”"),
        ("a" * 1001, "1001 characters"),
    ],
)
def test_what_java_and_re2_do_not_read_alike_is_refused_with_the_reason(
    pattern: str, reason: str
) -> None:
    assert faults(document([stream(topic_pattern=pattern), sink()], ["in > out"])) == [
        ("pattern", "in", "topic_pattern")
    ]
    with pytest.raises(NoPattern) as raised:
        TopicPattern(pattern)
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("orders-.*", "orders-eu", "old-orders-eu"),
        ("(?i)ORDERS", "orders", "order"),
        (r"\p{Alpha}+\p{Digit}{2}", "abc12", "abc123"),
        (r"[\p{Lower}_]+", "a_b", "A_b"),
        (r"\P{Upper}+", "abc-1", "abC"),
        (r"\p{L}+", "abc", "abc1"),
        (r"\u0061b", "ab", "bb"),
        (r"\Qa.b\E.*", "a.bc", "axbc"),
        (r"(?<region>eu|us)\.[^.]+", "eu.orders", "eu.orders.x"),
        ("[]a]+", "a", "b"),
        (r"[\]&a]+", "a", "b"),
        ("a{2,3}", "aaa", "a"),
    ],
)
def test_a_pattern_matches_whole_names_as_in_java(pattern: str, yes: str, no: str) -> None:
    found = TopicPattern(pattern)
    assert [found.matches(yes), found.matches(no)] == [True, False]


def test_a_source_is_as_wide_as_the_widest_topic_that_fits_its_pattern() -> None:
    topics = {"orders-a": 1, "orders-b": 2, "orders-c": 3}
    raw = document([stream(topic_pattern="orders-[ab]"), sink()], ["in > out"], topics=topics)
    plan = compiled(raw).plan
    assert plan is not None
    assert plan.subtopologies[0].tasks == 2
