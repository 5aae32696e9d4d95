"""Commands on documents with fragments name their nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli import main
from cli.documents import read_document, show_diagnostics
from tests.compiler.graphs.test_fragments import COUNTED, compiled, counted


def faulty(folder: Path) -> Path:
    """Write a document with a fault in its fragment."""
    fragment = json.loads(json.dumps(COUNTED))
    fragment["nodes"][1]["params"]["predicat"] = "true"
    file = folder / "doc.json"
    file.write_text(json.dumps({**counted(), "fragments": {"counted@1": fragment}}), "utf-8")
    return file


def test_a_fault_in_a_fragment_names_its_node_and_the_one_within(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = faulty(tmp_path)
    found = compiled(read_document(str(file), fragments=True)).diagnostics
    show_diagnostics([each.to_json() for each in found if each.code == "parameter_unknown"])
    assert capsys.readouterr().err.startswith("error: counted > keep.predicat: ")


@pytest.mark.spark
@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "DOC", "--inputs", "IN"),
        ("verify", "DOC", "--inputs", "IN"),
        ("test-topology", "DOC"),
        ("differ", "DOC", "DOC"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.usefixtures("warm")
def test_commands_that_run_name_it_too(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"DOC": faulty(tmp_path), "IN": tmp_path / "in.jsonl"}
    places["IN"].write_text("", "utf-8")
    (tmp_path / "tests").mkdir()
    test = {"inputs": [], "expected": {"outputs": []}}
    (tmp_path / "tests" / "a.json").write_text(json.dumps(test), "utf-8")
    assert main([str(places.get(word, word)) for word in words]) == 2
    assert "error: counted > keep.predicat: " in capsys.readouterr().err


def test_releases_name_the_node_of_a_fragment_with_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, lines = tmp_path / "doc.json", tmp_path / "in.jsonl"
    file.write_text(json.dumps(counted(arguments={"shortes": 1})), "utf-8")
    lines.write_text("", "utf-8")
    releases = ["--kafka", "4.3", "--kafka", "4.4"]
    assert main(["verify", str(file), "--inputs", str(lines), *releases]) == 2
    assert "error: counted." in capsys.readouterr().err
