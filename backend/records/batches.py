"""Where a simulation of a followed record can begin: after a micro-batch of the deployment.

The checkpoint has the state of the last micro-batches, and the offsets at which each ended. From
one of them on, the simulation gets whole micro-batches, in the order in which the job took them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from deployments.models import Deployment
from topologies import simulating

#: topic and partition
Place = tuple[str, int]


@dataclass(frozen=True)
class Batch:
    """A committed micro-batch: `places` has the offsets of the records to come; `at` in ms."""

    number: int
    at: int
    places: Mapping[str, Mapping[str, int]]

    def offset(self, place: Place) -> int:
        """Where the batch ended in a partition; 0 for one that it did not know."""
        return int(self.places.get(place[0], {}).get(str(place[1]), 0))

    def covers(self, earliest: Mapping[Place, int]) -> bool:
        """Whether the broker still has all records that came after it."""
        return all(self.offset(place) >= offset for place, offset in earliest.items())


@dataclass(frozen=True)
class Checkpoint:
    """What is known of a deployment's checkpoint. `clock`: processors see the wall clock."""

    batches: Sequence[Batch]
    subtopologies: Mapping[str, int]
    clock: bool

    def tasks(self, partition: int) -> list[int]:
        """The tasks that read a partition's number."""
        return sorted({partition % number for number in self.subtopologies.values()})


def checkpoint_of(deployment: Deployment, person: User) -> Checkpoint | None:
    """Its last micro-batches; None while the process that reads them is starting.

    Those that an earlier version ran are left out, but for the last one, whose state the version
    took over. Raises Conflict where there is no checkpoint or it cannot be read.
    """
    found = asked(deployment, person, "read_batches")
    if found is None:
        return None
    began = _began(deployment)
    batches = [Batch(each["batch"], each["at"], each["places"]) for each in found["batches"]]
    before = [batch for batch in batches if batch.at < began]
    return Checkpoint(
        [*before[-1:], *(batch for batch in batches if batch.at >= began)],
        found["subtopologies"] or {},
        bool(found["clock"]),
    )


def asked(deployment: Deployment, person: User, do: str, **more: Any) -> dict[str, Any] | None:
    """What the process that reads stores answers; None while it is starting."""
    answer = simulating.ask(
        {
            "do": do,
            "owner": f"stores of person {person.pk}",
            "checkpoint": deployment.state_location or str(deployment.directory / "checkpoint"),
            **more,
        },
        reader=True,
    )
    return None if answer.get("state") == "starting" else answer


def _began(deployment: Deployment) -> int:
    """When the first of the last runs began that all ran the same version, in ms."""
    first = None
    for run in deployment.runs.all()[:200]:
        if first is not None and run.version_id != first.version_id:
            break
        first = run
    return 0 if first is None else int(first.started_at.timestamp() * 1000)


@dataclass(frozen=True)
class Span:
    """The batch after which a simulation begins, and those of which it gets the records.

    `done`: the batches that come, in their order; records after the last of them have not been
    processed yet.
    """

    begins: Batch
    done: Sequence[Batch]

    def turn(self, place: Place, offset: int) -> int:
        """The index of the batch that took a record; one more than the last for others."""
        return next((n for n, batch in enumerate(self.done) if offset < batch.offset(place)),
                    len(self.done))  # fmt: skip


class NoSpan(Exception):
    """There is none; `because` is one of EmptyBecause."""

    def __init__(self, because: str) -> None:
        super().__init__(because)
        self.because = because


def chosen(
    batches: Sequence[Batch],
    followed: tuple[Place, int],
    earliest: Mapping[Place, int],
    *,
    before: int,
    after: int,
    most: int,
) -> Span:
    """Where to begin, so that about `before` records come before the batch of the followed one.

    `earliest`: of each partition that is read, the broker's first offset. `after`: records of later
    batches, at most; `most`: of all. Raises NoSpan.
    """
    place, offset = followed
    usable = [batch for batch in batches if batch.covers(earliest)]
    at = max((n for n, batch in enumerate(usable) if batch.offset(place) <= offset), default=None)
    if at is None:
        raise NoSpan("too_old")

    def between(a: Batch, b: Batch) -> int:
        return sum(max(0, b.offset(each) - a.offset(each)) for each in earliest)

    # Of a record that no batch has taken yet, the last batch is the nearest.
    ends = min(at + 1, len(usable) - 1)
    own = between(usable[at], usable[ends])
    if own > most:
        raise NoSpan("too_many")
    begins = at
    while begins > 0 and between(usable[begins - 1], usable[at]) <= min(before, most - own):
        begins -= 1
    last, total = ends, between(usable[begins], usable[ends])
    while last + 1 < len(usable) and (
        between(usable[ends], usable[last + 1]) <= min(after, most - total)
    ):
        last += 1
    return Span(usable[begins], usable[begins + 1 : last + 1])


def in_order(span: Span, records: Iterable[tuple[Place, int, int, Any]]) -> list[tuple[int, Any]]:
    """Records as the job took them, each with its batch's index.

    `records`: of each partition in its order, with place, offset and timestamp. Within a batch the
    running maximum of a partition's timestamps decides, then topic, partition and offset.
    """
    keys = []
    highest: dict[tuple[Place, int], int] = {}
    for place, offset, timestamp, record in records:
        turn = span.turn(place, offset)
        merge = max(timestamp, highest.get((place, turn), timestamp))
        highest[place, turn] = merge
        keys.append(((turn, merge, *place, offset), record))
    keys.sort(key=lambda each: each[0])
    return [(key[0], record) for key, record in keys]


def states(
    deployment: Deployment, person: User, batch: int, tasks: Sequence[int] | None
) -> dict[str, Any] | None:
    """What a simulation begins with, for `simulating.simulated`; None while it is starting."""
    return asked(deployment, person, "read_task_states", batch=batch, tasks=tasks)
