"""Records, topics and checkpoints that were deleted before a job continues, on a real broker."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from millrace_runtime.errors import MillraceError

from tests.compiler.kit import Raw, document, edge, node, sink, stream
from tests.runtime import topics
from tests.runtime.changing import Changing, Pair

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

EARLIEST, LATEST = ["--lost-offsets", "earliest"], ["--lost-offsets", "latest"]


@pytest.fixture
def pair(broker: Any) -> Pair:
    """An input topic of two partitions: the keys a and b are in different ones."""
    return Pair(broker.address, 2)


def summed(pair: Pair, *more: str, pattern: str | None = None) -> Raw:
    """Sums by key of one or more topics, which may be named by a pattern."""
    source = stream("in", [pair.source, *more])
    if pattern is not None:
        source["params"] = {**source["params"], "topic_pattern": pattern}
        del source["params"]["topics"]
    steps = [
        source,
        node("sum", "aggregate", type="BIGINT", initializer="0L",
             aggregator="agg + CAST(value AS BIGINT)"),
        node("updates", "to_stream"),
        node("text", "map_values", value="CAST(value AS STRING)"),
        sink("out", topic=pair.sink),
    ]  # fmt: skip
    raw = document(steps, [], topics=dict.fromkeys((pair.source, *more), 2))
    raw["edges"] = [edge(e) for e in ("in > sum", "sum > updates", "updates > text", "text > out")]
    return raw


class Losses:
    """Records what a job reports about losses."""

    def __init__(self) -> None:
        self.lost: list[Any] = []
        self.logs: list[str] = []

    def give_up(self, losses: Any) -> None:
        self.lost += losses

    def log(self, level: str, message: str, node: str | None = None) -> None:
        if level == "warning":
            self.logs.append(message)

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


def send(pair: Pair, *values: int, partition: int = 0) -> None:
    records = [{"key": "ab"[partition], "value": str(n), "partition": partition} for n in values]
    topics.produce(pair.address, pair.source, records)


def recreate(pair: Pair, partitions: int = 2) -> None:
    """Delete the topic and create another one with the same name."""
    topics.delete(pair.address, pair.source)
    deadline = time.monotonic() + 30
    while True:
        try:
            topics.create(pair.address, {pair.source: partitions})
        except KafkaException:  # still being deleted
            assert time.monotonic() < deadline
            time.sleep(0.1)
        else:
            return


def refused(changing: Changing, raw: Raw, folder: Path, *more: str) -> MillraceError:
    with pytest.raises(MillraceError) as caught:
        changing.run(raw, folder, more=more)
    return caught.value


def deleted(changing: Changing, pair: Pair, folder: Path) -> Raw:
    """Run until the sums are 1 and 10, write five more records, and delete two of them."""
    raw = summed(pair)
    send(pair, 1)
    send(pair, 10, partition=1)
    changing.run(raw, folder)
    assert sorted(pair.new()) == [("a", 1), ("b", 10)]
    send(pair, 2, 3, 4, 5)
    send(pair, 20, partition=1)
    topics.delete_before(pair.address, pair.source, 3)
    return raw


def test_records_that_retention_deleted_are_refused_with_their_number(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    raw = deleted(changing, pair, tmp_path)
    for _ in range(2):
        error = refused(changing, raw, tmp_path)
        assert error.code == "offsets_lost"
        assert "with “earliest” 2 records are lost, with “latest” 4" in error.message
        assert f"{pair.source}-0: the next offset is 1, the broker has 3 to 5" in error.message
    assert pair.new() == []


def test_after_a_loss_it_continues_with_the_first_record_if_chosen(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    raw, reported = deleted(changing, pair, tmp_path), Losses()
    changing.run(raw, tmp_path, more=EARLIEST, report=reported)
    assert sorted(pair.new()) == [("a", 5), ("a", 10), ("b", 30)]
    assert reported.lost == [((pair.source, 0), 3, 2)]
    assert "2 records are not read" in reported.logs[0]
    send(pair, 6)
    changing.run(raw, tmp_path)
    assert pair.new() == [("a", 16)]


def test_after_a_loss_it_continues_at_the_end_if_that_was_chosen(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    raw, reported = deleted(changing, pair, tmp_path), Losses()
    changing.run(raw, tmp_path, more=LATEST, report=reported)
    # Only the partition that lost records skips the rest.
    assert pair.new() == [("b", 30)]
    assert reported.lost == [((pair.source, 0), 5, 4)]
    send(pair, 6)
    changing.run(raw, tmp_path)
    assert pair.new() == [("a", 7)]


def recreated(changing: Changing, pair: Pair, folder: Path) -> Raw:
    """Read three records, then recreate the topic with more records."""
    raw = summed(pair)
    send(pair, 1, 2)
    send(pair, 10, partition=1)
    changing.run(raw, folder)
    pair.new()
    recreate(pair, 3)
    send(pair, 4, 5, 6)
    topics.produce(pair.address, pair.source, [{"key": "c", "value": "7", "partition": 2}])
    return raw


def test_a_topic_created_again_is_refused_though_its_offsets_would_fit(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    raw = recreated(changing, pair, tmp_path)
    error = refused(changing, raw, tmp_path)
    assert error.code == "topic_recreated"
    assert f"since the job read it: {pair.source}." in error.message
    assert "“latest” skips 4 records" in error.message
    assert pair.new() == []


def test_a_topic_that_was_created_again_is_read_whole_if_that_was_chosen(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    raw = recreated(changing, pair, tmp_path)
    changing.run(raw, tmp_path, more=EARLIEST)
    assert sorted(pair.new()) == [("a", 7), ("a", 12), ("a", 18), ("c", 7)]
    changing.run(raw, tmp_path)
    assert pair.new() == []


def test_a_topic_that_was_created_again_is_skipped_if_that_was_chosen(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    raw, reported = recreated(changing, pair, tmp_path), Losses()
    changing.run(raw, tmp_path, more=LATEST, report=reported)
    assert pair.new() == []
    assert sum(records for _, _, records in reported.lost) == 4
    send(pair, 8)
    changing.run(raw, tmp_path)
    assert pair.new() == [("a", 11)]


def test_a_batch_that_was_not_done_is_done_with_the_records_that_are_left(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    raw = deleted(changing, pair, tmp_path)
    stream_ = tmp_path / "checkpoint" / "stream"
    begun = (stream_ / "offsets" / "0").read_text().replace('{"0":1,"1":1}', '{"0":4,"1":2}')
    assert '"0":4' in begun
    (stream_ / "offsets" / "1").write_text(begun)
    changing.run(raw, tmp_path, more=EARLIEST)
    assert sorted(pair.new()) == [("a", 5), ("a", 10), ("b", 30)]


@pytest.mark.long
def test_a_version_without_a_topic_leaves_the_topics_offsets(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    """The change is not a loss; nor are deleted records of a topic that was never read."""
    other = Pair(pair.address, 2)
    both = summed(pair, other.source)
    send(pair, 1)
    send(other, 2)
    changing.run(both, tmp_path)
    pair.new()
    changing.run(summed(pair), tmp_path)
    send(other, 4)
    changing.run(both, tmp_path)
    assert pair.new() == [("a", 7)]
    third = Pair(pair.address, 2)
    send(third, 8, 16)
    topics.delete_before(pair.address, third.source, 1)
    changing.run(summed(pair, other.source, third.source), tmp_path)
    assert pair.new() == [("a", 23)]


@pytest.mark.long
def test_topics_of_a_pattern_that_were_deleted_are_a_loss(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    name = pair.source
    topics.create(pair.address, {f"{name}-x": 2})
    raw = summed(pair, pattern=f"{name}(-x)?")
    send(pair, 1)
    changing.run(raw, tmp_path)
    pair.new()
    admin = AdminClient({"bootstrap.servers": pair.address, "log_level": 0})
    for each in admin.delete_topics([f"{name}-x"], operation_timeout=30).values():
        each.result()
    deadline = time.monotonic() + 30
    while f"{name}-x" in admin.list_topics(timeout=30).topics:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    error = refused(changing, raw, tmp_path)
    assert (error.code, f"{name}-x" in error.message) == ("topic_recreated", True)
    send(pair, 2)
    changing.run(raw, tmp_path, more=EARLIEST)
    assert pair.new() == [("a", 3)]


@pytest.mark.parametrize("kept", [[], pytest.param(["stores.json"], marks=pytest.mark.long)])
def test_a_missing_checkpoint_is_refused_for_a_deployment_that_has_run(
    changing: Changing, pair: Pair, tmp_path: Path, kept: list[str]
) -> None:
    raw = deleted(changing, pair, tmp_path)
    for each in (tmp_path / "checkpoint").iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        elif each.name not in kept:
            each.unlink()
    error = refused(changing, raw, tmp_path, "--continues")
    assert error.code == "checkpoint_gone"
    assert "“earliest” reads the 4 records in the topics again, without 3" in error.message
    reported = Losses()
    changing.run(raw, tmp_path, more=["--continues", *EARLIEST], report=reported)
    assert sorted(pair.new()) == [("a", 4), ("a", 9), ("b", 10), ("b", 30)]
    assert "reads 4 records again; 3 deleted records are lost" in reported.logs[0]
    changing.run(raw, tmp_path, more=["--continues"])
    assert pair.new() == []


@pytest.mark.long
def test_a_checkpoint_that_is_gone_may_begin_at_the_ends_or_by_a_reset(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    raw = deleted(changing, pair, tmp_path)
    shutil.rmtree(tmp_path / "checkpoint")
    changing.run(raw, tmp_path, more=["--continues", *LATEST])
    assert pair.new() == []
    send(pair, 6)
    changing.run(raw, tmp_path, more=["--continues"])
    assert pair.new() == [("a", 6)]
    shutil.rmtree(tmp_path / "checkpoint")
    changing.run(
        raw, tmp_path, more=["--continues"], begin={"id": "1", "reset": True, "from": "earliest"}
    )
    assert sorted(pair.new()) == [("a", 4), ("a", 9), ("a", 15), ("b", 10), ("b", 30)]
