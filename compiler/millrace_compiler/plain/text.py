"""Python statements as text within 100 columns: calls, chains of calls and string literals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from millrace_compiler.program.layout import WIDTH, literal

_STEP = 4


@dataclass(frozen=True)
class Name:
    """Python source that is written unchanged: a variable, a number, an attribute."""

    source: str


@dataclass(frozen=True)
class Call:
    """A call; a method call where it is a part of a :class:`Chain`."""

    function: str
    args: tuple[Expr, ...] = ()
    keywords: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True)
class Columns:
    """A dictionary of column names to expressions."""

    items: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True)
class Chain:
    """Method calls one after the other on a variable or a call."""

    base: Name | Call
    calls: tuple[Call, ...]


Expr = str | Name | Call | Columns | Chain


def call(function: str, *args: Expr, **keywords: Expr) -> Call:
    """A call with positional and keyword arguments; a ``str`` is a string literal."""
    return Call(function, args, tuple(keywords.items()))


def flat(expr: Expr, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """An expression on one line; ``names``: other names for its variables."""
    match expr:
        case str():
            return literal(expr)
        case Name(source):
            return names.get(source, source)
        case Call(function, args, keywords):
            items = [flat(arg, names) for arg in args]
            items += [f"{name}={flat(value, names)}" for name, value in keywords]
            return f"{function}({', '.join(items)})"
        case Columns(pairs):
            items = [f"{literal(name)}: {flat(value, names)}" for name, value in pairs]
            return "{" + ", ".join(items) + "}"
        case Chain(base, calls):
            return ".".join([flat(base, names), *(flat(each, names) for each in calls)])


def inside(expr: Expr) -> Iterator[Expr]:
    """An expression and all that it contains, in the order of the text."""
    yield expr
    parts: tuple[Expr, ...] = ()
    match expr:
        case Call(_, args, keywords):
            parts = (*args, *(value for _, value in keywords))
        case Columns(pairs):
            parts = tuple(value for _, value in pairs)
        case Chain(base, calls):
            parts = (base, *calls)
    for part in parts:
        yield from inside(part)


def names_in(expr: Expr) -> list[str]:
    """The variables that an expression uses."""
    return [each.source for each in inside(expr) if isinstance(each, Name)]


def calls_in(expr: Expr) -> list[Call]:
    """The calls that an expression contains."""
    return [each for each in inside(expr) if isinstance(each, Call)]


def statement(target: str | None, expr: Expr, indent: int = _STEP) -> str:
    """The text of an assignment or an expression statement, at an indent."""
    before = f"{target} = " if target else ""
    return " " * indent + layout(expr, indent, before)


def layout(expr: Expr, indent: int, before: str = "", after: str = "") -> str:
    """An expression at an indent, with text before and after it on its first and last line."""
    one_line = f"{before}{flat(expr)}{after}"
    if indent + len(one_line) <= WIDTH:
        return one_line
    match expr:
        case str():
            return _long_text(expr, indent, before, after)
        case Call(function):
            return f"{before}{function}({_arguments(expr, indent)}{after}"
        case Columns(pairs):
            pad = " " * (indent + _STEP)
            lines = [
                pad + layout(value, indent + _STEP, f"{literal(name)}: ", ",")
                for name, value in pairs
            ]
            return "\n".join([f"{before}{{", *lines, " " * indent + f"}}{after}"])
        case Chain(base, calls):
            return _chain(base, calls, indent, before, after)
    return one_line


def _arguments(expr: Call, indent: int) -> str:
    """Arguments, each on its own line if necessary, and the closing parenthesis."""
    pad = " " * (indent + _STEP)
    items = [("", arg) for arg in expr.args]
    items += [(f"{name}=", value) for name, value in expr.keywords]
    together = ", ".join(name + flat(value) for name, value in items)
    if len(pad) + len(together) <= WIDTH:
        return f"\n{pad}{together}\n{' ' * indent})"
    comma = "" if len(items) == 1 and not isinstance(items[0][1], str) else ","
    lines = [pad + layout(value, indent + _STEP, name, comma) for name, value in items]
    return "\n".join(["", *lines, " " * indent + ")"])


def _chain(base: Name | Call, calls: tuple[Call, ...], indent: int, before: str, after: str) -> str:
    """Calls on separate lines. The first call on a variable, or a single one, stays on its line.

    Of two calls on a variable, only the arguments of the last are split, as ruff does.
    """
    if isinstance(base, Name) and len(calls) == 2:
        both = f"{flat(base)}.{flat(calls[0])}.{calls[1].function}"
        if indent + len(before) + len(both) < WIDTH:
            return layout(Call(both, calls[1].args, calls[1].keywords), indent, before, after)
    head, rest = base, calls
    if isinstance(base, Name) or len(calls) == 1:
        first = calls[0]
        head = Call(f"{flat(base)}.{first.function}", first.args, first.keywords)
        rest = calls[1:]
    if not rest:
        return layout(head, indent, before, after)
    inner = indent + _STEP
    pad = " " * inner
    lines = [layout(head, inner)]
    lines += [layout(Call(f".{c.function}", c.args, c.keywords), inner) for c in rest]
    return "\n".join([f"{before}(", *(pad + line for line in lines), " " * indent + f"){after}"])


def _long_text(text: str, indent: int, before: str, after: str) -> str:
    """String literals on separate lines, split after spaces, which Python joins."""
    room = WIDTH - indent - len(before) - len(after) - 2
    pieces = [""]
    for word in _words(text, room):
        if pieces[-1] and len(literal(pieces[-1] + word)) > room:
            pieces.append("")
        pieces[-1] += word
    hang = 0 if before.endswith("=") else len(before)
    joined = ("\n" + " " * (indent + hang)).join(literal(piece) for piece in pieces)
    return f"{before}{joined}{after}"


def _words(text: str, room: int) -> list[str]:
    """A text, split after spaces, and within words that are longer than half a line."""
    half = max(room // 2, 1)
    words = re.findall(r"[^ ]* ?", text)
    return [word[at : at + half] for word in words for at in range(0, len(word), half)]
