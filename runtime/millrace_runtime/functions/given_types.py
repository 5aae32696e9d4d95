"""Types of Spark SQL that a program gives as classes of Python."""

from __future__ import annotations

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
