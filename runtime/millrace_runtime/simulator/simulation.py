"""A simulation: the compiled job on Spark, with input lines instead of Kafka.

The query, its operator, its state and its checkpoints are those of a deployment; only the source
(a stream in memory), the sink (a list) and the wall clock (advanced by input lines) differ.
"""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from millrace_model.events import Fault
from millrace_model.graphs import TaskGraph
from millrace_model.records import LoggedLine, OperatorRecord, OperatorRow, OutputLine, StoreEntry
from millrace_model.scenarios import StoppedFields
from millrace_model.traces import NodeCounts, RawProgress, Statistics
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from millrace_runtime import columns
from millrace_runtime.errors import StreamStopped, fault_of
from millrace_runtime.job.job import Job, Query
from millrace_runtime.reports.trace import counted, trace_of
from millrace_runtime.results.cuts import Cut
from millrace_runtime.results.lines import (
    DUMP,
    LAST_LETTER,
    STOP,
    Line,
    encoded_bytes,
    failure_of,
    line_parts,
    partition_of,
    shown,
)
from millrace_runtime.results.results import Progress, Result
from millrace_runtime.session import session
from millrace_runtime.simulator.memory import CONTROL_TOPIC, Memory, TraceLimits
from millrace_runtime.stores.task_states import Begun


class Simulator:
    """Runs one task graph on input lines."""

    environment = Memory

    def __init__(
        self,
        spark: SparkSession,
        graph: TaskGraph,
        *,
        name: str = "simulation",
        partitions: Mapping[str, int] | None = None,
        cut: Cut | None = None,
        restart_each: bool = False,
        trace: TraceLimits | None = None,
        begun: Begun | None = None,
    ) -> None:
        self.spark = spark
        self.cut = cut or Cut()
        self.restart_each = restart_each
        self.partitions = dict(partitions or {})
        self._run = f"{name}-{uuid.uuid4().hex[:8]}"
        self._memory = self.environment(spark, self._run)
        self._traces = trace is not None
        if trace is not None:
            self._memory.trace(trace)
        opening = None if begun is None else begun.opening
        job = Job(spark, self._memory, graph, name=name, run=self._run, state=opening)
        self._job = job
        self.settings = job.settings
        spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
        self._folder = Path(tempfile.mkdtemp(prefix="millrace-", dir=session.local_dir()))
        self._query: Any = None
        self._sequence = 0
        self._begun = begun
        self._wall_clock = 0 if begun is None else begun.wall_clock
        self._offsets: dict[tuple[str, int], int] = {}
        self._line_of: dict[int, int] = {}
        self._done = 0
        self._stopped = False

    @functools.cached_property
    def _planned(self) -> Query:
        return self._job.query()

    def run(self, lines: Sequence[Line]) -> Result:
        """Process the lines, batch by batch, until no records are left."""
        result = self.run_batches(self.cut.batches(list(enumerate(lines, 1))))
        if self.cut.kind != "each":
            for output in result.outputs:
                del output["after"]
        return result

    def run_batches(self, batches: Iterable[list[tuple[int, Line]]]) -> Result:
        """Process numbered lines in micro-batches; `after` of an output is its line's number."""
        result = Result([])
        try:
            self._start()
            for batch in batches:
                if self._stopped:
                    result.stopped_after = self._done
                    break
                self._feed(batch, result)
                self._done += 1
                if self.restart_each:
                    self._restart()
            self._finish(self._process([self._dump()]), result)
        except Halted as halted:
            halted.note(result)
        finally:
            self._add_logs(result)
        return result

    def stop(self) -> None:
        """Process no further lines; the result is that of those before. Thread-safe."""
        self._stopped = True

    def progress(self) -> Progress:
        """Return the progress of a run with a micro-batch for each line. Thread-safe."""
        found = self._memory.progress()
        return Progress(
            self._finished(found), counted(found["counts"], self._job.graph), self._figures()
        )

    def _finished(self, found: RawProgress) -> int:
        return self._done

    def _add_logs(self, result: Result) -> None:
        """End the run; add the log lines of nodes and the trace to the result."""
        try:
            if self._traces:
                self._count(result)
                result.trace = trace_of(self._memory.traced(), self._job.graph, self._line_of)
        finally:
            result.logs = [
                {
                    "level": line["level"],
                    "node": line["node"],
                    "message": line["message"],
                    "after": self._line_of.get(line["merge"], 0),
                }
                for line in self.close()
            ]

    def close(self) -> list[LoggedLine]:
        """End the query and delete its data; return the log lines of nodes."""
        if self._query is not None:
            self._query.stop()
            self._query = None
        logs = self._memory.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        return logs

    # -- the query -------------------------------------------------------------------------------

    def _start(self) -> None:
        writer = (
            self._planned.rows.writeStream.outputMode("append")
            .option("checkpointLocation", str(self._folder / "stream"))
            .trigger(processingTime="0 seconds")
        )
        self._query = self._memory.into(writer, self._planned.graph, self.settings).start()

    def _restart(self) -> None:
        self._query.stop()
        self._start()

    def _process(self, records: list[OperatorRecord]) -> list[OperatorRow]:
        """Run one micro-batch; return its rows in the order in which they reach the topics."""
        self._memory.add(records)
        try:
            self._query._jsq.processAllAvailable()
        except StreamingQueryException as error:
            raise _stopped(error) from None
        except Exception as error:
            if self._query.exception() is None:
                raise
            raise _stopped(error) from None
        return self._memory.take()

    # -- lines -----------------------------------------------------------------------------------

    def _feed(self, batch: list[tuple[int, Line]], result: Result) -> None:
        number, line = batch[0]
        if "restart" in line:
            self._restart()
            return
        if "advance_wall_clock" in line:
            self._wall_clock += int(line["advance_wall_clock"])
            tick = self._control({"wall_clock": self._wall_clock}, number)
            self._collect(self._process([tick]), result)
            return
        records = [record for number, line in batch for record in self._records(line, number)]
        if records:
            self._collect(self._process(records), result)

    def _records(self, line: Line, number: int) -> list[OperatorRecord]:
        topic = str(line["topic"])
        formats = self._job.formats_of(topic)
        if formats is None:
            return []
        parts = line_parts(line, formats, number)
        if line.get("offset") is not None:
            self._offsets[(topic, parts["partition"])] = int(line["offset"])
        return [self._record(topic, **parts, line=number)]

    def _record(
        self,
        topic: str,
        partition: int,
        timestamp: int,
        key: str | None,
        value: str | None,
        headers: list[tuple[str, str | None]],
        line: int,
    ) -> OperatorRecord:
        offset = self._offsets.get((topic, partition), 0)
        self._offsets[(topic, partition)] = offset + 1
        self._sequence += 1
        self._line_of[self._sequence] = line
        return {
            "topic": topic,
            "partition": partition,
            "offset": offset,
            "timestamp": timestamp,
            "merge": self._sequence,
            "key": key,
            "value": value,
            "headers": headers,
        }

    def _control(self, command: Mapping[str, object], line: int) -> OperatorRecord:
        value = encoded_bytes(json.dumps(command).encode())
        return self._record(CONTROL_TOPIC, 0, 0, None, value, [], line)

    # -- rows ------------------------------------------------------------------------------------

    def _collect(self, rows: list[OperatorRow], result: Result) -> None:
        """Collect outputs and feed back those that the job itself reads, until none are left."""
        letter: list[OutputLine] = []
        while rows:
            again = []
            for row in rows:
                line = self._line_of[row["merge"]]
                if row["dest"] == STOP:
                    raise Halted(json.loads(row["fault"]), line, letter)
                topic = row["topic"]
                if topic is None:  # a print
                    continue
                output = shown(row, topic, line)
                if row["dest"] == LAST_LETTER:
                    letter = [output]
                    continue
                result.add(output, failure_of(row))
                if self._job.formats_of(topic) is not None:
                    again.append(self._looped(row, topic, line))
            rows = self._process(again) if again else []

    def _looped(self, row: OperatorRow, topic: str, line: int) -> OperatorRecord:
        """Return an output that the job reads again as an input."""
        partition = partition_of(row, self.partitions.get(topic, 1))
        return self._record(
            topic, partition, row["timestamp"], row["key_bytes"], row["value_bytes"],
            row["headers"], line,
        )  # fmt: skip

    def _dump(self) -> OperatorRecord:
        return self._control({"dump": True}, 0)

    def _finish(self, rows: Iterable[OperatorRow], result: Result) -> None:
        """Add the contents of the named stores and the number of dropped records to the result."""
        self._count(result)
        if self._begun is not None:
            return  # the stores may be as large as the deployment's
        stores: dict[str, dict[str, StoreEntry]] = {}
        for row in rows:
            if row["dest"] != DUMP:
                continue
            entry: StoreEntry = row["value"]
            key = json.dumps(entry["key"], sort_keys=True, ensure_ascii=False)
            stores.setdefault(str(row["topic"]), {})[key] = entry
        for name in _named_stores(self._planned.graph):
            found = stores.get(name, {})
            result.stores[name] = [found[key] for key in sorted(found)]

    def _count(self, result: Result) -> None:
        """Add the numbers of dropped records to the result."""
        statistics = self._statistics()
        result.dropped = statistics["dropped"]
        result.figures = self._figures(statistics)
        result.drops = {
            node: sum(counts["dropped"].values()) for node, counts in result.figures.items()
        }

    def _statistics(self) -> Statistics:
        found: Statistics = json.loads(columns.gateway().Reports.statistics(self._run))
        return found

    def _figures(self, statistics: Statistics | None = None) -> dict[str, NodeCounts]:
        """Return the numbers of records of each node: see Result."""
        found: dict[str, NodeCounts] = {}
        for node, counts in (statistics or self._statistics())["nodes"].items():
            dead = {"dead_letter": counts["dead_letters"]} if counts["dead_letters"] else {}
            dropped = {**counts["dropped"], **dead}
            found[node] = {"in": counts["in"], "out": counts["out"], "dropped": dropped}
        return found


class Halted(Exception):
    """A record stopped the job; `line` is the input line that caused it.

    `letter`: the output of its dead letter, or empty.
    """

    def __init__(self, fault: Fault, line: int, letter: Sequence[OutputLine] = ()) -> None:
        super().__init__(str(fault.get("message")))
        self.fault = fault
        self.line = line
        self.letter = letter

    def note(self, result: Result) -> None:
        """Add the error, and remove the line's outputs: a real job would process it again.

        Its dead letter remains, because a real job has written it.
        """
        result.outputs = [out for out in result.outputs if out["after"] < self.line]
        result.outputs += self.letter
        error = StreamStopped(self.fault).as_dict()
        stopped = cast(StoppedFields, {"kind": "stopped", **error})
        stopped["after"] = self.line
        result.error = stopped


def _named_stores(graph: TaskGraph) -> list[str]:
    """Return the names of the stores that have a node in the document."""
    names: dict[str, None] = {}
    for node in graph["nodes"]:
        own = node["params"].get("store")
        for store in [own] if own else node["params"].get("stores", []):
            names[store["name"]] = None
    return list(names)


def _stopped(error: Exception) -> Exception:
    fault = fault_of(str(error))
    if fault is not None:
        return StreamStopped(fault)
    return error
