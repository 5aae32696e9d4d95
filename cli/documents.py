"""Input files, diagnostics on standard error, and the analyzer that compiling needs."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from millrace_compiler import (
    Analyzer,
    AnalyzerUnavailable,
    CachingAnalyzer,
    DocumentError,
    ExpressionRequest,
    Refused,
    SocketAnalyzer,
    load_document,
)
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.graphs.expansion import title
from millrace_compiler.graphs.fragments import expand, filled, resolved
from millrace_model.diagnostics import DiagnosticJson, PlacedDiagnostic
from millrace_model.documents import TopologyDocument
from millrace_model.records import InputLine
from millrace_model.scenarios import Scenario, ScenarioResult
from millrace_runtime.analyzer.compiling import session_analyzer
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.input_lines import checked_line, invalid_line

from cli.programs import is_program, programs


@dataclass
class Kept:
    """The analyzer of a resident process, which all of its commands use; None in other ones."""

    analyzer: Analyzer | None = None


kept = Kept()


@contextlib.contextmanager
def analyzer() -> Iterator[Analyzer]:
    """Yield the analyzer at the socket in MILLRACE_ANALYZER if it responds, else a new one."""
    running = SocketAnalyzer.from_environment()
    if running is not None:
        with contextlib.suppress(AnalyzerUnavailable):
            running.analyze([ExpressionRequest("1", ())])
            yield CachingAnalyzer(running)
            return
    if kept.analyzer is not None:
        yield kept.analyzer
        return
    from millrace_runtime.analyzer.analyzer import analyzer_session

    spark = analyzer_session()
    try:
        yield session_analyzer(spark)
    finally:
        spark.stop()


def read_text(path: str) -> str:
    """Return a file's text. Raises MillraceError if it cannot be read."""
    try:
        # "utf-8-sig" removes the byte order mark that some editors write.
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise MillraceError(
            "file_unreadable", f"{path} cannot be read: {error.strerror}."
        ) from None
    except UnicodeDecodeError:
        raise MillraceError("file_unreadable", f"{path} is not UTF-8 text.") from None


def keep(folder: Path, found: Scenario | ScenarioResult) -> Path:
    """Write a scenario or its result to the file of its id; return the file."""
    file = folder / f"{found['id']}.json"
    file.write_text(json.dumps(found, ensure_ascii=False, indent=1), encoding="utf-8")
    return file


def read_document(
    path: str,
    environment: str | None = None,
    *,
    fragments: bool = False,
    parameters: bool = False,
) -> TopologyDocument:
    """Return a topology document; for a scenario file, its topology; for a program, its document.

    Its parameters have the values of the environment; None: that in MILLRACE_ENVIRONMENT, or the
    defaults. `fragments`: they stay, so that what the compiler reports has their nodes; otherwise,
    they are expanded. `parameters`: they stay as well, unless an environment is chosen. A document
    with invalid parameters is returned as it is, and compiling it reports them.

    Raises DocumentError for text that is not a document, and MillraceError with file and line for
    a program that fails.
    """
    document = programs.read(path) if is_program(path) else load_document(read_text(path))
    if "topology" in document and "nodes" not in document:
        inner = document["topology"]
        if isinstance(inner, dict):
            document = inner
    # The compiler reports what is wrong with it.
    chosen = environment or os.environ.get("MILLRACE_ENVIRONMENT")
    whole = cast(TopologyDocument, document)
    if parameters and fragments and chosen is None:
        return whole
    return filled(whole, chosen) if fragments else resolved(whole, chosen)


def expanded(document: TopologyDocument) -> TopologyDocument:
    """Return a document without its fragments. Raises Refused for faults in them."""
    report = Diagnostics()
    found = expand(document, report).document
    if report.failed:
        raise Refused(list(report))
    return cast(TopologyDocument, found)


def read_lines(path: str) -> list[InputLine]:
    """Input lines, one JSON object each; empty lines are skipped."""
    lines = []
    for number, text in enumerate(read_text(path).split("\n"), 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text, parse_constant=_no_number)
        except RecursionError:
            raise invalid_line(f"{path}, line {number}", "it is nested too deeply") from None
        except ValueError as error:
            raise invalid_line(f"{path}, line {number}", f"it is not JSON: {error}") from None
        lines.append(checked_line(line, f"{path}, line {number}"))
    return lines


def _no_number(text: str) -> float:
    raise ValueError(f'write "{text}" for {text}')


def diagnostics_of(error: DocumentError) -> list[DiagnosticJson]:
    """Return the diagnostics of text that is not a document."""
    return [each.to_json() for each in error.diagnostics]


def of_document(diagnostic: DiagnosticJson, path: str) -> PlacedDiagnostic:
    """Return a diagnostic with the path of its document."""
    found = cast(PlacedDiagnostic, diagnostic.copy())
    found["document"] = path
    return found


def show_diagnostics(diagnostics: Sequence[DiagnosticJson], *, as_json: bool = False) -> None:
    """Print diagnostics to standard error."""
    found = [_placed(each) for each in diagnostics]
    if as_json:
        print(json.dumps({"diagnostics": found}, ensure_ascii=False), file=sys.stderr)
        return
    for each in found:
        node = each.get("node")
        if node and "inner" in each:
            node = title(node, each["inner"])
        where = ".".join(x for x in (node, each.get("path") or each.get("parameter")) if x)
        where = where or "the document"
        at = each.get("position")
        place = f" (characters {at['start'] + 1} to {at['stop']})" if at else ""
        hint = f" {each['hint']}" if each.get("hint") else ""
        severity = each.get("severity", "error")
        document = f"{each['document']}: " if "document" in each else ""
        if "line" in each:
            document = f"{each['file']}, line {each['line']}: "
        print(f"{document}{severity}: {where}{place}: {each['message']}{hint}", file=sys.stderr)


def _placed(diagnostic: DiagnosticJson) -> PlacedDiagnostic:
    """Return a diagnostic with `file` and `line`, if its node is in a program."""
    found = cast(PlacedDiagnostic, diagnostic)
    at = (found.get("inner"), found.get("node"))
    places = [programs.place(found.get("document"), each) for each in at if each]
    place = next((each for each in places if each is not None), None)
    if place is None:
        return found
    file, _, line = place.rpartition(", line ")
    placed = found.copy()
    placed["file"], placed["line"] = file, int(line)
    return placed
