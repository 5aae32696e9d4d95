"""Compiling a document into a job on disk, with the analyzer that the system runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from millrace_compiler import Analyzer, AnalyzerUnavailable, bundle_files, compile_document

from millrace_workers.model import Failure


class Jobs:
    """Compiles by the same functions as the page and the command line."""

    def __init__(self, analyzer: Analyzer, runtime: Path) -> None:
        self._analyzer = analyzer
        self._runtime = runtime

    def check(self, document: dict[str, Any]) -> Failure | None:
        """The first thing that stands in the way of a deployment, or None."""
        try:
            compilation = compile_document(document, self._analyzer)
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
        for path, content in bundle_files(compilation, self._runtime).items():
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                target.write_bytes(content)
            else:
                target.write_text(content, encoding="utf-8")
