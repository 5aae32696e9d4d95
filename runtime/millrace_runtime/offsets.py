"""How far a job is from the ends of its topics, and what the broker deleted before it was read."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Place = tuple[str, int]
# What the broker holds of topic-partitions: the earliest offset, and that of the record to come.
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
    """The topic-partitions of one run of a query. `ask` asks the broker; it may raise."""

    def __init__(self, ask: Callable[[list[Place]], Held]) -> None:
        self._ask = ask
        self._held: Held = {}
        self._readings: dict[Place, _Reading] = {}
        self._given: dict[Place, int] = {}

    def give_up(self, place: Place, begin: int, records: int) -> None:
        """Note records that a start left out: the topic-partition is read from `begin` on."""
        if records:
            self._given[place] = self._given.get(place, 0) + records
        now = self._readings.get(place)
        if now is not None and begin > now.reached:
            now.absent += begin - now.reached
            now.reached = begin

    def look(self, sources: Iterable[Any], first: Iterable[Any], tasks: list[Any]) -> list[str]:
        """Compare what was read with what the broker holds; a sentence for each new loss.

        `sources` and `first`: those of the newest and of the run's first progress, taken before
        the `tasks` of the statistics.
        """
        read, ends = _read(tasks), bounds(sources, "endOffset")
        try:
            self._held = self._ask(sorted({*read, *ends}))
        except Exception:  # noqa: BLE001 - of a broker that is away nothing is known
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
        """What was lost of a topic-partition since the last look.

        Transactions and compaction leave offsets without a record too; only of what lies before
        the earliest record there is it known that it was deleted.
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
            f"{records_of} {place[0]}-{place[1]} lost: the broker had deleted them, between the "
            f"offsets {before} and {before + gone - 1}, before they were read. Check the topic's "
            "retention."
        )

    @property
    def lost(self) -> list[dict[str, Any]]:
        """The topic-partitions of which records were lost since the run began, and how many."""
        lost = dict(self._given)
        for place, each in self._readings.items():
            lost[place] = lost.get(place, 0) + each.lost
        return [
            {"topic": topic, "partition": partition, "records": records}
            for (topic, partition), records in sorted(lost.items())
            if records
        ]

    def complete(self, tasks: Iterable[Any]) -> None:
        """Add end and lag to the tasks' topic-partitions; None where they are not known."""
        for place in (place for task in tasks for place in task["topic_partitions"]):
            held = self._held.get((place["topic"], place["partition"]))
            done = place["offset"] + 1
            place["end_offset"] = None if held is None else max(held[1], done)
            place["lag"] = None if held is None else max(0, held[1] - done)


def bounds(sources: Iterable[Any], name: str) -> dict[Place, int]:
    """The offsets of that name, per topic-partition, in the Kafka sources of a progress."""
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
    """Per topic-partition the last offset and the records read: of the task that has read most."""
    found: dict[Place, tuple[int, int]] = {}
    for each in (each for task in tasks for each in task["topic_partitions"]):
        place = (each["topic"], each["partition"])
        found[place] = max(found.get(place, (-1, 0)), (each["offset"], each["read"]))
    return found
