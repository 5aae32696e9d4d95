"""Kafka Streams' results for topologies, mostly random, that once came out differently.

A sample, in micro-batches; with MILLRACE_CONFORMANCE=whole all of them. The test driver runs all.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.results.cuts import Cut

from cli.simulating import Warm, load_scenarios, run_scenario

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FOLDER = Path(__file__).parents[2] / "conformance"
SCENARIOS = {
    scenario["id"]: scenario
    for kind in ("random", "semantics")
    for scenario in load_scenarios(FOLDER / kind)
}

WHOLE = os.environ.get("MILLRACE_CONFORMANCE") == "whole"
CHOSEN = list(SCENARIOS) if WHOLE else random.Random(4).sample(sorted(SCENARIOS), 10)


def text(value: Any) -> str:
    """Return comparable text: missing fields are null, whole floats are whole numbers."""

    def plain(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: plain(x) for name, x in sorted(part.items()) if x is not None}
        if isinstance(part, list):
            return [plain(x) for x in part]
        return int(part) if isinstance(part, float) and part.is_integer() else part

    return json.dumps(plain(value))


def records(outputs: list[Any], scenario: Any) -> dict[str, list[str]]:
    """Return the records of each topic, sorted if Kafka Streams defines no order."""
    found: dict[str, list[str]] = {}
    for output in outputs:
        shown = {part: output.get(part) for part in ("key", "value", "timestamp", "headers")}
        found.setdefault(output["topic"], []).append(text(shown))
    if scenario["compare"] != "sequence":
        for lines in found.values():
            lines.sort()
    return found


def rows(stores: dict[str, list[Any]]) -> dict[str, list[str]]:
    return {name: sorted(text(row) for row in found) for name, found in stores.items()}


@pytest.mark.parametrize("name", CHOSEN)
def test_a_topology_gives_what_kafka_streams_gives(name: str, warm: Warm) -> None:
    scenario = SCENARIOS[name]
    cut = Cut.parse("all" if "all" in scenario["cuts"] else "each")
    result = run_scenario(warm, scenario, cut)
    expected = scenario["expected"]
    assert records(result["outputs"], scenario) == records(expected["outputs"], scenario)
    if expected["error"] is not None:
        assert result["error"]["after"] == expected["error"]["after"]
        return
    assert result["error"] is None
    assert rows(result["stores"]) == rows(expected["stores"])
    assert result["dropped"] == expected["dropped"]
