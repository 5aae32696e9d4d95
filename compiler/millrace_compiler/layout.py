"""Python expressions as text, laid out as ruff would lay them out at 100 columns.

Works on the nodes of :mod:`ast` that the emitter builds: names, constants, calls, attributes,
subscripts, lists, tuples, dicts. The text is a function of the tree alone.
"""

from __future__ import annotations

import ast

WIDTH = 100
_STEP = 4
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def literal(value: object) -> str:
    """A constant as source text; strings in double quotes unless single ones need fewer escapes."""
    if not isinstance(value, str):
        return repr(value)
    quote = "'" if value.count('"') > value.count("'") else '"'
    return quote + "".join(_escape(c, quote) for c in value) + quote


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


def block_text(value: str) -> str:
    """A text of several lines as a triple-quoted literal that reads like the text."""
    escaped = "".join(c if c in "\n\t" else _escape(c, "") for c in value)
    quotes = "'''" if '"""' in escaped and "'''" not in escaped else '"""'
    escaped = escaped.replace(quotes, "\\" + "\\".join(quotes))
    if escaped.endswith(quotes[0]):
        escaped = escaped[:-1] + "\\" + quotes[0]
    return f"{quotes}\\\n{escaped}{quotes}"


def flat(node: ast.expr) -> str:
    """An expression on one line."""
    match node:
        case ast.Constant(value=value):
            return literal(value)
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
    """What stands between the brackets: text before it (``name=`` or ``key: ``) and expression."""
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
    """Opening text, closing text and items of an expression that can be broken."""
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
    """An expression at an indent, with the text before and after it on its lines."""
    one_line = f"{before}{flat(node)}{after}"
    brackets = _brackets(node)
    if indent + len(one_line) <= WIDTH or brackets is None or not brackets[2]:
        return one_line
    opening, closing, items = brackets
    inner = indent + _STEP
    pad, end = " " * inner, " " * indent
    together = ", ".join(_item(item) for item in items)
    call = not isinstance(node, ast.List | ast.Tuple | ast.Dict)
    if call and inner + len(together) <= WIDTH:
        return f"{before}{opening}\n{pad}{together}\n{end}{closing}{after}"
    single = len(items) == 1 and isinstance(node, ast.Call) and not items[0][0]
    comma = "" if single and _brackets(items[0][1]) else ","
    lines = [f"{pad}{layout(value, inner, name, comma)}" for name, value in items]
    return f"{before}{opening}\n" + "\n".join(lines) + f"\n{end}{closing}{after}"
