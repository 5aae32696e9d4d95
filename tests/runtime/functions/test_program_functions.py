"""Python functions in programs: what becomes of them in the document, and their errors."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any, NewType

import pytest
from millrace_compiler import compile_document
from millrace_runtime import json, string
from millrace_runtime.dsl.topology import Topology
from millrace_runtime.errors import MillraceError, ProgramError
from millrace_runtime.program import load_program

from tests.compiler.kit import OneTypeAnalyzer
from tests.runtime.functions_kit import refusal, translation

HEAD = """import math
from millrace_runtime import Topology, json, long, string

LIMIT = 10
topology = Topology("shop")
orders = topology.stream("orders", key=string(), value=json("item STRING, n INT, price DOUBLE"))
"""


def program(folder: Path, text: str) -> Path:
    file = folder / "shop.py"
    file.write_text(HEAD + text, encoding="utf-8")
    return file


def nodes(folder: Path, text: str) -> dict[str, Any]:
    """The nodes of a program's document by id."""
    made = load_program(program(folder, text)).document()["nodes"]
    return {each["id"]: each for each in made}


# ---- functions that are translated ---------------------------------------------------------------


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


# ---- functions that run in Python ----------------------------------------------------------------


def test_other_functions_become_processors_with_what_they_use(tmp_path: Path) -> None:
    made = nodes(
        tmp_path,
        """
def root(n: int) -> float:
    return math.sqrt(n + LIMIT)

def enrich(value):
    return {**value, "root": root(value["n"])}

rooted = orders.map_values(enrich)
rooted.filter(lambda v: round(v["root"]) > 2, name="wide").peek(lambda value: print(value))
""",
    )
    node = made["map-values"]
    assert node["kind"] == "process_values"
    assert node["params"]["code"].startswith("import math\n")
    assert "LIMIT = 10\n" in node["params"]["code"]
    assert node["params"]["code"].count("\ndef ") == 2
    assert node["params"]["output"] == {
        "value": "STRUCT<item: STRING, n: INT, price: DOUBLE, root: DOUBLE>"
    }
    assert 'def wide(v):\n    return round(v["root"]) > 2\n' in made["wide"]["params"]["code"]
    assert made["peek"]["kind"] == "process_values"


@pytest.mark.parametrize(
    ("function", "returned"),
    [
        ("def f(value) -> float: return math.sqrt(value['n'])", "DOUBLE"),
        ("def f(value) -> 'list[str] | None': return sorted(value['item'])", "ARRAY<STRING>"),
        ("def f(value): return sorted(value['item'])", "ARRAY<STRING>"),
        ("def f(value): return {'a': round(value['price']), 'item': value['item']}",
         "STRUCT<a: BIGINT, item: STRING>"),
        ("def f(value): return round(value['n'], 1) if value['n'] % 2 else 0.5", "DOUBLE"),
        ("def f(value): return round({'pen': 1.5, 'ink': 2.5}[value['item']], 1)", "DOUBLE"),
        ("def down(n): return 1 if n <= 1 else n * down(n - 1)\n"
         "def f(value): return down(value['n'])", "BIGINT"),
        ("import dataclasses\n@dataclasses.dataclass\nclass Line:\n"
         "    item: str\n    price: float\n"
         "def f(value) -> Line: return Line(value['item'], value['price'])",
         "STRUCT<item: STRING, price: DOUBLE>"),
        ("import typing\nclass Point(typing.NamedTuple):\n    x: int\n    label: str\n"
         "def f(value): return Point(round(value['n']), value['item'])",
         "STRUCT<x: INT, label: STRING>"),
        ("import datetime\n"
         "def f(value): return datetime.datetime.fromtimestamp(value['n'], datetime.UTC)",
         "TIMESTAMP"),
    ],
)  # fmt: skip
def test_types_come_from_annotations_or_samples(
    tmp_path: Path, function: str, returned: str
) -> None:
    made = nodes(tmp_path, f"{function}\norders.map_values(f)\n")
    assert made["map-values"]["params"]["output"] == {"value": returned}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("orders.map_values(lambda value: value['item']).map_values(str.upper, name='x')",
         "coalesce(upper(value), raise_error('TypeError: None in value.upper()'))"),
        ("orders.map_values(lambda value: value['item']).map_values(len, name='x')",
         "coalesce(char_length(value), raise_error('TypeError: None in len(value)'))"),
        ("import operator\norders.map_values(operator.itemgetter('item'), name='x')",
         "if(value IS NULL, raise_error('TypeError: value is None'), value.item)"),
        ("orders.map_values(lambda value: value['price']).map_values(math.floor, name='x')",
         "math.floor(value)"),
        ("import functools\n@functools.cache\ndef square(n: int) -> int: return n * n\n"
         "orders.map_values(lambda value: value['n']).map_values(square, name='x')",
         "square(value)"),
        ("class Twice:\n    def __call__(self, value): return round(2 * value['n'])\n"
         "twice = Twice()\norders.map_values(twice, name='x')", "twice(value)"),
        ("class Twice:\n    def of(self, value): return round(2 * value['n'])\n"
         "twice = Twice()\norders.map_values(twice.of, name='x')", "twice.of(value)"),
        ("class Tax:\n    rate = 3\n    @staticmethod\n"
         "    def of(value): return round(Tax.rate * value['n'])\n"
         "orders.map_values(Tax.of, name='x')", "Tax.of(value)"),
        ("import functools\ndef add(n, value, more=0): return round(value['n']) + n + more\n"
         "orders.map_values(functools.partial(add, 2, more=1), name='x')",
         "add(2, value, more=1)"),
        ("def logged(function):\n    def call(value): return function(value)\n    return call\n"
         "@logged\ndef name(value): return value['item'].title()\n"
         "orders.map_values(name, name='x')", "name(value)"),
    ],
)  # fmt: skip
def test_what_has_no_source_is_called_by_its_name(tmp_path: Path, text: str, expected: str) -> None:
    params = nodes(tmp_path, f"{text}\n")["x"]["params"]
    if "code" in params:
        assert f"    return {expected}\n" in params["code"]
    else:
        assert params["value"] == expected


def test_a_function_does_not_hide_what_it_calls(tmp_path: Path) -> None:
    text = 'orders.map(lambda key, value: (key, list(map(len, value["item"]))), returns="'
    made = nodes(tmp_path, text + 'STRUCT<key: STRING, value: ARRAY<INT>>")\n')
    assert "def map_2(key, value):\n" in made["map"]["params"]["code"]


def test_a_table_is_grouped_by_a_function_of_key_and_value(tmp_path: Path) -> None:
    text = 'orders.to_table().group_by(lambda key, value: (value["item"], value["n"])).count()\n'
    assert nodes(tmp_path, text)["count"]["params"]["group_by"] == {
        "key": "value.item",
        "value": "value.n",
    }
    with pytest.raises(MillraceError, match="takes a key and a value"):
        nodes(tmp_path, "orders.to_table().group_by('value.item')\n")


def test_a_function_is_called_for_each_record(tmp_path: Path) -> None:
    made = nodes(tmp_path, "orders.foreach(lambda key, value: print(key), name='show')\n")
    assert "Call show(key, value) for peek." in made["show"]["params"]["code"]


def test_an_aggregator_changes_what_it_returns(tmp_path: Path) -> None:
    made = nodes(
        tmp_path,
        """
def add(key, value, agg):
    agg["n"] += value["n"]
    agg["items"].append(value["item"])
    return agg

def collect(key, value, agg):
    agg.append(value["item"])
    return agg

grouped = orders.group_by_key()
grouped.aggregate("STRUCT<n: BIGINT, items: ARRAY<STRING>>", name="sums",
                  initializer=lambda: {"n": 0, "items": []}, aggregator=add)
grouped.aggregate("ARRAY<STRING>", initializer=lambda: [], aggregator=collect, name="list")
""",
    )
    assert made["list"]["params"]["aggregator"] == "concat(agg, array(value.item))"
    assert (
        "'items', coalesce(concat(agg.items, array(value.item))"
        in (made["sums"]["params"]["aggregator"])
    )


def test_a_reducer_can_be_an_operator_or_a_built_in_function(tmp_path: Path) -> None:
    made = nodes(
        tmp_path,
        """
import operator
numbers = orders.map_values(lambda value: value["n"]).filter(lambda n: n is not None)
numbers.group_by_key().reduce(operator.add, name="sum")
numbers.group_by_key().reduce(max, name="most")
for kind, name in (("BIGINT", int), ("ARRAY<INT>", list), ("MAP<STRING, INT>", dict)):
    numbers.group_by_key().aggregate(kind, initializer=name, aggregator="agg", name=name.__name__)
""",
    )
    assert made["sum"]["params"]["reducer"] == "agg + value"
    assert made["most"]["params"]["reducer"] == "greatest(agg, value)"
    empty = [made[name]["params"]["initializer"] for name in ("int", "list", "dict")]
    assert empty == ["0L", "array()", "CAST(map() AS MAP<STRING, INT>)"]


def test_branches_are_chosen_by_functions_in_python(tmp_path: Path) -> None:
    text = """
def dear(value):
    return round(value["price"]) > LIMIT

orders.split({"dear": dear, "a-few": lambda key, value: value["n"] < 3}, default="rest")
"""
    made = nodes(tmp_path, text)["split"]
    assert (made["kind"], made["params"]["outputs"]) == (
        "process_values",
        ["dear", "a-few", "rest"],
    )
    for part in ("LIMIT = 10\n", "def dear(value):\n", "def a_few(key, value):\n",
                 "        elif a_few(record.key, record.value):\n"):  # fmt: skip
        assert part in made["params"]["code"]
    with pytest.raises(MillraceError, match=r"branches\.few: Other branches run in Python"):
        nodes(tmp_path, text.replace('"a-few": lambda key, value: value["n"] < 3', '"few": "true"'))


def test_functions_and_modules_of_enclosing_functions_are_kept(tmp_path: Path) -> None:
    made = nodes(
        tmp_path,
        """
def build(rate):
    import statistics as st
    half = lambda n: n / 2
    def tax(n):
        return half(n) * rate
    return orders.map_values(lambda value: round(st.mean([tax(value["price"]), 1.0]), 2))
build(3)
""",
    )
    code = made["map-values"]["params"]["code"]
    for part in ("import statistics as st\n", "rate = 3\n", "def half(n):\n    return n / 2\n",
                 "def tax(n):\n    return half(n) * rate\n"):  # fmt: skip
        assert part in code
    assert made["map-values"]["params"]["output"] == {"value": "DOUBLE"}


def test_values_of_enclosing_functions_are_kept(tmp_path: Path) -> None:
    made = nodes(
        tmp_path,
        """
def build(limit):
    names = ["a", "b"]
    def keep(value, more=3):
        return round(value["price"]) > limit + more and value["item"] in names
    orders.filter(lambda value: round(value["price"]) > limit, name="dear")
    return orders.filter(keep)
build(5)
""",
    )
    assert "limit = 5\n\n\ndef dear(value):\n" in made["dear"]["params"]["code"]
    code = made["filter"]["params"]["code"]
    assert "limit = 5\n" in code
    assert "names = ['a', 'b']\n" in code
    assert "def keep(value, more=3):\n" in code


def test_a_function_groups_and_joins_streams_in_python(tmp_path: Path) -> None:
    made = nodes(
        tmp_path,
        """
items = topology.table("items", key=string(), value=string())
orders.group_by(lambda value: "%05d" % value["n"]).count()
orders.join(items, joiner=lambda left, right: "%s %s" % (left["item"], right), name="named")
""",
    )
    assert made["select-key"]["kind"] == "process"
    assert made["named"]["params"]["joiner"] == "named_struct('left', left, 'right', right)"
    assert 'record.value["left"]' in made["named-joiner"]["params"]["code"]


def test_a_program_of_a_document_shows_the_function_again(tmp_path: Path) -> None:
    text = """
def enrich(value):
    return {**value, "root": math.sqrt(value["n"] + LIMIT)}

def wide(value):
    return value["root"] > 2 and round(value["root"]) > 2

orders.map_values(enrich).filter(wide).select_key(lambda key, value: "%d" % value["n"]).to("out")
"""
    document = load_program(program(tmp_path, text)).document()
    compilation = compile_document(document, OneTypeAnalyzer())
    code = (compilation.require().code or {})["job.py"]
    assert list(compilation.code or {}) == ["job.py"]
    assert ".map_values(" in code
    assert "enrich," in code
    assert ".filter(wide)" in code
    assert "def select_key(key, value):\n" in code
    assert "class " not in code
    (tmp_path / "job.py").write_text(code, encoding="utf-8")
    again = load_program(tmp_path / "job.py").document()
    assert [(n["id"], n["kind"], n["params"]) for n in again["nodes"]] == [
        (n["id"], n["kind"], n["params"]) for n in document["nodes"]
    ]


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


def test_a_function_of_peek_always_acts(tmp_path: Path) -> None:
    made = nodes(tmp_path, 'orders.peek(lambda value: value["item"])\n')
    assert made["peek"]["kind"] == "process_values"


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


class Side(enum.Enum):
    BUY = "buy"
    SELL = "sell"


class Market(enum.StrEnum):
    PARIS = "paris"


Name = NewType("Name", str)


def side(value: Any) -> str:
    return Side(value["side"]).name


def market(value: Any) -> Market:
    return Market.PARIS


def named(value: Any) -> Name:
    return Name(min(value["side"], key=len))


def test_enums_and_new_types_are_texts() -> None:
    topology = Topology("t")
    orders = topology.stream("orders", key=string(), value=json("side STRING"))
    for function in (side, market, named, lambda value: Side(value["side"]).value):
        orders.map_values(function)
    made = [each for each in topology.document()["nodes"] if each["kind"] == "process_values"]
    assert [each["params"]["output"] for each in made] == [{"value": "STRING"}] * 4
