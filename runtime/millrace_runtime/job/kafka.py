"""Kafka as the sources and the sink of a deployed job."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from millrace_model.documents import DocumentSettings
from millrace_model.graphs import TaskGraph
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it
from pyspark.sql.streaming.readwriter import DataStreamWriter

from millrace_runtime import columns
from millrace_runtime.checkpoint.storage import Place
from millrace_runtime.job.environment import Timed
from millrace_runtime.job.python_options import python_options
from millrace_runtime.job.record_handlers import RecordHandler
from millrace_runtime.kafka.topics import matching

# The wall clock of punctuation: one control row a second, in jobs that have `process` nodes.
CONTROL_ROWS_PER_SECOND = 1

# Above this number of tasks, producers are created only when tasks request them.
MOST_PRODUCERS = 16

# Spark's offsets for the beginning and the end of a topic-partition.
EARLIEST, LATEST = -2, -1

# An unreachable broker is reported after one minute, because Spark tries three times.
PATIENCE = {"default.api.timeout.ms": "20000", "request.timeout.ms": "15000"}

# The consumer of a task fetches ahead, where no record is yet, and a broker processes the requests
# of a connection one after the other: with Kafka's default, the task of the next micro-batch would
# wait up to half a second before it is told where its topic-partition begins and ends.
AT_ONCE = {"fetch.max.wait.ms": "0"}

# After each poll, Spark's connector asks for the first and the last offset of the topic-partition.
# That moves the consumer, which then drops what it has fetched beyond the records of that poll:
# with Kafka's default of 500 records, it would fetch the same megabyte again and again.
MANY_AT_ONCE = {"max.poll.records": "10000"}


class Begins(Protocol):
    """Finds the offsets at which a query without a checkpoint begins to read."""

    def places(
        self, names: Iterable[str], pattern: str | None, start: str
    ) -> Mapping[str, Mapping[str, int]]:
        """Return the first offset of every topic-partition of one source."""
        ...


class Kafka:
    """A broker. `options` are Kafka client settings (security.protocol ...), secrets included.

    `bootstrap_servers`: HOST:PORT; None for a job without topics. `fail_on_loss`: fail a batch that
    would skip records that the broker has deleted (`lost_offsets`). `record_handlers`: decisions
    about single records at which the job would otherwise stop.
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
        """Make the sink note the end offsets of the output topics after each micro-batch.

        `file`: where to note them; `stream`: folder of the query in the checkpoint.
        """
        self._ends = {"file": str(file.absolute()), "stream": stream}

    def begin_at(self, beginner: Begins) -> None:
        """Begin a query without a checkpoint at the offsets that `beginner` finds."""
        self._beginner = beginner

    def begin_with(self, start: str) -> None:
        """Begin a query without a checkpoint at `earliest` or `latest`, overriding its sources."""
        self._start = start

    def read_whole(self, topics: Iterable[str], partitions: Mapping[str, int]) -> None:
        """Read these topics from their beginning, even if the first run begins others at the end.

        `partitions`: number of partitions of each topic that is read by name.
        """
        self._whole = frozenset(topics)
        self._partitions = partitions

    def _starting_offsets(self, topics: tuple[str, ...], pattern: str | None, start: str) -> str:
        """Return Spark's `startingOffsets`: a word, or JSON if positions differ by topic."""
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
        """Read topics with Spark's Kafka source.

        Without `fail_on_loss`, a topic-partition that lost records to retention continues with the
        remaining ones, as a Kafka consumer does. Sorting by `merge` is equal to taking the
        smallest head timestamp first [PL1]: the extracted one if the source has an extractor [TS2].
        """
        if pattern:
            # Kafka's internal topics are never input of a topology.
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
        waiting = {} if self.real_time else AT_ONCE
        for key, value in {**PATIENCE, **MANY_AT_ONCE, **waiting, **self.options}.items():
            reader = reader.option(f"kafka.{key}", value)
        df = with_time(reader.load(), timed)
        merge = columns.running_max(F.col("_time"), F.col("topic"), F.col("partition"))
        return df.select(
            "key", "value", "topic", "partition", "offset", "timestamp", "headers",
            merge.alias("merge"),
        )  # fmt: skip

    def control(self) -> DataFrame | None:
        """Return the wall clock as control rows, if processors may read it.

        In real time the tasks create them, because Spark's rate source supports micro-batches only.
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
            F.lit(None).cast(columns.HEADERS).alias("headers"),
            now.alias("merge"),
        )

    def into(
        self, writer: DataStreamWriter, graph: TaskGraph, settings: DocumentSettings
    ) -> DataStreamWriter:
        """Set the operator's Kafka sink: it writes timestamps, headers, partitions, tombstones."""
        return writer.format(columns.gateway().KafkaSink.format()).option(
            "sink", self.sink(graph, settings)
        )

    def open_producers(self, stream: Place, tasks: int) -> None:
        """Create the producers of a query's transactions while it starts; `stream`: its folder.

        Does nothing unless tasks run in this process. No other job may write to the checkpoint.
        """
        local = str(self.session.sparkContext.master).startswith("local[")
        if not local or tasks > MOST_PRODUCERS:
            return
        with contextlib.suppress(FileNotFoundError):
            query = json.loads((stream / "metadata").read_text(encoding="utf-8"))["id"]
            columns.gateway().KafkaSink.open(json.dumps(self.client), query, tasks)

    def sink(self, graph: TaskGraph, settings: DocumentSettings) -> str:
        """Register a sink for the rows of a task graph, and return its name."""
        options = {
            "bootstrap_servers": self.bootstrap_servers,
            "client": self.options,
            "run": self.run,
            "guarantee": settings.get("processing_guarantee", "at_least_once"),
            "graph": graph,
            "real_time": self.real_time,
            "record_handlers": [each.as_json() for each in self.record_handlers],
            **python_options(),
            **({} if self._ends is None else {"outputs": self._ends}),
        }
        return str(columns.gateway().KafkaSink.register(json.dumps(options)))


def with_time(df: DataFrame, timed: Sequence[Timed]) -> DataFrame:
    """Add `_time` in ms; an invalid time is null and does not affect the order."""
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
        # Spark also evaluates this for records of other topics, whose key and value are null here.
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
