"""An input gets the fewest and simplest records that still show a difference."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from millrace_runtime.counterexamples.shrinking import shrink, simpler_values

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.sampled_from(["a", "b", "x=", "2020-01-01"]),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.sampled_from("xyz"), each),
    max_leaves=8,
)


def total(lines: list[Any]) -> int:
    """Return the sum of the values."""
    return sum(int(line["value"]) for line in lines)


def always() -> bool:
    return True


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.integers(0, 20))
def test_only_the_records_that_matter_are_left(numbers: list[int], wanted: int) -> None:
    lines: Any = [{"topic": "t", "value": n, "timestamp": i} for i, n in enumerate(numbers)]

    def shows(tried: list[Any]) -> bool:
        return total(tried) >= wanted

    if not shows(lines):
        return
    small = shrink(lines, shows, always)
    assert shows(small)
    assert total(small) == wanted
    assert {line["timestamp"] for line in small} == {0}


@given(VALUES)
def test_values_become_simpler_in_finitely_many_steps(value: Any) -> None:
    steps = 0
    while (found := next(simpler_values(value), None)) is not None or steps == 0:
        if steps == 0 and found is None:
            return
        value, steps = found, steps + 1
        assert steps < 200


def test_without_time_an_input_stays_as_it_is() -> None:
    lines: Any = [{"topic": "t", "value": n, "timestamp": n} for n in range(5)]
    assert shrink(lines, lambda _: True, lambda: False) == lines


def times(lines: list[Any]) -> list[int]:
    return [line["timestamp"] for line in lines]


def test_records_keep_their_distances_when_they_become_earlier() -> None:
    lines: Any = [{"topic": "t", "value": 0, "timestamp": at} for at in (70, 80, 75)]
    small = shrink(
        lines, lambda tried: [t - times(tried)[0] for t in times(tried)] == [0, 10, 5], always
    )
    assert times(small) == [0, 10, 5]


def test_a_text_that_records_share_becomes_another_one_in_all() -> None:
    lines: Any = [
        {"topic": "l", "key": "city", "value": {"id": 1}, "timestamp": 0},
        {"topic": "r", "key": None, "value": {"of": ["city"]}, "timestamp": 0},
    ]

    def shows(tried: list[Any]) -> bool:
        return len(tried) == 2 and [tried[0]["key"]] == (tried[1]["value"] or {}).get("of")

    small = shrink(lines, shows, always)
    assert small[0]["key"] == "a"
    assert small[1]["value"] == {"of": ["a"]}


def test_pairs_that_depend_on_each_other_are_left_out_together() -> None:
    lines: Any = [{"topic": "t", "value": v, "timestamp": 0} for v in (1, -1, 7)]
    small = shrink(lines, lambda tried: sum(line["value"] or 0 for line in tried) == 7, always)
    assert [line["value"] for line in small] == [7]
