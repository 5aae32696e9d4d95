"""Output of the commands: progress lines, and problems as sentences with a remedy."""

from __future__ import annotations

import sys


class Problem(Exception):
    """An external problem; the text contains the cause and a remedy."""


def echo(text: str) -> None:
    """Print a line of progress to standard error: standard output is for results."""
    print(text, file=sys.stderr, flush=True)


def megabytes(size: int) -> str:
    """Return a size in bytes as readable text."""
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size / 1000:.0f} kB"
