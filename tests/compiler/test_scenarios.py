"""The recorded scenarios of Kafka Streams: accepted, refused and described as recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import Analyzer, compile_document, describe
from millrace_runtime.results.comparing import differences

FOLDER = Path(__file__).parents[1] / "conformance" / "scenarios"
SCENARIOS = {
    path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))
}


def refused(scenario: Any) -> bool:
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
    if refused(scenario):
        return
    found: Any = describe(scenario["topology"], analyzer).to_json()
    assert differences(scenario, found, "each") == []
