"""How a running job tells what it does: events in a Redis stream.

The stream is `millrace:run:<run>`; every entry has one field, `event`, holding JSON with `event`
(`state`, `progress` or `log`) and `at` (epoch ms). The key `millrace:run:<run>:snapshot` holds the
last progress. Reports are best effort: without Redis they are lost, the job goes on.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import deque
from typing import Any, Protocol

from millrace_runtime import columns
from millrace_runtime.lineage import figures

STREAM_LENGTH = 5_000
HEARTBEAT_SECONDS = 1.0
# A look asks one number of Java: a batch's figures wait this long at most.
LOOK_SECONDS = 0.03
OUTAGE_PAUSE_SECONDS = 2.0
SNAPSHOT_SECONDS = 7 * 24 * 3600


class Report(Protocol):
    """What a job tells about itself."""

    def state(self, state: str, error: dict[str, Any] | None = None) -> None:
        """starting, running, stopping, stopped or failed."""
        ...

    def log(self, level: str, message: str, node: str | None = None) -> None:
        """A line for people, at a node of the topology if it is about one."""
        ...

    def attach(self, spark: Any, query: Any, graph: dict[str, Any]) -> None:
        """Begins to tell the query's progress."""
        ...

    def detach(self) -> None:
        """Ends to tell progress; the last one is sent, with what is still to be said."""
        ...

    def close(self) -> None:
        """Sends what waits, for a second at most."""
        ...


class Silence:
    """No reports: a job that nobody watches."""

    def state(self, state: str, error: dict[str, Any] | None = None) -> None:
        """Nothing."""

    def log(self, level: str, message: str, node: str | None = None) -> None:
        """Nothing."""

    def attach(self, spark: Any, query: Any, graph: dict[str, Any]) -> None:
        """Nothing."""

    def detach(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def reporter(url: str | None, run: str) -> Report:
    """Reports to the Redis of that URL, or to nobody."""
    return RedisReport(url, run) if url else Silence()


class RedisReport:
    """Sends events from a thread of its own, so that a slow Redis never slows the job."""

    def __init__(self, url: str, run: str) -> None:
        import redis  # only a job that reports needs it

        self._redis = redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
        self._errors: tuple[type[Exception], ...] = (redis.RedisError, OSError)
        self.stream = f"millrace:run:{run}"
        self.run = run
        self._waiting: deque[dict[str, Any]] = deque(maxlen=1_000)
        self._wake = threading.Event()
        self._closed = False
        self._progress: Progress | None = None
        self._due = 0.0
        self._thread = threading.Thread(target=self._work, name="reports", daemon=True)
        self._thread.start()

    def state(self, state: str, error: dict[str, Any] | None = None) -> None:
        """See Report."""
        self._send({"event": "state", "at": _now(), "state": state, "error": error})

    def log(self, level: str, message: str, node: str | None = None) -> None:
        """See Report."""
        self._send({"event": "log", "at": _now(), "level": level, "node": node, "message": message})

    def attach(self, spark: Any, query: Any, graph: dict[str, Any]) -> None:
        """See Report."""
        self._progress = Progress(spark, query, graph, self.run)

    def detach(self) -> None:
        """See Report."""
        progress, self._progress = self._progress, None
        if progress is not None:
            with contextlib.suppress(Exception):
                self._tell(progress)
            self._wake.set()

    def close(self) -> None:
        """See Report."""
        self._closed = True
        self._wake.set()
        self._thread.join(timeout=3)

    def _send(self, event: dict[str, Any]) -> None:
        self._waiting.append(event)
        self._wake.set()

    def _work(self) -> None:
        """Sends what waits, and progress when a batch ended or a second has passed."""
        while not self._closed or self._waiting:
            self._wake.wait(LOOK_SECONDS)
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
        with contextlib.suppress(Exception):  # the session may be going away
            if progress.moved() or time.monotonic() >= self._due:
                self._tell(progress)
                self._due = time.monotonic() + HEARTBEAT_SECONDS

    def _tell(self, progress: Progress) -> None:
        for level, node, message in progress.logs():
            self._waiting.append(
                {"event": "log", "at": _now(), "level": level, "node": node, "message": message}
            )
        self._waiting.append(progress.event())

    def _deliver(self) -> bool:
        while self._waiting:
            event = self._waiting[0]
            text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
            try:
                self._redis.xadd(
                    self.stream, {"event": text}, maxlen=STREAM_LENGTH, approximate=True
                )
                if event["event"] == "progress":
                    self._redis.set(f"{self.stream}:snapshot", text, ex=SNAPSHOT_SECONDS)
            except self._errors:
                # Of progress only the newest is worth keeping over an outage.
                kept = [each for each in self._waiting if each["event"] != "progress"]
                self._waiting.clear()
                self._waiting.extend(kept)
                return False
            self._waiting.popleft()
        return True


class Progress:
    """A query's progress as one event: what Spark says joined with what the operator counted."""

    def __init__(self, spark: Any, query: Any, graph: dict[str, Any], run: str) -> None:
        self._gateway = columns.gateway(spark.sparkContext)
        self._query = query
        self._run = run
        self._batch: int | None = None
        self._stores = _stores(graph)
        self._plain: dict[str, Any] | None = graph.get("plain")
        self._last: dict[str, Any] | None = None

    def moved(self) -> bool:
        """Whether a micro-batch ended since the last look."""
        java = self._query._jsq.lastProgress()
        batch = None if java is None else int(java.batchId())
        if batch == self._batch:
            return False
        self._batch = batch
        return True

    def logs(self) -> list[tuple[str, str | None, str]]:
        """Lines that nodes wrote since the last look (peek, print)."""
        lines = json.loads(self._gateway.Reports.logs(self._run))
        return [(line["level"], line.get("node"), line["message"]) for line in lines]

    def event(self) -> dict[str, Any]:
        """Totals since the run started; see the module's text."""
        statistics = json.loads(self._gateway.Reports.statistics(self._run))
        if self._plain is not None:
            figures(statistics, self._plain)
        progress = self._read() or {}
        ends = _end_offsets(progress)
        tasks = statistics.get("tasks", [])
        for task in tasks:
            task["executor"] = "driver" if task["executor"] == "driver" else task["executor"]
            for place in task["topic_partitions"]:
                end = ends.get((place["topic"], place["partition"]))
                place["end_offset"] = end
                done = place["offset"] + 1
                place["lag"] = None if end is None else max(0, end - done)
            task.setdefault("state_rows", None)
        durations = progress.get("durationMs") or {}
        return {
            "event": "progress",
            "at": _now(),
            "batch": progress.get("batchId"),
            "duration_ms": durations.get("triggerExecution"),
            "input_rate": _number(progress.get("inputRowsPerSecond")),
            "process_rate": _number(progress.get("processedRowsPerSecond")),
            "phases": durations,
            "nodes": statistics.get("nodes", {}),
            "tasks": tasks,
            "stores": statistics.get("stores") or self._store_sizes(progress),
        }

    def _read(self) -> dict[str, Any] | None:
        java = self._query._jsq.lastProgress()
        self._last = json.loads(java.json()) if java is not None else None
        return self._last

    def _store_sizes(self, progress: dict[str, Any]) -> list[dict[str, Any]]:
        """Rows and bytes of each store; a level that has one store has all of its state."""
        operators = progress.get("stateOperators") or []
        sizes = []
        for store in self._stores:
            alone = [each["level"] for each in self._stores].count(store["level"]) == 1
            operator = (
                operators[store["level"]] if alone and store["level"] < len(operators) else {}
            )
            sizes.append(
                {
                    "name": store["name"],
                    "node": store["node"],
                    "rows": operator.get("numRowsTotal"),
                    "bytes": operator.get("memoryUsedBytes"),
                }
            )
        return sizes


def _stores(graph: dict[str, Any]) -> list[dict[str, Any]]:
    found = {}
    for node in graph["nodes"]:
        own = node["params"].get("store")
        for store in [own] if own else node["params"].get("stores", []):
            found[store["name"]] = {
                "name": store["name"],
                "node": store["node"],
                "level": node["level"],
            }
    return list(found.values())


def _end_offsets(progress: dict[str, Any]) -> dict[tuple[str, int], int]:
    """The latest known end of every topic-partition, from Spark's Kafka sources."""
    ends: dict[tuple[str, int], int] = {}
    for source in progress.get("sources") or []:
        for name in ("endOffset", "latestOffset"):
            offsets = source.get(name)
            if isinstance(offsets, str):
                with contextlib.suppress(ValueError):
                    offsets = json.loads(offsets)
            if not isinstance(offsets, dict):
                continue
            for topic, partitions in offsets.items():
                if isinstance(partitions, dict):
                    for partition, offset in partitions.items():
                        ends[(topic, int(partition))] = int(offset)
    return ends


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _now() -> int:
    return int(time.time() * 1000)
