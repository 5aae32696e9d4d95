"""Guesses the intended name for an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 100


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The closest known name, ignoring case; ``None`` if none is close."""
    if len(name) > _LONGEST:
        return None
    small = {each.lower(): each for each in reversed(list(known))}
    close = get_close_matches(name.lower(), small, n=1, cutoff=0.6)
    return small[close[0]] if close else None


def guess(name: str, known: Iterable[str]) -> str:
    """The start of a hint: `Did you mean filter? `, or nothing."""
    close = nearest(name, known)
    return f"Did you mean {close}? " if close else ""
