"""A random topology that shows a fault is reduced to what the fault needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from millrace_compiler import compile_document
from millrace_model.scenarios import Scenario
from millrace_runtime.functions.known_types import KnownTypes

from oracle import fuzz
from oracle.fuzz.shrinking import smallest, text_of

#: A fault: whether a stand-in for a faulty operator gives other results for a valid scenario.
Fault = Callable[[Scenario, dict[str, Counter[str]]], bool]


def loses_the_second_record_of_a_session(scenario: Scenario, keys: dict[str, Counter[str]]) -> bool:
    windows = [(node.get("params") or {}).get("window") for node in scenario["topology"]["nodes"]]
    sessions = any(window is not None and window["type"] == "session" for window in windows)
    return sessions and any(most > 1 for counted in keys.values() for most in counted.values())


def forgets_a_deleted_row(scenario: Scenario, keys: dict[str, Counter[str]]) -> bool:
    topics = {
        (node.get("params") or {}).get("topic")
        for node in scenario["topology"]["nodes"]
        if node["kind"] == "source.table"
    }
    joined = any(node["kind"] == "join.table_table" for node in scenario["topology"]["nodes"])
    deleted = [line for line in scenario["inputs"] if line.get("value", 0) is None]
    return joined and any(line.get("topic") in topics for line in deleted)


def differs_by(fault: Fault) -> Callable[[Scenario], bool]:
    def differs(scenario: Scenario) -> bool:
        found = compile_document(scenario["topology"], KnownTypes())
        keys: dict[str, Counter[str]] = {}
        for line in scenario["inputs"]:
            if "topic" in line:
                keys.setdefault(line["topic"], Counter())[str(line.get("key"))] += 1
        return found.ok and fault(scenario, keys)

    return differs


@pytest.mark.parametrize(
    ("fault", "kinds", "lines"),
    [
        (
            loses_the_second_record_of_a_session,
            {"source.stream": 1, "count": 1, "sink.topic": 1},
            2,
        ),
        (
            forgets_a_deleted_row,
            {"source.table": 2, "join.table_table": 1, "sink.topic": 1},
            1,
        ),
    ],
)
def test_what_is_left_is_what_a_fault_needs(
    fault: Fault, kinds: dict[str, int], lines: int
) -> None:
    differs = differs_by(fault)
    scenarios = (fuzz.scenario(7, number, wide=True) for number in range(400))
    found = next(each for each in scenarios if differs(each) and len(each["topology"]["nodes"]) > 9)
    least = smallest(found, differs)
    assert differs(least)
    assert Counter(node["kind"] for node in least["topology"]["nodes"]) == kinds, text_of(least)
    assert len(least["inputs"]) == lines
    assert len(text_of(least).splitlines()) <= 12
    # The scenario that was found is kept as it is.
    assert differs(found)
    assert len(found["inputs"]) > lines


def test_a_reduction_ends_when_there_is_no_more_time() -> None:
    scenario = fuzz.scenario(7, 3, wide=True)
    tried: list[Scenario] = []

    def differs(each: Scenario) -> bool:
        tried.append(each)
        return True

    assert smallest(scenario, differs, lambda: len(tried) < 5) != scenario
    assert len(tried) == 5
