"""A person's decision about a store applies in every task and wherever its rows are, on Spark.

A task without input catches up with several versions at once when it gets some again.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.compiler.kit import Raw, document, edge, node, sink, stream
from tests.runtime.changing import Changing, Pair

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

#: keys in different partitions of two
BUSY, IDLE = "a", "d"
SPREAD = node("spread", "repartition", partitions=2)
RESET = "sum=reset"
CONVERT = "sum=convert:CAST(old AS BIGINT)"


@pytest.fixture
def pair(broker: Any) -> Pair:
    return Pair(broker.address, 2)


def summed(
    pair: Pair, type_: str, *before: Raw, add: str = "", zero: str = "", again: bool = False
) -> Raw:
    """Sums by key. `again`: also join it with a table on a later level."""
    steps = [
        stream("in", [pair.source]),
        *before,
        node("sum", "aggregate", type=type_, initializer=zero or f"CAST(0 AS {type_})",
             aggregator=add or f"CAST(agg + CAST(value AS {type_}) AS {type_})"),
        node("updates", "to_stream"),
        node("shown", "map_values", value="to_json(named_struct('v', value))"),
        sink("out", topic=pair.sink),
    ]  # fmt: skip
    edges = [f"{a['id']} > {b['id']}" for a, b in itertools.pairwise(steps)]
    if again:
        steps += [
            node("count", "count", group_by={"key": f"'{BUSY}'", "value": "value"}),
            node("both", "join.table_table", joiner="left"),
        ]
        edges = [each for each in edges if each != "sum > updates"]
        edges += ["sum > count", "count > both.right", "sum > both.left", "both > updates"]
    raw = document(steps, [], topics={pair.source: 2})
    raw["edges"] = [edge(each) for each in edges]
    return raw


def through(changing: Changing, pair: Pair, folder: Path, *versions: Any) -> list[Any]:
    """Run versions (records, document, decisions) one after another; return their results."""
    found = []
    for records, raw, *decisions in versions:
        pair.write(records)
        changing.run(raw, folder, *decisions)
        found.append(sorted([key, value["v"]] for key, value in pair.new()))
    return found


def both(value: str) -> list[tuple[str, str]]:
    return [(BUSY, value), (IDLE, value)]


def test_a_store_is_reset_and_moved_at_once(changing: Changing, pair: Pair, tmp_path: Path) -> None:
    found = through(changing, pair, tmp_path,
                    (both("1.5"), summed(pair, "DOUBLE")),
                    (both("2"), summed(pair, "BIGINT", SPREAD), RESET))  # fmt: skip
    assert found[-1] == [[BUSY, 2], [IDLE, 2]]


def test_a_store_is_converted_and_moved_at_once(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    by = "sum=convert:IF(old > 2, CAST(old AS BIGINT), NULL)"
    found = through(changing, pair, tmp_path,
                    ([(BUSY, "1.5"), (IDLE, "2.5")], summed(pair, "DOUBLE")),
                    (both("2"), summed(pair, "BIGINT", SPREAD), by))  # fmt: skip
    assert found[-1] == [[BUSY, 2], [IDLE, 4]]


@pytest.mark.parametrize(("decision", "expected"), [(RESET, 4), (CONVERT, 5)])
def test_an_idle_task_is_moved_as_was_decided_before(
    decision: str, expected: int, changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    found = through(changing, pair, tmp_path,
                    (both("1.5"), summed(pair, "DOUBLE")),
                    ([(BUSY, "2")], summed(pair, "BIGINT"), decision),
                    (both("4"), summed(pair, "BIGINT", SPREAD)))  # fmt: skip
    assert found[-1] == [[BUSY, expected + 2], [IDLE, expected]]


def test_an_idle_task_goes_through_all_versions_that_it_missed(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    found = through(changing, pair, tmp_path,
                    (both("1"), summed(pair, "INT")),
                    ([(BUSY, "2")], summed(pair, "BIGINT")),
                    ([(BUSY, "4")], summed(pair, "DOUBLE"), "sum=convert:old + 0.5D"),
                    ([(BUSY, "8")], summed(pair, "STRING", add="agg || value"),
                     "sum=convert:concat(old, '+')"),
                    (both("x"), summed(pair, "STRING", add="agg || value")))  # fmt: skip
    assert found[-1] == [[BUSY, "7.5+8x"], [IDLE, "1.5+x"]]


def test_fields_that_only_some_tasks_have_got_are_not_lost_by_a_move(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    def counted(*before: Raw, last: str = "") -> Raw:
        type_, zero, add = "n: INT", "'n', 0", "'n', agg.n + 1"
        if last:
            type_, zero, add = f"{type_}, s: STRING", f"{zero}, 's', ''", f"{add}, 's', {last}"
        return summed(pair, f"STRUCT<{type_}>", *before, zero=f"named_struct({zero})",
                      add=f"named_struct({add})")  # fmt: skip

    last = "concat(coalesce(agg.s, '?'), value)"
    found = through(changing, pair, tmp_path,
                    (both("x"), counted()),
                    ([(BUSY, "y")], counted(last=last)),
                    (both("z"), counted(SPREAD, last=last)))  # fmt: skip
    assert found[-1] == [[BUSY, {"n": 3, "s": "?yz"}], [IDLE, {"n": 2, "s": "?z"}]]


@pytest.mark.parametrize(("decision", "expected"), [(RESET, []), (CONVERT, [[BUSY, 1]])])
def test_the_copy_of_a_table_on_another_level_goes_with_its_store(
    decision: str, expected: list[Any], changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    """The record of one key changes the count, which is joined with the row of the other key."""
    found = through(changing, pair, tmp_path,
                    ([(BUSY, "1.5")], summed(pair, "DOUBLE", again=True)),
                    ([(IDLE, "2")], summed(pair, "BIGINT", again=True), decision))  # fmt: skip
    assert found == [[[BUSY, 1.5]], expected]
