"""Lines of a driver's log that are not in its reports."""

from __future__ import annotations

import sys
from datetime import UTC, datetime


def write(level: str, message: str) -> None:
    """Write a line with the time, as the page reads it. `level`: info, warning or error."""
    at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
    print(f"{at} {level.upper()} {message}", file=sys.stderr, flush=True)
