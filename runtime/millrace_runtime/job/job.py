"""A job: one streaming query whose stateful operator runs a task graph."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from typing import cast

from millrace_compiler.declarations.steps import GLOBAL_STEPS, PYTHON_STEPS
from millrace_model.graphs import GraphNode, OperatorOptions, ReadingJson, TaskGraph
from pyspark.sql import DataFrame, SparkSession

from millrace_runtime import columns
from millrace_runtime.checkpoint.opening import StateOpening
from millrace_runtime.errors import MillraceError
from millrace_runtime.formats import Format
from millrace_runtime.job.environment import Environment
from millrace_runtime.job.frames import records
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.job.outside import Outside, placed
from millrace_runtime.job.python_options import python_options
from millrace_runtime.job.readings import Reading, addressed, addressed_to, ticks, timed, union
from millrace_runtime.kafka import topics

_SOURCES = ("stream", "table", *GLOBAL_STEPS)


@dataclasses.dataclass
class Query:
    """The query of a job: a DataFrame of envelope rows for the sinks, and the task graph."""

    rows: DataFrame
    graph: TaskGraph
    shuffle_partitions: int


class Job:
    """One task graph between the sources and the sink of an environment.

    `graph`: the compiler's task graph. `updates`: use the output mode update, the only one that
    real-time mode supports, instead of append. `state`: the state found in the checkpoint.
    `outside`: the program's DataFrames and functions.
    """

    def __init__(
        self,
        session: SparkSession,
        environment: Environment,
        graph: TaskGraph,
        *,
        name: str,
        run: str = "run",
        updates: bool = False,
        state: StateOpening | None = None,
        outside: Outside | None = None,
    ) -> None:
        self.session = session
        self.environment = environment
        self.graph = graph.copy()
        self.name = name
        self.run = run
        self.updates = updates
        self.state = state
        self.outside = outside or Outside()
        self.settings = graph["settings"].copy()
        columns.gateway().Registry.sign(os.environ.get("MILLRACE_REGISTRY_PASSWORDS"))
        self._readings = [
            self._reading(index, node)
            for index, node in enumerate(self.graph["nodes"])
            if node["op"] in _SOURCES
        ]
        # For each input, the number of tasks to which its topic-partitions are assigned in turn, or
        # None if they are assigned in another way.
        self._assigned: list[int | None] = []
        #: The topics that each read lists by name, without those that match a pattern.
        self.read_topics: list[tuple[str, ...]] = []

    def _reading(self, index: int, node: GraphNode) -> Reading:
        params = node["params"]
        return Reading(
            dest=index,
            sub=node["sub"],
            tasks=self.graph["subtopologies"].get(str(node["sub"]), 1),
            topics=tuple(params.get("topics") or ([params["topic"]] if "topic" in params else [])),
            pattern=params.get("pattern"),
            start=params.get("start", "earliest"),
            everywhere=node["op"] in GLOBAL_STEPS,
            # In a simulation, input lines also replace the records of readers.
            framed="reader" in params and not self.environment.simulation,
        )

    @property
    def uses_wall_clock(self) -> bool:
        """Whether the job has processors, the only nodes that may read the wall clock."""
        return any(node["op"] in PYTHON_STEPS for node in self.graph["nodes"])

    @property
    def only_records(self) -> bool:
        """Whether nothing but a record of a topic can cause results, so that the job may sleep.

        Not so with Python code, which may read the wall clock and whose processes keep what is not
        in a store, nor with DataFrames, which are not watched. No other node reads the wall clock:
        suppressions and emissions at the end of windows wait for stream time.
        """
        called = any(node["params"].get("functions") for node in self.graph["nodes"])
        runs_python = self.uses_wall_clock or called or bool(self.settings.get("functions"))
        return not runs_python and not self.framed and bool(self._readings)

    @property
    def extracts_times(self) -> bool:
        """Whether tasks choose between inputs by timestamps that sources extract."""
        read = [reading for reading in self._readings if not reading.framed]
        return bool(timed(read, self._readings, self.graph["nodes"]))

    @property
    def pattern(self) -> str | None:
        """The pattern of topics that the job reads beside those with a name."""
        patterns = [each.pattern for each in self._readings if each.pattern]
        return f"(?!__)(?:{'|'.join(patterns)})" if patterns else None

    @property
    def exactly_once(self) -> bool:
        """Whether results are written in transactions."""
        return self.settings.get("processing_guarantee") == "exactly_once"

    @property
    def tasks(self) -> int:
        """The number of tasks of the widest sub-topology."""
        return max([1, *map(int, self.graph["subtopologies"].values())])

    @property
    def shuffle_partitions(self) -> int:
        """The number of tasks of the widest level; task i runs on shuffle partition i."""
        return int(self.graph["tasks"])

    def formats_of(self, topic: str) -> tuple[Format, Format] | None:
        """Return the formats of key and value of a topic, or None if the job does not read it."""
        for reading in self._readings:
            if topic in reading.topics or (
                reading.pattern and re.fullmatch(reading.pattern, topic)
            ):
                params = self.graph["nodes"][reading.dest]["params"]
                return params["key"], params["value"]
        return None

    @property
    def source_topics(self) -> tuple[str, ...]:
        """The topics that are read by name from the broker."""
        read = (each.topics for each in self._readings if not each.framed)
        return tuple(dict.fromkeys(topic for topics in read for topic in topics))

    @property
    def reads_patterns(self) -> bool:
        """Whether the job reads topics by a pattern."""
        return any(reading.pattern for reading in self._readings)

    def found_topics(self, kafka: Kafka) -> dict[str, int]:
        """Return the number of partitions of each topic read by name; see `topics.prepare`.

        Raises MillraceError `option_missing` if the job has topics but no broker is set.
        """
        if kafka.bootstrap_servers:
            return topics.prepare(
                kafka.session, kafka.client, self.source_topics, self.sink_topics, self._reader_of
            )
        if self.has_topics:
            raise MillraceError(
                "option_missing",
                "No broker is set, but the topology reads or writes topics.",
                facts={"option": "--bootstrap-servers"},
            )
        return {}

    @property
    def has_topics(self) -> bool:
        """Whether the job reads or writes topics of a broker."""
        reads = any(not each.framed for each in self._readings)
        chooses = any(node["params"].get("topic_expression") for node in self.graph["nodes"])
        return reads or chooses or bool(self.sink_topics)

    @property
    def framed(self) -> tuple[str, ...]:
        """The nodes that read DataFrames, in the order in which they are read."""
        return tuple(self._node(each) for each in self._readings if each.framed)

    def _reader_of(self, topic: str) -> str | None:
        """Return the first source that reads a topic by name, or None."""
        return next((self._node(each) for each in self._readings if topic in each.topics), None)

    def _node(self, reading: Reading) -> str:
        return str(self.graph["nodes"][reading.dest]["node"])

    @property
    def global_topics(self) -> tuple[str, ...]:
        """The topics of global tables, which are replicated to every task."""
        return tuple(t for each in self._readings if each.everywhere for t in each.topics)

    @property
    def sink_topics(self) -> tuple[str, ...]:
        """The topics that are written by name, including the dead letter topic."""
        nodes = [each for each in self.graph["nodes"] if each["op"] == "to"]
        written = [
            node["params"].get("topic") for node in nodes if node["node"] not in self.outside.sinks
        ]
        written.append(self.settings.get("dead_letter_topic"))
        return tuple(dict.fromkeys(topic for topic in written if topic))

    def query(self) -> Query:
        """Build the query: the rows of all sources, processed by the operator, for the sink."""
        inputs = self._inputs()
        if not inputs:
            raise ValueError("the topology has no source, so there is nothing to run")
        return Query(self._attach(union(inputs), self.graph), self.graph, self.shuffle_partitions)

    def _inputs(self) -> list[DataFrame]:
        """Return the inputs of the tasks: a read per start position and DataFrame, and a clock."""
        made = []
        topics_read = [reading for reading in self._readings if not reading.framed]
        for start in dict.fromkeys(reading.start for reading in topics_read):
            readings = [reading for reading in topics_read if reading.start == start]
            topics = tuple(dict.fromkeys(topic for r in readings for topic in r.topics))
            patterns = [r.pattern for r in readings if r.pattern]
            raw = self.environment.read(
                topics,
                "|".join(patterns) or None,
                start,
                timed(readings, self._readings, self.graph["nodes"]),
            )
            self.read_topics.append(topics)
            made.append(addressed(raw, readings, self.shuffle_partitions, batched=self._batched))
            assigned = {None if reading.everywhere else reading.tasks for reading in readings}
            self._assigned.append(assigned.pop() if len(assigned) == 1 else None)
        for reading in (each for each in self._readings if each.framed):
            frame = self.outside.frames.get(self._node(reading))
            raw = records(self.session, self.graph["nodes"][reading.dest], frame)
            rows = addressed_to(raw, reading, self.shuffle_partitions, batched=self._batched)
            made.append(rows)
            self._assigned.append(None)
        control = self.environment.control()
        if control is not None and made:
            made.append(ticks(control, self.shuffle_partitions))
            self._assigned.append(None)
        return made

    @property
    def _batched(self) -> bool:
        """Whether the processing time of records is that of their micro-batch.

        In real time a batch takes minutes, and a simulation has its own clock.
        """
        return not self.environment.simulation and not self.environment.real_time

    @property
    def reads_directly(self) -> bool:
        """Whether the planned tasks read their topic-partitions themselves, without a shuffle.

        This requires a single input, of which each task reads whole topic-partitions.
        """
        one = self.environment.by_partition and len(self._assigned) == 1
        return one and self._assigned[0] is not None

    @property
    def readings(self) -> list[ReadingJson]:
        """The source nodes and the topics that they read, as the operator takes them."""
        return [each.as_json() for each in self._readings]

    @property
    def options(self) -> OperatorOptions:
        """The options of the operator (runtime/scala/tasks/StreamTasks.scala)."""
        own = {
            "shuffle_partitions": self.shuffle_partitions,
            "run": self.run,
            "application": "app" if self.environment.simulation else self.name,
            "simulation": self.environment.simulation,
            "real_time": self.environment.real_time,
            "wall_clock": self.uses_wall_clock,
            "updates": self.updates,
            "state_changes": self.state.changes if self.state else [],
            "record_handlers": [each.as_json() for each in self.environment.record_handlers],
        }
        return cast(OperatorOptions, {**own, **python_options()})

    def _attach(self, rows: DataFrame, graph: TaskGraph) -> DataFrame:
        options = self.options
        if self.reads_directly:
            options["direct_tasks"] = self._assigned[0]
        java = columns.gateway().StreamTasks.attach(
            rows._jdf, json.dumps(placed(graph, self.outside)), json.dumps(options)
        )
        return DataFrame(java, self.session)
