"""Reads ``.proto`` files: the Spark types of messages, as documented for Spark's
``from_protobuf``, and their fields for the stream task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from millrace_compiler.types.types import (
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
}
_SCALAR_OR_TIME = {**_SCALAR, "timestamp": TIMESTAMP}
_NEVER_PACKED = ("string", "bytes", "message", "timestamp")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_.][\w.]*|-?\d[\w.+-]*|\S')
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


#: the edition that is read, with the presence and the encodings that it has without features
_EDITION = "2023"
#: features that change neither the bytes of a message nor the presence of its fields
_FEATURES = ("enum_type", "json_format", "utf8_validation")


class NoProtobufSchema(NoType):
    """The text is not a ``.proto`` file with a convertible message; contains the reason."""


@dataclass(frozen=True)
class _Declared:
    """A declared field. ``label``: repeated, optional, required, or ``map:`` and the key type."""

    name: str
    number: int
    type: str
    label: str
    packed: bool | None


@dataclass
class _Message:
    name: str
    #: fields without a label have no presence
    proto3: bool
    #: repeated numbers are packed by default: in proto3 and in editions
    packed: bool
    fields: list[_Declared] = field(default_factory=list)


@dataclass(frozen=True)
class _Field:
    """A field with its resolved type.

    ``kind``: a scalar of Protobuf, ``timestamp``, ``enum``, ``message`` or ``map``. ``of``: the
    name of its enum or message. ``implicit``: the field has no presence (proto3), so its default
    value is not written. ``entry``: key and value of a map.
    """

    name: str
    number: int
    kind: str
    of: str = ""
    repeated: bool = False
    packed: bool = False
    implicit: bool = False
    entry: tuple[_Field, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The JSON form that the stream task reads."""
        found = {name: value for name, value in vars(self).items() if value}
        return found | ({"entry": [each.to_json() for each in self.entry]} if self.entry else {})


@dataclass(frozen=True)
class Protobuf:
    """The first message of a ``.proto`` file: its type, and its fields for the stream task."""

    type: DataType
    message: Mapping[str, object]


# Google's well-known messages. Timestamp is treated as a scalar; Struct, Value and ListValue are
# recursive and have no Spark type.
_TIMESTAMP = "google.protobuf.Timestamp"
_RECURSIVE = {f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue")}
_WELL_KNOWN = """
syntax = "proto3";
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


def read_protobuf(text: str, imported: Sequence[str] = ()) -> Protobuf:
    """The first message of a file. Raises :class:`NoProtobufSchema`.

    `imported`: the texts of the files that it imports.
    """
    try:
        reader = _Reader(_tokens(text))
        reader.file()
        own = next(iter(reader.messages), None)
        for other in (*imported, _WELL_KNOWN):
            reader.more(_tokens(other))
        if own is None:
            raise NoProtobufSchema("it does not define a message")
        type_ = reader.type_of(own, ())
        return Protobuf(type_, reader.described(own))
    except RecursionError:
        raise NoProtobufSchema("its messages are nested too deeply") from None


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_COMMENT.sub(" ", text))


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at, self.proto3, self.packed = tokens, 0, False, False
        self.messages: dict[str, _Message] = {}
        self.enums: dict[str, dict[int, str]] = {}
        self.fields: dict[str, list[_Field]] = {}
        self.types: dict[str, DataType] = {}

    def more(self, tokens: list[str]) -> None:
        """Adds the messages and enums of another file, except those already defined."""
        other = _Reader(tokens)
        other.file()
        self.messages = {**other.messages, **self.messages}
        self.enums = {**other.enums, **self.enums}

    # ---- parsing ----------------------------------------------------------------------------

    def take(self) -> str:
        if self.at >= len(self.tokens):
            raise NoProtobufSchema("it ends unexpectedly")
        self.at += 1
        return self.tokens[self.at - 1]

    def skip(self) -> list[str]:
        """Skips to the end of the statement and returns its tokens."""
        start, depth = self.at, 0
        while True:
            token = self.take()
            depth += (token in "{[(") - (token in "}])")
            if depth <= 0 and token in ";}":
                return self.tokens[start : self.at]

    def number(self) -> int:
        token = self.take()
        octal = re.fullmatch(r"[+-]?0\d+", token)
        try:
            return int(token, 8 if octal else 0)
        except ValueError:
            raise NoProtobufSchema(f"“{token}” is not a number") from None

    def file(self) -> None:
        package = ""
        while self.at < len(self.tokens):
            token = self.take()
            if token == "syntax":
                self.proto3 = self.packed = any("proto3" in each for each in self.skip())
            elif token == "edition":
                self.edition()
            elif token == "package":
                package = self.take() + "."
                self.take()
            elif token == "message":
                self.message(package)
            elif token == "enum":
                self.enum(package)
            elif token != ";":
                self.skip()

    def edition(self) -> None:
        found = "".join(self.skip()).strip("=;\"'")
        if found != _EDITION:
            raise NoProtobufSchema(
                f"it has the edition {found}; edition {_EDITION}, proto3 and proto2 are supported"
            )
        self.packed = True
        for before, token in zip(self.tokens, self.tokens[1:], strict=False):
            feature = re.fullmatch(r"features(?:\.([\w.]+))?", token)
            if before in ("option", "[", ",") and feature and feature[1] not in _FEATURES:
                name = f"features.{feature[1]}" if feature[1] else "features"
                raise NoProtobufSchema(
                    f"it sets the option {name}; of the features of an edition, "
                    f"{', '.join(_FEATURES)} are supported, each by its own name"
                )

    def message(self, outer: str) -> None:
        found = _Message(outer + self.take(), self.proto3, self.packed)
        self.messages[found.name] = found
        if self.take() != "{":
            raise NoProtobufSchema(f"the message {found.name} has no body")
        self.body(found)

    def body(self, found: _Message, label: str = "") -> None:
        while (token := self.take()) != "}":
            if token == "message":
                self.message(found.name + ".")
            elif token == "enum":
                self.enum(found.name + ".")
            elif token == "oneof":
                self.take()
                self.take()
                self.body(found, "optional")
            elif token in ("option", "reserved", "extensions", "extend"):
                self.skip()
            elif token != ";":
                self.field(found, token, label)

    def enum(self, outer: str) -> None:
        found = self.enums.setdefault(outer + self.take(), {})
        self.take()
        while (token := self.take()) != "}":
            if token in ("option", "reserved"):
                self.skip()
            elif token != ";":
                self.take()
                found.setdefault(self.number(), token)
                self.skip()

    def field(self, found: _Message, token: str, label: str) -> None:
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
        number = self.number()
        options = re.search("packed = (true|false)", " ".join(self.skip()))
        packed = options[1] == "true" if options else None
        found.fields.append(_Declared(name, number, token, label, packed))

    # ---- resolving --------------------------------------------------------------------------

    def resolved(self, message: str) -> list[_Field]:
        """The fields of a message."""
        if message not in self.fields:
            of = self.messages[message]
            self.fields[message] = [self._resolved(each, of) for each in of.fields]
        return self.fields[message]

    def _resolved(self, found: _Declared, message: _Message) -> _Field:
        if found.label.startswith("map:"):
            key = _Declared("key", 1, found.label[4:], "optional", None)
            value = _Declared("value", 2, found.type, "optional", None)
            entry = tuple(self._resolved(each, message) for each in (key, value))
            return _Field(found.name, found.number, "map", repeated=True, entry=entry)
        kind, of = self._kind(found.type, message.name)
        repeated = found.label == "repeated"
        packed = message.packed if found.packed is None else found.packed
        return _Field(
            found.name,
            found.number,
            kind,
            of,
            repeated,
            packed=repeated and packed and kind not in _NEVER_PACKED,
            implicit=message.proto3 and not found.label and kind not in ("message", "timestamp"),
        )

    def _kind(self, name: str, scope: str) -> tuple[str, str]:
        """The kind of a type, and the full name of an enum or a message."""
        if name in _SCALAR:
            return name, ""
        plain = name.removeprefix(".")
        if plain == _TIMESTAMP:
            return "timestamp", ""
        parts = scope.split(".") if plain == name else []
        for length in range(len(parts), -1, -1):
            candidate = ".".join([*parts[:length], plain])
            if candidate in self.messages:
                return "message", candidate
            if candidate in self.enums:
                return "enum", candidate
        if plain in _RECURSIVE:
            raise NoProtobufSchema(f"{name} contains itself; Spark has no recursive types")
        raise NoProtobufSchema(f"the type {name} is not defined")

    def type_of(self, message: str, above: tuple[str, ...]) -> DataType:
        """The type of a message; `above`: the messages that contain it."""
        if message in above:
            raise NoProtobufSchema(
                f"the message {message} contains itself; Spark has no recursive types"
            )
        if message not in self.types:
            fields = self.resolved(message)
            types = tuple(self._type_of(each, (*above, message)) for each in fields)
            names = tuple(each.name for each in fields)
            self.types[message] = bounded(DataType("STRUCT", inner=types, fields=names))
        return self.types[message]

    def _type_of(self, found: _Field, above: tuple[str, ...]) -> DataType:
        if found.kind == "map":
            return DataType("MAP", inner=tuple(self._type_of(each, above) for each in found.entry))
        if found.kind == "message":
            type_ = self.type_of(found.of, above)
        elif found.kind == "enum":
            type_ = replace(STRING, allows={"symbols": list(self.enums[found.of].values())})
        else:
            type_ = _SCALAR_OR_TIME[found.kind]
        return array(type_) if found.repeated else type_

    def described(self, message: str) -> dict[str, object]:
        """A message with all messages and enums that it uses, for the stream task."""
        found, enums, waiting = dict[str, object](), dict[str, object](), [message]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            fields = self.resolved(name)
            found[name] = [each.to_json() for each in fields]
            for each in _all(fields):
                if each.kind == "message":
                    waiting.append(each.of)
                elif each.kind == "enum":
                    enums[each.of] = {str(n): text for n, text in self.enums[each.of].items()}
        return {"name": message, "messages": found, "enums": enums}


def _all(fields: Sequence[_Field]) -> Iterator[_Field]:
    """The fields, including key and value of maps."""
    for each in fields:
        yield each
        yield from each.entry
