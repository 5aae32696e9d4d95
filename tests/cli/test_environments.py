"""Commands on documents with parameters: `--environment`, or MILLRACE_ENVIRONMENT."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from millrace_compiler.graphs.topology_parameters import ENVIRONMENTS

from cli import arguments
from cli.documents import read_document

DOCUMENT = {
    "format": "millrace.topology/1",
    "name": "x",
    "parameters": {"in": {"type": "topic", "default": "a", "values": {"prod": "b", "dev": "c"}}},
    "nodes": [{"id": "in", "kind": "source.stream", "params": {"topics": ["${in}"]}}],
    "edges": [],
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "doc.json"
    file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("asked", "variable", "topic"),
    [(None, None, "a"), ("prod", None, "b"), (None, "dev", "c"), ("prod", "dev", "b")],
)
def test_a_document_is_read_with_the_values_of_the_environment(
    path: str,
    monkeypatch: pytest.MonkeyPatch,
    asked: str | None,
    variable: str | None,
    topic: str,
) -> None:
    monkeypatch.delenv("MILLRACE_ENVIRONMENT", raising=False)
    if variable is not None:
        monkeypatch.setenv("MILLRACE_ENVIRONMENT", variable)
    document = read_document(path, asked)
    assert document["nodes"][0]["params"]["topics"] == [topic]


@pytest.mark.parametrize(
    "words",
    [
        ("compile", "d", "-o", "out"),
        ("describe", "d"),
        ("simulate", "d", "--inputs", "i"),
        ("run", "d", "--bootstrap-servers", "b"),
        ("test-topology", "d"),
        ("verify", "d"),
        ("compare-state", "d", "e"),
        ("differ", "d", "e"),
    ],
    ids=lambda words: words[0],
)
def test_commands_on_documents_take_an_environment(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for environment in ENVIRONMENTS:
        found = arguments.parser().parse_args([*words, "--environment", environment])
        assert found.environment == environment
    with pytest.raises(SystemExit):
        arguments.parser().parse_args([*words, "--environment", "staging"])
    assert "invalid choice: 'staging'" in capsys.readouterr().err
