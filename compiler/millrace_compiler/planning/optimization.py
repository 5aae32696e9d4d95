"""Kafka Streams' optimizations of a topology (``topology.optimization``), on the physical graph.

The rules are those of Kafka Streams 4.4. Two of its results are not reproduced, see
``docs/optimization.md``: topologies that it then cannot build, and repartitions that it loses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from millrace_compiler.declarations.steps import (
    Handle,
    Keeps,
    Link,
    Physical,
    Repartition,
    Step,
)
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.parameters.settings import (
    MERGE_REPARTITIONS,
    REUSE_SOURCE_TOPICS,
    SELF_JOIN,
)


def optimize(graph: Graph, physical: Physical, settings: Mapping[str, object]) -> None:
    """Changes the physical graph as the setting ``optimization`` says."""
    chosen = settings.get("optimization")
    if chosen in ("all", REUSE_SOURCE_TOPICS):
        _reuse_source_topics(physical)
    if chosen in ("all", MERGE_REPARTITIONS):
        _Merging(graph, physical).merge()
    if chosen in ("all", SELF_JOIN):
        _join_with_one_store(physical)


def _reuse_source_topics(physical: Physical) -> None:
    """Tables that are read from a topic need no changelog: the topic has all rows."""
    for step in physical.steps.values():
        if step.reads and step.role == "table" and step.topics[0] not in physical.topics:
            step.keeps = replace(step.keeps, changelog=False)


def _join_with_one_store(physical: Physical) -> None:
    """A join of a stream with itself keeps its records once, whatever its type."""
    for step in physical.steps.values():
        if step.op == "join_stream" and _output(step.links[0]) == _output(step.links[1]):
            step.op, step.links = "join_self", step.links[:1]
            step.params = {name: value for name, value in step.params.items() if name != "type"}
            step.keeps = Keeps(step.keeps.stores[:1])


def _output(link: Link) -> tuple[str, str]:
    return link.handle.step, link.handle.port


class _Merging:
    """Moves repartitions to the step that changes the key, and merges them there."""

    def __init__(self, graph: Graph, physical: Physical) -> None:
        self.graph, self.physical = graph, physical
        self.parents = {
            id_: [link for link in step.links if link.kind != "shared"]
            for id_, step in physical.steps.items()
        }

    def merge(self) -> None:
        groups: dict[tuple[str, str], list[tuple[Repartition, str]]] = {}
        for made in self.physical.repartitions:
            place = self._place(made) if made.movable else None
            if place is not None:
                output, child = place
                groups.setdefault(output, []).append((made, child))
        for output, found in groups.items():
            self._merge(output, found)
        self._forget_clashes()

    # ---- where a repartition goes ---------------------------------------------------------

    def _place(self, made: Repartition) -> tuple[tuple[str, str], str] | None:
        """The output behind which a repartition goes, and the step that then reads it.

        The last merge behind the step that changed the key, else that step; ``None`` if a value
        was changed since.
        """
        changed = self._above(made.writer, lambda step: step.changes is not None)
        rekeyed = self._above(made.writer, lambda step: step.changes == "key")
        if rekeyed is None or changed != rekeyed:
            return None
        merge = self._above(made.writer, lambda step: step.op == "merge" or step.id == rekeyed)
        place = merge or rekeyed
        child = self._above(
            made.writer, lambda step: any(link.handle.step == place for link in self._links(step))
        )
        if child is None:
            return None
        [link, *_] = [each for each in self.parents[child] if each.handle.step == place]
        return _output(link), child

    def _links(self, step: Step) -> list[Link]:
        return self.parents[step.id]

    def _above(self, id_: str, wanted: Callable[[Step], bool]) -> str | None:
        """The step itself or one above it, searched as Kafka Streams does: parents first."""
        steps = self.physical.steps
        if wanted(steps[id_]):
            return id_
        found = None
        for link in self.parents[id_]:
            if wanted(steps[link.handle.step]):
                return link.handle.step
            found = self._above(link.handle.step, wanted)
        return found

    # ---- moving ---------------------------------------------------------------------------

    def _merge(self, output: tuple[str, str], found: list[tuple[Repartition, str]]) -> None:
        physical = self.physical
        [kept, *merged] = [made for made, _ in found]
        read = Handle(kept.reader, "out", "stream", frozenset([kept.reader]))
        before = {made.writer: physical.steps[made.writer].links[0].handle for made, _ in found}
        writer = physical.steps[kept.writer]
        [above] = {
            link.handle
            for _, child in found
            for link in self.parents[child]
            if _output(link) == output
        }
        for made, child in found:
            behind = read if child == made.writer else before[made.writer]
            for step in physical.steps.values():
                step.links = [
                    Link(behind, link.kind) if link.handle.step == made.reader else link
                    for link in step.links
                ]
            if child == made.writer:
                physical.shuffled |= {(made.node, made.port)}
            else:
                moved = physical.steps[child]
                moved.links = [
                    Link(read, link.kind) if _output(link) == output else link
                    for link in moved.links
                ]
                physical.shuffled -= {(made.node, made.port)}
                physical.shuffled |= {(moved.node, "in")}
        writer.links = [Link(above, "direct")]
        physical.steps[kept.reader].links = [Link(replace(read, step=kept.writer), "hop")]
        self._remove(merged, kept)
        self._put_behind(output[0], kept)
        writer.params["keep_null_keys"] = any(map(self._keeps_null_keys, self._below(kept.reader)))

    def _remove(self, merged: list[Repartition], kept: Repartition) -> None:
        physical = self.physical
        gone = {each for made in merged for each in (made.writer, made.reader)}
        for id_ in gone:
            physical.node_steps[physical.steps.pop(id_).node].remove(id_)
        physical.repartitions = [each for each in physical.repartitions if each not in merged]
        physical.topics = {each.topic: each for each in reversed(physical.repartitions)}
        readers = {made.reader for made in merged}
        physical.copartitions = [
            replace(group, sources=(group.sources - readers) | {kept.reader})
            if group.sources & readers
            else group
            for group in physical.copartitions
        ]

    def _put_behind(self, place: str, kept: Repartition) -> None:
        """Makes the repartition the first child of a step."""
        pair = (kept.writer, kept.reader)
        ordered: dict[str, Step] = {}
        for id_, step in self.physical.steps.items():
            if id_ not in pair:
                ordered[id_] = step
            if id_ == place:
                ordered.update({each: self.physical.steps[each] for each in pair})
        self.physical.steps = ordered

    def _below(self, id_: str) -> Iterator[Step]:
        """The steps that get records of a step, also through other repartitions."""
        found = {id_}
        for step in self.physical.steps.values():
            if any(each.handle.step in found for each in step.links if each.kind != "shared"):
                found.add(step.id)
                yield step

    def _keeps_null_keys(self, step: Step) -> bool:
        """Whether a step joins records with a null key [RP5]."""
        operator = self.graph.operators[step.node]
        return operator.keeps_null_keys and operator.values.get("type") in ("left", "outer")

    def _forget_clashes(self) -> None:
        """Topics of one name that are merged do not clash."""
        names = [made.topic for made in self.physical.repartitions]
        self.physical.clashes = [each for each in self.physical.clashes if names.count(each[1]) > 1]
