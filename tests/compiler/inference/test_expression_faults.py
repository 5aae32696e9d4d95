"""Diagnostics of faulty expressions: message, hint and the marked place."""

from __future__ import annotations

import pytest
from millrace_compiler import Analyzer, compile_document
from millrace_compiler.diagnostics.diagnostics import Diagnostic
from millrace_compiler.diagnostics.guesses import nearest
from millrace_compiler.inference.expression_faults import functions

from tests.compiler.kit import line, node, stream

BASKET = {
    "format": "json",
    "schema": "item STRING, quantity INT, customer STRUCT<name: STRING, city: STRING>, "
    "tags ARRAY<STRING>",
}


def fault(text: str, analyzer: Analyzer) -> Diagnostic:
    raw = line(node("made", "map_values", value=text))
    raw["nodes"][0] = stream(value=BASKET)
    [found] = [d for d in compile_document(raw, analyzer).diagnostics if d.node == "made"]
    assert (found.parameter, found.severity) == ("value", "error")
    return found


def marked(text: str, found: Diagnostic) -> str:
    assert found.position is not None
    return text[found.position.start : found.position.stop]


# text, code, marked part, words of message and hint
FAULTS = [
    # ---- unknown names
    ("lenght(value.item)", "expression_function", "lenght", "“lenght” Did you mean length?"),
    ("ai_query('x')", "expression_function_other", "ai_query", "“ai_query” built-in functions"),
    ("a.upper(key)", "expression_function", "a.upper", "“a.upper” Did you mean upper?"),
    ("valeu.item", "expression_column", "valeu", "“valeu” Did you mean value? key, value,"),
    ("`kye` || 'a'", "expression_column", "`kye`", "“kye” Did you mean key?"),
    ("quantity + 1", "expression_column", "quantity", "Did you mean value.quantity?"),
    ("qantity + 1", "expression_column", "qantity", "Did you mean value.quantity?"),
    ("zzz", "expression_column_other", "zzz", "Available columns: key, value, timestamp, headers,"),
    ("transform(value.tags, x -> zz)", "expression_column_other", "zz", "no column “zz”"),
    ("value.itme", "expression_field", "itme", "“itme” Did you mean item? item, quantity,"),
    ("value.customer.nmae", "expression_field", "nmae", "“nmae” Did you mean name? name, city."),
    ("value['price']", "expression_field_other", "price", "“price” Available fields: item,"),
    ("value.quantity.x", "expression_no_parts", "value.quantity.x", "value.quantity is INT"),
    # ---- types and arguments
    ("length(key, 2)", "expression_arguments", "length(key, 2)", "1 argument, but got 2"),
    ("substr(key)", "expression_arguments", "substr(key)", "2 or 3 substr(str, pos[, len])"),
    (
        "value.tags = 1",
        "expression_sides",
        "value.tags = 1",
        "left side is ARRAY<STRING>, right side is INT",
    ),
    ("key AND key", "expression_operand", "key AND key", "Expected BOOLEAN, this is STRING"),
    ("if(1, 2, 3)", "expression_argument", "if(1, 2, 3)", "first argument, 1, is INT BOOLEAN"),
    (
        "aggregate(value.tags, 0, (a, x) -> a + x)",
        "expression_argument",
        "aggregate(value.tags, 0, (a, x) -> a + x)",
        "The third argument is BIGINT, but INT is expected.",
    ),
    ("CAST(value AS INT)", "expression_cast", "CAST(value AS INT)", "STRUCT<item: converted INT"),
    ("CAST(key AS TEXT)", "expression_data_type", "TEXT", "Unknown type “TEXT”. BIGINT"),
    ("from_json(key, 'a FOO')", "expression_data_type", "FOO", "Unknown type “FOO”."),
    # ---- not possible in an expression over one record
    ("key || sum(value.quantity)", "expression_aggregate", "sum(value.quantity)", "“Count”"),
    ("rank() OVER (ORDER BY key)", "expression_aggregate", "rank() OVER (ORDER BY key)", "rank()"),
    ("explode(value.tags)", "expression_generator", "explode(value.tags)", "“Flat map values”"),
    ("posexplode(value.tags)", "expression_generator", "posexplode(value.tags)", "several rows"),
    ("window(timestamp, '1 day')", "expression_window", "window(timestamp, '1 day')", "window of"),
    ("1 + (SELECT 1)", "expression_subquery", "(SELECT 1)", "Subqueries Join"),
    ("key IN (SELECT 'a')", "expression_subquery", "SELECT", "Subqueries Join"),
    ("current_time()", "expression_present_time", "current_time()", "timestamp column now()"),
    ("key || uniform(0, 9)", "expression_random", "uniform(0, 9)", "each time; rand() xxhash64("),
    ("shuffle(value.tags)", "expression_random", "shuffle(value.tags)", "a different value"),
    ("rand(value.quantity)", "expression_random", "rand(value.quantity)", "a different value"),
    (
        "transform(value.tags, tag -> tag || uuid())",
        "expression_random_element",
        "uuid()",
        "the same for all elements “Flat map values”",
    ),
    ("value.*", "expression_star", "value.*", "“value.*” struct(…)"),
    ("key = :name", "expression_parameter", ":name", "“:name” the value itself"),
    ("+".join(["1"] * 20_000), "expression_deep", None, "nested too deeply several nodes"),
    # ---- syntax
    ("upper(key", "expression_unclosed", "y", "“)” is missing."),
    ("key || ", "expression_ends", "|", "is incomplete"),
    ("key = 'a", "expression_open_quote", "'a", "starts with ' but is not closed"),
    ("key == = 1", "expression_syntax", "=", "“=” is not expected here."),
    ("SELECT key FROM t", "expression_statement", None, "a statement without SELECT"),
    ("key = ’a’", "expression_character", "’", "“’” is not allowed in SQL. Replace it with '"),
    ("key\u200b = 1", "expression_syntax", "\u200b", "U+200B is not expected here."),
    ("DATE '2020-13-01'", "expression_syntax", "DATE '2020-13-01'", "2020-13-01"),
    # ---- Spark's own message, for rare errors
    ("1" * 50, "expression", "1" * 50, "exceeds max precision 38"),
]


@pytest.mark.parametrize(
    ("text", "code", "place", "words"), FAULTS, ids=[text[:30] for text, *_ in FAULTS]
)
def test_a_faulty_expression_is_explained_at_its_place(
    text: str, code: str, place: str | None, words: str, analyzer: Analyzer
) -> None:
    found = fault(text, analyzer)
    assert found.code == code
    if place is not None:
        assert marked(text, found) == place
    reported = f"{found.message} {found.hint}"
    at = 0
    for word in words.split():
        assert word in reported[at:], reported
        at = reported.index(word, at)


@pytest.mark.parametrize(
    "text",
    [
        "upper(\n  key,\n  lenght(value.item)\n)",
        "upper(key)\r\n  || lenght(key)",
        "'日本語' || lenght(key)",
        "'😀😀' || lenght(key)",
        "-- 😀\n/* 日本 */ concat('😀', lenght(key))",
        "\t\tlenght(key)",
    ],
)
def test_the_place_is_right_over_lines_and_beyond_ascii(text: str, analyzer: Analyzer) -> None:
    found = fault(text, analyzer)
    assert marked(text, found) == "lenght"


@pytest.mark.parametrize("text", ["'😀' ||\n '日本' ) ", "-- 😀\n'😀' || key )", "'a'\n\n)"])
def test_the_place_of_a_syntax_error_is_right_over_lines_and_beyond_ascii(
    text: str, analyzer: Analyzer
) -> None:
    assert marked(text, fault(text, analyzer)) == ")"


def test_nothing_of_the_machine_gets_into_an_expression(analyzer: Analyzer) -> None:
    # Spark would substitute the value of the variable.
    assert fault("${env:HOME}", analyzer).code == "expression_syntax"


def test_the_nearest_name_is_found_whatever_its_case() -> None:
    known = list(functions())
    assert nearest("LENGHT", known) == "length"
    assert nearest("to_timestmp", known) == "to_timestamp"
    assert nearest("qqqqq", known) is None


def test_a_wrong_function_is_reported_where_types_are_not_known(analyzer: Analyzer) -> None:
    raw = line(
        node("broken", "map_values", value="nothing_of_the_kind"),
        node("keep", "filter", predicate="lenght(value) > 1"),
        node("again", "filter", predicate="value.a > 1"),
    )
    found = compile_document(raw, analyzer).diagnostics
    assert [(d.node, d.code) for d in found] == [
        ("broken", "expression_column_other"),
        ("keep", "expression_function"),
    ]
