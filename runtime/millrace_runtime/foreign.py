"""What an exception of Spark, Kafka or Hadoop consists of: itself and its causes, as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

_MOST_CAUSES = 12
# How the JVM prints a throwable, at the start of a line or behind what another one says.
_THROWABLE = re.compile(
    r"(?:^|(?<=[\s:(]))((?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error))(?:: (.*))?$"
)
# How Spark shows the condition of an error, before the error's message.
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")


@dataclass(frozen=True)
class Cause:
    """What is known of an exception; a text is empty where it is not.

    `class_name` has the package if that is known, `condition` is Spark's error condition.
    """

    class_name: str
    condition: str
    message: str

    def is_a(self, *patterns: str) -> bool:
        """Whether its class has one of these names; outer packages may be missing."""
        name = f".{self.class_name}"
        return any(fnmatchcase(name, f"*.{pattern}") for pattern in patterns)


def causes(error: BaseException) -> list[Cause]:
    """An exception and its causes.

    They are asked for their class and condition where that is possible. Of a Spark task that failed
    and of a query that ended, only what the JVM printed may be left. It is read without the stack
    frames.
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
        condition = ""
        with suppress(Exception):  # errors of PySpark have one
            condition = str(error.getCondition() or "")  # type: ignore[attr-defined]
        yield Cause(type(error).__name__, condition, "")
        # PySpark has read the causes of a query's exception already.
        texts = [str(error), *(str(getattr(error, n, "")) for n in ("_desc", "_stackTrace"))]
        yield from _printed("\n".join(dict.fromkeys(texts)))
        error = getattr(error, "_cause", None)


def _of_java(java: Any) -> Iterator[Cause]:
    for _ in range(_MOST_CAUSES):
        if java is None:
            return
        condition = ""
        with suppress(Exception):  # exceptions of Spark have one
            condition = str(java.getCondition() or "")
        yield Cause(str(java.getClass().getName()), condition, str(java.getMessage() or ""))
        java = java.getCause()


def _printed(text: str) -> Iterator[Cause]:
    """The exceptions in a text that the JVM or Spark printed, and its lines."""
    for line in text.splitlines():
        if line.startswith("\tat "):
            continue
        yield Cause("", "", line)
        for found in _CONDITION.finditer(line):
            yield Cause("", found[1], "")
        rest: str | None = line
        while rest and (printed := _THROWABLE.search(rest)):
            rest = printed[2]
            yield Cause(printed[1], "", rest or "")
