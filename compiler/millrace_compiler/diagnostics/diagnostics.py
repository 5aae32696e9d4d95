"""Diagnostics: the faults of a document, as data with an address.

A :class:`Diagnostic` has a code and facts; its sentences are in
:mod:`millrace_compiler.diagnostics.messages`. A pass adds all its findings to a
:class:`Diagnostics` and continues.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from millrace_model.diagnostics import DiagnosticJson

from millrace_compiler.diagnostics.messages import SENTENCES

Severity = Literal["error", "warning", "difference"]
Blocks = Literal["compile", "deploy"]

_SHOWN = 60
_LONGEST = 600


def shown(value: object) -> str:
    """A JSON value, shortened to one line for a sentence. Never raises."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = str(type(value).__name__)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def kind_of(value: object) -> str:
    """The JSON type of a value in words: "text", "a number", "a list" ..."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float):
        return "a number" if math.isfinite(value) else "NaN or an infinite number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return type(value).__name__


@dataclass(frozen=True)
class Position:
    """Characters inside the text of an expression: 0-based, ``stop`` exclusive."""

    start: int
    stop: int


@dataclass(frozen=True)
class Diagnostic:
    """A finding: a fault, a warning or a difference.

    ``node`` is the id of the node that it is about, ``None`` for the document as a whole.
    ``parameter`` is the parameter or port; ``path`` is the exact place within a structured
    parameter (``branches[1].predicate``). ``inner``: the node within, if ``node`` is a fragment.
    """

    code: str
    node: str | None = None
    parameter: str | None = None
    path: str | None = None
    position: Position | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    inner: str | None = None

    @property
    def severity(self) -> Severity:
        """Only an ``error`` prevents compilation; a ``warning`` or a ``difference`` does not.

        A ``difference`` describes where the plain dialect deviates from Kafka Streams.
        """
        return SENTENCES[self.code].severity

    @property
    def blocks(self) -> Blocks | None:
        """The action that this diagnostic blocks; ``None`` for a warning."""
        return SENTENCES[self.code].blocks

    @property
    def message(self) -> str:
        """What was found."""
        return SENTENCES[self.code].message.format(**self._told)

    @property
    def hint(self) -> str:
        """How to fix it."""
        return SENTENCES[self.code].hint.format(**self._told)

    @property
    def _told(self) -> dict[str, object]:
        """The facts, each shortened to a readable length."""
        return {
            name: f"{fact[: _LONGEST - 1]}…"
            if isinstance(fact, str) and len(fact) > _LONGEST
            else fact
            for name, fact in self.data.items()
        }

    def to_json(self) -> DiagnosticJson:
        """The diagnostic as in the response of the compile endpoint."""
        position = self.position
        found: DiagnosticJson = {
            "code": self.code,
            "severity": self.severity,
            "node": self.node,
            "parameter": self.parameter,
            "path": self.path or self.parameter,
            "message": self.message,
            "hint": self.hint,
            "facts": {name: str(fact) for name, fact in self._told.items()},
            "blocks": self.blocks,
            "position": {"start": position.start, "stop": position.stop} if position else None,
        }
        if self.inner is not None:
            found["inner"] = self.inner
        return found

    def to_text(self) -> str:
        """One line for a terminal."""
        where = ".".join(
            part for part in (self.inner or self.node, self.path or self.parameter) if part
        )
        place = f" (characters {self.position.start}-{self.position.stop})" if self.position else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.severity}: {where or 'document'}: {self.message}{place}{hint} [{self.code}]"


class Diagnostics:
    """Collects diagnostics in the order in which they are found, without duplicates."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Diagnostic] = {}

    def add(
        self,
        code: str,
        node: str | None = None,
        parameter: str | None = None,
        *,
        path: str | None = None,
        position: Position | None = None,
        **data: object,
    ) -> None:
        """Adds a finding; ``data`` are the facts of its sentence."""
        self.put(Diagnostic(code, node, parameter, path, position, data))

    def put(self, found: Diagnostic) -> None:
        """Adds an existing diagnostic."""
        key = (
            found.code, found.node, found.inner, found.parameter, found.path, found.position,
            found.message,
        )  # fmt: skip
        self._found.setdefault(key, found)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    @property
    def failed(self) -> bool:
        """Whether there is an error among the findings."""
        return any(d.severity == "error" for d in self)
