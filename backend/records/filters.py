"""Filters for records by text and by the value of a field."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from millrace_backend.errors import ApiError

from records.choices import Compare
from records.codecs import Decoded

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_MISSING = object()


@dataclass(frozen=True)
class Filter:
    """A filter by a text in key or value, and by the value of a field.

    ``part`` is ``key`` or ``value``; ``steps`` are the names and indexes of the path below it.
    """

    contains: str = ""
    part: str = ""
    steps: tuple[str | int, ...] = ()
    equals: str = ""
    #: how the field is compared with ``equals``
    compare: str = Compare.EQUALS

    def __bool__(self) -> bool:
        return bool(self.contains or self.part)

    def accepts(self, key: Decoded, value: Decoded) -> bool:
        """Return whether the record passes the filter."""
        if self.contains and not any(
            each.text is not None and self.contains in each.text.casefold() for each in (key, value)
        ):
            return False
        if not self.part:
            return True
        found = _at((key if self.part == "key" else value).value, self.steps)
        if found is _MISSING:
            return False
        return _compared(found, self.compare, self.equals)


def read_filter(contains: str, field: str, equals: str, compare: str = Compare.EQUALS) -> Filter:
    """Return the filter of a request. Raises ApiError if ``field`` is not a path."""
    if not field:
        return Filter(contains.casefold())
    steps = path_steps(field)
    return Filter(contains.casefold(), str(steps[0]), steps[1:], equals, compare)


def path_steps(field: str) -> tuple[str | int, ...]:
    """Split a path into names and indexes, `key` or `value` first. Raises ApiError if it is
    invalid.
    """
    steps: list[str | int] = []
    at = 0
    while at < len(field):
        found = _STEP.match(field, at)
        if found is None:
            break
        steps.append(found[1] if found[2] is None else int(found[2]))
        at = found.end()
    if at < len(field) or not steps or steps[0] not in {"key", "value"}:
        raise ApiError(
            "invalid",
            f"“{field[:80]}” is not the path of a field.",
            "Start with key or value, for example value.customer.id or value.items[0].price.",
            fields={"field": ["Not a path."]},
        )
    return tuple(steps)


def _at(value: Any, steps: tuple[str | int, ...]) -> Any:
    for step in steps:
        if isinstance(value, dict) and str(step) in value:
            value = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return _MISSING
    return value


def _compared(found: Any, how: str, text: str) -> bool:
    """Compare a field with a text: numbers as numbers, strings as text."""
    same = text == found or _same(text, found)
    if how in {Compare.EQUALS, Compare.NOT_EQUALS}:
        return same == (how == Compare.EQUALS)
    if how == Compare.CONTAINS:
        within = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        return text.casefold() in within.casefold()
    other: Any = text
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return False
    if not isinstance(found, str):
        try:
            other = float(text)
        except ValueError:
            return False
    less, equal = bool(found < other), bool(found == other)
    return {
        Compare.LESS: less,
        Compare.AT_MOST: less or equal,
        Compare.GREATER: not less and not equal,
        Compare.AT_LEAST: not less,
    }[Compare(how)]


def _same(text: str, found: Any) -> bool:
    """Return whether a text is the JSON of this value: `12`, `true`, `null`, `{"a": 1}`."""
    try:
        wanted = json.loads(text)
    except (ValueError, RecursionError):
        return False
    # True equals 1 in Python, but not in JSON.
    return isinstance(wanted, bool) == isinstance(found, bool) and bool(wanted == found)
