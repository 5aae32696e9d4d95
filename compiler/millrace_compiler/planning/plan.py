"""The plan: sub-topologies, partitions, tasks and levels.

Sub-topologies are those of Kafka Streams for the same topology [SB1]; the partitions of repartition
topics follow its rules [RP3][RP4]. Levels order the steps of sub-topologies, so that one query can
run them one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from millrace_model.plans import InternalTopic

from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.declarations.steps import Physical, Reads, Step
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.documents.document import Document
from millrace_compiler.documents.topic_patterns import NoPattern, topic_pattern
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.planning.levels import assign_levels
from millrace_compiler.planning.union_find import UnionFind


@dataclass
class Subtopology:
    """Steps that run in one task, for each partition of their sources."""

    id: int
    steps: list[Step]
    tasks: int = 1

    @property
    def nodes(self) -> list[str]:
        """The nodes of its steps, in order."""
        return list(dict.fromkeys(step.node for step in self.steps))

    @property
    def sources(self) -> list[str]:
        """Topics that it reads."""
        return list(dict.fromkeys(topic for step in self.steps for topic in step.topics))

    @property
    def sinks(self) -> list[str]:
        """Topics that it writes, without those that an expression computes."""
        written = (step.writes.topic for step in self.steps if step.writes)
        return list(dict.fromkeys(topic for topic in written if topic))

    @property
    def stores(self) -> list[str]:
        """Stores that it keeps."""
        return list(dict.fromkeys(name for step in self.steps for name in step.keeps.stores))


@dataclass
class Plan:
    """The physical plan of a topology."""

    physical: Physical
    subtopologies: list[Subtopology]
    partitions: dict[str, int]
    levels: dict[str, int]
    of_step: dict[str, int]
    changelogs: list[str]
    globals: list[Step] = field(default_factory=list)

    @property
    def tasks(self) -> int:
        """The number of tasks of the widest sub-topology."""
        return max((sub.tasks for sub in self.subtopologies), default=1)

    def internal_topics(self) -> list[InternalTopic]:
        """Repartition topics and changelogs, in the JSON form of ``describe --json``."""
        tasks = {name: sub.tasks for sub in self.subtopologies for name in sub.stores}
        repartitions: list[InternalTopic] = [
            {"name": name, "partitions": self.partitions[name], "kind": "repartition"}
            for name in self.physical.topics
        ]
        return repartitions + [
            {"name": f"{name}-changelog", "partitions": tasks[name], "kind": "changelog"}
            for name in self.changelogs
        ]


def make_plan(graph: Graph, physical: Physical, report: Diagnostics) -> Plan:
    """Groups steps into sub-topologies and computes partitions, tasks and levels.

    Reports inputs that are not co-partitioned and repartition topics with the same name.
    """
    document = graph.document
    for node, topic in physical.clashes:
        name = topic.removesuffix("-repartition")
        found = graph.operators[node].parameters
        known = next((each for each in ("repartition", "name", "inputs") if each in found), "in")
        report.add("repartition_name_twice", node, known, name=name, topic=topic)
    _check_store_names(graph, physical, report)
    groups = _group(physical)
    subs = _number(physical, groups)
    of_step = {step.id: sub.id for sub in subs for step in sub.steps}
    partitions = _partitions(document, physical, subs, of_step, report)
    for sub in subs:
        counts = [_width(document, step.reads, partitions) for step in sub.steps if step.reads]
        sub.tasks = max(counts, default=1)
    levels = assign_levels(graph, physical, report)
    return Plan(
        physical,
        subs,
        partitions,
        levels,
        of_step,
        _changelogs(graph, subs),
        [step for step in physical.steps.values() if step.is_global],
    )


def _check_store_names(graph: Graph, physical: Physical, report: Diagnostics) -> None:
    """Reports a join whose stores have the names of other ones."""
    users: dict[str, str] = {}
    for step in sorted(physical.steps.values(), key=lambda step: bool(_store_name(graph, step))):
        for name in step.keeps.stores:
            first = users.setdefault(name, step.node)
            if first != step.node and _store_name(graph, step):
                report.add("store_name_twice", step.node, "store_name", name=name, other=first)


def _store_name(graph: Graph, step: Step) -> object:
    return graph.operators[step.node].values.get("store_name")


# ---- sub-topologies -----------------------------------------------------------------------


def _group(physical: Physical) -> dict[str, list[Step]]:
    """Groups steps that are connected by edges except repartitions, or by shared stores [SB1]."""
    steps = {id_: step for id_, step in physical.steps.items() if not step.is_global}
    union = UnionFind(steps)
    users: dict[str, str] = {}
    for step in steps.values():
        for handle, link in step.links:
            if link != "hop" and handle.step in steps:
                union.unite(handle.step, step.id)
        for store in step.keeps.stores if step.keeps.shared else ():
            union.unite(users.setdefault(store, step.id), step.id)
        for owner in step.stores_read.values():
            if owner in steps:
                union.unite(owner, step.id)
    groups: dict[str, list[Step]] = defaultdict(list)
    for step in steps.values():
        groups[union.find(step.id)].append(step)
    return groups


def _number(physical: Physical, groups: dict[str, list[Step]]) -> list[Subtopology]:
    """Numbers the groups by their first source, in the order in which sources are made."""
    place = {id_: index for index, id_ in enumerate(physical.steps)}

    def first_source(steps: list[Step]) -> int:
        return min((place[step.id] for step in steps if step.reads), default=len(place))

    ordered = sorted(groups.values(), key=first_source)
    return [Subtopology(index, steps) for index, steps in enumerate(ordered)]


# ---- partitions ---------------------------------------------------------------------------


def _width(document: Document, reads: Reads, known: dict[str, int]) -> int:
    """Partitions of the widest topic that an input step reads."""
    if reads.pattern:
        try:
            pattern = topic_pattern(reads.pattern)
        except NoPattern:
            return 1
        topics = {**document.topics, **document.actual}
        found = [count for topic, count in topics.items() if pattern.matches(topic)]
        return max(found, default=1)
    return max((known.get(t) or document.partitions(t) for t in reads.topics), default=1)


def _partitions(
    document: Document,
    physical: Physical,
    subs: list[Subtopology],
    of_step: dict[str, int],
    report: Diagnostics,
) -> dict[str, int]:
    """Partitions of topics that are not on the broker: repartition topics and those of readers.

    A repartition topic has the configured number of partitions, or else as many as the widest
    source of the sub-topology that writes it [RP3]. As in Kafka Streams, this is computed in
    rounds, from the sources whose numbers are known so far.
    """
    known = {t.topic: t.partitions for t in physical.topics.values() if t.partitions}
    progress = True
    while progress:
        progress = False
        for topic in (t for sub in subs for t in sub.sources if t in physical.topics):
            if topic in known:
                continue
            steps = subs[of_step[physical.topics[topic].writer]].steps
            open_ = set(physical.topics) - set(known)
            widths = [
                _width(document, step.reads, known)
                for step in steps
                if step.reads and not open_ & set(step.topics)
            ]
            if widths:
                known[topic], progress = max(widths), True
    _copartition(document, physical, known, report)
    _check_read_stores(document, physical, known, report)
    reads = [step.reads for step in physical.steps.values() if step.reads]
    read = (topic for each in reads if each.reader for topic in each.topics)
    return {
        **{topic: document.partitions(topic) for topic in read},
        **{name: known.get(name, 1) for name in physical.topics},
    }


def _copartition(
    document: Document, physical: Physical, known: dict[str, int], report: Diagnostics
) -> None:
    """Aligns the partitions of joined repartition topics; reports inputs that differ [RP4].

    Groups that have a topic in common are one group.
    """
    merged: list[tuple[set[str], bool]] = []
    for group in physical.copartitions:
        reads = (physical.steps[id_].reads for id_ in group.sources)
        flat = {name for each in reads if each for name in each.names}
        reported = False
        apart = []
        for other, other_reported in merged:
            if other & flat:
                flat |= other
                reported = reported or other_reported
            else:
                apart.append((other, other_reported))
        widths = _fixed_widths(document, physical, flat)
        if len(set(widths.values())) > 1 and not reported:
            shown = ", ".join(f"{topic} has {count}" for topic, count in sorted(widths.items()))
            report.add("not_copartitioned", group.node, group.parameter, topics=shown)
            reported = True
        merged = [*apart, (flat, reported)]
    for flat, reported in merged:
        internal = [topic for topic in physical.topics if topic in flat]
        widths = _fixed_widths(document, physical, flat)
        natural = max((known[topic] for topic in internal if topic in known), default=1)
        if not reported:
            known.update(dict.fromkeys(internal, next(iter(widths.values()), natural)))


def _check_read_stores(
    document: Document, physical: Physical, known: dict[str, int], report: Diagnostics
) -> None:
    """Warns if a processor reads rows that are partitioned otherwise than its records.

    As in Kafka Streams, this is allowed: the processor may need only some of the rows.
    """
    for step in physical.steps.values():
        for owner in step.stores_read.values():
            kept = physical.steps[owner]
            sources = physical.sources_of(step) | physical.sources_of(kept)
            reads = [physical.steps[id_].reads for id_ in sorted(sources)]
            widths = {
                name: _width(document, each, known) for each in reads if each for name in each.names
            }
            if not kept.is_global and len(set(widths.values())) > 1:
                shown = ", ".join(f"{topic} has {count}" for topic, count in sorted(widths.items()))
                report.add("store_partitions", step.node, "store", owner=kept.node, topics=shown)


def _fixed_widths(document: Document, physical: Physical, topics: set[str]) -> dict[str, int]:
    """Partitions of topics on the broker, and of repartition topics with a configured number."""
    widths: dict[str, int] = {}
    for topic in topics:
        made = physical.topics.get(topic)
        if made is None:
            reads = (step.reads for step in physical.steps.values() if step.reads)
            pattern = next((each for each in reads if each.pattern == topic), None)
            widths[topic] = _width(document, pattern, {}) if pattern else document.partitions(topic)
        elif made.partitions:
            widths[topic] = made.partitions
    return widths


# ---- placement ----------------------------------------------------------------------------


def _changelogs(graph: Graph, subs: list[Subtopology]) -> list[str]:
    silent = {
        operator.values["name"]
        for operator in graph.operators.values()
        if isinstance(operator, Store) and operator.values.get("logging") is False
    }
    keeps = (step.keeps for sub in subs for step in sub.steps)
    names = {name for each in keeps if each.changelog for name in each.stores}
    return sorted(names - silent)


def runs_as(plan: Plan, operator: Operator) -> str | None:
    """How a node runs: ``stream_task`` or ``python``; ``None`` for a node without steps."""
    node = plan.physical.aliases.get(operator.id, operator.id)
    steps = plan.physical.node_steps.get(node, [])
    if not steps:
        return None
    if operator.python:
        return "python"
    return "stream_task"
