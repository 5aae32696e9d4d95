"""Another starting point for a job that ran before: empty stores or other offsets.

A request is applied once: the checkpoint notes its id (`begun` in stores.json), and a start with an
id that is noted there continues as any other start does. The previous checkpoint is only read and
stays in its folder (`kept` in stores.json).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

from millrace_model.notes import Notes

from millrace_runtime.checkpoint.files import Places, places_in
from millrace_runtime.checkpoint.storage import Place, matching
from millrace_runtime.errors import MillraceError
from millrace_runtime.kafka import topics

#: `stopped`: where the last run stopped; `sources`: each source's start setting, as in a first run.
FROM = ("stopped", "sources", "earliest", "latest", "time", "offsets")


@dataclasses.dataclass(frozen=True)
class Beginning:
    """How a start differs from one that continues.

    `reset`: all stores are empty, and stream time is unknown. `at`: one of `FROM`. `time`: in ms
    since the epoch; reading begins at the first record with this timestamp or a later one.
    `offsets`: if `at` is `offsets`; other topic-partitions continue where they stopped.
    """

    id: str
    reset: bool = False
    at: str = "stopped"
    time: int | None = None
    offsets: Places = dataclasses.field(default_factory=dict)


def beginning_of(text: str | None) -> Beginning | None:
    """Parse a request: `{"id", "reset", "from", "time", "offsets"}`; all fields are optional.

    `id` defaults to the text itself. Raises MillraceError `option_invalid`.
    """
    if text is None:
        return None
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict) or given.keys() - {"id", "reset", "from", "time", "offsets"}:
        raise _invalid(text)
    found = Beginning(
        id=str(given.get("id", text)),
        reset=given.get("reset", False),
        at=given.get("from", "stopped"),
        time=given.get("time"),
        offsets=given.get("offsets") or {},
    )
    fits = isinstance(found.reset, bool) and found.at in FROM
    fits &= isinstance(found.time, int) if found.at == "time" else found.time is None
    fits &= _are_offsets(found.offsets) and bool(found.offsets) == (found.at == "offsets")
    if not fits:
        raise _invalid(text)
    return found


def _are_offsets(given: Any) -> bool:
    return isinstance(given, dict) and all(
        isinstance(partitions, dict)
        and all(str(p).isdecimal() and type(o) is int and o >= 0 for p, o in partitions.items())
        for partitions in given.values()
    )


def _invalid(text: str) -> MillraceError:
    return MillraceError(
        "option_invalid",
        '--begin must be JSON such as {"reset": true} or {"from": "earliest"}, '
        '{"from": "latest"}, {"from": "sources"}, {"from": "time", "time": 1700000000000} or '
        f'{{"from": "offsets", "offsets": {{"orders": {{"0": 12}}}}}}, found {text!r}.',
    )


def due(beginning: Beginning | None, notes: Notes) -> bool:
    """Whether a request has not yet been applied to a checkpoint with these notes."""
    return beginning is not None and notes.get("begun") != beginning.id


def stopped_at(stream: Place, batch: int | None) -> Places:
    """Return where a query stopped: after its last batch, or where it began if there is none."""
    if batch is not None:
        return places_in(stream / "offsets" / str(batch))
    found: Places = {}
    for file in sorted(matching(stream, "sources/*/0"), key=str):
        found |= places_in(file, head=1)
    return found


@dataclasses.dataclass
class Beginner:
    """Finds the offsets at which a job begins. `client`: Kafka client settings.

    `stopped`: where the previous run stopped; `whole`: topics of global tables; `start`: overrides
    the start setting of the sources, for topics without an offset.
    """

    session: Any
    client: Mapping[str, str]
    beginning: Beginning
    stopped: Places
    whole: frozenset[str]
    start: str | None

    @property
    def continues(self) -> bool:
        """Whether topic-partitions without a requested offset continue where they stopped."""
        return self.beginning.at in ("stopped", "offsets")

    def places(self, names: Iterable[str], pattern: str | None, start: str) -> Places:
        """Return the first offset of every topic-partition of one source.

        `names`, `pattern`: the topics that it reads; `start`: the start setting of the source.
        Raises MillraceError `offset_out_of_range` and `partition_missing` for requested offsets
        that the broker does not have.
        """
        client = dict(self.client)
        read = dict.fromkeys(names)
        if pattern:
            found = topics.matching(self.session, client, pattern)
            # Kafka's internal topics are never input of a topology.
            read |= dict.fromkeys(name for name in found if not name.startswith("__"))
        held = topics.ranges(self.session, client, list(read))
        timed: Places = {}
        if self.beginning.at == "time" and self.beginning.time is not None:
            timed = topics.at_time(self.session, client, held, self.beginning.time)
        self._require_given(held)
        return {
            topic: {
                number: self._place(topic, number, ends, timed, self.start or start)
                for number, ends in partitions.items()
            }
            for topic, partitions in held.items()
        }

    def _place(
        self, topic: str, number: str, held: tuple[int, int], timed: Places, start: str
    ) -> int:
        first, end = held
        known = self.stopped.get(topic)
        # Partitions that were added since then are read from their beginning.
        stopped = None if known is None else known.get(number, first)
        if topic in self.whole:
            return first if self.beginning.reset or stopped is None else stopped
        by_source = end if start == "latest" else first
        match self.beginning.at:
            case "earliest":
                return first
            case "latest":
                return end
            case "sources":
                return by_source
            case "time":
                return timed[topic].get(number, end)
        given = self.beginning.offsets.get(topic, {}).get(number)
        if given is not None:
            return given
        return by_source if stopped is None else stopped

    def _require_given(self, held: Mapping[str, Mapping[str, tuple[int, int]]]) -> None:
        for topic, partitions in self.beginning.offsets.items():
            for number, offset in partitions.items():
                if topic not in held:
                    continue  # read by another source, or by none, which `require_read` reports
                ends = held[topic].get(number)
                if ends is None:
                    raise MillraceError(
                        "partition_missing",
                        f"The topic {topic} has no partition {number}: its partitions are 0 to "
                        f"{len(held[topic]) - 1}.",
                        facts={"topic": topic, "partition": number, "last": len(held[topic]) - 1},
                    )
                if not ends[0] <= offset <= ends[1]:
                    raise MillraceError(
                        "offset_out_of_range",
                        f"{topic}-{number} has no offset {offset}: the broker has {ends[0]} to "
                        f"{ends[1]}, which is the end.",
                        facts={
                            "topic": topic,
                            "partition": number,
                            "earliest": ends[0],
                            "latest": ends[1],
                        },
                    )


def require_read(beginning: Beginning, names: Iterable[str], *, pattern: bool) -> None:
    """Raise MillraceError `topic_not_read` for offsets of a topic that the job does not read.

    `pattern`: whether the job also reads topics by a pattern, which are not checked.
    """
    unknown = sorted(beginning.offsets.keys() - set(names))
    if unknown and not pattern:
        raise MillraceError(
            "topic_not_read",
            f"Offsets are set for {', '.join(unknown)}, which the job does not read.",
        )
