"""Pages of a topic's records, newest first or oldest first, with bounded work.

Partitions are merged by timestamp as a stream task merges them: among the next records of all
partitions, the earliest comes first (backwards: the latest).
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import (
    TIMESTAMP_LOG_APPEND_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from millrace_backend.errors import Unavailable

from records.choices import Stopped

#: maximum records and seconds of one scan; a filter may match only few of many records
MOST_SCANNED, MOST_SECONDS = 20_000, 3.0
#: records read from a partition at once: initially, and at most
FIRST_STEP, LARGEST_STEP = 10, 2_000
_POLL_SECONDS = 0.1
#: the end of a partition, or records that retention deleted before they were read
_NOTHING_LEFT = {
    KafkaError._PARTITION_EOF,
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError.OFFSET_OUT_OF_RANGE,
}


@dataclass(frozen=True)
class Raw:
    """A record with undecoded bytes."""

    partition: int
    offset: int
    #: milliseconds since the epoch; -1 if there is no timestamp
    timestamp: int
    log_append_time: bool
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True)
class Row:
    """A record of a page; ``content`` is the result of the function `Take`."""

    offset: int
    timestamp: int
    content: object


#: converts a record, or returns None to leave it out
Take = Callable[[Raw], object | None]


@dataclass
class Lane:
    """The unread offsets of a partition, from ``low`` to ``high`` (exclusive)."""

    partition: int
    low: int
    high: int
    backwards: bool
    step: int
    #: lower bound of the next record's position among the records of all partitions
    frontier: float = -math.inf
    found: deque[Row] = field(default_factory=deque)

    @property
    def open(self) -> bool:
        """Whether unread offsets are left."""
        return self.low < self.high

    @property
    def place(self) -> float:
        """The next record's position among the records of all partitions, or its lower bound."""
        return self.order(self.found[0].timestamp) if self.found else self.frontier

    @property
    def next(self) -> int:
        """The offset at which the next request continues."""
        if self.backwards:
            return self.found[0].offset + 1 if self.found else self.high
        return self.found[0].offset if self.found else self.low

    def order(self, timestamp: int) -> float:
        """Return a sort key for timestamps in the direction of reading."""
        return -timestamp if self.backwards else timestamp

    def chunk(self) -> tuple[int, int]:
        """Return the offsets to read next: the first, and the one after the last."""
        if self.backwards:
            return max(self.low, self.high - self.step), self.high
        return self.low, min(self.high, self.low + self.step)


@dataclass(frozen=True)
class Page:
    """A page of records, and where the next page begins."""

    rows: list[Row]
    scanned: int
    stopped: Stopped
    #: the next offset of each partition, in the direction of reading
    next: dict[int, int]


class Scan:
    """One scan of a topic, which ends when it has enough records or has reached a limit."""

    def __init__(self, consumer: Consumer, topic: str, take: Take) -> None:
        self.consumer, self.topic, self.take = consumer, topic, take
        self.scanned = 0
        self.until = time.monotonic() + MOST_SECONDS

    def page(self, ranges: Mapping[int, tuple[int, int]], want: int, *, backwards: bool) -> Page:
        """Return up to ``want`` records from the offset ranges (low, high) of the partitions."""
        step = max(FIRST_STEP, min(want, 2 * want // max(len(ranges), 1)))
        lanes = [Lane(each, *ends, backwards, step) for each, ends in sorted(ranges.items())]
        rows: list[Row] = []
        stopped = None
        while len(rows) < want:
            going = [lane for lane in lanes if lane.found or (lane.open and stopped is None)]
            if not going:
                break
            lane = min(going, key=lambda each: each.place)
            if lane.found:
                rows.append(lane.found.popleft())
            elif self.scanned >= MOST_SCANNED:
                stopped = Stopped.SCANNED
            elif time.monotonic() >= self.until:
                stopped = Stopped.SECONDS
            else:
                self._read([each for each in going if not each.found])
        left = any(lane.found or lane.open for lane in lanes)
        reason = stopped or (Stopped.FULL if left else Stopped.END)
        return Page(rows, self.scanned, reason, {lane.partition: lane.next for lane in lanes})

    def _read(self, lanes: list[Lane]) -> None:
        """Read the next chunk of these lanes; backwards, a lane gets all of it or none."""
        chunks = {lane.partition: lane.chunk() for lane in lanes}
        came: dict[int, list[Raw]] = {lane.partition: [] for lane in lanes}
        done = self._consume(chunks, came)
        for lane in lanes:
            low, high = chunks[lane.partition]
            messages = came[lane.partition]
            if lane.partition not in done:
                if lane.backwards:
                    continue
                high = messages[-1].offset + 1 if messages else low
            self._keep(lane, messages)
            lane.step = min(lane.step * 2, LARGEST_STEP)
            lane.low, lane.high = (lane.low, low) if lane.backwards else (high, lane.high)

    def _consume(
        self, chunks: Mapping[int, tuple[int, int]], came: dict[int, list[Raw]]
    ) -> set[int]:
        """Read chunks into ``came``, and return the partitions that are complete."""
        self.consumer.assign(
            [TopicPartition(self.topic, each, low) for each, (low, _) in chunks.items()]
        )
        done: set[int] = set()
        heard = False
        while len(done) < len(chunks):
            messages = self.consumer.consume(500, _POLL_SECONDS)
            for message in messages:
                heard = True
                self._sort(message, chunks, came, done)
            if time.monotonic() > self.until:
                break
        if not heard and not self.scanned and len(done) < len(chunks):
            raise Unavailable(
                "kafka_unreachable",
                f"Kafka returned no record of {self.topic} within {MOST_SECONDS:.0f} s.",
                "Check that the leaders of its partitions are running.",
            )
        return done

    def _sort(
        self,
        message: Message,
        chunks: Mapping[int, tuple[int, int]],
        came: dict[int, list[Raw]],
        done: set[int],
    ) -> None:
        partition, error = message.partition(), message.error()
        if partition is None or partition not in chunks or partition in done:
            return
        if error is not None:
            if error.code() not in _NOTHING_LEFT:
                raise KafkaException(error)
            done.add(partition)
            return
        record, end = _raw(message), chunks[partition][1]
        if record.offset < end:
            came[partition].append(record)
        if record.offset >= end - 1:
            done.add(partition)

    def _keep(self, lane: Lane, records: list[Raw]) -> None:
        self.scanned += len(records)
        ordered: Iterable[Raw] = reversed(records) if lane.backwards else records
        for record in ordered:
            lane.frontier = lane.order(record.timestamp)
            content = self.take(record)
            if content is not None:
                lane.found.append(Row(record.offset, record.timestamp, content))


def _raw(message: Message) -> Raw:
    """Convert a message that has no error."""
    kind, timestamp = message.timestamp()
    known: Any = message
    return Raw(
        known.partition(),
        known.offset(),
        timestamp,
        kind == TIMESTAMP_LOG_APPEND_TIME,
        known.key(),
        known.value(),
        known.headers() or [],
    )
