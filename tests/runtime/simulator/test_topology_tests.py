"""`test-topology`: tests that pass, tests that fail, and files that are not tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from cli import main

SCENARIOS = Path(__file__).parents[2] / "conformance" / "scenarios"
WITH_STORE = "M03"
SCENARIO: Any = json.loads((SCENARIOS / f"{WITH_STORE}.json").read_text("utf-8"))


def kept(folder: Path, tests: Any) -> str:
    """Write a document with its tests beside it; return the document's path."""
    (folder / "tests").mkdir()
    for name, test in tests.items():
        (folder / "tests" / f"{name}.json").write_text(json.dumps(test), "utf-8")
    document = folder / "topology.json"
    document.write_text(json.dumps(SCENARIO["topology"]), "utf-8")
    return str(document)


def test_of(**changes: Any) -> Any:
    """Return the recorded scenario as a test, with changes to its expectations."""
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


#: conditions on the recorded scenario: predicate, for how many records, and the differences
JUDGED: list[tuple[Any, list[str]]] = [
    ({"topic": "word-counts", "predicate": "value > 0 AND key RLIKE '^[a-z]+$'"}, []),
    ({"topic": "word-counts", "predicate": "timestamp = timestamp_millis(2)"}, []),
    ({"topic": "word-counts", "predicate": "value = 2", "records": "any"}, []),
    ({"topic": "word-counts", "predicate": "key = 'hello'", "records": 2}, []),
    ({"topic": "word-counts", "predicate": "headers['x'] IS NOT NULL", "records": 0}, []),
    ({"store": "counts", "predicate": "value BETWEEN 1 AND 2"}, []),
    (
        {"topic": "word-counts", "predicate": "value < 2"},
        ['word-counts[2]: expected value < 2, got {"key": "hello", "timestamp": 2, "value": 2}'],
    ),
    (  # a predicate that raises counts as not true
        {"topic": "word-counts", "predicate": "1 / (value - 1) = 1", "records": "any"},
        [],
    ),
    (
        {"topic": "word-counts", "predicate": "nullif(value, 1) = 3", "records": "any"},
        ["word-counts: expected a record with nullif(value, 1) = 3, got none in 3"],
    ),
    (
        {"topic": "word-counts", "predicate": "key = 'hello'", "records": 1},
        [
            "word-counts, records with key = 'hello': expected 1, "
            "got 2: word-counts[0], word-counts[2]"
        ],
    ),
    (
        {"store": "counts", "predicate": "value = 2"},
        [
            'store counts, key "kafka": expected value = 2, '
            'got {"key": "kafka", "timestamp": 2, "value": 1}'
        ],
    ),
]


@pytest.mark.spark
def test_conditions_name_the_records_that_break_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conditions = [condition for condition, _ in JUDGED]
    test = {"inputs": SCENARIO["inputs"], "expected": {"conditions": conditions}}
    nothing = {"inputs": [], "expected": {"conditions": conditions[:1]}}
    both = test_of(conditions=conditions[:1])
    path = kept(
        tmp_path,
        {"a": {**test, "cuts": ["each", "all"]}, "b-no-record": nothing, "c-exact-too": both},
    )
    assert main(["test-topology", path, "--json"]) == 1
    judged, empty, exact = json.loads(capsys.readouterr().out)["tests"]
    wanted = [text for _, texts in JUDGED for text in texts]
    assert judged["differences"] == [*wanted, *(f"cut all: {text}" for text in wanted)]
    assert empty["differences"] == [f"word-counts: expected a record with "
                                    f"{conditions[0]['predicate']}, got none in 0"]  # fmt: skip
    assert exact["passed"]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ({"topic": "word-counts", "predicate": "valu > 1"}, "no column “valu” here. Did you mean"),
        ({"topic": "word-counts", "predicate": "offset = 0"}, "no column “offset” here."),
        ({"topic": "word-counts", "predicate": "value"}, "expression returns BIGINT, but BOOLEAN"),
        ({"topic": "word-count", "predicate": "true"}, "No sink writes the topic word-count."),
        ({"store": "count", "predicate": "true"}, "no store node named count."),
        ({"store": "counts", "predicate": "headers IS NULL"}, "no column “headers” here."),
    ],
)
def test_a_condition_that_cannot_be_evaluated_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], condition: Any, says: str
) -> None:
    test = {"inputs": SCENARIO["inputs"], "expected": {"conditions": [condition]}}
    assert main(["test-topology", kept(tmp_path, {"faulty": test})]) == 2
    reported = capsys.readouterr()
    assert says in reported.err
    assert "faulty: conditions[0]." in reported.err
    assert reported.out == ""


def test_a_topic_with_conditions_is_compared_where_records_are_expected() -> None:
    from millrace_runtime.results.comparing import compared_as_test

    a, b = ({"topic": topic, "key": "k", "value": 1} for topic in "ab")
    result: Any = {"outputs": [a, b], "error": None}
    expected: Any = {"outputs": [a]}
    (found,) = compared_as_test(cast(Any, {"expected": expected}), result, "each")
    assert found.to_json() == {
        "code": "record_unexpected",
        "facts": {"topic": "b", "place": "0", "found": '{"key": "k", "value": 1}'},
        "message": 'b[0]: expected nothing, got {"key": "k", "value": 1}',
    }
    expected["conditions"] = [{"topic": "b", "predicate": "true"}]
    assert compared_as_test(cast(Any, {"expected": expected}), result, "each") == []
    expected["outputs"] = [a, {**b, "value": 2}]
    assert len(compared_as_test(cast(Any, {"expected": expected}), result, "each")) == 1


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
        ('{"expected": {"conditions": {}}}', "expected.conditions must be a list"),
        ('{"expected": {"conditions": [{"predicate": "true"}]}}', "either a topic or a store"),
        ('{"expected": {"conditions": [{"topic": "t"}]}}', "needs a predicate"),
        (
            '{"expected": {"conditions": [{"topic": "t", "predicate": "true", "records": -1}]}}',
            "conditions[0].records must be every, any or a number",
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


def text_document(drawing: Any) -> Any:
    """Texts in capitals, with what the drawing has for simulations."""
    text = {"key": {"format": "string"}, "value": {"format": "string"}}
    nodes = [
        {"id": "texts", "kind": "source.stream", "params": {"topics": ["texts"], **text}},
        {"id": "loud", "kind": "map_values", "params": {"value": "upper(value)"}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
    ]
    edges = [{"source": "texts", "target": "loud"}, {"source": "loud", "target": "out"}]
    return {
        "format": "millrace.topology/1", "name": "texts", "nodes": nodes, "edges": edges,
        "drawing": drawing,
    }  # fmt: skip


@pytest.mark.spark
def test_doubles_run_only_if_they_are_asked_for_and_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, inputs = tmp_path / "topology.json", tmp_path / "in.jsonl"
    answer = {"when": "value = 'b'", "value": "'from the double'"}
    drawing = {"doubles": [{"node": "loud", "rows": [answer], "passes": True}]}
    document.write_text(json.dumps(text_document(drawing)), "utf-8")
    lines = [{"topic": "texts", "key": "k", "value": each, "timestamp": 0} for each in "ab"]
    inputs.write_text("\n".join(map(json.dumps, lines)), "utf-8")

    def values(*more: str) -> tuple[list[str], str]:
        assert main(["simulate", str(document), "--inputs", str(inputs), *more]) == 0
        found = capsys.readouterr()
        return [json.loads(line)["value"] for line in found.out.splitlines()], found.err

    assert values()[0] == ["A", "B"]
    found, shown = values("--doubles")
    assert found == ["a", "from the double"]
    assert "Doubles stand for: loud." in shown

    (tmp_path / "tests").mkdir()
    outputs = [{"topic": "out", "key": "k", "value": each} for each in ("a", "from the double")]
    test = {"inputs": lines, "expected": {"outputs": outputs}}
    (tmp_path / "tests" / "double.json").write_text(json.dumps(test), "utf-8")
    assert main(["test-topology", str(document), "--json"]) == 1
    assert "doubles" not in json.loads(capsys.readouterr().out)
    assert main(["test-topology", str(document), "--doubles", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["doubles"] == ["loud"]
