"""The stores of a processor, on Spark: all four kinds and every method."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime.simulation import Cut

pytestmark = [pytest.mark.spark, pytest.mark.slow]

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
        "(('new', 50), ('old', 10), ('old', 10), ('between', 30), None)",
        "('between', None, ('new', 50))",
        "(None, ('new', 50))",
    ]
