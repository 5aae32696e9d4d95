"""Exceptions of Spark, Kafka and Hadoop with their causes, as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

_MOST_CAUSES = 12
# How the JVM prints a throwable: at the start of a line, or within the message of another one.
_THROWABLE = re.compile(
    r"(?:^|(?<=[\s:(]))((?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error))(?:: (.*))?$"
)
# Spark prints the condition of an error before the message, and the SQLSTATE at the end.
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")
_STATE = re.compile(r"SQLSTATE: ([0-9A-Z]{5})")


@dataclass(frozen=True)
class Cause:
    """The known facts about an exception; unknown ones are empty.

    `class_name` includes the package if it is known; `condition` is Spark's error condition,
    `state` its SQLSTATE.
    """

    class_name: str
    condition: str
    message: str
    state: str = ""

    def is_a(self, *patterns: str) -> bool:
        """Whether its class has one of these names; outer packages may be missing."""
        name = f".{self.class_name}"
        return any(fnmatchcase(name, f"*.{pattern}") for pattern in patterns)


def causes(error: BaseException) -> list[Cause]:
    """Return an exception and its causes.

    Class, condition and SQLSTATE come from the exceptions themselves if these are available. For a
    failed Spark task or query, only the text that the JVM printed may be left; it is read without
    the stack frames.
    """
    found = list(_of_python(error))
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    with suppress(Exception):  # the JVM may have ended
        found += _of_java(java)
    return found


def is_caused_by(error: BaseException, *classes: str) -> bool:
    """Whether an exception, or one of its causes, is of one of these Java classes."""
    return any(cause.is_a(*classes) for cause in causes(error))


def _of_python(error: BaseException | None) -> Iterator[Cause]:
    for _ in range(_MOST_CAUSES):
        if error is None:
            return
        condition, state = _condition_and_state(error)
        yield Cause(type(error).__name__, condition, "", state)
        # PySpark keeps the causes of a query's exception as text.
        texts = [str(error), *(str(getattr(error, n, "")) for n in ("_desc", "_stackTrace"))]
        yield from _printed("\n".join(dict.fromkeys(texts)))
        error = getattr(error, "_cause", None)


def _of_java(java: Any) -> Iterator[Cause]:
    for _ in range(_MOST_CAUSES):
        if java is None:
            return
        condition, state = _condition_and_state(java)
        name, message = str(java.getClass().getName()), str(java.getMessage() or "")
        yield Cause(name, condition, message, state)
        java = java.getCause()


def _condition_and_state(error: Any) -> tuple[str, str]:
    """Return condition and SQLSTATE of an exception of PySpark or Spark; empty for others."""
    condition = state = ""
    with suppress(Exception):
        condition = str(error.getCondition() or "")
        state = str(error.getSqlState() or "")
    return condition, state


def _printed(text: str) -> Iterator[Cause]:
    """Yield the lines of a text that the JVM or Spark printed, and the exceptions in them."""
    for line in text.splitlines():
        if line.startswith("\tat "):
            continue
        yield Cause("", "", line)
        for found in _CONDITION.finditer(line):
            yield Cause("", found[1], "")
        for found in _STATE.finditer(line):
            yield Cause("", "", "", found[1])
        rest: str | None = line
        while rest and (printed := _THROWABLE.search(rest)):
            rest = printed[2]
            yield Cause(printed[1], "", rest or "")
