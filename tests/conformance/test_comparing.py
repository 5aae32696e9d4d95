"""The comparison itself: it reports every difference and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime.results.comparing import differences


def scenario(compare: str = "sequence", **expected: Any) -> Any:
    base: Any = {"outputs": [], "dropped": None, "stores": {}, "error": None}
    return {"compare": compare, "topology": {"nodes": []}, "expected": {**base, **expected}}


def out(after: int, value: Any, key: str = "k", topic: str = "out") -> Any:
    return {"after": after, "topic": topic, "key": key, "value": value, "timestamp": after}


def test_equal_outputs_have_no_difference() -> None:
    expected = scenario(outputs=[out(1, 2), out(2, {"a": 1, "b": None})])
    assert differences(expected, {"outputs": [out(1, 2.0), out(2, {"a": 1})]}, "each") == []


def test_another_order_in_a_topic_is_a_difference() -> None:
    expected = scenario(outputs=[out(1, "a"), out(1, "b")])
    found = differences(expected, {"outputs": [out(1, "b"), out(1, "a")]}, "each")
    assert len(found) == 2


def test_the_order_between_topics_is_free() -> None:
    expected = scenario(outputs=[out(1, "a"), out(1, "b", topic="other")])
    assert (
        differences(expected, {"outputs": [out(1, "b", topic="other"), out(1, "a")]}, "each") == []
    )


def test_the_causing_line_counts_only_when_every_line_is_cut_off() -> None:
    expected = scenario(outputs=[out(1, "a")])
    late: Any = {"outputs": [{**out(2, "a"), "timestamp": 1}]}
    assert differences(expected, late, "each")
    assert differences(expected, late, "all") == []


def test_records_of_one_input_may_come_in_any_order_as_a_set() -> None:
    expected = scenario("set_per_input", outputs=[out(1, "a"), out(1, "b"), out(2, "c")])
    assert differences(expected, {"outputs": [out(1, "b"), out(1, "a"), out(2, "c")]}, "all") == []
    assert differences(expected, {"outputs": [out(1, "b"), out(2, "c"), out(1, "a")]}, "each")


def test_only_the_last_of_each_key_counts_where_it_is_asked_for() -> None:
    expected = scenario("last_per_key", outputs=[out(1, 1), out(2, 2)])
    assert differences(expected, {"outputs": [out(2, 2)]}, "each") == []
    assert differences(expected, {"outputs": [out(1, 1)]}, "each")


@pytest.mark.parametrize("wrong", [[], [{"key": "a", "value": 2, "timestamp": 1}]])
def test_a_store_with_other_rows_is_a_difference(wrong: list[Any]) -> None:
    expected = scenario(stores={"s": [{"key": "a", "value": 1, "timestamp": 1}]})
    assert differences(expected, {"outputs": [], "stores": {"s": wrong}}, "each")


def test_a_run_that_failed_is_a_difference() -> None:
    assert differences(scenario(), {"error": {"code": "internal", "message": "no"}}, "each")


def test_a_refusal_needs_a_message() -> None:
    refused = scenario("refused", error={"kind": "refused"})
    assert differences(refused, {"error": {"code": "x", "message": "why"}}, "each") == []
    assert differences(refused, {"error": {"code": "x", "message": ""}}, "each")
    assert differences(refused, {"outputs": []}, "each")


def test_a_stop_at_another_input_is_a_difference() -> None:
    stopped = scenario(error={"kind": "stopped", "after": 3})
    assert (
        differences(stopped, {"outputs": [], "error": {"after": 3, "message": "m"}}, "each") == []
    )
    assert differences(stopped, {"outputs": [], "error": {"after": 2, "message": "m"}}, "each")
    assert differences(stopped, {"outputs": [], "error": None}, "each")
