"""Validation of the input lines of a simulation."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, cast

from millrace_model.records import InputLine

from millrace_runtime.errors import MillraceError

KINDS_OF_LINE = ("topic", "advance_wall_clock", "restart")
_LONG = 1 << 63


def invalid_line(where: str, what: str) -> MillraceError:
    """Return the error for an invalid line."""
    return MillraceError("input_invalid", f"{where}: {what}.")


def checked_line(line: Any, where: str) -> InputLine:
    """Return the line if it is valid, else raise MillraceError `input_invalid` with the reason."""
    if not isinstance(line, dict) or not any(name in line for name in KINDS_OF_LINE):
        raise invalid_line(where, f"expected an object with one of {', '.join(KINDS_OF_LINE)}")
    try:
        json.dumps(line, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise invalid_line(where, "contains an unpaired surrogate") from None
    except ValueError:
        raise invalid_line(where, 'write "NaN" or "Infinity" as text') from None
    if "advance_wall_clock" in line:
        _whole(line, "advance_wall_clock", where, " (ms)")
        return cast(InputLine, line)
    if "topic" not in line:
        return cast(InputLine, line)
    if not isinstance(line["topic"], str) or not line["topic"]:
        raise invalid_line(where, f"topic must be a name, found {_shown(line['topic'])}")
    _whole(line, "timestamp", where, " (ms)")
    if line.get("partition") is not None:
        _whole(line, "partition", where, ", 0 or higher")
        if not 0 <= line["partition"] < 1 << 31:
            raise invalid_line(where, f"there is no partition {line['partition']}")
    if line.get("offset") is not None:
        _whole(line, "offset", where, ", 0 or higher")
        if line["offset"] < 0:
            raise invalid_line(where, f"there is no offset {line['offset']}")
    _headers(line.get("headers"), where)
    for name in ("key_bytes", "value_bytes"):
        given = line.get(name)
        if given is None:
            continue
        try:
            base64.b64decode(given, validate=True)
        except (TypeError, ValueError):
            raise invalid_line(where, f"{name} must be base64, found {_shown(given)}") from None
    return cast(InputLine, line)


def _whole(line: Mapping[str, object], name: str, where: str, unit: str) -> None:
    value = line.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not -_LONG <= value < _LONG:
        raise invalid_line(where, f"{name} must be a whole number{unit}, found {_shown(value)}")


def _headers(headers: Any, where: str) -> None:
    if headers is None:
        return
    if not isinstance(headers, dict):
        raise invalid_line(where, f"headers must be an object of strings, found {_shown(headers)}")
    for name, value in headers.items():
        if value is not None and not isinstance(value, str):
            raise invalid_line(where, f"the header {name} must be a string, found {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
