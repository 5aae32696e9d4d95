"""The micro-batch after which the simulation of a followed record begins, and its input."""

from __future__ import annotations

import pytest
from records.batches import Batch, Checkpoint, NoSpan, Span, chosen, in_order

#: end offsets of five batches in the two partitions of a topic
ENDS = [(0, 0), (10, 4), (20, 9), (21, 9), (40, 30)]
BATCHES = [
    Batch(n, 1_000 * n, {"in": {"0": first, "1": second}}) for n, (first, second) in enumerate(ENDS)
]
EARLIEST = {("in", 0): 0, ("in", 1): 0}


def span(offset: int, **more: int) -> Span:
    limits = {"before": 0, "after": 0, "most": 100, **more}
    return chosen(BATCHES, (("in", 0), offset), EARLIEST, **limits)


def numbers(found: Span) -> tuple[int, list[int]]:
    return found.begins.number, [batch.number for batch in found.done]


def test_it_begins_with_the_batch_before_that_of_the_record() -> None:
    assert numbers(span(0)) == (0, [1])
    assert numbers(span(9)) == (0, [1])
    assert numbers(span(10)) == (1, [2])
    assert numbers(span(20)) == (2, [3])
    assert numbers(span(39)) == (3, [4])


def test_a_record_that_no_batch_has_taken_follows_the_last_one() -> None:
    found = span(40)
    assert numbers(found) == (4, [])
    assert found.turn(("in", 0), 40) == 0


def test_whole_batches_before_and_after_it_are_added_as_far_as_they_fit() -> None:
    assert numbers(span(20, before=14)) == (2, [3])
    assert numbers(span(20, before=15)) == (1, [2, 3])
    assert numbers(span(20, before=500)) == (0, [1, 2, 3])
    assert numbers(span(20, after=39)) == (2, [3])
    assert numbers(span(20, after=40)) == (2, [3, 4])
    assert numbers(span(20, before=500, most=20)) == (1, [2, 3])


def test_what_broker_or_checkpoint_no_longer_have_is_no_beginning() -> None:
    later = {**EARLIEST, ("in", 1): 5}
    found = chosen(BATCHES, (("in", 0), 20), later, before=500, after=0, most=100)
    assert numbers(found) == (2, [3])
    with pytest.raises(NoSpan) as old:
        chosen(BATCHES, (("in", 0), 12), later, before=0, after=0, most=100)
    assert old.value.because == "too_old"
    with pytest.raises(NoSpan) as large:
        span(30, most=39)
    assert large.value.because == "too_many"
    with pytest.raises(NoSpan):
        chosen([], (("in", 0), 12), EARLIEST, before=0, after=0, most=100)


def test_records_come_as_a_task_merges_its_partitions() -> None:
    found = Span(BATCHES[1], [BATCHES[2]])
    records = [
        # The second is late: it is placed at the running maximum timestamp of its partition.
        (("in", 0), 10, 500, "a"), (("in", 0), 11, 100, "b"), (("in", 0), 20, 1, "later"),
        (("in", 1), 4, 200, "c"), (("in", 1), 5, 600, "d"),
    ]  # fmt: skip
    assert in_order(found, records) == [(0, "c"), (0, "a"), (0, "b"), (0, "d"), (1, "later")]


def test_the_tasks_of_a_partition_are_those_of_all_sub_topologies() -> None:
    assert Checkpoint([], {"0": 4, "1": 4}, clock=False).tasks(3) == [3]
    assert Checkpoint([], {"0": 4, "1": 2}, clock=False).tasks(3) == [1, 3]
