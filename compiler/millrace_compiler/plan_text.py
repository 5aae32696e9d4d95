"""A plan as text, in the manner of Kafka Streams' ``Topology#describe``."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass

from millrace_compiler.lowering import Physical, Step
from millrace_compiler.plan import Plan


def plan_text(plan: Plan) -> str:
    """Sub-topologies with their sources, processors, stores and sinks, and what follows on what."""
    return _Text(plan).text()


@dataclass
class _Part:
    """One line group of the text: a source, processor or sink by Kafka Streams' reckoning."""

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
            self.parts[step.id] = _parts(plan.physical, step)
        for step in plan.physical.steps.values():
            self._connect(step)

    def _connect(self, step: Step) -> None:
        parts = self.parts[step.id]
        for first, second in itertools.pairwise(parts):
            self._edge(first.name, second.name)
        for handle, link in step.links:
            source = self.plan.physical.steps[handle.step]
            if link == "hop" or source.op == "global_table" or not parts:
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


def _parts(physical: Physical, step: Step) -> list[_Part]:
    """The processors that Kafka Streams has for a step."""
    stores = ", ".join(step.stores)
    processor = f"Processor: {step.id} (stores: [{stores}])"
    topics = step.pattern or f"[{', '.join(step.topics)}]"
    if step.read_by:
        topics += f", reader: {step.read_by}"
    if step.op in ("table", "global_table"):
        source = f"Source: {step.id}-source (topics: {topics})"
        return [_Part(f"{step.id}-source", source, source=True), _Part(step.id, processor)]
    if step.op in ("stream", "repartitioned", "grouped_table"):
        return [_Part(step.id, f"Source: {step.id} (topics: {topics})", source=True)]
    if step.op in ("foreign_key_lookup", "foreign_key_resolve"):
        source = f"Source: {step.id}-source (topics: {topics})"
        found = [_Part(f"{step.id}-source", source, source=True), _Part(step.id, processor)]
        if step.written:
            sink = f"Sink: {step.id}-sink (topic: {step.written})"
            found.append(_Part(f"{step.id}-sink", sink, sink=True))
        return found
    if step.op in ("repartition", "group_by", "foreign_key_subscribe"):
        name = f"{step.id}-filter" if step.op == "repartition" else step.id
        head = f"Processor: {name} (stores: [{stores}])"
        sink = f"Sink: {step.id}-sink (topic: {step.written})"
        return [_Part(name, head), _Part(f"{step.id}-sink", sink, sink=True)]
    if step.op == "to":
        where = f"topic: {step.written}" if step.written else "extractor class: expression"
        return [_Part(step.id, f"Sink: {step.id} ({where})", sink=True)]
    return [_Part(step.id, processor)]
