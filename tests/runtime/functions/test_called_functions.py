"""Functions that run in Python in expressions of tables, aggregations, joins and rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_runtime.errors import MillraceError
from millrace_runtime.functions.known_types import KnownTypes
from millrace_runtime.program import load_program

HEAD = """import re

from millrace_runtime import Topology, json, long, sessions, string

PRICES = {"a": 1.5, "b": 2.5}
topology = Topology("shop")
orders = topology.table("orders", key=string(), value=json("item STRING, n INT"))
clicks = topology.stream("clicks", key=string(), value=json("item STRING, n INT"))
items = topology.global_table("items", key=string(), value=json("category STRING"))


def price(key, value, agg):
    return round(agg + PRICES.get(value["item"], 0) * value["n"])


def less(key, value, agg) -> int:
    return round(agg - PRICES.get(value["item"], 0) * value["n"])


def both(left, right):
    return {"item": left["item"].title(), "n": right["n"] if right else None}


"""
#: the call of each method, and what the node's document has
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "a filter": (
        "orders.filter(lambda key, value: re.match('[ab]', value['item']))",
        {"predicate": "predicate(key, value)", "returns": {"predicate": "BOOLEAN"}},
    ),
    "a value by samples": (
        "orders.map_values(lambda v: {**v, 'total': round(v['n'] * 1.5, 2)})",
        {"value": "map_values(value)",
         "returns": {"map_values": "STRUCT<item: STRING, n: INT, total: DOUBLE>"}},
    ),
    "a value of a given type": (
        "orders.map_values(lambda v: eval('1'), returns='INT')",
        {"value": "map_values(value)", "returns": {"map_values": "INT"}},
    ),
    "an aggregation of a table": (
        "orders.group_by('value.item', 'value').aggregate("
        "'BIGINT', initializer=lambda: round(0.4), aggregator=price, subtractor=less)",
        {"initializer": "initializer()", "aggregator": "price(key, value, agg)",
         "subtractor": "less(key, value, agg)",
         "returns": {"initializer": "BIGINT", "less": "BIGINT", "price": "BIGINT"}},
    ),
    "groups of one function": (
        "orders.group_by(lambda k, v: (re.sub('x', 'y', v['item']), v),"
        " returns='STRUCT<key: STRING, value: STRUCT<item: STRING, n: INT>>').count()",
        {"group_by": {"key": "group(key, value).key", "value": "group(key, value).value"},
         "returns": {"group": "STRUCT<key: STRING, value: STRUCT<item: STRING, n: INT>>"}},
    ),
    "groups of two": (
        "orders.group_by(lambda v: re.sub('x', 'y', v['item']), lambda v: round(v['n'] / 2),"
        " returns={'key': 'STRING', 'value': 'BIGINT'}).count()",
        {"group_by": {"key": "group_key(value)", "value": "group_value(value)"},
         "returns": {"group_key": "STRING", "group_value": "BIGINT"}},
    ),
    "sessions": (
        "clicks.group_by_key().windowed_by(sessions('5 seconds')).aggregate('BIGINT', "
        "initializer='0L', aggregator=price, merger=lambda key, a, b: round(a + b))",
        {"aggregator": "price(key, value, agg)", "merger": "merger(key, left, right)",
         "returns": {"merger": "BIGINT", "price": "BIGINT"}},
    ),
    "a reduction": (
        "clicks.group_by_key().reduce(lambda a, v: {**v, 'n': round(a['n'] + v['n'])})",
        {"reducer": "reducer(agg, value)", "returns": {"reducer": "STRUCT<item: STRING, n: INT>"}},
    ),
    "a cogroup": (
        "clicks.group_by_key().cogroup(price).cogroup("
        "orders.to_stream().group_by_key(), less).aggregate('BIGINT', initializer='0L')",
        {"inputs": [{"port": "in1", "aggregator": "price(key, value, agg)"},
                    {"port": "in2", "aggregator": "less(key, value, agg)"}],
         "returns": {"less": "BIGINT", "price": "BIGINT"}},
    ),
    "a join of tables": (
        "orders.left_join(orders.filter('true'), joiner=both)",
        {"joiner": "both(left, right)", "returns": {"both": "STRUCT<item: STRING, n: INT>"}},
    ),
    "a foreign key": (
        "orders.join(orders.filter('true'), joiner='left',"
        " foreign_key=lambda v: v['item'].title())",
        {"foreign_key": "foreign_key(value)", "returns": {"foreign_key": "STRING"}},
    ),
    "the key of a global table": (
        "clicks.join(items, key=lambda v: re.sub('-', '', v['item']), joiner='right.category')",
        {"key": "group_key(value)", "returns": {"group_key": "STRING"}},
    ),
    "topic and partition": (
        "clicks.to(topic_expression=lambda v: v['item'].title(),"
        " partition=lambda v: round(v['n'] / 2))",
        {"topic_expression": "topic_expression(value)", "partition": "partition(value)",
         "returns": {"topic_expression": "STRING", "partition": "INT"}},
    ),
    "a rule": (
        "clicks.filter(lambda v: re.match('a', v['item']), rejected='warn')",
        {"predicate": "predicate(value)", "returns": {"predicate": "BOOLEAN"}},
    ),
    "a timestamp": (
        "topology.stream('at', key=string(), value=json('at DOUBLE'),"
        " timestamp=lambda v: round(v['at'] * 1000))",
        {"timestamp": "time_of(value)", "returns": {"time_of": "TIMESTAMP"}},
    ),
    "a timestamp of a table": (
        "from datetime import datetime\n\n\ndef at(value):\n"
        "    return datetime.fromisoformat(value['at'])\n\n\n"
        "topology.table('at', key=string(), value=json('at STRING'), timestamp=at)",
        {"timestamp": "at(value)", "returns": {"at": "TIMESTAMP"}},
    ),
    "key and value of a map": (
        "clicks.map(key=lambda v: re.sub('-', '', v['item']),"
        " value=lambda k, v: round(v['n'] / 2))",
        {"key": "map_key(value)", "value": "map_value(key, value)",
         "returns": {"map_key": "STRING", "map_value": "BIGINT"}},
    ),
    "the key of a map alone": (
        "clicks.map(key=lambda v: re.sub('-', '', v['item']), value=lambda v: v['n'] + 1)",
        {"key": "map_key(value)", "returns": {"map_key": "STRING"}},
    ),
    "a name that Spark's parser knows": (
        "def cast(v):\n    return v['item'].title()\n\n\norders.map_values(cast)",
        {"value": "`cast`(value)", "returns": {"cast": "STRING"}},
    ),
}  # fmt: skip


def document(folder: Path, text: str) -> Any:
    file = folder / "shop.py"
    file.write_text(HEAD + text + "\n", encoding="utf-8")
    return load_program(file).document()


@pytest.mark.parametrize("name", CALLS)
def test_a_function_becomes_the_call_of_it_and_a_program_has_it_again(
    tmp_path: Path, name: str
) -> None:
    text, expected = CALLS[name]
    found = document(tmp_path, text)
    [node] = [each for each in found["nodes"] if "functions" in each["params"]]
    assert {key: node["params"][key] for key in expected} == expected
    compilation = compile_document(found, KnownTypes())
    assert not [each for each in compilation.diagnostics if each.severity == "error"]
    assert compilation.code is not None
    assert '"code"' not in compilation.code["job.py"]
    (tmp_path / "job.py").write_text(compilation.code["job.py"], encoding="utf-8")
    again = load_program(tmp_path / "job.py").document()
    assert {each["id"]: each["params"] for each in again["nodes"]} == {
        each["id"]: each["params"] for each in found["nodes"]
    }


RULES = """import re

STEP = 1


def start():
    return round(STEP - 0.6)


def add(key, value, agg):
    return round(agg + STEP)


def less(key, value, agg):
    return round(agg - STEP)


def kept(value):
    return re.match("[a-k]", value["item"])
"""
SEVERAL = {
    "an aggregation": (
        "orders.group_by(lambda k, v: (re.sub('x', 'y', v['item']), v),"
        " returns='STRUCT<key: STRING, value: STRUCT<item: STRING, n: INT>>').aggregate("
        "'BIGINT', initializer=first.start, aggregator=first.add, subtractor=less)"
    ),
    "the program's function comes last": (
        "clicks.group_by_key().aggregate('BIGINT', initializer=first.start,"
        " aggregator=lambda key, value, agg: round(agg + 1))"
    ),
    "branches": (
        "clicks.split({'early': first.kept, 'late': lambda v: re.match('[l-z]', v['item'])})"
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_functions_of_one_node_come_from_several_modules(tmp_path: Path, name: str) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "first.py").write_text(RULES, encoding="utf-8")
    (tmp_path / "second.py").write_text(RULES.replace("STEP = 1", "STEP = 2"), encoding="utf-8")
    imports = "from rules import first\nfrom second import less as take\n"
    found = document(tmp_path, f"{imports}{SEVERAL[name].replace('=less', '=take')}")
    modules = found["settings"]["modules"]
    assert "rules.first" in modules
    assert ("second" in modules) == (name == "an aggregation")
    code = compile_document(found, KnownTypes()).code
    assert code is not None
    for path, text in code.items():
        if path.endswith(".py"):
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
    again = load_program(tmp_path / "job.py").document()
    assert [each["params"] for each in again["nodes"]] == [
        each["params"] for each in found["nodes"]
    ]
    assert again["settings"] == found["settings"]


def test_timestamps_that_order_several_topics_do_not_come_from_python(tmp_path: Path) -> None:
    from millrace_runtime.job.readings import Reading, timed

    found = document(
        tmp_path,
        "topology.stream('x', key=string(), value=json('at DOUBLE'),"
        " timestamp=lambda v: round(v['at'])).join(orders, joiner='left').to('y')",
    )
    graph = compile_document(found, KnownTypes()).require_task_graph()
    places = {each["node"]: at for at, each in enumerate(graph["nodes"])}
    readings = [
        Reading(places[topic], 0, 1, (topic,), None, "earliest", everywhere=False)
        for topic in ("x", "orders")
    ]
    assert timed(readings[1:], readings, graph["nodes"]) == []
    with pytest.raises(MillraceError, match="Its timestamps decide which of several") as refused:
        timed(readings, readings, graph["nodes"])
    assert (refused.value.node, refused.value.parameter) == ("x", "timestamp")
    assert timed(readings[:1], readings[:1], graph["nodes"]) == []


def test_functions_that_a_program_cannot_show_stay_text(tmp_path: Path) -> None:
    found = document(tmp_path, "orders.map_values(lambda v: v['item'].title())")
    node = found["nodes"][-1]
    node["params"]["value"] = "concat(map_values(value), '!')"
    compilation = compile_document(found, KnownTypes())
    assert compilation.code is not None
    text = compilation.code["job.py"]
    assert 'functions={"code": ' in text
    (tmp_path / "job.py").write_text(text, encoding="utf-8")
    assert load_program(tmp_path / "job.py").document()["nodes"][-1]["params"] == node["params"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clicks.group_by_key().aggregate('BIGINT', initializer='0L', aggregator="
         "lambda key, value, agg: str(value['n'] / 2))",
         "The lambda (shop.py, line 24) returns STRING for samples of its inputs, but BIGINT is "),
        ("def name(key, value, agg) -> str:\n    return str(value['n'] / 2)\n\n\n"
         "clicks.group_by_key().aggregate('BIGINT', initializer='0L', aggregator=name)",
         "name (shop.py, line 24) returns STRING by its annotation, but BIGINT is needed."),
        ("orders.map_values(lambda v: {v['n']})", "it returns a set that is not one type"),
        ("orders.filter('true', functions={'code': 'x'})", 'functions= takes {"code"'),
        ("clicks.peek('value.item', functions={'code': '', 'returns': {}})",
         "the expressions of peek cannot call functions"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_while_the_document_is_built(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(MillraceError) as found:
        document(tmp_path, text)
    assert message in str(found.value)


@pytest.mark.parametrize(
    ("source", "params", "code"),
    [
        ("source.table", {"functions": "x = 1\n", "returns": {"f": "INT"}}, "functions_none"),
        ("source.table", {"functions": "def f(v):\n    return 1\n"}, "functions_untyped"),
        ("source.table", {"functions": "def f(v):\n    return 1\n", "returns": {"g": "INT"}},
         "functions_unknown"),
        ("source.table", {"functions": "def f(v):\n    return 1\n", "returns": {"f": "NUMBER"}},
         "type"),
        ("source.stream", {"functions": "def f(v):\n    return 1\n", "returns": {"f": "INT"}},
         "functions_of_stream"),
    ],
)  # fmt: skip
def test_functions_of_a_document_are_checked(
    source: str, params: dict[str, Any], code: str
) -> None:
    topics: dict[str, Any] = {"topic": "t"} if source == "source.table" else {"topics": ["t"]}
    formats = {"key": {"format": "string"}, "value": {"format": "string"}}
    nodes = [
        {"id": "t", "kind": source, "params": {**topics, **formats}},
        {"id": "m", "kind": "map_values", "params": {"value": "f(value)", **params}},
    ]
    raw = {"format": "millrace.topology/1", "name": "x", "nodes": nodes,
           "edges": [{"source": "t", "target": "m"}]}  # fmt: skip
    found = compile_document(raw, KnownTypes()).diagnostics
    assert code in [each.code for each in found if each.node == "m"]
