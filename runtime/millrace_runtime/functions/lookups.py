"""Parts of lists and maps, and the values of constant dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from millrace_compiler.types.types import STRING, VOID, DataType

from millrace_runtime.functions.fitting import fitted, of_parts, same
from millrace_runtime.functions.numbers import required
from millrace_runtime.functions.terms import (
    ATOM,
    NOTHING,
    NotTranslated,
    Term,
    constant,
    failure,
    long,
    strict,
    total,
)

#: the largest dict of constants that becomes part of an expression
_MOST_ENTRIES = 100


def table_of(term: Term) -> Mapping[Any, Any] | None:
    """The dict that a term stands for, if it is a constant one."""
    found = term.constant[0] if term.constant else None
    return found if isinstance(found, dict) else None


def looked_up(table: Mapping[Any, Any], key: Term, where: str, default: Term | None = None) -> Term:
    """`TABLE[key]`, which fails for another key, or `TABLE.get(key, default)`."""
    if key.constant:
        raise NotTranslated(f"{where} is of constants only")
    sql, type_ = _map(table, key, where)
    if default is None:
        key = long(key) if key.kind == "int" else key
        error = failure(f"KeyError in {where}")
        made = strict(f"coalesce({sql}[{key.sql}], {error})", type_, ATOM, (key,), where)
        return replace(made, error=None, guarded=None, raises=True)
    key = (long(key) if key.kind == "int" else key).cleaned
    if default.raises:
        raise NotTranslated(f"{where} has a default that may fail")
    found, other = same(Term("", type_), default.cleaned, final=False)
    if found.type != type_:
        raise NotTranslated(f"{where} has a default of another type")
    text = f"{sql}[{key.sql}]"
    if default.kind != "none":
        text = f"coalesce({text}, {other.sql})"
    made = total(text, type_, ATOM, (key,))
    # Spark makes a choice of the entry of a map of constants.
    return replace(made, none=other.none, choice=default.kind == "none")


def _map(table: Mapping[Any, Any], key: Term, where: str) -> tuple[str, DataType]:
    """The text of a constant dict as a map, and the type of its values."""
    kinds: dict[type, set[str]] = {str: {"str"}, int: {"int"}}
    known = {type(each) for each in table}
    if len(known) != 1 or key.kind not in kinds.get(next(iter(known)), ()) or key.wide:
        raise NotTranslated(f"{where} has keys of other types than {key.type.text}")
    if len(table) > _MOST_ENTRIES:
        raise NotTranslated(f"{where} has more than {_MOST_ENTRIES} entries")
    values = [constant(each) for each in table.values()]
    if any(each.kind not in ("str", "int", "float", "bool") for each in values):
        raise NotTranslated(f"{where} has values that are not texts, numbers or bools")
    values = [long(each) if each.kind == "int" else each for each in values]
    if len({each.type for each in values}) != 1:
        raise NotTranslated(f"{where} has values of different types")
    keys = [constant(each) for each in table]
    keys = [long(each) if each.kind == "int" else each for each in keys]
    parts = [each.sql for pair in zip(keys, values, strict=True) for each in pair]
    return f"map({', '.join(parts)})", values[0].type


def map_entry(base: Term, key: Term, default: Term, where: str) -> Term:
    """`m.get(key, default)` of a map with texts as keys."""
    if base.type.inner[0] != STRING or key.kind != "str" or default.raises:
        raise NotTranslated(f"{where} is not a form that is translated")
    base, key = required(base, where), key.cleaned
    inner = base.type.inner[1]
    if inner == VOID:
        raise NotTranslated(f"{where} has no type")
    value = fitted(default, inner)
    sql = f"if(map_contains_key({base.sql}, {key.sql}), {base.sql}[{key.sql}], {value.sql})"
    return replace(total(sql, inner, ATOM, (base, key)), none=True)


def new_map(type_: DataType, pairs: Sequence[tuple[Term, Term]]) -> Term:
    """`{"a": x, "b": y}` with constant keys, as a map of a type."""
    if not pairs:
        return Term(f"CAST(map() AS {type_.text})", type_)
    keys = [key.constant[0] if key.constant else None for key, _ in pairs]
    if type_.inner[0] != STRING or not all(isinstance(each, str) for each in keys):
        raise NotTranslated("a map has keys that are not constant texts")
    if len(set(keys)) < len(keys):
        raise NotTranslated("a key of a map is given twice")
    values = [fitted(value, type_.inner[1]).cleaned for _, value in pairs]
    parts = [each.sql for (key, _), value in zip(pairs, values, strict=True)
             for each in (key, value)]  # fmt: skip
    return of_parts(f"map({', '.join(parts)})", type_, values)


def map_with(base: Term, pairs: Sequence[tuple[Term, Term]], where: str) -> Term:
    """`{**m, key: value}`: a map with entries that are changed in place, or added at the end."""
    if base.type.inner[0] != STRING:
        raise NotTranslated(f"{where} has keys that are not texts")
    made = required(base, where)
    parts = [made]
    for key, value in pairs:
        if key.kind != "str":
            raise NotTranslated(f"{where} has a key that is not a text")
        k = required(key, where)
        v = fitted(value, base.type.inner[1]).cleaned
        sql = (
            f"if(map_contains_key({made.sql}, {k.sql}), transform_values({made.sql}, "
            f"(k0, v0) -> if(k0 = {k.sql}, {v.sql}, v0)), map_concat({made.sql}, "
            f"map({k.sql}, {v.sql})))"
        )
        parts += [k, v]
        made = replace(made, sql=sql)
    result = total(made.sql, base.type, ATOM, parts)
    return replace(result, built=True)


def list_slice(base: Term, lower: int | None, upper: int | None, where: str) -> Term:
    """`xs[a:b]` for constants; of negative ones `xs[-n:]` and `xs[:-n]`."""
    if base.constant or base.type.inner[0] == VOID:
        raise NotTranslated(f"{where} has a slice that is not translated")
    x = base.sql
    start = lower or 0
    if start < 0 and upper is None:
        sql = f"slice({x}, greatest(size({x}) - {-start - 1}, 1), {-start})"
    elif start >= 0 and upper is None:
        sql = f"slice({x}, {start + 1}, size({x}))"
    elif start == 0 and upper is not None and upper < 0:
        sql = f"slice({x}, 1, greatest(size({x}) - {-upper}, 0))"
    elif start >= 0 and upper is not None and upper >= 0:
        sql = f"slice({x}, {start + 1}, {max(upper - start, 0)})"
    else:
        raise NotTranslated(f"{where} has a slice that is not translated")
    made = strict(sql, base.type, ATOM, (base,), where)
    return replace(made, full=base.full, built=base.built)


def list_sum(a: Term, b: Term, where: str) -> Term:
    """`xs + ys`, of lists of one type."""
    if a.constant or b.constant:
        raise NotTranslated(f"{where} adds a list of constants")
    a, b = same(a, b, final=False)
    if a.type != b.type or a.type.inner[0] == VOID:
        raise NotTranslated(f"{where} adds a {a.type.text} and a {b.type.text}")
    made = strict(f"concat({a.sql}, {b.sql})", a.type, ATOM, (a, b), where)
    return replace(made, full=a.full and b.full, built=a.built or b.built, implied=NOTHING)
