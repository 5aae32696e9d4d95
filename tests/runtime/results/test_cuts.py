"""How input lines become micro-batches."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.cuts import Cut

LINES: list[tuple[int, Any]] = [
    (1, {"topic": "a"}),
    (2, {"topic": "a"}),
    (3, {"advance_wall_clock": 5}),
    (4, {"topic": "b"}),
    (5, {"restart": True}),
    (6, {"topic": "a"}),
    (7, {"topic": "a"}),
]


def numbers(cut: Cut) -> list[list[int]]:
    return [[number for number, _ in batch] for batch in cut.batches(LINES)]


def test_each_line_is_a_batch_of_its_own() -> None:
    assert numbers(Cut.parse("each")) == [[1], [2], [3], [4], [5], [6], [7]]


def test_as_few_batches_as_clock_and_restarts_allow() -> None:
    assert numbers(Cut.parse("all")) == [[1, 2], [3], [4], [5], [6, 7]]


@pytest.mark.parametrize("seed", range(8))
def test_random_cuts_keep_every_line_in_its_order(seed: int) -> None:
    batches = numbers(Cut.parse(f"random:{seed}"))
    assert [number for batch in batches for number in batch] == [1, 2, 3, 4, 5, 6, 7]
    assert [3] in batches
    assert [5] in batches
    assert batches == numbers(Cut.parse(f"random:{seed}"))


@pytest.mark.parametrize("text", ["none", "random", "random:x", ""])
def test_an_unknown_cut_is_named(text: str) -> None:
    with pytest.raises(MillraceError, match="each, all or random:SEED"):
        Cut.parse(text)
