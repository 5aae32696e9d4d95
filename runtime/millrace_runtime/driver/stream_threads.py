"""Stream threads: a query with few records continues in a thread of its JVM, without Spark tasks.

The thread writes what micro-batches would write, to the same files of the checkpoint, so that the
query can continue where the thread stops, and the other way round. Jobs whose results do not only
depend on records of topics stay in micro-batches; see `Job.only_records`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from millrace_runtime import columns
from millrace_runtime.driver.start import Starter

#: interval at which it is looked at whether a query gets few records
LOOK_SECONDS = 0.5
#: how long a query stays in micro-batches after its thread has ended
PAUSE_SECONDS = 60.0


@dataclasses.dataclass
class StreamThreads:
    """Decides whether a query continues in a stream thread."""

    starter: Starter
    report: Any
    enabled: bool = dataclasses.field(
        default_factory=lambda: os.environ.get("MILLRACE_STREAM_THREADS", "1") != "0"
    )
    _due: float = 0.0

    def due(self, query: Any) -> bool:
        """Whether the query, which runs in micro-batches, should stop for a stream thread."""
        if not self.enabled or self.starter.readings is None or time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + LOOK_SECONDS
        return bool(columns.gateway().Pacing.calm(query._jsq))

    def has(self, query: Any) -> bool:
        """Whether the query is a stream thread."""
        return bool(columns.gateway().StreamThread.has(query._jsq))

    def begin(self, query: Any) -> Any | None:
        """Continue a query or thread that has stopped, and return the thread that replaces it.

        Returns None if it has begun a micro-batch that it has not completed.
        """
        starter = self.starter
        java = columns.gateway().StreamThread.start(
            query._jsq, json.dumps(starter.readings), json.dumps(starter.client), starter.pattern
        )
        if java is None:
            return None
        continued = StreamingQuery(java)
        self.report.attach(starter.spark, continued, starter.client)
        if not self.has(query):
            self.report.log("info", "Few records: processed in a stream thread from now on.")
        return continued

    def left(self, query: Any) -> bool:
        """Whether the query is a stream thread that has left its work to micro-batches."""
        reason = columns.gateway().StreamThread.left(query._jsq)
        if reason is None:
            return False
        self._due = time.monotonic() + PAUSE_SECONDS
        self.report.log("info", f"Back to micro-batches: {reason}.")
        return True
