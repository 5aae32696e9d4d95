"""Times and durations of tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: Whole milliseconds, or a datetime (without a time zone: UTC).
Time = int | datetime
#: Whole milliseconds, text such as "5 minutes", or a timedelta.
Duration = int | str | timedelta


def milliseconds(time: Time) -> int:
    """Return a time in ms since 1970. Raises TypeError for other types."""
    if isinstance(time, datetime):
        at = time if time.tzinfo else time.replace(tzinfo=UTC)
        return round(at.timestamp() * 1000)
    if isinstance(time, bool) or not isinstance(time, int):
        raise TypeError(f"a time must be an int (ms) or a datetime, not {time!r}")
    return time
