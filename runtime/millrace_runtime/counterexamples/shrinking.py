"""Reduction of an input to the fewest and simplest records that still show a difference."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, Literal, cast

from millrace_model.records import InputLine as Line

_PARTS: tuple[Literal["key", "value"], ...] = ("key", "value")
#: maximum number of records of which pairs are left out
_MOST_PAIRED = 10

#: Whether an input shows the difference.
Shows = Callable[[list[Line]], bool]


def shrink(lines: list[Line], shows: Shows, more: Callable[[], bool]) -> list[Line]:
    """Return a smaller input that `shows` is still true of, as long as there is `more` time.

    First whole stretches of records are left out, from halves down to single ones, and pairs of
    those that are left; then all records are made simpler together, by earlier times and shorter
    texts, and each by itself: an earlier time, null, fewer fields, smaller numbers, shorter texts.
    """
    smaller = True
    while smaller and more():
        lines, smaller = _without(lines, shows, more)
        lines, fewer = _without_pairs(lines, shows, more)
        smaller = smaller or fewer
        for tried in _together(lines):
            if more() and tried(lines) != lines and shows(tried(lines)):
                lines, smaller = tried(lines), True
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


def _without_pairs(
    lines: list[Line], shows: Shows, more: Callable[[], bool]
) -> tuple[list[Line], bool]:
    """Leave out the first pair of records that can be left out; also return whether one was."""
    if len(lines) > _MOST_PAIRED:
        return lines, False
    for one, other in itertools.combinations(range(len(lines)), 2):
        left = [line for index, line in enumerate(lines) if index not in (one, other)]
        if left and more() and shows(left):
            return left, True
    return lines, False


def _together(lines: list[Line]) -> Iterator[Callable[[list[Line]], list[Line]]]:
    """Yield changes of several records: all from one on are earlier; a text is another one."""
    for index in range(len(lines)):
        yield functools.partial(_earlier, index=index)
    for text in sorted({text for line in lines for text in _texts(line)}):
        for short in ("a", "b"):
            if short < text and len(short) <= len(text) and not _in_a_form(text):
                yield functools.partial(_renamed, text=text, short=short)


def _earlier(lines: list[Line], index: int) -> list[Line]:
    """Return lines that are as early as possible from one on, at the same distances."""
    times = [line.get("timestamp", 0) for line in lines]
    shift = min([*times[index:], times[index] - (times[index - 1] if index else 0)])
    moved: list[Line] = [
        cast(Line, {**line, "timestamp": time - shift}) if "topic" in line and shift > 0 else line
        for line, time in zip(lines[index:], times[index:], strict=True)
    ]
    return [*lines[:index], *moved]


def _renamed(lines: list[Line], text: str, short: str) -> list[Line]:
    """Return lines with another text in all keys and values, unless they have that one too."""

    def named(value: Any) -> Any:
        if isinstance(value, list):
            return [named(each) for each in value]
        if isinstance(value, dict):
            return {name: named(each) for name, each in value.items()}
        return short if value == text else value

    if any(short in _texts(line) for line in lines):
        return lines
    return [
        cast(Line, {name: named(each) if name in _PARTS else each for name, each in line.items()})
        for line in lines
    ]


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in the keys and values of a line."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in ("topic", "headers", "key_bytes", "value_bytes"):
                yield from _texts(each)


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
