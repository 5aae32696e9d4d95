"""Parameters of a topology: declared values that stand for `${name}` in the document.

::

    "parameters": {
      "orders_topic": {"type": "topic", "default": "orders", "values": {"prod": "orders-v2"}},
      "threshold": {"type": "number", "default": 100, "description": "Smallest large order"}
    }

``values`` are those of environments; elsewhere, and in simulations, the ``default`` holds. Where
``${name}`` is the whole of a node's parameter or of a setting, it becomes the value as JSON; within
a longer text, the value's text. In an expression it becomes a literal of its type (a duration: in
milliseconds), except between quotes, where ``${`` is text. Python code, ids, kinds, edges and
labels are left as they are.

The values are filled in before anything else reads the document, so that no other pass knows of
parameters. A document without ``parameters`` is not changed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from millrace_compiler.declarations.operator import registry
from millrace_compiler.diagnostics.diagnostics import (
    Diagnostic,
    Diagnostics,
    Position,
    kind_of,
    shown,
)
from millrace_compiler.diagnostics.guesses import guess
from millrace_compiler.documents.document import TOPIC_NAME
from millrace_compiler.documents.durations import NoDuration, parse_duration

ENVIRONMENTS = ("dev", "test", "prod")
#: what a value of each type is, in words
TYPES = {
    "topic": "the name of a topic",
    "text": "text",
    "number": "a number",
    "duration": "a duration, such as 5 minutes or a whole number of milliseconds",
    "boolean": "true or false",
}
NAME = re.compile(r"[a-z][a-z0-9_]{0,99}")
_FIELDS = ("type", "default", "values", "description")
_PLACE = re.compile(r"\$\{([^{}]*)\}")
#: strings and quoted names of Spark SQL, and places of parameters between them
_SQL = re.compile(
    r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|\$\{(?P<name>[^{}]*)\}", re.DOTALL
)


@dataclass(frozen=True)
class TopologyParameter:
    """A declared parameter. ``values``: by environment."""

    name: str
    type: str
    default: Any
    values: Mapping[str, object]

    def value(self, environment: str | None) -> Any:
        """Return the value in an environment; None: the default."""
        return self.values.get(environment or "", self.default)

    def text(self, environment: str | None) -> str:
        """Return the value as part of a longer text."""
        value = self.value(environment)
        return value if isinstance(value, str) else json.dumps(value)

    def literal(self, environment: str | None) -> str:
        """Return the value as a literal of Spark SQL."""
        value = self.value(environment)
        if self.type == "duration":
            return str(parse_duration(value))
        if isinstance(value, str):
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped}'"
        return json.dumps(value)


@dataclass
class _Text:
    """Where values were filled into a text: start and stop before, and after."""

    parts: list[tuple[int, int, int, int]] = field(default_factory=list)

    def before(self, position: Position) -> Position:
        return Position(self._before(position.start, end=0), self._before(position.stop, end=1))

    def _before(self, at: int, end: int) -> int:
        moved = 0
        for start, stop, new_start, new_stop in self.parts:
            if at < new_start + end:
                break
            if at < new_stop + end:
                return stop if end else start
            moved = stop - new_stop
        return at + moved


@dataclass
class Resolution:
    """A document with its values filled in. ``used``: names of parameters that occur in it."""

    document: object
    used: set[str] = field(default_factory=set)
    texts: dict[tuple[str | None, str], _Text] = field(default_factory=dict)
    #: places that keep a `${name}`, because the parameter is unknown or has no valid value
    unfilled: set[tuple[str | None, str]] = field(default_factory=set)

    def original(self, diagnostics: Diagnostics) -> Diagnostics:
        """Return diagnostics with positions in the texts of the document as it was written.

        What other passes say about a `${name}` that has no value is left out: the reason why it has
        none is reported.
        """
        found = Diagnostics()
        for each in diagnostics:
            place = (each.node, each.path or each.parameter or "")
            text = self.texts.get(place)
            if each.code == "placeholder_unknown":
                found.put(each)
            elif place in self.unfilled:
                continue
            elif text is None or each.position is None:
                found.put(each)
            else:
                found.put(replace(each, position=text.before(each.position)))
        return found


def resolve(raw: object, report: Diagnostics, environment: str | None = None) -> Resolution:
    """Fill the values of an environment into a document, and report what is wrong. Never raises.

    ``environment``: None for the defaults. The result has no ``parameters``; a place whose
    parameter is unknown or has no valid value keeps its text.
    """
    if not isinstance(raw, dict) or raw.get("parameters") is None:
        return Resolution(raw)
    declared = read_parameters(raw, report)
    found = Resolution({})
    names = raw["parameters"] if isinstance(raw["parameters"], dict) else ()
    filler = _Filler(declared, report, environment, found, names)
    document = {name: value for name, value in raw.items() if name != "parameters"}
    if isinstance(raw.get("settings"), dict):
        document["settings"] = {
            name: filler.filled(value, None, name) for name, value in raw["settings"].items()
        }
    if isinstance(raw.get("topics"), dict):
        document["topics"] = {
            str(filler.filled(name, None, "topics")): value for name, value in raw["topics"].items()
        }
    if isinstance(raw.get("nodes"), list):
        document["nodes"] = [filler.node(node) for node in raw["nodes"]]
    found.document = document
    for name in declared:
        if name not in found.used:
            report.add("parameter_unused", parameter=f"parameters.{name}", name=name)
    return found


def read_parameters(raw: Mapping[str, object], report: Diagnostics) -> dict[str, TopologyParameter]:
    """Read the declarations, and report what is wrong with them. Never raises."""
    rows = raw.get("parameters")
    if rows is None:
        return {}
    if not isinstance(rows, dict):
        report.add(
            "document_shape", parameter="parameters", found=kind_of(rows), needed="an object"
        )
        return {}
    found = {}
    for name, row in rows.items():
        place = f"parameters.{name}"
        if not NAME.fullmatch(name):
            report.add("parameter_name", parameter=place, found=shown(name))
        elif not isinstance(row, dict):
            report.add("document_shape", parameter=place, found=kind_of(row), needed="an object")
        else:
            read = _declaration(name, row, report, place)
            if read is not None:
                found[name] = read
    return found


def _declaration(
    name: str, row: Mapping[str, object], report: Diagnostics, place: str
) -> TopologyParameter | None:
    for key in row:
        if key not in _FIELDS:
            report.add(
                "unknown_key", parameter=f"{place}.{key}", place=place, known=", ".join(_FIELDS)
            )
    type_, values = row.get("type"), row.get("values")
    if not isinstance(type_, str) or type_ not in TYPES:
        needed = f"one of {', '.join(TYPES)}"
        report.add("document_shape", parameter=f"{place}.type", found=shown(type_), needed=needed)
        return None
    if not isinstance(row.get("description", ""), str):
        found = kind_of(row["description"])
        report.add("document_shape", parameter=f"{place}.description", found=found, needed="text")
    if values is not None and not isinstance(values, dict):
        found = kind_of(values)
        report.add("document_shape", parameter=f"{place}.values", found=found, needed="an object")
    given = values if isinstance(values, dict) else {}
    for environment in given:
        if environment not in ENVIRONMENTS:
            report.add(
                "unknown_key",
                parameter=f"{place}.values.{environment}",
                place=f"{place}.values",
                known=", ".join(ENVIRONMENTS),
            )
    valid = True
    every = {"default": row.get("default"), **{f"values.{each}": given[each] for each in given}}
    for where, value in every.items():
        if not _fits(type_, value):
            valid = False
            report.add(
                "parameter_value",
                parameter=f"{place}.{where}",
                found="no value" if value is None else shown(value),
                name=name,
                needed=TYPES[type_],
            )
    return TopologyParameter(name, type_, row.get("default"), given) if valid else None


def _fits(type_: str, value: object) -> bool:
    if type_ == "boolean":
        return isinstance(value, bool)
    if type_ == "number":
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return isinstance(value, int) or math.isfinite(value)
    if type_ == "duration":
        try:
            parse_duration(value)
        except NoDuration:
            return False
        return True
    return isinstance(value, str) and (type_ == "text" or bool(TOPIC_NAME.fullmatch(value)))


class _Filler:
    """Fills values into texts."""

    def __init__(
        self,
        declared: Mapping[str, TopologyParameter],
        report: Diagnostics,
        environment: str | None,
        found: Resolution,
        names: Iterable[str],
    ) -> None:
        self._declared, self._report = declared, report
        # Those without a valid value are reported once, at their declaration.
        self._names = frozenset(names)
        self._environment, self._found = environment, found

    def node(self, node: object) -> object:
        """Return a node with its parameters filled in."""
        if not isinstance(node, dict) or not isinstance(node.get("params"), dict):
            return node
        id_ = node["id"] if isinstance(node.get("id"), str) else None
        operator = registry().get(str(node.get("kind")))
        params = {}
        for name, value in node["params"].items():
            parameter = None if operator is None else operator.parameters.get(name)
            if parameter is not None and parameter.widget == "code":
                params[name] = value
                continue
            sql = parameter is not None and parameter.expression() is not None
            params[name] = self.filled(value, id_, name, name, sql=sql)
        return {**node, "params": params}

    def filled(
        self, value: Any, node: str | None, parameter: str, path: str = "", *, sql: bool = False
    ) -> Any:
        """Return a JSON value with values in place of `${name}`; ``sql``: its texts are SQL."""
        path = path or parameter
        if isinstance(value, str):
            return self._text(value, node, parameter, path, sql=sql)
        if isinstance(value, list):
            return [
                self.filled(each, node, parameter, f"{path}[{index}]", sql=sql)
                for index, each in enumerate(value)
            ]
        if isinstance(value, dict):
            return {
                name: self.filled(each, node, parameter, f"{path}.{name}", sql=sql)
                for name, each in value.items()
            }
        return value

    def _text(self, text: str, node: str | None, parameter: str, path: str, *, sql: bool) -> Any:
        if "${" not in text:
            return text
        whole = _PLACE.fullmatch(text)
        if whole and not sql:
            found = self._known(whole, node, parameter, path)
            return text if found is None else found.value(self._environment)
        written, at, places = "", 0, _Text()
        for match in (_SQL if sql else _PLACE).finditer(text):
            if sql and match["name"] is None:
                continue
            known = self._known(match, node, parameter, path)
            if known is None:
                continue
            given = (known.literal if sql else known.text)(self._environment)
            written += text[at : match.start()]
            places.parts.append(
                (match.start(), match.end(), len(written), len(written) + len(given))
            )
            written += given
            at = match.end()
        self._found.texts[node, path] = places
        return written + text[at:]

    def _known(
        self, match: re.Match[str], node: str | None, parameter: str, path: str
    ) -> TopologyParameter | None:
        name = str(match[1])
        found = self._declared.get(name)
        self._found.used.add(name)
        if found is None:
            self._found.unfilled.add((node, path))
        if name not in self._names:
            position = Position(match.start(), match.end())
            data = {"name": name, "guess": guess(name, self._names)}
            full = path if path != parameter else None
            self._report.put(
                Diagnostic("placeholder_unknown", node, parameter, full, position, data)
            )
        return found
