"""The micro-batches of a deployment after which a followed record's simulation can begin.

The checkpoint has the state of the last micro-batches and the offsets at which each ended. From one
of them on, the simulation gets whole micro-batches, in the order in which the job read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from deployments.models import Deployment
from millrace_model.reads import TaskStates
from topologies import simulating

#: topic and partition
Place = tuple[str, int]


@dataclass(frozen=True)
class Batch:
    """A committed micro-batch.

    `at`: when it was planned, in ms. `places`: the offset after its last record, by topic and
    partition.
    """

    number: int
    at: int
    places: Mapping[str, Mapping[str, int]]

    def offset(self, place: Place) -> int:
        """Return the offset at which the batch ended in a partition, or 0 for an unknown one."""
        return int(self.places.get(place[0], {}).get(str(place[1]), 0))

    def covers(self, earliest: Mapping[Place, int]) -> bool:
        """Return whether the broker still has all records after the batch."""
        return all(self.offset(place) >= offset for place, offset in earliest.items())


@dataclass(frozen=True)
class Checkpoint:
    """The batches of a deployment's checkpoint. `clock`: whether processors read the wall clock."""

    batches: Sequence[Batch]
    subtopologies: Mapping[str, int]
    clock: bool

    def tasks(self, partition: int) -> list[int]:
        """Return the tasks that read the partitions with this number."""
        return sorted({partition % number for number in self.subtopologies.values()})


def checkpoint_of(deployment: Deployment, person: User) -> Checkpoint | None:
    """Return the checkpoint's last micro-batches, or None while the store reader is starting.

    Of the batches that an earlier version ran, only the last is included, whose state the current
    version took over. Raises Conflict if there is no checkpoint or it cannot be read.
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


def asked(deployment: Deployment, person: User, do: str, **more: Any) -> Any:
    """Return the store reader's answer, or None while it is starting."""
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
    """Return when the latest series of runs of one version began, in ms since the epoch."""
    first = None
    for run in deployment.runs.all()[:200]:
        if first is not None and run.version_id != first.version_id:
            break
        first = run
    return 0 if first is None else int(first.started_at.timestamp() * 1000)


@dataclass(frozen=True)
class Span:
    """The batch after which a simulation begins, and the batches whose records it gets.

    `done`: those batches in order. Records after the last of them have not been processed yet.
    """

    begins: Batch
    done: Sequence[Batch]

    def turn(self, place: Place, offset: int) -> int:
        """Return the index of the batch that read a record, or ``len(done)`` if none did."""
        return next((n for n, batch in enumerate(self.done) if offset < batch.offset(place)),
                    len(self.done))  # fmt: skip


class NoSpan(Exception):
    """Raised if no span can be chosen; `because` is one of EmptyBecause."""

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
    """Choose a span with about `before` records before the batch of the followed one.

    `earliest`: the broker's first offset of each partition that is read. `after`: maximum number of
    records from later batches. `most`: maximum number of all records. Raises NoSpan.
    """
    place, offset = followed
    usable = [batch for batch in batches if batch.covers(earliest)]
    at = max((n for n, batch in enumerate(usable) if batch.offset(place) <= offset), default=None)
    if at is None:
        raise NoSpan("too_old")

    def between(a: Batch, b: Batch) -> int:
        return sum(max(0, b.offset(each) - a.offset(each)) for each in earliest)

    # For a record that no batch has read yet, the last batch is the nearest.
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
    """Return records in the order in which the job read them, each with its batch's index.

    `records`: place, offset, timestamp and record, in order within each partition. A batch is
    sorted by the running maximum of each partition's timestamps, then by topic, partition and
    offset.
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
) -> TaskStates | None:
    """Return the stores that a simulation begins with, or None while the reader is starting."""
    found: TaskStates | None = asked(
        deployment, person, "read_task_states", batch=batch, tasks=tasks
    )
    return found
