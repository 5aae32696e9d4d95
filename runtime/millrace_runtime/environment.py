"""Where records come from and go to: the one part in which a deployment and a simulation differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from millrace_runtime.formats import Format
from millrace_runtime.record_handlers import RecordHandler


@dataclasses.dataclass(frozen=True)
class Timed:
    """Topics whose records have their timestamp from an expression over key and value."""

    topics: tuple[str, ...]
    pattern: str | None
    key: Format
    value: Format
    expression: str


class Environment(Protocol):
    """Sources and the sink of a job."""

    simulation: bool
    #: Each partition of a read's DataFrame is one topic-partition, in the order of its offsets.
    by_partition: bool
    #: Rows are taken as they arrive, in Spark's real-time mode.
    real_time: bool
    #: What was decided about single records at which the job would stop.
    record_handlers: Sequence[RecordHandler]

    def read(
        self,
        topics: tuple[str, ...],
        pattern: str | None,
        start: str,
        timed: Sequence[Timed] = (),
    ) -> DataFrame:
        """A streaming DataFrame of the records of some topics.

        Columns: those of Spark's Kafka source (key, value, topic, partition, offset, timestamp,
        headers) and `merge`, which orders records of different topic-partitions: by the records'
        own timestamps, or those that the expressions of `timed` give.
        """
        ...

    def control(self) -> DataFrame | None:
        """Control rows (wall clock, dumps) in the same columns, or None if there are none."""
        ...

    def into(
        self, writer: DataStreamWriter, graph: dict[str, Any], settings: dict[str, Any]
    ) -> DataStreamWriter:
        """The query's writer with the operator's sink for the rows of the task graph's sinks."""
        ...
