"""Code in Python runs in Kafka Streams itself, and gives what Kafka Streams' own classes gave.

A sample; with MILLRACE_CONFORMANCE=whole every scenario that has such classes.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.comparing import differences

from cli.oracle import Oracle
from tests.conformance.called_functions import with_functions

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[1] / "conformance"
SCENARIOS: dict[str, Any] = {
    path.stem: json.loads(path.read_text("utf-8"))
    for folder in ("scenarios", "random", "semantics")
    for path in sorted((ROOT / folder).glob("*.json"))
}
#: recorded with classes of Kafka Streams' own in place of the code in Python that they also have
CODED = [
    name
    for name, scenario in SCENARIOS.items()
    if scenario.get("oracle_processors") and scenario.get("compare") != "describe"
]
if os.environ.get("MILLRACE_CONFORMANCE") != "whole":
    CODED = random.Random(4).sample(CODED, 12)
#: with each kind of node whose expressions can call functions
CALLED = ["C03", "C04", "D02", "D10", "D53", "E02a", "G01b", "K01a", "K05b", "L53"]


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle(python=True) as started:
        yield started


@pytest.mark.parametrize("name", CODED)
def test_a_class_in_python_gives_what_one_in_java_gave(oracle: Oracle, name: str) -> None:
    scenario = dict(SCENARIOS[name])
    del scenario["oracle_processors"]
    answer = oracle.run(cast(Any, scenario))
    assert differences(cast(Any, scenario), cast(Any, answer), "each") == []


@pytest.mark.parametrize("name", CALLED)
def test_a_function_in_python_gives_what_an_expression_gave(oracle: Oracle, name: str) -> None:
    scenario = SCENARIOS[name]
    changed: Any = {**scenario, "topology": with_functions(scenario["topology"])}
    assert changed["topology"] is not None
    answer = oracle.run(changed)
    assert differences(scenario, cast(Any, answer), "each") == []


def test_without_leave_no_code_runs() -> None:
    scenario = dict(SCENARIOS["M01"])
    del scenario["oracle_processors"]
    with Oracle() as started, pytest.raises(MillraceError, match="the Python code of count-words"):
        started.run(cast(Any, scenario))
