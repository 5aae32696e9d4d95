"""Documents from files, diagnostics to people, and the analyzer that compiling needs."""

from __future__ import annotations

import base64
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
        # A mark of byte order, as some editors write it, is no part of the text.
        return Path(path).read_text(encoding="utf-8-sig")
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
    for number, text in enumerate(read_text(path).split("\n"), 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text, parse_constant=_no_number)
        except RecursionError:
            raise _invalid(f"{path}, line {number}", "it is nested too deep") from None
        except ValueError as error:
            raise _invalid(f"{path}, line {number}", f"it is no JSON: {error}") from None
        lines.append(checked_line(line, f"{path}, line {number}"))
    return lines


def _no_number(text: str) -> float:
    raise ValueError(f'write "{text}" for {text}')


def _invalid(where: str, what: str) -> MillraceError:
    return MillraceError("input_invalid", f"{where}: {what}.")


KINDS_OF_LINE = ("topic", "advance_wall_clock", "restart")
_LONG = 1 << 63


def checked_line(line: Any, where: str) -> dict[str, Any]:
    """An input line that can be run, or a MillraceError that says what is wrong with it."""
    if not isinstance(line, dict) or not any(name in line for name in KINDS_OF_LINE):
        raise _invalid(where, f"expected an object with one of {', '.join(KINDS_OF_LINE)}")
    try:
        json.dumps(line, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _invalid(where, "a text holds half of a character") from None
    except ValueError:
        raise _invalid(where, 'write "NaN" or "Infinity" as text') from None
    if "advance_wall_clock" in line:
        _whole(line, "advance_wall_clock", where, " (ms)")
        return line
    if "topic" not in line:
        return line
    if not isinstance(line["topic"], str) or not line["topic"]:
        raise _invalid(where, f"topic must be a name, found {_shown(line['topic'])}")
    _whole(line, "timestamp", where, " (ms)")
    if line.get("partition") is not None:
        _whole(line, "partition", where, ", 0 or higher")
        if not 0 <= line["partition"] < 1 << 31:
            raise _invalid(where, f"there is no partition {line['partition']}")
    _headers(line.get("headers"), where)
    for name in ("key_bytes", "value_bytes"):
        given = line.get(name)
        if given is None:
            continue
        try:
            base64.b64decode(given, validate=True)
        except (TypeError, ValueError):
            raise _invalid(where, f"{name} must be base64, found {_shown(given)}") from None
    return line


def _whole(line: dict[str, Any], name: str, where: str, unit: str) -> None:
    value = line.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not -_LONG <= value < _LONG:
        raise _invalid(where, f"{name} must be a whole number{unit}, found {_shown(value)}")


def _headers(headers: Any, where: str) -> None:
    if headers is None:
        return
    if not isinstance(headers, dict):
        raise _invalid(where, f"headers must be an object of texts, found {_shown(headers)}")
    for name, value in headers.items():
        if value is not None and not isinstance(value, str):
            raise _invalid(where, f"the header {name} must be a text, found {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def diagnostics_of(error: DocumentError) -> list[dict[str, Any]]:
    """What is wrong with a text that is no document."""
    return [each.to_json() for each in error.diagnostics]


def tell(diagnostics: Sequence[dict[str, Any]], *, as_json: bool = False) -> None:
    """Diagnostics on standard error."""
    if as_json:
        print(json.dumps({"diagnostics": diagnostics}, ensure_ascii=False), file=sys.stderr)
        return
    for each in diagnostics:
        where = (
            ".".join(x for x in (each.get("node"), each.get("path") or each.get("parameter")) if x)
            or "the document"
        )
        at = each.get("position")
        place = f" (characters {at['start'] + 1} to {at['stop']})" if at else ""
        hint = f" {each['hint']}" if each.get("hint") else ""
        severity = each.get("severity", "error")
        print(f"{severity}: {where}{place}: {each['message']}{hint}", file=sys.stderr)
