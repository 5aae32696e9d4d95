"""Sources and sinks in memory, which a simulation uses instead of Kafka."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from millrace_model.documents import DocumentSettings
from millrace_model.graphs import TaskGraph
from millrace_model.records import LoggedLine, OperatorRecord, OperatorRow
from millrace_model.traces import RawProgress, RawTrace
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from millrace_runtime import columns
from millrace_runtime.job.environment import Timed
from millrace_runtime.job.readings import of_topics
from millrace_runtime.job.record_handlers import RecordHandler

CONTROL_TOPIC = "$control"


@dataclass(frozen=True)
class TraceLimits:
    """How many steps of records a simulation keeps, and how many bytes of them.

    `breakpoints`: lines of statements in the code of processors, by node; `stops`: the maximum
    number of stops at them.
    """

    steps: int = 20_000
    bytes: int = 8_000_000
    breakpoints: Mapping[str, Sequence[int]] = field(default_factory=dict)
    stops: int = 200


class Memory:
    """Sources and the sink of one simulated run, in this JVM's memory."""

    simulation = True
    by_partition = False
    real_time = False
    record_handlers: Sequence[RecordHandler] = ()

    def __init__(self, spark: SparkSession, run: str) -> None:
        self.run = run
        self._spark = spark
        columns.gateway().Simulation.open(spark._jsparkSession, run)

    @cached_property
    def _frame(self) -> DataFrame:
        """The records; not all users of a run read them, and the first stream takes some time."""
        return DataFrame(columns.gateway().Simulation.stream(self.run), self._spark)

    def read(
        self,
        topics: tuple[str, ...],
        pattern: str | None,
        start: str,
        timed: Sequence[Timed] = (),
    ) -> DataFrame:
        """Return the new records of some topics, in the order of the input lines."""
        return of_topics(self._frame.where(f"topic <> '{CONTROL_TOPIC}'"), topics, pattern)

    def control(self) -> DataFrame | None:
        """Return control rows: the wall clock and dump requests."""
        return self._frame.where(f"topic = '{CONTROL_TOPIC}'")

    def into(
        self, writer: DataStreamWriter, graph: TaskGraph, settings: DocumentSettings
    ) -> DataStreamWriter:
        """Set a sink that keeps rows in memory, and return the writer."""
        self.sink(graph, settings)
        return writer.format(columns.gateway().Simulation.format()).option("run", self.run)

    def sink(self, graph: TaskGraph, settings: DocumentSettings) -> None:
        """Create the buffer in the JVM that keeps rows."""
        described = {"settings": settings, "sinks": {}}
        session = self._spark._jsparkSession
        columns.gateway().Simulation.sink(session, self.run, json.dumps(described))

    def trace(self, limits: TraceLimits) -> None:
        """Keep the steps of all records that are added after this call."""
        breakpoints = json.dumps({node: list(at) for node, at in limits.breakpoints.items()})
        columns.gateway().Simulation.trace(
            self.run, limits.steps, limits.bytes, breakpoints, limits.stops
        )

    def traced(self) -> RawTrace:
        """Return the steps so far, as the operator reports them (`Trace.scala`)."""
        found: RawTrace = json.loads(columns.gateway().Simulation.traced(self.run))
        return found

    def progress(self) -> RawProgress:
        """Return the record counts so far and, without micro-batches, the finished cuts."""
        found: RawProgress = json.loads(columns.gateway().Simulation.progress(self.run))
        return found

    def add(self, records: Sequence[OperatorRecord]) -> None:
        """Make records available, all of them to one micro-batch."""
        columns.gateway().Simulation.add(self.run, json.dumps(records))

    def take(self) -> list[OperatorRow]:
        """Return the rows since the last call, in the order in which they reached the topics."""
        rows: list[OperatorRow] = json.loads(columns.gateway().Simulation.take(self.run))
        return rows

    def close(self) -> list[LoggedLine]:
        """End the run's tasks and delete its data; return the log lines of nodes."""
        operator = columns.gateway()
        operator.StreamTasks.release(self.run)
        lines: list[LoggedLine] = json.loads(operator.Reports.logs(self.run))
        operator.Simulation.close(self.run)
        return lines
