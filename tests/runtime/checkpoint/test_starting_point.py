"""A job starts again from another position: without its rows, or from other offsets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from millrace_runtime.checkpoint.starting_point import beginning_of
from millrace_runtime.errors import MillraceError

from tests.compiler.kit import Raw, document, edge, global_table, node, sink, stream
from tests.runtime import topics
from tests.runtime.changing import Changing, Pair

Test = TypeVar("Test", bound=Callable[..., None])


def on_a_broker(test: Test) -> Test:
    """Mark a test that needs Spark and Kafka."""
    marked: Test = pytest.mark.kafka(pytest.mark.spark(pytest.mark.slow(test)))
    return marked


def summed(pair: Pair, names: str, *, fails: bool = False) -> Raw:
    """Sums by key, each with the key's name from a global table."""
    value = "raise_error('nonsense')" if fails else "value"
    steps = [
        stream("in", [pair.source]),
        global_table("names", topic=names),
        node("sum", "aggregate", type="BIGINT", initializer="0L",
             aggregator=f"agg + CAST({value} AS BIGINT)"),
        node("updates", "to_stream"),
        node("named", "join.stream_global_table", type="left", key="key",
             joiner="to_json(named_struct('v', left, 'name', right))"),
        sink("out", topic=pair.sink),
    ]  # fmt: skip
    edges = ["in > sum", "sum > updates", "updates > named.left", "names > named.right",
             "named > out"]  # fmt: skip
    raw = document(steps, [])
    raw["edges"] = [edge(each) for each in edges]
    return raw


def sums(pair: Pair) -> list[int]:
    found = pair.new()
    assert {value["name"] for _, value in found} <= {"tea"}
    return [value["v"] for _, value in found]


@pytest.fixture
def names(broker: Any) -> str:
    """A topic with the name of the key a, which global tables read completely."""
    pair = Pair(broker.address)
    pair.write([("a", "tea")], 1)  # earlier than the records that look it up
    return pair.source


@on_a_broker
def test_offsets_that_are_given_are_read_again_into_the_same_state_once(
    changing: Changing, broker: Any, names: str, tmp_path: Path
) -> None:
    pair = Pair(broker.address)
    job = summed(pair, names)
    pair.write([("a", "1"), ("a", "2"), ("a", "4")])
    changing.run(job, tmp_path)
    assert sums(pair) == [1, 3, 7]
    folder = tmp_path / "checkpoint"
    notes = (folder / "stores.json").read_text()

    for given, code, words in (
        ({pair.source: {"0": 4}}, "offset_out_of_range", "the broker has 0 to 3"),
        ({pair.source: {"7": 0}}, "partition_missing", "its partitions are 0 to 0"),
        ({"elsewhere": {"0": 0}}, "topic_not_read", "for elsewhere, which the job does not read"),
    ):
        with pytest.raises(MillraceError, match=words) as refused:
            changing.run(job, tmp_path, begin={"from": "offsets", "offsets": given})
        assert refused.value.code == code
    again = {"id": "1", "from": "offsets", "offsets": {pair.source: {"0": 1}}}
    with pytest.raises(MillraceError, match="nonsense"):
        changing.run(summed(pair, names, fails=True), tmp_path, begin=again)
    assert (folder / "stores.json").read_text() == notes, "nothing was done on the new folder"
    pair.write([("a", "10")])
    changing.run(job, tmp_path)
    assert sums(pair) == [17]

    changing.run(job, tmp_path, begin=again)
    assert sums(pair) == [19, 23, 33]
    moved = json.loads((folder / "stores.json").read_text())
    assert (moved["begun"], [each["stream"] for each in moved["kept"]]) == ("1", ["stream"])
    assert moved["stream"] != "stream"
    assert (folder / "stream" / "offsets").is_dir()
    pair.write([("a", "100")])
    changing.run(job, tmp_path, begin=again)
    assert sums(pair) == [133], "a request is applied once"


@on_a_broker
@pytest.mark.long
def test_a_reset_forgets_all_rows_and_reads_from_the_requested_place(
    changing: Changing, broker: Any, names: str, tmp_path: Path
) -> None:
    """Global tables are read completely again, wherever the streams begin."""
    pair = Pair(broker.address)
    job = summed(pair, names)
    for value, timestamp in (("1", 1_000), ("2", 2_000), ("4", 3_000)):
        pair.write([("a", value)], timestamp)
    first = {"reset": True, "from": "offsets", "offsets": {pair.source: {"0": 2}}}
    changing.run(job, tmp_path, begin=first)
    assert sums(pair) == [4], "a first run begins where it is told, too"
    changing.run(job, tmp_path, begin=first)
    assert sums(pair) == []
    changing.run(job, tmp_path, begin={"reset": True, "from": "earliest"})
    assert sums(pair) == [1, 3, 7]
    pair.write([("a", "8")], 4_000)
    changing.run(job, tmp_path, begin={"reset": True})
    assert sums(pair) == [8], "where it stopped"
    changing.run(job, tmp_path, begin={"from": "time", "time": 2_500})
    assert sums(pair) == [12, 20]
    pair.write([("a", "16")], 5_000)
    changing.run(job, tmp_path, begin={"reset": True, "from": "latest"})
    pair.write([("a", "32")], 6_000)
    changing.run(job, tmp_path, begin={"reset": True, "from": "latest"})
    assert sums(pair) == [32]
    elsewhere = {"reset": True, "from": "offsets", "offsets": {pair.source: {"0": 4}}}
    changing.run(job, tmp_path, begin=elsewhere)
    assert sums(pair) == [16, 48], "as after a program of the plain dialect"
    kept = json.loads((tmp_path / "checkpoint" / "stores.json").read_text())["kept"]
    assert len(kept) == 5
    assert topics.size(broker.address, pair.source) == 6


@pytest.mark.parametrize(
    "text",
    [
        "earliest",
        "[]",
        '{"from": "somewhere"}',
        '{"reset": "yes"}',
        '{"from": "time"}',
        '{"from": "time", "time": "now"}',
        '{"from": "earliest", "time": 5}',
        '{"from": "offsets"}',
        '{"from": "offsets", "offsets": {"t": 5}}',
        '{"from": "offsets", "offsets": {"t": {"0": -1}}}',
        '{"from": "offsets", "offsets": {"t": {"x": 1}}}',
        '{"from": "latest", "offsets": {"t": {"0": 1}}}',
        '{"position": "latest"}',
    ],
)
def test_an_invalid_request_is_refused(text: str) -> None:
    with pytest.raises(MillraceError, match="--begin must be JSON") as refused:
        beginning_of(text)
    assert refused.value.code == "option_invalid"
