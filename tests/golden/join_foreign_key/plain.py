r"""orders-of-customers, as Spark Structured Streaming.

Run it with Spark's Kafka package:

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 job.py \
        --bootstrap-servers HOST:PORT --checkpoint FOLDER
"""

import argparse
import json
import logging
import signal
import threading
from collections.abc import Iterator
from heapq import merge
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle


class Kafka:
    """Topics as streaming DataFrames, and streaming DataFrames to topics."""

    def __init__(self, spark: SparkSession, options: argparse.Namespace) -> None:
        self.spark = spark
        self.client: dict[str, str] = {
            "kafka.bootstrap.servers": options.bootstrap_servers,
            **options.kafka_config,
        }
        self.checkpoint: str = options.checkpoint
        self.available_now: bool = options.available_now
        self.trigger: str = options.trigger
        self.starting_offsets: dict[str, dict[str, int]] = options.starting_offsets

    def read(self, *topics: str, starting: str = "earliest") -> DataFrame:
        """The records of topics, as they arrive."""
        given = self.starting_offsets
        offsets = {topic: given[topic] for topic in topics if topic in given}
        return (
            self.spark.readStream.format("kafka")
            .options(**self.client)
            .option("subscribe", ",".join(topics))
            .option("startingOffsets", json.dumps(offsets) if offsets else starting)
            .option("includeHeaders", "true")
            .load()
        )

    def write(
        self, rows: DataFrame, name: str, topic: str | None = None, mode: str = "append"
    ) -> None:
        """Starts a query that writes rows to a topic, by default the one that each row names."""
        query = rows.writeStream.format("kafka").outputMode(mode).options(**self.client)
        self._start(query.option("topic", topic) if topic else query, name)

    def _start(self, query: DataStreamWriter, name: str) -> None:
        query = query.queryName(name).option("checkpointLocation", f"{self.checkpoint}/{name}")
        if self.available_now:
            query.trigger(availableNow=True).start().awaitTermination()
        else:
            query.trigger(processingTime=self.trigger).start()


def client_settings(file: str) -> dict[str, str]:
    """Settings of Kafka clients, such as security.protocol, from lines of key=value."""
    with open(file, encoding="utf-8") as lines:
        pairs = [line.split("=", 1) for line in lines if line.strip() and line[0] != "#"]
    return {f"kafka.{name.strip()}": value.strip() for name, value in pairs}


class References(StatefulProcessor):
    """Keeps the foreign key of a row; sends a change to it, and to the previous one."""

    def __init__(self, how: str, foreign_key: str) -> None:
        self.how = how
        self.type = foreign_key

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("reference", f"foreign_key {self.type}")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        exists, (before,) = self.state.exists(), self.state.get() or (None,)
        for row in _in_order(rows):
            now, left = row.foreign_key, self.how == "left"
            moves = before != now and (before is not None or (left and exists))
            if moves:
                deletes = now is None and not left
                yield self.change(row, before, None, "always" if deletes else "never")
            if now is not None or (left and (exists or row.left is not None)):
                yield self.change(row, now, row.left, "always" if moves or left else "found")
            exists, before = row.left is not None, now
        if exists:
            self.state.update((before,))
        else:
            self.state.clear()

    def change(self, row: Row, foreign_key: Any, left: Any, answer: str) -> Row:
        return Row(
            foreign_key=foreign_key,
            key=row.key,
            left=left,
            answer=answer,
            offset=row.offset,
            partition=row.partition,
            topic=row.topic,
            timestamp=row.timestamp,
        )

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


class ForeignKeyJoin(StatefulProcessor):
    """Keeps a right row and the left rows that refer to it; emits the results that change."""

    def __init__(self, key: str, left: str, right: str) -> None:
        self.key, self.left, self.right = key, left, right

    def init(self, handle: StatefulProcessorHandle) -> None:
        value = f"value {self.left}, timestamp BIGINT"
        self.referring = handle.getMapState("left", f"key {self.key}", value)
        self.row = handle.getValueState("right", f"value {self.right}, timestamp BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        right, time = self.row.get() or (None, -1)
        changed = False
        left: dict[Any, tuple[Any, int, bool]] = {}
        for row in _in_order(rows):
            if row.answer is None:
                changed, right = True, row.right
                time = row.timestamp if right is not None else -1
                left = {each: (*known[:2], True) for each, known in left.items()}
                continue
            if row.left is not None and row.foreign_key is not None:
                self.referring.updateValue((row.key,), (row.left, row.timestamp))
            else:
                self.referring.removeKey((row.key,))
            if row.answer == "never":
                left.pop(row.key, None)
            else:
                always = row.answer == "always" or left.get(row.key, (None, -1, False))[-1]
                left[row.key] = (row.left, row.timestamp, always)
        if changed:
            for (each,), known in self.referring.iterator():
                left.setdefault(each, (*known, True))
            if right is None:
                self.row.clear()
            else:
                self.row.update((right, time))
        for each, (value, since, always) in left.items():
            if always or right is not None:
                yield Row(key=each, left=value, right=right, timestamp=max(since, time))

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


def _in_order(rows: Iterator[Row]) -> Iterator[Row]:
    """Records by offset within a partition, and by timestamp across partitions."""
    partitions: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.offset):
        partitions.setdefault((row.topic, row.partition), []).append(row)
    return merge(*partitions.values(), key=lambda row: row.timestamp)


def topology(kafka: Kafka) -> None:
    """orders-of-customers."""

    orders = (
        kafka.read("orders")
        .selectExpr(
            "CAST(key AS STRING) AS key",
            "from_json(CAST(value AS STRING), 'customer STRING, cents BIGINT', map('mode', "
            "'FAILFAST')) AS value",
            "timestamp",
            "offset",
            "partition",
            "topic",
        )
        .where("key IS NOT NULL")
    )

    customers = (
        kafka.read("customers")
        .selectExpr(
            "CAST(key AS STRING) AS key",
            "from_json(CAST(value AS STRING), 'name STRING', map('mode', 'FAILFAST')) AS value",
            "timestamp",
            "offset",
            "partition",
            "topic",
        )
        .where("key IS NOT NULL")
    )

    with_the_customer_references = (
        orders.selectExpr(
            "key",
            "value AS left",
            "CASE WHEN value IS NOT NULL THEN CAST(value.customer AS STRING) END AS foreign_key",
            "unix_millis(timestamp) AS timestamp",
            "offset",
            "partition",
            "topic",
        )
        .groupBy("key")
        .transformWithState(
            References("left", "STRING"),
            outputStructType="foreign_key STRING, key STRING, left STRUCT<customer: STRING, "
            "cents: BIGINT>, answer STRING, offset BIGINT, partition INT, "
            "topic STRING, timestamp BIGINT",
            outputMode="append",
            timeMode="none",
        )
    )
    with_the_customer = (
        with_the_customer_references.unionByName(
            customers.selectExpr(
                "key AS foreign_key",
                "value AS right",
                "unix_millis(timestamp) AS timestamp",
                "offset",
                "partition",
                "topic",
            ),
            allowMissingColumns=True,
        )
        .groupBy("foreign_key")
        .transformWithState(
            ForeignKeyJoin(
                "STRING", "STRUCT<customer: STRING, cents: BIGINT>", "STRUCT<name: STRING>"
            ),
            outputStructType="key STRING, left STRUCT<customer: STRING, cents: BIGINT>, right "
            "STRUCT<name: STRING>, timestamp BIGINT",
            outputMode="append",
            timeMode="none",
        )
        .selectExpr(
            "key",
            "CASE WHEN left IS NOT NULL THEN named_struct('name', right.name, 'cents', "
            "left.cents) END AS value",
            "timestamp_millis(timestamp) AS timestamp",
        )
    )

    kafka.write(
        with_the_customer.selectExpr(
            "key", "to_json(value, map('ignoreNullFields', 'false')) AS value"
        ),
        "out",
        topic="orders-with-customer",
    )


def main() -> None:
    """Runs the topology on a broker until a query ends, or SIGTERM or Ctrl-C stop it.

    Exit codes: 0 stopped, or done with --available-now; 1 a query failed; 2 invalid options; 143
    stopped by SIGTERM with --available-now.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-servers", required=True)
    parser.add_argument("--checkpoint", required=True, help="folder or URI of offsets and state")
    parser.add_argument(
        "--kafka-config",
        type=client_settings,
        default={},
        metavar="FILE",
        help="settings of Kafka clients, such as security.protocol, as key=value lines",
    )
    parser.add_argument("--trigger", default="0 seconds", help="time between micro-batches")
    parser.add_argument("--available-now", action="store_true", help="stop at the end of topics")
    parser.add_argument(
        "--starting-offsets",
        type=json.loads,
        default={},
        metavar="JSON",
        help='where a new checkpoint starts, {"TOPIC": {"PARTITION": OFFSET}}, all partitions of '
        "a topic (-2: the first record, -1: the end)",
    )
    options = parser.parse_args()
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        logging.disable()  # Py4J logs a traceback if the signal has stopped Spark, too

    def stop_on_signals() -> None:
        if threading.current_thread() is threading.main_thread() and not options.available_now:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, stop)

    stop_on_signals()
    try:
        spark = (
            SparkSession.builder.config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.shuffle.partitions", "4")
            .config(
                "spark.sql.streaming.stateStore.providerClass",
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
            )
            .getOrCreate()
        )
        stop_on_signals()  # Spark handles Ctrl-C on its own
        topology(Kafka(spark, options))
        ended = options.available_now
        while not (ended or stopping.is_set()):
            ended = spark.streams.awaitAnyTermination(1)
        if stopping.is_set():
            for query in spark.streams.active:
                query.stop()
    except Exception:
        if not stopping.wait(1):  # a signal to the process group stops Spark, maybe first
            raise


if __name__ == "__main__":
    main()
