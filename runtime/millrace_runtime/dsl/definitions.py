"""The source of a Python function as a definition, with what it uses of its file."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from millrace_compiler.declarations.functions import ARGUMENTS, choosing, class_name_of
from millrace_compiler.program.classes import bound_names, in_place, last_function, own_code

from millrace_runtime.code.code import ProcessorCode, packed
from millrace_runtime.code.places import Place
from millrace_runtime.functions.references import is_literal
from millrace_runtime.functions.source import (
    NoSource,
    Source,
    dedented,
    named,
    plain_function,
    source_of,
)


class OtherFile(NoSource):
    """A function is not in the file of the definitions."""


@dataclass(frozen=True)
class FunctionDefinition:
    """A function at the top of a text. `lines`: the same at its lines in the file."""

    name: str
    text: str
    lines: str


def definition_of(source: Source, base: str) -> FunctionDefinition:
    """Return the definition of a function. `base`: the name of a lambda. Raises NoSource."""
    found = Definitions([(source, base)])
    [name] = found.names
    return FunctionDefinition(name, found.text(name), found.lines(name))


def branching(
    branches: Mapping[str, tuple[Source, Sequence[str]]], default: str | None, node: str
) -> tuple[str, str, str]:
    """Return the code of a processor that sends a record to the first branch that is true.

    `branches`: the function of each branch, and the columns that it gets. The result is the name of
    the class, its code, and the same at its lines in the file. Raises NoSource.
    """
    found = Definitions([(source, port.replace("-", "_"))
                          for port, (source, _) in branches.items()])  # fmt: skip
    name = class_name_of(node.replace("-", "_"), sorted(found.taken))
    calls = [
        f"{function}({', '.join(ARGUMENTS[each] for each in columns)})"
        for function, (_, columns) in zip(found.names, branches.values(), strict=True)
    ]
    made = choosing(name, dict(zip(branches, calls, strict=True)), default)
    whole = f"{found.whole.rstrip()}\n\n\n{made}"
    return name, own_code(whole, name) or made, f"{found.lines(name, made=made)}\n\n{made}"


class Definitions:
    """Functions of one file as definitions at its top."""

    def __init__(self, sources: Sequence[tuple[Source, str]]) -> None:
        self._begin(sources[0][0].file, sources[0][0].lines)
        for source, base in sources:
            self.add(source, base)

    def _begin(self, path: str, lines: Sequence[str]) -> None:
        self.path, self.file = path, lines
        module = "".join(lines)
        self.taken = bound_names(module)
        self.names: list[str] = []
        self._values = ""
        self._own: dict[str, Source] = {}
        self._module = module

    @classmethod
    def of_program(cls, place: Place) -> Definitions:
        """Return those of a program's file, without a function so far."""
        made = cls.__new__(cls)
        made._begin(place.file, tuple(place.source()))
        return made

    def copy(self) -> Definitions:
        """The same functions, to which others can be added."""
        made = copy.copy(self)
        made.names, made._own = [*self.names], dict(self._own)
        return made

    @property
    def whole(self) -> str:
        """The file with the functions at its top."""
        made = "".join(f"\n\n{_definition(each, name)}" for name, each in self._own.items())
        return f"{self._module.rstrip()}\n\n\n{self._values}{made}" if made else self._module

    def add(self, source: Source, base: str) -> str:
        """Add a function and return its name. Raises NoSource."""
        if source.file != self.path:
            raise OtherFile("it is in another file; write a lambda that calls it")
        if at_top(source) and source.name is not None:
            self.names.append(source.name)
            return source.name
        around = source.function.__qualname__.rpartition(".")[0]
        if around and not around.endswith("<locals>"):
            raise NoSource("it is defined in a class")
        # A function must not hide what it calls.
        used = {each.id for each in ast.walk(source.node) if isinstance(each, ast.Name)}
        name = source.name or _free(base, self.taken | used | set(self._own))
        if name in self.taken:
            raise NoSource(f"the name {name} is used at the top of its file as well")
        values, functions = _captured(source, name, self.taken)
        if values not in self._values:
            self._values += values
        self._own |= {**functions, name: source}
        self.names.append(name)
        return name

    def text(self, *names: str, spaced: bool = False) -> str:
        """The definitions of these names with what they use; `spaced`: see `own_code`."""
        text = own_code(self.whole, *names, spaced=spaced)
        if text is None:
            raise NoSource("its file is not valid Python")
        return text

    def lines(self, *names: str, made: str = "") -> str:
        """The same at its lines in the file. `made`: code that follows the functions."""
        kept = in_place(f"{self.whole.rstrip()}\n\n\n{made}", *names)
        return _in_place(self.file, self._own, kept) + self._values if self._own else kept


def _captured(source: Source, name: str, taken: set[str]) -> tuple[str, dict[str, Source]]:
    """What a function uses of the functions around it: assignments of values, and functions."""
    values: dict[str, str] = {}
    functions: dict[str, Source] = {}
    waiting = [(source, each, value) for each, value in source.captured.items()]
    while waiting:
        of, each, value = waiting.pop(0)
        if each == name:
            raise NoSource(f"{name} calls itself; define it at the top of its file")
        if each in taken:
            raise NoSource(f"the name {each} is used at the top of its file as well")
        if isinstance(value, ModuleType):
            values[each] = f"import {value.__name__} as {each}\n"
        elif isinstance(value, FunctionType) and value.__code__.co_filename == of.file:
            if each not in functions:
                functions[each] = inner = source_of(value)
                if inner.name not in (None, each):
                    raise NoSource(f"{each} of the enclosing function has two names")
                waiting += [(inner, one, found) for one, found in inner.captured.items()]
        elif is_literal(value):
            values[each] = named({each: value})
        else:
            raise NoSource(f"{each} of the enclosing function is not a literal")
    return "".join(values.values()), functions


def own_function(given: Any, base: str, place: Place) -> ProcessorCode | None:
    """Return the code of a lambda or of a function within another; None for anything else.

    The function is the last one of the code. Raises ValueError if its source cannot be used.
    """
    if not isinstance(given, FunctionType):
        return None
    try:
        source = source_of(given)
        plain_function(source)
        if at_top(source):
            return None
        found = definition_of(source, base)
    except NoSource as error:
        raise ValueError(f"{place}: {given.__qualname__} cannot be used: {error}") from None
    text = last_function(found.text, found.name) or found.text
    return packed(text, found.name, source.file, found.lines, place)


def at_top(source: Source) -> bool:
    """Return whether a function is defined at the top of its file."""
    node = source.node
    if not isinstance(node, ast.FunctionDef):
        return False
    body = ast.parse("".join(source.lines)).body
    return any(
        isinstance(each, ast.FunctionDef) and (each.name, each.lineno) == (node.name, node.lineno)
        for each in body
    )


def _definition(source: Source, name: str) -> str:
    """The function as a definition at the top of a file."""
    node = source.node
    if isinstance(node, ast.FunctionDef):
        return dedented(source)
    body = source.segment(node.body)
    body = f"({body})" if "\n" in body else body
    return f"def {name}({_signature(source)}):\n    return {body}\n"


def _signature(source: Source) -> str:
    for each, value in source.defaults.items():
        if not is_literal(value):
            raise NoSource(f"the default of {each} is not a literal")
    defaults = [f"{each}={value!r}" for each, value in source.defaults.items()]
    return ", ".join([*source.parameters, *defaults])


def _in_place(lines: Sequence[str], own: Mapping[str, Source], text: str) -> str:
    """The code at its lines in the file, for the lines of errors."""
    kept = text.split("\n")[: len(lines)]
    kept += [""] * (len(lines) - len(kept))
    used: set[int] = set()
    for name, source in own.items():
        node = source.node
        if isinstance(node, ast.FunctionDef):
            made, first = dedented(source).rstrip("\n"), node.lineno
        else:
            # Assigned, because several can be on one line.
            first = node.body.lineno
            made = f"{name} = lambda {_signature(source)}: ({source.segment(node.body)})"
        made_lines = made.split("\n")
        if first - 1 in used:
            made_lines[0] = f"{kept[first - 1]}; {made_lines[0]}"
        kept[first - 1 : first - 1 + len(made_lines)] = made_lines
        used |= set(range(first - 1, first - 1 + len(made_lines)))
    return "\n".join(kept).rstrip("\n") + "\n"


def _free(base: str, taken: set[str]) -> str:
    for number in itertools.count(1):
        made = base if number == 1 else f"{base}_{number}"
        if made not in taken and made.isidentifier():
            return made
    raise AssertionError
