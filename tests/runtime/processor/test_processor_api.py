"""The stores of a processor, on Spark: all four kinds and every method."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.results.cuts import Cut

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SEMANTICS = Path(__file__).parents[2] / "conformance" / "semantics"
HEAD = """class P(Processor):
    def init(self, context):
        self.context = context
        self.s = context.store("s")
    def process(self, record):
        s = self.s
        def say(found): self.context.forward(record.replace(value=repr(found)))
"""


def run(warm: Any, kind: str, body: str, **params: Any) -> Any:
    """Return what a processor with one store logs for two records with a restart between them."""
    code = HEAD + "".join(f"        {line}\n" for line in body.strip().splitlines())
    raw = {
        "format": "millrace.topology/1",
        "name": "api",
        "nodes": [
            {"id": "in", "kind": "source.stream",
             "params": {"topics": ["in"], "key": {"format": "string"},
                        "value": {"format": "string"}}},
            {"id": "s", "kind": f"store.{kind}", "params": {"name": "s", **params}},
            {"id": "p", "kind": "process",
             "params": {"code": code, "class_name": "P",
                        "output": {"key": "STRING", "value": "STRING"}}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "in", "target": "p"},
                  {"source": "s", "target": "p", "target_port": "store"},
                  {"source": "p", "target": "out"}],
    }  # fmt: skip
    lines: list[dict[str, Any]] = [
        {"topic": "in", "key": "k", "value": "write", "timestamp": 100},
        {"restart": True},
        {"topic": "in", "key": "k", "value": "read", "timestamp": 100},
    ]
    result = warm.simulate(raw, warm.compile(raw).require(), lines, Cut.parse("each"))
    assert result.error is None
    return [out["value"] for out in result.outputs]


def test_a_key_value_store_iterates_in_the_order_of_the_keys_bytes(warm: Any) -> None:
    printed = run(warm, "key_value", """
if record.value == "write":
    for key in (3, -1, 0, 256, 7): s.put(key, f"v{key}")
    return
say([k for k, _ in s.all()])
say([k for k, _ in s.reverse_all()])
say(list(s.range(0, 7)))
say([k for k, _ in s.range(None, 3)])
say([k for k, _ in s.reverse_range(3, 256)])
say([k for k, _ in s.prefix_scan(b"\\x00\\x00\\x01")])
say((s.get(7), s.get(8), s.put_if_absent(7, "x"), s.put_if_absent(9, "new"), s.get(9)))
say((s.delete(0), s.delete(0), s.approximate_num_entries()))
s.put(3, None)
say((s.get(3), [k for k, _ in s.all()]))
""", key_type="INT", value_type="STRING")  # fmt: skip
    assert printed == [
        "[0, 3, 7, 256, -1]",
        "[-1, 256, 7, 3, 0]",
        "[(0, 'v0'), (3, 'v3'), (7, 'v7')]",
        "[0, 3]",
        "[256, 7, 3]",
        "[256]",
        "('v7', None, 'v7', None, 'new')",
        "('v0', None, 5)",
        "(None, [7, 9, 256, -1])",
    ]


def test_keys_of_text_are_found_by_their_prefix(warm: Any) -> None:
    printed = run(warm, "key_value", """
if record.value == "write":
    for key in ("b", "ab", "é", "a", "abc", "Z"): s.put(key, 1)
    return
say([k for k, _ in s.prefix_scan("ab")])
say([k for k, _ in s.all()])
""", key_type="STRING", value_type="INT")  # fmt: skip
    assert printed == ["['ab', 'abc']", "['Z', 'a', 'ab', 'abc', 'b', 'é']"]


def test_an_iteration_of_many_rows_comes_in_pages_and_may_be_left(warm: Any) -> None:
    printed = run(warm, "key_value", """
if record.value == "write":
    for key in range(1700): s.put(key, key * 2)
    return
say(sum(v for _, v in s.all()))
say(next(iter(s.all())))
deleted = [s.delete(k) for k, _ in s.all() if k % 2]
say((len(deleted), s.approximate_num_entries()))
""", key_type="BIGINT", value_type="BIGINT")  # fmt: skip
    assert printed == [str(sum(2 * k for k in range(1700))), "(0, 0)", "(850, 850)"]


def test_a_window_store_finds_windows_by_key_and_time(warm: Any) -> None:
    printed = run(warm, "window", """
if record.value == "write":
    for key, value, start in (("a", 1, 60), ("a", 2, 80), ("b", 3, 80), ("a", 4, 100)):
        s.put(key, value, start)
    return
say((s.fetch("a", 80), s.fetch("a", 70)))
say(list(s.fetch("a", 60, 80)))
say(list(s.backward_fetch("a", 60, 100)))
say([(k["key"], k["window"]["start"], k["window"]["end"], v) for k, v in s.all()])
say([(k["key"], v) for k, v in s.fetch_all(80, 100)])
s.put("a", None, 80)
say(list(s.fetch("a", 0, 200)))
""", key_type="STRING", value_type="INT", retention=1000, window_size=20)  # fmt: skip
    assert printed == [
        "(2, None)",
        "[(60, 1), (80, 2)]",
        "[(100, 4), (80, 2), (60, 1)]",
        "[('a', 60, 80, 1), ('a', 80, 100, 2), ('a', 100, 120, 4), ('b', 80, 100, 3)]",
        "[('a', 2), ('a', 4), ('b', 3)]",
        "[(60, 1), (100, 4)]",
    ]


def test_a_session_store_finds_sessions_that_overlap(warm: Any) -> None:
    printed = run(warm, "session", """
def plain(found): return [(k["window"]["start"], k["window"]["end"], v) for k, v in found]
if record.value == "write":
    s.put("a", 10, 20, 1)
    s.put("a", 40, 50, 2)
    s.put("b", 10, 90, 3)
    return
say(plain(s.fetch("a")))
say(plain(s.find_sessions("a", 20, 39)))
say(plain(s.find_sessions("a", 21, 100)))
for key, _ in list(s.find_sessions("a", 0, 15)): s.remove(key)
say(plain(s.fetch("a")))
s.remove("a", 40, 50)
say((plain(s.fetch("a")), plain(s.fetch("b"))))
""", key_type="STRING", value_type="INT", retention=1000)  # fmt: skip
    assert printed == [
        "[(10, 20, 1), (40, 50, 2)]",
        "[(10, 20, 1)]",
        "[(40, 50, 2)]",
        "[(40, 50, 2)]",
        "([], [(10, 90, 3)])",
    ]


def test_a_versioned_store_answers_as_of_a_time(warm: Any) -> None:
    printed = run(warm, "versioned", """
if record.value == "write":
    s.put("a", "old", 10)
    s.put("a", "new", 50)
    s.put("a", "between", 30)
    return
say((s.get("a"), s.get("a", 10), s.get("a", 29), s.get("a", 35), s.get("a", 9)))
say((s.delete("a", 40), s.get("a", 45), s.get("a")))
s.put("a", None, 60)
say((s.get("a"), s.get("a", 55)))
""", key_type="STRING", value_type="STRING", history_retention=1000)  # fmt: skip
    assert printed == [
        "(ValueAndTimestamp(value='new', timestamp=50), ValueAndTimestamp(value='old', "
        "timestamp=10), ValueAndTimestamp(value='old', timestamp=10), "
        "ValueAndTimestamp(value='between', timestamp=30), None)",
        "('between', None, ValueAndTimestamp(value='new', timestamp=50))",
        "(None, ValueAndTimestamp(value='new', timestamp=50))",
    ]


def test_inputs_of_other_types_have_methods_and_the_class_has_arguments(warm: Any) -> None:
    code = """class Match(Processor):
    def __init__(self, tax):
        self.tax = tax

    def init(self, context):
        self.context = context
        self.items = context.store("items")

    def process(self, record):
        item = self.items.get(record.value.item)
        text = "none" if item is None else str(item.price * record.value.quantity + self.tax)
        self.context.forward(record.replace(value=text))

    def on_refund(self, record):
        self.context.forward(Record(str(record.key), "refund %s" % record.value, record.timestamp))
"""
    order = {"format": "json", "schema": "item STRING, quantity INT"}
    raw = {
        "format": "millrace.topology/1",
        "name": "api",
        "nodes": [
            {"id": "items", "kind": "source.table",
             "params": {"topic": "items", "key": {"format": "string"},
                        "value": {"format": "json", "schema": "price BIGINT"}}},
            {"id": "orders", "kind": "source.stream",
             "params": {"topics": ["orders"], "key": {"format": "string"}, "value": order}},
            {"id": "refunds", "kind": "source.stream",
             "params": {"topics": ["refunds"], "key": {"format": "long"},
                        "value": {"format": "double"}}},
            {"id": "match", "kind": "process",
             "params": {"code": code, "class_name": "Match", "arguments": {"tax": 1},
                        "inputs": ["on_refund"], "output": {"key": "STRING", "value": "STRING"}}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "orders", "target": "match"},
                  {"source": "refunds", "target": "match", "target_port": "on_refund"},
                  {"source": "items", "target": "match", "target_port": "store"},
                  {"source": "match", "target": "out"}],
    }  # fmt: skip
    lines: list[dict[str, Any]] = [
        {"topic": "items", "key": "tea", "value": {"price": 4}, "timestamp": 1},
        {"topic": "orders", "key": "a", "value": {"item": "tea", "quantity": 3}, "timestamp": 2},
        {"topic": "refunds", "key": 7, "value": 2.5, "timestamp": 3},
        {"topic": "orders", "key": "b", "value": {"item": "jam", "quantity": 1}, "timestamp": 4},
    ]
    result = warm.simulate(raw, warm.compile(raw).require(), lines, Cut.parse("all"))
    assert result.error is None
    found = [(out["key"], out["value"]) for out in result.outputs]
    assert found == [("a", "13"), ("7", "refund 2.5"), ("b", "none")]


def test_a_write_to_the_store_of_a_table_stops_the_job_with_the_line(warm: Any) -> None:
    raw = json.loads((SEMANTICS / "a-processor-reads-versions.json").read_text("utf-8"))["topology"]
    [read] = [node for node in raw["nodes"] if node["kind"] == "process"]
    read["params"]["code"] = read["params"]["code"].replace(
        'what, *args = record.value.split(" ")', 'self.table.put("b", "mine", 1)'
    )
    lines = [{"topic": "ask", "key": "k", "value": "b", "timestamp": 1}]
    error = warm.simulate(raw, warm.compile(raw).require(), lines, Cut.parse("all")).error
    assert "the store versions has no method 'put': it belongs to the node users" in str(error)
    assert "(line 7)" in str(error)


def test_a_failure_in_a_global_store_stops_the_job_whatever_the_handler_is(warm: Any) -> None:
    raw = json.loads((SEMANTICS / "a-global-store.json").read_text("utf-8"))["topology"]
    raw["settings"] = {"processing_handler": "continue"}
    lines = [{"topic": "rates", "key": "a", "value": "bad", "timestamp": 1}]
    error = warm.simulate(raw, warm.compile(raw).require(), lines, Cut.parse("all")).error
    assert "bad record" in str(error)
