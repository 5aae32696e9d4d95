"""Truth: conditions, and the operators `and`, `or` and `not`."""

from __future__ import annotations

from dataclasses import replace

from millrace_compiler.types.types import BOOLEAN, VOID

from millrace_runtime.functions.terms import (
    AND,
    ATOM,
    COMPARED,
    NOT,
    NOTHING,
    OR,
    NotTranslated,
    Term,
    constant,
    total,
)


def truth(term: Term) -> Term:
    """Whether a value counts as true: a text of type BOOLEAN that is never NULL."""
    if term.constant and term.kind in ("none", "int", "float", "str", "bool"):
        return constant(bool(term.constant[0]))
    value = term.cleaned
    if value.kind == "bool":
        if not value.none:
            return value
        return replace(
            value, sql=f"coalesce({value.sql}, false)", none=False, binds=ATOM,
            if_true=value.if_true | value.known,
        )  # fmt: skip
    inner = value.within(COMPARED + 1)
    match value.kind:
        case "str":
            sql = f"{inner} <> ''"
        case "int" | "float":
            sql = f"{inner} <> 0"
        case "list" | "map" if value.type.inner[0] != VOID:
            sql = f"size({value.sql}) > 0"
        case "struct" if value.type.fields and not (value.built and value.raises):
            sql = f"{inner} IS NOT NULL"
        case "time":
            sql = f"unix_millis({value.sql}) <> 0"
        case _:
            raise NotTranslated(f"the truth of a {value.type.text}")
    binds = COMPARED
    if value.none and value.kind != "struct":
        sql, binds = f"coalesce({sql}, false)", ATOM
    made = total(sql, BOOLEAN, binds, (value,))
    return replace(made, if_true=value.known)


def negated(term: Term) -> Term:
    """`not`, of a term that is true or false."""
    if term.constant:
        return constant(not term.constant[0])
    return replace(
        term, sql=f"NOT {term.within(NOT)}", binds=NOT, if_true=term.if_false,
        if_false=term.if_true, implied=NOTHING,
    )  # fmt: skip


def conjunction(a: Term, b: Term) -> Term:
    """`and`, of terms that are true or false. Spark may evaluate both sides of AND, so it is only
    used if the right one cannot fail."""
    if a.constant:
        return b if a.constant[0] else a
    if b.constant:
        if not b.constant[0] and a.raises:
            raise NotTranslated("a result does not depend on a condition that can fail")
        return a if b.constant[0] else b
    if b.raises:
        sql, binds = f"if({a.sql}, {b.sql}, false)", ATOM
    else:
        sql, binds = f"{a.within(AND)} AND {b.within(AND)}", AND
    return Term(
        sql, BOOLEAN, binds=binds, raises=a.raises or b.raises, after=a.after,
        if_true=a.if_true | b.after | b.if_true, if_false=a.if_false & (b.after | b.if_false),
    )  # fmt: skip


def disjunction(a: Term, b: Term) -> Term:
    """`or`, of terms that are true or false."""
    if a.constant:
        return a if a.constant[0] else b
    if b.constant:
        if b.constant[0] and a.raises:
            raise NotTranslated("a result does not depend on a condition that can fail")
        return b if b.constant[0] else a
    if b.raises:
        sql, binds = f"if({a.sql}, true, {b.sql})", ATOM
    else:
        sql, binds = f"{a.within(OR)} OR {b.within(OR)}", OR
    return Term(
        sql, BOOLEAN, binds=binds, raises=a.raises or b.raises, after=a.after,
        if_true=a.if_true & (b.after | b.if_true), if_false=a.if_false | b.after | b.if_false,
    )  # fmt: skip
