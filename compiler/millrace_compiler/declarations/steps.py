"""The physical graph: the steps that run, with the properties that the plan needs.

A :class:`Step` is one node of the task graph. It declares what it reads, writes and stores, so the
plan does not depend on the names of operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

Changes = Literal["key", "value", "record"]
StepRole = Literal["stream", "table", "global_table", "grouped"]
#: Operations of the steps that every task runs for all records of their topic.
GLOBAL_STEPS = ("global_table", "global_store")
#: Operations of the steps that run the user's Python code.
PYTHON_STEPS = ("process", "process_values", "global_store")


@dataclass(frozen=True)
class Partitions:
    """Placeholder for a repartition topic's number of partitions, which the plan computes."""

    topic: str


@dataclass(frozen=True)
class Handle:
    """The output of a step, with the properties that later steps need.

    ``sources`` are the ids of the input steps that it is derived from, which a join requires to be
    co-partitioned with those of its other side. ``readers`` are the steps that store the rows of a
    table.
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

    def looked_up_in(self, *tables: Handle) -> Handle:
        """A table without a store, whose rows are computed from those of ``tables``."""
        return replace(self, readers=self.readers.union(*(table.readers for table in tables)))


class Link(NamedTuple):
    """A parent of a step, and how its records reach the step.

    ``direct``: within the task. ``hop``: through a repartition topic. ``shared``: the step looks
    up rows in the parent's store.
    """

    handle: Handle
    kind: Literal["direct", "hop", "shared"]


@dataclass(frozen=True)
class Reads:
    """The topics that an input step reads, by name or by pattern.

    ``reader`` is the name of the Spark format that is read instead of the broker's topics.
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
    """The topic that a step writes; ``None`` if an expression computes it.

    ``repartition``: a step of a later level reads the topic.
    """

    topic: str | None
    repartition: bool = False


@dataclass(frozen=True)
class Keeps:
    """The names of the stores of a step.

    ``shared``: other steps use them too. ``on_demand``: a step without a store gets one if another
    step looks up its rows. ``changelog``: whether Kafka Streams writes a changelog topic.
    """

    stores: tuple[str, ...] = ()
    shared: bool = False
    on_demand: bool = False
    changelog: bool = True


NOTHING = Keeps()


@dataclass
class Step:
    """A node of the task graph: operation, parameters, and parents in the order of its inputs."""

    id: str
    node: str
    op: str
    params: dict[str, object]
    links: list[Link]
    role: StepRole
    keeps: Keeps = NOTHING
    reads: Reads | None = None
    writes: Writes | None = None
    #: The stores of other nodes that a processor reads: their steps by the store's name.
    stores_read: Mapping[str, str] = field(default_factory=dict)
    #: The part of a stream's records that it changes, or the record as a whole.
    changes: Changes | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that it reads by name."""
        return self.reads.topics if self.reads else ()

    @property
    def is_global(self) -> bool:
        """Whether every task has a full copy of its topic; then it is in no sub-topology."""
        return self.role == "global_table"


@dataclass
class Repartition:
    """A repartition topic: its writer, its reader, the requested number of partitions.

    ``port``: the input of the node that needs it. ``movable``: the node repartitions because its
    input's key has changed, so that it can be done anywhere behind that change.
    """

    topic: str
    writer: str
    reader: str
    partitions: int | None
    node: str
    port: str = "in"
    movable: bool = False


@dataclass(frozen=True)
class Copartition:
    """Input steps that must be co-partitioned, for a node's input or parameter."""

    node: str
    parameter: str
    sources: frozenset[str]


@dataclass
class Names:
    """The names of internal topics and stores that differ from the default ones.

    Default names come from the ids of nodes, and so do the ids of steps, which state depends on: a
    name changes nothing but what people and expressions see. ``kafka_streams``: see the setting
    ``names``.
    """

    kafka_streams: bool = False
    topics: dict[str, str] = field(default_factory=dict)
    stores: dict[tuple[str, str], str] = field(default_factory=dict)

    def topic(self, default: str) -> str:
        """The name of an internal topic, by its default name."""
        return self.topics.get(default, default)

    def store(self, node: str, default: str) -> str:
        """The name of a store of a node, by its default name."""
        return self.stores.get((node, default), default)

    def repartition(self, default: str, name: str) -> None:
        """Names a repartition topic; the suffix is not doubled."""
        self.topics[f"{default}-repartition"] = f"{name.removesuffix('-repartition')}-repartition"


@dataclass
class Physical:
    """The physical graph, in the order in which its steps were made."""

    steps: dict[str, Step] = field(default_factory=dict)
    topics: dict[str, Repartition] = field(default_factory=dict)
    repartitions: list[Repartition] = field(default_factory=list)
    copartitions: list[Copartition] = field(default_factory=list)
    handles: dict[tuple[str, str], Handle] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    shuffled: set[tuple[str, str]] = field(default_factory=set)
    clashes: list[tuple[str, str]] = field(default_factory=list)
    node_steps: dict[str, list[str]] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    def sources_of(self, step: Step) -> frozenset[str]:
        """The input steps from which the records of a step come without a repartition."""
        if step.reads:
            return frozenset([step.id])
        parents = (self.steps[h.step] for h, _ in step.links if h.role != "global_table")
        return frozenset().union(*map(self.sources_of, parents))
