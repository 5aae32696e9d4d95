"""Documents from files, diagnostics to people, and the analyzer that compiling needs."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from millrace_compiler import (
    Analyzer,
    AnalyzerUnavailable,
    CachingAnalyzer,
    DocumentError,
    ExpressionRequest,
    ExpressionResult,
    SocketAnalyzer,
    load_document,
)
from millrace_runtime.errors import MillraceError


class SessionAnalyzer:
    """Analyzes in a Spark session of this process."""

    def __init__(self, spark: Any) -> None:
        from millrace_runtime.analyzer import SparkAnalyzer

        self._spark = SparkAnalyzer(spark)

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        """One result for each request, in order."""
        told = {"expressions": [request.to_json() for request in requests]}
        answer = self._spark.answer(told)
        return [ExpressionResult.from_json(each) for each in answer["expressions"]]


def session_analyzer(spark: Any) -> Analyzer:
    """An analyzer on a session that is there anyway; it remembers its answers."""
    return CachingAnalyzer(SessionAnalyzer(spark))


@contextlib.contextmanager
def analyzer() -> Iterator[Analyzer]:
    """The analyzer that MILLRACE_ANALYZER names if it answers, else one of our own."""
    running = SocketAnalyzer.from_environment()
    if running is not None:
        with contextlib.suppress(AnalyzerUnavailable):
            running.analyze([ExpressionRequest("1", ())])
            yield CachingAnalyzer(running)
            return
    from millrace_runtime.analyzer import analyzer_session

    spark = analyzer_session()
    try:
        yield session_analyzer(spark)
    finally:
        spark.stop()


def read_text(path: str) -> str:
    """A file's text; a MillraceError where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise MillraceError(
            "file_unreadable", f"{path} cannot be read: {error.strerror}."
        ) from None
    except UnicodeDecodeError:
        raise MillraceError("file_unreadable", f"{path} is not UTF-8 text.") from None


def read_document(path: str) -> dict[str, Any]:
    """A topology document; a scenario file counts as its topology.

    Raises DocumentError for text that is no document.
    """
    document = load_document(read_text(path))
    if "topology" in document and "nodes" not in document:
        inner = document["topology"]
        if isinstance(inner, dict):
            return inner
    return document


def read_lines(path: str) -> list[dict[str, Any]]:
    """Input lines, one JSON object each; empty lines are skipped."""
    lines = []
    for number, text in enumerate(read_text(path).splitlines(), 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except ValueError as error:
            raise MillraceError("input_invalid", f"{path}, line {number}: {error}.") from None
        lines.append(checked_line(line, f"{path}, line {number}"))
    return lines


def checked_line(line: Any, where: str) -> dict[str, Any]:
    """An input line that can be run, or a MillraceError that says what is wrong with it."""
    known = ("topic", "advance_wall_clock", "restart")
    if not isinstance(line, dict) or not any(name in line for name in known):
        raise MillraceError(
            "input_invalid", f"{where}: expected an object with one of {', '.join(known)}."
        )
    number = "advance_wall_clock" if "advance_wall_clock" in line else "timestamp"
    value = line.get(number, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise MillraceError(
            "input_invalid", f"{where}: {number} must be a whole number (ms), found {value!r}."
        )
    return line


def diagnostics_of(error: DocumentError) -> list[dict[str, Any]]:
    """What is wrong with a text that is no document."""
    return [each.to_json() for each in error.diagnostics]


def tell(diagnostics: Sequence[dict[str, Any]], *, as_json: bool = False) -> None:
    """Diagnostics on standard error."""
    if as_json:
        print(json.dumps({"diagnostics": diagnostics}, ensure_ascii=False), file=sys.stderr)
        return
    for each in diagnostics:
        where = ".".join(part for part in (each.get("node"), each.get("parameter")) if part)
        hint = f" {each['hint']}" if each.get("hint") else ""
        severity = each.get("severity", "error")
        print(
            f"{severity}: {where + ': ' if where else ''}{each['message']}{hint}", file=sys.stderr
        )
