"""Breakpoints in a document's Python code: lines, and the variables there.

Uses the standard library only: a processor's process imports it.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType
from typing import Any

#: maximum number of names listed at a stop, and of characters of each value
MOST_NAMES = 40
LONGEST_VALUE = 200
#: maximum number of elements shown of a collection, and of nested collections
_MOST_ELEMENTS = 20
_DEEPEST = 4
#: size of an int in bits above which computing its digits takes too long
_LONGEST_NUMBER = 512
#: types whose repr is short and does not run a user's code
_PLAIN = frozenset(
    {
        ("builtins", "NoneType"), ("builtins", "bool"), ("builtins", "float"),
        ("builtins", "complex"), ("builtins", "range"), ("builtins", "ellipsis"),
        ("datetime", "datetime"), ("datetime", "date"), ("datetime", "time"),
        ("datetime", "timedelta"), ("datetime", "timezone"),
        ("decimal", "Decimal"), ("uuid", "UUID"),
    }
)  # fmt: skip

#: types whose objects are shown by their name
_NAMED = (type, FunctionType, BuiltinFunctionType)

Trace = Callable[[FrameType, str, Any], Any]


def statements(code: str) -> dict[int, int]:
    """Return the last line of each statement inside functions, by its first line; both from 1.

    A statement that contains others (`if`, `for`) ends before the first of them.
    """
    try:
        module = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[int, int] = {}
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for part in itertools.chain.from_iterable(map(ast.walk, function.body)):
            if isinstance(part, ast.stmt | ast.ExceptHandler) and _runs(part):
                found.setdefault(part.lineno, _last_line(part))
    return found


def _runs(part: ast.stmt | ast.ExceptHandler) -> bool:
    """Whether Python generates code for the statement."""
    if isinstance(part, ast.Expr):
        return not isinstance(part.value, ast.Constant)
    if isinstance(part, ast.AnnAssign):
        return part.value is not None
    return not isinstance(part, ast.Global | ast.Nonlocal)


def _last_line(part: ast.stmt | ast.ExceptHandler) -> int:
    if isinstance(part, ast.Match):
        return max(part.lineno, part.cases[0].pattern.lineno - 1)
    body: list[ast.stmt] = getattr(part, "body", [])
    if body:
        return max(part.lineno, body[0].lineno - 1)
    return part.end_lineno or part.lineno


def place(code: str, line: int) -> int | None:
    """Return the line at which a breakpoint at `line` stops: the statement there or the next one.

    None if no statement inside a function follows.
    """
    found = statements(code)
    within = [first for first, last in found.items() if first <= line <= last]
    return max(within, default=None) or min((f for f in found if f >= line), default=None)


class Breakpoints:
    """The breakpoints that a processor, handler or function of windows can reach.

    At each stop, `hit` is called with the variables. `lines`: first lines of statements in its own
    code. After `most` stops, breakpoints are ignored.
    """

    def __init__(
        self,
        file: str,
        code: str,
        lines: Collection[int],
        most: int,
        hit: Callable[[dict[str, object]], None],
    ) -> None:
        self._hit = hit
        self._left = most
        #: by file: the place that a stop names, and the last lines of statements by their first
        self._files: dict[str, tuple[str | None, dict[int, int]]] = {}
        self.add(file, code, lines)

    def add(self, file: str, code: str, lines: Collection[int], place: str | None = None) -> None:
        """Stop in one more file. `place`: the setting that has its code, else the node."""
        last = {first: last for first, last in statements(code).items() if first in lines}
        if last:
            self._files[file] = place, last

    def run(self, body: Callable[[], None]) -> None:
        """Run `body`, which may call the processor."""
        if self._left <= 0 or not self._files:
            body()
            return
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            body()
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, _event: str, _arg: Any) -> Trace | None:
        code = frame.f_code
        found = self._files.get(code.co_filename)
        if found is None or self._left <= 0 or not _is_function(code):
            return None
        return self._stepping(*found)

    def _stepping(self, place: str | None, lasts: dict[int, int]) -> Trace:
        before = 0

        def step(frame: FrameType, event: str, _arg: Any) -> Trace:
            nonlocal before
            if event == "line":
                line = frame.f_lineno
                last = lasts.get(line)
                # Python returns to the first line of a statement that spans several lines.
                if last is not None and not line < before <= last:
                    self._stop(frame, line, place)
                before = line
            return step

        return step

    def _stop(self, frame: FrameType, line: int, place: str | None) -> None:
        if self._left <= 0:
            return
        self._left -= 1
        names = list(itertools.islice(_names(frame), MOST_NAMES + 1))
        self._hit(
            {
                "line": line,
                **({} if place is None else {"code": place}),
                "function": frame.f_code.co_qualname,
                "locals": [{"name": name, "value": short(value)} for name, value in names][
                    :MOST_NAMES
                ],
                "more_locals": len(names) > MOST_NAMES,
            }
        )


def _is_function(code: CodeType) -> bool:
    """Whether this is the code of a named function, not of a class or a comprehension."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_name.startswith("<")


def _names(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Yield local variables, then the attributes of `self` instead of `self`."""
    attributes = _attributes(frame.f_locals.get("self"))
    for name, value in frame.f_locals.items():
        if name != "self" or attributes is None:
            yield name, value
    for name, value in attributes or ():
        yield f"self.{name}", value


def short(value: Any) -> str:
    """Return a value as Python would write it, cut to LONGEST_VALUE characters.

    Does not run code of the value's class: a `__repr__` might hang or have side effects.
    """
    parts: list[str] = []
    left = LONGEST_VALUE
    for part in _parts(value, 0):
        parts.append(part[:left])
        left -= len(part)
        if left < 0:
            return "".join(parts)[: LONGEST_VALUE - 1] + "…"
    return "".join(parts)


def _parts(value: Any, depth: int) -> Iterator[str]:
    kind = type(value)
    if kind is str or kind is bytes:
        yield repr(value[: LONGEST_VALUE + 1])
    elif kind is int:
        bits = value.bit_length()
        yield repr(value) if bits <= _LONGEST_NUMBER else f"<int of {bits} bits>"
    elif (kind.__module__, kind.__qualname__) in _PLAIN:
        yield repr(value)
    elif depth >= _DEEPEST:
        yield "…"
    elif issubclass(kind, dict):
        yield from _collection("{", "}", dict.__len__(value), _entries(value, depth))
    elif issubclass(kind, list):
        elements = _elements(list.__iter__(value), depth)
        yield from _collection("[", "]", list.__len__(value), elements)
    elif issubclass(kind, tuple):
        size = tuple.__len__(value)
        elements = _elements(tuple.__iter__(value), depth)
        yield from _collection("(", ",)" if size == 1 else ")", size, elements)
    elif (kind is set or kind is frozenset) and value:
        yield from _collection("{", "}", len(value), _elements(iter(value), depth))
    elif issubclass(kind, _NAMED):
        yield f"<{kind.__name__} {value.__qualname__}>"
    else:
        yield from _object(value, depth)


def _collection(
    begin: str, end: str, size: int, elements: Iterable[Iterable[str]]
) -> Iterator[str]:
    yield begin
    for number, element in enumerate(itertools.islice(elements, _MOST_ELEMENTS)):
        if number > 0:
            yield ", "
        yield from element
    if size > _MOST_ELEMENTS:
        yield f", … {size} in all"
    yield end


def _elements(values: Iterable[Any], depth: int) -> Iterator[Iterable[str]]:
    return (_parts(value, depth + 1) for value in values)


def _entries(value: dict[Any, Any], depth: int) -> Iterator[Iterable[str]]:
    for key, found in dict.items(value):
        yield itertools.chain(_parts(key, depth + 1), (": ",), _parts(found, depth + 1))


def _object(value: Any, depth: int) -> Iterator[str]:
    """Yield an object with its attributes; for objects of the runtime, only the class name."""
    kind = type(value)
    attributes = None if _hides(kind) else _attributes(value)
    if attributes is None:
        yield f"<{kind.__qualname__}>"
        return
    yield f"{kind.__qualname__}("
    for number, (name, found) in enumerate(itertools.islice(attributes, _MOST_ELEMENTS)):
        yield f"{', ' if number > 0 else ''}{name}="
        yield from _parts(found, depth + 1)
    yield ")"


def _hides(kind: type) -> bool:
    return kind.__module__.startswith("millrace_runtime.") and kind.__qualname__ != "Record"


def _attributes(value: Any) -> Iterable[tuple[str, Any]] | None:
    """Return the attributes of an object, or its slots; None if it has neither."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        found = None
    if type(found) is dict:
        own = (each for each in dict.items(found) if each[0] != "created_with")  # Processor's
        return list(itertools.islice(own, MOST_NAMES + 1))
    slots = inspect.getattr_static(type(value), "__slots__", ())
    if type(slots) is not tuple or not slots:
        return None
    pairs = []
    for name in slots[:MOST_NAMES]:
        member = inspect.getattr_static(type(value), name, None)
        if inspect.ismemberdescriptor(member):
            try:
                pairs.append((name, member.__get__(value)))
            except AttributeError:
                continue
    return pairs
