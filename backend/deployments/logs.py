"""Reads a driver's log: its log file, and the lines of nodes that it reports to Redis.

The file contains lines of JSON, or plain text of Spark and Python. Lines that belong to a node (the
output of ``peek`` and ``print``, dropped records and why) come through the run's stream.
"""

from __future__ import annotations

import heapq
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from millrace_model.events import FailedRecord, of_entry

from deployments import files
from deployments.choices import LogLevel

#: maximum number of lines in one answer
PAGE = 500
#: bytes to search for one answer; the next answer continues where this one ended
BLOCK = 1024 * 1024
#: length in bytes above which a line is cut
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
#: lines whose time has no date still have a level
_PLAIN = re.compile(
    r"^(?P<at>(?:\d{2,4}[/-]\d{2}[/-]\d{2}[ T])?\d{2}:\d{2}:\d{2}(?:[.,]\d+)?"
    r"(?:Z|[+-]\d{2}:?\d{2})?)\s+"
    r"(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b[:\s]*(?P<rest>.*)$"
)
_ORDER = list(LogLevel)


@dataclass(frozen=True)
class Line:
    """A line of the log; ``at`` is None if the line has no time.

    ``record`` is the record that caused an error.
    """

    at: datetime | None
    level: LogLevel
    node: str | None
    message: str
    record: FailedRecord | None = None


@dataclass(frozen=True)
class Place:
    """A reader's position in the log file and in the event streams of the runs."""

    offset: int
    entry: str = ""

    def __str__(self) -> str:
        return f"{self.offset}.{self.entry}" if self.entry else str(self.offset)

    @staticmethod
    def read(text: str) -> Place:
        """Return the position in a text made by ``str``. Raises ValueError for any other text."""
        found = _PLACE.match(text)
        if found is None:
            raise ValueError("not a position in a log")
        return Place(int(found["offset"]), found["entry"] or "")


_PLACE = re.compile(r"^(?P<offset>[0-9]{1,15})(?:\.(?P<entry>[0-9]{1,16}-[0-9]{1,9}))?\Z")


@dataclass(frozen=True)
class Filter:
    """Selects lines of a node, of at least some level, that contain a text."""

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
    """Return the lines after a position in the file, and the position after them.

    Without a position: the last lines of the file. A log that was replaced is read from its start.
    `path`: in the deployment's folder.
    """
    try:
        with os.fdopen(files.descriptor(path.parent, path), "rb") as log:
            size = log.seek(0, 2)
            if after is None or after > size:
                start = max(0, size - BLOCK) if after is None else 0
            else:
                start = after
            log.seek(start)
            block = log.read(BLOCK)
    except OSError:
        return [], 0
    if after is None and start > 0:
        # The block may begin in the middle of a line.
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


def level_of(text: object) -> LogLevel:
    """Return the level for a name that a driver or a library uses."""
    return _LEVELS.get(str(text or "INFO").upper(), LogLevel.INFO)


def reported(
    streams: Sequence[Sequence[tuple[bytes, Mapping[Any, Any]]]], after: str, wanted: Filter
) -> tuple[list[Line], str]:
    """Return the log events after an entry in the streams of runs, and the id of the last entry."""
    found, last = [], after
    for entries in streams:
        for entry_id, fields in entries:
            name = entry_id.decode()
            if not after or _order(name) > _order(after):
                last = max(last or name, name, key=_order)
                event = of_entry(fields)
                if event and event["event"] == "log":
                    line = _from_json(event)
                    if wanted.takes(line):
                        found.append(line)
    return found if after else found[-PAGE:], last


def merged(first: Sequence[Line], second: Sequence[Line]) -> list[Line]:
    """Merge two logs by time; a line without a time stays behind the line before it.

    Lines before the first one with a time stay before it; if no line has a time, all come last.
    """

    def timed(lines: Sequence[Line]) -> list[tuple[float, Line]]:
        known = (line.at.timestamp() for line in lines if line.at)
        now, rows = next(known, float("inf")), []
        for line in lines:
            now = max(now, line.at.timestamp()) if line.at else now
            rows.append((now, line))
        return rows

    return [line for _, line in heapq.merge(timed(first), timed(second), key=itemgetter(0))]


def _order(entry_id: str) -> tuple[int, int]:
    first, _, second = entry_id.partition("-")
    return int(first), int(second or 0)


def parse(raw: bytes) -> Line | None:
    """Parse one line of the file; return None if it is empty."""
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


def _from_json(event: Mapping[str, Any]) -> Line:
    if isinstance(event.get("error"), dict):
        # The last line of a job that failed contains its error.
        event = {**event["error"], "level": "error", **event}
    at = event.get("at") or event.get("timestamp") or event.get("ts")
    node = event.get("node")
    message = event.get("message") or event.get("msg") or event.get("event") or ""
    when = datetime.fromtimestamp(at / 1000, UTC) if isinstance(at, int | float) else _time(str(at))
    name = None if node is None else str(node)
    record = _record(event.get("record"))
    return Line(when, level_of(event.get("level")), name, str(message), record)


def _record(found: object) -> FailedRecord | None:
    """Return the record of an error; invalid values become None, as user code prints anything."""
    if not isinstance(found, dict):
        return None
    topic = found.get("topic")
    return {
        "topic": topic if isinstance(topic, str) else None,
        "key": found.get("key"),
        "partition": _whole(found.get("partition")),
        "offset": _whole(found.get("offset")),
        "timestamp": _whole(found.get("timestamp")),
    }


def _whole(found: object) -> int | None:
    return found if type(found) is int else None


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
