"""From typed nodes to the steps that run: the physical graph.

A :class:`Step` is one node of the task graph. Steps are made in the order in which Kafka
Streams would add its processors, so a parent's children are in the order that decides who gets a
record first. Repartition topics appear where a grouping or join needs records by a new key [RP1].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from millrace_compiler.ports import Port
from millrace_compiler.types import DataType

if TYPE_CHECKING:
    from millrace_compiler.formats import Format
    from millrace_compiler.operator import Operator, Store

Link = Literal["direct", "hop", "shared"]


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
    role: Literal["stream", "table", "global_table", "grouped"]
    sources: frozenset[str]
    key_changed: bool = False
    readers: frozenset[str] = frozenset()


@dataclass
class Step:
    """One node of the task graph.

    ``links`` are its parents in the order of its inputs. ``stores`` are the names of those that it
    keeps, ``shared`` of those that other steps use too; ``topics`` and ``pattern`` what it reads,
    ``read_by`` the reader that gives its records, ``written`` what it writes. A ``source`` takes
    records that no parent of its task gives.
    """

    id: str
    node: str
    op: str
    params: dict[str, object]
    links: list[tuple[Handle, Link]]
    ports: tuple[str, ...] = ("out",)
    stores: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    written: str | None = None
    source: bool = False
    read_by: str | None = None

    @property
    def hop(self) -> bool:
        """Whether its records go through a repartition topic."""
        return self.op in ("repartition", "group_by", "foreign_key_subscribe", "foreign_key_lookup")


@dataclass
class Repartition:
    """A repartition topic: who writes it, who reads it, how many partitions were asked for."""

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


class NodeLowering:
    """Makes the steps of one node."""

    def __init__(
        self,
        graph: Physical,
        operator: Operator,
        ids: Callable[[str], str],
        inputs: Mapping[str, list[tuple[Handle, Port]]],
        ports: Mapping[str, Port],
        relaxed: bool,
    ) -> None:
        self.graph, self.operator, self.ids = graph, operator, ids
        self._inputs, self._ports, self.relaxed = inputs, ports, relaxed

    # ---- inputs ---------------------------------------------------------------------------

    def input(self, port: str = "in") -> Handle:
        """What comes in at a port with one edge."""
        return self._inputs[port][0][0]

    def out(self, port: str) -> Port:
        """The types of an output port of this node."""
        return self._ports[port]

    def inputs(self, port: str = "in") -> list[tuple[Handle, Port]]:
        """All that comes in at a port, in the order of the edges."""
        return self._inputs[port]

    def stream(self, port: str = "in") -> Handle:
        """What comes in at a port, as a stream: a table means its updates."""
        return self.streams(port)[0]

    def streams(self, port: str = "in") -> list[Handle]:
        """The same for all edges at a port."""
        found = self._inputs[port]
        return [
            self._as_stream(handle, "" if len(found) == 1 else f"-{index}")
            for index, (handle, _) in enumerate(found)
        ]

    def _as_stream(self, handle: Handle, suffix: str) -> Handle:
        if handle.role != "table":
            return handle
        return self.step("to_stream", handle, id=f"{self.operator.id}-to-stream{suffix}")

    def met(self, port: str = "in") -> list[Handle]:
        """The streams that a merge of all edges at a port has as its parents.

        Kafka Streams merges two by two and knows the parents of a merge as a set, so a stream that
        meets itself (two sources of one topic are one) comes once.
        """
        first, *others = self.streams(port)
        if others and (others[0].step, others[0].port) == (first.step, first.port):
            others = others[1:]
        return [first, *others]

    def merged(self, port: str = "in") -> Handle:
        """All that comes in at a port as one stream."""
        first, *others = self.met(port)
        return (
            self.step("merge", first, *others, id=f"{self.operator.id}-merge") if others else first
        )

    # ---- steps ----------------------------------------------------------------------------

    def step(
        self,
        op: str,
        *parents: Handle,
        id: str | None = None,
        role: Literal["stream", "table", "global_table", "grouped"] = "stream",
        key_changed: bool | None = None,
        links: Sequence[tuple[Handle, Link]] = (),
        ports: tuple[str, ...] = ("out",),
        stores: tuple[str, ...] = (),
        shared: tuple[str, ...] = (),
        topics: tuple[str, ...] = (),
        pattern: str | None = None,
        written: str | None = None,
        source: bool = False,
        params: Mapping[str, object] | None = None,
        **more: object,
    ) -> Handle:
        """Adds one step and gives what it makes.

        ``links`` are parents whose records come in another way than directly. ``params`` and
        further keywords are the step's parameters; ``None`` is left out.
        """
        name = self.ids(id or self.operator.id)
        linked = {handle.step for handle, _ in links}
        all_links: list[tuple[Handle, Link]] = [
            (handle, "direct") for handle in parents if handle.step not in linked
        ]
        all_links += links
        given = {k: v for k, v in {**(params or {}), **more}.items() if v is not None}
        self.graph.steps[name] = Step(
            name, self.operator.id, op, given, all_links, ports, stores, shared, topics, pattern,
            written, source,
        )  # fmt: skip
        self.graph.node_steps.setdefault(self.operator.id, []).append(name)
        joined = (h.sources for h, link in all_links if link != "hop" and h.role != "global_table")
        sources = frozenset().union(*joined) | ({name} if source else frozenset())
        if key_changed is None:
            key_changed = parents[0].key_changed if parents and role == "stream" else False
        return Handle(name, ports[0], role, sources, key_changed, frozenset([name]))

    def port(self, handle: Handle, name: str) -> Handle:
        """Another output port of the same step."""
        return replace(handle, port=name)

    def repartition(
        self,
        stream: Handle,
        name: str,
        partitions: int | None = None,
        through: str = "in",
    ) -> Handle:
        """Writes a stream to a repartition topic and reads it again [RP1][RP2]."""
        topic = f"{name}-repartition"
        writer = self.step(
            "repartition",
            stream,
            id=topic,
            partitions=Partitions(topic),
            keep_null_keys=self.relaxed,
            written=topic,
        )
        self.shuffled(through)
        return self.receive("repartitioned", topic, writer, partitions)

    def receive(
        self,
        op: str,
        topic: str,
        writer: Handle,
        partitions: int | None = None,
        *,
        role: Literal["stream", "grouped"] = "stream",
    ) -> Handle:
        """The input step that reads a repartition topic."""
        reader = self.step(
            op,
            id=f"{topic}-source",
            role=role,
            links=[(writer, "hop")],
            topics=(topic,),
            source=True,
        )
        self.topic(topic, writer.step, reader.step, partitions)
        return reader

    def topic(self, topic: str, writer: str, reader: str, partitions: int | None = None) -> None:
        """Notes a repartition topic; a name used before is a clash, reported by the plan."""
        if topic in self.graph.topics:
            self.graph.clashes.append((self.operator.id, topic))
        made = Repartition(topic, writer, reader, partitions, self.operator.id)
        self.graph.topics[topic] = made

    def keyed(self, stream: Handle, name: str, through: str = "in") -> Handle:
        """The stream by its key: repartitioned if the key changed."""
        return self.repartition(stream, name, through=through) if stream.key_changed else stream

    def together(self, *handles: Handle, parameter: str = "right") -> None:
        """Notes that the inputs of the handles must be co-partitioned [RP4]."""
        sources = frozenset().union(*(h.sources for h in handles))
        self.graph.copartitions.append(Copartition(self.operator.id, parameter, sources))

    def shuffled(self, port: str) -> None:
        """Notes that records cross a shuffle on the edges into a port."""
        self.graph.shuffled.add((self.operator.id, port))

    def lookup(self, table: Handle) -> list[tuple[Handle, Link]]:
        """Links to a table whose rows the step reads: it must run where they are kept."""
        self.materialize(table)
        return [(table, "shared")]

    def materialize(self, table: Handle) -> None:
        """Makes the operators whose rows are asked for keep them [KT2].

        The rows of a join of tables are made anew from both sides; those are asked instead.
        """
        for name in table.readers:
            step = self.graph.steps[name]
            if not step.stores and step.op in ("table", "to_table", "foreign_key_resolve"):
                step.stores = (step.node,)

    # ---- values ---------------------------------------------------------------------------

    def store(self) -> dict[str, object] | None:
        """The operator's store as a parameter; ``None``: its own, unnamed one."""
        connected = self.operator.store
        return store_json(connected) if connected else None

    def store_names(self, *, always: bool) -> tuple[str, ...]:
        """Names of the store that the operator keeps; unnamed ones are called by the node's id."""
        connected = self.operator.store
        if connected:
            return (connected.store_name(),)
        return (self.operator.id,) if always else ()


def store_json(store: Store) -> dict[str, object]:
    """A store as the operator takes it: kind, name, node and the properties that are set."""
    found: dict[str, object] = {
        "kind": store.kind.removeprefix("store."),
        "name": store.store_name(),
        "node": store.id,
    }
    for name, parameter in store.parameters.items():
        value = store.values[name]
        if name == "name" or value is None or value == parameter.default:
            continue
        if isinstance(value, DataType):
            value = value.text
        elif name == "logging_config":
            value = dict(value) if isinstance(value, tuple) else value
        found[name] = value
    return found


def format_json(format_: Format) -> dict[str, object]:
    """A format as the operator takes it, such as ``{"format": "json", "schema": "a INT"}``."""
    if format_.name == "json":
        return {"format": "json", "schema": format_.type.schema if format_.type else ""}
    return {"format": format_.name, **dict(format_.properties)}
