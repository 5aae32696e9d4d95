"""Kafka as sources and sink of a deployed job."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime import columns

# The wall clock of punctuation: one control row a second, in jobs that have `process` nodes.
CONTROL_ROWS_PER_SECOND = 1

# A broker that is away is said after a minute; Spark asks three times.
PATIENCE = {"default.api.timeout.ms": "20000", "request.timeout.ms": "15000"}


class Kafka:
    """A broker. `options` are Kafka client settings (security.protocol ...), secrets included."""

    simulation = False
    by_partition = True

    def __init__(
        self,
        session: SparkSession,
        bootstrap_servers: str,
        *,
        options: dict[str, str] | None = None,
        max_records: int | None = None,
        wall_clock: bool = False,
        run: str = "run",
    ) -> None:
        self.session = session
        self.bootstrap_servers = bootstrap_servers
        self.options = dict(options or {})
        self.max_records = max_records
        self.wall_clock = wall_clock
        self.run = run

    def read(self, topics: tuple[str, ...], pattern: str | None, start: str) -> DataFrame:
        """The topics from Spark's Kafka source.

        A topic-partition that lost records to retention goes on with what is left, as a Kafka
        consumer does; `merge` makes a sort equal to taking the smallest head timestamp first
        [PL1].
        """
        reader = (
            self.session.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.bootstrap_servers)
            .option("includeHeaders", "true")
            .option("startingOffsets", start)
            .option("failOnDataLoss", "false")
        )
        if pattern and topics:
            alternatives = "|".join(_quoted(topic) for topic in topics)
            reader = reader.option("subscribePattern", f"(?:{alternatives})|(?:{pattern})")
        elif pattern:
            reader = reader.option("subscribePattern", pattern)
        else:
            reader = reader.option("subscribe", ",".join(topics))
        if self.max_records:
            reader = reader.option("maxOffsetsPerTrigger", self.max_records)
        for key, value in {**PATIENCE, **self.options}.items():
            reader = reader.option(f"kafka.{key}", value)
        df = reader.load()
        millis = F.unix_millis("timestamp")
        merge = columns.running_max(millis, F.col("topic"), F.col("partition"))
        return df.select(
            "key", "value", "topic", "partition", "offset", "timestamp", "headers",
            merge.alias("merge"),
        )  # fmt: skip

    def control(self) -> DataFrame | None:
        """The wall clock as control rows, if a processor may ask for it."""
        if not self.wall_clock:
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

    def writer(self, graph: dict[str, Any], settings: dict[str, Any]) -> Any:
        """The operator's Kafka writer: timestamps, headers, partitions and tombstones kept."""
        options = {
            "bootstrap_servers": self.bootstrap_servers,
            "client": self.options,
            "run": self.run,
            "guarantee": settings.get("processing_guarantee", "at_least_once"),
            "graph": graph,
        }
        return columns.gateway().KafkaSink.writer(json.dumps(options))


def _quoted(topic: str) -> str:
    return topic.replace(".", "\\.")
