"""Types of Spark SQL texts without Spark, as far as they are certain.

A program builds its document without a session. What is not known here is unknown: a function of
such a value runs in Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from millrace_compiler import ExpressionRequest, ExpressionResult
from millrace_compiler.types.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    DataType,
    NoType,
    array,
    parse_type,
)

_TOKEN = re.compile(
    r"\s*(?:(\d+[lL]|\d+[dD]|\d+\.\d+[dD]|\d+(?![\w.]))|('(?:[^'\\]|\\.)*')|(`[^`]*`|[A-Za-z_]\w*)"
    r"|(<=>|<=|>=|<>|!=|==|\|\||[-+*/%(),.<>=]))"
)
_COMPARED = {"=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">="}
_NUMBERS = (INT, BIGINT, DOUBLE)
#: functions whose result always has this type
_RETURNS = {
    **dict.fromkeys(
        ("upper", "lower", "ucase", "lcase", "trim", "ltrim", "rtrim", "substring", "substr",
         "replace", "regexp_replace", "regexp_extract", "concat_ws", "split_part", "array_join",
         "string", "initcap", "date_format", "to_json", "md5", "sha2"), STRING,
    ),
    **dict.fromkeys(("length", "char_length", "size", "int", "array_size"), INT),
    **dict.fromkeys(("bigint", "unix_millis", "unix_seconds"), BIGINT),
    "double": DOUBLE,
    **dict.fromkeys(("boolean", "isnull", "isnotnull", "isnan", "contains", "array_contains",
                     "exists"), BOOLEAN),
    "split": array(STRING),
}  # fmt: skip
#: functions whose result has the type of their arguments, if all have the same
_OF_ARGUMENTS = {"coalesce", "ifnull", "nvl", "nullif", "least", "greatest"}


class KnownTypes:
    """Answers the compiler's questions about types from texts whose types are certain."""

    def __init__(self) -> None:
        self._translated: list[tuple[str, Mapping[str, str], DataType]] = []

    def note(self, sql: str, columns: Mapping[str, DataType], type_: DataType) -> None:
        """Remember the type of a translated function over these columns."""
        self._translated.append((sql, {n: each.text for n, each in columns.items()}, type_))

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        """Return the type of each expression; None if it is not certain."""
        return [ExpressionResult(self._answer(each)) for each in requests]

    def _answer(self, request: ExpressionRequest) -> str | None:
        if request.expects is not None:
            return request.expects
        given = dict(request.columns)
        for sql, columns, type_ in self._translated:
            if sql == request.text and all(given.get(n) == t for n, t in columns.items()):
                return type_.text
        found = type_of(request.text, {name: parse_type(text) for name, text in given.items()})
        return None if found is None else found.text


def type_of(sql: str, columns: Mapping[str, DataType]) -> DataType | None:
    """Return the type of a text, or None if it is not certain."""
    tokens: list[str] = []
    at = 0
    text = sql.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        tokens.append(match.group().strip())
        at = match.end()
    try:
        reader = _Reader(tokens, columns)
        found = reader.either()
        return found if reader.at == len(tokens) else None
    except (_Unknown, NoType, RecursionError):
        return None


class _Unknown(Exception):
    """The type is not certain."""


class _Reader:
    def __init__(self, tokens: list[str], columns: Mapping[str, DataType]) -> None:
        self.tokens, self.columns, self.at = tokens, columns, 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def word(self) -> str:
        return self.peek().upper()

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        if not token or (expected is not None and token.upper() != expected):
            raise _Unknown
        self.at += 1
        return token

    def either(self) -> DataType:
        made = self.negated()
        while self.word() in ("AND", "OR"):
            self.take()
            self.negated()
            made = BOOLEAN
        return made

    def negated(self) -> DataType:
        if self.word() == "NOT":
            self.take()
            self.negated()
            return BOOLEAN
        return self.compared()

    def compared(self) -> DataType:
        made = self.sum()
        if self.word() == "IS":
            self.take()
            if self.word() == "NOT":
                self.take()
            self.take("NULL")
            return BOOLEAN
        if self.word() in ("IN", "LIKE", "NOT", "BETWEEN", "RLIKE"):
            raise _Unknown
        if self.peek() in _COMPARED:
            self.take()
            self.sum()
            return BOOLEAN
        return made

    def sum(self) -> DataType:
        made = self.product()
        while self.peek() in ("+", "-", "||"):
            op = self.take()
            other = self.product()
            made = _wider(made, other) if op != "||" else _text(made, other)
        return made

    def product(self) -> DataType:
        made = self.value()
        while self.peek() in ("*", "/", "%"):
            op = self.take()
            made = _wider(made, self.value())
            made = DOUBLE if op == "/" else made
        return made

    def value(self) -> DataType:
        token = self.take()
        if token.startswith("-"):
            return _wider(self.value(), INT)
        if token.startswith("("):
            made = self.either()
            self.take(")")
            return self.parts(made)
        if token[0] == "'":
            return STRING
        if token[0].isdigit():
            return {"l": BIGINT, "d": DOUBLE}.get(token[-1].lower()) or _small(token)
        if self.peek() == "(":
            return self.parts(self.call(token.lower()))
        if token.lower() in ("true", "false"):
            return BOOLEAN
        column = {name.lower(): type_ for name, type_ in self.columns.items()}
        if _name(token).lower() not in column:
            raise _Unknown
        return self.parts(column[_name(token).lower()])

    def parts(self, made: DataType) -> DataType:
        while self.peek() == ".":
            self.take()
            name = _name(self.take()).lower()
            found = [t for n, t in zip(made.fields, made.inner, strict=False) if n.lower() == name]
            if made.name != "STRUCT" or len(found) != 1:
                raise _Unknown
            made = found[0]
        return made

    def call(self, name: str) -> DataType:
        self.take("(")
        if name == "cast":
            self.either()
            self.take("AS")
            words = []
            while self.peek() != ")":
                words.append(self.take())
            self.take(")")
            return parse_type(" ".join(words))
        start = self.at
        args: list[DataType] = []
        spans: list[tuple[int, int]] = []
        while self.peek() != ")":
            if args:
                self.take(",")
            first = self.at
            args.append(self.either())
            spans.append((first, self.at))
        self.take(")")
        if name == "named_struct" and len(args) % 2 == 0:
            names = [self.tokens[a] for a, _ in spans[::2]]
            if all(x[0] == "'" and "\\" not in x for x in names) and args:
                return DataType("STRUCT", (), tuple(args[1::2]), tuple(x[1:-1] for x in names))
        if name == "array" and args and all(each == args[0] for each in args):
            return array(args[0])
        if name == "if" and len(args) == 3 and args[1] == args[2]:
            return args[1]
        if name in _OF_ARGUMENTS and args and all(each == args[0] for each in args):
            return args[0]
        if name == "concat" and args and all(each == STRING for each in args):
            return STRING
        if name in _RETURNS and start != self.at:
            return _RETURNS[name]
        raise _Unknown


def _name(token: str) -> str:
    if token[0] == "`":
        return token[1:-1]
    if not token[0].isalpha() and token[0] != "_":
        raise _Unknown
    return token


def _small(token: str) -> DataType:
    if not token.isdigit():
        raise _Unknown
    return INT if int(token) < 2**31 else BIGINT


def _wider(a: DataType, b: DataType) -> DataType:
    if a not in _NUMBERS or b not in _NUMBERS:
        raise _Unknown
    return max(a, b, key=_NUMBERS.index)


def _text(a: DataType, b: DataType) -> DataType:
    if a != STRING or b != STRING:
        raise _Unknown
    return STRING
