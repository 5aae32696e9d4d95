"""The recorded answers are those that Spark gives."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from millrace_compiler import Analyzer, ExpressionRequest, compile_document
from millrace_compiler.inference.expression_faults import fault_of, functions

from tests.compiler.refused import REFUSED

GOLDEN = Path(__file__).parents[2] / "golden"
SCENARIOS = Path(__file__).parents[2] / "conformance" / "scenarios"


@pytest.fixture(scope="module")
def spark() -> Iterator[Analyzer]:
    from cli.documents import analyzer

    with analyzer() as known:
        yield known


@pytest.mark.spark
@pytest.mark.slow
def test_spark_gives_the_recorded_answers(spark: Analyzer, analyzer: Analyzer) -> None:
    documents = [raw for raw, _ in REFUSED.values()]
    documents += [json.loads(path.read_text("utf-8")) for path in GOLDEN.glob("*/topology.json")]
    documents += [json.loads(p.read_text("utf-8"))["topology"] for p in SCENARIOS.glob("*.json")]
    for raw in documents:
        recorded = compile_document(raw, analyzer).to_json()
        assert compile_document(raw, spark).to_json() == recorded


@pytest.mark.spark
@pytest.mark.slow
def test_a_wrong_text_gets_the_same_answer_whatever_was_read_before(spark: Analyzer) -> None:
    wrong = ["value >", "value.quantity > 10 )", "a b c", "case when value", "'open", "f(,1)"]
    requests = [ExpressionRequest(text, (("value", "STRING"),)) for text in wrong]
    alone = spark.analyze(requests)
    assert [bool(each.error) for each in alone] == [True] * len(wrong)
    for before in ("value > 1 and value", "case value when 1 then 2", "a.b[1]", "select", "not"):
        spark.analyze([ExpressionRequest(before, ())])
        assert spark.analyze(list(reversed(requests))) == list(reversed(alone))


@pytest.mark.spark
@pytest.mark.slow
def test_a_last_word_is_no_name_of_the_result(spark: Analyzer) -> None:
    texts = {
        "value.a > 1 OR": ("expression_ends", 13, 14),
        "value.b LIKE": ("expression_ends", 11, 12),
        "'é😀' = value.b  both \n": ("expression_syntax", 16, 20),
        "value.a > 1 AS `large or`": None,
        "value.a > 1 as large": None,
    }
    for text, expected in texts.items():
        [found] = spark.analyze([ExpressionRequest(text, RECORD)])
        if expected is None:
            assert found.type == "BOOLEAN"
        else:
            assert found.error is not None
            fault = fault_of(text, (), found.error)
            place = fault.position
            assert (fault.code, place and place.start, place and place.stop) == expected


RECORD = (("key", "STRING"), ("value", "a INT, b STRING"))


def judged(spark: Analyzer, text: str) -> str:
    """Return the type of an expression, or the error condition."""
    [found] = spark.analyze([ExpressionRequest(text, RECORD)])
    return found.type or (found.error.condition if found.error else None) or "?"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("levenshtein(repeat('a', 33333), repeat('b', 33333))", "INT"),
        ("from_json(value.b, repeat('a', 1000000000))", "TYPE_FORM"),
        (
            "named_struct(repeat('a', 1000000000), 1)",
            "DATATYPE_MISMATCH.CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING",
        ),
        ("from_json(value.b, schema_of_json('{\"a\": 1}'))", "STRUCT<a: BIGINT>"),
        ("ceil(value.a, length(repeat('y', 1000000000)))", "NON_FOLDABLE_ARGUMENT"),
        ("sequence(1, 1000000000)", "ARRAY<INT>"),
    ],
)
def test_nothing_is_computed_while_an_expression_is_analysed(
    spark: Analyzer, text: str, answer: str
) -> None:
    started = time.monotonic()
    assert judged(spark, text) == answer
    assert time.monotonic() - started < 10


def nested(levels: int, pattern: str, innermost: str) -> str:
    for _ in range(levels):
        innermost = pattern.replace("@", innermost)
    return innermost


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (nested(24, "element_at(transform(array(@), x -> struct(x, x)), 1)", "1"), "TOO_LARGE"),
        ("1e400000000bd", "TOO_LARGE"),
        ("a" * 20_001, "TOO_LARGE"),
        ("(" * 3000 + "1" + ")" * 3000, "TOO_DEEP"),
        ("- " * 5000 + "1", "TOO_DEEP"),
        (nested(400, "case when true then @ end", "1"), "TOO_DEEP"),
        ("+".join(["1"] * 4000), "TOO_DEEP"),
        ("a." * 8000 + "b", "TOO_DEEP"),
        ("/*" * 9000, "TOO_DEEP"),
        ("from_json(value.b, 'a " + "array<" * 300 + "int" + ">" * 300 + "')", "TOO_DEEP"),
    ],
    ids=["doubling type", "exponent", "length", "brackets", "signs", "cases", "sum", "name",
         "comments", "type"],
)  # fmt: skip
def test_an_expression_that_would_take_long_is_refused_before(
    spark: Analyzer, text: str, answer: str
) -> None:
    assert judged(spark, text) == answer


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "reflect('java.lang.System', 'getenv', 'PATH')",
        "`java_method`('java.lang.System', 'exit', 0)",
        "try_reflect('java.lang.System', 'getenv', 'PATH')",
        "system.builtin.reflect('java.lang.System', 'getenv', 'PATH')",
        "from_protobuf(cast(value.b as binary), 'A', '/etc/passwd')",
        "from_avro(cast(value.b as binary), '\"int\"', map('avroSchemaUrl', 'file:///etc/passwd'))",
        "from_xml(value.b, 'a INT', map('rowValidationXSDPath', '/etc/passwd'))",
        "input_file_name()",
        "current_user",
        "current_database()",
        "version()",
    ],
)
def test_a_function_that_reads_the_machine_is_refused(spark: Analyzer, text: str) -> None:
    assert judged(spark, text) in ("FUNCTION", "OPTION")


@pytest.mark.spark
@pytest.mark.slow
def test_whether_a_file_is_there_makes_no_difference(spark: Analyzer) -> None:
    there, missing = (
        spark.analyze([ExpressionRequest(f"from_protobuf(value.b, 'A', '{path}')", RECORD)])
        for path in ("/etc/passwd", "/etc/missing")
    )
    assert [each.error and each.error.message for each in there] == [
        each.error and each.error.message for each in missing
    ]


@pytest.mark.spark
@pytest.mark.slow
def test_the_page_offers_no_function_that_is_refused(spark: Analyzer) -> None:
    requests = [ExpressionRequest(f"`{name}`()", ()) for name in functions()]
    found = spark.analyze(requests)
    refused = [
        request.text
        for request, each in zip(requests, found, strict=True)
        if each.error is not None and each.error.condition == "FUNCTION"
    ]
    assert refused == []
