"""Formats Python expressions as ruff does, at 100 columns.

Supports the nodes of :mod:`ast` that the emitter builds: names, constants, f-strings of names,
calls, attributes, subscripts, lists, tuples, dicts. The text depends on the tree alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence

WIDTH = 100
_STEP = 4
_QUOTES = re.compile(r'"{3,}|"+\Z')
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def literal(value: object) -> str:
    """A constant as source text; strings in double quotes unless single ones need fewer escapes."""
    if not isinstance(value, str):
        return repr(value)
    quote = "'" if value.count('"') > value.count("'") else '"'
    return quote + "".join(_escape(c, quote) for c in value) + quote


def _parts(node: ast.JoinedStr) -> list[str]:
    """The source of an f-string between its quotes, in parts that cannot be split."""
    texts = [part.value for part in node.values if isinstance(part, ast.Constant)]
    whole = "".join(map(str, texts))
    quote = "'" if whole.count('"') > whole.count("'") else '"'
    found = [quote]
    for part in node.values:
        if isinstance(part, ast.Constant):
            found += [c * 2 if c in "{}" else _escape(c, quote) for c in str(part.value)]
        elif isinstance(part, ast.FormattedValue):
            found.append(f"{{{flat(part.value)}}}")
    return found


def _formatted(parts: Sequence[str], quote: str) -> str:
    text = "".join(parts)
    # Each of several literals is one with fields only if it has fields or doubled braces.
    return f"{'f' if '{' in text or '}' in text else ''}{quote}{text}{quote}"


def _escape(char: str, quote: str) -> str:
    if char == quote:
        return "\\" + char
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def block_text(value: str, *, opening: str = "\\\n") -> str:
    """A text of several lines as a triple-quoted literal.

    ``opening`` follows the opening quotes: by default the text begins on a line of its own.
    """
    lines = [
        "\\\n".join(
            _pieces(
                (char if char == "\t" else _escape(char, "") for char in line),
                lambda piece: len(piece) <= WIDTH - 8,
            )
        )
        for line in value.split("\n")
    ]
    # A run of three quotes would end the literal, as would any quote just before the closing ones.
    text = _QUOTES.sub(lambda run: '\\"' * len(run[0]), "\n".join(lines))
    return f'"""{opening}{text}"""'


def long_formatted(node: ast.JoinedStr, width: int) -> list[str]:
    """An f-string as several literals of at most ``width`` characters, which Python joins."""
    quote, *parts = _parts(node)
    pieces = _pieces(parts, lambda piece: len(piece) + 3 <= width)
    return [_formatted([piece], quote) for piece in pieces]


def _pieces(chars: Iterable[str], fits: Callable[[str], bool]) -> list[str]:
    """Splits characters into pieces that fit, after a space if possible."""
    pieces, piece, space = [], "", 0
    for char in chars:
        if not fits(piece + char):
            at = space or len(piece)
            pieces.append(piece[:at])
            piece, space = piece[at:], 0
        piece += char
        if char == " ":
            space = len(piece)
    return [*pieces, piece]


def long_text(value: str, width: int) -> list[str]:
    """A text as several literals of at most ``width`` characters, which Python joins."""
    return [literal(each) for each in _pieces(value, lambda piece: len(literal(piece)) <= width)]


def flat(node: ast.expr) -> str:
    """An expression on one line."""
    match node:
        case ast.Constant(value=value):
            return literal(value)
        case ast.JoinedStr():
            quote, *parts = _parts(node)
            return _formatted(parts, quote)
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            return f"{flat(value)}.{attribute}"
        case ast.Subscript(value=value, slice=index):
            return f"{flat(value)}[{flat(index)}]"
        case ast.Call(func=function):
            return f"{flat(function)}({', '.join(_item(i) for i in _items(node))})"
        case ast.List():
            return f"[{', '.join(_item(i) for i in _items(node))}]"
        case ast.Tuple(elts=[only]):
            return f"({flat(only)},)"
        case ast.Tuple():
            return f"({', '.join(_item(i) for i in _items(node))})"
        case ast.Dict():
            return f"{{{', '.join(_item(i) for i in _items(node))}}}"
    raise TypeError(f"no layout for {type(node).__name__}")


_Item = tuple[str, ast.expr]


def _items(node: ast.expr) -> list[_Item]:
    """The items between brackets: the text before each (``name=`` or ``key: ``), and its node."""
    match node:
        case ast.Call(args=args, keywords=keywords):
            return [("", a) for a in args] + [(f"{k.arg}=", k.value) for k in keywords]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [("", e) for e in elements]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return [(f"{flat(key)}: ", value) for key, value in pairs if key is not None]
    return []


def _item(item: _Item) -> str:
    return item[0] + flat(item[1])


def _brackets(node: ast.expr) -> tuple[str, str, list[_Item]] | None:
    """Opening text, closing text and items of an expression that can be split over lines."""
    match node:
        case ast.Call(func=function):
            return f"{flat(function)}(", ")", _items(node)
        case ast.List():
            return "[", "]", _items(node)
        case ast.Tuple():
            return "(", ")", _items(node)
        case ast.Dict():
            return "{", "}", _items(node)
        case ast.Subscript(value=ast.Call() as call, slice=index):
            return f"{flat(call.func)}(", f")[{flat(index)}]", _items(call)
    return None


def layout(node: ast.expr, indent: int, before: str = "", after: str = "") -> str:
    """An expression at an indent, with text before and after it on its first and last line."""
    one_line = f"{before}{flat(node)}{after}"
    if indent + len(one_line) <= WIDTH:
        return one_line
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        return _broken_text(node, indent, before, after)
    brackets = _brackets(node)
    if brackets is None:
        return one_line
    opening, closing, items = brackets
    opening, closing = before + opening, closing + after
    inner = indent + _STEP
    pad, end = " " * inner, " " * indent
    together = ", ".join(_item(item) for item in items)
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call() as receiver, attr=name)) if (
            indent + len(opening) > WIDTH or not items
        ):
            if not items:
                return layout(receiver, indent, before, f".{name}({closing}")
            opening = layout(receiver, indent, before, f".{name}(")
            last_line = opening.rpartition("\n")[2]
            if len(f"{last_line}{together}{closing}") <= WIDTH:
                return f"{opening}{together}{closing}"
    if not items:
        return one_line
    call = not isinstance(node, ast.List | ast.Tuple | ast.Dict)
    if call and inner + len(together) <= WIDTH:
        return f"{opening}\n{pad}{together}\n{end}{closing}"
    single = len(items) == 1 and isinstance(node, ast.Call) and not items[0][0]
    comma = "" if single and _brackets(items[0][1]) else ","
    lines = [f"{pad}{layout(value, inner, name, comma)}" for name, value in items]
    return f"{opening}\n" + "\n".join(lines) + f"\n{end}{closing}"


def _broken_text(node: ast.Constant | ast.JoinedStr, indent: int, before: str, after: str) -> str:
    """A string that is too long for a line, as several literals; in parentheses after a name."""
    named = bool(before)
    inner = indent + (_STEP if named else 0)
    width = WIDTH - inner - (0 if named else len(after))
    if isinstance(node, ast.JoinedStr):
        pieces = long_formatted(node, width)
    else:
        pieces = long_text(str(node.value), width)
    lines = f"\n{' ' * inner}".join(pieces)
    if not named:
        return f"{lines}{after}"
    return f"{before}(\n{' ' * inner}{lines}\n{' ' * indent}){after}"
