"""Which records of the two sides are paired, and how they differ."""

from __future__ import annotations

from typing import Any

from millrace_runtime.plain.comparing import _aspects, _longest_rise, _pairs, _repeated, _replaced


def records(*given: tuple[int | None, str, Any]) -> list[Any]:
    """Return outputs of one topic from (causing line, key, value)."""
    found = []
    for line, key, value in given:
        record = {"topic": "out", "key": key, "value": value, "timestamp": 0}
        found.append(record if line is None else {"after": line, **record})
    return found


def paired(exact: list[Any], plain: list[Any]) -> list[Any]:
    """Return for each pair its indexes on both sides, and how it differs."""
    found = []
    for pair in _pairs(exact, plain):
        first = None if pair.exact is None else exact[pair.exact]
        second = None if pair.plain is None else plain[pair.plain]
        differs = list(_aspects(first, second, in_order=pair.in_order))
        found.append((pair.exact, pair.plain, differs))
    return found


def test_the_last_of_several_updates_of_a_key_is_the_one_that_is_left() -> None:
    exact = records((None, "a", 1), (None, "b", 1), (None, "a", 2), (None, "a", 2))
    plain = records((None, "a", 2), (None, "b", 1))
    assert paired(exact, plain) == [
        (0, None, ["missing"]),
        (1, 1, ["order"]),
        (2, None, ["missing"]),
        (3, 0, []),
    ]
    assert _replaced(exact) == {0, 2}
    assert _repeated(exact) == {3}


def test_another_value_of_a_key_is_shown_beside_it() -> None:
    exact = records((1, "a", 1), (2, "b", None), (2, "a", 2), (5, "c", 7))
    plain = records((1, "a", 5), (2, "a", 2), (6, "b", None), (7, "d", 1))
    assert paired(exact, plain) == [
        (0, 0, ["value"]),
        (1, 2, ["input"]),
        (2, 1, []),
        (3, None, ["missing"]),
        (None, 3, ["extra"]),
    ]


def test_a_value_of_the_same_line_is_preferred() -> None:
    # Plain Spark drops the record of line 2, so all later counts are one lower.
    exact = records((1, "a", 1), (2, "a", 2), (3, "a", 3))
    plain = records((1, "a", 1), (3, "a", 2))
    assert paired(exact, plain) == [(0, 0, []), (1, None, ["missing"]), (2, 1, ["value"])]


def test_equal_is_what_kafka_streams_comparison_calls_equal() -> None:
    exact = records((1, "a", {"n": 2, "gone": None}), (1, "b", 1))
    plain = records((1, "a", {"n": 2.0}), (1, "b", 1))
    plain[1]["headers"] = {"h": "x"}
    plain[1]["timestamp"] = 5
    assert paired(exact, plain) == [(0, 0, []), (1, 1, ["headers", "timestamp"])]


def test_as_few_records_as_possible_are_called_moved() -> None:
    assert _longest_rise([3, 0, 1, 2]) == {1, 2, 3}
    assert _longest_rise([]) == set()
    exact = records(*((1, key, 0) for key in "abcd"))
    plain = records(*((1, key, 0) for key in "bcda"))
    assert [differs for _, _, differs in paired(exact, plain)] == [["order"], [], [], []]


def test_a_delete_of_a_row_that_is_not_there_is_a_repeat() -> None:
    assert _repeated(records((1, "a", None), (1, "a", 1), (2, "a", None), (3, "a", None))) == {0, 3}
