"""Functions of programs that become expressions, and the errors of functions."""

from __future__ import annotations

from pathlib import Path

import pytest
from millrace_runtime import json, string
from millrace_runtime.dsl.topology import Topology
from millrace_runtime.errors import MillraceError, ProgramError
from millrace_runtime.program import load_program

from tests.runtime.functions_kit import refusal, translation
from tests.runtime.shop import nodes, program


def test_a_lambda_becomes_the_text_of_an_expression(tmp_path: Path) -> None:
    made = nodes(
        tmp_path,
        'orders.filter(lambda key, value: value is not None and value["n"] is not None '
        'and value["n"] > LIMIT)\n',
    )
    assert made["filter"]["kind"] == "filter"
    assert made["filter"]["params"]["predicate"] == (
        "value IS NOT NULL AND value.n IS NOT NULL AND value.n > 10"
    )


def test_none_fails_in_the_expression_as_in_python() -> None:
    assert translation('lambda value: value["i"] > 10').sql == (
        "coalesce(value.i > 10, raise_error('TypeError: None in value[\"i\"] > 10'))"
    )


def test_a_function_with_statements_and_helpers_is_translated(tmp_path: Path) -> None:
    made = nodes(
        tmp_path,
        """
def tier(n, high=100):
    return "high" if n > high else "low"

def enrich(value):
    n = value["n"] or 0
    if n > LIMIT:
        return {"tier": tier(n), "n": n}
    return {"tier": "none", "n": n}

orders.map_values(enrich)
""",
    )
    assert made["map-values"]["kind"] == "map_values"
    assert "'high'" in made["map-values"]["params"]["value"]


def test_every_argument_of_the_methods_takes_a_function(tmp_path: Path) -> None:
    made = nodes(
        tmp_path,
        """
items = topology.table("items", key=string(), value=json("category STRING, at BIGINT"),
                       timestamp=lambda value: value["at"])
owners = topology.table("owners", key=string(), value=string())
per_item = orders.select_key(lambda value: value["item"]).join(
    items, joiner=lambda order, item: {"category": item["category"], "n": order["n"]})
table = per_item.group_by(lambda value: value["category"]).aggregate(
    "BIGINT", initializer=lambda: 0, aggregator=lambda key, value, total: total + value["n"])
table.filter(lambda value: value > 5, name="many").to_stream().map(
    lambda key, value: (key + "!", value)).to(
    topic_expression=lambda key, value: "out-" + key, partition=lambda value: 0)
items.join(owners, joiner=lambda left, right: right, foreign_key=lambda value: value["category"])
orders.map_values(lambda value: value["n"]).group_by_key().reduce(lambda a, b: a + b)
orders.split({"big": lambda value: value["n"] > 5}, default="small")
orders.flat_map(lambda key, value: [(word, 1) for word in value["item"].split()])
""",
    )
    assert made["items"]["params"]["timestamp"].endswith("value.at)")
    assert made["join"]["params"]["joiner"] == (
        "named_struct('category', right.category, 'n', left.n)"
    )
    assert made["aggregate"]["params"]["initializer"] == "0L"
    assert made["aggregate"]["params"]["aggregator"].startswith("coalesce(agg + value.n, ")
    assert made["many"]["params"]["predicate"] == "value > 5"
    assert made["map"]["params"]["value"] == "value"
    assert made["out"]["params"]["partition"] == "0"
    assert made["join-2"]["params"]["foreign_key"] == "value.category"
    assert made["reduce"]["params"]["reducer"] == "agg + value"
    assert made["split"]["params"]["branches"][0]["predicate"].startswith("coalesce(value.n > 5")
    assert made["flat-map"]["kind"] == "flat_map"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lambda value: round(value.d)", "round is not a function"),
        ("lambda value: int(value.s)", "int is not a function"),
        ("lambda value: str(value.d)", "a DOUBLE as text"),
        ('lambda value: f"{value.d:.2f}"', "format"),
        ("lambda value: value.l / value.i", "greater than 2^53"),
        ("lambda value: value.l == value.d", "beyond 2^53"),
        ("lambda value: value.l * value.l * value.l", "38 digits"),
        ("lambda value: value.d // 2", "operator that is not translated"),
        ("lambda value: value.i // value.j", "positive constant"),
        ("lambda value: value.i ** 2", "operator that is not translated"),
        ("lambda value: value.s * 3", "not arithmetic"),
        ("lambda value: value.s == value.i", "compares a STRING with a INT"),
        ("lambda value: value.b + 1", "not arithmetic"),
        ("lambda value: value.b < value.b", "part that can fail"),
        ("lambda value: value.s.title()", ".title of a text"),
        ("lambda value: value.s.split(None, 1)", ".split of a text"),
        ("lambda value: value.s.upper().lower()", "twice"),
        ("lambda value: value.nothing if value.b else 1", "has no field 'nothing'"),
        ("lambda value: value.items", ".items is not a field"),
        ('lambda value: value["S"]', "has no field 'S'. Its fields: i, j,"),
        ("lambda value: OPEN if value.b else 'a'", "a constant tuple is not a value"),
        ("lambda value: PRICES", "a constant dict is not a value"),
        ("lambda value: PRICES[value.i]", "keys of other types than INT"),
        ("lambda value: {**{'a': 1 / value.i}, 'a': 2}", "a dict whose parts may fail"),
        ("def f(value):\n    value['i'] = 1\n    value['j'] = value['i']\n    return value\n",
         "is not a form"),
        ("def f(value):\n    other = value\n    value['i'] = 1\n    return other\n",
         "is not a form"),
        ("lambda value: value.ts == []", "is not a form"),
        ("lambda value: value.i is value.j", "identities"),
        ("lambda value: sum(n / 2 for n in value.ns)", "not a sum of integers"),
        ("lambda value: any([t for t in value.ts])", "is not a form"),
        ("lambda value: value.s[::-1]", "is not a form"),
        ("lambda value: value.s[:-1]", "slice that is not translated"),
        ("lambda value: {**value, 'S': 1}", "differ only in case"),
        ("lambda value: {}", "empty dict"),
        ("lambda value: None", "only None"),
        ("lambda value: undefined(value)", "undefined is not defined"),
        ("lambda value: (lambda x: x)(value)", "is not a form"),
        ("lambda value: 1 if value.b else 'a'", "in one place"),
        ("lambda value: (y := value.i)", "is not a form"),
        ("def f(value):\n    for n in value.ns:\n        return n\n", "is not a form"),
        ("def f(value):\n    x = value.i + 1\n    return 2\n", "x is not used"),
        ("def f(value):\n    if value.b:\n        x = 1\n    return x\n", "x is not assigned"),
        ("def f(value):\n    try:\n        return value.i\n    except TypeError:\n"
         "        return 0\n", "is not a form"),
        ("def f(value):\n    return f(value)\n", "too deeply"),
    ],
)  # fmt: skip
def test_what_could_differ_from_python_is_not_translated(text: str, reason: str) -> None:
    assert reason in refusal(text)


def test_an_initializer_has_the_types_of_the_aggregate() -> None:
    topology = Topology("t")
    orders = topology.stream("orders", key=string(), value=json("n INT, p DOUBLE"))
    orders.group_by_key().aggregate(
        "STRUCT<n: INT, p: DOUBLE>", name="sums",
        initializer=lambda: {"n": 0, "p": 0.0},
        aggregator=lambda key, value, agg: {**agg, "n": agg["n"] + 1},
    )  # fmt: skip
    [params] = [each["params"] for each in topology.document()["nodes"] if each["id"] == "sums"]
    assert params["initializer"] == "named_struct('n', 0, 'p', 0.0D)"
    assert "functions" not in params


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("orders.filter(lambda a, b, c: True, name='keep')",
         "shop.py, line 7, keep.predicate: A function of (value) or (key, value) is needed, not of "
         "(a, b, c)."),
        ("orders.map_values([len].pop)", "map-values.value: list.pop cannot be read: an object of "
         "builtin_function_or_method has no Python source; write a lambda or a def that calls it, "
         "or give it a name at the top of its file."),
        ("orders.map(key=lambda value: {value['n']}, value='value')",
         "map.key: The lambda (shop.py, line 7) runs in Python, because "),
        ("orders.map_values(lambda value: eval(value['item']))",
         "The type of what it returns is not clear, because it returns BIGINT and "
         'STRUCT<a: BIGINT>. Annotate what it returns, or give the Spark SQL type with '
         'returns="...".'),
        ("topology.stream('x', key=string(), value=string(), timestamp=lambda v: v.title())",
         "The lambda (shop.py, line 7) returns STRING for samples of its inputs, but an int of ms "
         "or a datetime is needed."),
        ("orders.map_values(lambda value: int(value['item'] + 'x'))",
         "because it raises ValueError: invalid literal for int()"),
        ("orders.map_values(lambda value: {c: 1 for c in value['item']})",
         "because its dicts have different keys; a map is dict[str, int]."),
        ("orders.map_values(lambda value: {value['n']})", "because it returns a set that is not"),
        ("orders.map_values(lambda value: round(value['n']), returns='NUMBER')",
         "returns='NUMBER' is not a type"),
        ("orders.filter(lambda value: value['prize'] > 1)",
         "filter.predicate: The lambda (shop.py, line 7): value has no field 'prize'. Did you mean "
         "price? Its fields: item, n, price."),
        ("orders.map_values(lambda value: (yield value['n']))",
         "cannot be read: it is a generator or a coroutine; return a list instead."),
        ("orders.filter(lambda *values: True)", "it takes any number of arguments"),
        ("orders.flat_map(lambda value: [round(value['n'])], returns='STRUCT<a: INT, b: INT>')",
         "flat_map needs an ARRAY<STRUCT<key, value>>, found STRUCT<a: INT, b: INT>."),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_node(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MillraceError) as found:
        load_program(program(tmp_path, text + "\n"))
    assert message in str(found.value)
    assert "shop.py, line 7" in str(found.value)


def test_the_error_of_a_function_is_a_program_error() -> None:
    topology = Topology("errors")
    orders = topology.stream("orders", key=string(), value=json("n INT"))
    with pytest.raises(ProgramError, match=r"keep\.predicate") as found:
        orders.to_table().filter(lambda a, b, c: True, name="keep")
    assert (found.value.node, found.value.parameter) == ("keep", "predicate")


def test_a_column_without_a_session_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    text = (
        'from pyspark.sql import functions as F\norders.map_values(F.upper(F.col("value.item")))\n'
    )
    with pytest.raises(MillraceError, match=r"shop\.py, line 8: .*needs an active Spark session"):
        load_program(program(tmp_path, text))
