"""Queries for the records of a topic, and their answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypedDict

from millrace_backend import kafka
from millrace_backend.errors import ApiError, NotFound

from records.choices import RecordFormat, Start
from records.codecs import Decoded, as_base64, cut, decode
from records.decoding import MOST_DECODED, Reader
from records.expressions import MOST_ASKED, Where
from records.filters import Filter
from records.reading import Page, Raw, Scan, Take
from records.topics import Ends, described, ends_of, offsets_at

#: maximum bytes of a key or a value in the response for a single record
MOST_BYTES = 1_000_000
#: maximum number of headers shown of a record
MOST_HEADERS = 100


class ShownPart(TypedDict):
    """A key, a value or a header's value."""

    format: Annotated[str, "A RecordFormat, or null."]
    text: Annotated[str | None, "Null for null; bytes as hexadecimal digits."]
    size: Annotated[int, "Size in bytes."]
    cut: Annotated[bool, "Whether the text is truncated."]
    error: Annotated[str | None, "Why the bytes could not be read in the selected format."]
    schema_id: Annotated[
        int | None, "Id of a schema registry, if the bytes appear to start with one."
    ]


class ShownHeader(ShownPart):
    """A header."""

    key: str


class ShownRecord(TypedDict):
    """A record of a topic."""

    partition: int
    offset: int
    timestamp: Annotated[int, "Milliseconds since the epoch."]
    log_append_time: Annotated[bool, "Whether the broker set the timestamp."]
    size: Annotated[int, "Size of key and value in bytes."]
    key: ShownPart
    value: ShownPart
    headers: list[ShownHeader]


class RawRecord(ShownRecord):
    """A record with its bytes."""

    raw_key: Annotated[str | None, "Base64; at most a million bytes."]
    raw_value: Annotated[str | None, "Base64; at most a million bytes."]


class RecordPage(TypedDict):
    """Records, with cursors to continue."""

    records: list[ShownRecord]
    scanned: Annotated[int, "Number of records that were read for this response."]
    stopped: Annotated[str, "Why there are no more records."]
    next: Annotated[str, "The cursor of the next page."]
    ends: Annotated[str, "The cursor for records that arrive from now on."]


@dataclass(frozen=True)
class Asked:
    """A query for records: where to begin, in which formats to read, and what to find."""

    start: str = Start.LATEST
    partition: int | None = None
    offset: int = 0
    #: milliseconds since the epoch
    time: int = 0
    limit: int = 50
    key_format: str = RecordFormat.AUTO
    value_format: str = RecordFormat.AUTO
    filter: Filter = field(default_factory=Filter)
    #: formats of a topology's node in the place of those two
    reader: Reader | None = None
    #: an expression that is true for the records to find
    where: Where | None = None
    #: from a previous response: `partition:offset`, separated by commas
    cursor: str = ""


def read_page(topic: str, asked: Asked) -> RecordPage:
    """Return one page of records. Raises ApiError for an invalid partition or cursor."""

    raw: list[Any]
    records: list[ShownRecord]

    def take(record: Raw) -> ShownRecord | None:
        key = decode(record.key, asked.key_format)
        value = decode(record.value, asked.value_format)
        if asked.filter and not asked.filter.accepts(key, value):
            return None
        return shown(record, key, value)

    if asked.where is not None:
        # The expression is evaluated for all records at once, and the page is whatever it accepts.
        page, ends = scanned(topic, replace(asked, limit=MOST_ASKED), lambda record: record)
        raw = [row.content for row in page.rows]
        count = len(raw)
        records = [
            shown(record, key, value)
            for record, key, value in asked.where.accepted(raw)
            if not asked.filter or asked.filter.accepts(key, value)
        ]
    elif asked.reader is None:
        page, ends = scanned(topic, asked, take)
        count = page.scanned
        records = [row.content for row in page.rows]  # type: ignore[misc] # of `take`
    else:
        # Records are decoded at once and filtered afterwards, so the page may not be full.
        page, ends = scanned(topic, replace(asked, limit=MOST_DECODED), lambda record: record)
        raw = [row.content for row in page.rows]
        count = len(raw)
        records = [
            shown(record, key, value)
            for record, (key, value) in zip(raw, asked.reader.decoded(raw), strict=True)
            if not asked.filter or asked.filter.accepts(key, value)
        ]
    return {
        "records": records,
        "scanned": count,
        "stopped": page.stopped.value,
        "next": _cursor(_following(page, ends)),
        "ends": _cursor({number: each.latest for number, each in ends.items()}),
    }


def scanned(topic: str, asked: Asked, take: Take) -> tuple[Page, dict[int, Ends]]:
    """Return a page of the results of `take`, and the ends of the partitions that were read.

    Raises ApiError for an invalid partition or cursor.
    """
    numbers = [each.id for each in described(topic).partitions]
    if asked.partition is not None:
        if asked.partition not in numbers:
            raise no_partition(topic, asked.partition, len(numbers))
        numbers = [asked.partition]
    ends = {number: each for (_, number), each in ends_of((topic, n) for n in numbers).items()}
    backwards = asked.start == Start.LATEST
    ranges = _ranges(topic, asked, ends, backwards=backwards)
    with kafka.failures(), kafka.readers.one() as consumer:
        page = Scan(consumer, topic, take).page(ranges, asked.limit, backwards=backwards)
    return page, ends


def read_one(
    topic: str,
    partition: int,
    offset: int,
    formats: tuple[str, str],
    reader: Reader | None = None,
) -> RawRecord:
    """Return a record with its raw bytes. Raises NotFound if there is none at the offset."""
    count = len(described(topic).partitions)
    if not 0 <= partition < count:
        raise no_partition(topic, partition, count)
    ends = ends_of([(topic, partition)])[topic, partition]
    found: list[Raw] = []

    def take(record: Raw) -> object | None:
        found.append(record)
        return record

    with kafka.failures(), kafka.readers.one() as consumer:
        Scan(consumer, topic, take).page(
            {partition: (max(offset, ends.earliest), min(offset + 1, ends.latest))},
            1,
            backwards=False,
        )
    if not found:
        raise no_record(topic, partition, offset, ends)
    record = found[0]
    if reader is None:
        key, value = decode(record.key, formats[0]), decode(record.value, formats[1])
    else:
        ((key, value),) = reader.decoded([record])
    return {
        **shown(record, key, value, most=MOST_BYTES),
        "raw_key": as_base64(record.key, MOST_BYTES),
        "raw_value": as_base64(record.value, MOST_BYTES),
    }


def shown(record: Raw, key: Decoded, value: Decoded, **most: int) -> ShownRecord:
    """Return a record in the form of the API."""
    return {
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "log_append_time": record.log_append_time,
        "size": key.size + value.size,
        "key": _part(key, **most),
        "value": _part(value, **most),
        "headers": [
            {"key": name, **_part(decode(raw), **most)}
            for name, raw in record.headers[:MOST_HEADERS]
        ],
    }


def _part(decoded: Decoded, **most: int) -> ShownPart:
    text, is_cut = cut(decoded.text, **most)
    return {
        "format": decoded.format,
        "text": text,
        "size": decoded.size,
        "cut": is_cut,
        "error": decoded.error,
        "schema_id": decoded.schema_id,
    }


def _ranges(
    topic: str, asked: Asked, ends: Mapping[int, Ends], *, backwards: bool
) -> dict[int, tuple[int, int]]:
    """Return the offsets left to read in each partition: the first, and the one after the last."""
    begin: dict[int, int | None] = {}
    if asked.cursor:
        begin = dict(_read_cursor(asked.cursor, ends))
    elif asked.start == Start.OFFSET:
        begin = dict.fromkeys(ends, asked.offset)
    elif asked.start == Start.TIME:
        begin = dict(offsets_at(topic, ends, asked.time))
    elif asked.start == Start.EARLIEST:
        begin = {number: each.earliest for number, each in ends.items()}
    ranges = {}
    for number, each in ends.items():
        at = begin.get(number)
        at = each.latest if at is None else min(max(at, each.earliest), each.latest)
        ranges[number] = (each.earliest, at) if backwards else (at, each.latest)
    return ranges


def _following(page: Page, ends: Mapping[int, Ends]) -> dict[int, int]:
    return {number: page.next.get(number, each.latest) for number, each in ends.items()}


def _cursor(offsets: Mapping[int, int]) -> str:
    return ",".join(f"{number}:{offset}" for number, offset in sorted(offsets.items()))


def _read_cursor(text: str, ends: Iterable[int]) -> dict[int, int]:
    """Return the offsets of a cursor. Partitions that were added since are not in it."""
    known, found = set(ends), {}
    for pair in text.split(","):
        number, _, offset = pair.partition(":")
        if not (_is_number(number) and _is_number(offset)):
            raise ApiError(
                "invalid",
                "“cursor” is not a position in a topic.",
                "Send “next” or “ends” of a previous response, or omit it.",
                fields={"cursor": ["Not a position in a topic."]},
            )
        if int(number) in known:
            found[int(number)] = int(offset)
    return found


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def no_record(topic: str, partition: int, offset: int, ends: Ends) -> NotFound:
    """The error about an offset without a record."""
    return NotFound(
        "no_such_record",
        f"Partition {partition} of {topic} has no record at offset {offset}.",
        f"It has offsets from {ends.earliest} to {ends.latest - 1}; records in between may "
        "have been compacted away or belong to an aborted transaction."
        if ends.latest > ends.earliest
        else "It is empty now: its records were deleted or have expired.",
    )


def no_partition(topic: str, partition: int, count: int) -> NotFound:
    """The error about a partition that a topic does not have."""
    return NotFound(
        "no_such_partition",
        f"{topic} has no partition {partition}.",
        f"It has {count}, counted from 0.",
    )
