"""Offsets of a checkpoint that the broker no longer has, found before a query starts.

Retention has deleted the next records, a topic was deleted and recreated (its id has changed), or
the checkpoint itself is missing. A setting decides what happens: `fail` refuses the start,
`earliest` and `latest` continue at the first record or at the end, as Kafka's `auto.offset.reset`.
Spark itself fails a batch that would skip records, so that a loss while the job runs is handled
here as well. The ids of the topics are noted beside the checkpoint (`NOTES`), after its offsets.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypedDict

from millrace_model.reading import read

from millrace_runtime.checkpoint.files import Places
from millrace_runtime.checkpoint.moving import Read, last_batch
from millrace_runtime.checkpoint.storage import Place, matching, write_whole
from millrace_runtime.errors import MillraceError
from millrace_runtime.kafka import topics

CHOICES = ("fail", "earliest", "latest")
#: file with the ids of the topics to which the offsets of the checkpoint belong
NOTES = "topics.json"
#: codes of the refusals, after which another start would fail in the same way
CODES = ("offsets_lost", "topic_recreated", "checkpoint_gone")
#: maximum number of topic-partitions that a message lists; the others are counted
NAMED = 5

Ranges = Mapping[str, Mapping[str, tuple[int, int]]]


class Dropped(TypedDict):
    """Offsets of topics that a start no longer read, after the batch `after`; by source."""

    after: str
    lines: list[Places]


class TopicNotes(TypedDict, total=False):
    """The ids of topics by name, and offsets that were taken out of the log."""

    ids: dict[str, str]
    dropped: Dropped


@dataclasses.dataclass(frozen=True)
class Loss:
    """A topic-partition whose next offset is lost. `earliest`, `end`: what the broker has."""

    topic: str
    partition: int
    offset: int
    earliest: int
    end: int
    recreated: bool

    def lost(self, choice: str) -> int:
        """Return the number of records that the choice, earliest or latest, skips.

        For a recreated topic, only its own records are known.
        """
        before = self.earliest if self.recreated else min(self.offset, self.end)
        return max(0, self.begin(choice) - before)

    def begin(self, choice: str) -> int:
        """Return the next offset if the choice is earliest or latest."""
        return self.earliest if choice == "earliest" else self.end

    def __str__(self) -> str:
        place = f"{self.topic}-{self.partition}"
        has = f"the broker has {self.earliest} to {self.end}, which is the end"
        if self.recreated:
            return f"{place}: {has}; {self.offset} was the next offset of the topic before"
        return f"{place}: the next offset is {self.offset}, {has}"


@dataclasses.dataclass(frozen=True)
class Settled:
    """The losses that were found. `changed`: whether the offsets were changed."""

    losses: Sequence[Loss] = ()
    changed: bool = False


def settle(
    session: Any,
    client: Mapping[str, str],
    folder: Place,
    stream: Place,
    reads: Sequence[Read],
    choice: str,
    node_of: Callable[[str], str | None] = lambda _: None,
) -> Settled:
    """Compare the offsets of a query's checkpoint with the broker, and replace lost ones.

    `folder`: the job's checkpoint; `stream`: the query's in it; `reads`: its Kafka sources in
    order; `node_of`: the node that reads a topic. Raises MillraceError `offsets_lost` or
    `topic_recreated` if the choice is `fail`.
    """
    names = [
        list(dict.fromkeys([*read.topics, *_matching(session, client, read.patterns)]))
        for read in reads
    ]
    every = sorted({name for read in names for name in read})
    ids = topics.identities(session, client, every)
    noted = _noted(folder)
    known = noted.get("ids", {})
    log = Log(stream)
    lines = log.begins()
    found = Settled()
    if lines:
        dropped = noted.get("dropped")
        left = dropped["lines"] if dropped is not None and dropped["after"] == log.after else []
        nothing: Places = {}
        lines = [{**before, **line} for line, before in zip_longest(lines, left, fillvalue=nothing)]
        others = {name for name in ids if known.get(name, ids[name]) != ids[name]}
        held = topics.ranges(session, client, [name for name in every if name in ids])
        wanted = [
            _Source(line, read, each, held, others).settled(choice)
            for line, read, each in zip(lines, reads, names, strict=False)
        ]
        losses = {place: loss for _, lost in wanted for place, loss in lost.items()}
        # The remaining sources are DataFrames, which keep their offsets.
        wanted += [(line, {}) for line in lines[len(reads) :]]
        found = Settled(
            [losses[each] for each in sorted(losses)],
            [places for places, _ in wanted] != log.begins(),
        )
        if losses and choice == "fail":
            raise _refusal(found.losses, node_of)
        if found.changed:
            unread = [
                {name: line[name] for name in line.keys() - set(read)}
                for line, read in zip(lines, names, strict=False)
            ]
            noted["dropped"] = {"after": log.after, "lines": unread}
            _note(folder, noted)
            log.change(
                [places for places, _ in wanted], held, {each[0] for each in losses} & others
            )
    if {**known, **ids} != known:
        _note(folder, {**noted, "ids": {**known, **ids}})
    return found


@dataclasses.dataclass(frozen=True)
class _Source:
    """A Kafka source: where it continues, what it reads, and what the broker has.

    `others`: topics that were deleted and recreated.
    """

    line: Places
    read: Read
    names: Sequence[str]
    held: Ranges
    others: set[str]

    def settled(self, choice: str) -> tuple[Places, dict[tuple[str, int], Loss]]:
        """Return the corrected offsets, and the losses by topic and partition."""
        wanted: Places = {}
        losses: dict[tuple[str, int], Loss] = {}
        for topic in self.names:
            before = self.line.get(topic, {})
            for number, ends in self.held.get(topic, {}).items():
                offset = before.get(number)
                other = topic in self.others and bool(before)
                if other or (offset is not None and not ends[0] <= offset <= ends[1]):
                    loss = Loss(topic, int(number), offset or 0, *ends, recreated=other)
                    losses[topic, int(number)] = loss
                    offset = ends[1] if choice == "latest" else ends[0]
                elif offset is None and ends[0] > 0:
                    # Spark would report a loss if a new partition does not begin with 0.
                    offset = ends[0]
                if offset is not None:
                    wanted.setdefault(topic, {})[number] = offset
            for number in before.keys() - self.held.get(topic, {}).keys():
                losses[topic, int(number)] = self._gone(topic, number)
        for topic in self.line.keys() - set(self.names):
            if any(_matches(pattern, topic) for pattern in self.read.patterns):
                losses |= {(topic, int(n)): self._gone(topic, n) for n in self.line[topic]}
        return wanted, losses

    def _gone(self, topic: str, number: str) -> Loss:
        return Loss(topic, int(number), self.line[topic][number], 0, 0, recreated=True)


class Log:
    """The offsets at which a query continues, and those of a batch begun but not completed."""

    def __init__(self, stream: Place) -> None:
        done = last_batch(stream)
        unfinished = stream / "offsets" / str(0 if done is None else done + 1)
        self._unfinished = unfinished if unfinished.exists() else None
        first = sorted(matching(stream, "sources/*/0"), key=lambda file: int(file.parent.name))
        self._files = first if done is None else [stream / "offsets" / str(done)]
        #: the batch after which these offsets hold
        self.after = f"{stream.name}/{done}"

    def begins(self) -> list[Places]:
        """Return the next offsets of each Kafka source, in the order of the sources."""
        return [places for file in self._files for places in _read(file) if places is not None]

    def change(self, wanted: Sequence[Places], held: Ranges, others: set[str]) -> None:
        """Change the next offsets, after the end offsets of an unfinished batch.

        In topic-partitions whose position changes, that batch reads from there up to its old end.
        """
        if self._unfinished is not None:
            before = self.begins()

            def ends_of(number: int, ends: Places) -> Places:
                return {
                    topic: {
                        each: _end(
                            offset,
                            ends.get(topic, {}).get(each, offset),
                            None if topic in others else held[topic][each][1],
                            moved=before[number].get(topic, {}).get(each) != offset,
                        )
                        for each, offset in partitions.items()
                    }
                    for topic, partitions in wanted[number].items()
                }

            _rewrite([self._unfinished], ends_of)
        _rewrite(self._files, lambda number, _: wanted[number])


def _end(offset: int, end: int, held: int | None, *, moved: bool) -> int:
    if not moved:
        return end
    return offset if held is None else max(offset, min(end, held))


def summary(settled: Settled, choice: str) -> str:
    """Return a sentence for the log about the losses."""
    lost = sum(each.lost(choice) for each in settled.losses)
    at = "the first available records" if choice == "earliest" else "the ends of the partitions"
    return (
        f"Offsets were lost, and the job continues at {at}: {lost:,} records are not read. "
        f"{_listed(settled.losses)}"
    )


def checkpoint_gone(folder: Place, held: Ranges, choice: str) -> str:
    """Return a sentence for the log about the consequences of a missing checkpoint.

    Raises MillraceError `checkpoint_gone` if the choice is `fail`.
    """
    ends = [each for partitions in held.values() for each in partitions.values()]
    there = sum(end - earliest for earliest, end in ends)
    deleted = sum(earliest for earliest, _ in ends)
    if choice == "fail":
        raise MillraceError(
            "checkpoint_gone",
            f"The checkpoint in {folder} is missing, with the stores and offsets of this "
            f"deployment. Restore it, or start with empty stores: “earliest” reads the {there:,} "
            f"records in the topics again, without {deleted:,} deleted ones; “latest” skips all "
            "of them. Choose one in the setting for lost offsets, or reset the stores.",
            facts={"there": f"{there:,}", "deleted": f"{deleted:,}"},
        )
    if choice == "earliest":
        return (
            f"The checkpoint was missing: the job starts with empty stores and reads {there:,} "
            f"records again; {deleted:,} deleted records are lost."
        )
    return (
        f"The checkpoint was missing: the job starts with empty stores and skips {there:,} "
        "records in the topics."
    )


def recreated(broker: Any, folder: Place) -> bool:
    """Whether a topic was recreated since the query began, so that its offsets are meaningless.

    `broker`: the operator's `TopicOffsets`.
    """
    known = _noted(folder).get("ids", {})
    ids: dict[str, str] = json.loads(broker.ids(json.dumps(sorted(known))))
    return any(ids.get(name, known[name]) != known[name] for name in known)


def _refusal(losses: Sequence[Loss], node_of: Callable[[str], str | None]) -> MillraceError:
    again = sorted({each.topic for each in losses if each.recreated})
    earliest, latest = (
        sum(each.lost(choice) for each in losses) for choice in ("earliest", "latest")
    )
    if again:
        names = ", ".join(again)
        return MillraceError(
            "topic_recreated",
            f"Deleted or recreated since the job read it: {names}. Unread records of the old "
            f"topic are lost. “earliest” reads all of the new topic and loses {earliest:,} "
            f"records of other topics; “latest” skips {latest:,} records. {_listed(losses)} "
            "Choose one in the setting for lost offsets, or start from other offsets.",
            node=node_of(again[0]),
            facts={"topics": names, "earliest": f"{earliest:,}", "latest": f"{latest:,}"},
        )
    return MillraceError(
        "offsets_lost",
        f"The broker no longer has the next records: with “earliest” {earliest:,} records are "
        f"lost, with “latest” {latest:,}. {_listed(losses)} Choose one in the setting for lost "
        "offsets, or start from other offsets.",
        node=node_of(losses[0].topic),
        facts={"earliest": f"{earliest:,}", "latest": f"{latest:,}"},
    )


def _listed(losses: Sequence[Loss]) -> str:
    more = f"; and {len(losses) - NAMED} more" if len(losses) > NAMED else ""
    return "; ".join(str(each) for each in losses[:NAMED]) + more + "."


def _matching(session: Any, client: Mapping[str, str], patterns: Iterable[str]) -> list[str]:
    matched: dict[str, int] = {}
    for pattern in patterns:
        matched |= topics.matching(session, dict(client), pattern)
    return [name for name in matched if not name.startswith("__")]


def _matches(pattern: str, topic: str) -> bool:
    try:
        return re.fullmatch(pattern, topic) is not None
    except re.error:  # a pattern that only Java supports
        return True


def _head(file: Place) -> int:
    """Return the number of lines that Spark writes before the first source."""
    return 2 if file.parent.name == "offsets" else 1


def _read(file: Place) -> list[Places | None]:
    """Return the offsets of each source in a log entry; None for sources other than Kafka."""
    lines = file.read_text(encoding="utf-8").split("\n")[_head(file) :]
    return [_places(line) for line in lines]


def _places(line: str) -> Places | None:
    read = json.loads(line) if line.lstrip().startswith("{") else None
    if not isinstance(read, dict) or not all(isinstance(each, dict) for each in read.values()):
        return None
    return read


def _rewrite(files: Iterable[Place], change: Callable[[int, Places], Places]) -> None:
    number = 0
    for file in files:
        lines = file.read_text(encoding="utf-8").split("\n")
        for at, line in enumerate(lines[_head(file) :], _head(file)):
            before = _places(line)
            if before is not None:
                lines[at] = json.dumps(change(number, before), separators=(",", ":"))
                number += 1
        write_whole(file, "\n".join(lines))
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _note(folder: Place, noted: TopicNotes) -> None:
    write_whole(folder / NOTES, json.dumps(noted, indent=1))


def _noted(folder: Place) -> TopicNotes:
    try:
        return read(TopicNotes, json.loads((folder / NOTES).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return {}
