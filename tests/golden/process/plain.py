r"""deduplicate, as Spark Structured Streaming.

Run it with Spark's Kafka package:

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 job.py \
        --bootstrap-servers HOST:PORT --checkpoint FOLDER
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

    def show(self, rows: DataFrame, name: str, mode: str = "append") -> None:
        """Starts a query that prints rows."""
        self._start(rows.writeStream.format("console").outputMode(mode), name)

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


STREAM_TIME = "STREAM_TIME"


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

    def put(self, key: Any, value: Any) -> None:
        if value is None:
            self.state.removeKey((key,))
        else:
            self.state.updateValue((key,), (value,))

    def delete(self, key: Any) -> Any:
        found = self.get(key)
        self.state.removeKey((key,))
        return found

    def all(self) -> Iterator[tuple[Any, Any]]:
        return self.range(None, None)

    def range(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        return iter(self._rows(first, last))

    def _rows(self, first: Any = None, last: Any = None) -> list[tuple[Any, Any]]:
        rows = {_bytes(key): (key, _python(value)) for (key,), (value,) in self.state.iterator()}
        return [
            rows[key]
            for key in sorted(rows)
            if (first is None or key >= _bytes(first)) and (last is None or key <= _bytes(last))
        ]


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

    def store(self, name: str) -> KeyValueStore:
        return self.stores[name]

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


def _bytes(key: Any) -> bytes:
    """A key as Kafka's serializers write it."""
    if isinstance(key, int):
        return key.to_bytes(8, "big", signed=True)
    return key.encode() if isinstance(key, str) else bytes(key)


def _in_order(rows: Iterator[Row]) -> Iterator[Row]:
    """Records by offset within a partition, and by timestamp across partitions."""
    partitions: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.offset):
        partitions.setdefault((row.topic, row.partition), []).append(row)
    return merge(*partitions.values(), key=lambda row: row.timestamp)


class Deduplicate(Processor):
    """Passes on the first record of each key within ten minutes."""

    def init(self, context):
        self.context = context
        self.seen = context.store("seen")
        context.schedule("1 minute", STREAM_TIME, self.forget)

    def process(self, record):
        if self.seen.get(record.key) is None:
            self.context.forward(record, to="first")
        else:
            self.context.forward(record, to="repeated")
        self.seen.put(record.key, record.timestamp)

    def forget(self, timestamp):
        for key, last in list(self.seen.all()):
            if last < timestamp - 600_000:
                self.seen.delete(key)


def topology(kafka: Kafka) -> None:
    """deduplicate."""

    events = kafka.read("events").selectExpr(
        "CAST(key AS STRING) AS key",
        "CAST(value AS STRING) AS value",
        "timestamp",
        "headers",
        "offset",
        "partition",
        "topic",
    )

    more_events = kafka.read("more-events").selectExpr(
        "CAST(key AS STRING) AS key",
        "CAST(value AS STRING) AS value",
        "timestamp",
        "headers",
        "offset",
        "partition",
        "topic",
    )

    deduplicate = (
        events.unionByName(more_events)
        .selectExpr(
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
            Task(Deduplicate, outputs=("first", "repeated"), stores={"seen": ("STRING", "BIGINT")}),
            outputStructType="port STRING, key STRING, value STRING, timestamp BIGINT, headers "
            "ARRAY<STRUCT<key: STRING, value: BINARY>>, offset BIGINT, "
            "partition INT, topic STRING",
            outputMode="append",
            timeMode="none",
        )
        .withColumns({"timestamp": F.timestamp_millis("timestamp")})
    )
    deduplicate_first = deduplicate.where("port IS NULL OR port = 'first'")
    deduplicate_repeated = deduplicate.where("port IS NULL OR port = 'repeated'")

    kafka.write(
        deduplicate_first.selectExpr("key", "value", "headers"), "out", topic="distinct-events"
    )

    # Repeated
    kafka.show(deduplicate_repeated, "log")


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
