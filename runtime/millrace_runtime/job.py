"""A job: the object that a generated `topology(job)` fills with sources, steps, tasks and sinks."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime import columns
from millrace_runtime.envelope import (
    default_format,
    envelope,
    packed,
    sql_type,
    union,
)
from millrace_runtime.environment import Environment
from millrace_runtime.errors import MillraceError
from millrace_runtime.formats import Format
from millrace_runtime.graph import Graph
from millrace_runtime.lineage import Lineage, follow
from millrace_runtime.readings import Reading, addressed, ticks, timed
from millrace_runtime.steps import guarded
from millrace_runtime.streams import Stream
from millrace_runtime.task import Task


@dataclasses.dataclass
class Plan:
    """What a job comes down to: one DataFrame of envelope rows for sinks, and its task graph."""

    rows: DataFrame
    graph: dict[str, Any]
    shuffle_partitions: int


class Job:
    """Collects the parts of one streaming query. Made by `Job.main`, or by a simulation.

    `updates`: the query's output mode is update, the only one that real time knows; else append.
    """

    main: Callable[..., None]

    def __init__(
        self,
        session: SparkSession,
        environment: Environment,
        *,
        name: str,
        settings: Mapping[str, Any] | None = None,
        tasks: int = 1,
        run: str = "run",
        updates: bool = False,
    ) -> None:
        self.session = session
        self.environment = environment
        self.name = name
        self.settings = dict(settings or {})
        self.tasks = tasks
        self.run = run
        self.updates = updates
        self.graph = Graph()
        self._readings: list[Reading] = []
        self._formats: list[tuple[tuple[str, ...], str | None, Format, Format]] = []
        self._subtopologies: set[int] = set()
        self._hops: dict[str, list[int]] = {}
        columns.gateway().Registry.sign(os.environ.get("MILLRACE_REGISTRY_PASSWORDS"))
        self._children: dict[str, list[str]] = {}
        self._into_tasks: list[Callable[[], DataFrame]] = []
        # Of each input of the tasks: among how many tasks its topic-partitions are dealt in turn;
        # None for rows that go by their keys, or to all tasks.
        self._dealt: list[int | None] = []
        self._into_sinks: list[DataFrame] = []
        #: The topics of each read; those of patterns are not known.
        self.read_topics: list[tuple[str, ...]] = []
        # A simulation reports nothing, so its rows are not counted.
        self._lineage = None if environment.simulation else Lineage(run)
        follow(self._lineage)

    # -- plain DataFrame -------------------------------------------------------------------------

    def read_stream(
        self,
        id: str,
        *,
        key: Format,
        value: Format,
        topics: Sequence[str] | None = None,
        pattern: str | None = None,
        timestamp: str | None = None,
        invalid_timestamp: str = "fail",
        start: str = "earliest",
        node: str | None = None,
    ) -> DataFrame:
        """The records of some topics as a DataFrame for the steps of this package."""
        raw = self.environment.read(tuple(topics or ()), pattern, start)
        self.read_topics.append(tuple(topics or ()))
        self.noted(topics or (), pattern, key, value)
        named = node or id
        df = raw.select(
            F.col("key").alias("_raw_key"),
            F.col("value").alias("_raw_value"),
            "topic",
            "partition",
            "offset",
            "timestamp",
            F.col("headers").alias("_headers"),
            columns.header_map(F.col("headers")).alias("headers"),
            F.col("merge").alias("_merge"),
            F.lit(b"").alias("_path"),
            F.lit(None).cast("string").alias("_fault"),
        )
        decoded = {
            part: (columns.decode(F.col(f"_raw_{part}"), format, at=(named, part)), part)
            for part, format in (("key", key), ("value", value))
        }
        df = guarded(df, decoded, named, "deserialization")  # type: ignore[arg-type]
        if timestamp is not None:
            df = self._extract_timestamp(df, timestamp, invalid_timestamp, named)
        return df if self._lineage is None else self._lineage.read(df, id, named)

    def _extract_timestamp(
        self, df: DataFrame, expression: str, invalid: str, node: str
    ) -> DataFrame:
        """The event time [TS2]; an invalid one (null, negative) stops the job or is dropped."""
        df = guarded(df, {"_extracted": (expression, "timestamp")}, node, "timestamp")
        extracted = F.col("_extracted")
        if df.schema["_extracted"].dataType.typeName() == "timestamp":
            extracted = F.unix_millis(extracted)
        millis = extracted.cast("bigint")
        bad = millis.isNull() | (millis < 0)
        said = F.concat(F.lit("the timestamp "), F.coalesce(millis.cast("string"), F.lit("null")))
        fault = F.to_json(
            F.struct(
                F.lit("dropped" if invalid == "skip" else "timestamp").alias("kind"),
                F.lit("skipped_timestamp" if invalid == "skip" else "timestamp").alias("code"),
                F.lit(node).alias("node"),
                F.lit("timestamp").alias("parameter"),
                F.concat(said, F.lit(" is no time: it must be 0 or later")).alias("message"),
            )
        )
        df = df.withColumn(
            "_fault", F.when(F.col("_fault").isNull() & bad, fault).otherwise(F.col("_fault"))
        )
        sound = F.timestamp_millis(F.when(~bad, millis))
        return df.withColumn("timestamp", F.coalesce(sound, F.col("timestamp"))).drop("_extracted")

    def write(
        self,
        id: str,
        df: DataFrame,
        *,
        topic: str | None = None,
        topic_expression: str | None = None,
        key: Format | None = None,
        value: Format | None = None,
        partition: str | None = None,
        node: str | None = None,
    ) -> None:
        """Writes a DataFrame of records to a topic."""
        named = node or id
        self._ends(df, id, named)
        key = key or default_format(df, "key")
        value = value or default_format(df, "value")
        dest = self.graph.add(
            "sink", id, named, 0, 0, topic=topic, topic_expression=topic_expression, key=key,
            value=value, partition=partition,
        )  # fmt: skip
        chosen = F.lit(topic)
        if topic is None:
            named_by = F.expr(topic_expression or "null")
            chosen = columns.topic(named_by, simulation=self.environment.simulation)
        number = columns.partition(F.expr(partition)) if partition else F.lit(None).cast("int")
        results: dict[str, tuple[str | Column, str]] = {
            "_out_key": (columns.encode(F.col("key"), key, at=(named, "key")), "key"),
            "_out_value": (columns.encode(F.col("value"), value, at=(named, "value")), "value"),
            "_out_topic": (chosen, "topic_expression"),
            "_out_partition": (number, "partition"),
        }
        df = guarded(df, results, named)
        self._into_sinks.append(
            envelope(
                df, dest=F.lit(dest), task=F.lit(0), key=F.col("_out_key"),
                value=F.col("_out_value"), out_topic=F.col("_out_topic"),
                out_partition=F.col("_out_partition"),
            )
        )  # fmt: skip

    def print_(
        self, id: str, df: DataFrame, label: str | None = None, *, node: str | None = None
    ) -> None:
        """Writes a DataFrame of records to the log."""
        self._ends(df, id, node or id)
        key, value = default_format(df, "key"), default_format(df, "value")
        dest = self.graph.add(
            "sink", id, node or id, 0, 0, print=True, label=label, key=key, value=value
        )
        self._into_sinks.append(
            envelope(
                df, dest=F.lit(dest), task=F.lit(0), key=columns.encode(F.col("key"), key),
                value=columns.encode(F.col("value"), value),
            )
        )  # fmt: skip

    def repartition(
        self,
        id: str,
        df: DataFrame,
        *,
        partitions: int,
        keep_null_keys: bool = False,
        node: str | None = None,
    ) -> None:
        """Sends records to the tasks of their keys; `Task.repartitioned` takes them there.

        A null key is dropped, silently, unless the next operator keeps it.
        """
        named = node or id
        self._ends(df, id, named)
        self.graph.add(
            "repartition", id, named, 0, 0, key=sql_type(df, "key"),
            value=sql_type(df, "value"), partitions=partitions, keep_null_keys=keep_null_keys,
        )  # fmt: skip
        if not keep_null_keys:
            df = df.where(F.col("_fault").isNotNull() | F.col("key").isNotNull())
        df = packed(df, named)

        def rows() -> DataFrame:
            # A record that ends the job ends every task at the same place: what comes after it
            # must wait in all of them, or it would be written before what it comes after.
            own = F.array(columns.partition_for(F.col("_out_key"), partitions))
            every = F.array(*(F.lit(n) for n in range(self.shuffle_partitions)))
            sent = df.withColumn("_task", F.explode(F.when(self._ends_job(), every).otherwise(own)))
            return self._to_tasks(sent, F.col("_task"), self._hops.get(id, []))

        self._into_tasks.append(rows)
        self._dealt.append(None)

    def into(self, id: str, df: DataFrame, task: Task, *, node: str | None = None) -> Stream:
        """Hands the records of a DataFrame to the stream task of the same sub-topology."""
        named = node or id
        self._ends(df, id, named, task.sub)
        dest = self.graph.add(
            "into", id, named, task.sub, task.level, key=sql_type(df, "key"),
            value=sql_type(df, "value"),
        )  # fmt: skip
        df = packed(df, named)
        tasks = task.tasks
        self._into_tasks.append(
            lambda: self._to_tasks(df, F.col("partition") % F.lit(tasks), [dest])
        )
        self._dealt.append(tasks)
        return Stream(task, id)

    def _ends(self, df: DataFrame, id: str, node: str, subtopology: int | None = None) -> None:
        if self._lineage is not None:
            self._lineage.end(df, id, node, subtopology)

    def _ends_job(self) -> Column:
        """Whether a record has a fault for which the handler says `fail`."""
        handled = {
            kind
            for kind in ("processing", "deserialization")
            if self.settings.get(f"{kind}_handler", "fail") != "fail"
        }
        kind = F.get_json_object(F.col("_fault"), "$.kind")
        return F.col("_fault").isNotNull() & ~kind.isin("dropped", *handled)

    def _to_tasks(self, df: DataFrame, task: Column, dests: Sequence[int]) -> DataFrame:
        dest = F.lit(dests[0]) if len(dests) == 1 else F.explode(F.array(*map(F.lit, dests)))
        df = df.withColumn("_dest", dest)
        return envelope(
            df,
            dest=F.col("_dest"),
            task=columns.salt(task, self.shuffle_partitions),
            key=F.col("_out_key"),
            value=F.col("_out_value"),
        )

    # -- stream tasks ----------------------------------------------------------------------------

    def subtopology(self, number: int, *, level: int = 0, tasks: int | None = None) -> Task:
        """The nodes of a sub-topology on one level, as a context manager."""
        self.tasks = max(self.tasks, tasks or 1)
        self._subtopologies.add(number)
        return Task(self, number, level, tasks or self.tasks)

    def children(self, parent: str, *children: str) -> None:
        """The order in which a step's children get its records, where it is not that of calls."""
        self._children[parent] = list(children)

    def reads(
        self,
        task: Task,
        id: str,
        *,
        topics: Sequence[str],
        pattern: str | None = None,
        start: str,
        everywhere: bool = False,
    ) -> None:
        """Notes that a source node of a task takes the records of some topics."""
        self._readings.append(
            Reading(task, self.graph.index(id), tuple(topics), pattern, start, everywhere)
        )

    def receives(self, repartition: str, id: str) -> None:
        """Notes which node takes what a repartition of a DataFrame sends."""
        self._hops.setdefault(repartition, []).append(self.graph.index(id))

    @property
    def uses_wall_clock(self) -> bool:
        """Whether anything in the job may ask what time it is: processors do."""
        return any(node["op"] in ("process", "process_values") for node in self.graph.nodes)

    @property
    def shuffle_partitions(self) -> int:
        """The number of tasks of the widest sub-topology; task i runs on shuffle partition i."""
        hops = [int(node["params"].get("partitions", 1)) for node in self.graph.nodes]
        return max([self.tasks, *hops])

    def formats_of(self, topic: str) -> tuple[Format, Format] | None:
        """Formats of key and value by which the job reads a topic, or None if it does not."""
        for topics, pattern, key, value in self._formats:
            if topic in topics or (pattern and re.fullmatch(pattern, topic)):
                return key, value
        return None

    @property
    def source_topics(self) -> tuple[str, ...]:
        """The topics that are read by name."""
        return tuple(dict.fromkeys(topic for names, *_ in self._formats for topic in names))

    @property
    def sink_topics(self) -> tuple[str, ...]:
        """The topics that are written by name, that of dead letters included."""
        written = [
            node["params"].get("topic") for node in self.graph.nodes if node["op"] in ("to", "sink")
        ]
        written.append(self.settings.get("dead_letter_topic"))
        return tuple(dict.fromkeys(topic for topic in written if topic))

    def noted(self, topics: Sequence[str], pattern: str | None, key: Format, value: Format) -> None:
        """Notes the formats of topics that are read."""
        self._formats.append((tuple(topics), pattern, key, value))

    # -- the query -------------------------------------------------------------------------------

    def plan(self) -> Plan:
        """Everything that was built, as one DataFrame of envelope rows for the sinks."""
        graph = {"tasks": self.shuffle_partitions, "settings": self.settings}
        graph["nodes"] = self.graph.nodes
        graph["children"] = self._children
        if self._lineage is not None:
            graph["plain"] = self._lineage.summary(self._subtopologies)
        inputs = [make() for make in self._into_tasks] + self._task_inputs()
        outputs = list(self._into_sinks)
        if inputs and outputs and self.environment.real_time:
            # Spark unites nothing behind a stateful step there: the levels let these rows through.
            # In the order in which a micro-batch has them: a checkpoint knows sources by number.
            inputs, outputs = [*map(self._passing, outputs), *inputs], []
            self._dealt += [None] * (len(inputs) - len(self._dealt))
        if inputs:
            outputs.append(self._attach(union(inputs), graph))
        if not outputs:
            raise ValueError("the topology has no sink: nothing would run")
        return Plan(union(outputs), graph, self.shuffle_partitions)

    def _task_inputs(self) -> list[DataFrame]:
        """Rows for the source nodes of stream tasks: one read per start position."""
        made = []
        for start in dict.fromkeys(reading.start for reading in self._readings):
            readings = [reading for reading in self._readings if reading.start == start]
            topics = tuple(dict.fromkeys(topic for r in readings for topic in r.topics))
            patterns = [r.pattern for r in readings if r.pattern]
            raw = self.environment.read(
                topics,
                "|".join(patterns) or None,
                start,
                timed(readings, self._readings, self.graph.nodes),
            )
            self.read_topics.append(topics)
            made.append(addressed(raw, readings, self.shuffle_partitions))
            dealt = {None if reading.everywhere else reading.task.tasks for reading in readings}
            self._dealt.append(dealt.pop() if len(dealt) == 1 else None)
        control = self.environment.control()
        if control is not None and (made or self._into_tasks):
            made.append(ticks(control, self.shuffle_partitions))
            self._dealt.append(None)
        return made

    @property
    def reads_directly(self) -> bool:
        """Whether the planned tasks read their topic-partitions themselves, without a shuffle.

        There is one source, and each task takes whole topic-partitions of it.
        """
        one = self.environment.by_partition and len(self._dealt) == 1
        return one and self._dealt[0] is not None

    def _passing(self, rows: DataFrame) -> DataFrame:
        """Rows for a sink, addressed to the tasks of their partitions."""
        number = F.col("partition") % F.lit(self.shuffle_partitions)
        return rows.withColumn("task", columns.salt(number, self.shuffle_partitions))

    def _attach(self, rows: DataFrame, graph: dict[str, Any]) -> DataFrame:
        options = {
            "shuffle_partitions": self.shuffle_partitions,
            "run": self.run,
            "application": "app" if self.environment.simulation else self.name,
            "python": sys.executable,
            "python_path": os.pathsep.join(path for path in sys.path if path),
            **_limits(os.environ),
            "simulation": self.environment.simulation,
            "real_time": self.environment.real_time,
            "wall_clock": self.uses_wall_clock,
            "updates": self.updates,
        }
        if self.reads_directly:
            options["direct_tasks"] = self._dealt[0]
        java = columns.gateway().StreamTasks.attach(
            rows._jdf, json.dumps(graph), json.dumps(options)
        )
        return DataFrame(java, self.session)


def _limits(environment: Mapping[str, str]) -> dict[str, int]:
    """What the code of processors may take: MILLRACE_PROCESSOR_TIMEOUT_MS, ..._MEMORY_MB."""
    found = {}
    for option, name in (
        ("python_timeout_ms", "MILLRACE_PROCESSOR_TIMEOUT_MS"),
        ("python_memory_mb", "MILLRACE_PROCESSOR_MEMORY_MB"),
    ):
        text = environment.get(name)
        if text is None:
            continue
        if not text.isdecimal() or int(text) == 0:
            raise MillraceError(
                "option_invalid", f"{name} must be a whole number above 0, found {text!r}."
            )
        found[option] = int(text)
    return found
