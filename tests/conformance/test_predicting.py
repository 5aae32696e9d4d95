"""Which differences of a result the announced codes explain."""

from __future__ import annotations

from typing import Any

from millrace_runtime.plain.predicting import unexplained
from millrace_runtime.plain.simulation import _reason
from millrace_runtime.results.differences import Difference


def output(key: str, value: int, after: int | None = None) -> Any:
    line = {"topic": "out", "key": key, "value": value, "timestamp": 0}
    return line if after is None else {"after": after, **line}


def compared(wanted: list[Any], found: list[Any], cut: str, *codes: str) -> list[Difference]:
    scenario: Any = {"compare": "sequence", "expected": {"outputs": wanted}, "topology": {}}
    return unexplained(scenario, {"outputs": found, "error": None}, cut, codes)


def test_the_order_of_one_micro_batch_is_explained_in_both_cuts() -> None:
    wanted = [output("a", 20, 1), output("a", 142, 2)]
    assert not compared(wanted, [output("a", 142), output("a", 20)], "all", "plain_order")
    moved = [output("a", 142, 1), output("a", 20, 2)]
    assert compared(wanted, moved, "each", "plain_order")


def test_an_update_that_a_later_one_of_its_line_replaced_is_explained() -> None:
    wanted = [output("a", 1, 1), output("a", 2, 1), output("a", 3, 2)]
    found = [output("a", 2, 1), output("a", 3, 2)]
    assert not compared(wanted, found, "each", "plain_updates")
    assert compared(wanted, found, "each")
    assert compared(wanted, found[1:], "each", "plain_updates")


def test_a_delete_of_a_row_that_was_never_written_is_explained() -> None:
    wanted = [output("a", 1), {**output("a", 1), "value": None}, output("b", 2)]
    assert not compared(wanted, [output("b", 2)], "all", "plain_sides")
    assert compared(wanted[::2], [output("b", 2)], "all", "plain_sides")


def test_a_row_that_is_written_again_is_explained() -> None:
    wanted = [output("a", 1, 1), output("a", 2, 3)]
    gone = {**output("b", 1, 2), "value": None}
    found = [output("a", 1, 1), gone, output("a", 1, 2), output("a", 2, 3)]
    assert not compared(wanted, found, "each", "plain_unchanged")
    assert compared(wanted, found, "each")
    assert compared(wanted, found[2:], "each", "plain_unchanged")


def test_the_reason_of_a_query_that_stopped_is_what_the_processor_raised() -> None:
    text = "An exception was raised.\nTraceback:\n  File x\nValueError: bad record\n\n\tat org.a.B"
    assert _reason(text) == "ValueError: bad record"
    assert _reason("x [DIVIDE_BY_ZERO] Division by zero. SQLSTATE\n") == (
        "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE"
    )
