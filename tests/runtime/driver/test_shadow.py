"""A shadow job that follows another job's checkpoint, and the notes of both for the comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compiler.kit import Raw, document, edge, node, sink, stream
from tests.runtime import topics
from tests.runtime.changing import Changing, Pair

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


def summed(source: str, out: str, *, factor: int = 1, spread: bool = False) -> Raw:
    """Sums by key; `spread`: after a repartition, so that the store is on another level."""
    steps = [
        stream("in", [source]),
        node("sum", "aggregate", type="BIGINT", initializer="0L",
             aggregator=f"agg + {factor} * CAST(value AS BIGINT)"),
        node("updates", "to_stream"),
        node("text", "map_values", value="CAST(value AS STRING)"),
        sink("out", topic=out),
    ]  # fmt: skip
    edges = ["in > sum", "sum > updates", "updates > text", "text > out"]
    if spread:
        steps.append(node("spread", "repartition", partitions=3))
        edges = ["in > spread", "spread > sum", *edges[1:]]
    raw = document(steps, [], topics={source: 2})
    raw["edges"] = [edge(each) for each in edges]
    return raw


def written(address: str, topic: str) -> list[tuple[str, int]]:
    found = topics.consume(address, topic, topics.size(address, topic))
    return [(each.key().decode(), int(each.value())) for each in found]


def noted(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "checkpoint" / "shadow.json").read_text())
    return found


@pytest.mark.long
@pytest.mark.parametrize("spread", [False, True])
def test_a_shadow_goes_on_from_a_copy_of_the_state(
    changing: Changing, broker: Any, tmp_path: Path, spread: bool
) -> None:
    pair, shadow = Pair(broker.address, 2), Pair(broker.address)
    running, other = tmp_path / "running", tmp_path / "other"
    first = summed(pair.source, pair.sink)
    second = summed(pair.source, shadow.sink, factor=10, spread=spread)
    follow = ["--follow", str(running / "checkpoint"), "--copy-state"]

    changing.run(second, other, more=follow)
    assert not (other / "checkpoint" / "shadow.json").exists(), "nothing to follow yet"

    pair.write([("a", "1"), ("b", "2")])
    changing.run(first, running)
    before = {each: each.read_bytes() for each in running.rglob("*") if each.is_file()}
    changing.run(second, other, more=follow)
    assert written(broker.address, shadow.sink) == [], "it begins where the other job is"

    pair.write([("a", "3")])
    changing.run(second, other, more=follow)
    assert written(broker.address, shadow.sink) == [], "it never reads more than the other job"
    assert {each: each.read_bytes() for each in before} == before, "the other job is only read"

    changing.run(first, running)
    changing.run(second, other, more=follow)
    assert written(broker.address, shadow.sink) == [("a", 31)]
    pair.write([("a", "1"), ("b", "1"), ("b", "1")])
    changing.run(first, running)
    changing.run(second, other, more=[*follow, "--max-records", "1"])
    assert sorted(written(broker.address, shadow.sink)) == [
        ("a", 31), ("a", 41), ("b", 12), ("b", 22)
    ]  # fmt: skip
    changing.run(first, running)  # its state is intact: the shadow did not affect it
    assert sorted(written(broker.address, pair.sink)) == [
        ("a", 1), ("a", 4), ("a", 5), ("b", 2), ("b", 3), ("b", 4)
    ]  # fmt: skip
    found = noted(other)
    assert found["began"]["theirs"] == {pair.sink: {"0": [0, 2]}}
    assert found["began"]["ours"] == {}
    assert found["reached"]["theirs"] == {pair.sink: {"0": [0, 6]}}
    assert found["reached"]["ours"] == {shadow.sink: {"0": [0, 4]}}
    queries = [
        json.loads((each / "metadata").read_text())["id"]
        for folder in (running, other)
        for each in (folder / "checkpoint").glob("stream*")
    ]
    assert len(set(queries)) == len(queries), "transactions of the two have other names"


def test_a_shadow_with_empty_stores_reads_from_the_first_records(
    changing: Changing, broker: Any, tmp_path: Path
) -> None:
    pair, shadow = Pair(broker.address, 2), Pair(broker.address)
    running, other = tmp_path / "running", tmp_path / "other"
    first = summed(pair.source, pair.sink)
    second = summed(pair.source, shadow.sink, factor=10)
    follow = ["--follow", str(running / "checkpoint"), "--start", "earliest"]
    pair.write([("a", "1"), ("b", "2")])
    changing.run(first, running)
    changing.run(second, other, more=follow)
    assert sorted(written(broker.address, shadow.sink)) == [("a", 10), ("b", 20)]
    pair.write([("a", "3")])
    changing.run(first, running)
    changing.run(second, other, more=follow)
    assert sorted(written(broker.address, shadow.sink)) == [("a", 10), ("a", 40), ("b", 20)]
    found = noted(other)
    assert found["began"]["ours"] == {shadow.sink: {"0": [0, 2]}}, (
        "what comes first is not compared"
    )
    assert found["reached"]["ours"] == {shadow.sink: {"0": [0, 3]}}
