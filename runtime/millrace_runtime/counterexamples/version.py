"""A version of a topology that runs again and again from empty stores."""

from __future__ import annotations

import base64
import functools
import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from millrace_compiler import Analyzer
from millrace_model.documents import TopologyDocument
from millrace_model.records import OperatorRecord, OperatorRow, OutputLine
from millrace_model.traces import DriverStep
from pyspark.sql import SparkSession

from millrace_runtime import columns
from millrace_runtime.analyzer.compiling import compiled
from millrace_runtime.formats import Format
from millrace_runtime.job.job import Job
from millrace_runtime.results.lines import LAST_LETTER, STOP, Line, line_parts, partition_of
from millrace_runtime.simulator.memory import CONTROL_TOPIC, Memory

#: What a record of a sink is compared by: partition, key, value, timestamp and headers.
Compared = tuple[Any, ...]
#: rounds of records that a topology writes to a topic of its own, after which it is stopped
_MOST_ROUNDS = 50
#: headers of dead letters, with class names and stack traces
_ERRORS = "__streams.errors."


@dataclass
class Outcome:
    """What a version gives for an input.

    `topics`: the records of each topic, as compared. `rows`: the same as the operator gives them,
    each with the number of its input line. `stopped`: the number of the line that stopped the
    version, if one did. `steps`: what happened at nodes: (node, `in`, `out`, `false` of a predicate
    or the reason of a drop). `counts`: the records into and out of each node.
    """

    topics: dict[str, list[Compared]] = field(default_factory=dict)
    rows: list[tuple[int, OperatorRow]] = field(default_factory=list)
    stopped: int | None = None
    steps: set[tuple[str, str]] = field(default_factory=set)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)


class Version:
    """A compiled document with its tasks. Close it after use; not thread-safe.

    Raises MillraceError if the document is refused or one of its nodes does not start.
    """

    def __init__(self, spark: SparkSession, analyzer: Analyzer, document: TopologyDocument) -> None:
        self.document = document
        graph = compiled(document, analyzer).require_task_graph()
        name = f"version-{uuid.uuid4().hex[:8]}"
        self._memory = Memory(spark, name)
        self._job = Job(spark, self._memory, graph, name=name, run=name)
        self._partitions = {
            topic: int(each.get("partitions", 1))
            for topic, each in (document.get("topics") or {}).items()
        }
        self._sinks: dict[int, dict[str, object]] = {}
        self._driver: Any = columns.gateway().TestDriver.open(
            spark._jsparkSession, json.dumps(self._job.graph), json.dumps(self._job.options),
            json.dumps(self._job.readings), 0,
        )  # fmt: skip
        self.failure: str | None = self._driver.failure()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the tasks and delete their stores."""
        self._driver.close()
        self._memory.close()

    @property
    def source_topics(self) -> tuple[str, ...]:
        """The topics that the version reads by name."""
        return self._job.source_topics

    @property
    def sink_topics(self) -> tuple[str, ...]:
        """The topics that the version writes by name."""
        return tuple(self._job.sink_topics)

    def formats_of(self, topic: str) -> tuple[Format, Format] | None:
        """Return the formats of key and value of a topic, or None if it is not read."""
        return self._job.formats_of(topic)

    def partitions(self, topic: str) -> int:
        """Return the number of partitions that the document assumes for a topic."""
        return self._partitions.get(topic, 1)

    def outputs(self, outcome: Outcome) -> list[OutputLine]:
        """Return the outputs of a run as result lines; `after` is the number of the input line."""
        return [self._line(row, number) for number, row in outcome.rows]

    def _line(self, row: OperatorRow, number: int) -> OutputLine:
        line: OutputLine = {
            "after": number,
            "topic": str(row["topic"]),
            "key": self._decoded(row["dest"], "key", row["key_bytes"]),
            "value": self._decoded(row["dest"], "value", row["value_bytes"]),
            "timestamp": row["timestamp"],
        }
        headers = {
            name: None if raw is None else base64.b64decode(raw).decode(errors="replace")
            for name, raw in row["headers"]
            if not name.startswith(_ERRORS)
        }
        if headers:
            line["headers"] = headers
        return line

    def _decoded(self, dest: int, part: str, raw: str | None) -> Any:
        if raw is None or dest < 0:
            return raw
        if dest not in self._sinks:
            self._sinks[dest] = json.loads(self._driver.sink(dest))
        if self._sinks[dest][part] is None:
            return json.loads(base64.b64decode(raw))
        return json.loads(self._driver.read(dest, part, raw))

    def run(self, lines: Sequence[Line]) -> Outcome:
        """Process input lines one after another, from empty stores.

        Raises MillraceError `input_invalid` for a key or value that does not fit its format.
        """
        run = _Run(self._driver, self._job, self._partitions, self._deciding)
        self._driver.mark()
        try:
            if self._loops:
                run.one_by_one(lines)
            else:
                run.together(lines)
        finally:
            self._driver.undo()
        return run.outcome

    @functools.cached_property
    def _deciding(self) -> frozenset[str]:
        """The nodes that hold records back by a predicate."""
        return frozenset(
            node["id"]
            for node in self.document.get("nodes") or ()
            if "predicate" in (node.get("params") or {})
        )

    @functools.cached_property
    def branches(self) -> frozenset[tuple[str, str]]:
        """Return what the nodes can do with records, as in `Outcome.steps`."""
        leading = {edge["source"] for edge in self.document.get("edges") or ()}
        found = {(node, "false") for node in self._deciding}
        for node in self.document.get("nodes") or ():
            if not str(node.get("kind")).startswith("store."):
                found.add((node["id"], "in"))
                if node["id"] in leading:
                    found.add((node["id"], "out"))
        return frozenset(found)

    @functools.cached_property
    def _loops(self) -> bool:
        """Whether the version may read what it writes."""
        chosen = any(node["params"].get("topic_expression") for node in self._job.graph["nodes"])
        return chosen or any(map(self.formats_of, self.sink_topics))


class _Run:
    """One run over input lines."""

    def __init__(
        self, driver: Any, job: Job, partitions: Mapping[str, int], deciding: frozenset[str]
    ) -> None:
        self._driver, self._job, self._partitions = driver, job, partitions
        self._deciding = deciding
        self._offsets: dict[tuple[str, int], int] = {}
        self._line_of: dict[int, int] = {}
        self._wall_clock = 0
        self.outcome = Outcome()

    def together(self, lines: Sequence[Line]) -> None:
        """Process all lines in one call."""
        records = [
            record for number, line in enumerate(lines, 1) for record in self._records(line, number)
        ]
        self._take(json.loads(self._driver.play(json.dumps(records))))

    def one_by_one(self, lines: Sequence[Line]) -> None:
        """Process line by line, each with what the version writes to topics of its own."""
        for number, line in enumerate(lines, 1):
            records = self._records(line, number)
            for _ in range(_MOST_ROUNDS):
                if not records or self.outcome.stopped is not None:
                    break
                rows = self._take(json.loads(self._driver.feed(json.dumps(records))))
                records = [
                    self._looped(row, topic, number)
                    for row in rows
                    if (topic := row["topic"]) is not None
                    if self._job.formats_of(topic) is not None
                ]
            else:
                self.outcome.stopped = number
            if self.outcome.stopped is not None:
                return

    def _take(self, found: DriverStep) -> list[OperatorRow]:
        """Note the results of a call; return the rows of sinks that name their topic."""
        steps = self.outcome.steps
        steps.update((each["node"], each["reason"]) for each in found["drops"])
        for node, taken, given in found["nodes"]:
            steps.update((node, step) for step, n in (("in", taken), ("out", given)) if n)
            self.outcome.counts.update({(node, "in"): taken, (node, "out"): given})
            if node in self._deciding and given < taken:
                steps.add((node, "false"))
        written = []
        for row in found["rows"]:
            number = self._line_of[row["merge"]]
            if row["dest"] == STOP:
                self.outcome.stopped = number
            elif row["topic"] is not None:  # else a print
                self._note(row, number)
                if row["dest"] != LAST_LETTER:
                    written.append(row)
        return written

    def _note(self, row: OperatorRow, number: int) -> None:
        self.outcome.rows.append((number, row))
        self.outcome.topics.setdefault(str(row["topic"]), []).append(
            (
                row["partition"],
                _canonical(row["key_bytes"]),
                _canonical(row["value_bytes"]),
                row["timestamp"],
                tuple(
                    (name, value) for name, value in row["headers"] if not name.startswith(_ERRORS)
                ),
            )
        )

    def _records(self, line: Line, number: int) -> list[OperatorRecord]:
        if "advance_wall_clock" in line:
            self._wall_clock += int(line["advance_wall_clock"])
            tick = json.dumps({"wall_clock": self._wall_clock}).encode()
            command = base64.b64encode(tick).decode()
            return [self._record(CONTROL_TOPIC, 0, 0, None, command, [], number)]
        formats = self._job.formats_of(str(line["topic"])) if "topic" in line else None
        if formats is None:
            return []
        parts = line_parts(line, formats, number)
        return [self._record(str(line["topic"]), **parts, number=number)]

    def _record(
        self, topic: str, partition: int, timestamp: int, key: str | None, value: str | None,
        headers: list[tuple[str, str | None]], number: int,
    ) -> OperatorRecord:  # fmt: skip
        offset = self._offsets.get((topic, partition), 0)
        self._offsets[topic, partition] = offset + 1
        merge = len(self._line_of) + 1
        self._line_of[merge] = number
        return {
            "topic": topic, "partition": partition, "offset": offset, "timestamp": timestamp,
            "merge": merge, "key": key, "value": value, "headers": headers,
        }  # fmt: skip

    def _looped(self, row: OperatorRow, topic: str, number: int) -> OperatorRecord:
        partition = partition_of(row, self._partitions.get(topic, 1))
        parts = (row["timestamp"], row["key_bytes"], row["value_bytes"], row["headers"])
        return self._record(topic, partition, *parts, number)


@functools.lru_cache(maxsize=4_096)
def _canonical(raw: str | None) -> str | None:
    """Return bytes in base64; those of JSON objects with their fields in alphabetical order."""
    if raw is None:
        return None
    data = base64.b64decode(raw)
    if not data.startswith((b"{", b"[")):
        return raw
    try:
        return json.dumps(json.loads(data), sort_keys=True)
    except ValueError:
        return raw
