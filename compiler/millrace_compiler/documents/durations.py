"""Durations in documents: whole milliseconds, or text such as ``"5 minutes"``."""

from __future__ import annotations

import re

_UNITS = {
    "ms": 1,
    "millisecond": 1,
    "second": 1000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}
_TEXT = re.compile(r"\s*(-?[0-9]{1,19})\s*([A-Za-z]+)\s*")
LONGEST = 2**63 - 1


class NoDuration(ValueError):
    """The value cannot be read as a duration."""


def parse_duration(raw: object) -> int:
    """The duration in milliseconds. Raises :class:`NoDuration` for any other form."""
    if isinstance(raw, bool):
        raise NoDuration
    if isinstance(raw, int):
        value = raw
    elif isinstance(raw, str):
        found = _TEXT.fullmatch(raw)
        if not found:
            raise NoDuration
        unit = found[2].lower()
        factor = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
        if factor is None:
            raise NoDuration
        value = int(found[1]) * factor
    else:
        raise NoDuration
    if abs(value) > LONGEST:
        raise NoDuration
    return value


def looks_like_seconds(number: int) -> bool:
    """Whether a number without a unit is a round duration in seconds, but none in milliseconds.

    3600 is an hour in seconds, and 3.6 seconds in the milliseconds that it means.
    """
    return 300 <= number <= 31 * 86_400 and number % 60 == 0 and number % 1000 != 0


def show_duration(milliseconds: int) -> str:
    """The duration in its largest exact unit: ``"1 hour"``, ``"90 seconds"``, ``"250 ms"``."""
    for unit, factor in (
        ("day", 86_400_000),
        ("hour", 3_600_000),
        ("minute", 60_000),
        ("second", 1000),
    ):
        if milliseconds and milliseconds % factor == 0:
            count = milliseconds // factor
            return f"{count} {unit}" if abs(count) == 1 else f"{count} {unit}s"
    return f"{milliseconds} ms"
