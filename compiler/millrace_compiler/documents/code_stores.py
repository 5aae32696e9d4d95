"""The names of stores that the code of a processor asks its context for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from millrace_compiler.diagnostics.diagnostics import Position

#: `context.store` here, and what Kafka Streams calls it
METHODS = frozenset({"store", "get_state_store", "getStateStore"})


@dataclass(frozen=True)
class StoreName:
    """A name that is written as text in the code, at `position`; `line` counts from 1."""

    name: str
    line: int
    position: Position


def stores_asked(code: str, class_name: str) -> list[StoreName]:
    """Return the names in `context.store("name")` of a class in valid Python source.

    The context is the argument of `init`, or the attribute that `init` assigns it to. Names that
    the code computes are not known.
    """
    lines = code.encode().split(b"\n")
    before = [0]
    for line in lines:
        before.append(before[-1] + len(line.decode()) + 1)

    def place(line: int, column: int) -> int:
        return before[line - 1] + len(lines[line - 1][:column].decode(errors="ignore"))

    found = []
    for kind in _kinds(ast.parse(code), class_name):
        for text in _asked(kind):
            stop = place(text.end_lineno or text.lineno, text.end_col_offset or text.col_offset)
            position = Position(place(text.lineno, text.col_offset), stop)
            found.append(StoreName(str(text.value), text.lineno, position))
    return found


def _kinds(module: ast.Module, class_name: str) -> list[ast.ClassDef]:
    """Return the class and those of the module from which it inherits."""
    kinds = {each.name: each for each in module.body if isinstance(each, ast.ClassDef)}
    wanted, found = [class_name], []
    while wanted:
        kind = kinds.pop(wanted.pop(), None)
        if kind is not None:
            found.append(kind)
            wanted += [base.id for base in kind.bases if isinstance(base, ast.Name)]
    return found


def _asked(kind: ast.ClassDef) -> Iterator[ast.Constant]:
    contexts = _contexts(kind)
    for call in ast.walk(kind):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in METHODS
            and ast.dump(call.func.value) in contexts
            and call.args
            and isinstance(call.args[0], ast.Constant)
            and isinstance(call.args[0].value, str)
        ):
            yield call.args[0]


def _contexts(kind: ast.ClassDef) -> set[str]:
    """Return the expressions that stand for the context, as their dumps: `context`, `self.context`.

    `self.context` is always among them: a class may inherit `init`.
    """
    found = {ast.dump(ast.parse("self.context", mode="eval").body)}
    for method in kind.body:
        if not isinstance(method, ast.FunctionDef) or method.name != "init":
            continue
        arguments = [*method.args.posonlyargs, *method.args.args]
        if len(arguments) != 2:
            continue
        context = ast.dump(ast.Name(arguments[1].arg, ast.Load()))
        found.add(context)
        for each in ast.walk(method):
            if isinstance(each, ast.Assign) and ast.dump(each.value) == context:
                found |= {
                    ast.dump(ast.Attribute(target.value, target.attr, ast.Load()))
                    for target in each.targets
                    if isinstance(target, ast.Attribute)
                }
    return found
