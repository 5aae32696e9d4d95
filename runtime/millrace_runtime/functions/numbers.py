"""Arithmetic. Python's integers have no limits, so bounds decide in which type Spark computes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from millrace_compiler.types.types import BIGINT, DOUBLE, INT, DataType

from millrace_runtime.functions.terms import (
    ATOM,
    EXACT_DOUBLE,
    INT_HIGH,
    INT_LOW,
    LONG_HIGH,
    LONG_LOW,
    PLUS,
    SIGN,
    TIMES,
    NotTranslated,
    Term,
    constant,
    long,
    strict,
)

_SYMBOLS: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", PLUS),
    ast.Sub: ("-", PLUS),
    ast.Mult: ("*", TIMES),
}
_WIDEST = 10**38 - 1
#: TIMESTAMP has microseconds in 64 bits; Python gets milliseconds
_MILLISECONDS = 2**63 // 1000 + 1


def number(term: Term) -> Term:
    """The term, with a TIMESTAMP as the integer that Python sees."""
    if term.kind != "time":
        return term
    return replace(
        term, sql=f"unix_millis({term.sql})", type=BIGINT, binds=ATOM, low=-_MILLISECONDS,
        high=_MILLISECONDS,
        guarded=f"unix_millis({term.guarded})" if term.guarded else None,
        implied=term.implied | {term.sql},
    )  # fmt: skip


def binary(op: ast.operator, a: Term, b: Term, where: str) -> Term:
    """An operator of two numbers."""
    a, b = number(a), number(b)
    kinds = {a.kind, b.kind}
    if not kinds <= {"int", "float"}:
        raise NotTranslated(f"{where} is not arithmetic of numbers")
    if a.constant and b.constant:
        return _folded(op, a.constant[0], b.constant[0], where)
    if isinstance(op, ast.Div):
        return _divided(a, b, where)
    if kinds == {"int"}:
        if isinstance(op, ast.FloorDiv | ast.Mod):
            return _floored(op, a, b, where)
        if isinstance(op, ast.Add | ast.Sub | ast.Mult):
            return _whole(op, a, b, where)
    elif isinstance(op, ast.Add | ast.Sub | ast.Mult) and not (a.wide or b.wide):
        return _joined(op, a, b, DOUBLE, where)
    raise NotTranslated(f"{where} has an operator that is not translated")


_FOLDED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def _folded(op: ast.operator, a: object, b: object, where: str) -> Term:
    """An operation on constants."""
    function = _FOLDED.get(type(op))
    try:
        found = function(a, b) if function else None
    except ArithmeticError:
        found = None
    if found is None:
        raise NotTranslated(f"{where} has no result that is translated")
    return constant(found)


def _joined(
    op: ast.operator, a: Term, b: Term, type_: DataType, where: str, *, raises: bool = False
) -> Term:
    symbol, binds = _SYMBOLS[type(op)]
    # The right operand gets parentheses even where they would only change the rounding.
    sql = f"{a.within(binds)} {symbol} {b.within(binds + 1)}"
    return strict(sql, type_, binds, (a, b), where, raises=raises)


def _range(op: ast.operator, a: Term, b: Term) -> tuple[int, int]:
    if isinstance(op, ast.Add):
        return a.low + b.low, a.high + b.high
    if isinstance(op, ast.Sub):
        return a.low - b.high, a.high - b.low
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(ends), max(ends)


def _whole(op: ast.operator, a: Term, b: Term, where: str) -> Term:
    low, high = _range(op, a, b)
    if low >= LONG_LOW and high <= LONG_HIGH and not (a.wide or b.wide):
        made = _joined(op, *_one_long(a, b), BIGINT, where)
    elif low >= -_WIDEST and high <= _WIDEST:
        made = replace(_joined(op, _decimal(a), _decimal(b), BIGINT, where), wide=True)
    else:
        raise NotTranslated(f"{where} may have more than 38 digits")
    return replace(made, low=low, high=high)


def _one_long(a: Term, b: Term) -> tuple[Term, Term]:
    """Two integers of which one is BIGINT, so that Spark computes in BIGINT."""
    if BIGINT in (a.type, b.type):
        return a, b
    if b.constant:
        return a, long(b)
    return long(a), b


def _decimal(term: Term) -> Term:
    if term.wide:
        return term
    return replace(term, sql=f"CAST({term.sql} AS DECIMAL(38, 0))", wide=True, binds=ATOM)


def last(op: ast.operator, a: Term, b: Term, expects: DataType | None, where: str) -> Term:
    """The last operation of a result, which fails if its result does not fit, as Python's does.

    Python fails when the result is written as its type.
    """
    a, b = number(a), number(b)
    if a.wide or b.wide:
        return _whole(op, a, b, where)
    low, high = _range(op, a, b)
    if expects == INT and {a.type, b.type} == {INT}:
        made = _joined(op, a, b, INT, where, raises=True)
        return replace(made, low=max(low, INT_LOW), high=min(high, INT_HIGH))
    if (low >= LONG_LOW and high <= LONG_HIGH) or expects not in (None, BIGINT):
        return _whole(op, a, b, where)
    made = _joined(op, *_one_long(a, b), BIGINT, where, raises=True)
    return replace(made, low=max(low, LONG_LOW), high=min(high, LONG_HIGH))


def negative(term: Term, where: str) -> Term:
    """`-x`."""
    value = number(term)
    if value.constant and type(value.constant[0]) in (int, float):
        return constant(-value.constant[0])  # type: ignore[operator]
    if value.kind == "float":
        return strict(f"-{value.within(ATOM)}", DOUBLE, SIGN, (value,), where)
    if value.kind != "int":
        raise NotTranslated(f"{where} is not a number")
    return _whole(ast.Sub(), constant(0), value, where)


def _exact(term: Term) -> bool:
    return term.kind == "float" or (term.low >= -EXACT_DOUBLE and term.high <= EXACT_DOUBLE)


def _divided(a: Term, b: Term, where: str) -> Term:
    """`a / b`, a float. Integers beyond 2^53 are not translated: Python rounds only once."""
    if a.wide or b.wide or (a.kind == b.kind == "int" and not (_exact(a) and _exact(b))):
        raise NotTranslated(
            f"{where} divides integers that may be greater than 2^53; use float(...) / ..."
        )
    # Spark divides integers as DOUBLE, too.
    sql = f"{a.within(TIMES)} / {b.within(TIMES + 1)}"
    never = bool(b.constant) and b.constant[0] != 0
    return strict(sql, DOUBLE, TIMES, (a, b), where, raises=not never)


def _floored(op: ast.operator, a: Term, b: Term, where: str) -> Term:
    """`a // b` and `a % b`, which round down; Spark's `div` and `%` round towards zero."""
    if a.wide or b.wide:
        raise NotTranslated(f"{where} may be greater than a BIGINT")
    divisor = b.constant[0] if b.constant else None
    if not (isinstance(divisor, int) and divisor > 0):
        raise NotTranslated(f"{where} does not divide by a positive constant")
    left, right = a.within(TIMES), b.within(TIMES + 1)
    if isinstance(op, ast.Mod):
        sql = f"{left} % {right}" if a.low >= 0 else f"pmod({a.sql}, {b.sql})"
        made = strict(sql, _wider(a, b), TIMES if a.low >= 0 else ATOM, (a, b), where)
        return replace(made, low=0, high=divisor - 1)
    sql = f"{left} div {right}"
    binds = TIMES
    if a.low < 0:
        sql, binds = f"{sql} - if({left} % {right} < 0, 1, 0)", PLUS
    made = strict(sql, BIGINT, binds, (a, b), where)
    return replace(made, low=a.low // divisor, high=a.high // divisor)


def _wider(a: Term, b: Term) -> DataType:
    return BIGINT if BIGINT in (a.type, b.type) else INT


def absolute(term: Term, where: str) -> Term:
    """`abs(x)`."""
    value = number(term)
    if value.kind == "float":
        return strict(f"abs({value.sql})", DOUBLE, ATOM, (value,), where)
    if value.kind != "int":
        raise NotTranslated(f"{where} is not of a number")
    high = max(abs(value.low), abs(value.high))
    value = long(value) if high <= LONG_HIGH else _decimal(value)
    made = strict(f"abs({value.sql})", BIGINT, ATOM, (value,), where)
    return replace(made, low=0, high=high, wide=value.wide)


def extreme(name: str, terms: list[Term], where: str) -> Term:
    """`min` and `max` of integers, or of floats."""
    made = [required(number(each), where) for each in terms]
    if len(made) < 2 or {each.kind for each in made} != {"int"} or any(x.wide for x in made):
        raise NotTranslated(f"{where} is not of integers")
    function = {"min": "least", "max": "greatest"}[name]
    type_ = BIGINT if any(each.type == BIGINT for each in made) else INT
    if type_ == INT and any(each.type not in (INT, BIGINT) for each in made):
        made = [long(each) for each in made]
        type_ = BIGINT
    sql = f"{function}({', '.join(each.sql for each in made)})"
    found = strict(sql, type_, ATOM, made, where)
    low = (min if name == "min" else max)(each.low for each in made)
    high = (min if name == "min" else max)(each.high for each in made)
    return replace(found, low=low, high=high)


def required(term: Term, where: str) -> Term:
    """A value that is not None: its text fails where it is."""
    if not term.nullable:
        return term
    made = strict(term.sql, term.type, term.binds, (term,), where)
    made = replace(made, low=term.low, high=term.high, wide=term.wide)
    return made.cleaned


def summed(items: Term, variable: Term, body: Term, where: str) -> Term:
    """`sum` of a comprehension of integers that fit an INT, so that the sum fits a BIGINT."""
    value = body.cleaned
    if value.kind != "int" or value.wide or value.none:
        raise NotTranslated(f"{where} is not a sum of integers that are never None")
    if value.low < INT_LOW or value.high > INT_HIGH:
        raise NotTranslated(f"{where} may be greater than a BIGINT")
    sql = f"aggregate({items.sql}, 0L, (total, {variable.sql}) -> total + {value.within(PLUS + 1)})"
    made = strict(sql, BIGINT, ATOM, (items,), where)
    return replace(made, raises=made.raises or value.raises)
