"""Figures over time, in the form that charts need."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from deployments.models import Deployment

from monitoring.choices import Figure, Range
from monitoring.figures import KINDS, Kind, unpack
from monitoring.models import FigureRow

#: seconds of a range and of its intervals
RANGES = {
    Range.QUARTER: (900, 10),
    Range.HOUR: (3_600, 10),
    Range.SIX_HOURS: (6 * 3_600, 60),
    Range.DAY: (24 * 3_600, 60),
    Range.WEEK: (7 * 24 * 3_600, 900),
    Range.TWO_WEEKS: (14 * 24 * 3_600, 900),
}
#: maximum number of lines in a chart
MOST_SERIES = 12
#: maximum number of names to choose from
MOST_NAMES = 1_000
#: intervals without a report after which a rate is not known
GAP = 3


class Series(TypedDict):
    """A figure of one node, task, partition, store or phase."""

    name: str
    values: Annotated[
        list[float | None],
        "One value for each interval, oldest first; null if nothing was reported.",
    ]


class Figures(TypedDict):
    """A figure over time."""

    figure: str
    of: Annotated[
        str,
        "What the names refer to: node, reason, task, partition, store, deployment or phase.",
    ]
    unit: str
    range: str
    begin: Annotated[int, "Start of the first interval, in epoch seconds."]
    step: Annotated[int, "Length of an interval in seconds."]
    points: Annotated[int, "Number of intervals."]
    series: Annotated[list[Series], f"Those with the highest values first, at most {MOST_SERIES}."]
    left_out: Annotated[int, "Number of further series."]
    names: Annotated[list[str], f"All existing names, at most {MOST_NAMES}."]


def chart(
    deployment: Deployment,
    figure: Figure,
    range_: Range,
    names: Sequence[str],
    now: float | None = None,
) -> Figures:
    """A figure over a range: one series for each name, those with the highest values first.

    `names`: of which nodes, tasks …; empty: of all. At most MOST_SERIES are in the answer.
    """
    seconds, step = RANGES[range_]
    kind = KINDS[figure]
    last = int(time.time() if now is None else now) // step
    first = last - seconds // step + 1
    rows = FigureRow.objects.filter(
        # One more interval, from which the rate of the first one is computed.
        deployment=deployment, step=step, slot__gte=first - 1, slot__lte=last
    ).order_by("slot")  # fmt: skip
    noted = kind.source or figure
    series = _series(rows, noted, KINDS[noted], first, last - first + 1)
    if figure is Figure.TASK_SKEW:
        series = shares(series)
    known = sorted(series)
    if names:
        series = {name: series[name] for name in names if name in series}
    shown = sorted(series, key=lambda name: (-_highest(series[name]), name))[:MOST_SERIES]
    return {
        "figure": figure.value,
        "of": kind.of,
        "unit": kind.unit.value,
        "range": range_.value,
        "begin": first * step,
        "step": step,
        "points": last - first + 1,
        "series": [{"name": name, "values": series[name]} for name in shown],
        "left_out": len(series) - len(shown),
        "names": known[:MOST_NAMES],
    }


def shares(tasks: Mapping[str, Sequence[float | None]]) -> dict[str, list[float | None]]:
    """The share of the busiest task, in percent, by sub-topology.

    `tasks`: rates by task. A sub-topology with one task has no share, nor has an interval in which
    no task had a record.
    """
    by_sub: dict[str, list[Sequence[float | None]]] = {}
    for task, rates in tasks.items():
        by_sub.setdefault(task.partition("_")[0], []).append(rates)
    return {
        sub: [_share(rates) for rates in zip(*each, strict=True)]
        for sub, each in by_sub.items()
        if len(each) > 1
    }


def _share(rates: Sequence[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    total = sum(known)
    return round(100 * max(known) / total, 1) if total else None


def _highest(values: Sequence[float | None]) -> float:
    return max((value for value in values if value is not None), default=-1.0)


def _series(
    rows: Any, figure: Figure, kind: Kind, first: int, points: int
) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    before: tuple[FigureRow, dict[str, float]] | None = None
    for row in rows:
        values = unpack(row.data).get(figure.value, {})
        if row.slot >= first:
            for name, value in values.items():
                shown = _rate(row, name, value, before) if kind.counter else value
                line = found.setdefault(name, [None] * points)
                line[row.slot - first] = None if shown is None else round(shown, 3)
        before = (row, values)
    return found


def _rate(
    row: FigureRow, name: str, total: float, before: tuple[FigureRow, dict[str, float]] | None
) -> float | None:
    """Return the rate per second since the last interval; a run that began since counts from 0."""
    if before is None or row.slot - before[0].slot > GAP or row.at <= before[0].at:
        return None
    old = before[1].get(name, 0) if before[0].run == row.run else 0
    return max(0.0, total - old) * 1000 / (row.at - before[0].at)
