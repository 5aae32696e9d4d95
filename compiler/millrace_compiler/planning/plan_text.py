"""A plan as text, in the manner of Kafka Streams' ``Topology#describe``."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass

from millrace_compiler.declarations.steps import Reads, Step
from millrace_compiler.planning.plan import Plan


def plan_text(plan: Plan) -> str:
    """The sub-topologies with sources, processors, stores and sinks, and their connections."""
    return _Text(plan).text()


@dataclass
class _Part:
    """A source, processor or sink of Kafka Streams, which is one group of lines."""

    name: str
    head: str
    sink: bool = False
    source: bool = False


class _Text:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.parts: dict[str, list[_Part]] = {}
        self.after: dict[str, list[str]] = defaultdict(list)
        self.before: dict[str, list[str]] = defaultdict(list)
        for step in plan.physical.steps.values():
            self.parts[step.id] = _parts(step, self._stores(step))
        for step in plan.physical.steps.values():
            self._connect(step)

    def _stores(self, step: Step) -> str:
        """The stores that Kafka Streams connects to a processor: global ones need no connection."""
        owners = step.stores_read.items()
        steps = self.plan.physical.steps
        read = [name for name, owner in owners if not steps[owner].is_global]
        return ", ".join([*step.keeps.stores, *read])

    def _connect(self, step: Step) -> None:
        parts = self.parts[step.id]
        for first, second in itertools.pairwise(parts):
            self._edge(first.name, second.name)
        for handle, link in step.links:
            source = self.plan.physical.steps[handle.step]
            if link == "hop" or source.is_global or not parts:
                continue
            start = self.parts[handle.step][-1]
            target = next((part for part in parts if not part.source), parts[-1])
            if not start.sink:
                self._edge(start.name, target.name)

    def _edge(self, source: str, target: str) -> None:
        if target not in self.after[source]:
            self.after[source].append(target)
            self.before[target].append(source)

    def text(self) -> str:
        lines = ["Topologies:"]
        for index, sub in enumerate(self.plan.subtopologies):
            lines.append(f"{'   ' if index == 0 else '  '}Sub-topology: {sub.id}")
            for step in sub.steps:
                for part in self.parts[step.id]:
                    lines += self._part(part)
            lines.append("")
        for offset, step in enumerate(self.plan.globals):
            number = len(self.plan.subtopologies) + offset
            first = "   " if number == 0 else "  "
            lines.append(
                f"{first}Sub-topology: {number} for global store (will not generate tasks)"
            )
            for part in self.parts[step.id]:
                lines += self._part(part)
            lines.append("")
        return "\n".join(lines) + "\n"

    def _part(self, part: _Part) -> list[str]:
        lines = [f"    {part.head}"]
        if not part.sink:
            lines.append(f"      --> {', '.join(self.after[part.name]) or 'none'}")
        if not part.source:
            lines.append(f"      <-- {', '.join(self.before[part.name]) or 'none'}")
        return lines


def _parts(step: Step, stores: str) -> list[_Part]:
    """The sources, processors and sinks that Kafka Streams would create for a step."""
    source = _source(step.reads) if step.reads else ""
    writes = step.writes
    if step.reads and not writes and step.role in ("stream", "grouped"):
        return [_Part(step.id, f"Source: {step.id} {source}", source=True)]
    if writes and not writes.repartition:
        where = f"topic: {writes.topic}" if writes.topic else "extractor class: expression"
        return [_Part(step.id, f"Sink: {step.id} ({where})", sink=True)]
    # Kafka Streams writes repartition topics after a filter that drops null keys.
    name = f"{step.id}-filter" if step.op == "repartition" else step.id
    found = [_Part(name, f"Processor: {name} (stores: [{stores}])")]
    if step.reads:
        reading = f"{step.id}-source"
        found.insert(0, _Part(reading, f"Source: {reading} {source}", source=True))
    if writes:
        writing = f"{step.id}-sink"
        found.append(_Part(writing, f"Sink: {writing} (topic: {writes.topic})", sink=True))
    return found


def _source(reads: Reads) -> str:
    reader = f", reader: {reads.reader}" if reads.reader else ""
    topics = reads.pattern or f"[{', '.join(reads.topics)}]"
    return f"(topics: {topics}{reader})"
