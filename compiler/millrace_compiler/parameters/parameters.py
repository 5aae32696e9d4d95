"""Parameters of operators.

A parameter reads a JSON value, reports its faults, and describes its field in a form. It is a class
attribute of an operator (:mod:`millrace_compiler.declarations.operator`) and a descriptor: on an
instance it is the value that was read. For invalid JSON the fault is reported and the value is the
parameter's *neutral* one, so that later passes can continue.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeGuard, TypeVar, cast, overload

from millrace_compiler.diagnostics.diagnostics import (
    Diagnostic,
    Diagnostics,
    Position,
    kind_of,
    shown,
)
from millrace_compiler.documents.document import TOPIC_NAME
from millrace_compiler.documents.durations import (
    NoDuration,
    looks_like_seconds,
    parse_duration,
    show_duration,
)
from millrace_compiler.documents.topic_patterns import NoPattern, topic_pattern

T = TypeVar("T")
MISSING = object()


class Faults:
    """Reports faults of one parameter's value, or of the part of it that is at a path."""

    def __init__(
        self, report: Diagnostics, node: str | None, parameter: str, part: str = ""
    ) -> None:
        self.report, self.node, self.parameter, self.part = report, node, parameter, part

    def within(self, path: str) -> Faults:
        """The faults of a part of the value."""
        return Faults(self.report, self.node, self.parameter, self.part + path)

    def add(
        self,
        code: str,
        *,
        path: str | None = None,
        position: Position | None = None,
        **data: object,
    ) -> None:
        """Reports a fault of this parameter; ``path`` is what follows the parameter's name."""
        inside = self.part + (path or "")
        full = f"{self.parameter}{inside}" if inside else None
        self.report.put(Diagnostic(code, self.node, self.parameter, full, position, data))

    def shape(self, value: object, needed: str, path: str | None = None) -> None:
        """Reports that a value has the wrong JSON type."""
        found = shown(value) if isinstance(value, str | int | float) else kind_of(value)
        self.add("parameter_type", path=path, found=found, needed=needed)


@dataclass(frozen=True)
class DependsOn:
    """Shows a field only if another parameter has one of ``values`` or, if empty, any value."""

    parameter: str
    values: tuple[str, ...] = ()


class Parameter(Generic[T]):
    """Base class of parameters: reads a value and describes its field.

    A ``required`` parameter must be present; others have ``default`` if absent or null.
    ``help`` is a sentence for the form and the operator's page.
    """

    widget: ClassVar[str]

    def __init__(
        self,
        title: str,
        help: str,
        *,
        required: bool = True,
        default: object = None,
        unit: str | None = None,
        depends_on: DependsOn | None = None,
    ) -> None:
        self.title, self.help, self.unit, self.depends_on = title, help, unit, depends_on
        self.required = required and default is None
        self.default = default
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name.removesuffix("_")

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        return cast(T, cast(Any, instance).values[self.name])

    def parse(self, raw: object, faults: Faults) -> T:
        """The value of a parameter that is present."""
        raise NotImplementedError

    def neutral(self) -> T:
        """Stands in for a value that could not be read."""
        raise NotImplementedError

    def read(self, raw: object, faults: Faults) -> T | None:
        """The value of a parameter that may be absent (:data:`MISSING`) or null."""
        if raw is MISSING or raw is None:
            if self.required:
                faults.add("parameter_missing", title=self.title)
                return self.neutral()
            return None if self.default is None else self.parse(self.default, faults)
        return self.parse(raw, faults)

    def expression(self) -> dict[str, object] | None:
        """Columns and required type of its expressions; None if it has none."""
        return None

    def to_json(self) -> dict[str, object]:
        """The parameter's entry in the catalog."""
        depends = self.depends_on
        return {
            "name": self.name,
            "title": self.title,
            "widget": self.widget,
            "required": self.required,
            "default": self.default,
            "choices": None,
            "help": self.help,
            "unit": self.unit,
            "expression": self.expression(),
            "depends_on": {"parameter": depends.parameter, "values": list(depends.values)}
            if depends
            else None,
            "min": None,
            "max": None,
        }


def optional(parameter: Parameter[T]) -> Parameter[T | None]:
    """Makes a parameter optional: it is ``None`` if absent."""
    parameter.required = False
    return cast("Parameter[T | None]", parameter)


class Text(Parameter[str]):
    """Text that fits on a line."""

    widget = "text"
    pattern: ClassVar[re.Pattern[str] | None] = None
    needed: ClassVar[str] = "text"

    def parse(self, raw: object, faults: Faults) -> str:
        if not isinstance(raw, str):
            faults.shape(raw, self.needed)
            return self.neutral()
        if not raw.strip() or (self.pattern and not self.pattern.fullmatch(raw)):
            faults.shape(raw, self.needed)
            return self.neutral()
        return raw

    def neutral(self) -> str:
        return "unnamed"


class Name(Text):
    """A name that becomes part of a topic's name."""

    pattern = re.compile(r"[A-Za-z0-9._-]{1,200}")
    needed = "a name of at most 200 letters, digits, “.”, “_” and “-”"


def is_name(raw: object) -> TypeGuard[str]:
    """Whether a value is valid for a :class:`Name`."""
    return isinstance(raw, str) and Name.pattern.fullmatch(raw) is not None


class Topic(Text):
    """The name of one topic."""

    widget = "topic"
    pattern = TOPIC_NAME
    needed = "a topic name of at most 249 letters, digits, “.”, “_” and “-”"


class Topics(Parameter[tuple[str, ...]]):
    """Names of topics, at least one."""

    widget = "topics"

    def parse(self, raw: object, faults: Faults) -> tuple[str, ...]:
        if not isinstance(raw, list) or not raw:
            faults.shape(raw, "a list of topic names")
            return self.neutral()
        topics: list[str] = []
        for index, topic in enumerate(raw):
            if not isinstance(topic, str) or not TOPIC_NAME.fullmatch(topic):
                faults.shape(topic, Topic.needed, f"[{index}]")
            elif topic in topics:
                faults.add("name_twice", path=f"[{index}]", name=topic, what="topic")
            else:
                topics.append(topic)
        return tuple(topics)

    def neutral(self) -> tuple[str, ...]:
        return ()


class Pattern(Text):
    """A regular expression for topic names, which Java and RE2 interpret alike."""

    needed = "a regular expression"

    def parse(self, raw: object, faults: Faults) -> str:
        text = super().parse(raw, faults)
        try:
            topic_pattern(text)
        except NoPattern as error:
            faults.add("pattern", reason=str(error))
        return text


class Whole(Parameter[int]):
    """A whole number, at least 1."""

    widget = "number"

    def __init__(
        self,
        title: str,
        help: str,
        *,
        maximum: int = 2**63 - 1,
        unit: str | None = None,
    ) -> None:
        super().__init__(title, help, unit=unit)
        self.maximum = maximum

    def parse(self, raw: object, faults: Faults) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int):
            faults.shape(raw, "a whole number")
            return self.neutral()
        if not 1 <= raw <= self.maximum:
            needed = f"between 1 and {self.maximum}" if self.maximum < 2**31 else "at least 1"
            faults.add("out_of_bounds", found=shown(raw), needed=needed)
            return self.neutral()
        return raw

    def neutral(self) -> int:
        return 1

    def to_json(self) -> dict[str, object]:
        bound = self.maximum if self.maximum < 2**31 else None
        return super().to_json() | {"min": 1, "max": bound}


class Duration(Parameter[int]):
    """A duration; the value is milliseconds."""

    widget = "duration"

    def __init__(
        self,
        title: str,
        help: str,
        *,
        minimum: int | None = 0,
        default: object = None,
        depends_on: DependsOn | None = None,
    ) -> None:
        super().__init__(title, help, default=default, unit="ms", depends_on=depends_on)
        self.minimum = minimum

    def parse(self, raw: object, faults: Faults) -> int:
        return read_duration(raw, faults, self.minimum, None)

    def neutral(self) -> int:
        return 1

    def to_json(self) -> dict[str, object]:
        return super().to_json() | {"min": self.minimum}


def read_duration(raw: object, faults: Faults, minimum: int | None, path: str | None) -> int:
    """Reads a duration in ms. Reports an invalid one and returns 1, or the minimum."""
    try:
        value = parse_duration(raw)
    except NoDuration:
        if isinstance(raw, float) and not math.isfinite(raw):
            faults.shape(raw, "a duration", path)
        else:
            faults.add("duration", path=path, found=shown(raw))
        return 1
    if minimum is not None and value < minimum:
        faults.add("duration_too_short", path=path, found=shown(raw), least=minimum)
        return max(1, minimum)
    if isinstance(raw, int) and looks_like_seconds(value):
        meant = show_duration(value * 1000)
        faults.add("duration_unit", path=path, found=raw, seconds=f"{value / 1000:g}", meant=meant)
    return value


class Flag(Parameter[bool]):
    """Yes or no."""

    widget = "boolean"

    def parse(self, raw: object, faults: Faults) -> bool:
        if not isinstance(raw, bool):
            faults.shape(raw, "true or false")
            return self.neutral()
        return raw

    def neutral(self) -> bool:
        return bool(self.default)


def choice_title(choice: str) -> str:
    """Return a choice as the page shows it: `window_close` is *Window close*."""
    return choice.replace("_", " ").capitalize().replace("Kafka streams", "Kafka Streams")


class Choice(Parameter[str]):
    """One of a few words."""

    widget = "choice"

    def __init__(
        self,
        title: str,
        help: str,
        choices: Sequence[str],
        *,
        default: str | None = None,
    ) -> None:
        super().__init__(title, help, default=default)
        self.choices = tuple(choices)

    def parse(self, raw: object, faults: Faults) -> str:
        if not isinstance(raw, str) or raw not in self.choices:
            faults.add("choice", found=shown(raw), choices=", ".join(self.choices))
            return self.neutral()
        return raw

    def neutral(self) -> str:
        return str(self.default or self.choices[0])

    def to_json(self) -> dict[str, object]:
        return super().to_json() | {"choices": list(self.choices)}


class Expression(Parameter[str]):
    """A Spark SQL expression.

    ``columns`` names the set of columns that it can use, ``expects`` its required type, if any.
    """

    widget = "expression"

    def __init__(
        self,
        title: str,
        help: str,
        *,
        columns: str = "record",
        expects: str | None = None,
    ) -> None:
        super().__init__(title, help)
        self.columns, self.expects = columns, expects

    def parse(self, raw: object, faults: Faults) -> str:
        return read_expression(raw, faults, None)

    def neutral(self) -> str:
        return ""

    def expression(self) -> dict[str, object]:
        return {"columns": self.columns, "expects": self.expects}


def read_expression(raw: object, faults: Faults, path: str | None) -> str:
    """Reads the text of an expression. An invalid one is empty, and later passes skip it."""
    if not isinstance(raw, str):
        faults.shape(raw, "a Spark SQL expression as text", path)
        return ""
    if not raw.strip():
        faults.add("expression_empty", path=path)
        return ""
    if len(raw) > 100_000:
        faults.add(
            "out_of_bounds", path=path, found=f"{len(raw)} characters", needed="at most 100000"
        )
        return ""
    return raw
