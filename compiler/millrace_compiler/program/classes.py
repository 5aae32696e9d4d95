"""Extracts the source of a processor class, with the definitions of its module that it uses."""

from __future__ import annotations

import ast
import builtins
import importlib
import symtable
from typing import TypeGuard

#: Names that a processor's code can use without importing them.
GIVEN = (
    "STREAM_TIME", "WALL_CLOCK_TIME", "Processor", "ProcessorContext", "Record", "Struct",
    "FrozenStruct", "DeadLetter", "FailedRecord", "RecordError", "Response",
    "KeyValueStore", "WindowStore", "SessionStore", "VersionedStore",
    "ReadOnlyKeyValueStore", "ReadOnlyWindowStore", "ReadOnlySessionStore",
    "ReadOnlyVersionedStore", "AggregationWithHeaders", "ValueTimestampHeaders", "Window",
    "Windowed",
)  # fmt: skip
# Modules of the standard library whose import has no visible effect.
_HARMLESS = (
    "base64", "bisect", "collections", "copy", "dataclasses", "datetime", "decimal", "functools",
    "hashlib", "heapq", "itertools", "json", "math", "operator", "random", "re", "statistics",
    "string", "time", "typing", "urllib", "uuid", "zlib",
)  # fmt: skip


def own_code(source: str, *names: str, spaced: bool = False) -> str | None:
    """The classes or functions with the top-level imports, constants and definitions they need.

    Imports of the runtime are omitted. Blank lines between consecutive statements are kept, so that
    the line numbers of errors are those of the source; ``spaced``: they are as in a formatted file,
    wherever the statements stand. ``None`` if there is no such class, or the
    source is not valid Python.
    """
    wanted = _needed(source, *names)
    if not wanted:
        return None
    lines = source.split("\n")
    text = ""
    last: ast.stmt | None = None
    for item in wanted:
        first = _first(item, lines)
        if last is not None:
            blank = 2 if _is_block(item) or _is_block(last) else 0
            between = lines[last.end_lineno : first - 1]
            if not spaced and not any(line.strip() for line in between):
                blank = len(between)
            text += "\n" * (blank + 1)
        text += "\n".join(lines[first - 1 : item.end_lineno])
        last = item
    return text + "\n"


def in_place(source: str, *names: str) -> str:
    """The code of :func:`own_code` at its lines in the source; other lines are empty."""
    lines = source.split("\n")
    kept = [""] * len(lines)
    for item in _needed(source, *names):
        part = slice(_first(item, lines) - 1, item.end_lineno)
        kept[part] = lines[part]
    return "\n".join(kept).rstrip("\n") + "\n"


def last_function(code: str, name: str) -> str | None:
    """The code with its top-level function of this name at the end; ``None`` without one."""
    lines = code.split("\n")
    items = [item for item in ast.parse(code).body if _is_class(item, name)]
    if not items or not isinstance(items[-1], ast.FunctionDef):
        return None
    found = items[-1]
    later = [item for item in ast.parse(code).body if item.lineno > (found.end_lineno or 0)]
    if not any(isinstance(item, ast.FunctionDef) for item in later):
        return code
    first = _first(found, lines) - 1
    own = "\n".join(lines[first : found.end_lineno])
    rest = "\n".join(lines[:first]).rstrip("\n"), "\n".join(lines[found.end_lineno :]).strip("\n")
    return "\n\n\n".join(part for part in (*rest, own) if part) + "\n"


def _needed(source: str, *names: str) -> list[ast.stmt]:
    """The top-level statements that all classes or functions need; none if one is not there."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return []
    makes = {index: bound_by(item) for index, item in enumerate(body)}
    found = {name: [i for i, item in enumerate(body) if _is_class(item, name)] for name in names}
    if not all(found.values()):
        return []
    wanted = {i for each in found.values() for i in each}
    open_ = list(wanted)
    while open_:
        used = _used(body[open_.pop()])
        for index, own in makes.items():
            if index not in wanted and own & used and not _of_runtime(body[index]):
                wanted.add(index)
                open_.append(index)
    return [body[index] for index in sorted(wanted)]


def is_same(a: str, b: str) -> bool:
    """Whether two sources are equal but for white space at the ends of lines and of the source."""
    return [x.rstrip() for x in a.rstrip().split("\n")] == [
        x.rstrip() for x in b.rstrip().split("\n")
    ]


def is_plain(code: str, *, annotated: bool = False) -> bool:
    """Whether the code contains only definitions, so it cannot fail or have effects.

    ``annotated``: whether functions may have annotations, which name types that the runtime gives.
    """
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return False
    known = bound_names(code) | set(dir(builtins)) | set(GIVEN)
    bases = {b.id for c in body if isinstance(c, ast.ClassDef) for b in c.bases if _is_name(b)}
    types: set[str] | None = set(dir(builtins)) | set(GIVEN) if annotated else None
    for item in body:
        if not _defines(item, types):
            return False
        if types is not None:
            types |= bound_by(item)
    return bases <= known


def _is_name(item: ast.expr) -> TypeGuard[ast.Name]:
    return isinstance(item, ast.Name)


def bound_names(code: str) -> set[str]:
    """Names that the code defines at the top level."""
    return {name for item in ast.parse(code).body for name in bound_by(item)}


def _is_class(item: ast.stmt, name: str) -> bool:
    return isinstance(item, ast.ClassDef | ast.FunctionDef) and item.name == name


def _is_block(item: ast.stmt) -> bool:
    return isinstance(item, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)


def _first(item: ast.stmt, lines: list[str]) -> int:
    """The first line of a statement, including its decorators and the comment above it."""
    decorators = item.decorator_list if isinstance(item, ast.ClassDef | ast.FunctionDef) else []
    first = min([item.lineno, *(each.lineno for each in decorators)])
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
    return first


def bound_by(item: ast.stmt) -> set[str]:
    """Names that a statement at the top level defines."""
    if isinstance(item, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {item.name}
    if isinstance(item, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in item.names}
    return {
        found.id
        for found in ast.walk(item)
        if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store)
    }


def _used(item: ast.stmt) -> set[str]:
    """Names that a statement uses from its module, without local variables of its functions."""
    text = ast.unparse(ast.Module([item], []))
    return _taken(symtable.symtable(text, "<program>", "exec"))


def _taken(table: symtable.SymbolTable) -> set[str]:
    at_top = table.get_type() == "module"
    own = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if (symbol.is_referenced() if at_top else symbol.is_global())
    }
    return own.union(*(_taken(child) for child in table.get_children()))


def _of_runtime(item: ast.stmt) -> bool:
    if isinstance(item, ast.ImportFrom):
        return (item.module or "").partition(".")[0] in ("millrace_runtime", "__future__")
    return isinstance(item, ast.Import) and item.names[0].name == "millrace_runtime"


def _defines(item: ast.stmt, types: set[str] | None) -> bool:
    """Whether a statement only defines something. ``types``: the names that annotations may use."""
    match item:
        case ast.Import(names=names):
            return all(n.name in _HARMLESS for n in names)
        case ast.ImportFrom(module=str(module), level=0) if module in _HARMLESS:
            return all(hasattr(importlib.import_module(module), n.name) for n in item.names)
        case ast.FunctionDef():
            return _simple_function(item, types)
        case ast.ClassDef(bases=bases, keywords=[], decorator_list=[]):
            return all(isinstance(base, ast.Name) for base in bases) and all(
                _defines(each, types) or isinstance(each, ast.Pass) for each in item.body
            )
        case ast.Assign(targets=targets, value=value):
            return all(isinstance(t, ast.Name) for t in targets) and _is_literal(value)
        case ast.Expr(value=ast.Constant()):
            return True
    return False


def _simple_function(item: ast.FunctionDef, types: set[str] | None) -> bool:
    given = [*item.args.defaults, *(d for d in item.args.kw_defaults if d is not None)]
    everything = [*item.args.posonlyargs, *item.args.args, *item.args.kwonlyargs]
    notes = [note for note in (*(a.annotation for a in everything), item.returns) if note]
    sound = not notes or (types is not None and all(_is_type(note, types) for note in notes))
    return not item.decorator_list and sound and all(_is_literal(each) for each in given)


#: Types with parameters that annotations may have.
_GENERIC = {"list", "dict", "tuple", "set", "frozenset", *GIVEN}


def _is_type(note: ast.expr, types: set[str]) -> bool:
    """Whether an annotation can be evaluated without failing."""
    match note:
        case ast.Constant(value=None | str()):
            return True
        case ast.Name(id=name):
            return name in types
        case ast.Subscript(value=ast.Name(id=name), slice=part):
            return name in _GENERIC and _is_type(part, types)
        case ast.Tuple(elts=parts):
            return all(_is_type(each, types) for each in parts)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            named = not isinstance(left, ast.Constant)
            return named and _is_type(left, types) and _is_type(right, types)
    return False


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True
