"""Arguments of the wrong type, and types of Spark SQL that are given as classes of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from millrace_runtime.functions.returned import type_of_hint

#: A Spark SQL type as text, or what annotations have for it: `int`, `list[str]`, a dataclass.
SqlType: TypeAlias = str | type[Any]


def sql_type(given: SqlType, what: str) -> str:
    """Return a type as text. Raises TypeError, which names `what`, for what has none."""
    if isinstance(given, str):
        return given
    try:
        found = type_of_hint(given)
    except Exception:  # noqa: BLE001 - annotations of a class can be any expression of the program
        found = None
    if found is None:
        raise TypeError(
            f'{what} takes a Spark SQL type such as "BIGINT", or a class such as int, list[str] or '
            f"a dataclass, found {given!r}"
        )
    return found.text


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
    if isinstance(given, Callable) and name and not isinstance(given, type):  # type: ignore[arg-type]
        return f"the function {name}, which has to be called: {name}(...)"
    return repr(given)
