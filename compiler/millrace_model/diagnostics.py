"""Diagnostics, as the compiler reports them."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class PositionJson(TypedDict):
    """Characters inside the text of an expression: 0-based, ``stop`` exclusive."""

    start: int
    stop: int


class DiagnosticJson(TypedDict):
    """A fault, a warning or a difference, with its place in the document."""

    code: str
    severity: Literal["error", "warning", "difference"]
    node: str | None
    parameter: str | None
    path: str | None
    message: str
    hint: str
    facts: dict[str, str]
    blocks: Literal["compile", "deploy"] | None
    position: PositionJson | None


class PlacedDiagnostic(DiagnosticJson):
    """A diagnostic of one of several documents, or of a program."""

    document: NotRequired[str]
    file: NotRequired[str]
    line: NotRequired[int]


class Announced(TypedDict):
    """A difference of the plain dialect from Kafka Streams, and the node that causes it."""

    code: str
    node: str | None
