"""Reads a driver's log: lines of JSON, or the plain text of Spark and Python."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deployments.choices import LogLevel

#: lines of one answer
PAGE = 500
#: bytes looked through for one answer; the next answer goes on where this one ended
BLOCK = 1024 * 1024
#: a longer line is cut
LONGEST_LINE = 16 * 1024

_LEVELS = {
    "TRACE": LogLevel.DEBUG,
    "DEBUG": LogLevel.DEBUG,
    "INFO": LogLevel.INFO,
    "NOTICE": LogLevel.INFO,
    "WARN": LogLevel.WARN,
    "WARNING": LogLevel.WARN,
    "ERROR": LogLevel.ERROR,
    "CRITICAL": LogLevel.ERROR,
    "FATAL": LogLevel.ERROR,
}
_PLAIN = re.compile(
    r"^(?P<at>\d{2,4}[/-]\d{2}[/-]\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?)\s+"
    r"(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b[:\s]*(?P<rest>.*)$"
)
_ORDER = list(LogLevel)


@dataclass(frozen=True)
class Line:
    """A line of the log; ``at`` is None where the line does not say."""

    at: datetime | None
    level: LogLevel
    node: str | None
    message: str


@dataclass(frozen=True)
class Filter:
    """Which lines are wanted: of a node, at least of a level, with a text."""

    node: str = ""
    level: LogLevel | None = None
    search: str = ""

    def takes(self, line: Line) -> bool:
        """Whether the line is wanted."""
        if self.node and line.node != self.node:
            return False
        if self.level is not None and _ORDER.index(line.level) < _ORDER.index(self.level):
            return False
        return self.search.lower() in line.message.lower()


def read_log(path: Path, after: int | None, wanted: Filter) -> tuple[list[Line], int]:
    """Lines after a place in the file, and the place after them.

    Without a place: the last lines of the file. A log that was made anew is read from its start.
    """
    try:
        with path.open("rb") as log:
            size = log.seek(0, 2)
            if after is None or after > size:
                start = max(0, size - BLOCK) if after is None else 0
            else:
                start = after
            log.seek(start)
            block = log.read(BLOCK)
    except FileNotFoundError:
        return [], 0
    if after is None and start > 0:
        # The block begins somewhere in a line.
        cut = block.find(b"\n") + 1
        start, block = start + cut, block[cut:]
    end = block.rfind(b"\n") + 1
    if end == 0 and len(block) == BLOCK:
        end = len(block)
    found: list[tuple[Line, int]] = []
    place = start
    for raw in block[:end].splitlines(keepends=True):
        place += len(raw)
        line = parse(raw)
        if line is not None and wanted.takes(line):
            found.append((line, place))
            if after is not None and len(found) == PAGE:
                return [each for each, _ in found], place
    return [each for each, _ in found[-PAGE:]], start + end


def parse(raw: bytes) -> Line | None:
    """One line of the file; None for an empty one."""
    text = raw[:LONGEST_LINE].decode("utf-8", "replace").rstrip("\r\n")
    if not text.strip():
        return None
    if text.startswith("{"):
        try:
            return _from_json(json.loads(text))
        except (ValueError, TypeError):
            pass
    plain = _PLAIN.match(text)
    if plain is None:
        return Line(None, LogLevel.INFO, None, text)
    return Line(_time(plain["at"]), _LEVELS[plain["level"]], None, plain["rest"])


def _from_json(event: dict[str, Any]) -> Line:
    at = event.get("at") or event.get("timestamp") or event.get("ts")
    level = str(event.get("level") or "INFO").upper()
    node = event.get("node")
    message = event.get("message") or event.get("msg") or event.get("event") or ""
    when = datetime.fromtimestamp(at / 1000, UTC) if isinstance(at, int | float) else _time(str(at))
    return Line(
        when, _LEVELS.get(level, LogLevel.INFO), None if node is None else str(node), str(message)
    )


def _time(text: str) -> datetime | None:
    for layout in _layouts():
        try:
            found = datetime.strptime(text.replace(",", "."), layout)  # noqa: DTZ007  (set below)
        except ValueError:
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _layouts() -> Iterator[str]:
    for day in ("%y/%m/%d %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"):
        for fraction in ("", ".%f"):
            for zone in ("", "%z"):
                yield day + fraction + zone
