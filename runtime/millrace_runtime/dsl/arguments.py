"""Errors of arguments of the wrong type."""

from __future__ import annotations

from typing import Any


def require(given: Any, kind: type[Any], takes: str) -> None:
    """Raise TypeError unless an argument is of a class. `takes`: "merge takes a stream"."""
    if not isinstance(given, kind):
        raise TypeError(f"{takes}, found {shown(given)}")


def require_format(given: Any, what: str) -> None:
    """Raise TypeError unless an argument is a format or None."""
    if given is None or (isinstance(given, dict) and "format" in given):
        return
    raise TypeError(f"{what} takes a format such as string() or json(...), found {shown(given)}")


def shown(given: Any) -> str:
    """Return an argument as it is shown in an error."""
    name = getattr(given, "__name__", "")
    if callable(given) and name and not isinstance(given, type):
        return f"the function {name}, which has to be called: {name}(...)"
    return repr(given)
