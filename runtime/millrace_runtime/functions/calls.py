"""Calls of built-in functions, and of methods of texts, structs and maps."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from millrace_compiler.types.types import DOUBLE, STRING

from millrace_runtime.functions import compare, numbers, texts
from millrace_runtime.functions.logic import truth
from millrace_runtime.functions.lookups import looked_up, map_entry, table_of
from millrace_runtime.functions.terms import (
    ATOM,
    Facts,
    NotTranslated,
    Term,
    alike,
    constant,
    field_of,
    part_of,
    strict,
    total,
)

#: the built-in functions that are translated
BUILTINS: tuple[Any, ...] = (len, abs, min, max, str, bool, float)


def builtin(function: Any, args: Sequence[Term], where: str) -> Term:
    """A call of a built-in function."""
    if function in (min, max):
        if len(args) > 1 and {each.kind for each in args} in ({"float"}, {"str"}):
            return _extreme(ast.Gt() if function is max else ast.Lt(), args, where)
        return numbers.extreme(function.__name__, list(args), where)
    if len(args) != 1:
        raise NotTranslated(f"{where} has other arguments")
    [of] = args
    if function is len:
        return texts.length(of, where)
    if function is abs:
        return numbers.absolute(of, where)
    if function is str:
        return texts.shown(of)
    if function is bool:
        return truth(of)
    value = numbers.number(of)
    if value.kind == "float":
        return value if not value.nullable else strict(value.sql, DOUBLE, ATOM, (value,), where)
    if value.kind != "int" or value.wide:
        raise NotTranslated(f"{where} is not of a number")
    return strict(f"double({value.sql})", DOUBLE, ATOM, (value,), where)


def _extreme(op: ast.cmpop, args: Sequence[Term], where: str) -> Term:
    """`max` and `min` of floats or of texts: a later value only if it is greater or less."""
    made, *others = (numbers.required(each, where) for each in args)
    for other in others:
        if alike(made, other):
            raise NotTranslated(f"{where} compares a value with itself")
        test = compare.compared(op, other, made, where)
        sql = f"if({test.clean}, {other.sql}, {made.sql})"
        made = total(sql, made.type, ATOM, (made, other))
    return made


def method(base: Term, name: str, args: Sequence[Term], facts: Facts, where: str) -> Term:
    """A call of a method."""
    if base.kind == "str":
        if name == "join" and len(args) == 1:
            return texts.joined(base, args[0], where)
        return texts.method(base, name, args, where)
    table = table_of(base)
    if table is not None and name == "get" and len(args) in (1, 2):
        return looked_up(table, args[0], where, args[1] if len(args) == 2 else constant(None))
    if name == "get" and base.kind == "struct" and len(args) in (1, 2):
        key = args[0].constant[0] if args[0].constant else None
        if isinstance(key, str) and base.type.field(key) is not None and not args[-1].raises:
            return field_of(base, key, facts, where)
    of_map = name == "get" and base.kind == "map" and len(args) == 1
    if of_map and args[0].constant and args[0].kind == "str" and base.type.inner[0] == STRING:
        return entry(base, args[0], where)
    if name == "get" and base.kind == "map" and len(args) in (1, 2):
        return map_entry(base, args[0], args[1] if len(args) == 2 else constant(None), where)
    raise NotTranslated(f"{where} is not a method that is translated")


def entry(base: Term, key: Term, where: str) -> Term:
    """The value of a key of a map; NULL without it."""
    inner = base.type.inner[1]
    if inner.name == "VOID":
        raise NotTranslated(f"{where} has no type")
    made = part_of(base, f"[{key.sql}]", inner, frozenset(), where)
    return replace(made, implied=frozenset())
