"""Functions of programs that run in Python: their code in the document, and their types."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any, NewType

import pytest
from millrace_compiler import compile_document
from millrace_runtime import json, string
from millrace_runtime.dsl.topology import Topology
from millrace_runtime.errors import MillraceError
from millrace_runtime.program import load_program

from tests.compiler.kit import OneTypeAnalyzer
from tests.runtime.shop import nodes, program


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


def test_a_function_of_peek_always_acts(tmp_path: Path) -> None:
    made = nodes(tmp_path, 'orders.peek(lambda value: value["item"])\n')
    assert made["peek"]["kind"] == "process_values"


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
