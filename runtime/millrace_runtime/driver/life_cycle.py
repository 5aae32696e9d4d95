"""The life cycle of a job's query: start, pause, drain, stop, and restart after a loss."""

from __future__ import annotations

import argparse
import dataclasses
import threading
import time
from typing import Any, Literal

from millrace_runtime import columns
from millrace_runtime.driver.control import LOOK_SECONDS, Wanted, wait_while_paused, wanted
from millrace_runtime.driver.sleeping import Sleeping
from millrace_runtime.driver.start import Stages, Starter
from millrace_runtime.driver.stream_threads import StreamThreads
from millrace_runtime.driver.thread_replacement import Replacements
from millrace_runtime.errors import MillraceError, StreamStopped
from millrace_runtime.job import real_time
from millrace_runtime.job.explaining import explain

#: What a stop waits for; a trigger of micro-batches ends when there is nothing to read.
Until = Literal["now", "batch", "trigger"]

#: interval at which the ids of the topics are compared with those at the start of the query
TOPICS_SECONDS = 5.0
#: codes of errors that are caused by changes of topics, and that a restart of the query settles
SETTLED_BY_START = frozenset({"offsets_lost", "topic_missing"})


@dataclasses.dataclass
class Driving:
    """Runs queries on one session until the job is stopped or done; see `run`."""

    starter: Starter
    arguments: argparse.Namespace
    stopping: threading.Event
    report: Any
    stages: Stages
    _started: bool = False
    #: the error of a query that ended because records were deleted before it read them
    _lost: Exception | None = None
    _replacements: Replacements | None = None
    _sleeping: Sleeping = dataclasses.field(init=False)
    _threads: StreamThreads = dataclasses.field(init=False)
    #: whether the tasks of the last query have been released already
    _released: bool = False

    def __post_init__(self) -> None:
        self._sleeping = Sleeping(self.starter, self.report, self.arguments.run)
        self._threads = StreamThreads(self.starter, self.report)

    def run(self) -> None:
        """Run until stopped, or until all records are read if the job or `drain` requires that.

        Raises the error of a query. Records that were lost while it ran are handled by a restart
        (`lost_offsets`), which reports their number and fails if `fail` was chosen. A record that
        stops the query does not end the job at once if the topology asks for other threads.
        """
        while not self.stopping.is_set():
            if self._wanted() == "pause":
                wait_while_paused(self.arguments.control, self.stopping, self.report)
                continue
            if self._started and not self._released:
                columns.gateway().StreamTasks.release(self.arguments.run)
            self._released = False
            try:
                if self._work():
                    return
            except Exception as error:
                if self._replaces(error):
                    continue
                # A start refuses with a MillraceError; Spark's errors occur while the query runs.
                refused = isinstance(error, MillraceError) or error is self._lost
                if refused or explain(error).code not in SETTLED_BY_START:
                    raise
                self._lost = error

    def _replaces(self, error: Exception) -> bool:
        """Whether a record stopped the query and the query starts again. Waits before that."""
        found = explain(error)
        if not isinstance(found, StreamStopped):
            return False
        if self._replacements is None:
            handler = self.starter.graph["settings"].get("uncaught_exception_handler")
            self._replacements = Replacements(handler == "replace_thread")
        wait = self._replacements.wait_after_failure(time.monotonic())
        if wait is None:
            return False
        self.report.log("error", self._replacements.sentence(str(found), wait), found.node)
        self.stopping.wait(wait)
        return True

    def _wanted(self) -> Wanted:
        return wanted(self.arguments.control)

    def _work(self) -> bool:
        """Return whether the job is done; False if another mode is requested now."""
        wanted = self._wanted()
        if wanted == "pause":
            return False
        ends = wanted == "drain"
        if self.arguments.real_time:
            # Micro-batches process the existing records faster, and in the order of timestamps.
            query = self._start(first_mode(self.arguments))
            self.report.state("running")
            if not self._wait(query, "now", wanted):
                return False
            if wanted == "drain":
                return True
            columns.gateway().StreamTasks.release(self.arguments.run)
        # A stop waits for the end of the batch: the next start would write its records again, and
        # under exactly once only the same job can do that.
        until: Until = "batch" if self.arguments.real_time else "trigger"
        mode = "available now" if ends else first_mode(self.arguments)
        query = self._start("real time" if self.arguments.real_time else mode)
        self.report.state("running")
        return self._wait(query, until, wanted)

    def _start(self, mode: str) -> Any:
        query = self.starter.start(mode)
        if self._lost is not None and not self.starter.settled.changed:
            query.stop()
            raise self._lost
        self._lost = None
        if mode != "catch up" and not self._started:
            self.stages.done("query")
            self.report.log("info", self.stages.summary())
        self._started = True
        return query

    def _wait(self, query: Any, until: Until, wanted: Wanted) -> bool:
        """Return whether the query ended by itself, not because of a stop or another request.

        A stop waits `until` the end of the batch or trigger.
        """
        first = True
        due = time.monotonic() + TOPICS_SECONDS
        while query.isActive:
            if time.monotonic() >= due:
                if self.starter.topics_recreated():
                    # The offsets belong to the deleted topic, which a restart settles.
                    _stop(query, until)
                    return False
                due = time.monotonic() + TOPICS_SECONDS
            if first and _committed(query):
                first = False
                self.starter.committed()
            if not first and self._threads.due(query):
                _stop(query, until)
                if query.exception() is not None:
                    break
                query = self._threads.begin(query)
                if query is None:
                    return False
            if self._sleeping.due(query):
                _stop(query, until)
                if query.exception() is not None:
                    break
                query = self._slept(query, wanted)
                if query is None:
                    return False
                continue
            if self.stopping.wait(LOOK_SECONDS) or self._wanted() != wanted:
                if self.stopping.is_set():
                    self.report.state("stopping")
                _stop(query, until)
                if first and _committed(query):
                    self.starter.committed()
                return False
        return self._ended(query, first=first)

    def _slept(self, query: Any, wanted: Wanted) -> Any | None:
        """Sleep until there is a reason not to, and return the query that goes on.

        A stream thread that a record wakes up goes on as it is. In all other cases, another query
        has to start, which reports what has changed: None.
        """
        in_thread = self._threads.has(query)
        self._released = self._sleeping.sleep(
            query, self.stopping, lambda: self._wanted() == wanted, plan=not in_thread
        )
        if not (in_thread and self._sleeping.by_record):
            return None
        query = self._threads.begin(query)
        if query is not None:
            self._released = False
            self.report.state("running")
        return query

    def _ended(self, query: Any, *, first: bool) -> bool:
        """Return whether a query that has ended leaves nothing to do. Raises its error."""
        error = query.exception()
        if error is not None:
            raise error
        if self._threads.left(query):
            return False
        if first and _committed(query):
            self.starter.committed()
        return True


def first_mode(arguments: argparse.Namespace) -> str:
    """Return how the first query of a job is started; see `Starter.start`."""
    if arguments.real_time:
        return "catch up"
    return "available now" if arguments.available_now else "continuous"


def _stop(query: Any, until: Until) -> None:
    patience = 0.0 if until == "now" else real_time.STOP_PATIENCE_SECONDS
    deadline = time.monotonic() + patience
    at = _batch_of(query)
    while query.isActive and _batch_of(query) == at and time.monotonic() < deadline:
        if until == "trigger" and not query.status["isTriggerActive"]:
            break
        time.sleep(0.005)
    query.stop()


def _committed(query: Any) -> bool:
    return any(each.numInputRows() > 0 for each in query._jsq.recentProgress())


def _batch_of(query: Any) -> int | None:
    progress = query._jsq.lastProgress()
    return None if progress is None else int(progress.batchId())
