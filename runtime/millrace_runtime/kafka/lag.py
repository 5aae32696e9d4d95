"""The lag of a job behind its topics, and records that the broker deleted before it read them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from millrace_model.events import LostRecords

Place = tuple[str, int]
# The offsets of topic-partitions on the broker: the earliest one, and that of the next record.
Held = dict[Place, tuple[int, int]]


@dataclass
class _Reading:
    """A topic-partition that is read from `begin` up to `reached`, exclusive.

    `absent`: offsets in between without a record, `lost`: those of them that the broker deleted.
    """

    begin: int
    reached: int
    absent: int = 0
    lost: int = 0


class Offsets:
    """The topic-partitions of one run of a query. `ask` queries the broker; it may raise."""

    def __init__(self, ask: Callable[[list[Place]], Held]) -> None:
        self._ask = ask
        self._held: Held = {}
        self._readings: dict[Place, _Reading] = {}
        self._given: dict[Place, int] = {}

    def give_up(self, place: Place, begin: int, records: int) -> None:
        """Note records that a start skipped: the topic-partition is read from `begin` on."""
        if records:
            self._given[place] = self._given.get(place, 0) + records
        now = self._readings.get(place)
        if now is not None and begin > now.reached:
            now.absent += begin - now.reached
            now.reached = begin

    def look(self, sources: Iterable[Any], first: Iterable[Any], tasks: list[Any]) -> list[str]:
        """Compare what was read with what the broker has; return a sentence for each new loss.

        `sources`, `first`: the sources in the newest and in the first progress of the run, fetched
        before the `tasks` of the statistics.
        """
        read, ends = _read(tasks), bounds(sources, "endOffset")
        try:
            self._held = self._ask(sorted({*read, *ends}))
        except Exception:  # noqa: BLE001 - without the broker, nothing is known
            self._held = {}
            return []
        begins = bounds(first, "startOffset")
        sentences = [
            self._lost(each, begins, ends, read.get(each, (-1, 0))) for each in sorted(ends)
        ]
        return [sentence for sentence in sentences if sentence]

    def _lost(
        self, place: Place, begins: dict[Place, int], ends: dict[Place, int], read: tuple[int, int]
    ) -> str | None:
        """Return a sentence about the records of a topic-partition lost since the last look.

        Transactions and compaction leave offsets without a record, too. Only offsets before the
        earliest record of the broker are known to have been deleted.
        """
        offset, records = read
        reached = max(offset + 1, ends[place])
        begin = min(begins.get(place, reached), reached - records)
        now = self._readings.setdefault(place, _Reading(begin, begin))
        absent = reached - now.begin - records
        gone = min(self._held[place][0], reached) - now.reached
        lost = max(0, min(absent - now.absent, gone))
        before, now.absent, now.reached = now.reached, absent, reached
        now.lost += lost
        if not lost:
            return None
        records_of = "1 record of" if lost == 1 else f"{lost:,} records of"
        return (
            f"{records_of} {place[0]}-{place[1]} lost: the broker deleted them before they were "
            f"read, between the offsets {before} and {before + gone - 1}. Check the topic's "
            "retention."
        )

    @property
    def lost(self) -> list[LostRecords]:
        """The topic-partitions that lost records since the run began, and the number of these."""
        lost = dict(self._given)
        for place, each in self._readings.items():
            lost[place] = lost.get(place, 0) + each.lost
        return [
            {"topic": topic, "partition": partition, "records": records}
            for (topic, partition), records in sorted(lost.items())
            if records
        ]

    def complete(self, tasks: Iterable[Any]) -> None:
        """Add end and lag to the tasks' topic-partitions; None if they are not known."""
        for place in (place for task in tasks for place in task["topic_partitions"]):
            held = self._held.get((place["topic"], place["partition"]))
            done = place["offset"] + 1
            place["end_offset"] = None if held is None else max(held[1], done)
            place["lag"] = None if held is None else max(0, held[1] - done)


def bounds(sources: Iterable[Any], name: str) -> dict[Place, int]:
    """Return the offsets of this name by topic-partition, from the Kafka sources of a progress."""
    found: dict[Place, int] = {}
    for source in sources:
        offsets = source.get(name)
        if isinstance(offsets, str):
            with contextlib.suppress(ValueError):
                offsets = json.loads(offsets)
        if not isinstance(offsets, dict):
            continue
        for topic, partitions in offsets.items():
            if isinstance(partitions, dict):
                for partition, offset in partitions.items():
                    place = (topic, int(partition))
                    found[place] = max(found.get(place, 0), int(offset))
    return found


def _read(tasks: Iterable[Any]) -> dict[Place, tuple[int, int]]:
    """Return last offset and record count by topic-partition, of the task that has read most."""
    found: dict[Place, tuple[int, int]] = {}
    for each in (each for task in tasks for each in task["topic_partitions"]):
        place = (each["topic"], each["partition"])
        found[place] = max(found.get(place, (-1, 0)), (each["offset"], each["read"]))
    return found
