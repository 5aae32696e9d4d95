"""Values as values of one type, or of the type that is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from millrace_compiler.types.types import BIGINT, DOUBLE, DataType

from millrace_runtime.functions.terms import (
    ATOM,
    CONTAINERS,
    NotTranslated,
    Term,
    bounds_of,
    long,
)


def same(a: Term, b: Term, *, final: bool) -> tuple[Term, Term]:
    """Two values as values of one type. `final`: they are parts of the result."""
    _value(a)
    _value(b)
    if a.type == b.type and a.wide == b.wide:
        return a, b
    if a.sql == "array()" and b.kind == "list":
        return replace(a, type=b.type), b
    if b.sql == "array()" and a.kind == "list":
        return a, replace(b, type=a.type)
    if a.kind == "none":
        return replace(a, type=b.type, wide=b.wide, low=b.low, high=b.high), b
    if b.kind == "none":
        return a, replace(b, type=a.type, wide=a.wide, low=a.low, high=a.high)
    if a.kind == b.kind == "int" and not (a.wide or b.wide):
        return long(a), long(b)
    if final and {a.kind, b.kind} == {"int", "float"} and not (a.wide or b.wide):
        return fitted(a, DOUBLE), fitted(b, DOUBLE)
    raise NotTranslated(f"a {a.type.text} and a {b.type.text} in one place")


def fitted(term: Term, expects: DataType | None) -> Term:
    """A result as a value of the expected type; an integer constant without one is a BIGINT."""
    if term.kind == "int" and term.constant and expects in (None, BIGINT):
        return long(term)
    _value(term)
    if term.wide and expects is None:
        expects = BIGINT
    if expects is None or (term.type == expects and not term.wide):
        return term
    if term.sql == "array()" and expects.name == "ARRAY":
        return replace(term, type=expects)
    if term.kind == "none":
        return replace(term, sql=f"CAST(NULL AS {expects.text})", type=expects)
    value = term.cleaned
    if value.kind == "time" and expects == BIGINT:
        return replace(value, sql=f"unix_millis({value.sql})", type=BIGINT, binds=ATOM)
    if value.kind == "int" and expects == DOUBLE and not value.wide:
        return replace(value, sql=f"double({value.sql})", type=DOUBLE, binds=ATOM)
    if value.kind == "int" and expects.name in ("TINYINT", "SMALLINT", "INT", "BIGINT"):
        sql = value.sql if value.constant else f"CAST({value.sql} AS {expects.text})"
        low, high = bounds_of(expects)
        if value.constant and not low <= value.low <= high:
            raise NotTranslated(f"{value.low} is not a {expects.text}")
        raises = value.raises or not (low <= value.low and value.high <= high)
        return replace(value, sql=sql, type=expects, raises=raises, binds=ATOM, wide=False)
    raise NotTranslated(f"it returns {term.type.text}, not {expects.text}")


def _value(term: Term) -> None:
    """Raise NotTranslated for a constant that has no text."""
    if term.constant and isinstance(term.constant[0], CONTAINERS) and term.kind != "list":
        raise NotTranslated(f"a constant {type(term.constant[0]).__name__} is not a value")


def of_parts(
    sql: str, type_: DataType, parts: Sequence[Term], *, full: bool = False, built: bool = True
) -> Term:
    """A value that is made of others, which all are evaluated."""
    return Term(
        sql, type_, raises=any(each.raises for each in parts), full=full, built=built,
        after=frozenset().union(*(each.after for each in parts)),
    )  # fmt: skip
