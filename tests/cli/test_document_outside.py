"""Programs with readers, DataFrames and functions: which parts become a document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import Topology, reader, string
from millrace_runtime.program import load_program

from cli.main import main
from tests.compiler.kit import compiled

EXAMPLE = Path(__file__).parents[2] / "examples" / "priced_orders.py"


def test_a_reader_goes_from_the_program_to_the_document_and_back(tmp_path: Path) -> None:
    document = load_program(EXAMPLE).document()
    files = compiled(document).require().code or {}
    (tmp_path / "job.py").write_text(files["job.py"], "utf-8")
    again = load_program(tmp_path).document()
    assert again == document
    [orders] = [node for node in document["nodes"] if node["id"] == "orders"]
    assert orders["label"] == "Orders"
    assert orders["params"]["reader"] == "parquet"
    assert document["topics"] == {"prices": {"partitions": 3}, "orders": {"partitions": 3}}


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (
            "t.stream('x', df=lambda spark: None, key=string(), value=string()).to('y')",
            "x: It reads a DataFrame, which cannot be part of a document.",
        ),
        (
            "t.stream('x', key=string(), value=string()).foreach_batch(print, name='keep')",
            "keep: Its records go to a function or a DataFrame",
        ),
        (
            "t.stream('x', 'z', df=lambda spark: None, key=string(), value=string())",
            "exactly one topic name",
        ),
        ("t.stream('x', partitions=3, key=string(), value=string())", "Topology(partitions=...)"),
    ],
)
def test_what_no_document_can_hold_is_named_with_its_node(
    program: str, says: str, tmp_path: Path, capsys: Any
) -> None:
    text = f"from millrace_runtime import Topology, string\nt = Topology('a')\n{program}\n"
    (tmp_path / "job.py").write_text(text, "utf-8")
    assert main(["document", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err


def test_options_are_texts_as_spark_takes_them() -> None:
    topology = Topology("options")
    made = reader("csv", options={"header": True, "maxFilesPerTrigger": 2, "path": "/data"})
    topology.stream("lines", reader=made, key=string(), value=string())
    [node] = topology.document()["nodes"]
    options = {"header": "true", "maxFilesPerTrigger": "2", "path": "/data"}
    assert node["params"]["reader_options"] == options
    assert json.dumps(topology.document())
