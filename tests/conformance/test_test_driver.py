"""Every recorded scenario that a test driver can express gives Kafka Streams' results in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from millrace_runtime.results.comparing import differences

from tests.conformance import through_driver

FOLDERS = [Path(__file__).parent / name for name in ("scenarios", "random", "semantics")]
SCENARIOS: dict[str, Any] = {
    path.stem: json.loads(path.read_text("utf-8"))
    for folder in FOLDERS
    for path in sorted(folder.glob("*.json"))
}
REASONS = {
    name: reason
    for name, scenario in SCENARIOS.items()
    if (reason := through_driver.not_expressible(scenario)) is not None
}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in REASONS])
def test_the_driver_gives_what_kafka_streams_gave(name: str) -> None:
    scenario = SCENARIOS[name]
    assert differences(scenario, cast(Any, through_driver.run(scenario)), "each") == []


#: What a function returns to do the same as one of the handlers by name.
ANSWERS = {
    "continue": "Response.resume()",
    "dead_letter": "Response.resume(record.dead_letter(error))",
    "dead_letter_then_fail": "Response.fail(record.dead_letter(error))",
    "fail": "Response.fail()",
}
HANDLED = [
    name
    for name, scenario in SCENARIOS.items()
    if name not in REASONS
    and any(key.endswith("ing_handler") for key in scenario["topology"].get("settings") or {})
]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", HANDLED)
def test_a_function_as_a_handler_gives_what_kafka_streams_gave(name: str) -> None:
    scenario = SCENARIOS[name]
    settings = dict(scenario["topology"]["settings"])
    for kind in ("processing", "deserialization"):
        answer = ANSWERS[settings.get(f"{kind}_handler", "fail")]
        settings[f"{kind}_function"] = f"def handle(record, error):\n    return {answer}\n"
        settings[f"{kind}_handler"] = "function"
    changed: Any = {**scenario, "topology": {**scenario["topology"], "settings": settings}}
    assert differences(scenario, cast(Any, through_driver.run(changed)), "each") == []


def test_only_descriptions_and_restarts_are_not_compared() -> None:
    assert (len(SCENARIOS), len(REASONS)) == (286, 13), REASONS
