"""Latencies of records at nodes: the operator's histograms as the figures of a report.

The operator counts since the start of the run, in buckets `[lowest ms, records]` an eighth of a
power of two wide. A report has percentiles over the last seconds, and totals by powers of two.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Literal

from millrace_model.events import Durations, NodeFigures

Kind = Literal["event", "arrival"]
KINDS: tuple[Kind, ...] = ("event", "arrival")
#: seconds over which percentiles are computed
WINDOW_SECONDS = 10.0

_EXACT_MS = 8

Counts = dict[int, int]
#: Records by bucket, and the sum of their durations in ms.
Taken = tuple[Counts, int]
#: A node, and whether latency is measured from the record's own time (`event`) or its `arrival`.
Of = tuple[str, Kind]

_NOTHING: Taken = ({}, 0)


class Latencies:
    """Remembers earlier counts, so that percentiles cover only the last seconds."""

    def __init__(self) -> None:
        self._before: deque[tuple[float, dict[Of, Taken]]] = deque()

    def complete(self, nodes: Mapping[str, NodeFigures], now: float) -> None:
        """Replace the buckets of the nodes with figures; `now`: a clock in seconds.

        `latency` of a node becomes `{"event", "arrival": {"count", "sum", "buckets": [[below ms,
        records]], "avg", "min", "max", "p50", "p99"}}`. The last five are in ms, and null without
        records in the window; the last four are the middle of a bucket.
        """
        totals: dict[Of, Taken] = {}
        for name, node in nodes.items():
            for kind in KINDS:
                found = node["latency"].get(kind) if "latency" in node else None
                if found is not None:
                    counts = {pair[0]: pair[1] for pair in found["buckets"]}
                    totals[name, kind] = counts, found["sum"]
        self._before.append((now, totals))
        while len(self._before) > 1 and self._before[1][0] <= now - WINDOW_SECONDS:
            self._before.popleft()
        first, base = self._before[0]
        if now - first < WINDOW_SECONDS:
            base = {}
        for (name, kind), total in totals.items():
            recent = _since(base.get((name, kind), _NOTHING), total)
            nodes[name]["latency"][kind] = _durations(total, recent)


def _since(before: Taken, now: Taken) -> Taken:
    counts = {at: n - before[0].get(at, 0) for at, n in now[0].items()}
    return {at: n for at, n in counts.items() if n > 0}, now[1] - before[1]


def _durations(taken: Taken, recent: Taken) -> Durations:
    counts, total = taken
    below: Counts = {}
    for at, records in counts.items():
        end = 1 << at.bit_length()
        below[end] = below.get(end, 0) + records
    buckets = [[end, below[end]] for end in sorted(below)]
    now, sum_now = recent
    records, order = sum(now.values()), sorted(now)
    return {
        "count": sum(counts.values()),
        "sum": total,
        "buckets": buckets,
        "avg": round(sum_now / records, 1) if records else None,
        "min": _middle(order[0]) if records else None,
        "max": _middle(order[-1]) if records else None,
        "p50": _middle(_percentile(now, 0.5)) if records else None,
        "p99": _middle(_percentile(now, 0.99)) if records else None,
    }


def _percentile(counts: Counts, share: float) -> int:
    """Return the first bucket up to which there is at least this share of all records."""
    rank = math.ceil(sum(counts.values()) * share)
    for at in sorted(counts):
        rank -= counts[at]
        if rank <= 0:
            return at
    return max(counts)


def _middle(lowest: int) -> int:
    """Return the middle of a bucket: an eighth of a power of two wide, or 1 ms below 8 ms."""
    if lowest < _EXACT_MS:
        return lowest
    return lowest + (1 << (lowest.bit_length() - 4)) // 2
