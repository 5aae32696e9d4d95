"""Lowers typed nodes to the steps that run.

Steps are created in the order in which Kafka Streams would add its processors, which determines
the order in which the children of a parent receive a record. A grouping or join that needs records
by a new key adds a repartition topic [RP1].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from millrace_compiler.declarations.ports import Port
from millrace_compiler.declarations.steps import (
    NOTHING,
    Changes,
    Copartition,
    Handle,
    Keeps,
    Link,
    Partitions,
    Physical,
    Reads,
    Repartition,
    Step,
    StepRole,
    Writes,
)


class NodeLowering:
    """Makes the steps of one node."""

    def __init__(
        self,
        graph: Physical,
        node: str,
        ids: Callable[[str], str],
        inputs: Mapping[str, list[tuple[Handle, Port]]],
        ports: Mapping[str, Port],
        tables: Mapping[str, Handle],
        relaxed: bool,
    ) -> None:
        self.graph, self.node, self.ids = graph, node, ids
        self._inputs, self._ports, self.relaxed = inputs, ports, relaxed
        self._tables = tables

    # ---- inputs ---------------------------------------------------------------------------

    def input(self, port: str = "in") -> Handle:
        """The input of a port with one edge."""
        return self._inputs[port][0][0]

    def out(self, port: str) -> Port:
        """The types of an output port of this node."""
        return self._ports[port]

    def inputs(self, port: str = "in") -> list[tuple[Handle, Port]]:
        """The inputs of a port with their types, in the order of the edges."""
        return self._inputs[port]

    def stream(self, port: str = "in") -> Handle:
        """The input of a port as a stream; a table is the stream of its updates."""
        return self.streams(port)[0]

    def streams(self, port: str = "in") -> list[Handle]:
        """The inputs of a port as streams, in the order of the edges."""
        found = self._inputs[port]
        return [
            self._as_stream(handle, "" if len(found) == 1 else f"-{index}")
            for index, (handle, _) in enumerate(found)
        ]

    def _as_stream(self, handle: Handle, suffix: str) -> Handle:
        if handle.role != "table":
            return handle
        return self.step("to_stream", handle, id=f"{self.node}-to-stream{suffix}")

    def parents_of_merge(self, port: str = "in") -> list[Handle]:
        """The streams that are the parents of a merge of all edges at a port.

        Kafka Streams merges streams in pairs and stores the parents of a merge as a set, so a
        stream that is merged with itself (two sources of one topic are one) occurs once.
        """
        first, *others = self.streams(port)
        if others and (others[0].step, others[0].port) == (first.step, first.port):
            others = others[1:]
        return [first, *others]

    def merged(self, port: str = "in") -> Handle:
        """All inputs of a port, merged into one stream."""
        first, *others = self.parents_of_merge(port)
        return self.step("merge", first, *others, id=f"{self.node}-merge") if others else first

    # ---- steps ----------------------------------------------------------------------------

    def step(
        self,
        op: str,
        *parents: Handle | Link,
        id: str | None = None,
        role: StepRole = "stream",
        keeps: Keeps = NOTHING,
        reads: Reads | None = None,
        writes: Writes | None = None,
        stores_read: Mapping[str, str] | None = None,
        changes: Changes | None = None,
        params: Mapping[str, object] | None = None,
        **more: object,
    ) -> Handle:
        """Adds a step and returns its output.

        A parent that is a bare handle is linked directly. ``params`` and ``more`` are the step's
        parameters; those that are ``None`` are omitted.
        """
        name = self.ids(id or self.node)
        links = [each if isinstance(each, Link) else Link(each, "direct") for each in parents]
        known = {k: v for k, v in {**(params or {}), **more}.items() if v is not None}
        self.graph.steps[name] = Step(
            name,
            self.node,
            op,
            known,
            links,
            role,
            keeps=replace(keeps, stores=tuple(self._store(each) for each in keeps.stores)),
            reads=reads,
            writes=writes,
            stores_read=stores_read or {},
            changes=changes,
        )
        self.graph.node_steps.setdefault(self.node, []).append(name)
        joined = (h.sources for h, kind in links if kind != "hop" and h.role != "global_table")
        sources = frozenset([name] if reads else []).union(*joined)
        direct = (handle for handle, kind in links if kind == "direct")
        carried = any(handle.key_changed for handle in direct)
        key_changed = role == "stream" and (changes in ("key", "record") or carried)
        return Handle(name, "out", role, sources, key_changed, frozenset([name]))

    def repartition(
        self,
        stream: Handle,
        name: str,
        partitions: int | None = None,
        through: str = "in",
        *,
        movable: bool = False,
    ) -> Handle:
        """Writes a stream to a repartition topic and reads it back [RP1][RP2][RP5]."""
        id_ = f"{name}-repartition"
        topic = self.graph.names.topic(id_)
        writer = self.step(
            "repartition",
            stream,
            id=id_,
            partitions=Partitions(topic),
            keep_null_keys=self.relaxed,
            topic=self.other(topic, id_),
            writes=Writes(topic, repartition=True),
        )
        self.shuffled(through)
        reader = self.receive("repartitioned", id_, writer, partitions)
        made = self.graph.repartitions[-1]
        made.port, made.movable = through, movable
        return reader

    def receive(
        self,
        op: str,
        id_: str,
        writer: Handle,
        partitions: int | None = None,
        role: StepRole = "stream",
    ) -> Handle:
        """Adds the step that reads a repartition topic, by the topic's default name."""
        topic = self.graph.names.topic(id_)
        reads = Reads((topic,))
        reader = self.step(op, Link(writer, "hop"), id=f"{id_}-source", role=role, reads=reads)
        self.topic(topic, writer.step, reader.step, partitions)
        return reader

    @staticmethod
    def other(name: str, default: str) -> str | None:
        """The parameter of a step that states another name than the default one."""
        return None if name == default else name

    def topic(self, topic: str, writer: str, reader: str, partitions: int | None = None) -> None:
        """Registers a repartition topic; the plan reports a name that is used twice."""
        if topic in self.graph.topics:
            self.graph.clashes.append((self.node, topic))
        made = Repartition(topic, writer, reader, partitions, self.node)
        self.graph.topics[topic] = made
        self.graph.repartitions.append(made)

    def keyed(self, stream: Handle, name: str, through: str = "in") -> Handle:
        """The stream partitioned by its key: repartitioned if the key has changed."""
        if not stream.key_changed:
            return stream
        return self._shared(stream, name, through) or self.repartition(
            stream, name, through=through, movable=True
        )

    def _shared(self, stream: Handle, name: str, through: str) -> Handle | None:
        """The stream behind its repartition topic, if a join before has made one without a name.

        Kafka Streams' joins of one stream share it; only then are the names equal.
        """
        made = self.graph.topics.get(self.graph.names.topic(f"{name}-repartition"))
        if made is None or not self.graph.names.kafka_streams:
            return None
        writer = self.graph.steps[made.writer]
        if writer.op != "repartition" or writer.links[0].handle != stream:
            return None
        writer.params["keep_null_keys"] = bool(writer.params["keep_null_keys"]) or self.relaxed
        self.shuffled(through)
        return Handle(made.reader, "out", "stream", frozenset([made.reader]))

    def together(self, *handles: Handle, parameter: str = "right") -> None:
        """Requires that the inputs of the handles are co-partitioned [RP4]."""
        sources = frozenset().union(*(h.sources for h in handles))
        self.graph.copartitions.append(Copartition(self.node, parameter, sources))

    def shuffled(self, port: str) -> None:
        """Notes that records cross a shuffle on the edges into a port."""
        self.graph.shuffled.add((self.node, port))

    def lookup(self, table: Handle) -> Link:
        """A link to a table whose rows the step reads: it must run where they are kept."""
        self.materialize(table)
        return Link(table, "shared")

    def read_store(self, node: str) -> str:
        """The step that keeps the rows of another node, which this one reads."""
        table = self._tables[node]
        self.materialize(table)
        return table.step

    def materialize(self, table: Handle) -> None:
        """Materializes the steps whose rows are looked up [KT2].

        The rows of a join of tables are computed from both sides, so the sides are materialized.
        """
        for name in table.readers:
            step = self.graph.steps[name]
            if step.keeps.on_demand:
                step.keeps = Keeps((self.graph.names.store(step.node, step.node),))

    def _store(self, default: str) -> str:
        return self.graph.names.store(self.node, default)
