"""Stores that an operator materializes into or a processor uses.

`name` is what queries and the Processor API call the store; `node` is the store node's id in the
document, which is the store's identity over versions (default: the name).
"""

from __future__ import annotations

from typing import Any, TypeAlias

Store: TypeAlias = dict[str, Any]


def _store(kind: str, name: str, node: str | None, properties: dict[str, Any]) -> Store:
    return {"kind": kind, "name": name, "node": node or name, **properties}


def key_value_store(name: str, node: str | None = None, **properties: Any) -> Store:
    """The latest value of each key; iteration is in the order of the serialized keys."""
    return _store("key_value", name, node, properties)


def window_store(
    name: str, node: str | None = None, *, retention: int | None = None, **properties: Any
) -> Store:
    """Values by key and window start; what is older than `retention` ms is forgotten."""
    if retention is not None:
        properties["retention"] = retention
    return _store("window", name, node, properties)


def session_store(
    name: str, node: str | None = None, *, retention: int | None = None, **properties: Any
) -> Store:
    """Values by key and session; what ended more than `retention` ms ago is forgotten."""
    if retention is not None:
        properties["retention"] = retention
    return _store("session", name, node, properties)


def versioned_store(
    name: str, node: str | None = None, *, history_retention: int, **properties: Any
) -> Store:
    """All values of each key over time; older than `history_retention` ms is forgotten."""
    return _store("versioned", name, node, {"history_retention": history_retention, **properties})
