"""The analyzer's client: the wire protocol, the cache, and an analyzer that cannot be reached."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import (
    AnalyzerUnavailable,
    CachingAnalyzer,
    ExpressionError,
    ExpressionRequest,
    ExpressionResult,
    RecordedAnalyzer,
    SocketAnalyzer,
)
from millrace_compiler.inference.analysis import UnknownExpression

from tests.compiler.kit import OneTypeAnalyzer, compiled, faults, line, node
from tests.served import serving

UPPER = ExpressionRequest("upper(value)", (("value", "STRING"),))
LENGTH = ExpressionRequest("length(value)", (("value", "STRING"),), "BIGINT")


def typed(request: dict[str, Any]) -> dict[str, Any]:
    rows = [{"type": "STRING", "columns": ["value"], "error": None} for _ in request["expressions"]]
    return {"id": request["id"], "expressions": rows, "types": []}


def test_all_expressions_of_a_call_go_over_the_wire_in_one_line() -> None:
    with serving(typed) as server:
        analyzer = SocketAnalyzer(server.path)
        results = analyzer.analyze([UPPER, LENGTH])
        analyzer.analyze([UPPER])
        analyzer.close()
    assert [result.type for result in results] == ["STRING", "STRING"]
    assert server.connections == 1
    assert server.requests[0]["expressions"] == [
        {"text": "upper(value)", "columns": {"value": "STRING"}, "expects": None},
        {"text": "length(value)", "columns": {"value": "STRING"}, "expects": "BIGINT"},
    ]


def test_nothing_is_sent_where_nothing_is_asked() -> None:
    assert SocketAnalyzer("/nowhere").analyze([]) == []


def test_an_error_keeps_its_place() -> None:
    error = {"message": "no column", "condition": "UNRESOLVED", "start": 3, "stop": 9}

    def refuse(request: dict[str, Any]) -> dict[str, Any]:
        return {"id": request["id"], "expressions": [{"type": None, "error": error}]}

    with serving(refuse) as server:
        [result] = SocketAnalyzer(server.path).analyze([UPPER])
    assert result.error is not None
    assert (result.error.message, result.error.start, result.error.stop) == ("no column", 3, 9)
    assert ExpressionResult.from_json(result.to_json()) == result


def test_a_connection_that_died_is_opened_again() -> None:
    with serving(typed) as server:
        analyzer = SocketAnalyzer(server.path)
        analyzer.analyze([UPPER])
        [kept] = analyzer._idle
        kept.shutdown()
        assert analyzer.analyze([UPPER])[0].type == "STRING"
    assert server.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: None,
        lambda request: {"id": request["id"]},
        lambda request: {"id": request["id"], "expressions": []},
    ],
)
def test_an_analyzer_that_does_not_answer_is_named(answer: Any) -> None:
    with serving(answer) as server:
        analyzer = SocketAnalyzer(server.path, timeout=5)
        with pytest.raises(AnalyzerUnavailable, match=server.path):
            analyzer.analyze([UPPER])


def test_without_an_analyzer_a_compilation_reports_it_and_does_not_raise() -> None:
    raw = line(node("keep", "filter", predicate="true"))
    analyzer = SocketAnalyzer("/nowhere")
    assert faults(raw, analyzer) == [("analyzer", None, None)]
    assert compiled(raw, analyzer).code is None


def test_the_environment_names_an_analyzer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_ANALYZER", "/run/analyzer")
    found = SocketAnalyzer.from_environment()
    assert found is not None
    assert found.path == "/run/analyzer"
    monkeypatch.delenv("MILLRACE_ANALYZER")
    assert SocketAnalyzer.from_environment() is None


def test_what_is_known_is_not_asked_again() -> None:
    inner = OneTypeAnalyzer()
    analyzer = CachingAnalyzer(inner, size=2)
    analyzer.analyze([UPPER, UPPER, LENGTH])
    assert analyzer.analyze([LENGTH, UPPER])[0].type == "BIGINT"
    assert inner.requests == [UPPER, LENGTH]
    analyzer.analyze([ExpressionRequest("1", ())])
    analyzer.analyze([LENGTH])
    assert inner.requests[2:] == [ExpressionRequest("1", ()), LENGTH]


def test_recorded_answers_are_kept_and_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    recording = RecordedAnalyzer(path, OneTypeAnalyzer("INT"))
    recording.analyze([UPPER])
    recording.save()
    known = RecordedAnalyzer(path)
    assert known.analyze([UPPER])[0].type == "INT"
    with pytest.raises(UnknownExpression, match="length"):
        known.analyze([LENGTH])


class CountingAnalyzer(OneTypeAnalyzer):
    """Records the largest number of expressions in one round."""

    most = 0

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        self.most = max(self.most, len(requests))
        return super().analyze(requests)


def test_nodes_side_by_side_are_asked_for_together() -> None:
    analyzer = CountingAnalyzer()
    raw = line(node("keep", "filter", predicate="true"))
    for index in range(20):
        raw["nodes"].append(node(f"n{index}", "filter", predicate=f"value = {index}"))
        raw["edges"].append({"source": "in", "target": f"n{index}"})
    compiled(raw, analyzer)
    assert analyzer.rounds == 1
    assert analyzer.most == 21


def test_threads_ask_side_by_side() -> None:
    both = threading.Barrier(2, timeout=10)

    def wait_for_the_other(request: dict[str, Any]) -> dict[str, Any]:
        both.wait()
        return typed(request)

    with serving(wait_for_the_other) as server, ThreadPoolExecutor(2) as threads:
        analyzer = SocketAnalyzer(server.path, timeout=10)
        answers = list(threads.map(analyzer.analyze, [[UPPER], [LENGTH]]))
    assert [each.type for [each] in answers] == ["STRING", "STRING"]


def test_an_expression_that_met_its_deadline_is_asked_again() -> None:
    class Slow(OneTypeAnalyzer):
        def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
            super().analyze(requests)
            return [ExpressionResult(None, ExpressionError("slow", "DEADLINE")) for _ in requests]

    inner = Slow()
    analyzer = CachingAnalyzer(inner)
    analyzer.analyze([UPPER])
    analyzer.analyze([UPPER])
    assert inner.rounds == 2
