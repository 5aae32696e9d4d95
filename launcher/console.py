"""What the commands say: progress lines, and problems as sentences that name a way out."""

from __future__ import annotations

import sys


class Problem(Exception):
    """An external problem; the text contains the cause and a remedy."""


def say(text: str) -> None:
    """One line of progress on standard error: standard output is for results."""
    print(text, file=sys.stderr, flush=True)


def megabytes(size: int) -> str:
    """A size in bytes as people read it."""
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size / 1000:.0f} kB"
