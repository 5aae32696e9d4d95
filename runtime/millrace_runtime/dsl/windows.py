"""Windows of aggregations and joins, and how long `suppress` holds updates back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from millrace_runtime.code.code import ProcessorCode, WindowFunction, windows_of
from millrace_runtime.code.places import calling
from millrace_runtime.dsl.definitions import own_function
from millrace_runtime.dsl.stores import Duration, in_milliseconds
from millrace_runtime.keywords import checked

Unit = Literal["day", "week", "month", "quarter", "year"]


@dataclass(frozen=True)
class Window:
    """A window of an aggregation. Durations are whole milliseconds or text.

    `own`: the code of a function that returns the windows.
    """

    parts: dict[str, Any]
    own: ProcessorCode | None = None


@dataclass(frozen=True)
class JoinWindow:
    """The time window of a join of two streams."""

    parts: dict[str, object]


@dataclass(frozen=True)
class Suppressed:
    """The condition under which `suppress` emits updates."""

    parts: dict[str, object]


def _window(type: str, **parts: Duration | None) -> Window:
    found = {name: in_milliseconds(part) for name, part in parts.items() if part is not None}
    return Window({"type": type, **found})


@checked
def tumbling(
    size: Duration | None = None,
    *,
    unit: Unit | None = None,
    time_zone: str | None = None,
    offset: Duration | None = None,
    grace: Duration | None = None,
) -> Window:
    """Windows that do not overlap, of one `size`, or calendar days, weeks, months and so on.

    `unit`: the calendar unit, in `time_zone` (default UTC). Weeks begin on Monday. `offset`: how
    much later windows start than multiples of the size since the epoch or, with a unit, than
    midnight: `tumbling(unit="day", time_zone="Europe/Paris", offset="18 hours")`. `grace`: how
    long late records are accepted. Raises TypeError unless there is either a size or a unit.
    """
    if (size is None) == (unit is None):
        raise TypeError("tumbling() takes either a size or a unit")
    window = _window("tumbling", size=size, offset=offset, grace=grace)
    words = {"unit": unit, "time_zone": time_zone}
    return Window(window.parts | {name: word for name, word in words.items() if word is not None})


@checked
def hopping(
    size: Duration,
    *,
    advance: Duration,
    offset: Duration | None = None,
    grace: Duration | None = None,
) -> Window:
    """Fixed-size, overlapping windows; a new one starts with every `advance`, plus `offset`."""
    return _window("hopping", size=size, advance=advance, offset=offset, grace=grace)


@checked
def sliding(difference: Duration, *, grace: Duration | None = None) -> Window:
    """Sliding windows of records whose timestamps differ by at most `difference`."""
    return _window("sliding", difference=difference, grace=grace)


@checked
def sessions(gap: Duration, *, grace: Duration | None = None) -> Window:
    """Session windows, which grow while records follow each other within `gap`."""
    return _window("session", gap=gap, grace=grace)


@checked
def unlimited(*, start: Duration | None = None) -> Window:
    """One window without end, from `start` (ms since the epoch, default 0)."""
    return _window("unlimited", start=start)


@checked
def custom_windows(
    function: WindowFunction, *, size: Duration, grace: Duration | None = None
) -> Window:
    """Windows of one's own, as a subclass of Kafka Streams' `Windows` has them.

    `function`: returns the windows of a timestamp in ms as pairs `(start, end)`, end exclusive; or
    `"file.py:function"`. `size`: the size of the longest window; the store keeps windows for that
    long and `grace`, and the end of a window that is read from it is its start and this size.
    """
    code = own_function(function, "windows", calling()) or windows_of(function, calling())
    window = _window("custom", size=size, grace=grace)
    return Window({"type": "custom", "code": code.text, **window.parts}, code)


@checked
def within(
    difference: Duration | None = None,
    *,
    before: Duration | None = None,
    after: Duration | None = None,
    grace: Duration | None = None,
) -> JoinWindow:
    """Join a left record with right ones from `before` earlier to `after` later.

    `difference` sets both. `before` and `after` can be negative, but their sum cannot.
    """
    if (difference is None) == (before is None and after is None):
        raise TypeError("within() takes either one time difference, or before and after")
    sides = {"before": before or 0, "after": after or 0}
    if difference is not None:
        sides = {"before": difference, "after": difference}
    if grace is not None:
        sides["grace"] = grace
    return JoinWindow({name: in_milliseconds(part) for name, part in sides.items()})


@checked
def until_window_closes(
    *,
    max_records: int | None = None,
    max_bytes: int | None = None,
    when_full: Literal["fail"] | None = None,
) -> Suppressed:
    """Emit one final result per window, when stream time passes its end plus the grace period."""
    return _suppressed("window_closes", None, max_records, max_bytes, when_full)


@checked
def until_time_limit(
    limit: Duration,
    *,
    max_records: int | None = None,
    max_bytes: int | None = None,
    when_full: Literal["emit", "fail"] | None = None,
) -> Suppressed:
    """Emit at most one update of each key within `limit`, by stream time."""
    return _suppressed("time_limit", limit, max_records, max_bytes, when_full)


def _suppressed(
    until: str,
    limit: Duration | None,
    max_records: int | None,
    max_bytes: int | None,
    when_full: str | None,
) -> Suppressed:
    parts = {
        "until": until,
        "limit": in_milliseconds(limit),
        "max_records": max_records,
        "max_bytes": max_bytes,
        "when_full": when_full,
    }
    return Suppressed({name: part for name, part in parts.items() if part is not None})
