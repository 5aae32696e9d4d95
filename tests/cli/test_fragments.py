"""Commands on documents with fragments name their nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.documents import read_document, show_diagnostics
from tests.compiler.graphs.test_fragments import COUNTED, compiled, counted


def test_a_fault_in_a_fragment_names_its_node_and_the_one_within(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fragment = json.loads(json.dumps(COUNTED))
    fragment["nodes"][1]["params"]["predicat"] = "true"
    file = tmp_path / "doc.json"
    file.write_text(json.dumps({**counted(), "fragments": {"counted@1": fragment}}), "utf-8")
    found = compiled(read_document(str(file), fragments=True)).diagnostics
    show_diagnostics([each.to_json() for each in found if each.code == "parameter_unknown"])
    assert capsys.readouterr().err.startswith("error: counted > keep.predicat: ")
