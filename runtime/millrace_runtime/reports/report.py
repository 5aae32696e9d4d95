"""Reports of a running job: events in a Redis stream.

`millrace_model.events` defines the events and the names of the keys. Stream and snapshot
expire some days after the last event. Reports are best effort: without Redis they are lost, and the
job continues. For records that pages show, see `millrace_runtime.reports.sampling`.

While a page shows the run, progress is reported with each batch and every second, otherwise every
five seconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections import deque
from collections.abc import Iterable
from typing import Any, Protocol

from millrace_model.documents import TopologyDocument
from millrace_model.events import (
    CauseFields,
    DriverEvent,
    ErrorFields,
    LogEvent,
    ProgressEvent,
    QueryProgress,
    StateEvent,
    StepEvent,
    encode,
    run_open,
    run_snapshot,
    run_stream,
)
from millrace_model.graphs import TaskGraph
from millrace_model.traces import Statistics

from millrace_runtime import columns
from millrace_runtime.kafka.lag import Held, Offsets, Place
from millrace_runtime.reports.latency import Latencies
from millrace_runtime.reports.sampling import Sampling
from millrace_runtime.services import log

#: default of MILLRACE_REPORT_EVENTS: the number of events that are kept of a run
STREAM_LENGTH = 5_000
#: default of MILLRACE_REPORT_DAYS: the days for which events are kept after the last one
STREAM_DAYS = 7
HEARTBEAT_SECONDS = 1.0
#: the same while no page shows the run
QUIET_SECONDS = 5.0
#: interval at which the reporter checks whether a page shows the run
OPEN_SECONDS = 1.0
# Interval of the checks for a finished batch, each a cheap call into Java.
LOOK_SECONDS = 0.03
# The same while no page shows the run, and of a job that sleeps.
QUIET_LOOK_SECONDS = 0.5
ASLEEP_LOOK_SECONDS = 2.0
OUTAGE_PAUSE_SECONDS = 2.0
#: A topic-partition, the offset at which it continues, and the number of records skipped for that.
GivenUp = tuple[Place, int, int]
# Interval at which the broker is asked for the ends of topics.
LOOK_AT_BROKER_SECONDS = 1.0


class Watched(Protocol):
    """The progress of a run, which the reporter polls."""

    def moved(self) -> bool:
        """Whether a micro-batch ended since the last call."""
        ...

    def logs(self) -> list[tuple[str, str | None, str]]:
        """Return the log lines since the last call: level, node, message."""
        ...

    def event(self, *, last: bool = False) -> ProgressEvent:
        """Return the totals since the run started. `last`: whether it has ended."""
        ...

    def close(self) -> None:
        """Release connections and other resources."""
        ...


class Reporter(Protocol):
    """Sends reports of a job."""

    def state(self, state: str, error: ErrorFields | None = None) -> None:
        """Report a state: starting, running, asleep, paused, stopping, stopped or failed."""
        ...

    def step(self, step: CauseFields) -> None:
        """Report a step of a long start; a worker keeps waiting as long as steps arrive."""
        ...

    def log(self, level: str, message: str, node: str | None = None) -> None:
        """Report a log line, at a node of the topology if it is about one."""
        ...

    def describe(self, document: TopologyDocument, graph: TaskGraph) -> None:
        """Set the document that runs, by whose edges records are shown, and its task graph."""
        ...

    def attach(self, spark: Any, query: Any, client: dict[str, str]) -> None:
        """Start reporting the query's progress; `client`: settings of a Kafka client."""
        ...

    def watch(self, progress: Watched) -> None:
        """Start reporting `progress`."""
        ...

    def give_up(self, losses: Iterable[GivenUp]) -> None:
        """Count records that the start of the attached query skipped."""
        ...

    def rest(self) -> None:
        """Report the figures of now until another query is attached: this one has stopped."""
        ...

    def detach(self) -> None:
        """Stop reporting after a final flush."""
        ...

    def close(self) -> None:
        """Send the remaining events, for a few seconds at most."""
        ...


class Silence:
    """A reporter that writes log lines, also about lost records, to standard error."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._progress: Progress | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="reports", daemon=True)

    def state(self, state: str, error: ErrorFields | None = None) -> None:
        """Do nothing."""

    def step(self, step: CauseFields) -> None:
        """Do nothing."""

    def log(self, level: str, message: str, node: str | None = None) -> None:
        """Write the line. The node is left out: the message names it."""
        log.write(level, message)

    def describe(self, document: TopologyDocument, graph: TaskGraph) -> None:
        """Do nothing."""

    def attach(self, spark: Any, query: Any, client: dict[str, str]) -> None:
        """Start looking for lost records."""
        if self._progress is None:
            self._progress = Progress(spark, query, self._run, client)
        else:
            self._progress.follow(query)
        if not self._thread.is_alive():
            self._thread.start()

    def watch(self, progress: Watched) -> None:
        """Do nothing."""

    def give_up(self, losses: Iterable[GivenUp]) -> None:
        """See Reporter."""
        if self._progress is not None:
            self._progress.give_up(losses)

    def rest(self) -> None:
        """See Reporter."""
        if self._progress is not None:
            self._look()
            self._progress.rest()

    def detach(self) -> None:
        """Look for lost records for the last time."""
        self._ended.set()
        if self._progress is not None:
            self._thread.join(timeout=5)
            self._look(last=True)
            self._progress.close()

    def close(self) -> None:
        """Do nothing."""

    def _work(self) -> None:
        while not self._ended.wait(LOOK_AT_BROKER_SECONDS):
            self._look()

    def _look(self, *, last: bool = False) -> None:
        with contextlib.suppress(Exception):  # the session may be going away
            if self._progress is not None:
                self._progress.event(last=last)
                for loss in self._progress.losses():
                    log.write("warning", loss)


def reporter(url: str | None, run: str) -> Reporter:
    """Return a reporter to the Redis at `url`, or a silent one if there is no URL."""
    return RedisReporter(url, run) if url else Silence(run)


class RedisReporter:
    """Sends events from its own thread, so that a slow Redis never slows down the job."""

    def __init__(self, url: str, run: str) -> None:
        import redis  # only a job that reports needs it

        self._redis = redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
        self._errors: tuple[type[Exception], ...] = (redis.RedisError, OSError)
        self.stream = run_stream(run)
        self.run = run
        self._length = int(os.environ.get("MILLRACE_REPORT_EVENTS", STREAM_LENGTH))
        self._seconds = int(os.environ.get("MILLRACE_REPORT_DAYS", STREAM_DAYS)) * 24 * 3600
        self._waiting: deque[DriverEvent] = deque(maxlen=1_000)
        self._wake = threading.Event()
        self._closed = False
        self._progress: Watched | None = None
        #: the progress of the attached query
        self._query: Progress | None = None
        self._sampling = Sampling(self._redis, run)
        self._reported = float("-inf")
        self._open = False
        self._open_due = 0.0
        self._state = "starting"
        self._thread = threading.Thread(target=self._work, name="reports", daemon=True)
        self._thread.start()

    def state(self, state: str, error: ErrorFields | None = None) -> None:
        """See Reporter."""
        self._state = state
        self._send(StateEvent(event="state", at=now_ms(), state=state, error=error))

    def step(self, step: CauseFields) -> None:
        """See Reporter."""
        detail, code, facts = step["message"], step["code"], step.get("facts", {})
        self._send(StepEvent(event="step", at=now_ms(), detail=detail, code=code, facts=facts))

    def log(self, level: str, message: str, node: str | None = None) -> None:
        """See Reporter."""
        self._send(_line(level, node, message))

    def describe(self, document: TopologyDocument, graph: TaskGraph) -> None:
        """See Reporter."""
        self._sampling.describe(document, graph)

    def attach(self, spark: Any, query: Any, client: dict[str, str]) -> None:
        """See Reporter."""
        if self._query is None:
            self._progress = self._query = Progress(spark, query, self.run, client)
        else:
            self._query.follow(query)

    def watch(self, progress: Watched) -> None:
        """See Reporter."""
        self._progress = progress

    def give_up(self, losses: Iterable[GivenUp]) -> None:
        """See Reporter."""
        if self._query is not None:
            self._query.give_up(losses)

    def rest(self) -> None:
        """See Reporter."""
        if self._query is not None:
            self._query.rest()

    def detach(self) -> None:
        """See Reporter."""
        self._query = None
        progress, self._progress = self._progress, None
        if progress is not None:
            with contextlib.suppress(Exception):
                self._report(progress, last=True)
            progress.close()
            self._wake.set()

    def close(self) -> None:
        """See Reporter."""
        self._closed = True
        self._wake.set()
        self._thread.join(timeout=3)

    def _send(self, event: DriverEvent) -> None:
        self._waiting.append(event)
        self._wake.set()

    def _work(self) -> None:
        """Send waiting events, and progress when it is due."""
        while not self._closed or self._waiting:
            quiet = ASLEEP_LOOK_SECONDS if self._state == "asleep" else QUIET_LOOK_SECONDS
            self._wake.wait(LOOK_SECONDS if self._open else quiet)
            self._wake.clear()
            self._look()
            if not self._deliver():
                if self._closed:
                    return
                time.sleep(OUTAGE_PAUSE_SECONDS)

    def _look(self) -> None:
        progress = self._progress
        if progress is None:
            return
        self._look_for_pages()
        with contextlib.suppress(Exception):  # the session may be going away
            waited = time.monotonic() - self._reported
            pause = HEARTBEAT_SECONDS if self._open else QUIET_SECONDS
            if waited >= pause or (self._open and progress.moved()):
                self._report(progress)
                self._reported = time.monotonic()
        with contextlib.suppress(Exception):  # as above; and Redis may be away
            self._sampling.look()

    def _look_for_pages(self) -> None:
        if time.monotonic() < self._open_due:
            return
        self._open_due = time.monotonic() + OPEN_SECONDS
        try:
            self._open = bool(self._redis.exists(run_open(self.run)))
        except self._errors:
            self._open = False
            self._open_due = time.monotonic() + OUTAGE_PAUSE_SECONDS

    def _report(self, progress: Watched, *, last: bool = False) -> None:
        event = progress.event(last=last)
        event["state"] = self._state
        self._waiting.extend(_line(*line) for line in progress.logs())
        self._waiting.append(event)

    def _deliver(self) -> bool:
        while self._waiting:
            event = self._waiting[0]
            text = encode(event)
            try:
                sent = self._redis.pipeline(transaction=False)
                sent.xadd(self.stream, {"event": text}, maxlen=self._length, approximate=True)
                sent.expire(self.stream, self._seconds)
                if event["event"] == "progress":
                    sent.set(run_snapshot(self.run), text, ex=self._seconds)
                sent.execute()
            except self._errors:
                # Progress is dropped in an outage, as newer progress will replace it.
                kept = [each for each in self._waiting if each["event"] != "progress"]
                self._waiting.clear()
                self._waiting.extend(kept)
                return False
            self._waiting.popleft()
        return True


class Progress:
    """A query's progress as one event: Spark's progress joined with the operator's counters.

    `client`: settings of a Kafka client, which asks the broker for the ends of topics.
    """

    def __init__(self, spark: Any, query: Any, run: str, client: dict[str, str]) -> None:
        self._gateway = columns.gateway(spark.sparkContext)
        self._query = query
        self._run = run
        self._batch: int | None = None
        self._broker = self._gateway.TopicOffsets(json.dumps(client))
        self._offsets = Offsets(self._held)
        self._latencies = Latencies()
        self._first: list[Any] | None = None
        self._due = 0.0
        self._losses: list[str] = []
        self._busy_after: Any = None
        self._busy_since = time.monotonic()
        self._client = json.dumps(client)
        #: the figures of a job that sleeps; None while it is awake
        self._resting: ProgressEvent | None = None

    def follow(self, query: Any) -> None:
        """Continue with the next query of the run, such as real time after catching up."""
        self._query, self._batch = query, None
        if self._resting is not None:
            self._broker = self._gateway.TopicOffsets(self._client)
            self._resting = None

    def rest(self) -> None:
        """Return the figures of now, without a request, until the next query is followed."""
        resting = self.event(last=True)
        resting["input_rate"] = resting["process_rate"] = 0.0
        resting["batch_ms"] = 0
        self._resting = resting
        self._broker.close()

    def give_up(self, losses: Iterable[GivenUp]) -> None:
        """Count records that a start skipped."""
        for place, begin, records in losses:
            self._offsets.give_up(place, begin, records)

    def close(self) -> None:
        """Close the connection to the broker."""
        self._broker.close()

    def moved(self) -> bool:
        """Whether a micro-batch ended since the last call."""
        java = self._query._jsq.lastProgress()
        batch = None if java is None else int(java.batchId())
        if batch == self._batch:
            return False
        self._batch = batch
        return True

    def logs(self) -> list[tuple[str, str | None, str]]:
        """Return lines since the last call: output of nodes (peek, print), and lost records."""
        lines = json.loads(self._gateway.Reports.logs(self._run))
        lines_of_nodes = [(line["level"], line.get("node"), line["message"]) for line in lines]
        return lines_of_nodes + [("warning", None, loss) for loss in self.losses()]

    def losses(self) -> list[str]:
        """Return sentences about records that were lost since the last call."""
        found, self._losses = self._losses, []
        return found

    def event(self, *, last: bool = False) -> ProgressEvent:
        """Return the totals since the run started. `last`: whether the query has ended."""
        if self._resting is not None:
            resting = self._resting.copy()
            resting["at"] = now_ms()
            return resting
        # Read first, so that the statistics contain all that a finished batch has read.
        progress = self._read()
        statistics: Statistics = json.loads(self._gateway.Reports.statistics(self._run))
        tasks = statistics["tasks"]
        if last or time.monotonic() >= self._due:
            self._due = time.monotonic() + LOOK_AT_BROKER_SECONDS
            self._losses += self._offsets.look(
                progress.get("sources") or [], self._first or [], tasks
            )
        self._offsets.complete(tasks)
        self._latencies.complete(statistics["nodes"], time.monotonic())
        durations = progress.get("durationMs") or {}
        return ProgressEvent(
            event="progress",
            at=now_ms(),
            batch=progress.get("batchId"),
            duration_ms=durations.get("triggerExecution"),
            batch_ms=self._busy(progress.get("batchId")),
            input_rate=number(progress.get("inputRowsPerSecond")),
            process_rate=number(progress.get("processedRowsPerSecond")),
            phases=durations,
            nodes=statistics["nodes"],
            tasks=tasks,
            stores=statistics["stores"],
            lost=self._offsets.lost,
        )

    def _busy(self, done: Any) -> int:
        """Return for how many ms the batch after `done` has been running; 0 if none is."""
        status = self._query.status
        busy = status["isTriggerActive"] and status["message"] == "Processing new data"
        if not busy or self._busy_after != done:
            self._busy_after, self._busy_since = done, time.monotonic()
        return int((time.monotonic() - self._busy_since) * 1000) if busy else 0

    def _read(self) -> QueryProgress:
        """Return the newest progress; empty before the first."""
        java = self._query._jsq.lastProgress()
        if java is None:
            return {}
        if self._first is None:
            oldest = json.loads(self._query._jsq.recentProgress()[0].json())
            self._first = oldest.get("sources") or []
        found: QueryProgress = json.loads(java.json())
        return found

    def _held(self, places: list[Place]) -> Held:
        rows = json.loads(self._broker.of(json.dumps(places)))
        return {(topic, partition): (earliest, end) for topic, partition, earliest, end in rows}


def number(value: Any) -> float:
    """Return the value as a float; 0 if it is not a number."""
    return float(value) if isinstance(value, int | float) else 0.0


def _line(level: str, node: str | None, message: str) -> LogEvent:
    return LogEvent(event="log", at=now_ms(), level=level, node=node, message=message)


def now_ms() -> int:
    """Return the wall clock in ms."""
    return int(time.time() * 1000)
