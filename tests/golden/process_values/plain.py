r"""trimmed, as Spark Structured Streaming.

Run it with Spark's Kafka package:

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 job.py \
        --bootstrap-servers HOST:PORT --checkpoint FOLDER

A streaming query has at most one stateful step. The queries pass records on through these topics,
which must exist: trimmed-trim.
"""

import argparse
import json
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from heapq import merge
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.streaming.stateful_processor import (
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
)


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


@dataclass
class Record:
    """A record; the timestamp is in milliseconds."""

    key: Any
    value: Any
    timestamp: int
    headers: Any = ()

    def replace(self, **changes: Any) -> "Record":
        """A copy with other fields."""
        return replace(self, **changes)


class Processor:
    """Base class of processors. Each task creates an instance for each micro-batch."""

    def init(self, context: "Context") -> None:
        """Called before the first record."""

    def process(self, record: Record) -> None:
        """Called for each record."""

    def close(self) -> None:
        """Called after the last record."""


class KeyValueStore:
    """A store of one task. Iterates over a copy of the rows, in the order of the keys' bytes."""

    def __init__(self, state: MapState) -> None:
        self.state = state

    def get(self, key: Any) -> Any:
        found = self.state.getValue((key,))
        return None if found is None else _python(found[0])


def _python(value: Any) -> Any:
    """A value with dictionaries in place of rows."""
    return Row(value=value).asDict(recursive=True)["value"]


@dataclass(eq=False)
class Schedule:
    """A punctuation by stream time, with its interval in milliseconds."""

    every: int
    callback: Callable[[int], None]
    cancelled: bool = False


@dataclass
class Context:
    """The context of a processor."""

    outputs: tuple[str, ...]
    keeps_key: bool
    stores: dict[str, KeyValueStore]
    stream_time: int
    record: Record | None = None
    topic: str | None = None
    partition: int = -1
    offset: int = -1
    schedules: list[Schedule] = field(default_factory=list)
    forwarded: list[tuple[str | None, Record]] = field(default_factory=list)

    def schedule(self, interval: int | str, type: str, callback: Callable[[int], None]) -> Schedule:
        made = Schedule(_milliseconds(interval), callback)
        self.schedules.append(made)
        return made

    def forward(self, record: Record, to: str | None = None) -> None:
        if to is not None and to not in self.outputs:
            raise ValueError(f"there is no output {to!r}; outputs: {', '.join(self.outputs)}")
        if self.keeps_key and (self.record is None or record.key != self.record.key):
            raise ValueError("process_values must not change the key")
        self.forwarded.append((to, record.replace()))

    def punctuate(self, before: int) -> None:
        """Runs each schedule that became due after `before`, once."""
        due = [(_next(before, each.every), each) for each in self.schedules]
        self.record, self.topic, self.partition, self.offset = None, None, -1, -1
        for at, schedule in sorted(due, key=lambda pair: pair[0]):
            if at <= self.stream_time and not schedule.cancelled:
                schedule.callback(self.stream_time)


def _next(before: int, every: int) -> int:
    """The first punctuation is due with the first record, others at multiples of the interval."""
    return 0 if before < 0 else (before // every + 1) * every


def _milliseconds(interval: int | str) -> int:
    if isinstance(interval, int):
        return interval
    units = {"week": 604_800_000, "day": 86_400_000, "hour": 3_600_000, "minute": 60_000}
    units |= {"second": 1000, "millisecond": 1, "ms": 1, "m": 1}
    number, unit = interval.lower().split()
    return int(number) * units[unit.removesuffix("s")]


class Task(StatefulProcessor):
    """Runs a processor on the records of one partition, as a task of Kafka Streams does.

    After each record, the punctuations that are due run. The stores and the stream time are
    kept by partition.
    """

    def __init__(
        self,
        processor: type[Processor],
        outputs: tuple[str, ...] = ("out",),
        stores: dict[str, tuple[str, str]] | None = None,
        keeps_key: bool = False,
        arguments: dict[str, object] | None = None,
    ) -> None:
        self.processor = processor
        self.outputs = outputs
        self.types = stores or {}
        self.keeps_key = keeps_key
        self.arguments = arguments or {}

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.time = handle.getValueState("stream_time", "time BIGINT")
        self.stores = {
            name: KeyValueStore(handle.getMapState(name, f"key {key}", f"value {value}"))
            for name, (key, value) in self.types.items()
        }

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        (time,) = (self.time.get() if self.time.exists() else None) or (-1,)
        context = Context(self.outputs, self.keeps_key, self.stores, time)
        processor = self.processor(**self.arguments)
        processor.init(context)
        for row in _in_order(rows):
            fields = row.asDict(recursive=True)
            headers = [(each["key"], each["value"]) for each in fields["headers"] or ()]
            record = Record(fields["key"], fields["value"], fields["timestamp"], headers)
            context.record, context.topic = record, row.topic
            context.partition, context.offset = row.partition, row.offset
            before = context.stream_time
            context.stream_time = max(before, record.timestamp)
            processor.process(record)
            context.punctuate(before)
            for port, each in context.forwarded:
                yield Row(
                    port=port,
                    key=each.key,
                    value=each.value,
                    timestamp=each.timestamp,
                    headers=[Row(key=name, value=value) for name, value in each.headers],
                    offset=row.offset,
                    partition=row.partition,
                    topic=row.topic,
                )
            context.forwarded = []
        processor.close()
        self.time.update((context.stream_time,))

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


def _in_order(rows: Iterator[Row]) -> Iterator[Row]:
    """Records by offset within a partition, and by timestamp across partitions."""
    partitions: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.offset):
        partitions.setdefault((row.topic, row.partition), []).append(row)
    return merge(*partitions.values(), key=lambda row: row.timestamp)


class Trim(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record.replace(value=record.value.strip()))


def topology(kafka: Kafka) -> None:
    """trimmed."""

    lines = kafka.read("lines").selectExpr(
        "CAST(key AS STRING) AS key",
        "CAST(value AS STRING) AS value",
        "timestamp",
        "headers",
        "offset",
        "partition",
        "topic",
    )

    trim = (
        lines.selectExpr(
            "key",
            "value",
            "unix_millis(timestamp) AS timestamp",
            "headers",
            "offset",
            "partition",
            "topic",
        )
        .groupBy("partition")
        .transformWithState(
            Task(Trim, keeps_key=True),
            outputStructType="port STRING, key STRING, value STRING, timestamp BIGINT, headers "
            "ARRAY<STRUCT<key: STRING, value: BINARY>>, offset BIGINT, "
            "partition INT, topic STRING",
            outputMode="append",
            timeMode="none",
        )
        .withColumns({"timestamp": F.timestamp_millis("timestamp")})
    )

    kafka.write(
        trim.selectExpr(
            "to_json(struct(key), map('ignoreNullFields', 'false')) AS key",
            "to_json(struct(key, value, unix_millis(timestamp) AS timestamp, headers), "
            "map('ignoreNullFields', 'false')) AS value",
        ),
        "trimmed-trim",
        topic="trimmed-trim",
    )
    count_changes = (
        kafka.read("trimmed-trim")
        .selectExpr(
            "from_json(CAST(value AS STRING), 'key STRING, value STRING, timestamp BIGINT, "
            "headers ARRAY<STRUCT<key: STRING, value: BINARY>>', map('mode', 'FAILFAST')) AS row",
        )
        .select("row.*")
        .withColumns({"timestamp": F.expr("timestamp_millis(timestamp)")})
    )
    count = (
        count_changes.where("key IS NOT NULL AND value IS NOT NULL")
        .groupBy("key")
        .agg(F.count("*").alias("value"), F.max("timestamp").alias("timestamp"))
    )

    kafka.write(
        count.selectExpr("key", "unhex(lpad(hex(value), 16, '0')) AS value"),
        "out",
        topic="lengths",
        mode="update",
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
