"""Messages of a ``.proto`` text as Spark types, after Spark's table of ``from_protobuf``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from millrace_compiler.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    DataType,
    NoType,
    array,
    bounded,
)

_SCALAR = {
    "double": DOUBLE,
    "float": FLOAT,
    "int32": INT,
    "sint32": INT,
    "fixed32": INT,
    "sfixed32": INT,
    "uint32": BIGINT,
    "int64": BIGINT,
    "sint64": BIGINT,
    "fixed64": BIGINT,
    "sfixed64": BIGINT,
    "uint64": DataType("DECIMAL", (20, 0)),
    "bool": BOOLEAN,
    "string": STRING,
    "bytes": BINARY,
    "google.protobuf.Timestamp": TIMESTAMP,
}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_.][\w.]*|-?\d[\w.+-]*|\S')
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class NoProtobufSchema(NoType):
    """The text is not a ``.proto`` file with a convertible message; contains the reason."""


@dataclass
class _Message:
    name: str
    fields: list[tuple[str, str, str]] = field(default_factory=list)  # name, type, label


# Messages of Google's own files. Timestamp is a scalar; Struct, Value and ListValue contain
# themselves.
_RECURSIVE = {f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue")}
_WELL_KNOWN = """
package google.protobuf;
message Duration { int64 seconds = 1; int32 nanos = 2; }
message DoubleValue { double value = 1; }
message FloatValue { float value = 1; }
message Int64Value { int64 value = 1; }
message UInt64Value { uint64 value = 1; }
message Int32Value { int32 value = 1; }
message UInt32Value { uint32 value = 1; }
message BoolValue { bool value = 1; }
message StringValue { string value = 1; }
message BytesValue { bytes value = 1; }
message Any { string type_url = 1; bytes value = 2; }
message FieldMask { repeated string paths = 1; }
message Empty { }
"""


def protobuf_type(text: str, message: str | None = None, imported: Sequence[str] = ()) -> DataType:
    """The Spark type of a message (the first one, if none is named). Raises NoProtobufSchema.

    `imported`: the texts of the files that it imports.
    """
    try:
        return _read(text, message, imported)
    except RecursionError:
        raise NoProtobufSchema("its messages are nested too deeply") from None


def _read(text: str, message: str | None, imported: Sequence[str]) -> DataType:
    reader = _Reader(_tokens(text))
    reader.file()
    own = dict(reader.messages)
    for other in (*imported, _WELL_KNOWN):
        reader.more(_tokens(other))
    if not own:
        raise NoProtobufSchema("there is no message in it")
    names = [m for m in own if message is None or m.split(".")[-1] == message or m == message]
    if not names:
        raise NoProtobufSchema(f"there is no message {message} in it")
    return reader.type_of(names[0], ())


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_COMMENT.sub(" ", text))


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0
        self.messages: dict[str, _Message] = {}
        self.types: dict[str, DataType] = {}
        self.enums: set[str] = set()

    def more(self, tokens: list[str]) -> None:
        """Another file's messages, where they are not there yet."""
        other = _Reader(tokens)
        other.file()
        self.messages = {**other.messages, **self.messages}
        self.enums |= other.enums

    def take(self) -> str:
        if self.at >= len(self.tokens):
            raise NoProtobufSchema("it ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def skip(self) -> None:
        """To the end of the statement."""
        depth = 0
        while True:
            token = self.take()
            depth += (token in "{[(") - (token in "}])")
            if depth <= 0 and token in ";}":
                return

    def file(self) -> None:
        package = ""
        while self.at < len(self.tokens):
            token = self.take()
            if token == "package":
                package = self.take() + "."
                self.take()
            elif token == "message":
                self.message(package)
            elif token == "enum":
                self.enums.add(package + self.take())
                self.skip()
            elif token != ";":
                self.skip()

    def message(self, outer: str) -> None:
        found = _Message(outer + self.take())
        self.messages[found.name] = found
        if self.take() != "{":
            raise NoProtobufSchema(f"the message {found.name} has no body")
        self.body(found)

    def body(self, found: _Message) -> None:
        while (token := self.take()) != "}":
            if token == "message":
                self.message(found.name + ".")
            elif token == "enum":
                self.enums.add(f"{found.name}.{self.take()}")
                self.skip()
            elif token == "oneof":
                self.take()
                self.take()
                self.body(found)
            elif token in ("option", "reserved", "extensions", "extend"):
                self.skip()
            elif token != ";":
                self.field(found, token)

    def field(self, found: _Message, token: str) -> None:
        label = ""
        if token in ("repeated", "optional", "required"):
            label, token = token, self.take()
        if token == "map":
            self.take()
            key = self.take()
            self.take()
            value = self.take()
            self.take()
            label, token = f"map:{key}", value
        name = self.take()
        if self.take() != "=":
            raise NoProtobufSchema(f"the field {name} of {found.name} has no number")
        self.skip()
        found.fields.append((name, token, label))

    def type_of(self, name: str, above: tuple[str, ...]) -> DataType:
        if name not in self.types:
            self.types[name] = bounded(self._type_of(name, above))
        return self.types[name]

    def _type_of(self, name: str, above: tuple[str, ...]) -> DataType:
        if name in above:
            raise NoProtobufSchema(
                f"the message {name} contains itself, which Spark has no type for"
            )
        names, types = [], []
        for field_name, type_name, label in self.messages[name].fields:
            element = self.resolve(type_name, name, (*above, name))
            if label == "repeated":
                element = array(element)
            elif label.startswith("map:"):
                element = DataType("MAP", inner=(_SCALAR.get(label[4:], STRING), element))
            names.append(field_name)
            types.append(element)
        return DataType("STRUCT", inner=tuple(types), fields=tuple(names))

    def resolve(self, type_name: str, scope: str, above: tuple[str, ...]) -> DataType:
        if type_name.lstrip(".") in _SCALAR:
            return _SCALAR[type_name.lstrip(".")]
        parts = scope.split(".")
        candidates = [".".join([*parts[:n], type_name]) for n in range(len(parts), -1, -1)]
        if type_name.startswith("."):
            candidates = [type_name[1:]]
        for candidate in candidates:
            if candidate in self.messages:
                return self.type_of(candidate, above)
            if candidate in self.enums:
                return STRING
        if type_name.removeprefix(".") in _RECURSIVE:
            raise NoProtobufSchema(f"{type_name} contains itself, which Spark has no type for")
        raise NoProtobufSchema(f"the type {type_name} is not known")
