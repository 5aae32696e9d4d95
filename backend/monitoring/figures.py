"""Extracts the figures of a driver's report, and combines those of an interval.

The figures of an interval are stored as one object, `{figure: {name: value}}`. Counters are totals
since the run started; rates are computed from two of them, so that they are exact at every
resolution. Of all other figures, the highest value of the interval is kept.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deployments.runtime import places_of
from millrace_model.events import ProgressEvent

from monitoring.choices import Figure, Unit

Figures = dict[str, dict[str, float]]
Ends = dict[str, list[list[int]]]

#: number of a partition's end offsets to remember; with more, every other one is dropped
MOST_ENDS = 60


@dataclass(frozen=True)
class Kind:
    """What a figure describes, and its unit.

    `counter`: a total, shown as a rate. `source`: the figure from which it is computed when it is
    shown; it is not stored itself.
    """

    of: str
    unit: Unit
    counter: bool = False
    source: Figure | None = None


KINDS: Mapping[Figure, Kind] = {
    Figure.NODE_IN: Kind("node", Unit.PER_SECOND, counter=True),
    Figure.NODE_OUT: Kind("node", Unit.PER_SECOND, counter=True),
    Figure.NODE_DROPPED: Kind("node", Unit.PER_SECOND, counter=True),
    Figure.NODE_WARNED: Kind("node", Unit.PER_SECOND, counter=True),
    Figure.NODE_DEAD_LETTERS: Kind("node", Unit.PER_SECOND, counter=True),
    Figure.DROPPED_BY_REASON: Kind("reason", Unit.PER_SECOND, counter=True),
    Figure.TASK_RECORDS: Kind("task", Unit.PER_SECOND, counter=True),
    Figure.TASK_SKEW: Kind("subtopology", Unit.PERCENT, source=Figure.TASK_RECORDS),
    Figure.TASK_LAG: Kind("task", Unit.RECORDS),
    Figure.TASK_STREAM_TIME_DISTANCE: Kind("task", Unit.MILLISECONDS),
    Figure.TASK_STATE_ROWS: Kind("task", Unit.ROWS),
    Figure.LAG: Kind("partition", Unit.RECORDS),
    Figure.LAG_TIME: Kind("partition", Unit.MILLISECONDS),
    Figure.LATENCY_P50: Kind("node", Unit.MILLISECONDS),
    Figure.LATENCY_P99: Kind("node", Unit.MILLISECONDS),
    Figure.ARRIVAL_P50: Kind("node", Unit.MILLISECONDS),
    Figure.ARRIVAL_P99: Kind("node", Unit.MILLISECONDS),
    Figure.STORE_ROWS: Kind("store", Unit.ROWS),
    Figure.STORE_BYTES: Kind("store", Unit.BYTES),
    Figure.BATCH_DURATION: Kind("deployment", Unit.MILLISECONDS),
    Figure.BATCH_PHASES: Kind("phase", Unit.MILLISECONDS),
}


#: where the percentiles are in a node's `latency`
LATENCIES: Mapping[Figure, tuple[str, str]] = {
    Figure.LATENCY_P50: ("event", "p50"),
    Figure.LATENCY_P99: ("event", "p99"),
    Figure.ARRIVAL_P50: ("arrival", "p50"),
    Figure.ARRIVAL_P99: ("arrival", "p99"),
}


def of_report(report: ProgressEvent, ends: Ends) -> tuple[Figures, Ends]:
    """Return a report's figures, and the end offsets to remember. `ends`: those so far."""
    found: Figures = {figure.value: {} for figure in Figure}

    def note(figure: Figure, name: str, value: Any) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[figure.value][name] = value

    at = int(report["at"])
    for name, node in (report.get("nodes") or {}).items():
        note(Figure.NODE_IN, name, node.get("in"))
        note(Figure.NODE_OUT, name, node.get("out"))
        note(Figure.NODE_DEAD_LETTERS, name, node.get("dead_letters"))
        note(Figure.NODE_WARNED, name, (node.get("misses") or {}).get("warned"))
        dropped = node.get("dropped") or {}
        note(Figure.NODE_DROPPED, name, sum(dropped.values()))
        for reason, count in dropped.items():
            note(Figure.DROPPED_BY_REASON, f"{name}: {reason}", count)
        for figure, (kind, percentile) in LATENCIES.items():
            measured: Any = (node.get("latency") or {}).get(kind) or {}
            note(figure, name, measured.get(percentile))
    later: Ends = {}
    for task in report.get("tasks") or []:
        note(Figure.TASK_RECORDS, task["task"], task.get("records"))
        note(Figure.TASK_STATE_ROWS, task["task"], task.get("state_rows"))
        stream_time = task.get("stream_time")
        if stream_time is not None:
            distance = max(0, at - stream_time)
            note(Figure.TASK_STREAM_TIME_DISTANCE, task["task"], distance)
        lags = [each.get("lag") for each in task.get("topic_partitions") or []]
        known = [lag for lag in lags if lag is not None]
        if known:
            note(Figure.TASK_LAG, task["task"], sum(known))
    for each in places_of(report):
        name, lag = f"{each['topic']}-{each['partition']}", each.get("lag")
        if lag is not None:
            note(Figure.LAG, name, lag)
            later[name] = ends_after(ends.get(name) or [], each.get("end_offset"), lag, at)
            note(Figure.LAG_TIME, name, 0 if lag <= 0 else at - later[name][0][1])
    for store in report.get("stores") or []:
        note(Figure.STORE_ROWS, store["name"], store.get("rows"))
        note(Figure.STORE_BYTES, store["name"], store.get("bytes"))
    note(Figure.BATCH_DURATION, "batch", report.get("duration_ms"))
    for phase, spent in (report.get("phases") or {}).items():
        if phase != "triggerExecution":
            note(Figure.BATCH_PHASES, phase, spent)
    return {figure: values for figure, values in found.items() if values}, later


def ends_after(ends: list[list[int]], end: int | None, lag: int, at: int) -> list[list[int]]:
    """Return the end offsets `[offset, time]` to remember of a partition, oldest first.

    The first is the newest end that has been read up to: all unread records came after it was seen,
    so its time bounds the age of the oldest of them. If none is known, the first end seen takes its
    place.
    """
    if end is None or lag <= 0:
        return [[end or 0, at]]
    found = [*ends, [end, at]] if not ends or ends[-1][0] < end else list(ends)
    read = end - lag
    passed = [each for each in found if each[0] <= read]
    found = [*passed[-1:], *(each for each in found if each[0] > read)]
    if len(found) > MOST_ENDS:
        found = [found[0], *found[2:-1:2], found[-1]]
    return found


def merged(before: Figures, now: Figures) -> Figures:
    """Add a report to an interval's figures: counters are replaced, others keep the maximum."""
    kinds = {figure.value: kind for figure, kind in KINDS.items()}
    found: Figures = {}
    for figure in {*before, *now}:
        old, new = before.get(figure, {}), now.get(figure, {})
        if figure in kinds and kinds[figure].counter:
            found[figure] = new
        else:
            found[figure] = {
                name: max(old.get(name, value), value) for name, value in {**old, **new}.items()
            }
    return found


def pack(figures: Figures) -> bytes:
    """Compress figures for the database."""
    return zlib.compress(json.dumps(figures, separators=(",", ":")).encode(), 1)


def unpack(data: bytes | memoryview) -> Figures:
    """Decompress figures from the database."""
    found: Figures = json.loads(zlib.decompress(data))
    return found
