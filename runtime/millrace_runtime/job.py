"""A job: the DataFrames of one streaming query around the operator that runs a task graph."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from millrace_runtime import columns, topics
from millrace_runtime.dsl.readers import Outside
from millrace_runtime.envelope import union
from millrace_runtime.environment import Environment
from millrace_runtime.errors import MillraceError
from millrace_runtime.formats import Format
from millrace_runtime.frames import records
from millrace_runtime.kafka import Kafka
from millrace_runtime.readings import Reading, addressed, addressed_to, ticks, timed
from millrace_runtime.state_opening import StateOpening

_SOURCES = ("stream", "table", "global_table")


@dataclasses.dataclass
class Query:
    """What a job comes down to: one DataFrame of envelope rows for sinks, and its task graph."""

    rows: DataFrame
    graph: dict[str, Any]
    shuffle_partitions: int


class Job:
    """One task graph between the sources and the sink of an environment.

    `graph`: the compiler's task graph. `updates`: the query's output mode is update, the only one
    that real time knows; else append.
    `state`: the checkpoint's state, as it was found. `outside`: the program's DataFrames and
    functions.
    """

    def __init__(
        self,
        session: SparkSession,
        environment: Environment,
        graph: Mapping[str, Any],
        *,
        name: str,
        run: str = "run",
        updates: bool = False,
        state: StateOpening | None = None,
        outside: Outside | None = None,
    ) -> None:
        self.session = session
        self.environment = environment
        self.graph = dict(graph)
        self.name = name
        self.run = run
        self.updates = updates
        self.state = state
        self.outside = outside or Outside()
        self.settings: dict[str, Any] = dict(graph["settings"])
        columns.gateway().Registry.sign(os.environ.get("MILLRACE_REGISTRY_PASSWORDS"))
        self._readings = [
            self._reading(index, node)
            for index, node in enumerate(self.graph["nodes"])
            if node["op"] in _SOURCES
        ]
        # Of each input of the tasks: among how many tasks its topic-partitions are assigned in
        # turn; None for rows that go to all tasks.
        self._assigned: list[int | None] = []
        #: The topics of each read; those of patterns are not known.
        self.read_topics: list[tuple[str, ...]] = []

    def _reading(self, index: int, node: Mapping[str, Any]) -> Reading:
        params = node["params"]
        return Reading(
            dest=index,
            sub=node["sub"],
            tasks=self.graph["subtopologies"].get(str(node["sub"]), 1),
            topics=tuple(params.get("topics") or ([params["topic"]] if "topic" in params else [])),
            pattern=params.get("pattern"),
            start=params.get("start", "earliest"),
            everywhere=node["op"] == "global_table",
            # A simulation's lines are the records of all topics, whoever gives them elsewhere.
            framed="reader" in params and not self.environment.simulation,
        )

    @property
    def uses_wall_clock(self) -> bool:
        """Whether anything in the job may read the wall clock: processors may."""
        return any(node["op"] in ("process", "process_values") for node in self.graph["nodes"])

    @property
    def exactly_once(self) -> bool:
        """Whether results are written in transactions."""
        return self.settings.get("processing_guarantee") == "exactly_once"

    @property
    def tasks(self) -> int:
        """The tasks of the widest sub-topology."""
        return max([1, *map(int, self.graph["subtopologies"].values())])

    @property
    def shuffle_partitions(self) -> int:
        """As many as the widest level has tasks; task i runs on shuffle partition i."""
        return int(self.graph["tasks"])

    def formats_of(self, topic: str) -> tuple[Format, Format] | None:
        """Formats of key and value by which the job reads a topic, or None if it does not."""
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
        """Whether it reads topics by a pattern."""
        return any(reading.pattern for reading in self._readings)

    def found_topics(self, kafka: Kafka) -> dict[str, int]:
        """The number of partitions of each topic that it reads by name; see `topics.prepare`.

        Raises MillraceError `option_missing` for a job that has topics, and no broker.
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
        """Whether the job reads or writes the broker."""
        reads = any(not each.framed for each in self._readings)
        chooses = any(node["params"].get("topic_expression") for node in self.graph["nodes"])
        return reads or chooses or bool(self.sink_topics)

    @property
    def framed(self) -> tuple[str, ...]:
        """The nodes whose records are those of DataFrames, in the order in which they are read."""
        return tuple(self._node(each) for each in self._readings if each.framed)

    def _reader_of(self, topic: str) -> str | None:
        """The first source that reads a topic by its name."""
        return next((self._node(each) for each in self._readings if topic in each.topics), None)

    def _node(self, reading: Reading) -> str:
        return str(self.graph["nodes"][reading.dest]["node"])

    @property
    def global_topics(self) -> tuple[str, ...]:
        """The topics of global tables, which every task has whole."""
        return tuple(t for each in self._readings if each.everywhere for t in each.topics)

    @property
    def sink_topics(self) -> tuple[str, ...]:
        """The topics that are written by name, that of dead letters included."""
        nodes = [each for each in self.graph["nodes"] if each["op"] == "to"]
        written = [
            node["params"].get("topic") for node in nodes if node["node"] not in self.outside.sinks
        ]
        written.append(self.settings.get("dead_letter_topic"))
        return tuple(dict.fromkeys(topic for topic in written if topic))

    def query(self) -> Query:
        """The rows of all sources through the operator, for the sink."""
        if self.state is not None:
            self.state.name_in(self.graph["nodes"])
        inputs = self._inputs()
        if not inputs:
            raise ValueError("the topology has no source, so there is nothing to run")
        return Query(self._attach(union(inputs), self.graph), self.graph, self.shuffle_partitions)

    def _inputs(self) -> list[DataFrame]:
        """Rows for the source nodes of stream tasks: one read per start position and DataFrame."""
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
            made.append(addressed(raw, readings, self.shuffle_partitions))
            assigned = {None if reading.everywhere else reading.tasks for reading in readings}
            self._assigned.append(assigned.pop() if len(assigned) == 1 else None)
        for reading in (each for each in self._readings if each.framed):
            frame = self.outside.frames.get(self._node(reading))
            raw = records(self.session, self.graph["nodes"][reading.dest], frame)
            made.append(addressed_to(raw, reading, self.shuffle_partitions))
            self._assigned.append(None)
        control = self.environment.control()
        if control is not None and made:
            made.append(ticks(control, self.shuffle_partitions))
            self._assigned.append(None)
        return made

    @property
    def reads_directly(self) -> bool:
        """Whether the planned tasks read their topic-partitions themselves, without a shuffle.

        There is one source, and each task takes whole topic-partitions of it.
        """
        one = self.environment.by_partition and len(self._assigned) == 1
        return one and self._assigned[0] is not None

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
            "state_changes": self.state.changes if self.state else [],
            "record_handlers": [each.as_json() for each in self.environment.record_handlers],
        }
        if self.reads_directly:
            options["direct_tasks"] = self._assigned[0]
        java = columns.gateway().StreamTasks.attach(
            rows._jdf, json.dumps(graph), json.dumps(options)
        )
        return DataFrame(java, self.session)


def _limits(environment: Mapping[str, str]) -> dict[str, int]:
    """What processors and stores may take: MILLRACE_PROCESSOR_TIMEOUT_MS and the like."""
    found = {}
    for option, name, least in (
        ("python_timeout_ms", "MILLRACE_PROCESSOR_TIMEOUT_MS", 1),
        ("python_memory_mb", "MILLRACE_PROCESSOR_MEMORY_MB", 1),
        ("store_memory_mb", "MILLRACE_STORE_MEMORY_MB", 0),
    ):
        text = environment.get(name)
        if text is None:
            continue
        if not text.isdecimal() or int(text) < least:
            raise MillraceError(
                "option_invalid",
                f"{name} must be a whole number of {least} or more, found {text!r}.",
            )
        found[option] = int(text)
    return found
