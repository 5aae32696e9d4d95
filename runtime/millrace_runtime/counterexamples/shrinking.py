"""Reduction of an input to the fewest and simplest records that still show a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, cast

from millrace_model.records import InputLine as Line

#: Whether an input shows the difference.
Shows = Callable[[list[Line]], bool]


def shrink(lines: list[Line], shows: Shows, more: Callable[[], bool]) -> list[Line]:
    """Return a smaller input that `shows` is still true of, as long as there is `more` time.

    First whole stretches of records are left out, from halves down to single ones; then each
    record is made simpler: an earlier time, null, fewer fields, smaller numbers, shorter texts.
    """
    smaller = True
    while smaller and more():
        lines, smaller = _without(lines, shows, more)
        for index in range(len(lines)):
            for simpler in _simpler_until_none(lines, index, shows, more):
                lines, smaller = simpler, True
    return lines


def _without(lines: list[Line], shows: Shows, more: Callable[[], bool]) -> tuple[list[Line], bool]:
    """Leave out all that can be left out; also return whether something was."""
    found, size = False, max(1, len(lines) // 2)
    while size:
        begin = 0
        while begin < len(lines) and more():
            left = lines[:begin] + lines[begin + size :]
            if left and shows(left):
                lines, found = left, True
            else:
                begin += size
        size //= 2
    return lines, found


def _simpler_until_none(
    lines: list[Line], index: int, shows: Shows, more: Callable[[], bool]
) -> Iterator[list[Line]]:
    """Yield inputs with an ever simpler record at a place."""
    again = True
    while again:
        again = False
        for line in _simpler(lines, index):
            if not more():
                return
            tried = [*lines[:index], line, *lines[index + 1 :]]
            if shows(tried):
                lines, again = tried, True
                yield lines
                break


_PARTS: tuple[Literal["key", "value"], ...] = ("key", "value")


def _simpler(lines: list[Line], index: int) -> Iterator[Line]:
    line = lines[index]
    for name in ("headers", "partition"):
        if line.get(name):
            yield cast(Line, {key: value for key, value in line.items() if key != name})
    before = lines[index - 1].get("timestamp", 0) if index else 0
    now = line.get("timestamp", 0)
    for time in _smaller_numbers(now, before):
        yield cast(Line, {**line, "timestamp": time})
    for name in _PARTS:
        if line.get(name) is not None:
            for simpler in simpler_values(line[name]):
                yield cast(Line, {**line, name: simpler})


def simpler_values(value: Any) -> Iterator[Any]:
    """Yield simpler values than a JSON value, the simplest first; none has another type."""
    if isinstance(value, bool):
        if value:
            yield False
    elif isinstance(value, int | float):
        for number in _smaller_numbers(value, 0):
            yield type(value)(number)
    elif isinstance(value, str):
        if value not in ("", "a") and not _in_a_form(value):
            yield "a"
    elif isinstance(value, list):
        yield from _simpler_lists(value)
    elif isinstance(value, dict):
        yield from _simpler_objects(value)


def _simpler_lists(value: list[Any]) -> Iterator[list[Any]]:
    for index in range(len(value)):
        yield value[:index] + value[index + 1 :]
    for index, each in enumerate(value):
        for simpler in simpler_values(each):
            yield [*value[:index], simpler, *value[index + 1 :]]


def _simpler_objects(value: dict[str, object]) -> Iterator[dict[str, object]]:
    for name, each in value.items():
        if each is not None:
            yield {**value, name: None}
    for name, each in value.items():
        for simpler in simpler_values(each):
            yield {**value, name: simpler}


def _smaller_numbers(number: float, least: float) -> Iterator[float]:
    """Yield numbers nearer to `least`: itself, then at half the way, a quarter, an eighth, …"""
    if number == least:
        return
    yield least
    whole = isinstance(number, int) and isinstance(least, int)
    step = number - least
    while abs(step) > 1:
        step = int(step / 2) if whole else float(round(step / 2))
        yield number - step


def _in_a_form(text: str) -> bool:
    """Whether a text looks like a time, a number or base64, which another text would not be."""
    return text[:1].isdigit() or text[:1] == "-" or text.endswith("=")
