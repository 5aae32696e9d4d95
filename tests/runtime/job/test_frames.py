"""Streams from DataFrames and readers, and sinks that are functions or DataFrames."""

from __future__ import annotations

import json as jsons
import struct
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_runtime import MillraceError, Reader, Topology, json, reader, string
from millrace_runtime.analyzer.compiling import session_analyzer
from millrace_runtime.job.explaining import explain
from millrace_runtime.program import load_program
from pyspark.sql import DataFrame, SparkSession

from tests.runtime import topics
from tests.runtime.sessions import new_session

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EXAMPLE = Path(__file__).parents[3] / "examples" / "priced_orders.py"
SCHEMA = "id STRING, item STRING, n INT, at TIMESTAMP"
COLUMNS = {"key": "id", "value": "struct(n, item)", "timestamp": "at"}
ORDER = json("item STRING, n INT")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    found = new_session("frames", master="local[2]")
    yield found
    found.stop()


def write(spark: SparkSession, folder: Path, *rows: tuple[str, str, int, int]) -> None:
    """Add a Parquet file: id, item, n and the time in seconds of each order."""
    made = [(id_, item, n, datetime.fromtimestamp(at, UTC)) for id_, item, n, at in rows]
    spark.createDataFrame(made, SCHEMA).coalesce(1).write.mode("append").parquet(str(folder))


def parquet(folder: Path, **columns: str) -> Reader:
    return reader(
        "parquet", options={"path": str(folder)}, schema=SCHEMA, columns=COLUMNS | columns
    )


def items_by_id(folder: Path) -> tuple[Topology, Any]:
    topology = Topology("frames")

    def orders(spark: SparkSession) -> DataFrame:
        read = spark.readStream.schema(SCHEMA).parquet(str(folder))
        return read.selectExpr("id AS key", "struct(n, item) AS value", "at AS timestamp")

    stream = topology.stream("orders", df=orders, key=string(), value=ORDER, partitions=3)
    aggregator = "concat(agg, value.item)"
    return topology, stream.group_by_key().aggregate(
        "STRING", initializer="''", aggregator=aggregator
    )


def run(topology: Topology, spark: SparkSession, folder: Path, address: str | None = None) -> None:
    """Process all available records. Raises the driver's error."""
    try:
        checkpoint = str(folder / "checkpoint")
        topology.start(spark, address, checkpoint=checkpoint, available_now=True).awaitTermination()
    except Exception as error:
        raise explain(error) from error


def test_files_are_taken_in_the_order_of_their_times_and_state_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    """No broker is needed where nothing reads or writes a topic."""
    seen: list[tuple[int, str, str]] = []
    topology, by_id = items_by_id(tmp_path / "orders")
    by_id.foreach_batch(
        lambda batch, number: seen.extend((number, r.key, r.value) for r in batch.collect())
    )
    write(spark, tmp_path / "orders", ("a", "x", 1, 30), ("b", "y", 1, 10), ("a", "z", 1, 20))
    run(topology, spark, tmp_path)
    assert sorted(seen) == [(0, "a", "z"), (0, "a", "zx"), (0, "b", "y")]
    seen.clear()
    write(spark, tmp_path / "orders", ("b", "q", 1, 5))
    run(topology, spark, tmp_path)
    assert seen == [(1, "b", "yq")]


def test_a_stream_ends_in_a_dataframe_of_the_callers_query(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(spark, tmp_path / "orders", ("a", "x", 1, 30), ("a", "z", 1, 20))
    _, by_id = items_by_id(tmp_path / "orders")
    found = by_id.to_dataframe(spark)
    assert found.isStreaming
    assert [(f.name, f.dataType.simpleString()) for f in found.schema][:3] == [
        ("key", "string"), ("value", "string"), ("timestamp", "timestamp"),
    ]  # fmt: skip
    name = f"t{uuid.uuid4().hex}"
    writer = found.writeStream.format("memory").queryName(name).outputMode("append")
    checkpoint = str(tmp_path / "own")
    writer.option("checkpointLocation", checkpoint).trigger(
        availableNow=True
    ).start().awaitTermination()
    assert sorted(r.value for r in spark.table(name).collect()) == ["z", "zx"]


def test_a_dataframe_is_no_place_for_other_sinks(spark: SparkSession, tmp_path: Path) -> None:
    write(spark, tmp_path / "orders", ("a", "x", 1, 30))
    _, by_id = items_by_id(tmp_path / "orders")
    by_id.print(name="log")
    with pytest.raises(MillraceError, match="would not write log") as caught:
        by_id.to_dataframe(spark)
    assert caught.value.code == "dataframe_sinks"


@pytest.mark.parametrize(
    ("made", "code", "says"),
    [
        (lambda f: reader("parquet", options={"path": str(f)}), "reader_refused", "Schema"),
        (lambda f: reader("no_such", schema=SCHEMA), "reader_refused", "no_such"),
        (lambda f: Reader("parquet", {"path": str(f)}, SCHEMA), "reader_columns", "no column key"),
        (lambda f: parquet(f, value="n"), "reader_types", "is int; its format needs struct"),
        (lambda f: parquet(f, partition="7"), "reader_partition", "has 1 partitions, found"),
        (lambda f: parquet(f, key="nope"), "expression_column_other", "nope"),
        (
            lambda f: parquet(f, key="java_method('java.lang.System', 'lineSeparator')"),
            "expression",
            "java_method",
        ),
        (lambda f: reader("rate", columns={"key": "version()"}), "reader_expression", "version"),
    ],
)
def test_a_reader_that_gives_no_records_is_refused_at_its_node(
    spark: SparkSession, tmp_path: Path, made: Any, code: str, says: str
) -> None:
    write(spark, tmp_path / "orders", ("a", "x", 1, 30))
    topology = Topology("refused")
    stream = topology.stream("orders", reader=made(tmp_path / "orders"), key=string(), value=ORDER)
    stream.foreach_batch(lambda batch, number: None)
    with pytest.raises(MillraceError, match=says) as caught:
        run(topology, spark, tmp_path)
    assert (caught.value.code[: len(code)], caught.value.node) == (code, "orders")


def test_a_dataframe_that_is_no_stream_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.sql("SELECT 'a' AS key, 'b' AS value, current_timestamp() AS timestamp")
    topology = Topology("refused")
    topology.stream("one", df=df, key=string(), value=string()).foreach_batch(lambda b, n: None)
    with pytest.raises(MillraceError, match="not a streaming DataFrame"):
        run(topology, spark, tmp_path)


def test_a_function_that_fails_is_named_and_its_batch_comes_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(spark, tmp_path / "orders", ("a", "x", 1, 30))
    topology, by_id = items_by_id(tmp_path / "orders")
    seen: list[tuple[int, str]] = []

    def keep(batch: DataFrame, number: int) -> None:
        seen.extend((number, row.value) for row in batch.collect())
        if len(seen) == 1:
            raise OSError("no connection")

    by_id.foreach_batch(keep, name="keep")
    with pytest.raises(MillraceError, match="The function at keep failed in batch 0: OSError: no"):
        run(topology, spark, tmp_path)
    run(topology, spark, tmp_path)
    assert seen == [(0, "x"), (0, "x")]


def test_another_set_of_readers_does_not_fit_a_checkpoint(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(spark, tmp_path / "orders", ("a", "x", 1, 30))
    for name in ("first", "second"):
        topology = Topology("changing")
        stream = topology.stream(
            "orders", reader=parquet(tmp_path / "orders"), key=string(), value=ORDER, name=name
        )
        stream.foreach_batch(lambda batch, number: None)
        if name == "first":
            run(topology, spark, tmp_path)
            continue
        with pytest.raises(MillraceError, match="read DataFrames for first; this job does so for"):
            run(topology, spark, tmp_path)


@pytest.mark.kafka
def test_files_join_a_topic_and_a_function_gets_what_the_topic_got(
    spark: SparkSession, broker: Any, tmp_path: Path
) -> None:
    items, target = f"items-{uuid.uuid4().hex}", f"out-{uuid.uuid4().hex}"
    topics.create(broker.address, {items: 4, target: 1})
    names = [{"key": f"i{n}", "value": f"item {n}", "timestamp": 1_000} for n in range(20)]
    topics.produce(broker.address, items, names)
    orders = [(f"o{n}", f"i{n}", n, 10 + n) for n in range(20)]
    write(spark, tmp_path / "orders", *orders)
    topology = Topology("join", partitions={items: 4}, processing_guarantee="exactly_once")
    stream = topology.stream(
        "orders", reader=parquet(tmp_path / "orders", key="item", offset="n"), key=string(),
        value=ORDER, partitions=4,
    )  # fmt: skip
    table = topology.table(items, key=string(), value=string())
    joined = stream.join(table, joiner="concat(right, ' x ', left.n)")
    joined.to(target)
    batches: list[str] = []
    joined.foreach_batch(lambda batch, number: batches.extend(r.value for r in batch.collect()))
    run(topology, spark, tmp_path, broker.address)
    expected = sorted(f"item {n} x {n}" for n in range(20))
    found = topics.consume(broker.address, target, 20)
    assert sorted(record.value().decode() for record in found) == expected
    assert sorted(batches) == expected
    assert {record.timestamp()[1] for record in found} == {(10 + n) * 1000 for n in range(20)}


@pytest.mark.kafka
def test_the_example_runs_from_the_document_that_the_canvas_opens(
    spark: SparkSession, broker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the handwritten program to the document, to the program that a deployment runs."""
    topics.create(broker.address, {"prices": 3, "revenue-per-hour": 1})
    prices = [(f"i{n}", struct.pack(">d", n / 2)) for n in range(6)]
    records = [{"key": key, "value": value, "timestamp": 1_000} for key, value in prices]
    topics.produce(broker.address, "prices", records)
    orders = spark.range(12).selectExpr(
        "concat('o', id) AS id", "concat('i', id % 6) AS item", "CAST(id AS INT) AS quantity",
        "timestamp_seconds(60 + id) AS at",
    )  # fmt: skip
    orders.coalesce(1).write.parquet(str(tmp_path / "orders"))
    monkeypatch.setenv("ORDERS", str(tmp_path / "orders"))
    document = load_program(EXAMPLE).document()
    compilation = compile_document(document, session_analyzer(spark)).require()
    for path, text in (compilation.code or {}).items():
        (tmp_path / path).write_text(text, "utf-8")
    run(load_program(tmp_path), spark, tmp_path, broker.address)
    found = {}
    for record in topics.consume(broker.address, "revenue-per-hour", 12):
        found[jsons.loads(record.key())["key"]] = struct.unpack(">d", record.value())[0]
    assert found == {f"i{n}": (n + n + 6) * n / 2 for n in range(6)}


@pytest.mark.kafka
def test_a_record_that_stops_the_job_keeps_its_batch_from_the_functions(
    spark: SparkSession, broker: Any, tmp_path: Path
) -> None:
    target = f"out-{uuid.uuid4().hex}"
    topics.create(broker.address, {target: 1})
    write(spark, tmp_path / "orders", ("a", "x", 2, 1), ("b", "y", 0, 2), ("c", "z", 1, 3))
    topology = Topology("stops")
    stream = topology.stream(
        "orders", reader=parquet(tmp_path / "orders"), key=string(), value=ORDER
    )
    halves = stream.map_values("2 / value.n", name="halves")
    halves.to(target)
    called: list[int] = []
    halves.foreach_batch(lambda batch, number: called.append(number))
    with pytest.raises(MillraceError) as caught:
        run(topology, spark, tmp_path, broker.address)
    assert (caught.value.code, caught.value.node) == ("processing", "halves")
    assert called == []
    assert topics.size(broker.address, target) == 1
