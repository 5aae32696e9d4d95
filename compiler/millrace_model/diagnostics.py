"""Diagnostics, as the compiler reports them."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict


class PositionJson(TypedDict):
    """A range of the parameter's text; 0-based, ``stop`` is exclusive."""

    start: int
    stop: int


class DiagnosticJson(TypedDict):
    """An error, a warning or a difference, with the node and parameter it refers to."""

    code: str
    severity: Literal["error", "warning", "difference"]
    node: str | None
    parameter: str | None
    path: Annotated[
        str | None, "The path within a compound parameter, such as branches[1].predicate."
    ]
    message: str
    hint: str
    facts: Annotated[dict[str, str], "The values in message and hint, for translations."]
    blocks: Literal["compile", "deploy"] | None
    position: PositionJson | None
    inner: NotRequired[Annotated[str, "The node within, if the node is a fragment."]]


class PlacedDiagnostic(DiagnosticJson):
    """A diagnostic of one of several documents, or of a program."""

    document: NotRequired[str]
    file: NotRequired[str]
    line: NotRequired[int]


class Announced(TypedDict):
    """A difference of the plain dialect from Kafka Streams, and the node that causes it."""

    code: str
    node: str | None
