"""Tasks that read their partitions directly give the same results as tasks after a shuffle."""

from __future__ import annotations

import random
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from millrace_runtime import Topology, long, string, tumbling, window_store
from millrace_runtime.analyzer.compiling import session_analyzer
from millrace_runtime.job.job import Job
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.session import session
from pyspark.sql import SparkSession

from tests.runtime import topics
from tests.runtime.jobs import graph_of
from tests.runtime.sessions import new_session

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

RECORDS = 400


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    found = new_session(
        "direct-tasks",
        master="local[2]",
        settings={"spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS},
    )
    yield found
    found.stop()


@pytest.fixture(scope="module")
def address(broker: Any) -> str:
    """A broker with two topics: out-of-order timestamps, ties, and some headers."""
    found = str(broker.address)
    topics.create(found, {"direct-a": 4, "direct-b": 4})
    rng = random.Random(7)
    for topic in ("direct-a", "direct-b"):
        records = [
            {
                "key": f"key-{rng.randrange(12)}",
                "value": f"{topic}-{n}",
                "partition": rng.randrange(4),
                "timestamp": 1_000 + rng.randrange(60),
                "headers": [("n", str(n).encode())] if n % 3 == 0 else None,
            }
            for n in range(RECORDS)
        ]
        topics.produce(found, topic, records)
    return found


def joined(topology: Topology, out: str) -> None:
    """Add a stream that looks up the latest value of another topic of its level, in two tasks."""
    left = topology.stream("direct-a", key=string(), value=string(), name="a")
    right = topology.table("direct-b", key=string(), value=string(), name="b")
    joiner = "concat(left, ' with ', coalesce(right, '-'))"
    found = left.left_join(right, joiner=joiner, name="found")
    found.to(out, key=string(), value=string(), partition="partition % 2")


def late(topology: Topology, out: str) -> None:
    """Add a windowed count, whose task drops late records."""
    lines = topology.stream("direct-a", key=string(), value=string())
    windows = lines.map_values("upper(value)").group_by_key().windowed_by(tumbling(10, grace=5))
    counts = windows.count(store=window_store("counts"))
    counts.to_stream().to(out, value=long(), partition="partition % 2")


def read_twice(topology: Topology, out: str) -> None:
    """Add two source nodes for the same topics."""
    first = topology.stream("direct-a", "direct-b", key=string(), value=string())
    second = topology.stream("direct-a", "direct-b", key=string(), value=string())
    both = first.merge(second.map_values("upper(value)"))
    both.to(out, key=string(), value=string(), partition="partition % 2")


def written(
    spark: SparkSession, address: str, build: Any, *, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[int, list[tuple[Any, ...]]], str]:
    """Return all records of each output partition in order, and the last micro-batch's plan."""
    run = uuid.uuid4().hex
    out = f"direct-out-{run}"
    topics.create(address, {out: 2})
    kafka = Kafka(spark, address, run=run, max_records=150)
    monkeypatch.setattr(kafka, "by_partition", direct)
    topology = Topology("direct", partitions={"direct-a": 2, "direct-b": 2})
    build(topology, out)
    job = Job(spark, kafka, graph_of(topology, session_analyzer(spark)), name="direct", run=run)
    spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
    plan = job.query()
    folder = tempfile.mkdtemp(prefix="millrace-direct-")
    try:
        writer = plan.rows.writeStream.option("checkpointLocation", folder)
        writer = writer.trigger(availableNow=True)
        query = kafka.into(writer, plan.graph, {}).start()
        query.awaitTermination()
        assert len(query.recentProgress) > 1
        explained = str(query._jsq.explainInternal(False))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found: dict[int, list[tuple[Any, ...]]] = {0: [], 1: []}
    for record in topics.consume(address, out, topics.size(address, out)):
        found[record.partition()].append(
            (record.key(), record.value(), record.timestamp(), record.headers())
        )
    return found, explained


@pytest.mark.parametrize("build", [joined, late, read_twice])
def test_without_a_shuffle_the_same_records_come_in_the_same_order(
    spark: SparkSession, address: str, build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct, plan = written(spark, address, build, direct=True, monkeypatch=monkeypatch)
    shuffled, other = written(spark, address, build, direct=False, monkeypatch=monkeypatch)
    assert "DirectTasks" in plan
    assert "Exchange" not in plan
    assert "DirectTasks" not in other
    assert "Exchange" in other
    assert all(direct.values())
    assert direct == shuffled
