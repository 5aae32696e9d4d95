"""The records that source nodes read, and the tasks that process each record."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime import columns
from millrace_runtime.envelope import CONTROL, ENVELOPE
from millrace_runtime.environment import Timed


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


def timed(
    readings: Sequence[Reading], every: Sequence[Reading], nodes: Sequence[dict[str, Any]]
) -> list[Timed]:
    """Return the sources that extract timestamps, in tasks that choose between several inputs."""
    inputs: dict[int, set[str]] = {}
    for reading in every:
        named = {*reading.topics, *([reading.pattern] if reading.pattern else [])}
        inputs.setdefault(reading.sub, set()).update(named)
    found = []
    for reading in readings:
        params = nodes[reading.dest]["params"]
        expression = params.get("timestamp")
        if expression and (len(inputs[reading.sub]) > 1 or reading.pattern):
            found.append(
                Timed(reading.topics, reading.pattern, params["key"], params["value"], expression)
            )
    return found


def addressed(raw: DataFrame, readings: Sequence[Reading], partitions: int) -> DataFrame:
    """Return a row for each record and source node that reads it, with the task to process it."""
    targets = []
    for reading in readings:
        takes = F.col("topic").isin(*reading.topics) if reading.topics else F.lit(False)
        if reading.pattern:
            takes = takes | F.col("topic").rlike(f"^(?:{reading.pattern})$")
        if reading.everywhere:
            tasks = F.array(*(F.lit(i) for i in range(partitions)))
        else:
            tasks = F.array(F.col("partition") % F.lit(reading.tasks))
        entries = F.transform(tasks, _entry(reading.dest))
        targets.append(F.when(takes, entries).otherwise(F.array().cast(entries_type())))
    only = readings[0]
    if len(readings) == 1 and not only.everywhere:
        task = F.col("partition") % F.lit(only.tasks)
        return source_envelope(raw, partitions, task, F.lit(only.dest))
    rows = raw.select("*", F.inline(F.concat(*targets)).alias("_task", "_dest"))
    return source_envelope(rows, partitions, F.col("_task"), F.col("_dest"))


def addressed_to(raw: DataFrame, reading: Reading, partitions: int) -> DataFrame:
    """Return one row per record, for the only source node that reads it, whatever its topic is."""
    task = F.col("partition") % F.lit(reading.tasks)
    return source_envelope(raw, partitions, task, F.lit(reading.dest))


def ticks(control: DataFrame, partitions: int) -> DataFrame:
    """Return rows of the wall clock, one for each task."""
    if partitions == 1:
        return source_envelope(control, 1, F.lit(0), F.lit(CONTROL))
    every = F.explode(F.sequence(F.lit(0), F.lit(partitions - 1)))
    rows = control.select("*", every.alias("_task"))
    return source_envelope(rows, partitions, F.col("_task"), F.lit(CONTROL))


def source_envelope(df: DataFrame, partitions: int, task: Column, dest: Column) -> DataFrame:
    """Return raw records as envelope rows for a node of a task."""
    made = {
        "task": columns.salt(task, partitions),
        "dest": dest,
        "path": F.lit(b""),
        "timestamp": F.unix_millis("timestamp"),
    }
    kept = ("merge", "topic", "partition", "offset", "key", "value", "headers")
    made.update({name: F.col(name) for name in kept})
    return df.select(
        *(made.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in ENVELOPE.items())
    )


def _entry(dest: int) -> Callable[[Column], Column]:
    """Return a task's entry of a record; a lambda of two parameters would also get the index."""
    return lambda task: F.struct(task.alias("task"), F.lit(dest).alias("dest"))


def entries_type() -> str:
    """Return the type of a list of (task, node) addresses."""
    return "ARRAY<STRUCT<task: INT, dest: INT>>"
