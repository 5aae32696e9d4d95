"""The records of partitions around one that is followed."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

from millrace_backend import kafka

from records import batches
from records.choices import EmptyBecause, Stopped
from records.queries import no_partition, no_record
from records.reading import Raw, Scan, Take
from records.topics import Ends, described, ends_of, offsets_at


class WindowJson(TypedDict):
    """The part of a partition that the lines contain."""

    topic: str
    partition: int
    earliest: Annotated[int, "Offset of the partition's first record."]
    latest: Annotated[int, "The offset after its last committed record."]
    first: Annotated[
        int | None, "Offset of the first record among the lines; null if there is none."
    ]
    last: int | None


@dataclass
class Window:
    """The offsets of a partition and its records around the followed one."""

    topic: str
    partition: int
    ends: Ends
    #: the offset up to which records are read as those before the followed one
    bound: int
    records: list[Raw] = field(default_factory=list)

    def shown(self) -> WindowJson:
        """Return the partition in the form of the API."""
        offsets = [each.offset for each in self.records]
        return {
            "topic": self.topic,
            "partition": self.partition,
            "earliest": self.ends.earliest,
            "latest": self.ends.latest,
            "first": offsets[0] if offsets else None,
            "last": offsets[-1] if offsets else None,
        }


def around(topic: str, followed: Raw, place: tuple[str, int], *, every: bool) -> list[Window]:
    """Return the partitions of a topic to read, with bounds at the followed record's timestamp.

    `place`: topic and partition of the followed record.
    """
    numbers = [each.id for each in described(topic).partitions]
    numbers = [n for n in numbers if every or n == place[1]]
    ends = ends_of((topic, number) for number in numbers)
    later = offsets_at(topic, numbers, max(followed.timestamp, 0) + 1)
    found = []
    for number in sorted(numbers):
        own = (topic, number) == place
        at = followed.offset if own else later[number]
        each = ends[topic, number]
        bound = each.latest if at is None else min(max(at, each.earliest), each.latest)
        found.append(Window(topic, number, each, bound))
    return found


def read(windows: list[Window], count: int, take: Take, *, backwards: bool) -> None:
    """Add up to `count` records of a topic that lie before the bounds, or after them."""
    if not windows or count == 0:
        return
    by_number = {each.partition: each for each in windows}
    ranges = {
        each.partition: (each.ends.earliest, each.bound)
        if backwards
        else (each.bound, max(each.bound, each.ends.latest))
        for each in windows
    }
    with kafka.failures(), kafka.readers.one() as consumer:
        page = Scan(consumer, windows[0].topic, take).page(ranges, count, backwards=backwards)
    for row in reversed(page.rows) if backwards else page.rows:
        record: Any = row.content
        by_number[record.partition].records.append(record)


def merged(windows: list[Window]) -> Iterator[tuple[Window, Raw]]:
    """Merge the records by timestamp, preserving the order within each partition."""
    lanes = [[(window, record) for record in window.records] for window in windows]
    return heapq.merge(*lanes, key=lambda each: each[1].timestamp)


def one(topic: str, partition: int, offset: int) -> Raw:
    """Return the record at an offset. Raises NotFound."""
    count = len(described(topic).partitions)
    if not 0 <= partition < count:
        raise no_partition(topic, partition, count)
    ends = ends_of([(topic, partition)])[topic, partition]
    window = Window(topic, partition, ends, max(offset, ends.earliest))
    window.ends = Ends(ends.earliest, min(offset + 1, ends.latest))
    read([window], 1, lambda record: record, backwards=False)
    if not window.records:
        raise no_record(topic, partition, offset, ends)
    return window.records[0]


def read_span(
    windows: list[Window], span: batches.Span, followed: tuple[batches.Place, int], left: int
) -> None:
    """Add the records of the span's batches, at most `left`. Raises NoSpan if there are more.

    If no batch has read the followed record yet, also add the unread records up to it.
    """
    place, offset = followed
    processed = bool(span.done) and offset < span.done[-1].offset(place)
    for topic in dict.fromkeys(each.topic for each in windows):
        ranges = {}
        for each in (each for each in windows if each.topic == topic):
            here = (topic, each.partition)
            later = offset + 1 if here == place else each.bound
            end = span.done[-1].offset(here) if processed else later
            low = span.begins.offset(here)
            ranges[each.partition] = (low, max(low, end))
        own = {each.partition: each for each in windows if each.topic == topic}
        with kafka.failures(), kafka.readers.one() as consumer:
            page = Scan(consumer, topic, lambda record: record).page(
                ranges, left + 1, backwards=False
            )
        left -= len(page.rows)
        if left < 0 or page.stopped != Stopped.END:
            raise batches.NoSpan(EmptyBecause.TOO_MANY.value)
        for row in page.rows:
            record: Any = row.content
            own[record.partition].records.append(record)
