"""Sleep of a job that gets no records: its query ends, and the first record starts it again.

Whatever changes while a job sleeps only wakes it up: the start of the query finds out what it is,
as after a pause. Jobs whose results do not only depend on records of topics stay awake; see
`Job.only_records`.
"""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from millrace_runtime import columns
from millrace_runtime.driver.options import sleep_seconds
from millrace_runtime.driver.start import Starter

#: longest interval at which the time without records is looked at
LOOK_SECONDS = 5.0
#: interval at which a job that sleeps looks at its control file
CONTROL_SECONDS = 1.0


@dataclasses.dataclass
class Sleeping:
    """Decides whether a query may end for now, and waits for the first record after that."""

    starter: Starter
    report: Any
    run: str
    after: float = dataclasses.field(default_factory=sleep_seconds)
    #: whether a record ended the last sleep, and nothing else has changed
    by_record: bool = False
    _due: float = 0.0

    def due(self, query: Any) -> bool:
        """Whether the query has had no records for so long that it should end."""
        if not self.after or not self.starter.may_sleep or time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + min(LOOK_SECONDS, self.after / 4)
        return bool(columns.gateway().Pacing.idleSeconds(query._jsq) >= self.after)

    def sleep(
        self, query: Any, stopping: threading.Event, wanted: Callable[[], bool], *, plan: bool
    ) -> bool:
        """Sleep after the query has stopped, until a record arrives, or `wanted` returns False.

        Returns whether the query's tasks were released; at once and False if it cannot be known
        which records are new, such as without the broker. `plan`: plan the next start before.
        """
        self.by_record = False
        scala = columns.gateway()
        positions = scala.Pacing.positions(query._jsq)
        if positions is None:
            return False
        client = json.dumps(self.starter.client)
        try:
            scala.TopicWatch.add(self.run, client, positions, self.starter.pattern)
        except Exception:  # noqa: BLE001 - whatever Kafka's client raises; the query reports it
            return False
        try:
            if self.starter.topics_recreated():
                return False
            self._rest(query, plan=plan)
            self._wait(scala, stopping, wanted)
            return True
        finally:
            scala.TopicWatch.remove(self.run)

    def _rest(self, query: Any, *, plan: bool) -> None:
        """Release what the query has in memory, and plan its next start if that is needed."""
        scala = columns.gateway()
        scala.StreamTasks.release(self.run)
        scala.KafkaSink.close(str(query.id))
        self.starter.rest()
        if plan:
            self.starter.plan_ahead("continuous")
        self.report.rest()
        self.report.state("asleep")
        self.report.log("info", f"No record for {self.after:g} s: asleep until the next one.")

    def _wait(self, scala: Any, stopping: threading.Event, wanted: Callable[[], bool]) -> None:
        reason = ""
        while not reason and not stopping.is_set() and wanted():
            reason = scala.TopicWatch.waitFor(self.run, int(CONTROL_SECONDS * 1000))
        if reason:
            self.report.log("info", f"Woken up by {reason}.")
        self.by_record = reason.startswith("a record")
        if not self.by_record:
            self.starter.forget_plan()
