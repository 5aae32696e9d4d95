"""Compiles documents into jobs on disk, with the analyzer of the system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from millrace_compiler.compilation.compilation import Dialect
from millrace_compiler.isolated import Limits, Pool
from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import TopologyDocument

from millrace_workers.model import Failure

#: a deployment may wait longer than an edit on the page
LIMITS = Limits(seconds=30, waiting_seconds=60)


class Jobs:
    """Compiles as for the page, in a separate process."""

    def __init__(self, analyzer: str, runtime: Path, operator_jar: Path | None) -> None:
        """`analyzer`: its address, host:port."""
        self._analyzer = analyzer
        self._runtime = runtime
        self._operator_jar = operator_jar
        self._pool = Pool(size=1, limits=LIMITS)

    def check(
        self, document: TopologyDocument, *, real_time: bool = False, plain: bool = False
    ) -> Failure | None:
        """Return the first error that prevents a deployment, or None."""
        answer = self._pool.compile(
            document, self._analyzer, real_time=real_time, dialect=_dialect(plain)
        )
        return _first_error(answer["diagnostics"])

    def between(self, document: TopologyDocument) -> list[str]:
        """Topics that the plain program of a document needs between its queries."""
        code = self._pool.compile(document, self._analyzer, dialect="plain")["code"]
        return list(code["between"]) if code else []

    def write(
        self, document: TopologyDocument, directory: Path, *, plain: bool = False
    ) -> Failure | None:
        """Write the whole bundle, so that what runs is what an export contains.

        For a plain program, the packages that drive it are added.
        """
        diagnostics = self._pool.bundle(
            document,
            self._analyzer,
            directory,
            self._runtime,
            self._operator_jar,
            dialect=_dialect(plain),
            driven=plain,
        )
        return _first_error(diagnostics)


def _dialect(plain: bool) -> Dialect:
    return "plain" if plain else "exact"


def _first_error(diagnostics: Sequence[DiagnosticJson]) -> Failure | None:
    errors = [each for each in diagnostics if each["severity"] == "error"]
    if not errors:
        return None
    first = errors[0]
    rest = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return Failure(
        first["code"],
        f"{first['message']}{rest}",
        first["node"],
        first["parameter"],
        facts=first["facts"],
    )
