"""Kafka as sources and sink of a deployed job."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it
from pyspark.sql.streaming.readwriter import DataStreamWriter

from millrace_runtime import columns
from millrace_runtime.environment import Timed
from millrace_runtime.record_handlers import RecordHandler
from millrace_runtime.storage import Place
from millrace_runtime.topics import matching

# The wall clock of punctuation: one control row a second, in jobs that have `process` nodes.
CONTROL_ROWS_PER_SECOND = 1

# Producers that are made before tasks ask for them.
MOST_PRODUCERS = 16

# How Spark writes the ends of a topic-partition among offsets.
EARLIEST, LATEST = -2, -1

# An unreachable broker is reported after a minute; Spark asks three times.
PATIENCE = {"default.api.timeout.ms": "20000", "request.timeout.ms": "15000"}


class Begins(Protocol):
    """Where a query without a checkpoint begins to read."""

    def places(
        self, names: Iterable[str], pattern: str | None, start: str
    ) -> Mapping[str, Mapping[str, int]]:
        """The first offset of every topic-partition of one source."""
        ...


class Kafka:
    """A broker. `options` are Kafka client settings (security.protocol ...), secrets included.

    `bootstrap_servers`: HOST:PORT; None for a job that reads and writes no topic. `fail_on_loss`: a
    batch that would leave out records that the broker deleted fails (`lost_offsets`).
    `record_handlers`: what was decided about single records that the job stops at.
    """

    simulation = False
    by_partition = True

    def __init__(
        self,
        session: SparkSession,
        bootstrap_servers: str | None,
        *,
        options: dict[str, str] | None = None,
        max_records: int | None = None,
        wall_clock: bool = False,
        run: str = "run",
        real_time: bool = False,
        start: str | None = None,
        fail_on_loss: bool = False,
        record_handlers: Sequence[RecordHandler] = (),
    ) -> None:
        self.session = session
        self.bootstrap_servers = bootstrap_servers or ""
        self.options = dict(options or {})
        self.max_records = max_records
        self.wall_clock = wall_clock
        self.run = run
        self.real_time = real_time
        self.record_handlers = record_handlers
        self.reads_latest = False
        self._start = start
        self._fail_on_loss = fail_on_loss
        self._whole: frozenset[str] = frozenset()
        self._partitions: Mapping[str, int] = {}
        self._beginner: Begins | None = None
        self._ends: dict[str, str] | None = None

    def notes_ends(self, file: Path, stream: str) -> None:
        """Have the sink note where the output topics end after each micro-batch.

        `stream`: folder of the query in the checkpoint.
        """
        self._ends = {"file": str(file.absolute()), "stream": stream}

    def begin_at(self, beginner: Begins) -> None:
        """Begin a query without a checkpoint at the offsets that are found by this."""
        self._beginner = beginner

    def begin_with(self, start: str) -> None:
        """Begin a query without a checkpoint at `earliest` or `latest`, whatever sources say."""
        self._start = start

    def read_whole(self, topics: Iterable[str], partitions: Mapping[str, int]) -> None:
        """Read these topics from their beginning, wherever the first run begins with others.

        `partitions`: how many each topic has that is read by name.
        """
        self._whole = frozenset(topics)
        self._partitions = partitions

    def _starting_offsets(self, topics: tuple[str, ...], pattern: str | None, start: str) -> str:
        """Spark's `startingOffsets`: a word, or JSON where some topics are read whole."""
        if self._beginner is not None:
            return json.dumps(self._beginner.places(topics, pattern, start))
        start = self._start or start
        self.reads_latest |= start == "latest"
        if start == "earliest" or not self._whole & set(topics):
            return start
        found = {name: self._partitions[name] for name in topics}
        if pattern:
            found |= matching(self.session, self.client, pattern)
        return json.dumps(
            {
                name: {str(n): EARLIEST if name in self._whole else LATEST for n in range(count)}
                for name, count in found.items()
            }
        )

    @property
    def client(self) -> dict[str, str]:
        """Settings of a Kafka client for this broker."""
        return {**self.options, "bootstrap.servers": self.bootstrap_servers}

    def read(
        self,
        topics: tuple[str, ...],
        pattern: str | None,
        start: str,
        timed: Sequence[Timed] = (),
    ) -> DataFrame:
        """The topics from Spark's Kafka source.

        Without `fail_on_loss` a topic-partition that lost records to retention goes on with what is
        left, as a Kafka consumer does; `merge` makes a sort equal to taking the smallest head
        timestamp first [PL1], which is the extracted one where a source extracts [TS2].
        """
        if pattern:
            # Kafka's own topics are no data of a topology.
            pattern = f"^(?!__)(?:{pattern})$"
        reader = (
            self.session.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.bootstrap_servers)
            .option("includeHeaders", "true")
            .option("startingOffsets", self._starting_offsets(topics, pattern, start))
            .option("failOnDataLoss", str(self._fail_on_loss).lower())
        )
        if pattern and topics:
            alternatives = "|".join(_quoted(topic) for topic in topics)
            reader = reader.option("subscribePattern", f"^(?:{alternatives})$|{pattern}")
        elif pattern:
            reader = reader.option("subscribePattern", pattern)
        else:
            reader = reader.option("subscribe", ",".join(topics))
        if self.max_records and not self.real_time:
            reader = reader.option("maxOffsetsPerTrigger", self.max_records)
        for key, value in {**PATIENCE, **self.options}.items():
            reader = reader.option(f"kafka.{key}", value)
        df = with_time(reader.load(), timed)
        merge = columns.running_max(F.col("_time"), F.col("topic"), F.col("partition"))
        return df.select(
            "key", "value", "topic", "partition", "offset", "timestamp", "headers",
            merge.alias("merge"),
        )  # fmt: skip

    def control(self) -> DataFrame | None:
        """The wall clock as control rows, if a processor may ask for it.

        In real time the tasks make them: Spark's own source of ticks is for micro-batches.
        """
        if not self.wall_clock or self.real_time:
            return None
        ticks = (
            self.session.readStream.format("rate")
            .option("rowsPerSecond", CONTROL_ROWS_PER_SECOND)
            .load()
        )
        now = F.unix_millis("timestamp")
        text = F.to_json(F.struct(now.alias("wall_clock")))
        return ticks.select(
            F.lit(None).cast("binary").alias("key"),
            F.encode(text, "UTF-8").alias("value"),
            F.lit("$control").alias("topic"),
            F.lit(0).alias("partition"),
            F.col("value").alias("offset"),
            "timestamp",
            F.lit(None).cast("ARRAY<STRUCT<key: STRING, value: BINARY>>").alias("headers"),
            now.alias("merge"),
        )

    def into(
        self, writer: DataStreamWriter, graph: dict[str, Any], settings: dict[str, Any]
    ) -> DataStreamWriter:
        """The operator's Kafka sink for a query: timestamps, headers, partitions, tombstones."""
        return writer.format(columns.gateway().KafkaSink.format()).option(
            "sink", self.sink(graph, settings)
        )

    def open_producers(self, stream: Place, tasks: int) -> None:
        """Make the producers of a query's transactions while it starts; `stream`: its folder.

        For a query whose tasks run in this process, on a checkpoint that nobody else writes.
        """
        local = str(self.session.sparkContext.master).startswith("local[")
        if not local or tasks > MOST_PRODUCERS:
            return
        with contextlib.suppress(FileNotFoundError):
            query = json.loads((stream / "metadata").read_text(encoding="utf-8"))["id"]
            columns.gateway().KafkaSink.open(json.dumps(self.client), query, tasks)

    def sink(self, graph: dict[str, Any], settings: dict[str, Any]) -> str:
        """The name of a sink for the rows of a task graph."""
        options = {
            "bootstrap_servers": self.bootstrap_servers,
            "client": self.options,
            "run": self.run,
            "guarantee": settings.get("processing_guarantee", "at_least_once"),
            "graph": graph,
            "real_time": self.real_time,
            "record_handlers": [each.as_json() for each in self.record_handlers],
            **({} if self._ends is None else {"outputs": self._ends}),
        }
        return str(columns.gateway().KafkaSink.register(json.dumps(options)))


def with_time(df: DataFrame, timed: Sequence[Timed]) -> DataFrame:
    """Adds `_time`, in ms: null where an expression gives no valid one, which orders nothing."""
    time = F.unix_millis("timestamp")
    raw = {"key": "_raw_key", "value": "_raw_value", "headers": "_raw_headers"}
    if timed:
        df = df.withColumnsRenamed(raw)
    for number, each in enumerate(timed):
        mine = F.col("topic").isin(*each.topics) if each.topics else F.lit(False)
        if each.pattern:
            mine = mine | F.col("topic").rlike(f"^(?:{each.pattern})$")
        for name, format in (("key", each.key), ("value", each.value)):
            decoded = columns.decode(F.when(mine, F.col(f"_raw_{name}")), format)
            df = df.withColumn(name, columns.attempt(decoded, "", name).getField("value"))
        df = df.withColumn("headers", columns.header_map(F.col("_raw_headers")))
        # Evaluated for other topics' records as well, whose key and value are null here.
        tried = columns.attempt(F.expr(each.expression), "", "timestamp").getField("value")
        own = f"_time_{number}"
        df = df.withColumn(own, tried)
        is_timestamp = df.schema[own].dataType.typeName() == "timestamp"
        millis = F.unix_millis(own) if is_timestamp else F.col(own).cast("bigint")
        time = F.when(mine, F.when(millis >= 0, millis)).otherwise(time)
        df = df.drop("key", "value", "headers")
    df = df.withColumn("_time", time)
    return df.withColumnsRenamed({new: old for old, new in raw.items()}) if timed else df


def _quoted(topic: str) -> str:
    return topic.replace(".", "\\.")
