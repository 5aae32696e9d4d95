"""Declarations of parameters, of a topology and of a fragment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from millrace_model.documents import DocumentParameter

ParameterType = Literal["topic", "text", "number", "duration", "boolean"]
Default: TypeAlias = str | float | bool
_TYPES: dict[type, ParameterType] = {bool: "boolean", int: "number", float: "number"}


def declared(
    default: Default,
    *,
    type: ParameterType | None = None,
    description: str | None = None,
    values: Mapping[str, object] | None = None,
) -> DocumentParameter:
    """Return the declaration of a parameter, as `Topology.param` describes it."""
    return {
        "type": type or _TYPES.get(default.__class__, "text"),
        "default": default,
        **({"values": dict(values)} if values else {}),
        **({"description": description} if description else {}),
    }
