"""Compiling a document into a job on disk, with the analyzer that the system runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from millrace_compiler import Analyzer, AnalyzerUnavailable, bundle_files, compile_document

from millrace_workers.model import Failure


class Jobs:
    """Compiles by the same functions as the page and the command line."""

    def __init__(self, analyzer: Analyzer, runtime: Path, operator_jar: Path | None) -> None:
        self._analyzer = analyzer
        self._runtime = runtime
        self._operator_jar = operator_jar

    def check(self, document: dict[str, Any], *, real_time: bool = False) -> Failure | None:
        """The first thing that stands in the way of a deployment, or None."""
        try:
            compilation = compile_document(document, self._analyzer, real_time=real_time)
        except AnalyzerUnavailable as error:
            return Failure("analyzer_unavailable", str(error))
        errors = [each for each in compilation.diagnostics if each.severity == "error"]
        if not errors:
            return None
        first = errors[0]
        rest = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
        return Failure(first.code, f"{first.message}{rest}", first.node, first.parameter)

    def write(self, document: dict[str, Any], directory: Path) -> None:
        """Write the whole bundle: what an export holds is what runs."""
        compilation = compile_document(document, self._analyzer)
        files = bundle_files(compilation, self._runtime, self._operator_jar)
        for path, content in files.items():
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
