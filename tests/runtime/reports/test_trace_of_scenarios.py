"""A simulation loses and invents no record: of every node, all that enter are accounted for.

With MILLRACE_CONFORMANCE=whole every scenario is simulated, else a sample.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FOLDER = Path(__file__).parents[2] / "conformance/scenarios"
#: kinds at which a record may pass through a repartition topic, wait, or find nothing
WANTED = ("join.", "repartition", "cogroup", "count", "to_table", "split", "suppress", "process")


@cache
def scenario(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def _runs(name: str) -> bool:
    found = scenario(name)
    return (
        found["compare"] not in ("refused", "describe")
        and not found["expected"]["error"]
        and any(node["kind"].startswith(WANTED) for node in found["topology"]["nodes"])
    )


NAMES = [path.stem for path in sorted(FOLDER.glob("*.json")) if _runs(path.stem)]
if os.environ.get("MILLRACE_CONFORMANCE") != "whole":
    NAMES = random.Random(4).sample(NAMES, 20)


@pytest.fixture(scope="module")
def traced(warm: Any) -> Any:
    """Return the simulation of a scenario as the page shows it."""
    from millrace_runtime.analyzer.compiling import compiled
    from millrace_runtime.simulator.memory import TraceLimits
    from millrace_runtime.simulator.process import run, shown

    @cache
    def simulated(name: str) -> Any:
        document, lines = scenario(name)["topology"], scenario(name)["inputs"]
        graph = compiled(document, warm.analyzer).require_task_graph()
        return shown(document, run(warm.spark, document, graph, lines, TraceLimits(steps=20_000)))

    return simulated


def accounted(document: Any, result: Any) -> dict[str, tuple[int, int]]:
    """Return, by node, the records without any trace of what became of them, and those that moved.

    Those that moved went to another task through a topic, where their step has no parent.
    """
    known = {step["parent"] for step in result["steps"] if step["parent"] is not None}
    silent: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    for step in result["steps"]:
        if step["event"] != "record":
            continue
        if step["parent"] is None and step["from"] is not None:
            moved[step["from"]] += 1
        if step["seq"] not in known:
            silent[step["node"]] += 1
    return {
        node["id"]: (silent[node["id"]], moved[node["id"]])
        for node in document["nodes"]
        if not node["kind"].startswith("sink.")
    }


@pytest.mark.parametrize("name", NAMES)
def test_each_record_of_a_node_goes_on_or_ends_with_a_reason(name: str, traced: Any) -> None:
    found = accounted(scenario(name)["topology"], traced(name))
    assert {node: counts for node, counts in found.items() if counts[0] > counts[1]} == {}


@pytest.mark.parametrize("name", NAMES)
def test_each_record_enters_each_node_once_per_pass(name: str, traced: Any) -> None:
    from millrace_runtime.reports.trace import same_sources

    document, result = scenario(name)["topology"], traced(name)
    same = same_sources(document)
    entered: Counter[str] = Counter(
        step["node"] for step in result["steps"] if step["event"] == "record" and not step["inside"]
    )
    unread = sum(step["event"] == "drop" and step["parent"] is None for step in result["steps"])
    over: defaultdict[str, int] = defaultdict(int)
    for edge, records in zip(document["edges"], result["edges"], strict=True):
        over[edge["target"]] += records
    for node in document["nodes"]:
        counts = result["nodes"][node["id"]]
        if node["kind"].startswith("source."):
            first = same.get(node["id"], node["id"])
            assert counts["in"] <= entered[first] + unread, node["id"]
        else:
            assert counts["in"] == entered[node["id"]] == over[node["id"]], node["id"]


@pytest.mark.parametrize("name", NAMES)
def test_an_end_is_told_only_of_a_record_that_gives_nothing(name: str, traced: Any) -> None:
    result = traced(name)
    waiting = {"waits", "held", "no_match_after_waiting"}
    ended = {
        step["parent"]
        for step in result["steps"]
        if step["event"] == "end" and step["reason"] not in waiting
    }
    went_on = [
        step for step in result["steps"] if step["event"] == "record" and step["parent"] in ended
    ]
    assert went_on == []
