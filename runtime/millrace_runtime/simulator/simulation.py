"""A simulation: the compiled job on Spark, with input lines instead of Kafka.

The query, its operator, its state and its checkpoints are those of a deployment; only the source
(a stream in memory), the sink (a list) and the wall clock (advanced by input lines) differ.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import random
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from millrace_model.documents import Format
from millrace_model.events import Fault
from millrace_model.graphs import TaskGraph
from millrace_model.simulations import (
    InputLine,
    LineParts,
    LoggedLine,
    LogLine,
    NodeCounts,
    OperatorRecord,
    OperatorRow,
    OutputLine,
    RawProgress,
    Statistics,
    StoppedFields,
    StoreEntry,
)
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import SparkSession

from millrace_runtime import columns
from millrace_runtime.errors import MillraceError, StreamStopped, fault_of
from millrace_runtime.job.job import Job, Query
from millrace_runtime.reports.trace import Count, Trace, counted, trace_of
from millrace_runtime.session import session
from millrace_runtime.simulator.memory import CONTROL_TOPIC, Memory, TraceLimits
from millrace_runtime.stores.task_states import Begun

STOP, DUMP, LAST_LETTER = -1, -3, -5

Line: TypeAlias = InputLine

# A micro-batch of a simulation has a handful of rows: interpreted expressions and the first
# compiler tier cost less than the code that would be generated for them.
SETTINGS = {
    "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.minBatchesToRetain": "2",
}


def simulation_session(
    master: str = "local[1]",
    *,
    small: bool = False,
    storage: str = "",
    java_extra: Sequence[str] = (),
) -> SparkSession:
    """Return a warm session for any number of consecutive simulations.

    `small`: with half of the memory, at whose limit the JVM exits, and 1 GB of address space for
    Python workers. `storage`: see `session.create`; with one, Hadoop's settings are kept.
    `java_extra`: further options of the JVM.
    """
    memory = {"spark.driver.memory": "512m", "spark.executor.pyspark.memory": "1g"} if small else {}
    bounds = ("-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError") if small else ()
    compiler = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m")
    made = session.create(
        "millrace-simulation", master=master, settings={**SETTINGS, **memory},
        java_extra=(*compiler, *bounds, *java_extra), storage=storage,
    )  # fmt: skip
    # With every micro-batch, each stateful operator sends all of Hadoop's thousand defaults to its
    # tasks. Code that reads a missing setting uses the same default.
    if not storage:
        made.sparkContext._jsc.hadoopConfiguration().clear()
    return made


@dataclasses.dataclass
class Result:
    """The result of a simulation; see the result files of `conformance`."""

    outputs: list[OutputLine]
    dropped: int = 0
    drops: dict[str, int] = dataclasses.field(default_factory=dict)  # by node
    stores: dict[str, list[StoreEntry]] = dataclasses.field(default_factory=dict)
    error: StoppedFields | None = None
    # Log lines of nodes (peek, print, processors): level, node, message, and `after`, the number
    # of the input line that was being processed; 0 if there was none.
    logs: list[LogLine] = dataclasses.field(default_factory=list)
    # Every step of every record, if a trace was requested; see `tracing`.
    trace: Trace | None = None
    # By node: `in`, `out` and `dropped` {reason: n}, where `dead_letter` is one of the reasons.
    figures: dict[str, NodeCounts] = dataclasses.field(default_factory=dict)
    # The number of input lines that were processed, if the run was stopped from outside.
    stopped_after: int | None = None


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a run: input lines done, record counts, figures by node as in Result."""

    done: int
    counts: list[Count]
    figures: dict[str, NodeCounts]


@dataclasses.dataclass(frozen=True)
class Cut:
    """How input lines are cut into micro-batches: `each`, `all`, or at random, by a seed."""

    kind: str = "each"
    seed: int = 0

    @classmethod
    def parse(cls, text: str) -> Cut:
        """Parse `each`, `all` or `random:SEED`. Raises MillraceError `cut_unknown`."""
        if text in ("each", "all"):
            return cls(text)
        kind, _, seed = text.partition(":")
        if kind != "random" or not seed.lstrip("-").isdigit():
            raise MillraceError(
                "cut_unknown", f"Unknown cut {text!r}: use each, all or random:SEED."
            )
        return cls(kind, int(seed))

    def batches(self, lines: Sequence[tuple[int, Line]]) -> Iterator[list[tuple[int, Line]]]:
        """Yield the lines in batches; a line that is not a record is a batch of its own."""
        chance = random.Random(self.seed)  # noqa: S311 - cuts are to be repeatable
        batch: list[tuple[int, Line]] = []
        for number, line in lines:
            alone = "topic" not in line
            ends = self.kind == "each" or (self.kind == "random" and chance.random() < 0.4)
            if batch and (alone or ends):
                yield batch
                batch = []
            batch.append((number, line))
            if alone:
                yield batch
                batch = []
        if batch:
            yield batch


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
        value = _base64(json.dumps(command).encode())
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
                result.outputs.append(output)
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


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _header(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return base64.b64decode(text).decode()
    except UnicodeDecodeError:
        return text


def shown(row: OperatorRow, topic: str, after: int) -> OutputLine:
    """Return the output line of a row; dead letters are shown without their error headers."""
    line: OutputLine = {
        "after": after,
        "topic": topic,
        "key": row["key"],
        "value": row["value"],
        "timestamp": row["timestamp"],
    }
    headers = {
        name: _header(text)
        for name, text in row["headers"]
        if not name.startswith("__streams.errors.")
    }
    if headers:
        line["headers"] = headers
    return line


def line_parts(line: Line, formats: tuple[Format, Format], number: int) -> LineParts:
    """Return partition, timestamp, key, value and headers of an input line, with bytes in base64.

    Raises MillraceError `input_invalid` for a key or value that does not match its format.
    """
    headers: list[tuple[str, str | None]] = [
        (name, None if value is None else _base64(str(value).encode()))
        for name, value in (line.get("headers") or {}).items()
    ]
    return {
        "partition": int(line.get("partition") or 0),
        "timestamp": int(line.get("timestamp") or 0),
        "key": _line_bytes(line, "key", formats[0], number),
        "value": _line_bytes(line, "value", formats[1], number),
        "headers": headers,
    }


def _line_bytes(
    line: Line, name: Literal["key", "value"], format: Format, number: int
) -> str | None:
    given = line.get("key_bytes" if name == "key" else "value_bytes")
    if given is not None:
        return str(given)
    if line.get(name) is None:
        return None
    text = json.dumps(line[name])
    try:
        # The schema of a registry may change between two runs.
        encode = _encode if "registry" in format else _encoded
        return encode(json.dumps(format), text)
    except (Py4JJavaError, PySparkException):
        needed = (
            "base64" if format["format"] == "bytes" else f"a value of format {format['format']}"
        )
        found = text if len(text) <= 60 else f"{text[:59]}…"
        raise MillraceError(
            "input_invalid", f"Input {number}: the {name} must be {needed}, found {found}."
        ) from None


def _encode(format: str, text: str) -> str | None:
    encoded = columns.gateway().Simulation.encode(format, text)
    return None if encoded is None else str(encoded)


_encoded = functools.lru_cache(maxsize=4_096)(_encode)


def partition_of(row: OperatorRow, partitions: int) -> int:
    """Return the partition of an output in a topic with this number of partitions."""
    if row["partition"] is not None:
        return int(row["partition"])
    key = row["partition_key"] or row["key_bytes"]
    raw = base64.b64decode(key) if key else None
    return int(columns.gateway().Partitioner.partition(raw, partitions))
