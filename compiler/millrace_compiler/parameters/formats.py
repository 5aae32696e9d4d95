"""Formats: how keys and values are serialized on Kafka, and their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from millrace_compiler.diagnostics.diagnostics import shown
from millrace_compiler.documents.durations import parse_duration, show_duration
from millrace_compiler.parameters.parameters import Faults, Parameter, read_duration
from millrace_compiler.parameters.parts import read_parts
from millrace_compiler.types.avro import avro_type
from millrace_compiler.types.protobuf import read_protobuf
from millrace_compiler.types.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    DataType,
    NoType,
    parse_type,
    windowed,
)

SIMPLE: dict[str, DataType] = {
    "string": STRING,
    "integer": INT,
    "long": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "boolean": BOOLEAN,
    "bytes": BINARY,
}
#: Keys with a window, as Kafka's serializers of windowed keys write them.
WINDOWED = ("time_windowed", "session_windowed")
NAMES = (*SIMPLE, "json", "avro", "protobuf", *WINDOWED)
#: The properties of each format.
PARTS = {
    "json": ("schema",),
    "avro": ("schema", "registry", "subject"),
    "protobuf": ("schema", "registry", "subject"),
    "time_windowed": ("inner", "schema", "window_size"),
    "session_windowed": ("inner", "schema"),
}

DESCRIPTIONS: dict[str, tuple[str, str]] = {
    "string": ("Text", "UTF-8 text."),
    "integer": (
        "Integer",
        "A whole number of 4 bytes, big-endian, as written by Kafka's serializer.",
    ),
    "long": ("Long", "A whole number of 8 bytes, big-endian, as written by Kafka's serializer."),
    "float": ("Float", "A floating-point number of 4 bytes, big-endian."),
    "double": ("Double", "A floating-point number of 8 bytes, big-endian."),
    "boolean": ("Boolean", "One byte, 0 or 1."),
    "bytes": ("Bytes", "The raw bytes."),
    "json": ("JSON", "UTF-8 JSON with a schema in Spark DDL."),
    "avro": ("Avro", "Binary Avro, plain or with a schema registry header."),
    "protobuf": (
        "Protocol Buffers",
        "Binary Protobuf, plain or with a schema registry header.",
    ),
    "time_windowed": (
        "Key and window",
        "A key and the start of its time window (8 bytes), as Kafka's TimeWindowedSerde writes it.",
    ),
    "session_windowed": (
        "Key and session",
        "A key, and end and start of its session (8 bytes each), as Kafka's SessionWindowedSerde "
        "writes it.",
    ),
}


@dataclass(frozen=True)
class Format:
    """A format with its properties. ``type`` is ``None`` if the data or a registry determine it.

    ``message``: the fields of a Protobuf message, for the stream task.
    """

    name: str
    type: DataType | None = None
    properties: tuple[tuple[str, str], ...] = ()
    message: Mapping[str, object] | None = field(default=None, compare=False)

    @property
    def identity(self) -> tuple[object, ...]:
        """The properties that all sources of a topic must share. Types are compared as parsed."""
        return self.name, self.type, () if self.name == "json" else self.properties

    def to_json(self) -> dict[str, object]:
        """The JSON form that the stream task reads, ``{"format": "json", "schema": "a INT"}``."""
        if self.name == "json":
            return {"format": "json", "schema": self.type.schema if self.type else ""}
        if self.name in WINDOWED:
            return self._windowed_json()
        message = {"message": self.message} if self.message else {}
        return {"format": self.name, **dict(self.properties), **message}

    def of_windows(self, size: int) -> Format:
        """The format of time windows of a size in ms, for those who read what a sink writes."""
        if self.name != "time_windowed" or not size:
            return self
        others = [each for each in self.properties if each[0] != "window_size"]
        return replace(
            self, properties=tuple(sorted([*others, ("window_size", show_duration(size))]))
        )

    def _windowed_json(self) -> dict[str, object]:
        """The same for a windowed key; the size of its window is in milliseconds."""
        properties: dict[str, object] = dict(self.properties)
        found: dict[str, object] = {"format": self.name, "inner": properties["inner"]}
        if properties["inner"] == "json" and self.type and self.type.inner:
            found["schema"] = self.type.inner[0].schema
        if "window_size" in properties:
            found["window_size"] = parse_duration(properties["window_size"])
        return found


def format_of(type_: DataType) -> Format:
    """The format for a type: a simple one if there is one, ``json`` otherwise."""
    for name, simple in SIMPLE.items():
        if simple == type_:
            return Format(name, type_)
    return Format("json", type_)


class FormatOf(Parameter[Format]):
    """A format, ``{"format": "json", "schema": "a INT"}``.

    A source must declare the type; for a sink (``of_data``) it comes from the data.
    """

    widget = "format"

    def __init__(
        self, title: str, help: str, *, of_data: bool = False, of_key: bool = False
    ) -> None:
        super().__init__(title, help)
        self.of_data, self.of_key = of_data, of_key

    def neutral(self) -> Format:
        return Format("unknown")

    def parse(self, raw: object, faults: Faults) -> Format:
        if not isinstance(raw, dict):
            faults.shape(raw, 'an object such as {"format": "string"}')
            return self.neutral()
        name = raw.get("format")
        if not isinstance(name, str) or name not in NAMES:
            faults.add("format", path=".format", found=shown(name), choices=", ".join(NAMES))
            return self.neutral()
        if name in WINDOWED:
            return self._windowed(name, raw, faults)
        known = PARTS.get(name, ())
        properties: dict[str, str] = {}
        for part, value in raw.items():
            if part == "format" or value is None:
                continue
            if part not in known:
                faults.add("format_part", path=f".{part}", part=part, format=name)
            elif not isinstance(value, str) or not value.strip():
                faults.shape(value, "text", f".{part}")
            elif part == "registry" and "@" in value:
                faults.add("format_registry_secret", path=".registry")
            else:
                properties[part] = value
        if name in SIMPLE:
            return Format(name, SIMPLE[name])
        return self._typed(Format(name, None, tuple(sorted(properties.items()))), faults)

    def _windowed(self, name: str, raw: dict[str, object], faults: Faults) -> Format:
        """The format of a key with a window: the one of the key, and the size of windows."""
        if not self.of_key:
            faults.add("format_windowed_value", path=".format", format=name)
            return self.neutral()
        parts = read_parts(raw, faults, "", ("format", *PARTS[name]))
        inner, size = parts.get("inner"), parts.get("window_size")
        if inner not in (*SIMPLE, "json"):
            choices = ", ".join((*SIMPLE, "json"))
            faults.add("format", path=".inner", found=shown(inner), choices=choices)
            return self.neutral()
        properties = [("inner", str(inner))]
        if size is not None:
            properties.append(
                ("window_size", show_duration(read_duration(size, faults, 1, ".window_size")))
            )
        elif name == "time_windowed" and not self.of_data:
            faults.add("format_window_size", path=".window_size")
        key = SIMPLE.get(str(inner))
        if key is None:
            schema = parts.get("schema")
            given = {"format": "json", **({"schema": schema} if schema is not None else {})}
            key = self.parse(given, faults).type
            if isinstance(schema, str):
                properties.append(("schema", schema))
        type_ = windowed(key) if key else None
        return Format(name, type_, tuple(sorted(properties)))

    def _typed(self, found: Format, faults: Faults) -> Format:
        properties = dict(found.properties)
        schema = properties.get("schema")
        if schema is not None:
            return read_schema(found, schema, faults)
        registry = "registry" in properties and "subject" in properties
        if found.name != "json" and not registry:
            faults.add("format_schema_or_registry", path=".schema", format=found.name)
        elif found.name == "json" and not self.of_data:
            faults.add("format_schema", path=".schema", format=found.name)
        return found


def read_schema(found: Format, schema: str, faults: Faults, imported: Sequence[str] = ()) -> Format:
    """The format with the type of a schema; unchanged if the schema is not valid.

    `imported`: the schemas that it refers to, each preceded by its own references.
    """
    try:
        if found.name == "avro":
            return replace(found, type=avro_type(schema, imported))
        if found.name == "protobuf":
            read = read_protobuf(schema, imported)
            return replace(found, type=read.type, message=read.message)
        return replace(found, type=parse_type(schema))
    except NoType as error:
        faults.add("format_bad_schema", path=".schema", reason=str(error), format=found.name)
        return found
