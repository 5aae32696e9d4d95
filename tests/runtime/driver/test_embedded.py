"""`Topology.start`: a program with its own session gets Spark's query back."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import MillraceError, Topology, string
from millrace_runtime.session import session
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tests.runtime import topics
from tests.runtime.jobs import word_count

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    found = session.create("start", master="local[2]")
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
