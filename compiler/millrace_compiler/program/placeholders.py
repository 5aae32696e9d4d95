"""Parameters of a fragment in its function: the variables that stand for `${name}`.

Operators read a duration or a number, not `${name}`. So each parameter has a mark, a value of its
type that occurs nowhere else in the definition. The operators are made of the nodes with marks, and
where the program has a mark, it gets the variable.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from millrace_model.documents import DocumentNode, FragmentDefinition

from millrace_compiler.declarations.operator import Store, registry
from millrace_compiler.documents.durations import NoDuration, parse_duration, show_duration

_PLACE = re.compile(r"\$\{([^{}]*)\}")


def params_of(node: DocumentNode) -> dict[str, object]:
    """Return the parameters of a node in a definition; a port may have anything there."""
    given: object = node.get("params")
    return dict(given) if isinstance(given, dict) else {}


@dataclass
class Placeholders:
    """The parameters of one fragment, with the variable of each."""

    variables: dict[str, str] = field(default_factory=dict)
    #: the parameter of each mark: numbers, durations in words, and parts of texts
    numbers: dict[float, str] = field(default_factory=dict)
    durations: dict[object, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    #: the value that takes the place of `${name}` as a whole; none for a boolean
    marks: dict[str, object] = field(default_factory=dict)

    # ---- marks ----------------------------------------------------------------------------------

    def mark(self, definition: FragmentDefinition) -> list[DocumentNode]:
        """Return the nodes of a definition with marks in place of its parameters.

        In expressions, which are texts, `${name}` stays.
        """
        declared = definition.get("parameters") or {}
        known = set(_PLACE.sub("", json.dumps(definition["nodes"])).split('"'))
        used = {value for value in _leaves(definition["nodes"]) if isinstance(value, int | float)}
        for index, (name, row) in enumerate(declared.items()):
            type_, default = row.get("type"), row.get("default")
            if type_ == "number" and isinstance(default, int | float):
                mark: Any = default + 1
                while mark in used:
                    mark += 1
                used.add(mark)
                self.numbers[mark] = name
            elif type_ == "duration":
                try:
                    length = parse_duration(default) + 1
                except NoDuration:
                    continue
                while length in used or length % 1000 == 0 or f"{length} ms" in known:
                    length += 1
                used.add(length)
                mark = f"{length} ms"
                self.durations |= {mark: name, length: name, show_duration(length): name}
            elif type_ in ("text", "topic"):
                mark = f"parameter-{index}-mark"
                while any(mark in each for each in known):
                    mark += "-"
                self.texts[mark] = name
            else:
                continue
            self.marks[name] = mark
        return [self._marked(node) for node in definition["nodes"]]

    def _marked(self, node: DocumentNode) -> DocumentNode:
        operator = registry().get(node["kind"])
        params = params_of(node)
        for name, value in params.items():
            parameter = None if operator is None else operator.parameters.get(name)
            if parameter is None or parameter.widget == "code" or parameter.expression():
                continue
            params[name] = self._value(value)
        return {**node, "params": params}

    def _value(self, value: Any) -> Any:
        match value:
            case str():
                whole = _PLACE.fullmatch(value)
                if whole:
                    return self.marks.get(whole[1], value)
                return _PLACE.sub(self._part, value)
            case list():
                return [self._value(each) for each in value]
            case dict():
                return {name: self._value(each) for name, each in value.items()}
        return value

    def _part(self, place: re.Match[str]) -> str:
        mark = self.marks.get(place[1])
        return mark if mark in self.texts and isinstance(mark, str) else place[0]

    # ---- variables ------------------------------------------------------------------------------

    def original(self, text: str) -> str:
        """Return a text with `${name}` in place of marks."""
        for mark, name in self.texts.items():
            text = text.replace(mark, f"${{{name}}}")
        return text

    def tree(self, value: object) -> ast.expr | None:
        """Return the variable or f-string for a value with parameters; None: it has none."""
        name = None
        if isinstance(value, int | float) and not isinstance(value, bool):
            name = self.numbers.get(value) or self.durations.get(value)
        elif isinstance(value, str):
            name = self.durations.get(value)
        if name is not None:
            return ast.Name(self.variables[name])
        if not isinstance(value, str):
            return None
        text = self.original(value)
        parts: list[ast.expr] = []
        at = 0
        for place in _PLACE.finditer(text):
            if place[1] not in self.variables:
                continue
            if place.start() > at:
                parts.append(ast.Constant(text[at : place.start()]))
            field_ = ast.FormattedValue(ast.Name(self.variables[place[1]]), -1)
            parts.append(field_)
            at = place.end()
        if not parts:
            return None
        # A text of several lines is a constant above the functions, where there is no variable.
        if "\n" in text.strip():
            return ast.Constant(text)
        if at < len(text):
            parts.append(ast.Constant(text[at:]))
        only = parts[0]
        if len(parts) == 1 and isinstance(only, ast.FormattedValue):
            return only.value
        return ast.JoinedStr(parts)

    def names(self, value: object) -> set[str]:
        """Return the parameters in the arguments of calls, or in the parameters of a node."""
        found: set[str] = set()
        for leaf in _leaves(value):
            name = None
            if isinstance(leaf, str):
                found |= set(_PLACE.findall(self.original(leaf))) & set(self.variables)
                name = self.durations.get(leaf)
            elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
                name = self.numbers.get(leaf) or self.durations.get(leaf)
            if name is not None:
                found.add(name)
        return found


def _leaves(value: object) -> Iterator[object]:
    """Yield the values within lists, dicts and calls, without the stores of nodes."""
    if isinstance(value, Store):
        return
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield name
            yield from _leaves(each)
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from _leaves(each)
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from _leaves(getattr(value, part.name))
    else:
        yield value
