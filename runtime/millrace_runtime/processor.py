"""Names that the code of a `process` node can use without an import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace_runtime.worker_host import Context

STREAM_TIME = "STREAM_TIME"
WALL_CLOCK_TIME = "WALL_CLOCK_TIME"

_UNITS = {
    "ms": 1,
    "millisecond": 1,
    "second": 1000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}


def duration(value: int | str) -> int:
    """Return a duration in ms from a whole number of ms, or text such as "250 ms" or "2 hours"."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number, _, unit = str(value).strip().lower().partition(" ")
    unit = unit.strip()
    scale = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
    if scale is None or not number.lstrip("-").isdigit():
        raise ValueError(
            f"{value!r} is not a duration: use a number of ms, or text such as '1 second'"
        )
    return int(number) * scale


class Record:
    """A record: key, value, timestamp (ms), and headers as a list of (name, bytes)."""

    __slots__ = ("headers", "key", "timestamp", "value")

    def __init__(
        self, key: Any, value: Any, timestamp: int, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        self.key = key
        self.value = value
        self.timestamp = timestamp
        self.headers = list(headers)

    def replace(self, **changes: Any) -> Record:
        """Return a copy with changed fields: key, value, timestamp, headers."""
        unknown = set(changes) - {"key", "value", "timestamp", "headers"}
        if unknown:
            raise TypeError(f"a record has no {', '.join(sorted(unknown))}")
        return Record(
            changes.get("key", self.key),
            changes.get("value", self.value),
            changes.get("timestamp", self.timestamp),
            changes.get("headers", self.headers),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        mine = (self.key, self.value, self.timestamp, self.headers)
        return mine == (other.key, other.value, other.timestamp, other.headers)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Record({self.key!r}, {self.value!r}, {self.timestamp!r}, {self.headers!r})"


class Processor:
    """Base class of the class of a `process` node. All methods are optional."""

    def init(self, context: Context) -> None:
        """Called once for each task, before the first record."""

    def process(self, record: Record) -> None:
        """Called for each record."""

    def close(self) -> None:
        """Called when the task ends."""
