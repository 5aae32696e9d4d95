"""The start of a job's query: compares, moves or resets the state, and checks the offsets."""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import json
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from millrace_model.graphs import ReadingJson, TaskGraph
from millrace_model.notes import Notes
from millrace_model.state import StateSchema

from millrace_runtime import columns
from millrace_runtime.checkpoint.storage import folder_of
from millrace_runtime.driver.lost_offsets import Settled
from millrace_runtime.driver.options import kafka_options
from millrace_runtime.driver.shadow import ENDS
from millrace_runtime.job import real_time
from millrace_runtime.services import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from millrace_runtime.checkpoint.checkpoint import Mover
    from millrace_runtime.checkpoint.opening import StateOpening
    from millrace_runtime.checkpoint.starting_point import Beginner, Beginning
    from millrace_runtime.job.job import Job, Query
    from millrace_runtime.job.kafka import Kafka
    from millrace_runtime.job.outside import Outside


class Stages:
    """Durations of the phases of a start, for diagnosis."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._took: list[tuple[str, float]] = []

    def begin(self, what: str) -> None:
        """Log which phase begins now."""
        log.write("info", f"Starting {what}.")

    def done(self, name: str) -> None:
        """Record the end of a phase, which began at the end of the previous one."""
        now = time.monotonic()
        self._took.append((name, now - self._last))
        self._last = now

    def summary(self) -> str:
        """Return a sentence such as `started in 6.2 s: Spark 4.0, topology 1.1, ...`."""
        parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in self._took)
        return f"started in {sum(seconds for _, seconds in self._took):.1f} s: {parts}"


@dataclasses.dataclass(frozen=True)
class Planned:
    """A query that was planned for a mode and for a checkpoint with these notes."""

    mode: str
    notes: Notes
    state: StateOpening
    kafka: Kafka
    job: Job
    #: the number of partitions of each topic that is read by name
    topics: dict[str, int]
    beginner: Beginner | None
    query: Query


@dataclasses.dataclass
class Starter:
    """Starts a job's query; in real time twice, on the same checkpoint."""

    spark: Any
    name: str
    graph: TaskGraph
    arguments: argparse.Namespace
    report: Any
    stages: Stages
    #: the state schema of the topology
    schema: StateSchema
    outside: Outside | None = None
    state: StateOpening | None = None
    #: the lost offsets that the last start found
    settled: Settled = dataclasses.field(default_factory=Settled)
    #: writes the offsets of a planned micro-batch: location of the query, Kafka, job
    planner: Callable[[str, Kafka, Job], None] | None = None
    _ahead: Planned | None = None
    #: the operator's `TopicOffsets`, for the ids of topics
    _broker: Any = None
    #: whether the query that runs may end while there are no records; see `sleeping`
    may_sleep: bool = False
    #: what its source nodes read, if a stream thread may continue it; see `stream_threads`
    readings: list[ReadingJson] | None = None
    #: the pattern of topics that it reads
    pattern: str | None = None

    def plan_ahead(self, mode: str) -> None:
        """Plan a query on a checkpoint that another job still writes; nothing is written.

        `start` plans it again if the checkpoint has changed since. Errors are ignored here, because
        `start` finds them again.
        """
        from millrace_runtime.checkpoint import checkpoint, starting_point

        location = self.arguments.checkpoint
        with contextlib.suppress(Exception):
            beginning = starting_point.beginning_of(self.arguments.begin)
            notes = checkpoint.notes_of(location)
            elsewhere = starting_point.due(beginning, notes)
            anew = checkpoint.is_gone(location) or checkpoint.begins_anew(location, beginning)
            if notes and not elsewhere and not anew:
                self._ahead = self._planned(mode, notes, beginning)

    def _planned(
        self,
        mode: str,
        notes: Notes,
        beginning: Beginning | None = None,
        *,
        anew: bool = False,
    ) -> Planned:
        """Plan the query. `anew`: it has no checkpoint."""
        from millrace_runtime.checkpoint import starting_point
        from millrace_runtime.checkpoint.opening import StateOpening, decisions_of
        from millrace_runtime.job import record_handlers
        from millrace_runtime.job.job import Job
        from millrace_runtime.job.kafka import Kafka

        arguments = self.arguments
        due = starting_point.due(beginning, notes)
        empty = anew and due
        decisions = decisions_of(arguments.decide)
        state = StateOpening(self.schema, {} if empty else notes, {} if empty else decisions)
        kafka = Kafka(
            self.spark,
            arguments.bootstrap_servers,
            options=kafka_options(arguments.kafka_config, os.environ),
            max_records=arguments.max_records,
            run=arguments.run,
            real_time=mode == "real time",
            start=arguments.start,
            fail_on_loss=True,
            record_handlers=record_handlers.handlers_of(arguments),
        )
        job = Job(
            self.spark, kafka, copy.deepcopy(self.graph), name=self.name, run=arguments.run,
            updates=True, state=state, outside=self.outside,
        )  # fmt: skip
        if arguments.real_time:
            real_time.check_sources(job)
        # Tasks in real time have their own clock. The query that catches up before uses the same
        # checkpoint, and must have the same sources.
        kafka.wall_clock = job.uses_wall_clock and not arguments.real_time
        self.spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
        found = _look_at_topics(kafka, job, self.report)
        self.stages.done("topics")
        kafka.read_whole(job.global_topics, found)
        self._find_checkpoint(kafka, list(found), reset=bool(due and beginning and beginning.reset))
        beginner = None
        if beginning is not None and (anew or due):
            beginner = self._beginner(beginning, kafka, job)
            if anew:
                kafka.begin_at(beginner)
        return Planned(mode, notes, state, kafka, job, found, beginner, job.query())

    def _beginner(self, beginning: Beginning, kafka: Kafka, job: Job) -> Beginner:
        """Return the Beginner for a request that has not been applied yet."""
        from millrace_runtime.checkpoint import checkpoint, starting_point
        from millrace_runtime.checkpoint.moving import last_batch, require_whole

        starting_point.require_read(beginning, job.source_topics, pattern=job.reads_patterns)
        notes = checkpoint.notes_of(self.arguments.checkpoint)
        stream = folder_of(self.arguments.checkpoint)
        stream /= str(notes.get("stream", "stream"))
        batch = last_batch(stream)
        found = starting_point.Beginner(
            self.spark, kafka.client, beginning, starting_point.stopped_at(stream, batch),
            frozenset(job.global_topics), self.arguments.start,
        )  # fmt: skip
        if beginning.reset and found.continues and job.exactly_once and notes:
            require_whole(stream, batch, kafka.client, notes["tasks"])
        return found

    def committed(self) -> None:
        """Note that a batch of the query was committed."""
        from millrace_runtime.checkpoint import checkpoint

        if self.state is not None:
            self.state.done()
        checkpoint.note_arrival(self.arguments.checkpoint, self.arguments.run)
        checkpoint.copy_notes(self.arguments.checkpoint, self.arguments.notes)

    def _mover(self, kafka: Kafka, job: Job, beginner: Beginner | None) -> Mover:
        """Return the function that writes a new checkpoint if levels, tasks or sources changed."""
        from millrace_runtime.checkpoint.moving import Move

        def move(before: Notes, now: Notes) -> str:
            self.stages.begin("the move of the state to new levels, tasks or sources")
            return Move(
                self.spark, folder_of(self.arguments.checkpoint), before, now, job.graph,
                kafka.client, self.arguments.start, job.exactly_once,
                lambda text: self.report.log("info", text), beginner,
                self.report.step,
            ).run()  # fmt: skip

        return move

    def start(self, mode: str) -> Any:
        """Start the query and return it.

        `mode`: `continuous` and `available now` in micro-batches, `catch up`, `real time`, or
        `planned`: one micro-batch, whose offsets are written before it starts (`shadow`).
        """
        from millrace_runtime.checkpoint import checkpoint, starting_point
        from millrace_runtime.job import outputs
        from millrace_runtime.stores import live

        arguments = self.arguments
        checkpoint.settle(arguments.checkpoint)
        beginning = starting_point.beginning_of(arguments.begin)
        notes = checkpoint.notes_of(arguments.checkpoint)
        planned, self._ahead = self._ahead, None
        if (
            planned is None
            or (planned.mode, planned.notes) != (mode, notes)
            or checkpoint.is_gone(arguments.checkpoint)
        ):
            anew = checkpoint.begins_anew(arguments.checkpoint, beginning)
            planned = self._planned(mode, notes, beginning, anew=anew)
        kafka, job, plan = planned.kafka, planned.job, planned.query
        self.state = planned.state
        location = checkpoint.open_checkpoint(
            arguments.checkpoint, plan.graph, plan.shuffle_partitions,
            real_time=bool(arguments.real_time), clock=kafka.wall_clock, state=self.state,
            move=self._mover(kafka, job, planned.beginner),
            begins_late=arguments.start == "latest", beginning=beginning,
            ours=arguments.continues,
        )  # fmt: skip
        if job.exactly_once and job.sink_topics and not kafka.real_time:
            kafka.open_producers(folder_of(location), plan.shuffle_partitions)
        self._settle(kafka, plan.graph, location)
        checkpoint.copy_notes(arguments.checkpoint, arguments.notes)
        if self.planner is not None:
            self.planner(location, kafka, job)
        folder = folder_of(arguments.checkpoint)
        if isinstance(folder, Path):
            kafka.notes_ends(folder / ENDS, location.rpartition("/")[2])
        self.stages.done("state")
        if getattr(arguments, "stores", None) is not None:
            live.follow(location)
        if mode == "real time":
            real_time.check_slots(self.spark, job, planned.topics)
        writer = (
            plan.rows.writeStream.outputMode("update")
            .queryName(self.name)
            .option("checkpointLocation", location)
        )
        writer = outputs.into(writer, kafka, plan, job)
        if mode == "real time":
            duration = f"{real_time.batch_ms(arguments.real_time)} milliseconds"
            writer = writer.trigger(realTime=duration)  # type: ignore[call-overload] # not in types
        elif mode == "continuous":
            writer = writer.trigger(processingTime=arguments.trigger)
        elif mode == "planned":
            writer = writer.trigger(once=True)
        else:
            writer = writer.trigger(availableNow=True)
        query = writer.start()
        paced = mode == "continuous" and not _interval(arguments.trigger)
        if paced:
            columns.gateway().Pacing.start(query._jsq)
        self.may_sleep, self.pattern = paced and job.only_records, job.pattern
        self.readings = job.readings if self.may_sleep and not job.extracts_times else None
        if kafka.reads_latest:
            _wait_for_places(query)
        self.report.attach(self.spark, query, kafka.client)
        choice = arguments.lost_offsets
        self.report.give_up(
            ((each.topic, each.partition), each.begin(choice), each.lost(choice))
            for each in self.settled.losses
        )
        return query

    @property
    def client(self) -> dict[str, str]:
        """Settings of a Kafka client for the job's broker."""
        options = kafka_options(self.arguments.kafka_config, os.environ)
        return {**options, "bootstrap.servers": self.arguments.bootstrap_servers}

    def rest(self) -> None:
        """Close the connection to the broker until it is needed again."""
        if self._broker is not None:
            self._broker.close()
            self._broker = None

    def forget_plan(self) -> None:
        """Forget the query that was planned ahead: something other than the checkpoint changed."""
        self._ahead = None

    def topics_recreated(self) -> bool:
        """Whether a topic that the query reads was deleted and recreated since it began.

        Errors of the broker or storage are ignored here, because the query reports them.
        """
        from millrace_runtime.driver import lost_offsets

        arguments = self.arguments
        if not arguments.bootstrap_servers:
            return False
        if self._broker is None:
            scala = columns.gateway(self.spark.sparkContext)
            self._broker = scala.TopicOffsets(json.dumps(self.client))
        try:
            return lost_offsets.recreated(self._broker, folder_of(arguments.checkpoint))
        except Exception:  # noqa: BLE001 - whatever Kafka's client raises
            return False

    def _find_checkpoint(self, kafka: Kafka, names: list[str], *, reset: bool) -> None:
        """Refuse or report a missing checkpoint of a deployment that has completed a batch."""
        from millrace_runtime.checkpoint import checkpoint
        from millrace_runtime.driver import lost_offsets
        from millrace_runtime.kafka import topics

        arguments = self.arguments
        if not arguments.continues or reset or not checkpoint.is_gone(arguments.checkpoint):
            return
        held = topics.ranges(self.spark, kafka.client, names)
        folder = folder_of(arguments.checkpoint)
        warning = lost_offsets.checkpoint_gone(folder, held, arguments.lost_offsets)
        kafka.begin_with(arguments.lost_offsets)
        self.report.log("warning", warning)

    def _settle(self, kafka: Kafka, graph: TaskGraph, location: str) -> None:
        """Prevent a query from starting at offsets that the broker does not have."""
        from millrace_runtime.checkpoint.moving import reads_of
        from millrace_runtime.driver import lost_offsets

        arguments = self.arguments
        self.settled = Settled()
        if not kafka.bootstrap_servers:
            return
        folder = folder_of(arguments.checkpoint)
        self.settled = lost_offsets.settle(
            self.spark, kafka.client, folder, folder_of(location),
            reads_of(node for node in graph["nodes"] if "reader" not in node["params"]),
            arguments.lost_offsets, lambda topic: _source_of(graph, topic),
        )  # fmt: skip
        if self.settled.losses:
            warning = lost_offsets.summary(self.settled, arguments.lost_offsets)
            self.report.log("warning", warning)


def _interval(trigger: str) -> bool:
    """Whether the option --trigger sets an interval between micro-batches."""
    return any(map(int, re.findall(r"\d+", trigger)))


def _source_of(graph: TaskGraph, topic: str) -> str | None:
    """Return the first node that reads a topic."""
    from millrace_runtime.checkpoint.moving import reads_of

    reads = [(node["node"], read) for node in graph["nodes"] for read in reads_of([node])]
    found = [node for node, read in reads if topic in read.topics]
    found += [node for node, read in reads if read.patterns and not read.topics]
    return str(found[0]) if found else None


def _look_at_topics(kafka: Any, job: Any, report: Any) -> dict[str, int]:

    found: dict[str, int] = job.found_topics(kafka)
    for name, partitions in sorted(found.items()):
        if partitions > job.tasks:
            report.log(
                "warning",
                f"Topic {name} has {partitions} partitions, the job has {job.tasks} tasks: "
                "a task takes several of them.",
            )
    return found


def _wait_for_places(query: Any) -> None:
    """Wait until the query knows its first offsets, so that it reads records written after this."""
    unknown = ("Initializing", "Getting offsets")
    while query.isActive and query.status["message"].startswith(unknown):
        time.sleep(0.005)
