"""Expressions of a job are analyzed in its own session, which is cold when it starts."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_compiler import ExpressionRequest
from millrace_runtime.analyzer.compiling import SessionAnalyzer

LATE: dict[str, Any] = {
    "type": None,
    "columns": [],
    "error": {"message": "too slow", "condition": "DEADLINE"},
}
KNOWN = {"type": "STRING", "columns": ["value"], "error": None}


@pytest.mark.parametrize(("late", "found"), [(1, "STRING"), (2, None)])
def test_a_deadline_missed_by_a_cold_session_is_given_once_more(
    late: int, found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine must not end a job whose expressions ran before; a slow one is refused."""
    asked: list[dict[str, Any]] = []

    class Slow:
        """Misses the deadline for the first `late` requests."""

        def __init__(self, spark: object) -> None:
            self.spark = spark

        def answer(self, request: dict[str, Any]) -> dict[str, Any]:
            """Answer as a session that becomes warm."""
            asked.append(request)
            return {"expressions": [LATE if len(asked) <= late else KNOWN]}

    monkeypatch.setattr("millrace_runtime.analyzer.analyzer.SparkAnalyzer", Slow)
    request = ExpressionRequest("upper(value)", (("value", "STRING"),))
    analyzer = SessionAnalyzer(None)
    [result] = analyzer.analyze([request])
    assert result.type == found
    assert len(asked) == 2
    analyzer.analyze([request])
    assert len(asked) == 3
