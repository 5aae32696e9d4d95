"""Formats of keys and values: how bytes on Kafka become values of a Spark SQL type and back.

A format is the dict that the topology document contains, so that code and document look alike.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeAlias, cast

from millrace_model import documents

from millrace_runtime.keywords import checked

Format: TypeAlias = documents.Format


@checked
def string() -> Format:
    """STRING; UTF-8."""
    return {"format": "string"}


@checked
def integer() -> Format:
    """INT; four bytes, big-endian."""
    return {"format": "integer"}


@checked
def long() -> Format:
    """BIGINT; eight bytes, big-endian."""
    return {"format": "long"}


@checked
def float_() -> Format:
    """FLOAT; four bytes, big-endian."""
    return {"format": "float"}


@checked
def double() -> Format:
    """DOUBLE; eight bytes, big-endian."""
    return {"format": "double"}


@checked
def boolean() -> Format:
    """BOOLEAN; one byte, 0 or 1."""
    return {"format": "boolean"}


@checked
def bytes_() -> Format:
    """BINARY; the bytes as they are."""
    return {"format": "bytes"}


@checked
def json(schema: str | type[Any] | None = None) -> Format:
    """STRUCT of a Spark DDL schema, or one type (`ARRAY<INT>`); UTF-8 JSON.

    `schema`: also a dataclass, a NamedTuple or a TypedDict, whose annotations are the types.
    Missing fields are read as null, unknown fields are ignored, and null fields are written. The
    schema can be omitted only for writing, where values may then be of any type.
    """
    if schema is None:
        return {"format": "json"}
    return {"format": "json", "schema": schema if isinstance(schema, str) else _schema_of(schema)}


def _schema_of(given: type[Any]) -> str:
    # Imported here, because the process of a processor must not load the compiler.
    from millrace_compiler.types.types import parse_type

    from millrace_runtime.dsl.arguments import sql_type

    return parse_type(sql_type(given, "json()")).schema


@checked
def avro(
    schema: str | None = None, *, registry: str | None = None, subject: str | None = None
) -> Format:
    """STRUCT of an Avro schema, which is set here or read from a subject of a schema registry."""
    return _schema_format("avro", schema, registry, subject)


@checked
def protobuf(
    schema: str | None = None, *, registry: str | None = None, subject: str | None = None
) -> Format:
    """STRUCT of a Protobuf message; its schema is set here or read from a schema registry."""
    return _schema_format("protobuf", schema, registry, subject)


@checked
def time_windowed(inner: Format, window_size: int | str | timedelta | None = None) -> Format:
    """STRUCT<key, window: STRUCT<start, end>>: a key of the format `inner` and its time window.

    Written as by Kafka's `TimeWindowedSerde`: the key's bytes, then the window's start. To read it,
    `window_size` is required ("5 minutes"): the bytes do not contain the end.
    """
    found = _windowed("time_windowed", inner)
    if window_size is not None:
        if isinstance(window_size, timedelta):
            window_size = window_size // timedelta(milliseconds=1)
        found["window_size"] = window_size
    return found


@checked
def session_windowed(inner: Format) -> Format:
    """STRUCT<key, window: STRUCT<start, end>>: a key of the format `inner` and its session.

    Written as by Kafka's `SessionWindowedSerde`: the key's bytes, the session's end, its start.
    """
    return _windowed("session_windowed", inner)


def _windowed(name: str, inner: Format) -> Format:
    parts = {key: value for key, value in inner.items() if key != "format"}
    return cast(Format, {"format": name, "inner": inner["format"], **parts})


def _schema_format(
    name: str, schema: str | None, registry: str | None, subject: str | None
) -> Format:
    parts = {"schema": schema, "registry": registry, "subject": subject}
    given = {key: value for key, value in parts.items() if value is not None}
    return cast(Format, {"format": name, **given})
