"""Broken documents always give diagnostics with an address, never an exception.

The faults are drawn at random from a fixed seed. To try many more of them:
`MILLRACE_MUTATIONS=20000 ./millrace test tests/compiler/test_mutations.py`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any

import pytest
from millrace_compiler import ExpressionRequest, ExpressionResult, compile_document
from millrace_compiler.compilation.describe import description_of
from millrace_compiler.diagnostics.diagnostics import Diagnostic

from tests.compiler.conftest import recorded
from tests.compiler.mutations import mutated, scenarios

COUNT = int(os.environ.get("MILLRACE_MUTATIONS", "2000"))
RAW_WORDS = re.compile(r"Traceback|Exception|NoneType|object at 0x|\bjava\.|\{\w*\}")


class GuessingAnalyzer:
    """Recorded answers; an expression without one has the expected type."""

    def __init__(self) -> None:
        self.known = recorded()

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        return [
            self.known.answers.get(self.known.key(each))
            or ExpressionResult(each.expects or "STRING")
            for each in requests
        ]


def check(document: dict[str, Any]) -> bool:
    """Return whether the document compiles; fail if anything about the result is wrong."""
    compilation = compile_document(document, GuessingAnalyzer())
    json.dumps(compilation.to_json(), ensure_ascii=False).encode()
    for diagnostic in compilation.diagnostics:
        check_diagnostic(diagnostic, document)
    if not compilation.ok:
        assert any(each.severity == "error" for each in compilation.diagnostics)
        return False
    assert compilation.code is not None
    compile(compilation.code["job.py"], "job.py", "exec")
    description = description_of(compilation)
    json.dumps(description.to_json(guarantees=True), ensure_ascii=False).encode()
    assert description.text.startswith("Topologies:")
    return True


def check_diagnostic(found: Diagnostic, document: dict[str, Any]) -> None:
    reported = found.to_text()
    reported.encode()
    assert found.message.strip()
    assert found.hint.strip()
    assert len(reported) < 2000
    # A raw word is permitted if it is quoted from the document.
    assert not RAW_WORDS.search(found.message) or RAW_WORDS.search(json.dumps(document)), reported
    nodes = document.get("nodes")
    items = nodes if isinstance(nodes, list) else []
    listed = [each.get("id") for each in items if isinstance(each, dict)]
    assert found.node is None or found.node in listed
    if found.position is not None:
        assert 0 <= found.position.start < found.position.stop
    if found.code.startswith(("expression", "parameter", "duration", "window_part")):
        assert found.node is None or found.parameter is not None


@pytest.mark.parametrize("seed", range(4))
def test_a_document_with_random_faults_gets_diagnostics(seed: int) -> None:
    documents = [scenario["topology"] for scenario in scenarios()]
    compiled = 0
    for number in range(COUNT // 4):
        document = mutated(documents, seed, number)
        try:
            compiled += check(document)
        except Exception as error:
            error.add_note(f"mutated(documents, {seed}, {number})")
            raise
    # Some faults change nothing that matters.
    assert 0 < compiled < COUNT // 8


def test_an_unpaired_surrogate_is_reported_at_its_node() -> None:
    document = scenarios()[0]["topology"]
    document["nodes"][0]["label"] = "cut \ud83d"
    result = compile_document(document, GuessingAnalyzer())
    [found] = [each for each in result.diagnostics if each.severity == "error"]
    assert (found.code, found.node) == ("half_character", document["nodes"][0]["id"])


def test_an_unpaired_surrogate_is_reported_for_the_document() -> None:
    document = {**scenarios()[0]["topology"], "name": "\udc00"}
    result = compile_document(document, GuessingAnalyzer())
    assert [(each.code, each.node) for each in result.diagnostics] == [("half_character", None)]


def test_a_fact_of_any_length_makes_a_sentence_that_can_be_read() -> None:
    document = scenarios()[0]["topology"]
    document["edges"].append({"source": "a" * 10_000, "target": document["nodes"][0]["id"]})
    for found in compile_document(document, GuessingAnalyzer()).diagnostics:
        assert len(found.message) < 1000
