"""Converts Avro schemas to Spark types, as documented for Spark's ``from_avro``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from millrace_model.recipes import TypeLimits

from millrace_compiler.types.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    VOID,
    DataType,
    NoType,
    array,
    bounded,
)

_PRIMITIVE = {
    "null": VOID,
    "boolean": BOOLEAN,
    "int": INT,
    "long": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "bytes": BINARY,
    "string": STRING,
}
_LOGICAL = {
    ("int", "date"): DataType("DATE"),
    ("long", "timestamp-millis"): TIMESTAMP,
    ("long", "timestamp-micros"): TIMESTAMP,
    ("long", "local-timestamp-millis"): DataType("TIMESTAMP_NTZ"),
    ("long", "local-timestamp-micros"): DataType("TIMESTAMP_NTZ"),
}


class NoAvroSchema(NoType):
    """The text is not an Avro schema with a Spark type; the message contains the reason."""


def avro_type(text: str, imported: Sequence[str] = ()) -> DataType:
    """The Spark type of an Avro schema in JSON. Raises :class:`NoAvroSchema`.

    `imported`: the schemas that it refers to, each preceded by its own references.
    """
    reader = _Reader()
    for other in imported:
        reader.type(_read(other), "", 0)
    return reader.type(_read(text), "", 0)


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        bare = text.strip()
        if bare in _PRIMITIVE:
            return bare
        raise NoAvroSchema("it is not JSON") from None


class _Reader:
    def __init__(self) -> None:
        self.named: dict[str, DataType | None] = {}

    def type(self, schema: object, space: str, depth: int) -> DataType:
        if depth > 60:
            raise NoAvroSchema("it is nested too deeply")
        return bounded(self._type(schema, space, depth))

    def _type(self, schema: object, space: str, depth: int) -> DataType:
        if isinstance(schema, str):
            return self._name(schema, space)
        if isinstance(schema, list):
            return self._union(schema, space, depth)
        if not isinstance(schema, dict):
            raise NoAvroSchema(f"{schema!r} is not a schema")
        kind = schema.get("type")
        logical = self._logical(kind, schema)
        if logical:
            return logical
        if kind in ("record", "error"):
            return self._record(schema, space, depth)
        if kind == "enum":
            return self._limited(schema, space, STRING, {"symbols": _texts(schema.get("symbols"))})
        if kind == "fixed":
            return self._limited(schema, space, BINARY, {"length": _whole(schema.get("size"))})
        if kind == "array":
            return array(self.type(schema.get("items"), space, depth + 1))
        if kind == "map":
            values = self.type(schema.get("values"), space, depth + 1)
            return DataType("MAP", inner=(STRING, values))
        return self.type(kind, space, depth + 1)

    def _logical(self, kind: object, schema: dict[str, object]) -> DataType | None:
        logical = schema.get("logicalType")
        if kind in ("bytes", "fixed") and logical == "decimal":
            precision, scale = schema.get("precision"), schema.get("scale", 0)
            if isinstance(precision, int) and isinstance(scale, int) and scale <= precision <= 38:
                return DataType("DECIMAL", (precision, scale))
            raise NoAvroSchema("the decimal has no precision that Spark can hold")
        return _LOGICAL.get((str(kind), str(logical)))

    def _full(self, schema: dict[str, object], space: str) -> tuple[str, str]:
        name, own = schema.get("name"), schema.get("namespace", space)
        if not isinstance(name, str) or not name or not isinstance(own, str):
            raise NoAvroSchema(f"a {schema.get('type')} has no name")
        full = name if "." in name or not own else f"{own}.{name}"
        return full, full.rpartition(".")[0]

    def _define(self, schema: dict[str, object], space: str, type_: DataType | None) -> str:
        full, inner = self._full(schema, space)
        self.named[full] = type_
        return inner

    def _limited(
        self, schema: dict[str, object], space: str, type_: DataType, allows: TypeLimits
    ) -> DataType:
        found = replace(type_, allows=allows)
        self._define(schema, space, found)
        return found

    def _record(self, schema: dict[str, object], space: str, depth: int) -> DataType:
        inner = self._define(schema, space, None)
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise NoAvroSchema(f"the record {schema.get('name')} has no list of fields")
        names, types = [], []
        for field in fields:
            if not isinstance(field, dict) or not isinstance(field.get("name"), str):
                raise NoAvroSchema(f"a field of {schema.get('name')} has no name")
            names.append(str(field["name"]))
            types.append(self.type(field.get("type"), inner, depth + 1))
        found = DataType("STRUCT", inner=tuple(types), fields=tuple(names))
        self.named[self._full(schema, space)[0]] = found
        return found

    def _union(self, schemas: list[object], space: str, depth: int) -> DataType:
        types = [self.type(s, space, depth + 1) for s in schemas]
        real = [t for t in types if t != VOID]
        if not real:
            return VOID
        if len(real) == 1:
            return real[0]
        if set(real) == {INT, BIGINT}:
            return BIGINT
        if set(real) == {FLOAT, DOUBLE}:
            return DOUBLE
        members = tuple(f"member{i}" for i in range(len(real)))
        return DataType("STRUCT", inner=tuple(real), fields=members, allows={"union": True})

    def _name(self, name: str, space: str) -> DataType:
        if name in _PRIMITIVE:
            return _PRIMITIVE[name]
        full = name if name in self.named else f"{space}.{name}"
        if full not in self.named:
            raise NoAvroSchema(f"the type {name} is not defined")
        found = self.named[full]
        if found is None:
            raise NoAvroSchema(f"the record {name} contains itself; Spark has no recursive types")
        return found


def _texts(found: object) -> list[str]:
    return [str(each) for each in found] if isinstance(found, list) else []


def _whole(found: object) -> int | None:
    return found if isinstance(found, int) else None
