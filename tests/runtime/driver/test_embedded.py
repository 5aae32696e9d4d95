"""`Topology.start`: a program with its own session gets Spark's query back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from millrace_runtime import MillraceError, Topology, columns, string
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.session.numpy_values import IfImported
from py4j.protocol import INPUT_CONVERTER
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.streaming.query import StreamingQuery

from tests.runtime import topics
from tests.runtime.jobs import word_count
from tests.runtime.sessions import new_session

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    found = new_session("start", master="local[2]")
    yield found
    found.stop()


def test_a_topology_starts_on_a_session_and_goes_on_from_its_checkpoint(
    spark: SparkSession, broker: Any, tmp_path: Path
) -> None:
    source, target = f"in-{uuid.uuid4().hex}", f"out-{uuid.uuid4().hex}"
    topics.create(broker.address, {source: 4, target: 1})
    for words in ("to be or", "not to be"):
        topics.produce(broker.address, source, [{"key": None, "value": words}])
        query = word_count(source, target).start(
            spark, broker.address, checkpoint=str(tmp_path / "c"), available_now=True
        )
        assert isinstance(query, StreamingQuery)
        query.awaitTermination()
    found = topics.consume(broker.address, target, 6)
    counts = [(r.key().decode(), int.from_bytes(r.value(), "big")) for r in found]
    assert sorted(counts) == [("be", 1), ("be", 2), ("not", 1), ("or", 1), ("to", 1), ("to", 2)]


def test_values_of_numpy_are_arguments_of_sparks_functions(spark: SparkSession) -> None:
    two: Any = np.int64(2)
    found = (
        spark.range(5)
        .limit(two)
        .select(functions.lit(np.int32(7)), functions.lit(np.array([1, 2])))
    )
    assert [tuple(each) for each in found.collect()] == [(7, [1, 2])] * 2
    # They are asked only in a process that has imported numpy.
    assert len([each for each in INPUT_CONVERTER if isinstance(each, IfImported)]) == 2


def test_later_micro_batches_generate_no_code(
    spark: SparkSession, broker: Any, tmp_path: Path
) -> None:
    # The time of a micro-batch is in its plan, and must not be in generated code.
    source, target = f"in-{uuid.uuid4().hex}", f"out-{uuid.uuid4().hex}"
    topics.create(broker.address, {source: 4, target: 1})
    metrics: Any = spark.sparkContext._jvm.org.apache.spark.metrics.source  # type: ignore[union-attr]
    generating = getattr(getattr(metrics, "CodegenMetrics$"), "MODULE$")
    compiled = generating.METRIC_COMPILATION_TIME()
    records = [{"key": f"{n}", "value": "word"} for n in range(9)]
    query = word_count(source, target).start(spark, broker.address, checkpoint=str(tmp_path / "c"))
    try:
        generated = []
        for n in range(1, 4):
            topics.produce(broker.address, source, records)
            assert len(topics.consume(broker.address, target, 9 * n)) == 9 * n
            generated.append(int(compiled.getCount()))
        assert generated[1] == generated[2]
    finally:
        query.stop()


@pytest.mark.parametrize(
    ("real_time", "options", "wait", "records"),
    [
        (False, {}, "0", "10000"),
        (True, {}, None, "10000"),  # tasks of real time wait for records
        (False, {"fetch.max.wait.ms": "7", "max.poll.records": "9"}, "7", "9"),
    ],
)
def test_tasks_of_micro_batches_fetch_many_records_without_waiting(
    spark: SparkSession, real_time: bool, options: dict[str, str], wait: str | None, records: str
) -> None:
    kafka = Kafka(spark, "localhost:1", options=options, real_time=real_time)
    plan: Any = kafka.read(("lines",), None, "earliest")._jdf.queryExecution().analyzed()
    found = plan.collectLeaves().head().extraOptions()
    assert found.get("kafka.fetch.max.wait.ms") == wait
    assert found.get("kafka.max.poll.records") == records


def test_a_topology_describes_itself(spark: SparkSession) -> None:
    text = word_count().describe(spark)
    assert "Sub-topology: 1" in text or "Sub-topology 1" in text
    assert "count-repartition" in text


def test_a_refused_topology_does_not_start(spark: SparkSession, tmp_path: Path) -> None:
    topology = Topology("refused")
    lines = topology.stream("lines", key=string(), value=string())
    lines.filter("no_such_column = 1", name="keep").to("out")
    with pytest.raises(MillraceError) as caught:
        topology.start(spark, "localhost:1", checkpoint=str(tmp_path / "c"))
    assert (caught.value.node, caught.value.parameter) == ("keep", "predicate")


def test_few_records_are_collected_and_many_are_not_delayed(
    spark: SparkSession, broker: Any, tmp_path: Path
) -> None:
    source = f"in-{uuid.uuid4().hex}"
    topics.create(broker.address, {source: 1})
    rows = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", broker.address)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .load()
    )
    arrived: list[tuple[float, int]] = []

    def note(batch: DataFrame, _number: int) -> None:
        arrived.append((time.monotonic(), batch.count()))

    query = rows.writeStream.option("checkpointLocation", str(tmp_path / "c")).foreachBatch(note)
    running = query.trigger(processingTime="0 seconds").start()
    try:
        columns.gateway(spark.sparkContext).Pacing.start(running._jsq)
        # The rate is not known yet, so the first micro-batches begin without a pause.
        for n in range(40):
            topics.produce(broker.address, source, [{"key": None, "value": f"{n}"}])
            time.sleep(0.03)
        before = len(arrived)
        for n in range(30):
            topics.produce(broker.address, source, [{"key": None, "value": f"{n}"}])
            time.sleep(0.03)
        deadline = time.monotonic() + 20
        while sum(rows for _, rows in arrived) < 70 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert sum(rows for _, rows in arrived) == 70
        # One a record would be 30; one each 200 ms is 5 to 10.
        assert len(arrived) - before <= 15
    finally:
        running.stop()


def test_the_pause_follows_the_rate_and_the_time_without_records(spark: SparkSession) -> None:
    pause = columns.gateway(spark.sparkContext).Pacing.pauseMs
    assert [pause(5, 40, 0, rate) for rate in (0.0, 20.0, 1000.0, 2000.0, 9000.0)] == [
        200, 198, 100, 0, 0,
    ]  # fmt: skip
    # Slow micro-batches, as on a busy machine: three times as long as they took, 800 ms at most.
    assert [pause(5, took, 0, 20.0) for took in (100, 1_000)] == [297, 792]
    assert pause(5, 1_000, 0, 2000.0) == 0
    # Empty triggers of 1 ms: soon after a record, after 12 seconds, after ten minutes.
    assert [pause(-1, 1, idle, 20.0) for idle in (10, 12_000, 600_000)] == [20, 200, 800]
