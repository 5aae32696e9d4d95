"""The compiler on a Spark session of this process: from a document to its task graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from millrace_compiler import (
    Analyzer,
    CachingAnalyzer,
    Compilation,
    Diagnostic,
    ExpressionRequest,
    ExpressionResult,
    compile_document,
)
from millrace_model.documents import TopologyDocument

from millrace_runtime.analyzer.analyzer import AnalysisRequest, AnalyzedExpression
from millrace_runtime.errors import MillraceError, ProgramError


class SessionAnalyzer:
    """Analyzes expressions in a Spark session of this process."""

    def __init__(self, spark: Any) -> None:
        from millrace_runtime.analyzer.analyzer import SparkAnalyzer

        self._spark = SparkAnalyzer(spark)
        self._warm = False

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        """Return one result for each request, in order."""
        asked: AnalysisRequest = {"expressions": [request.to_json() for request in requests]}
        answer = self._spark.answer(asked)
        if not self._warm and any(_past_deadline(each) for each in answer["expressions"]):
            # The first request of a session is slower, because Spark still loads classes.
            answer = self._spark.answer(asked)
        self._warm = True
        return [ExpressionResult.from_json(each) for each in answer["expressions"]]


def _past_deadline(answer: AnalyzedExpression) -> bool:
    error = answer.get("error")
    return error is not None and error.get("condition") == "DEADLINE"


def session_analyzer(spark: Any) -> Analyzer:
    """Return an analyzer that uses an existing session and caches its results."""
    return CachingAnalyzer(SessionAnalyzer(spark))


def compiled(
    document: TopologyDocument,
    analyzer: Analyzer,
    places: Mapping[str | None, str] | None = None,
) -> Compilation:
    """Compile a document. Raises MillraceError with the first error if it is refused.

    `places`: the places in the program of the nodes, and of the topology (None), such as "job.py,
    line 3"; with them, it raises ProgramError with all errors.
    """
    compilation = compile_document(document, analyzer)
    errors = [each for each in compilation.diagnostics if each.severity == "error"]
    if errors and places is not None:
        raise refused(errors, places)
    if errors:
        first = errors[0].to_json()
        others = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
        raise MillraceError(
            errors[0].code,
            f"{first['message']}{others}",
            node=errors[0].node,
            parameter=errors[0].parameter,
            facts=first["facts"],
        )
    return compilation


def refused(errors: Sequence[Diagnostic], places: Mapping[str | None, str]) -> ProgramError:
    """Return the error of a program with these diagnostics, one in each line of its message."""
    lines = [_line(each, places) for each in errors]
    first = errors[0]
    return ProgramError(
        first.code,
        "\n".join(lines),
        node=first.node,
        parameter=first.parameter,
        facts=first.to_json()["facts"],
    )


def _line(found: Diagnostic, places: Mapping[str | None, str]) -> str:
    address = ".".join(each for each in (found.node, found.path or found.parameter) if each)
    place = places.get(found.node) or places[None]
    at = found.position
    within = f" (characters {at.start + 1} to {at.stop})" if at else ""
    return f"{place}, {address or 'topology'}{within}: {found.message} {found.hint}".strip()
