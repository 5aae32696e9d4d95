"""Input lines and output lines: their bytes, and how they are shown."""

from __future__ import annotations

import base64
import functools
import json
from typing import Literal, TypeAlias

from millrace_model.documents import Format
from millrace_model.records import InputLine, LineParts, OperatorRow, OutputLine
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from millrace_runtime import columns
from millrace_runtime.errors import MillraceError

#: Destinations of an operator's rows that are not outputs.
STOP, DUMP, LAST_LETTER = -1, -3, -5

Line: TypeAlias = InputLine


def encoded_bytes(raw: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(raw).decode()


def _header(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return base64.b64decode(text).decode()
    except UnicodeDecodeError:
        return text


_ERRORS = "__streams.errors."


def failure_of(row: OperatorRow) -> str | None:
    """Return the message of the error of a dead letter; None for other rows."""
    name = f"{_ERRORS}message"
    return next((_header(text) for each, text in row["headers"] if each == name), None)


def shown(row: OperatorRow, topic: str, after: int) -> OutputLine:
    """Return the output line of a row; dead letters are shown without their error headers."""
    line: OutputLine = {
        "after": after,
        "topic": topic,
        "key": row["key"],
        "value": row["value"],
        "timestamp": row["timestamp"],
    }
    headers = {name: _header(text) for name, text in row["headers"] if not name.startswith(_ERRORS)}
    if headers:
        line["headers"] = headers
    return line


def line_parts(line: Line, formats: tuple[Format, Format], number: int) -> LineParts:
    """Return partition, timestamp, key, value and headers of an input line, with bytes in base64.

    Raises MillraceError `input_invalid` for a key or value that does not match its format.
    """
    headers: list[tuple[str, str | None]] = [
        (name, None if value is None else encoded_bytes(str(value).encode()))
        for name, value in (line.get("headers") or {}).items()
    ]
    return {
        "partition": int(line.get("partition") or 0),
        "timestamp": int(line.get("timestamp") or 0),
        "key": _line_bytes(line, "key", formats[0], number),
        "value": _line_bytes(line, "value", formats[1], number),
        "headers": headers,
    }


def _line_bytes(
    line: Line, name: Literal["key", "value"], format: Format, number: int
) -> str | None:
    given = line.get("key_bytes" if name == "key" else "value_bytes")
    if given is not None:
        return str(given)
    if line.get(name) is None:
        return None
    text = json.dumps(line[name])
    try:
        # The schema of a registry may change between two runs.
        encode = _encode if "registry" in format else _encoded
        return encode(json.dumps(format), text)
    except (Py4JJavaError, PySparkException):
        needed = (
            "base64" if format["format"] == "bytes" else f"a value of format {format['format']}"
        )
        found = text if len(text) <= 60 else f"{text[:59]}…"
        raise MillraceError(
            "input_invalid", f"Input {number}: the {name} must be {needed}, found {found}."
        ) from None


def _encode(format: str, text: str) -> str | None:
    encoded = columns.gateway().Simulation.encode(format, text)
    return None if encoded is None else str(encoded)


_encoded = functools.lru_cache(maxsize=4_096)(_encode)


def partition_of(row: OperatorRow, partitions: int) -> int:
    """Return the partition of an output in a topic with this number of partitions."""
    if row["partition"] is not None:
        return int(row["partition"])
    return _partition(row["partition_key"] or row["key_bytes"], partitions)


def partition_by_key(line: Line, format: Format, partitions: int) -> int:
    """Return the partition to which a producer writes a record with the key of an input line."""
    return _partition(_line_bytes(line, "key", format, 0), partitions)


@functools.lru_cache(maxsize=4_096)
def _partition(key: str | None, partitions: int) -> int:
    raw = base64.b64decode(key) if key else None
    return int(columns.gateway().Partitioner.partition(raw, partitions))
