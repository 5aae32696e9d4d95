"""Sub-topologies, tasks, stores and internal topics, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace_model.plans import DescriptionJson, NodePlan

from millrace_compiler.compilation.compilation import (
    Compilation,
    compile_document,
    subtopology_json,
)
from millrace_compiler.inference.analysis import Analyzer
from millrace_compiler.planning.plan import Plan
from millrace_compiler.planning.plan_text import plan_text


@dataclass(frozen=True)
class Description:
    """The parts of a running topology."""

    plan: Plan
    nodes: Mapping[str, NodePlan] = field(default_factory=dict)

    def to_json(self, *, guarantees: bool = False) -> DescriptionJson:
        """The output of ``describe --json``, optionally with the guarantee of each node."""
        count = len(self.plan.subtopologies)
        found: DescriptionJson = {
            "subtopologies": [subtopology_json(self.plan, i) for i in range(count)],
            "internal_topics": self.plan.internal_topics(),
        }
        if guarantees:
            found["nodes"] = dict(self.nodes)
        return found

    @property
    def promises(self) -> str:
        """How each node runs, what it guarantees and why, as text."""
        lines = ["Guarantees:"]
        for id_, node in self.nodes.items():
            lines.append(f"    {id_} ({str(node['runs_as']).replace('_', ' ')})")
            lines += [f"      {node['guarantee']}", f"      {node['why']}"]
        return "\n".join(lines) + "\n"

    @property
    def text(self) -> str:
        """The plan in the manner of Kafka Streams' ``Topology#describe``."""
        return plan_text(self.plan)


def describe(raw: Mapping[str, object] | object, analyzer: Analyzer) -> Description:
    """Describes a document. Raises :class:`Refused` if it is refused."""
    return description_of(compile_document(raw, analyzer))


def description_of(compilation: Compilation) -> Description:
    """Describes a compiled document. Raises :class:`Refused` if it was refused."""
    plan = compilation.require().plan
    if plan is None:
        raise ValueError("a compiled document has a plan")
    return Description(plan, compilation.nodes_json(plan))
