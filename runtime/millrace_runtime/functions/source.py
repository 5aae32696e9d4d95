"""The source of a Python function of a program, and the objects that its names refer to."""

from __future__ import annotations

import ast
import builtins
import linecache
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

Body = ast.Lambda | ast.FunctionDef


class NoSource(Exception):
    """The source of a function cannot be found; the message says what would help."""


@dataclass(frozen=True)
class Source:
    """A function with its syntax tree.

    `called`: name and line in messages, of a lambda that only calls another callable.
    """

    function: FunctionType = field(repr=False)
    node: Body
    file: str
    lines: tuple[str, ...] = field(repr=False)
    called: tuple[str, int] | None = None

    @property
    def name(self) -> str | None:
        """Its name; None for a lambda."""
        return None if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters without a default."""
        args = self.node.args
        named = [each.arg for each in (*args.posonlyargs, *args.args)]
        needed = named[: len(named) - len(args.defaults)]
        pairs = zip(args.kwonlyargs, args.kw_defaults, strict=True)
        return (*needed, *(each.arg for each, default in pairs if default is None))

    @property
    def defaults(self) -> dict[str, object]:
        """The values of the parameters with a default."""
        args = self.node.args
        named = [each.arg for each in (*args.posonlyargs, *args.args)]
        values = self.function.__defaults__ or ()
        positional = zip(named[len(named) - len(values) :], values, strict=True)
        return {**dict(positional), **(self.function.__kwdefaults__ or {})}

    def resolve(self, name: str) -> Any:
        """The object of a name that is not local. Raises LookupError if there is none yet."""
        code = self.function.__code__
        if name in code.co_freevars:
            cell = (self.function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                raise LookupError(name) from None
        names = self.function.__globals__
        return names[name] if name in names else vars(builtins)[name]

    @property
    def captured(self) -> dict[str, object]:
        """The values of names of enclosing functions."""
        found = {}
        for name in self.function.__code__.co_freevars:
            try:
                found[name] = self.resolve(name)
            except LookupError:
                continue
        return found

    @property
    def line(self) -> int:
        """Its first line in the file."""
        return self.called[1] if self.called else self.node.lineno

    def segment(self, node: ast.AST) -> str:
        """The text of a part of it, as in the file."""
        return ast.get_source_segment("".join(self.lines), node) or ast.unparse(node)

    def __str__(self) -> str:
        return f"{Path(self.file).name}, line {self.line}"


def source_of(function: Callable[..., Any]) -> Source:
    """Return the source of a lambda or a function. Raises NoSource."""
    if not isinstance(function, FunctionType):
        kind = type(function).__name__
        raise NoSource(f"a {kind} has no Python source; write a lambda or a def that calls it")
    code = function.__code__
    if code.co_flags & 0x2A0:  # generator, coroutine, async generator
        raise NoSource("it is a generator or a coroutine; return a list instead")
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise NoSource("its source cannot be read; define it in a file")
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        raise NoSource("its file has been changed and is not valid Python") from None
    bodies = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda | ast.FunctionDef)]
    found = [node for node in bodies if _is_of(node, code)]
    if len(found) != 1:
        raise NoSource("its source cannot be found in its file; was the file changed?")
    return Source(function, found[0], code.co_filename, tuple(lines))


def _is_of(node: Body, code: CodeType) -> bool:
    """Whether a node is the function of this code, by the places of its instructions."""
    if code.co_name == "<lambda>":
        if not isinstance(node, ast.Lambda) or node.lineno != code.co_firstlineno:
            return False
        body = node.body
        return _names(node) == _arguments(code) and all(
            _inside(place, body) for place in code.co_positions() if place[2] or place[3]
        )
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return first == code.co_firstlineno and _names(node) == _arguments(code)


def _inside(place: tuple[int | None, int | None, int | None, int | None], body: ast.expr) -> bool:
    line, end_line, column, end_column = place
    if line is None or end_line is None or column is None or end_column is None:
        return True
    return (body.lineno, body.col_offset) <= (line, column) and (end_line, end_column) <= (
        body.end_lineno or 0,
        body.end_col_offset or 0,
    )


def _names(node: Body) -> tuple[str, ...]:
    args = node.args
    return tuple(each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs))


def _arguments(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def plain_function(source: Source) -> None:
    """Raise NoSource for what only looks like a function of its arguments."""
    args = source.node.args
    if args.vararg or args.kwarg:
        raise NoSource("it takes any number of arguments; name those that it uses")


def dedented(source: Source) -> str:
    """The text of a `def`, without the indentation of its file."""
    node = source.node
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    first = min([node.lineno, *(each.lineno for each in decorators)])
    return textwrap.dedent("".join(source.lines[first - 1 : node.end_lineno]))


def named(values: Mapping[str, object]) -> str:
    """Assignments of captured values, which are literals."""
    return "".join(f"{name} = {value!r}\n" for name, value in values.items())
