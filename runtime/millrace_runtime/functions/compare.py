"""Comparisons. None and NaN equal nothing by order, and Spark has other rules for both."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from millrace_compiler.types.types import BOOLEAN, STRING

from millrace_runtime.functions.numbers import number, required
from millrace_runtime.functions.terms import (
    AND,
    ATOM,
    COMPARED,
    CONTAINERS,
    EXACT_DOUBLE,
    NOT,
    NotTranslated,
    Term,
    alike,
    bounds_of,
    constant,
    strict,
    total,
)

_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def compared(op: ast.cmpop, a: Term, b: Term, where: str) -> Term:
    """The result of an operator of comparison, of type BOOLEAN."""
    if a.constant and b.constant:
        return _folded(op, a.constant[0], b.constant[0], where)
    match op:
        case ast.Is() | ast.IsNot():
            return _is_none(op, a, b, where)
        case ast.In() | ast.NotIn():
            return _negative(op, ast.NotIn, _contained(a, b, where))
        case ast.Eq() | ast.NotEq():
            return _equal(number(a), number(b), where, equal=isinstance(op, ast.Eq))
    return _ordered(_ORDER[type(op)], number(a), number(b), where)


_FOLDED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.Is: lambda a, b: a is b, ast.IsNot: lambda a, b: a is not b,
}  # fmt: skip


def _folded(op: ast.cmpop, a: object, b: object, where: str) -> Term:
    """A comparison of constants."""
    try:
        return constant(bool(_FOLDED[type(op)](a, b)))
    except TypeError:
        raise NotTranslated(f"{where} always fails") from None


def _negative(op: ast.cmpop, negated: type[ast.cmpop], made: Term) -> Term:
    if not isinstance(op, negated):
        return made
    value = made.cleaned
    sql = f"NOT {value.within(NOT)}"
    return replace(value, sql=sql, binds=NOT, if_true=value.if_false, if_false=value.if_true)


def _is_none(op: ast.cmpop, a: Term, b: Term, where: str) -> Term:
    if b.kind != "none" or not b.constant:
        raise NotTranslated(f"{where} compares identities")
    value = a.cleaned
    is_ = isinstance(op, ast.Is)
    if not value.none:
        if value.raises:
            raise NotTranslated(f"{where} is about a value that is never None, but can fail")
        return constant(not is_)
    sql = f"{value.within(COMPARED + 1)} IS {'' if is_ else 'NOT '}NULL"
    made = total(sql, BOOLEAN, COMPARED, (value,))
    known = a.known | value.known
    return replace(made, if_false=known) if is_ else replace(made, if_true=known)


def _comparable(a: Term, b: Term, where: str) -> str:
    """The kind in which two values are compared. Raises NotTranslated."""
    for each in (a, b):
        if each.constant and isinstance(each.constant[0], CONTAINERS):
            raise NotTranslated(f"{where} compares a list")
    for one, other in ((a, b), (b, a)):
        if one.constant and other.raises and not other.nullable and not _within(one, other):
            raise NotTranslated(f"{where} does not depend on a value that can fail")
    if a.raises and b.raises and alike(a, b):
        raise NotTranslated(f"{where} may not depend on a part that can fail")
    kinds = {a.kind, b.kind}
    if len(kinds) == 1 and kinds <= {"int", "str", "float", "bool"}:
        return a.kind
    if kinds == {"int", "float"}:
        whole = a if a.kind == "int" else b
        if whole.low >= -EXACT_DOUBLE and whole.high <= EXACT_DOUBLE and not whole.wide:
            return "float"
        raise NotTranslated(f"{where} compares a float with an integer that may be beyond 2^53")
    raise NotTranslated(f"{where} compares a {a.type.text} with a {b.type.text}")


def _within(one: Term, other: Term) -> bool:
    """Whether a constant is a value of the type of the other: if not, Spark knows the result."""
    if other.kind != "int":
        return True
    value = one.constant[0]
    if not isinstance(value, int | float) or value != int(value):
        return False
    low, high = bounds_of(other.type)
    return low < value < high


def _may_be_nan(term: Term) -> bool:
    return term.kind == "float" and not term.constant


def _ordered(symbol: str, a: Term, b: Term, where: str) -> Term:
    if _comparable(a, b, where) == "bool":
        raise NotTranslated(f"{where} compares bools by order")
    # For Spark, NaN is greater than all other numbers and equal to itself.
    greater, other = (a, b) if symbol in (">", ">=") else (b, a)
    if not _may_be_nan(greater):
        sql = f"{a.within(COMPARED + 1)} {symbol} {b.within(COMPARED + 1)}"
        return strict(sql, BOOLEAN, COMPARED, (a, b), where)
    if other.nullable:
        # NaN > None fails, although one side of AND is false.
        a, b = required(a, where), required(b, where)
        greater = a if symbol in (">", ">=") else b
    sql = f"{a.within(COMPARED + 1)} {symbol} {b.within(COMPARED + 1)} AND NOT isnan({greater.sql})"
    return strict(sql, BOOLEAN, AND, (a, b), where)


def _equal(a: Term, b: Term, where: str, *, equal: bool) -> Term:
    for one, other in ((a, b), (b, a)):
        if other.kind == "none" and other.constant:
            op = ast.Is() if equal else ast.IsNot()
            return _is_none(op, one, other, where)
    kind = _comparable(a, b, where)
    a, b = a.cleaned, b.cleaned
    known = (a.known | b.known) if not (a.none and b.none) else frozenset()
    null = a.none or b.none
    inner = COMPARED + 1
    guards = _may_be_nan(a) and _may_be_nan(b)
    if null and not (a.none and b.none) and not guards:
        # Spark may know the result of <=> with a constant of another type, and omit the rest; and
        # it evaluates the right side of = only if the left one is not NULL.
        a, b = (b, a) if a.none else (a, b)
        sql = f"coalesce({a.within(inner)} = {b.within(inner)}, false)"
        made = total(sql, BOOLEAN, ATOM, (a, b))
        if not equal:
            made = replace(made, sql=f"NOT {sql}", binds=NOT)
    elif not (guards or null):
        sql = f"{a.within(inner)} {'=' if equal else '<>'} {b.within(inner)}"
        made = total(sql, BOOLEAN, COMPARED, (a, b))
    else:
        sql, binds = f"{a.within(inner)} {'<=>' if null else '='} {b.within(inner)}", COMPARED
        if guards:
            if kind == "float" and a.kind != "float":
                a, b = b, a
            isnan = f"NOT isnan({a.sql})"
            sql, binds = f"{sql} AND {isnan}", AND
        if not equal:
            sql, binds = f"NOT ({sql})", NOT
        made = total(sql, BOOLEAN, binds, (a, b))
    made = replace(made, raises=a.raises or b.raises)
    return replace(made, if_true=known) if equal else replace(made, if_false=known)


def _contained(a: Term, b: Term, where: str) -> Term:
    """`a in b`."""
    if b.constant and isinstance(b.constant[0], CONTAINERS):
        return _listed(number(a), list(b.constant[0]), where)
    if b.kind == "str" and a.kind == "str":
        return strict(f"contains({b.sql}, {a.sql})", BOOLEAN, ATOM, (a, b), where)
    if b.kind == "map" and a.kind == "str" and b.type.inner[0] == STRING and not a.nullable:
        return strict(f"map_contains_key({b.sql}, {a.sql})", BOOLEAN, ATOM, (a, b), where)
    if b.kind == "map" and a.kind == "str" and b.type.inner[0] == STRING:
        key, entries = a.cleaned, required(b, where)
        sql = f"coalesce(map_contains_key({entries.sql}, {key.sql}), false)"
        return total(sql, BOOLEAN, ATOM, (key, entries))
    if b.kind == "list" and a.nullable and b.type.inner[0] == a.type and not a.wide:
        return _in_list(a, b, where)
    if b.kind == "list" and a.kind in ("str", "int") and not a.nullable and not a.wide:
        if b.type.inner[0] != a.type and not (a.constant and a.kind == "int"):
            raise NotTranslated(f"{where} looks for a {a.type.text} in a {b.type.text}")
        found = strict(f"array_contains({b.sql}, {a.sql})", BOOLEAN, ATOM, (a, b), where)
        if b.type.inner[0].name not in ("STRING", "INT", "BIGINT") or (
            (b.type.inner[0].name == "STRING") != (a.kind == "str")
        ):
            raise NotTranslated(f"{where} looks for a {a.type.text} in a {b.type.text}")
        if b.full:
            return found
        # NULL also means that the list has None, but not the value.
        sql = f"coalesce(array_contains({b.sql}, {a.sql}), false)"
        if b.nullable:
            raise NotTranslated(f"{where} looks into a list that may be None")
        return total(sql, BOOLEAN, ATOM, (a, b))
    raise NotTranslated(f"{where} looks for a {a.type.text} in a {b.type.text}")


def _in_list(a: Term, b: Term, where: str) -> Term:
    """`a in b`, for a value and a list of its type that may be None or have None."""
    if a.type.name not in ("STRING", "INT", "BIGINT"):
        raise NotTranslated(f"{where} looks for a {a.type.text} in a {b.type.text}")
    value, items = a.cleaned, required(b, where)
    found = f"coalesce(array_contains({items.sql}, {value.sql}), false)"
    if value.none:
        none = f"exists({items.sql}, x0 -> x0 IS NULL)"
        found = f"if({value.sql} IS NULL, {none}, {found})"
    return total(found, BOOLEAN, ATOM, (value, items))


def _listed(a: Term, values: list[object], where: str) -> Term:
    """`a in (x, y)`, for constants."""
    value = a.cleaned
    accepted: dict[str, tuple[type, ...]] = {
        "str": (str,), "int": (int,), "float": (int, float), "bool": (bool,),
    }  # fmt: skip
    if value.kind not in accepted or value.wide:
        raise NotTranslated(f"{where} looks for a {a.type.text}")
    others = [each for each in values if each is not None]
    if not all(type(each) in accepted[value.kind] for each in others):
        raise NotTranslated(f"{where} looks in values of other types")
    terms = [constant(each) for each in others]
    if value.kind == "float" and any(
        abs(each.low) > EXACT_DOUBLE for each in terms if each.kind == "int"
    ):
        raise NotTranslated(f"{where} compares a float with an integer beyond 2^53")
    none = value.none and None in values
    inner = value.within(COMPARED + 1)
    if not terms:
        raise NotTranslated(f"{where} looks in an empty list")
    sql, binds = f"{inner} IN ({', '.join(each.sql for each in terms)})", COMPARED
    if none:
        sql = f"coalesce({sql}, true)"
    elif value.none:
        sql = f"coalesce({sql}, false)"
    binds = ATOM if value.none else COMPARED
    made = total(sql, BOOLEAN, binds, (value,))
    return made if none else replace(made, if_true=a.known | value.known)
