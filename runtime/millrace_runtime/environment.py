"""Where records come from and go to: the one part in which a deployment and a simulation differ."""

from __future__ import annotations

from typing import Any, Protocol

from pyspark.sql import DataFrame


class Environment(Protocol):
    """Sources and the sink of a job."""

    simulation: bool
    #: Each partition of a read's DataFrame is one topic-partition, in the order of its offsets.
    by_partition: bool

    def read(self, topics: tuple[str, ...], pattern: str | None, start: str) -> DataFrame:
        """A streaming DataFrame of the records of some topics.

        Columns: those of Spark's Kafka source (key, value, topic, partition, offset, timestamp,
        headers) and `merge`, which orders records of different topic-partitions.
        """
        ...

    def control(self) -> DataFrame | None:
        """Control rows (wall clock, dumps) in the same columns, or None if there are none."""
        ...

    def writer(self, graph: dict[str, Any], settings: dict[str, Any]) -> Any:
        """The operator's writer (a ForeachWriter of the JVM) for rows that reach the sinks."""
        ...
