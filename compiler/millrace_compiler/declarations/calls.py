"""The calls of a node in a program, with their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace_compiler.declarations.functions import Called
from millrace_compiler.documents.durations import show_duration
from millrace_compiler.parameters.formats import WINDOWED, Format
from millrace_compiler.parameters.windows import Window


@dataclass(frozen=True)
class Call:
    """A call by name: a method of a chain, or a function such as ``json("a INT")``."""

    function: str
    args: tuple[object, ...] = ()
    keywords: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class Input:
    """The input of a port; ``index`` is the position of the edge at this port."""

    port: str
    index: int = 0


@dataclass(frozen=True)
class Chain:
    """A chain of calls on the input of a port, as an argument."""

    start: Input
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Processor:
    """A processor class in the user's Python code.

    ``called``: the function that the class only calls, if its node has nothing else.
    """

    code: str
    class_name: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    called: Called | None = None


@dataclass(frozen=True)
class Function:
    """A function in the user's Python code; ``names``: all functions that its node calls."""

    code: str
    name: str
    names: tuple[str, ...]


def call(function: str, *args: object, **keywords: object) -> Call:
    """A call; keywords that are ``None`` are left out."""
    return Call(function, args, tuple((k, v) for k, v in keywords.items() if v is not None))


def with_keywords(made: Call, **keywords: object) -> Call:
    """The call with further keywords; those that are ``None`` are left out."""
    more = tuple((k, v) for k, v in keywords.items() if v is not None)
    return Call(made.function, made.args, made.keywords + more)


def duration(milliseconds: int | None) -> object:
    """A duration in words; 0 stays a number."""
    return show_duration(milliseconds) if milliseconds else milliseconds


_FUNCTIONS = {"float": "float_", "bytes": "bytes_"}


def format_words(format_: Format | None) -> Call | None:
    """The call for a format: ``string()``, ``json("a INT")``, ``avro(registry=...)``."""
    if format_ is None:
        return None
    function = _FUNCTIONS.get(format_.name, format_.name)
    properties = dict(format_.properties)
    if format_.name in WINDOWED:
        schema = (("schema", properties["schema"]),) if "schema" in properties else ()
        inner = format_words(Format(properties["inner"], None, schema))
        return call(function, inner, window_size=properties.get("window_size"))
    if format_.name == "json":
        return Call("json", (properties["schema"],) if "schema" in properties else ())
    return Call(function, (), tuple(properties.items()))


def window_words(window: Window) -> Call:
    """The call for a window, such as ``tumbling("1 hour", grace="10 minutes")``."""
    if window.code is not None:
        size, grace = duration(window.part("size")), duration(window.part("grace")) or None
        own = Processor(window.code, window.function)
        return call("custom_windows", own, size=size, grace=grace)
    names = [name for name, _ in window.parts]
    first = names[0] if names[0] not in ("unit", "grace", "start") else None
    args = (duration(window.part(first)),) if first else ()
    keywords = {
        name: part if isinstance(part, str) else duration(part)
        for name, part in window.parts
        if name != first and part
    }
    function = "sessions" if window.type == "session" else window.type
    return Call(function, args, tuple(keywords.items()))


def parts(raw: Mapping[str, object] | object, name: str) -> object:
    """A property of a parameter, or ``None``."""
    return raw.get(name) if isinstance(raw, Mapping) else None
