"""Statements that change a value and return it, as the expression that they are equal to."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def changed(body: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """Return `x["a"] = y; return x` as `return {**x, "a": y}`; None for other statements.

    Also `x["a"] += y`, `x["a"].append(y)`, and `x.append(y)` for a list that is returned. The new
    values must not read what was changed before.
    """
    *changes, last = body
    if not changes or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Name):
        return None
    name = last.value.id
    appended = _appended(changes, name)
    if appended is not None:
        return [_returned(appended, last)]
    fields: dict[str, ast.expr] = {}
    for each in changes:
        found = _field(each, name)
        if found is None or found[0] in fields or not _reads(found[1], name, fields):
            return None
        fields[found[0]] = found[1]
    keys: list[ast.expr | None] = [None, *(ast.Constant(each) for each in fields)]
    return [_returned(ast.Dict(keys, [_name(name), *fields.values()]), last)]


def _returned(value: ast.expr, last: ast.stmt) -> ast.stmt:
    made = ast.copy_location(ast.Return(value), last)
    return ast.fix_missing_locations(made)


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _appended(changes: Sequence[ast.stmt], name: str) -> ast.expr | None:
    """The list that only gets values appended."""
    made = _name(name)
    for each in changes:
        match each:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=of), attr="append"),
                    args=[item],
                    keywords=[],
                )
            ) if of == name and not _uses(item, name):
                made = ast.BinOp(made, ast.Add(), ast.List([item], ast.Load()))
            case _:
                return None
    return made


def _field(item: ast.stmt, name: str) -> tuple[str, ast.expr] | None:
    """The field that a statement changes, and its new value."""
    match item:
        case ast.Assign(targets=[target], value=value):
            field = _of(target, name)
            return None if field is None else (field, value)
        case ast.AugAssign(target=target, op=op, value=value):
            field = _of(target, name)
            return None if field is None else (field, ast.BinOp(_part(name, field), op, value))
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=target, attr="append"), args=[value], keywords=[]
            )
        ):
            field = _of(target, name)
            if field is None:
                return None
            item_ = ast.List([value], ast.Load())
            return field, ast.BinOp(_part(name, field), ast.Add(), item_)
    return None


def _part(name: str, field: str) -> ast.expr:
    return ast.Subscript(_name(name), ast.Constant(field), ast.Load())


def _of(target: ast.expr, name: str) -> str | None:
    """The field of `name["field"]` or `name.field`."""
    match target:
        case ast.Attribute(value=ast.Name(id=of), attr=field):
            return field if of == name else None
        case ast.Subscript(value=ast.Name(id=of), slice=ast.Constant(value=str(field))):
            return field if of == name else None
    return None


def _uses(value: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value))


def _reads(value: ast.expr, name: str, changed: dict[str, ast.expr]) -> bool:
    """Whether a value reads the changed one only by fields that were not changed before."""
    whole = sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value))
    parts = [_of(each, name) for each in ast.walk(value) if isinstance(each, ast.expr)]
    read = [each for each in parts if each is not None]
    return whole == len(read) and not set(read) & set(changed)
