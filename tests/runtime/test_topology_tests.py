"""`test-topology`: tests that pass, tests that fail, and files that are no tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli import main

SCENARIOS = Path(__file__).parents[1] / "conformance" / "scenarios"
WITH_STORE = "M03"
SCENARIO: dict[str, Any] = json.loads((SCENARIOS / f"{WITH_STORE}.json").read_text("utf-8"))


def kept(folder: Path, tests: dict[str, Any]) -> str:
    """A document with its tests beside it; returns the document's path."""
    (folder / "tests").mkdir()
    for name, test in tests.items():
        (folder / "tests" / f"{name}.json").write_text(json.dumps(test), "utf-8")
    document = folder / "topology.json"
    document.write_text(json.dumps(SCENARIO["topology"]), "utf-8")
    return str(document)


def test_of(**changes: Any) -> dict[str, Any]:
    """The recorded scenario as a test, with changes to what it expects."""
    expected = {**SCENARIO["expected"], **changes}
    return {"inputs": SCENARIO["inputs"], "expected": expected}


test_of.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.spark
def test_what_differs_is_shown_and_what_a_test_leaves_out_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = SCENARIO["expected"]["outputs"]
    name, rows = next(iter(SCENARIO["expected"]["stores"].items()))
    assert outputs
    assert rows
    without = [{k: v for k, v in row.items() if k in ("topic", "key", "value")} for row in outputs]
    path = kept(
        tmp_path,
        {
            "a-as-recorded": test_of(),
            "b-without-timestamps": {**test_of(outputs=without), "cuts": ["each", "all"]},
            "c-stores-only": {"inputs": SCENARIO["inputs"], "expected": {"stores": {name: rows}}},
            "d-one-less": test_of(outputs=outputs[:-1]),
            "e-other-store": test_of(stores={name: rows[:-1]}),
            "f-other-drops": test_of(dropped=SCENARIO["expected"]["dropped"] + 1),
        },
    )
    assert main(["test-topology", path, "--json"]) == 1
    reported = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in reported["tests"] if each["passed"]] == [
        "a-as-recorded", "b-without-timestamps", "c-stores-only",
    ]  # fmt: skip
    assert (reported["passed"], reported["failed"]) == (3, 3)
    less, store, drops = (each["differences"] for each in reported["tests"][3:])
    assert "expected nothing, got" in less[0]
    assert store[0].startswith(f"store {name}, key ")
    assert drops[0].startswith("dropped: expected")


@pytest.mark.spark
def test_a_scenario_file_is_its_own_test(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test-topology", str(SCENARIOS / f"{WITH_STORE}.json")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "it is not JSON"),
        ("[]", "an object with inputs and expected"),
        ('{"input": [], "expected": {}}', "there is no field input"),
        ('{"inputs": []}', "expected is missing"),
        ('{"expected": {"outputs": {}}}', "expected.outputs must be a list"),
        ('{"expected": {"outputs": [{"key": 1}]}}', "needs a topic"),
        ('{"expected": {}, "compare": "fast"}', "compare must be one of"),
        ('{"expected": {}, "cuts": ["some"]}', "cuts must be a list of"),
        (
            '{"expected": {"outputs": [{"topic": "t"}]}, "compare": "set_per_input"}',
            "needs after",
        ),
    ],
)
def test_a_file_that_is_no_test_is_named_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    path = kept(tmp_path, {"good": test_of()})
    (tmp_path / "tests" / "bad.json").write_text(text, "utf-8")
    assert main(["test-topology", path]) == 2
    reported = capsys.readouterr().err
    assert says in reported
    assert "bad.json" in reported


def test_a_topology_without_tests_reports_where_they_are_looked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "topology.json"
    document.write_text(json.dumps(SCENARIO["topology"]), "utf-8")
    assert main(["test-topology", str(document)]) == 2
    assert "--tests DIR" in capsys.readouterr().err
