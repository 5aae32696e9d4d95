"""An example of each operator: a small topology, its input records, and its output.

A file of ``examples/`` has the shape of a conformance scenario. Its ``expected`` was recorded from
Kafka Streams (``./millrace golden``), and a test runs it on Spark, so pages, pictures and the
palette show actual results.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from millrace_model.documents import DocumentNode, TopologyDocument
from millrace_model.records import InputLine, OutputLine, StoreEntry
from millrace_model.scenarios import Scenario

FOLDER = Path(__file__).parent / "examples"


@dataclass(frozen=True)
class Step:
    """An input record and its output records, in order."""

    record: InputLine
    results: tuple[OutputLine, ...]


@dataclass(frozen=True)
class Example:
    """An example of a kind: title, document, the node of that kind, inputs with their results."""

    title: str
    topology: TopologyDocument
    node: DocumentNode
    steps: tuple[Step, ...]
    stores: Mapping[str, tuple[StoreEntry, ...]]

    @property
    def sources(self) -> tuple[str, ...]:
        """The topics of the inputs, in the order in which they appear."""
        return tuple(dict.fromkeys(step.record["topic"] for step in self.steps))

    @property
    def targets(self) -> tuple[str, ...]:
        """The topics of the results, in the order in which they appear."""
        found = (result["topic"] for step in self.steps for result in step.results)
        return tuple(dict.fromkeys(found))

    def before(self, *, times: bool) -> list[dict[str, object]]:
        """The input records, shortened for the palette."""
        several = len(self.sources) > 1
        return [_short(step.record, several, times) for step in self.steps]

    def after(self, *, times: bool) -> list[dict[str, object]]:
        """The results, shortened for the palette."""
        several = len(self.targets) > 1
        results = (result for step in self.steps for result in step.results)
        return [_short(result, several, times) for result in results]


def _short(record: InputLine | OutputLine, topic: bool, time: bool) -> dict[str, object]:
    found: dict[str, object] = {"key": record["key"], "value": record["value"]}
    if time:
        found["timestamp"] = record["timestamp"]
    if topic:
        found["topic"] = record["topic"]
    return found


@functools.cache
def example(kind: str) -> Example:
    """The example of a kind."""
    raw: Scenario = json.loads((FOLDER / f"{kind}.json").read_text("utf-8"))
    expected = raw["expected"]
    outputs = expected["outputs"]
    steps = tuple(
        Step(record, tuple(out for out in outputs if out["after"] == number))
        for number, record in enumerate(raw["inputs"], 1)
    )
    node = next(node for node in raw["topology"]["nodes"] if node["kind"] == kind)
    stores = {name: tuple(rows) for name, rows in (expected.get("stores") or {}).items()}
    return Example(raw["title"], raw["topology"], node, steps, stores)
