"""Outputs of two versions, compared by key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deployments.output_diff import RUNNING, SHADOW, Counts, OutputDiff
from records.reading import Raw

#: key, value, timestamp
Row = tuple[str | None, str | None, int]


def add(diff: OutputDiff, side: int, topic: str, rows: list[Row], **places: int) -> None:
    raw = [
        Raw(
            0, at, time, False, None if key is None else key.encode(),
            None if value is None else value.encode(), [],
        )
        for at, (key, value, time) in enumerate(rows)
    ]  # fmt: skip
    diff.add(
        side, topic, [diff.row(side, topic, each) for each in raw],
        {int(number[1:]): at for number, at in places.items()},
    )  # fmt: skip


A, B = ("a", "1", 5), ("a", "2", 6)

CASES: list[tuple[str, list[Row], list[Row], Counts]] = [
    ("the same", [A, B], [A, B], Counts(equal=2)),
    ("nothing", [], [], Counts()),
    ("another value", [A], [("a", "9", 5)], Counts(differing=1)),
    ("another time", [A], [("a", "1", 7)], Counts(differing=1)),
    ("a tombstone", [A], [("a", None, 5)], Counts(differing=1)),
    ("no value is not an empty one", [("a", None, 5)], [("a", "", 5)], Counts(differing=1)),
    ("only in the one", [A, B], [A], Counts(equal=1, only_running=1)),
    ("only in the other", [B], [A, B], Counts(equal=1, only_shadow=1)),
    ("one that is there twice", [A, A], [A], Counts(equal=1, only_running=1)),
    ("another key", [A], [("b", "1", 5)], Counts(only_running=1, only_shadow=1)),
    ("another order of one key", [A, B], [B, A], Counts(equal=2, reordered=2)),
    ("another order of two keys", [A, ("b", "1", 5)], [("b", "1", 5), A], Counts(equal=2)),
    ("an update more shifts nothing", [A, B], [("a", "0", 1), A, B],
     Counts(equal=2, only_shadow=1)),
    ("without keys", [(None, "1", 5), (None, "2", 5)], [(None, "2", 5), (None, "3", 5)],
     Counts(equal=1, only_running=1, only_shadow=1)),
]  # fmt: skip


@pytest.mark.parametrize(("running", "shadow", "found"), [c[1:] for c in CASES],
                         ids=[c[0] for c in CASES])  # fmt: skip
@pytest.mark.parametrize("buckets", [1, 5])
def test_records_are_matched_by_key_and_occurrence(
    tmp_path: Path, running: list[Row], shadow: list[Row], found: Counts, buckets: int
) -> None:
    diff = OutputDiff(tmp_path / "diff", buckets)
    add(diff, RUNNING, "out", running)
    add(diff, SHADOW, "out", shadow)
    add(diff, SHADOW, "elsewhere", [A])
    total = Counts()
    for bucket in range(buckets):
        total.add(diff.match("out", bucket)[0])
    assert total == found
    diff.close()


def test_examples_have_both_records_and_are_limited(tmp_path: Path) -> None:
    diff = OutputDiff(tmp_path / "diff")
    many: list[Row] = [(f"k{n}", "1", n) for n in range(50)]
    add(diff, RUNNING, "out", [("a", "1", 5), *many])
    add(diff, SHADOW, "out", [("a", "x" * 5_000, 5)])
    counts, examples = diff.match("out", 0)
    assert (counts.differing, counts.only_running) == (1, 50)
    assert [each["kind"] for each in examples] == ["differing"] + ["only_running"] * 20
    one: Any = examples[0]
    assert (one["key"], one["running"]["value"]) == (b"a", b"1")
    assert one["shadow"]["value"] == b"x" * 2_000
    another: Any = examples[1]
    assert (another["shadow"], another["running"]["offset"]) == (None, 1)
    diff.close()


def test_a_comparison_goes_on_where_it_was_left(tmp_path: Path) -> None:
    diff = OutputDiff(tmp_path / "diff")
    add(diff, RUNNING, "out", [A], p0=1, p3=12)
    diff.close()
    again = OutputDiff(tmp_path / "diff")
    assert again.places(RUNNING, "out") == {0: 1, 3: 12}
    assert again.places(SHADOW, "out") == {}
    assert again.match("out", 0)[0] == Counts(only_running=1)
    again.close()
