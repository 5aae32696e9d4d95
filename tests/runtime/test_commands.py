"""Commands for testers: their output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.results.input_lines import checked_line

from cli import main
from cli.documents import read_lines, show_diagnostics


def test_a_document_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", str(tmp_path / "none.json")]) == 2
    assert "none.json cannot be read" in capsys.readouterr().err


def test_a_text_that_is_no_json_gives_a_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"nodes": [')
    assert main(["compile", str(path), "-o", str(tmp_path / "out"), "--json"]) == 2
    printed = capsys.readouterr().err
    assert json.loads(printed)["diagnostics"][0]["message"]
    assert "Traceback" not in printed
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[]", "expected an object with one of topic"),
        ('{"key": 1}', "expected an object with one of topic"),
        ('{"topic": "t", "timestamp": "now"}', "timestamp must be a whole number"),
        ('{"topic": "t", "timestamp": true}', "timestamp must be a whole number"),
        ('{"advance_wall_clock": 1.5}', "advance_wall_clock must be a whole number"),
        ("{", "line 2"),
    ],
)
def test_an_input_line_that_cannot_be_is_named_by_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, says: str
) -> None:
    inputs = tmp_path / "in.jsonl"
    inputs.write_text(f'{{"topic": "t"}}\n{line}\n')
    document = tmp_path / "doc.json"
    document.write_text('{"format": "millrace.topology/1", "name": "x", "nodes": [], "edges": []}')
    assert main(["simulate", str(document), "--inputs", str(inputs)]) == 2
    printed = capsys.readouterr().err
    assert says in printed
    assert "line 2" in printed


def test_empty_lines_are_no_input(tmp_path: Path) -> None:
    inputs = tmp_path / "in.jsonl"
    inputs.write_text('\n{"topic": "t"}\n\n{"restart": true}\n')
    assert read_lines(str(inputs)) == [{"topic": "t"}, {"restart": True}]


def test_lines_of_all_kinds_are_taken() -> None:
    lines: list[Any] = [
        {"topic": "t", "key": None, "value": "v", "timestamp": 0, "headers": {"h": "x"}},
        {"advance_wall_clock": 5},
        {"restart": True},
    ]
    assert [checked_line(line, "here") for line in lines] == lines


def test_a_diagnostic_is_reported_with_its_node_and_what_would_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found: Any = {"severity": "error", "node": "n", "parameter": "p", "message": "is wrong.",
                  "hint": "Correct it."}  # fmt: skip
    show_diagnostics([found])
    assert capsys.readouterr().err == "error: n.p: is wrong. Correct it.\n"


def test_a_folder_without_scenarios_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conformance", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "no such scenario file" in capsys.readouterr().err


def test_verify_wants_something_to_compare(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify"]) == 2
    assert main(["verify", "--random", "1", "--describe", "--dialect", "plain"]) == 2
    assert "--random N" in capsys.readouterr().err


def _summing(path: Path, type_: str) -> str:
    """Write a document that sums by key with this type, and return its path."""
    aggregate = {"type": type_, "initializer": f"CAST(0 AS {type_})", "aggregator": "agg"}
    nodes = [
        {"id": "in", "kind": "source.stream",
         "params": {"topics": ["in"], "key": {"format": "string"}, "value": {"format": "string"}}},
        {"id": "sum", "kind": "aggregate", "params": aggregate},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
    ]  # fmt: skip
    edges = [{"source": "in", "target": "sum"}, {"source": "sum", "target": "out"}]
    document = {"format": "millrace.topology/1", "name": "x", "nodes": nodes, "edges": edges}
    path.write_text(json.dumps(document))
    return str(path)


@pytest.mark.spark
def test_compare_state_reports_stores_and_refused_documents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (_summing(tmp_path / f"{t}.json", t) for t in ("DOUBLE", "BIGINT"))
    assert main(["compare-state", old, new, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "stores": [{"id": "sum", "kind": "key_value", "verdict": "incompatible",
                    "reasons": ["value_type_changed"]}],
        "sources": [{"topic": "in", "verdict": "continues"}],
        "accepted": False,
    }  # fmt: skip
    assert main(["compare-state", old, new]) == 0
    reported = capsys.readouterr().out
    assert "another type of value" in reported
    assert "A decision is needed for: sum." in reported
    broken = _summing(tmp_path / "broken.json", "NONSENSE")
    assert main(["compare-state", old, broken, "--json"]) == 2
    [diagnostic] = [
        each for each in json.loads(capsys.readouterr().err)["diagnostics"]
        if each["parameter"] == "type"
    ]  # fmt: skip
    assert diagnostic["document"] == broken
    assert diagnostic["node"] == "sum"
