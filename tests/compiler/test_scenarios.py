"""The recorded scenarios of Kafka Streams: accepted, refused and described as recorded."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import Analyzer, compile_document, describe

FOLDER = Path(__file__).parents[1] / "conformance" / "scenarios"
SCENARIOS = {
    path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))
}


def refused(scenario: dict[str, Any]) -> bool:
    error = scenario["expected"].get("error") or {}
    return scenario["compare"] == "refused" or error.get("kind") == "refused"


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_is_accepted_or_refused_as_recorded(name: str, analyzer: Analyzer) -> None:
    scenario = SCENARIOS[name]
    result = compile_document(scenario["topology"], analyzer)
    found = [d.to_text() for d in result.diagnostics]
    assert result.ok is not refused(scenario), found
    if refused(scenario):
        assert all(d.hint and d.message for d in result.diagnostics)


@pytest.mark.parametrize("name", [n for n, s in SCENARIOS.items() if s["compare"] == "describe"])
def test_a_description_has_the_recorded_parts(name: str, analyzer: Analyzer) -> None:
    scenario = SCENARIOS[name]
    expected = scenario["expected"]
    if refused(scenario):
        return
    found = describe(scenario["topology"], analyzer).to_json()
    named = {
        node["params"]["name"]
        for node in scenario["topology"]["nodes"]
        if node["kind"].startswith("store.")
    }

    def shape(description: Any) -> Counter[str]:
        internal = {topic["name"] for topic in description["internal_topics"]}
        return Counter(
            json.dumps(
                [
                    sorted(t for t in sub["sources"] if t not in internal),
                    sorted(t for t in sub["sinks"] if t not in internal),
                    sorted(s for s in sub["stores"] if s in named),
                    sum(t in internal for t in sub["sources"]),
                    sub["tasks"],
                ]
            )
            for sub in description["subtopologies"]
        )

    assert shape(found) == shape(expected)

    def widths(description: Any) -> list[int]:
        topics = description["internal_topics"]
        return sorted(t["partitions"] for t in topics if t["kind"] == "repartition")

    assert widths(found) == widths(expected)
