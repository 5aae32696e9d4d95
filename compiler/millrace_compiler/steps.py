"""The physical graph: the steps that run, and what the plan needs to know of each of them.

A :class:`Step` is one node of the task graph. What it reads, writes and keeps is data of its own,
so the plan asks for these and never for the name of an operation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

StepRole = Literal["stream", "table", "global_table", "grouped"]


@dataclass(frozen=True)
class Partitions:
    """The number of partitions of a repartition topic, known when all topics are."""

    topic: str


@dataclass(frozen=True)
class Handle:
    """What a port carries: the step that makes it and what later steps must know of it.

    ``sources`` are the ids of the input steps it comes from, which have to be co-partitioned where
    it is joined with another one. ``readers`` are the steps that hold the rows of a table.
    """

    step: str
    port: str
    role: StepRole
    sources: frozenset[str]
    key_changed: bool = False
    readers: frozenset[str] = frozenset()

    def at(self, port: str) -> Handle:
        """Another output port of the same step."""
        return replace(self, port=port)

    def rekeyed(self) -> Handle:
        """The same with a changed key: a grouping or join repartitions it."""
        return replace(self, key_changed=True)

    def looked_up_in(self, *tables: Handle) -> Handle:
        """A table without a store: its rows are computed from those of the tables before it."""
        return replace(self, readers=self.readers.union(*(table.readers for table in tables)))


class Link(NamedTuple):
    """A parent of a step, and how its records come.

    ``direct``: within the task. ``hop``: through a repartition topic. ``shared``: the step looks
    up rows where the parent keeps them.
    """

    handle: Handle
    kind: Literal["direct", "hop", "shared"]


@dataclass(frozen=True)
class Reads:
    """What an input step takes that no parent of its task gives: topics by name or by pattern.

    ``reader`` is Spark's name of the format that is read in place of the broker's topics.
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    reader: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The pattern, or the topics."""
        return (self.pattern,) if self.pattern else self.topics


@dataclass(frozen=True)
class Writes:
    """The topic that a step writes; ``None`` where an expression chooses it.

    ``repartition``: a step of a later level reads it.
    """

    topic: str | None
    repartition: bool = False


@dataclass(frozen=True)
class Keeps:
    """The names of the stores of a step.

    ``shared``: other steps use them too. ``on_demand``: a step without a store keeps its rows as
    soon as another step looks them up.
    """

    stores: tuple[str, ...] = ()
    shared: bool = False
    on_demand: bool = False


NOTHING = Keeps()


@dataclass
class Step:
    """One node of the task graph: operation and parameters, parents in the order of its inputs."""

    id: str
    node: str
    op: str
    params: dict[str, object]
    links: list[Link]
    role: StepRole
    keeps: Keeps = NOTHING
    reads: Reads | None = None
    writes: Writes | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that it reads by name."""
        return self.reads.topics if self.reads else ()

    @property
    def is_global(self) -> bool:
        """Whether it keeps a whole topic in every task; it belongs to no sub-topology."""
        return self.role == "global_table"


@dataclass
class Repartition:
    """A repartition topic: its writer, its reader, the requested number of partitions."""

    topic: str
    writer: str
    reader: str
    partitions: int | None
    node: str


@dataclass(frozen=True)
class Copartition:
    """Input steps that must have equal partitions, for a node's input or parameter."""

    node: str
    parameter: str
    sources: frozenset[str]


@dataclass
class Physical:
    """The physical graph, in the order in which its steps were made."""

    steps: dict[str, Step] = field(default_factory=dict)
    topics: dict[str, Repartition] = field(default_factory=dict)
    copartitions: list[Copartition] = field(default_factory=list)
    handles: dict[tuple[str, str], Handle] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    shuffled: set[tuple[str, str]] = field(default_factory=set)
    clashes: list[tuple[str, str]] = field(default_factory=list)
    node_steps: dict[str, list[str]] = field(default_factory=dict)
