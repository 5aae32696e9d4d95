"""Compilers in processes of their own."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import Format, TopologyDocument
from millrace_model.plans import CompilationJson
from millrace_model.records import InputLine
from millrace_model.scenarios import Conditioned
from millrace_model.state import StateSchema
from millrace_services import local_services
from millrace_services.pool import MOST_WAITING, ProcessPool
from millrace_services.processes import Exceeded, Limits, Process

from millrace_compiler.compilation.compilation import Dialect
from millrace_compiler.diagnostics.diagnostics import Diagnostic
from millrace_compiler.types.generating import Recipe
from millrace_compiler.types.types import DataType

#: environment variables of a compiler process, which include no secret of the server
ENVIRONMENT = (
    "PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "MILLRACE_SCHEMA_REGISTRIES", "MILLRACE_REGISTRY_PASSWORDS",
)  # fmt: skip
_PACKAGES = Path(__file__).parents[2]
_MODULE = "millrace_compiler.isolated.worker"


class Pool:
    """Up to ``size`` compiler processes (:class:`millrace_services.pool.ProcessPool`)."""

    def __init__(
        self,
        size: int = 4,
        limits: Limits | None = None,
        *,
        spare: int | None = None,
        patience: float = 0.0,
    ) -> None:
        self.size, self.limits = size, limits or Limits()
        self._processes = ProcessPool(
            self._start, size, self.limits, spare=spare, patience=patience
        )

    def warm(self) -> threading.Thread:
        """Start all processes in the background; the returned thread ends when they are ready."""
        return self._processes.warm()

    @property
    def pids(self) -> list[int]:
        """Pids of the idle processes."""
        return self._processes.pids

    def close(self) -> None:
        """End all processes; busy ones end after their request."""
        self._processes.close()

    def compile(
        self,
        document: TopologyDocument,
        analyzer: str,
        *,
        owner: str = "",
        real_time: bool = False,
        dialect: Dialect = "exact",
        registries: bool = True,
        conditions: Sequence[Conditioned] = (),
        partitions: Mapping[str, int] | None = None,
        limits: Limits | None = None,
    ) -> CompilationJson:
        """The response of the compile endpoint, without ``revision``. Never raises for a document.

        ``analyzer``: the path of the analyzer's socket. ``owner``: the account whose share
        of the pool is used. ``registries``: whether schema registries may be contacted.
        ``conditions`` of a test are checked too (:mod:`millrace_compiler.compilation.conditions`).
        ``partitions``: of topics on the broker, for the plan.
        """
        request = {
            "do": "compile",
            "document": document,
            "real_time": real_time,
            "dialect": dialect,
            "registries": registries,
            "conditions": list(conditions),
            "partitions": dict(partitions or {}),
            "analyzer": analyzer,
        }
        answer: CompilationJson = self._answer(
            request, owner, limits, ports={}, plan=None, summary={}, code=None
        )
        return answer

    def bundle(
        self,
        document: TopologyDocument,
        analyzer: str,
        directory: Path,
        runtime: Path,
        operator_jar: Path | None,
        *,
        owner: str = "",
        dialect: Dialect = "exact",
        driven: bool = False,
        partitions: Mapping[str, int] | None = None,
        limits: Limits | None = None,
    ) -> list[DiagnosticJson]:
        """Write the files of the job into a folder and return the diagnostics.

        If one of them is an error, nothing is written. ``driven``: include the packages that run a
        plain program as a deployment. ``partitions``: as for :meth:`compile`. See
        :func:`millrace_compiler.bundle_files`. Raises OSError if the folder is not writable.
        """
        request = {
            "do": "bundle",
            "document": document,
            "real_time": False,
            "dialect": dialect,
            "registries": True,
            "analyzer": analyzer,
            "directory": str(directory),
            "runtime": str(runtime),
            "operator_jar": str(operator_jar) if operator_jar else None,
            "driven": driven,
            "partitions": dict(partitions or {}),
        }
        found: list[DiagnosticJson] = self._answer(request, owner, limits)["diagnostics"]
        return found

    def state(
        self,
        document: TopologyDocument,
        analyzer: str,
        *,
        owner: str = "",
        dialect: Dialect = "exact",
        limits: Limits | None = None,
    ) -> tuple[StateSchema | None, list[DiagnosticJson]]:
        """The state schema (None if the document is refused), and the diagnostics."""
        request = {
            "do": "state",
            "document": document,
            "real_time": False,
            "dialect": dialect,
            "registries": True,
            "partitions": {},
            "analyzer": analyzer,
        }
        answer = self._answer(request, owner, limits, state=None)
        return answer["state"], answer["diagnostics"]

    def types(
        self,
        formats: Mapping[str, Format],
        *,
        owner: str = "",
        registries: bool = True,
        limits: Limits | None = None,
    ) -> tuple[dict[str, DataType], list[DiagnosticJson]]:
        """The types of a document's formats by name, and the diagnostics.

        A faulty format has no type. ``registries``: whether schema registries may be contacted.
        """
        request = {"do": "types", "formats": formats, "registries": registries}
        answer = self._answer(request, owner, limits, types={})
        types = {name: DataType.from_json(raw) for name, raw in answer["types"].items() if raw}
        return types, answer["diagnostics"]

    def generate(
        self, recipe: Recipe, count: int, every: int, *, owner: str, limits: Limits
    ) -> list[InputLine]:
        """Random records as input lines of a simulation, on average ``every`` ms apart.

        Raises :class:`Exceeded`.
        """
        settings = {each.name: getattr(recipe, each.name) for each in fields(recipe)}
        del settings["types"]
        request = {
            "do": "generate",
            "topic": settings.pop("topic"),
            "recipe": settings,
            "types": {part: each.to_json() for part, each in recipe.types.items()},
            "count": count,
            "every": every,
        }
        found: list[InputLine] = self.run(request, owner, limits)["lines"]
        return found

    def _answer(
        self, request: Mapping[str, object], owner: str, limits: Limits | None, **nothing: object
    ) -> Any:
        """The answer of a process; ``nothing`` with a diagnostic if a limit is exceeded."""
        limits = limits or self.limits
        try:
            return self.run(request, owner, limits)
        except Exceeded as error:
            return {"diagnostics": [_diagnostic(error, limits).to_json()], **nothing}

    def run(self, request: Mapping[str, object], owner: str, limits: Limits) -> Any:
        """The answer of a process. Raises :class:`Exceeded`, or an OSError of the process.

        An analyzer that starts with its first request has started before the limits begin.
        """
        if request.get("analyzer"):
            local_services.wait_until_awake(str(request["analyzer"]))
        return self._processes.run({**request, "seconds": limits.seconds}, owner, limits)

    def _start(self) -> Process:
        known = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        # No registry unless an admin lists it: documents must not send requests anywhere.
        known.setdefault("MILLRACE_SCHEMA_REGISTRIES", "")
        return Process(
            [sys.executable, "-m", _MODULE, str(self.limits.memory_megabytes)],
            {**known, "PYTHONPATH": str(_PACKAGES), "PYTHONDONTWRITEBYTECODE": "1"},
        )


def _diagnostic(error: Exceeded, limits: Limits) -> Diagnostic:
    facts: dict[str, dict[str, object]] = {
        "time": {"limit": f"{limits.seconds:g}"},
        "memory": {"limit": limits.memory_megabytes},
        "output": {"limit": limits.output_megabytes},
        "waiting": {"limit": f"{limits.waiting_seconds:g}"},
        "busy": {"limit": MOST_WAITING},
        "process": {},
    }
    return Diagnostic(f"compile_{error.limit}", data=facts[error.limit])
