"""Callables without a source of their own, such as `len`, `str.upper` or a decorated function.

They are called by name: each becomes a lambda that a program could have instead.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Protocol

from millrace_compiler.declarations.functions import Binding
from millrace_compiler.program.classes import bound_by

from millrace_runtime.functions.source import NoSource, Source

_OPERATORS: dict[Any, str] = {operator.add: "+", operator.sub: "-", operator.mul: "*"}
#: what is made without arguments, such as the initial value of an aggregation
_EMPTY: dict[Any, str] = {list: "[]", dict: "{}", int: "0", float: "0.0", str: "''", bool: "False"}
_HELP = "write a lambda or a def that calls it, or give it a name at the top of its file"


class Place(Protocol):
    """A line of a program."""

    @property
    def file(self) -> str:
        """The program's file."""

    @property
    def line(self) -> int:
        """The number of the line."""

    @property
    def names(self) -> Mapping[str, object]:
        """The names at the top of the file, with their objects."""

    def source(self) -> list[str]:
        """Return the lines of the file."""


def called_by_name(given: Callable[..., Any], binding: Binding, place: Place) -> Source:
    """Return the source of a lambda that calls a callable. Raises NoSource.

    `binding`: what the parameters stand for. `place`: the line of the program, in which the
    callable has a name.
    """
    parameters = _parameters(given, binding)
    body = _body(given, parameters, place)
    if body is None:
        raise NoSource(f"an object of {type(given).__name__} has no Python source; {_HELP}")
    lines = [*place.source()]
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    lines.append(f"lambda {', '.join(parameters)}: {body}\n")
    node = ast.parse("".join(lines)).body[-1]
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Lambda):
        raise NoSource(f"a {type(given).__name__} has no Python source; {_HELP}")
    code = compile(ast.Expression(node.value), place.file, "eval")
    function: FunctionType = eval(code, dict(place.names))  # noqa: S307 - the lambda from above
    returned = _annotation(given)
    if returned is not None:
        function.__annotations__ = {"return": returned}
    name = getattr(given, "__qualname__", None) or type(given).__name__
    return Source(function, node.value, place.file, tuple(lines), called=(name, place.line))


def _parameters(given: Callable[..., Any], binding: Binding) -> Sequence[str]:
    """The parameters of the lambda: those of the callable that have no default."""
    try:
        known = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):  # some functions of C have no signature
        return binding.positions[0]
    if any(each.kind is each.KEYWORD_ONLY and each.default is each.empty for each in known):
        raise NoSource("it has arguments without a default that are given by name only")
    needed = [
        each.name for each in known
        if each.default is each.empty and each.kind in (each.POSITIONAL_ONLY,
                                                        each.POSITIONAL_OR_KEYWORD)
    ]  # fmt: skip
    if all(each in binding.names for each in needed) and needed:
        return needed
    for names in binding.positions:
        if len(names) == len(needed):
            return names
    return needed or binding.positions[0]


def _body(given: Callable[..., Any], parameters: Sequence[str], place: Place) -> str | None:
    """The call in the lambda; None if a program cannot name the callable."""
    listed = ", ".join(parameters)
    if isinstance(given, BuiltinFunctionType) and given in _OPERATORS and len(parameters) == 2:
        return f"{parameters[0]} {_OPERATORS[given]} {parameters[1]}"
    if not parameters and isinstance(given, type) and given in _EMPTY:
        return _EMPTY[given]
    if isinstance(given, MethodDescriptorType):
        return f"{parameters[0]}.{given.__name__}({', '.join(parameters[1:])})"
    name = _name(given, place)
    if name is not None:
        return f"{name}({listed})"
    if isinstance(given, functools.partial):
        function = _name(given.func, place)
        literals = [*given.args, *given.keywords.values()]
        if function is not None and all(map(is_literal, literals)):
            first = [repr(each) for each in given.args]
            named = [f"{each}={value!r}" for each, value in given.keywords.items()]
            return f"{function}({', '.join([*first, *parameters, *named])})"
    if isinstance(given, operator.itemgetter | operator.attrgetter | operator.methodcaller):
        return _of_operator(given, parameters[0])
    return None


def _of_operator(given: Any, parameter: str) -> str | None:
    """What `itemgetter("a")`, `attrgetter("a.b")` and `methodcaller("a", 1)` are written as."""
    made, arguments = given.__reduce__()[:2]
    if made is operator.methodcaller and all(map(is_literal, arguments)):
        return f"{parameter}.{arguments[0]}({', '.join(map(repr, arguments[1:]))})"
    if len(arguments) != 1 or not is_literal(arguments[0]):
        return None
    if made is operator.itemgetter:
        return f"{parameter}[{arguments[0]!r}]"
    return f"{parameter}.{arguments[0]}" if made is operator.attrgetter else None


def _name(given: Any, place: Place) -> str | None:
    """The name by which the program's file knows an object."""
    names = _names(place)
    for name in names:
        if place.names.get(name) is given:
            return name
    name = getattr(given, "__name__", "")
    if isinstance(name, str) and vars(builtins).get(name) is given:
        return name
    if isinstance(given, MethodType):
        owner = _name(given.__self__, place)
        return None if owner is None else f"{owner}.{given.__name__}"
    owner, _, rest = str(getattr(given, "__qualname__", "")).partition(".")
    if owner in names and rest and getattr(place.names.get(owner), rest, None) is given:
        return f"{owner}.{rest}"
    if isinstance(given, FunctionType | BuiltinFunctionType | type):
        for each in names:
            known = place.names.get(each)
            if isinstance(known, ModuleType) and getattr(known, name, None) is given:
                return f"{each}.{name}"
    return None


def _names(place: Place) -> list[str]:
    """The names that one simple statement at the top of the program's file defines."""
    try:
        body = ast.parse("".join(place.source())).body
    except SyntaxError:
        return []
    simple = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    found = Counter(name for item in body for name in bound_by(item))
    return [
        name for item in body if isinstance(item, simple)
        for name in bound_by(item) if found[name] == 1
    ]  # fmt: skip


def _annotation(given: Any) -> object:
    """The annotation of what a callable returns, if there is one."""
    function = given if isinstance(given, FunctionType | MethodType) else None
    if function is None and not isinstance(given, type | BuiltinFunctionType):
        function = getattr(given, "__wrapped__", None) or vars(type(given)).get("__call__")
    if not isinstance(function, FunctionType | MethodType):
        return None
    return inspect.get_annotations(inspect.unwrap(function)).get("return")


def is_literal(value: Any) -> bool:
    """Whether a value can be written as a literal of Python."""
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
