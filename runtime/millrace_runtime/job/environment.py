"""Sources and sink of a job: the only part in which a deployment and a simulation differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol

from millrace_model.documents import DocumentSettings
from millrace_model.graphs import TaskGraph
from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from millrace_runtime.formats import Format
from millrace_runtime.job.record_handlers import RecordHandler


@dataclasses.dataclass(frozen=True)
class Timed:
    """Topics whose record timestamps are computed by an expression over key and value."""

    topics: tuple[str, ...]
    pattern: str | None
    key: Format
    value: Format
    expression: str


class Environment(Protocol):
    """Sources and the sink of a job."""

    simulation: bool
    #: Whether each partition of a DataFrame from `read` is one topic-partition in offset order.
    by_partition: bool
    #: Whether rows are processed as they arrive, in Spark's real-time mode.
    real_time: bool
    #: Decisions about single records at which the job would otherwise stop.
    record_handlers: Sequence[RecordHandler]

    def read(
        self,
        topics: tuple[str, ...],
        pattern: str | None,
        start: str,
        timed: Sequence[Timed] = (),
    ) -> DataFrame:
        """Return a streaming DataFrame of the records of some topics.

        Columns: those of Spark's Kafka source (key, value, topic, partition, offset, timestamp,
        headers) and `merge`, which orders records of different topic-partitions by the records'
        own timestamps, or by those that the expressions of `timed` compute.
        """
        ...

    def control(self) -> DataFrame | None:
        """Return control rows (wall clock, dumps) with the same columns, or None if not needed."""
        ...

    def into(
        self, writer: DataStreamWriter, graph: TaskGraph, settings: DocumentSettings
    ) -> DataStreamWriter:
        """Set the sink for the rows of the task graph's sink nodes, and return the writer."""
        ...
