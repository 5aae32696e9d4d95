"""Every recorded scenario that a test driver can express gives Kafka Streams' results in it.

All random ones and a sixth of the others run; with MILLRACE_CONFORMANCE=whole all of them.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any, cast

import pytest
from millrace_runtime.results.comparing import differences

from tests.conformance import through_driver
from tests.conformance.called_functions import with_functions, with_handlers

WHOLE = os.environ.get("MILLRACE_CONFORMANCE") == "whole"
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

EXPRESSIBLE = [name for name in SCENARIOS if name not in REASONS]
# tests/conformance/test_scenarios.py runs all those that are not random.
WRITTEN = [name for name in EXPRESSIBLE if (FOLDERS[0] / f"{name}.json").exists()]
LEFT_OUT = set() if WHOLE else set(random.Random(4).sample(WRITTEN, len(WRITTEN) * 5 // 6))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXPRESSIBLE if name not in LEFT_OUT])
def test_the_driver_gives_what_kafka_streams_gave(name: str) -> None:
    scenario = SCENARIOS[name]
    assert differences(scenario, cast(Any, through_driver.run(scenario)), "each") == []


HANDLED = [
    name
    for name, scenario in SCENARIOS.items()
    if name in EXPRESSIBLE
    and any(
        key.endswith("ing_handler") and answer != "function"
        for key, answer in (scenario["topology"].get("settings") or {}).items()
    )
]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", HANDLED)
def test_a_function_as_a_handler_gives_what_kafka_streams_gave(name: str) -> None:
    scenario = SCENARIOS[name]
    changed: Any = {**scenario, "topology": with_handlers(scenario["topology"])}
    assert differences(scenario, cast(Any, through_driver.run(changed)), "each") == []


#: Scenarios with each kind of node whose expressions can be functions.
CALLED = [
    "C03", "C04", "C06b", "D02", "D06", "D10", "D11", "D12", "D52", "D53", "E02a", "F01a",
    "G01b", "K01a", "K05b", "K51", "K53", "L53", "a-processor-reads-derived-tables",
    "custom-windows-ahead-of-time", "hopping-windows-with-an-offset",
]  # fmt: skip


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", EXPRESSIBLE if WHOLE else CALLED)
def test_functions_of_tables_give_what_kafka_streams_gave(name: str) -> None:
    scenario = SCENARIOS[name]
    topology = with_functions(scenario["topology"])
    if topology is None:
        assert name not in CALLED
        pytest.skip("it has no expression for which there is a function")
    changed: Any = {**scenario, "topology": topology}
    assert differences(scenario, cast(Any, through_driver.run(changed)), "each") == []


def test_only_descriptions_and_restarts_are_not_compared() -> None:
    assert (len(SCENARIOS), len(REASONS)) == (291, 13), REASONS
