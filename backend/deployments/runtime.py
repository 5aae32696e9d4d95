"""Reports of drivers, with rates per second derived from two reports.

Rates are a pure function of the reports in the run's stream, so that following the stream and
reading it again give the same figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, TypeAlias

from millrace_backend import redis
from millrace_model.events import (
    NodeFigures,
    ProgressEvent,
    RuntimeJson,
    TopicPartition,
    decode,
    of_entry,
)

#: rates cover at least this time, if the run is old enough
RATE_MS = 2_000
#: older reports are not a basis for current rates
HISTORY_MS = 30_000
#: drivers report at least every five seconds; older reports are outdated
STALE_MS = 12_000
#: number of a stream's entries to search for the last report
LOOK_BACK = 500
#: number of a stream's entries to search for log lines
LOG_LOOK_BACK = 2_000

_NOTHING: NodeFigures = {"in": 0, "out": 0}
#: A report with rates, as the API shows it.
Runtime: TypeAlias = RuntimeJson


def progress_of(entries: Iterable[Any]) -> list[ProgressEvent]:
    """The progress reports among a stream's entries."""
    events = (of_entry(fields) for _, fields in entries)
    return [event for event in events if event and event["event"] == "progress"]


def amount(report: ProgressEvent) -> int:
    """Return the sum of a report's counters, which grows whenever records were processed."""
    nodes = (report.get("nodes") or {}).values()
    through = sum((node.get("in") or 0) + (node.get("out") or 0) for node in nodes)
    return through + sum(task.get("records") or 0 for task in report.get("tasks") or [])


def kept(history: Iterable[ProgressEvent], last: ProgressEvent) -> list[ProgressEvent]:
    """Return the reports to keep for later rates: for each second, the newest with new counts."""
    seconds: dict[int, ProgressEvent] = {}
    before = None
    for event in [*history, last]:
        if event["at"] >= last["at"] - HISTORY_MS:
            if before is None or event is last or amount(event) != before:
                seconds[int(event["at"]) // 1000] = event
            before = amount(event)
    return list(seconds.values())


def pace(
    last: ProgressEvent, history: Iterable[ProgressEvent]
) -> tuple[ProgressEvent | None, float]:
    """Return the report to count from, and the seconds since then; None if no rate is known.

    Totals grow in steps, with each batch: a rate is taken from one step to another, over RATE_MS or
    more, and holds until the next step is overdue.
    """
    usable = sorted(
        (event for event in history if last["at"] - HISTORY_MS <= event["at"] < last["at"]),
        key=lambda event: float(event["at"]),
    )
    if not usable:
        return None, 0.0
    pairs = pairwise([*usable, last])
    steps = [(before, after) for before, after in pairs if amount(after) != amount(before)]
    if not steps:
        return last, 1.0
    newest, earlier = steps[-1][1]["at"], [after for _, after in steps[:-1]]
    batch = max(RATE_MS, last.get("duration_ms") or 0, newest - steps[-1][0]["at"])
    gap = newest - earlier[-1]["at"] if earlier else 0
    if last["at"] - newest > max(2 * batch, 2 * gap):
        return last, 1.0
    old_enough = [step for step in earlier if newest - step["at"] >= RATE_MS]
    if old_enough:
        return old_enough[-1], (newest - old_enough[-1]["at"]) / 1000
    # It is not known when the first records came, but not before the batch that read them.
    return usable[0], min(newest - usable[0]["at"], batch) / 1000


def derive(
    deployment: int, report_id: str, last: ProgressEvent, history: Iterable[ProgressEvent]
) -> Runtime:
    """Return a progress report as the API shows it, except ``stale``, which depends on the time."""
    before, seconds = pace(last, history)

    def rate(now: Any, then: Any) -> float | None:
        return None if seconds <= 0 else round(max(0, (now or 0) - (then or 0)) / seconds, 3)

    nodes_before = before.get("nodes", {}) if before else {}
    tasks = before.get("tasks", []) if before else []
    records_before = {task["task"]: task.get("records") for task in tasks}
    return {
        "deployment": deployment,
        "run": report_id,
        "at": int(last["at"]),
        "as_of": datetime.fromtimestamp(last["at"] / 1000, UTC).isoformat().replace("+00:00", "Z"),
        "stale": False,
        "batch": last.get("batch"),
        "duration_ms": last.get("duration_ms"),
        "input_rate": last.get("input_rate"),
        "process_rate": last.get("process_rate"),
        "phases": last.get("phases") or {},
        "nodes": {
            name: {
                "in": node.get("in") or 0,
                "out": node.get("out") or 0,
                "dropped": node.get("dropped") or {},
                "misses": node.get("misses") or {},
                "dead_letters": node.get("dead_letters") or 0,
                "in_rate": rate(node.get("in"), nodes_before.get(name, _NOTHING).get("in")),
                "out_rate": rate(node.get("out"), nodes_before.get(name, _NOTHING).get("out")),
                "latency": node.get("latency"),
            }
            for name, node in (last.get("nodes") or {}).items()
        },
        "tasks": [
            {
                "task": task["task"],
                "subtopology": task.get("subtopology", 0),
                "level": task.get("level", 0),
                "partition": task.get("partition", 0),
                "executor": task.get("executor", ""),
                "host": task.get("host"),
                "thread": task.get("thread", ""),
                "thread_changes": task.get("thread_changes") or 0,
                "topic_partitions": task.get("topic_partitions") or [],
                "records": task.get("records") or 0,
                "rate": rate(task.get("records"), records_before.get(task["task"])),
                "stream_time": task.get("stream_time"),
                "last_active": task.get("last_active"),
                "state_rows": task.get("state_rows"),
            }
            for task in last.get("tasks") or []
        ],
        "stores": last.get("stores") or [],
        "lost": last.get("lost") or [],
        "topic_partitions": last.get("topic_partitions") or [],
    }


def places_of(report: Runtime | ProgressEvent) -> list[TopicPartition]:
    """Return the position in each topic partition, by task or for a program without tasks."""
    places = [each.get("topic_partitions") or [] for each in report.get("tasks") or []]
    places.append(report.get("topic_partitions") or [])
    return [place for each in places for place in each]


def is_stale(at: float, now_ms: float) -> bool:
    """Whether a report of this time is outdated."""
    return now_ms - at > STALE_MS


def last_runtime(deployment: int, report_id: str, entries: Sequence[Any]) -> Runtime | None:
    """Return the newest report of a stream (entries oldest first), with rates; None without one."""
    reports = progress_of(entries)
    return derive(deployment, report_id, reports[-1], reports[:-1]) if reports else None


def read_entries(report_ids: Sequence[str], after: str) -> list[Any]:
    """Return the entries of runs' streams after an entry (empty: the last ones), oldest first.

    Raises redis.RedisError if Redis does not respond.
    """
    client = redis.client()
    found: list[Any] = []
    for report_id in report_ids:
        stream = redis.run_stream(report_id)
        if after:
            found.append(client.xrange(stream, f"({after}", "+", count=LOG_LOOK_BACK))
        else:
            last: Any = client.xrevrange(stream, count=LOG_LOOK_BACK)
            found.append(last[::-1])
    return found


def read_runtime(deployment: int, report_id: str, now_ms: float) -> Runtime | None:
    """Return the run's last report in Redis; None before the first one.

    Raises redis.RedisError if Redis does not respond.
    """
    client = redis.client()
    entries: Any = client.xrevrange(redis.run_stream(report_id), count=LOOK_BACK)
    found = last_runtime(deployment, report_id, entries[::-1])
    if found is None:
        # Log lines since then have pushed the report out of the stream.
        kept: Any = client.get(redis.run_snapshot(report_id))
        event = decode(kept)
        if event is None or event["event"] != "progress":
            return None
        found = derive(deployment, report_id, event, [])
    return {**found, "stale": is_stale(found["at"], now_ms)}
