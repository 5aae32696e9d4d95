"""Spark SQL types, as far as the compiler needs them.

Types are read from Spark's DDL (``item STRING, quantity INT``, ``ARRAY<INT>``,
``STRUCT<a: INT, b: MAP<STRING, DOUBLE>>``) and written in one canonical form. All types are
nullable: ``NOT NULL`` and comments are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from millrace_model.recipes import TypeJson, TypeLimits

_SIMPLE = {
    "BYTE": "TINYINT",
    "TINYINT": "TINYINT",
    "SHORT": "SMALLINT",
    "SMALLINT": "SMALLINT",
    "INT": "INT",
    "INTEGER": "INT",
    "LONG": "BIGINT",
    "BIGINT": "BIGINT",
    "FLOAT": "FLOAT",
    "REAL": "FLOAT",
    "DOUBLE": "DOUBLE",
    "BOOLEAN": "BOOLEAN",
    "BINARY": "BINARY",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ",
    "VOID": "VOID",
    "VARIANT": "VARIANT",
}
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|[A-Za-z_0-9]+|[<>(),:])")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE")
_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}
#: maximum length of a type's text, and maximum depth of nesting
LONGEST, DEEPEST = 100_000, 32
_KEPT_UP_TO = 4_000


class NoType(ValueError):
    """The text is not a type; the message contains the reason."""


@dataclass(frozen=True)
class DataType:
    """One type: its name, numbers in parentheses, inner types and, for a struct, field names."""

    name: str
    numbers: tuple[int, ...] = ()
    inner: tuple[DataType, ...] = ()
    fields: tuple[str, ...] = ()
    #: restrictions of an Avro or Protobuf schema: the `symbols` of an enum, the `length` of a fixed
    #: type; `union`: exactly one field of the struct has a value
    allows: TypeLimits = field(default_factory=TypeLimits, repr=False, compare=False)
    #: approximate length of its text, without building it
    size: int = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        inside = sum(each.size + 2 for each in self.inner) + sum(len(n) + 2 for n in self.fields)
        object.__setattr__(self, "size", len(self.name) + 2 + inside)
        object.__setattr__(self, "depth", 1 + max((each.depth for each in self.inner), default=0))

    @cached_property
    def text(self) -> str:
        """Canonical DDL of the type."""
        if self.name == "STRUCT":
            return f"STRUCT<{', '.join(f'{n}: {t}' for n, t in self._named())}>"
        if self.inner:
            return f"{self.name}<{', '.join(t.text for t in self.inner)}>"
        if self.numbers:
            return f"{self.name}({','.join(map(str, self.numbers))})"
        return self.name

    @cached_property
    def schema(self) -> str:
        """DDL in the form of a ``json`` format: a struct is a list of fields."""
        if self.name == "STRUCT" and self.fields:
            return ", ".join(f"{n} {t}" for n, t in self._named())
        return self.text

    def _named(self) -> list[tuple[str, str]]:
        return [(quote(n), t.text) for n, t in zip(self.fields, self.inner, strict=True)]

    def field(self, name: str) -> DataType | None:
        """The type of a struct's field, if there is one of that name."""
        return self.inner[self.fields.index(name)] if name in self.fields else None

    def to_json(self) -> TypeJson:
        """The complete type; the inverse of :meth:`from_json`."""
        return {
            "name": self.name,
            "numbers": list(self.numbers),
            "inner": [each.to_json() for each in self.inner],
            "fields": list(self.fields),
            "allows": self.allows,
        }

    @classmethod
    def from_json(cls, raw: TypeJson) -> DataType:
        """The inverse of :meth:`to_json`."""
        return cls(
            raw["name"],
            tuple(raw["numbers"]),
            tuple(cls.from_json(each) for each in raw["inner"]),
            tuple(raw["fields"]),
            raw["allows"],
        )

    def __str__(self) -> str:
        return self.text


def quote(name: str) -> str:
    """A field name in DDL, quoted if necessary."""
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


STRING, BOOLEAN, BINARY = DataType("STRING"), DataType("BOOLEAN"), DataType("BINARY")
INT, BIGINT, FLOAT, DOUBLE = (
    DataType("INT"),
    DataType("BIGINT"),
    DataType("FLOAT"),
    DataType("DOUBLE"),
)
TIMESTAMP, VOID = DataType("TIMESTAMP"), DataType("VOID")
HEADERS = DataType("MAP", inner=(STRING, BINARY))
WINDOW = DataType("STRUCT", inner=(TIMESTAMP, TIMESTAMP), fields=("start", "end"))


def bounded(found: DataType) -> DataType:
    """Returns the type itself. Raises :class:`NoType` if its text is too large.

    A small schema can describe a huge type: each of its records can contain the previous one twice.
    """
    if found.size > LONGEST:
        raise NoType(
            f"it describes a type of more than {LONGEST:,} characters; refer to large types in "
            "fewer places"
        )
    if found.depth > DEEPEST:
        raise NoType(f"it is nested more than {DEEPEST} levels deep")
    return found


def array(element: DataType) -> DataType:
    """ARRAY<element>."""
    return DataType("ARRAY", inner=(element,))


def struct(**fields: DataType) -> DataType:
    """STRUCT of the fields, in order."""
    return DataType("STRUCT", inner=tuple(fields.values()), fields=tuple(fields))


def with_headers(value: DataType, store: str) -> DataType:
    """The rows of a store that keeps headers beside values; ``store``: its type.

    Kafka Streams keeps a timestamp as well, except for a session, which has an end.
    """
    headers = array(struct(name=STRING, value=BINARY))
    if store == "session":
        return struct(aggregation=value, headers=headers)
    return struct(value=value, timestamp=BIGINT, headers=headers)


def windowed(key: DataType) -> DataType:
    """The key of a windowed table in expressions."""
    return struct(key=key, window=WINDOW)


def parse_type(text: str) -> DataType:
    """Reads DDL: one type, or a list of fields, which is a struct. Raises :class:`NoType`."""
    if len(text) > LONGEST:
        raise NoType(f"it has more than {LONGEST:,} characters")
    return _kept(text) if len(text) <= _KEPT_UP_TO else _parse(text)


@lru_cache(maxsize=4096)
def _kept(text: str) -> DataType:
    return _parse(text)


def _parse(text: str) -> DataType:
    reader = _Reader(_tokens(text))
    if not reader.tokens:
        raise NoType("it is empty")
    start = reader.at
    try:
        found = reader.type(0)
        if reader.done:
            return found
        first: NoType | None = None
    except NoType as error:
        first = error
    reader.at = start
    try:
        found = reader.struct(0, end=None)
    except NoType as error:
        raise (first if first is not None and len(reader.tokens) == 1 else error) from None
    return found


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise NoType(f"“{text[at : at + 12]}” is not expected")
        tokens.append(found[1])
        at = found.end()
    return tokens


class _Reader:
    """Recursive descent over the tokens of DDL."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def peek(self) -> str:
        return "" if self.done else self.tokens[self.at]

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, token: str) -> None:
        found = self.take()
        if found != token:
            raise NoType(f"“{token}” is expected, not “{found or 'the end'}”")

    def type(self, depth: int) -> DataType:
        if depth > DEEPEST:
            raise NoType("it is nested too deeply")
        token = self.take()
        name = token.upper()
        if name in _SIMPLE:
            return DataType(_SIMPLE[name])
        if name == "STRING":
            if self.peek().upper() == "COLLATE":
                self.take()
                self.take()
            return STRING
        if name in ("DECIMAL", "DEC", "NUMERIC"):
            return self._decimal()
        if name in ("CHAR", "VARCHAR", "CHARACTER"):
            self._numbers(1)
            return STRING
        if name == "TIME":
            return DataType("TIME", self._numbers(1) if self.peek() == "(" else (6,))
        if name == "ARRAY":
            self.expect("<")
            element = self.type(depth + 1)
            self.expect(">")
            return array(element)
        if name == "MAP":
            self.expect("<")
            key = self.type(depth + 1)
            self.expect(",")
            value = self.type(depth + 1)
            self.expect(">")
            return DataType("MAP", inner=(key, value))
        if name == "STRUCT":
            self.expect("<")
            return self.struct(depth + 1, end=">")
        if name == "INTERVAL":
            words = []
            while _PLAIN.fullmatch(self.peek()):
                words.append(self.take().upper())
            return DataType(" ".join(["INTERVAL", *words]))
        raise NoType(f"“{token or 'the end'}” is not a type")

    def struct(self, depth: int, end: str | None) -> DataType:
        names: list[str] = []
        types: list[DataType] = []
        while self.peek() != (end or ""):
            if names:
                self.expect(",")
            names.append(self._name())
            if self.peek() == ":":
                self.take()
            types.append(self.type(depth))
            if self.peek().upper() == "NOT":
                self.take()
                if self.take().upper() != "NULL":
                    raise NoType("NULL is expected after NOT")
            if self.peek().upper() == "COMMENT":
                self.take()
                self.take()
        if end:
            self.expect(end)
        lower = [name.lower() for name in names]
        if len(set(lower)) != len(lower):
            twice = next(n for i, n in enumerate(names) if n.lower() in lower[:i])
            raise NoType(f"the field {twice} occurs twice")
        return DataType("STRUCT", inner=tuple(types), fields=tuple(names))

    def _name(self) -> str:
        token = self.take()
        if token.startswith("`"):
            return token[1:-1].replace("``", "`")
        if not re.fullmatch(r"[A-Za-z_0-9]+", token):
            raise NoType(f"a field name is expected, not “{token or 'the end'}”")
        return token

    def _numbers(self, count: int) -> tuple[int, ...]:
        self.expect("(")
        numbers: list[int] = []
        while len(numbers) < count:
            token = self.take()
            if not re.fullmatch(r"\d{1,9}", token):
                raise NoType(f"a number is expected, not “{token or 'the end'}”")
            numbers.append(int(token))
            if self.peek() != ",":
                break
            self.take()
        self.expect(")")
        return tuple(numbers)

    def _decimal(self) -> DataType:
        numbers = self._numbers(2) if self.peek() == "(" else (10, 0)
        precision, scale = numbers if len(numbers) == 2 else (numbers[0], 0)
        if not 1 <= precision <= 38 or scale > precision:
            raise NoType(f"DECIMAL({precision},{scale}) is not supported")
        return DataType("DECIMAL", (precision, scale))


def widens(found: DataType, needed: DataType) -> bool:
    """Whether a type equals the needed one or can be widened to it, such as INT to BIGINT."""
    if found in (needed, VOID):
        return True
    if found.name == needed.name == "STRUCT":
        return found.fields == needed.fields and all(map(widens, found.inner, needed.inner))
    if found.name == needed.name == "ARRAY":
        return widens(found.inner[0], needed.inner[0])
    if found.name in _NUMBERS and needed.name in _NUMBERS:
        return _NUMBERS.index(found.name) < _NUMBERS.index(needed.name)
    if needed.name == "DECIMAL":
        precision, scale = needed.numbers
        if found.name == "DECIMAL":
            p, s = found.numbers
            return p - s <= precision - scale and s <= scale
        return found.name in _DIGITS and _DIGITS[found.name] <= precision - scale
    return found.name in ("DATE", "TIMESTAMP_NTZ") and needed.name == "TIMESTAMP"
