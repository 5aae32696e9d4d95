"""Spark SQL expressions that convert Kafka's bytes to Spark's types and back."""

from __future__ import annotations

from collections.abc import Callable

from millrace_compiler.parameters.formats import WINDOWED, Format
from millrace_compiler.types.types import BIGINT, STRING, DataType, quote

#: Formats that need a package beside pyspark, a registry, or Kafka's serializers.
FOREIGN = ("avro", "protobuf", *WINDOWED)
CORRUPT = "_corrupt_record"
_HEX_DIGITS = {"integer": 8, "long": 16, "float": 8, "double": 16}
_KEEP_NULLS = "map('ignoreNullFields', 'false')"


def sql_text(text: str) -> str:
    """A string literal of Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def byte_length(format_: Format) -> int | None:
    """The length of a format's values in bytes, if it is fixed."""
    digits = _HEX_DIGITS.get(format_.name)
    return digits // 2 if digits else None


def has_time(type_: DataType) -> bool:
    """Whether a type contains a TIMESTAMP."""
    return type_.name == "TIMESTAMP" or any(has_time(inner) for inner in type_.inner)


def has_other_keys(type_: DataType) -> bool:
    """Whether a type contains a MAP whose keys are not read as STRING."""
    other = type_.name == "MAP" and _time_as_text(type_.inner[0]) != STRING
    return other or any(has_other_keys(inner) for inner in type_.inner)


def decode(column: str, format_: Format, *, keep_corrupt: bool = False) -> str:
    """The expression that converts a BINARY column of Kafka to the format's type.

    ``keep_corrupt``: invalid JSON results in null, with its text in a field ``_corrupt_record``,
    instead of an error; only for a STRUCT.
    """
    name = format_.name
    if name == "string":
        return f"CAST({column} AS STRING)"
    if name == "bytes":
        return column
    if name == "boolean":
        return f"{column} = X'01'"
    if name == "json":
        return _read_json(column, format_.type or STRING, keep_corrupt=keep_corrupt)
    length = _HEX_DIGITS[name] // 2
    bits = f"CAST(conv(hex({column}), 16, -10) AS BIGINT)"
    if length == 4:
        bits = f"CAST(shiftright(shiftleft({bits}, 32), 32) AS INT)"
    if name in ("float", "double"):
        java = {"float": ("Float", "intBitsToFloat"), "double": ("Double", "longBitsToDouble")}
        owner, method = java[name]
        bits = f"CAST(java_method('java.lang.{owner}', '{method}', {bits}) AS {name.upper()})"
        return f"CASE WHEN length({column}) = {length} THEN {bits} END"
    wrong = f"raise_error('{column} is not {length} bytes long')"
    right = f"WHEN length({column}) = {length} THEN {bits}"
    return f"CASE {right} WHEN {column} IS NOT NULL THEN {wrong} END"


def _read_json(column: str, type_: DataType, *, keep_corrupt: bool) -> str:
    text = f"CAST({column} AS STRING)"
    raw = _time_as_text(type_)
    mode = ", map('mode', 'FAILFAST')"
    if type_.name == "STRUCT":
        schema = raw.schema
        if keep_corrupt:
            schema, mode = f"{schema}, {CORRUPT} STRING", ""
        parsed = f"from_json({text}, {sql_text(schema)}{mode})"
    else:
        schema = f"ARRAY<{raw.text}>"
        parsed = f"from_json('[' || {text} || ']', {sql_text(schema)}{mode})[0]"
    return _convert(parsed, raw, type_, _text_to_time) if raw != type_ else parsed


def _time_as_text(type_: DataType) -> DataType:
    if type_.name == "TIMESTAMP":
        return STRING
    inner = tuple(_time_as_text(each) for each in type_.inner)
    return DataType(type_.name, type_.numbers, inner, type_.fields)


def _text_to_time(value: str) -> str:
    return f"coalesce(timestamp_millis(try_cast({value} AS BIGINT)), CAST({value} AS TIMESTAMP))"


def _convert(
    value: str, found: DataType, wanted: DataType, leaf: Callable[[str], str], depth: int = 0
) -> str:
    """Applies ``leaf`` wherever either type has a TIMESTAMP."""
    if found == wanted:
        return value
    name = wanted.name if wanted.name in ("STRUCT", "ARRAY", "MAP") else found.name
    inner = list(zip(found.inner, wanted.inner, strict=False))
    if name == "STRUCT":
        parts = ", ".join(
            f"{sql_text(field)}, {_convert(f'{value}.{quote(field)}', a, b, leaf, depth)}"
            for field, (a, b) in zip(wanted.fields, inner, strict=True)
        )
        return f"if({value} IS NULL, NULL, named_struct({parts}))"
    item = f"item{depth or ''}"
    if name == "ARRAY":
        each = _convert(item, *inner[0], leaf, depth + 1)
        return f"transform({value}, {item} -> {each})"
    if name == "MAP":
        each = _convert(item, *inner[1], leaf, depth + 1)
        return f"transform_values({value}, (name{depth or ''}, {item}) -> {each})"
    return leaf(value)


def as_numbers(type_: DataType) -> DataType:
    """A type with milliseconds in place of times."""
    if type_.name == "TIMESTAMP":
        return BIGINT
    inner = tuple(as_numbers(each) for each in type_.inner)
    return DataType(type_.name, type_.numbers, inner, type_.fields)


def to_numbers(value: str, type_: DataType) -> str:
    """The expression that replaces timestamps by milliseconds."""
    return _convert(value, type_, as_numbers(type_), lambda each: f"unix_millis({each})")


def to_times(value: str, type_: DataType) -> str:
    """The expression that replaces milliseconds by timestamps; the inverse of `to_numbers`."""
    return _convert(value, as_numbers(type_), type_, lambda each: f"timestamp_millis({each})")


def json_text(value: str, type_: DataType) -> str:
    """The expression for a value's JSON text, with null fields, and timestamps in milliseconds."""
    plain = as_numbers(type_)
    prepared = to_numbers(value, type_)
    if type_.name in ("STRUCT", "ARRAY", "MAP"):
        return f"to_json({prepared}, {_KEEP_NULLS})"
    if plain.name in ("TINYINT", "SMALLINT", "INT", "BIGINT", "BOOLEAN"):
        return f"CAST({prepared} AS STRING)"
    return f"regexp_extract(to_json(array({prepared})), '(?s)^\\\\[(.*)\\\\]$', 1)"


def windowed_text(value: str, key: DataType) -> str:
    """The expression for the JSON text of a windowed key; ``key`` is the type of its inner key."""
    inner = to_numbers(f"{value}.key", key)
    times = ", ".join(f"'{end}', unix_millis({value}.window.{end})" for end in ("start", "end"))
    return f"to_json(named_struct('key', {inner}, 'window', named_struct({times})), {_KEEP_NULLS})"


def encode(value: str, format_: Format, found: DataType) -> str:
    """The expression that converts a value to the STRING or BINARY that is written to Kafka."""
    type_ = format_.type or found
    if found != type_:
        value = f"CAST({value} AS {type_.text})"
    name = format_.name
    if name in ("string", "bytes"):
        return value
    if name == "json":
        return json_text(value, type_)
    if name == "boolean":
        return f"CASE WHEN {value} THEN X'01' WHEN NOT {value} THEN X'00' END"
    digits = _HEX_DIGITS[name]
    if name == "float":
        value = f"CAST(java_method('java.lang.Float', 'floatToIntBits', {value}) AS BIGINT)"
    if name == "double":
        value = f"CAST(java_method('java.lang.Double', 'doubleToLongBits', {value}) AS BIGINT)"
    if digits == 8:
        return f"unhex(right(lpad(hex({value}), 16, '0'), 8))"
    return f"unhex(lpad(hex({value}), 16, '0'))"
