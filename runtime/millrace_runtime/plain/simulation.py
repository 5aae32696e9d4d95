"""Simulations of the plain dialect: the program's own `topology` on files instead of Kafka.

Input lines become files that the queries read. The output of a query is collected batch by batch,
and read again if the program reads that topic. As on a broker, a written record gets the time of
writing, here the simulation's wall clock.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import struct
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, TypedDict, cast

from millrace_compiler import Compilation
from millrace_compiler.operators.sinks.topic import SinkTopic
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.operators.sources.stream import SourceStream
from millrace_compiler.parameters.formats import Format, format_of
from millrace_model.documents import Format as FormatJson
from millrace_model.records import InputLine, OperatorRecord, OutputLine
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime import columns
from millrace_runtime.results.cuts import Cut
from millrace_runtime.results.lines import line_parts
from millrace_runtime.results.results import Result
from millrace_runtime.session import session

Line: TypeAlias = InputLine
_SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp BIGINT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
_STATE_STORES = "org.apache.spark.sql.execution.streaming.state."
SETTINGS = session.PLAIN | {
    "spark.sql.streaming.numRecentProgressUpdates": "10000",
    "spark.sql.shuffle.partitions": "1",
}
_UNPACK = {"integer": ">i", "long": ">q", "float": ">f", "double": ">d", "boolean": ">?"}


class _Row(TypedDict):
    """A record that a query wrote."""

    topic: str
    key: bytes | None
    value: bytes | None
    partition: int | None
    headers: list[tuple[str, bytes | None]]


@dataclass
class _Query:
    """One call of `kafka.write`."""

    rows: DataFrame
    name: str
    topic: str | None
    mode: str
    written: list[_Row] = field(default_factory=list)
    running: Any = None


class Files:
    """The `kafka` of a simulated plain program: topics are files, and writes are collected."""

    def __init__(self, spark: SparkSession, folder: Path, run: str) -> None:
        self.spark, self.folder, self.run = spark, folder, run
        self.inputs = folder / "topics"
        self.inputs.mkdir()
        self.queries: list[_Query] = []
        self.read_topics: set[str] = set()
        self._simulation = columns.gateway().Simulation
        self._simulation.open(spark._jsparkSession, run)

    def read(
        self, *topics: str, pattern: str | None = None, starting: str = "earliest"
    ) -> DataFrame:
        """Return the records of topics as they are added."""
        self.read_topics.update(topics)
        rows = self.spark.readStream.schema(_SCHEMA).json(str(self.inputs))
        topic = F.col("topic")
        wanted = topic.rlike(f"^(?:{pattern})$") if pattern else topic.isin(*topics)
        return rows.where(wanted).withColumn("timestamp", F.timestamp_millis("timestamp"))

    def table(self, topic: str) -> DataFrame:
        """Return all records that a topic has when a micro-batch runs."""
        rows = DataFrame(self._simulation.still(self.spark._jsparkSession, self.run), self.spark)
        return rows.where(F.col("topic") == topic)

    def write(
        self, rows: DataFrame, name: str, topic: str | None = None, mode: str = "append"
    ) -> None:
        """Add a query whose output is collected."""
        self.queries.append(_Query(rows, name, topic, mode))

    def show(self, rows: DataFrame, name: str, mode: str = "append") -> None:
        """Do nothing: a simulation does not print records."""

    def add(self, records: list[OperatorRecord]) -> None:
        """Make records available, all of them to one micro-batch."""
        self._simulation.hold(self.run, json.dumps(records), "[]", False, False)
        lines = [
            {**each, "headers": [{"key": name, "value": raw} for name, raw in each["headers"]]}
            for each in records
        ]
        number = sum(1 for _ in self.inputs.iterdir())
        text = "".join(json.dumps(line) + "\n" for line in lines)
        hidden = self.folder / "next.json"
        hidden.write_text(text, "utf-8")
        hidden.rename(self.inputs / f"{number:06}.json")

    def close(self) -> None:
        """Delete the records."""
        self._simulation.close(self.run)


def topology_of(compilation: Compilation) -> Callable[[Any], None]:
    """Return the function `topology` of the generated program."""
    topology: Callable[[Any], None] = module_of((compilation.code or {})["job.py"]).topology
    return topology


def module_of(program: str) -> ModuleType:
    """Return a module with the program's text."""
    loader = _Program(program)
    module = module_from_spec(ModuleSpec("job", loader))
    loader.exec_module(module)
    return module


class _Program(InspectLoader):
    """Imports a program from its text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, fullname: str) -> str:
        return self._text


class PlainSimulator:
    """Runs a plain program on input lines."""

    def __init__(
        self,
        spark: SparkSession,
        topology: Callable[[Any], None],
        compilation: Compilation,
        cut: Cut,
        *,
        restart_each: bool = False,
    ) -> None:
        self.cut, self.restart_each = cut, restart_each
        for name, value in SETTINGS.items():
            spark.conf.set(name, value)
        if "RocksDBStateStoreProvider" in (compilation.code or {})["job.py"]:
            spark.conf.set(
                "spark.sql.streaming.stateStore.providerClass",
                f"{_STATE_STORES}RocksDBStateStoreProvider",
            )
        self._folder = Path(tempfile.mkdtemp(prefix="millrace-", dir=session.local_dir()))
        self._files = Files(spark, self._folder, f"plain-{uuid.uuid4().hex[:8]}")
        topology(self._files)
        self._sinks = dict(_sinks(compilation))
        self._sources = [o for o in compilation.graph.operators.values() if isinstance(o, Source)]
        self._partitions = compilation.document.topics
        self._offsets: dict[tuple[str, int], int] = {}
        self._clock = 0
        self._dropped = 0

    def run(
        self,
        lines: Sequence[Line],
        progress: Callable[[int, int], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Result:
        """Process the lines, batch by batch, until no records are left.

        `progress` is called before each batch, with the number of lines that are done, and of all.
        Once `stop` is set, no further batch is processed.
        """
        result = Result([])
        try:
            self._start()
            for batch in self.cut.batches(list(enumerate(lines, 1))):
                done = batch[0][0] - 1
                if stop is not None and stop.is_set():
                    result.stopped_after = done
                    break
                if progress is not None:
                    progress(done, len(lines))
                try:
                    self._feed(batch, result)
                    if self.restart_each:
                        self._restart()
                except _Stopped as stopped:
                    result.error = {
                        "kind": "stopped",
                        "code": "query_failed",
                        "node": stopped.query,
                        "parameter": None,
                        "message": stopped.message,
                        "after": batch[-1][0],
                    }
                    break
        finally:
            self._stop()
            result.dropped = self._dropped
            self._files.close()
            shutil.rmtree(self._folder, ignore_errors=True)
        if self.cut.kind != "each":
            for output in result.outputs:
                del output["after"]
        return result

    # ---- queries ----------------------------------------------------------------------------

    def _start(self) -> None:
        for query in self._files.queries:
            checkpoint = str(self._folder / "checkpoints" / query.name)
            query.running = (
                query.rows.writeStream.foreachBatch(_collector(query))
                .outputMode(query.mode)
                .option("checkpointLocation", checkpoint)
                .trigger(processingTime="0 seconds")
                .start()
            )

    def _stop(self) -> None:
        for query in self._files.queries:
            if query.running is not None:
                self._dropped += sum(
                    int(state["numRowsDroppedByWatermark"])
                    for progress in query.running.recentProgress
                    for state in json.loads(progress.json)["stateOperators"]
                )
                query.running.stop()
                query.running = None

    def _restart(self) -> None:
        self._stop()
        self._start()

    # ---- lines ------------------------------------------------------------------------------

    def _feed(self, batch: list[tuple[int, Line]], result: Result) -> None:
        number, line = batch[0]
        if "restart" in line:
            self._restart()
            return
        if "advance_wall_clock" in line:
            self._clock += int(line["advance_wall_clock"])
            return
        records = [record for at, line in batch for record in self._records(line, at)]
        while records:
            self._files.add(records)
            records = []
            for query in self._files.queries:
                for row in self._rows(query):
                    topic = row["topic"]
                    if query.name in self._sinks:
                        result.outputs.append(self._shown(row, query, number))
                    if topic in self._files.read_topics or self._formats(topic):
                        records.append(self._looped(row, topic))

    def _rows(self, query: _Query) -> list[_Row]:
        try:
            query.running.processAllAvailable()
        except Exception as error:
            failure = query.running.exception()
            if failure is None:
                raise
            raise _Stopped(query.name, _reason(str(failure))) from error
        rows, query.written = query.written, []
        return rows

    def _formats(self, topic: str) -> tuple[Format, Format] | None:
        for source in self._sources:
            pattern = source.topic_pattern if isinstance(source, SourceStream) else None
            if topic in source.topic_names() or (pattern and re.fullmatch(pattern, topic)):
                return source.key, source.value
        return None

    def _records(self, line: Line, number: int) -> Iterator[OperatorRecord]:
        topic = str(line["topic"])
        formats = self._formats(topic)
        if formats is None:
            return
        key, value = map(_runtime_format, formats)
        yield self._record(topic, **line_parts(line, (key, value), number))

    def _record(
        self,
        topic: str,
        partition: int,
        timestamp: int,
        key: str | None,
        value: str | None,
        headers: list[tuple[str, str | None]],
    ) -> OperatorRecord:
        offset = self._offsets.get((topic, partition), 0)
        self._offsets[topic, partition] = offset + 1
        return {
            "topic": topic, "partition": partition, "offset": offset, "timestamp": timestamp,
            "merge": 0, "key": key, "value": value, "headers": headers,
        }  # fmt: skip

    def _looped(self, row: _Row, topic: str) -> OperatorRecord:
        key, value = _encoded(row["key"]), _encoded(row["value"])
        partition = row["partition"]
        if partition is None:
            count = self._partitions.get(topic, 1)
            partition = columns.gateway().Partitioner.partition(row["key"], count)
        headers = [(name, _encoded(raw)) for name, raw in row["headers"]]
        return self._record(topic, partition, self._clock, key, value, headers)

    def _shown(self, row: _Row, query: _Query, number: int) -> OutputLine:
        key, value = self._sinks[query.name]
        line: OutputLine = {
            "after": number,
            "topic": row["topic"],
            "key": _decoded(row["key"], key),
            "value": _decoded(row["value"], value),
            "timestamp": self._clock,
        }
        headers = {name: None if raw is None else raw.decode() for name, raw in row["headers"]}
        if headers:
            line["headers"] = headers
        return line


def _reason(text: str) -> str:
    """Return the line of the exception that a processor raised, or else Spark's own message."""
    raised = re.search(
        r"^(?!Py|Spark|Streaming)[A-Z]\w*(?:Error|Exception)(?:: .*)?$", text, re.MULTILINE
    )
    found = re.search(r"\[[A-Z][A-Z0-9_.]+\][^\n]*", text) if raised is None else raised
    return (found[0] if found else text.split("\n", 1)[0])[:600]


class _Stopped(Exception):
    def __init__(self, query: str, message: str) -> None:
        super().__init__(message)
        self.query, self.message = query, message


def _collector(query: _Query) -> Callable[[DataFrame, int], None]:
    def collect(rows: DataFrame, _: int) -> None:
        for row in rows.collect():
            found = row.asDict()
            query.written.append(
                {
                    "topic": str(found.get("topic") or query.topic),
                    "key": _raw(found["key"]),
                    "value": _raw(found["value"]),
                    "partition": found.get("partition"),
                    "headers": [(h["key"], _raw(h["value"])) for h in found.get("headers") or []],
                }
            )

    return collect


def _raw(value: Any) -> bytes | None:
    if value is None:
        return None
    return value.encode() if isinstance(value, str) else bytes(value)


def _encoded(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode()


def _decoded(raw: bytes | None, format_: Format) -> Any:
    if raw is None:
        return None
    if format_.name == "string":
        return raw.decode()
    if format_.name == "json":
        return json.loads(raw)
    if format_.name == "bytes":
        return base64.b64encode(raw).decode()
    return struct.unpack(_UNPACK[format_.name], raw)[0]


def _sinks(compilation: Compilation) -> Iterator[tuple[str, tuple[Format, Format]]]:
    """Yield the formats of key and value, with the name of the query that writes them."""
    for operator in compilation.graph.operators.values():
        if not isinstance(operator, SinkTopic):
            continue
        for number, edge in enumerate(compilation.graph.inputs[operator.id]["in"]):
            port = compilation.ports[edge.source, edge.source_port]
            if port.key is None or port.value is None:
                continue
            formats = operator.key or format_of(port.key), operator.value or format_of(port.value)
            yield operator.id if not number else f"{operator.id}-{number + 1}", formats


def _runtime_format(format_: Format) -> FormatJson:
    """Return a format in the form that the runtime uses."""
    properties: dict[str, object] = dict(format_.properties)
    if format_.name == "json" and format_.type is not None:
        properties["schema"] = format_.type.schema
    return cast(FormatJson, {"format": format_.name, **properties})
