"""The progress of a program of the plain dialect, from that of its streaming queries."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Mapping
from typing import Any

from millrace_model.documents import TopologyDocument
from millrace_model.events import NodeFigures, ProgressEvent, QueryProgress
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from millrace_runtime import columns
from millrace_runtime.kafka.lag import Place, bounds
from millrace_runtime.reports.report import number

# Interval at which the broker is asked for the ends of topics.
LOOK_AT_BROKER_SECONDS = 1.0
_SOURCES = ("source.stream", "source.table")
_BUSY = "Processing new data"


def readers_of(document: TopologyDocument, topic: str) -> list[str]:
    """Return the nodes that read a topic as a stream or table."""
    found = []
    for node in document.get("nodes", []):
        params = node.get("params") or {}
        if node["kind"] not in _SOURCES:
            continue
        pattern = params.get("topic_pattern")
        named = [*(params.get("topics") or []), params.get("topic")]
        if topic in named or (pattern and re.fullmatch(pattern, topic)):
            found.append(node["id"])
    return found


class PlainProgress(StreamingQueryListener):
    """The queries of one run: what they have read and written, and which one failed first.

    `nodes`: the node of each query by the query's name; `begin`: the first offsets of topics that
    no query has read before; `client`: settings of a Kafka client.
    """

    def __init__(
        self,
        spark: Any,
        document: TopologyDocument,
        nodes: Mapping[str, str],
        begin: Mapping[str, Mapping[str, int]],
        client: Mapping[str, str],
    ) -> None:
        self._spark, self._document, self._nodes = spark, document, nodes
        self._begin = {
            (topic, int(p)): at for topic, each in begin.items() for p, at in each.items()
        }
        self._broker = columns.gateway(spark.sparkContext).TopicOffsets(json.dumps(dict(client)))
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        #: by query and topic-partition: where the run began, and the next offset
        self._read: dict[str, dict[Place, tuple[int, int]]] = {}
        self._written: dict[str, int] = {}
        self._newest: QueryProgress = {}
        self._moved = False
        self._ends: dict[Place, int] = {}
        self._due = 0.0
        self._busy: dict[str, tuple[Any, float]] = {}
        self._batches: dict[str, int | None] = {}
        #: name and exception of the query that failed first
        self.failed: tuple[str, str] | None = None
        #: whether a micro-batch with records was committed
        self.committed = False

    # ---- Spark's listener ------------------------------------------------------------------

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Remember the query by its id."""
        with self._lock:
            self._names[str(event.id)] = event.name or ""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - as above
        """Add a micro-batch."""
        found = json.loads(event.progress.json)
        with self._lock:
            self._take(found)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - as above
        """Do nothing."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - as above
        """Remember the query that failed first."""
        with self._lock:
            if event.exception and self.failed is None:
                self.failed = (self._names.get(str(event.id), ""), event.exception)

    def _take(self, progress: QueryProgress) -> None:
        query = str(progress.get("name") or "")
        self._newest, self._moved = progress, True
        self._batches[query] = progress.get("batchId")
        read = self._read.setdefault(query, {})
        sources = progress.get("sources") or []
        starts = bounds(sources, "startOffset")
        for place, end in bounds(sources, "endOffset").items():
            start = starts.get(place, self._begin.get(place, end))
            read[place] = (read[place][0] if place in read else max(0, start), end)
        written = (progress.get("sink") or {}).get("numOutputRows") or 0
        self._written[query] = self._written.get(query, 0) + max(0, written)
        self.committed |= any((each.get("numInputRows") or 0) > 0 for each in sources)

    # ---- reports ---------------------------------------------------------------------------

    @property
    def started(self) -> set[str]:
        """The names of the queries that have started."""
        with self._lock:
            return set(self._names.values())

    def restart(self) -> None:
        """Forget the names of started queries, as these are started again."""
        with self._lock:
            self._names.clear()

    def moved(self) -> bool:
        """Whether a micro-batch ended since the last call."""
        moved, self._moved = self._moved, False
        return moved

    def logs(self) -> list[tuple[str, str | None, str]]:
        """Return no lines: a plain program prints its own."""
        return []

    def close(self) -> None:
        """Close the connection to the broker."""
        self._broker.close()

    def event(self, *, last: bool = False) -> ProgressEvent:
        """Return the totals since the run started. `last`: whether the queries have ended."""
        busy = 0 if last else self._busy_ms()
        with self._lock:
            newest, places = self._newest, self._places()
            nodes = self._figures(places)
        if last or time.monotonic() >= self._due:
            self._due = time.monotonic() + LOOK_AT_BROKER_SECONDS
            self._look(places)
        durations = newest.get("durationMs") or {}
        return ProgressEvent(
            event="progress",
            at=int(time.time() * 1000),
            batch=newest.get("batchId"),
            duration_ms=durations.get("triggerExecution"),
            batch_ms=busy,
            input_rate=number(newest.get("inputRowsPerSecond")),
            process_rate=number(newest.get("processedRowsPerSecond")),
            phases=durations,
            nodes=nodes,
            topic_partitions=[
                {
                    "topic": topic,
                    "partition": number,
                    "offset": slowest - 1,
                    "end_offset": self._end((topic, number), slowest),
                    "lag": self._lag((topic, number), slowest),
                }
                for (topic, number), (_, slowest, _) in sorted(places.items())
                if readers_of(self._document, topic)
            ],
        )

    def _places(self) -> dict[Place, tuple[int, int, int]]:
        """Return where the run began, and the lowest and highest end read, by topic-partition."""
        found: dict[Place, tuple[int, int, int]] = {}
        for read in self._read.values():
            for place, (begin, end) in read.items():
                first, least, most = found.get(place, (begin, end, end))
                found[place] = (min(first, begin), min(least, end), max(most, end))
        return found

    def _figures(self, places: Mapping[Place, tuple[int, int, int]]) -> dict[str, NodeFigures]:
        figures: dict[str, NodeFigures] = {}
        for (topic, _), (begin, _, most) in places.items():
            for node in readers_of(self._document, topic):
                mine = figures.setdefault(node, {"in": 0, "out": 0})
                mine["in"] += most - begin
                mine["out"] += most - begin
        kinds = {node["id"]: node["kind"] for node in self._document.get("nodes", [])}
        for query, rows in self._written.items():
            writer = self._nodes.get(query, "")
            if writer in kinds:
                mine = figures.setdefault(writer, {"in": 0, "out": 0})
                mine["in" if kinds[writer].startswith("sink.") else "out"] += rows
        return figures

    def _look(self, places: Mapping[Place, Any]) -> None:
        """Ask the broker for the ends; they are unknown if it does not respond."""
        self._ends = {}
        with contextlib.suppress(Exception):
            rows = json.loads(self._broker.of(json.dumps(sorted(places))))
            self._ends = {(topic, number): end for topic, number, _, end in rows}

    def _end(self, place: Place, done: int) -> int | None:
        return max(self._ends[place], done) if place in self._ends else None

    def _lag(self, place: Place, done: int) -> int | None:
        return max(0, self._ends[place] - done) if place in self._ends else None

    def _busy_ms(self) -> int:
        """Return for how many ms the longest of the current micro-batches has been running."""
        longest, now = 0.0, time.monotonic()
        for query in self._spark.streams.active:
            name, status = str(query.name), query.status
            if not (status["isTriggerActive"] and status["message"] == _BUSY):
                self._busy.pop(name, None)
                continue
            done = self._batches.get(name)
            before, since = self._busy.get(name, (None, now))
            if name not in self._busy or before != done:
                since = now
            self._busy[name] = (done, since)
            longest = max(longest, now - since)
        return int(longest * 1000)
