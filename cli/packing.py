"""Packing of several documents into one, which share only the fixed cost of a micro-batch.

A micro-batch costs Spark about as much for one small topology as for twenty. Parts of a document
that no edge, topic or store connects are independent, so documents with distinct names can run side
by side in one query: round n processes the n-th line of each. Names identify the outputs of each
document.
"""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from millrace_model.documents import Params, TopologyDocument
from millrace_model.records import OutputLine
from millrace_model.scenarios import Scenario, ScenarioResult
from millrace_runtime.results.cuts import Cut
from millrace_runtime.results.lines import Line
from millrace_runtime.results.results import Result

Batch = list[tuple[int, Line]]

# Features that depend on the other documents of a pack: a topic's name at run time, the single wall
# clock, and processor code, which may use either.
_SEEN_TOPIC = re.compile(r"\b(topic|offset)\b")
_NAMING = {"topic", "topics", "topic_expression", "topic_pattern"}


def packable(scenario: Scenario) -> bool:
    """Return whether the scenario yields the same results in a pack as alone, except for names."""
    settings = scenario["topology"].get("settings") or {}
    if "dead_letter_topic" in settings or scenario["expected"].get("error"):
        return False
    if any("topic" not in line for line in scenario["inputs"]) or loops(scenario["topology"]):
        return False
    return all(_packable(node.get("params") or {}) for node in scenario["topology"]["nodes"])


def loops(topology: TopologyDocument) -> bool:
    """Return whether the topology reads a topic that it writes."""
    read: set[str] = set()
    written: set[str] = set()
    for node in topology["nodes"]:
        params = node.get("params") or {}
        topics = {*params.get("topics", []), params.get("topic")}
        (written if node["kind"].startswith("sink.") else read).update(topics - {None})
    return not read.isdisjoint(written)


def _packable(params: Params) -> bool:
    # The size of a buffer in bytes includes the names of topics.
    if not params.keys().isdisjoint({"topic_pattern", "topic_expression", "code", "max_bytes"}):
        return False
    named = {name: value for name, value in params.items() if name not in _NAMING}
    return not any(_SEEN_TOPIC.search(text) for text in _texts(named))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def packs(scenarios: Iterable[Scenario], size: int) -> Iterator[list[Scenario]]:
    """Yield groups of at most `size` scenarios with equal settings."""
    groups: dict[str, list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        settings = scenario["topology"].get("settings") or {}
        groups[json.dumps(settings, sort_keys=True)].append(scenario)
    for group in groups.values():
        for start in range(0, len(group), size):
            yield group[start : start + size]


@dataclasses.dataclass
class Pack:
    """One document made of several, and its input in rounds."""

    scenarios: Sequence[Scenario]

    @property
    def document(self) -> TopologyDocument:
        """All documents as one, with prefixed names."""
        parts = [_renamed(each["topology"], _prefix(n)) for n, each in enumerate(self.scenarios)]
        joined: TopologyDocument = {
            "format": parts[0]["format"],
            "name": "pack",
            "settings": parts[0].get("settings") or {},
            "topics": {},
            "nodes": [node for part in parts for node in part["nodes"]],
            "edges": [edge for part in parts for edge in part["edges"]],
        }
        for part in parts:
            joined["topics"].update(part["topics"])
        return joined

    def batches(self, cut: Cut) -> list[Batch]:
        """Return the rounds, each with one line of every scenario that has lines left."""
        chance = random.Random(cut.seed)  # noqa: S311 - cuts are to be repeatable
        batches: list[Batch] = []
        for place in range(max(len(each["inputs"]) for each in self.scenarios)):
            alone = cut.kind == "each" or (cut.kind == "random" and chance.random() < 0.4)
            if alone or not batches:
                batches.append([])
            for number, scenario in enumerate(self.scenarios):
                if place < len(scenario["inputs"]):
                    line = scenario["inputs"][place]
                    named = line.copy()
                    named["topic"] = _prefix(number) + line["topic"]
                    batches[-1].append((place * len(self.scenarios) + number, named))
        return batches

    def results(self, result: Result) -> Iterator[ScenarioResult]:
        """The result of each scenario, as if it had run alone."""
        size = len(self.scenarios)
        for number in range(size):
            prefix = _prefix(number)
            outputs: list[OutputLine] = [
                {
                    **out,
                    "topic": out["topic"].removeprefix(prefix),
                    "after": out["after"] // size + 1,
                }
                for out in result.outputs
                if out["after"] % size == number
            ]
            yield {
                "outputs": outputs,
                "dropped": sum(n for node, n in result.drops.items() if node.startswith(prefix)),
                "stores": {
                    name.removeprefix(prefix): rows
                    for name, rows in result.stores.items()
                    if name.startswith(prefix)
                },
                "error": None,
            }


def _prefix(number: int) -> str:
    return f"c{number}-"


def _renamed(topology: TopologyDocument, prefix: str) -> TopologyDocument:
    return {
        **topology,
        "topics": {prefix + name: each for name, each in (topology.get("topics") or {}).items()},
        "nodes": [
            {**node, "id": prefix + node["id"], "params": _named(node.get("params") or {}, prefix)}
            for node in topology["nodes"]
        ],
        "edges": [
            {**edge, "source": prefix + edge["source"], "target": prefix + edge["target"]}
            for edge in topology["edges"]
        ],
    }


def _named(params: Params, prefix: str) -> Params:
    named = dict(params)
    for own in ("topic", "name"):
        if isinstance(named.get(own), str):
            named[own] = prefix + named[own]
    if "topics" in named:
        named["topics"] = [prefix + topic for topic in named["topics"]]
    return named
