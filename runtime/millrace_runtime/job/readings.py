"""The records that source nodes read, and the tasks that process each record."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from millrace_model.graphs import GraphNode, ReadingJson
from pyspark.sql import DataFrame

from millrace_runtime import columns
from millrace_runtime.job.environment import Timed
from millrace_runtime.job.reader_places import refuse_function


@dataclasses.dataclass(frozen=True)
class Reading:
    """A source node: the records that it reads, and the tasks that process them."""

    dest: int
    sub: int
    tasks: int
    topics: tuple[str, ...]
    pattern: str | None
    start: str
    everywhere: bool
    #: whether the records come from a DataFrame, of a reader or of the program
    framed: bool = False

    def as_json(self) -> ReadingJson:
        """Return the reading as the operator takes it (runtime/scala/sources/SourceRows.scala)."""
        return {
            "dest": self.dest,
            "tasks": self.tasks,
            "topics": self.topics,
            "pattern": self.pattern,
            "everywhere": self.everywhere,
        }


def timed(
    readings: Sequence[Reading], every: Sequence[Reading], nodes: Sequence[GraphNode]
) -> list[Timed]:
    """Return the sources that extract timestamps, in tasks that choose between several inputs.

    Raises MillraceError `timestamp_function` for one whose timestamps come from Python.
    """
    inputs: dict[int, set[str]] = {}
    for reading in every:
        named = {*reading.topics, *([reading.pattern] if reading.pattern else [])}
        inputs.setdefault(reading.sub, set()).update(named)
    found = []
    for reading in readings:
        params = nodes[reading.dest]["params"]
        expression = params.get("timestamp")
        if expression and (len(inputs[reading.sub]) > 1 or reading.pattern):
            refuse_function(nodes[reading.dest])
            found.append(
                Timed(reading.topics, reading.pattern, params["key"], params["value"], expression)
            )
    return found


def addressed(
    raw: DataFrame, readings: Sequence[Reading], partitions: int, *, batched: bool
) -> DataFrame:
    """Return one row per record and source node that reads it, with the task that takes it.

    `batched`: the processing time of records is that of their micro-batch.
    """
    described = json.dumps([each.as_json() for each in readings])
    rows = columns.gateway().SourceRows.addressed(raw._jdf, described, partitions, batched)
    return _made(raw, rows)


def addressed_to(raw: DataFrame, reading: Reading, partitions: int, *, batched: bool) -> DataFrame:
    """Return one row per record, for the only source node that reads it, whatever its topic is."""
    described = json.dumps(reading.as_json())
    rows = columns.gateway().SourceRows.addressedTo(raw._jdf, described, partitions, batched)
    return _made(raw, rows)


def ticks(control: DataFrame, partitions: int) -> DataFrame:
    """Return each control row, once for each task."""
    return _made(control, columns.gateway().SourceRows.ticks(control._jdf, partitions))


def of_topics(records: DataFrame, topics: Sequence[str], pattern: str | None) -> DataFrame:
    """Return the records of topics by name or pattern."""
    java = columns.gateway().SourceRows.of(records._jdf, json.dumps(topics), pattern)
    return _made(records, java)


def _made(source: DataFrame, java: Any) -> DataFrame:
    return DataFrame(java, source.sparkSession)


def union(parts: Sequence[DataFrame]) -> DataFrame:
    """Return one DataFrame with the rows of all parts."""
    result = parts[0]
    for part in parts[1:]:
        result = result.union(part)
    return result
