"""Refuses unknown keyword arguments of the functions of a program, with the nearest name."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Checked:
    """Base of classes whose public methods raise TypeError for unknown keyword arguments.

    Python does so itself, except for methods with `**about: Unpack[About]`; but it does not
    suggest a name.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, value in list(vars(cls).items()):
            if isinstance(value, FunctionType) and (name == "__init__" or name[0] != "_"):
                setattr(cls, name, checked(value, cls.__name__ if name == "__init__" else name))

    if not TYPE_CHECKING:  # A type checker reports such a method by itself.

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(_no_method(self, name))


def checked(function: Callable[P, R], name: str | None = None) -> Callable[P, R]:
    """Return the function; it raises TypeError for unknown keyword arguments.

    `name`: its name in the message, if it is not its own.
    """
    shown = str(name or getattr(function, "__name__", ""))

    @functools.wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        refuse_unknown(function, keywords, shown)
        return function(*args, **keywords)

    return call


def refuse_unknown(
    function: Callable[..., Any], keywords: Mapping[str, object], shown: str
) -> None:
    """Raise TypeError if one of the keyword arguments is none of the function's."""
    if not keywords:
        return
    known = _known(function)
    unknown = next((each for each in keywords if known is not None and each not in known), None)
    if unknown is not None and known is not None:
        raise TypeError(_message(shown, unknown, known))


@functools.cache
def _known(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """Return the names of a function's arguments, with those of a `**name: Unpack[TypedDict]`.

    None: it passes any on to another function, which refuses them.
    """
    names: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            typed = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
            if typed == "Any":
                return None
            names += inspect.unwrap(function).__globals__[typed].__annotations__
        elif parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            names.append(parameter.name)
    return tuple(each for each in names if each != "self")


#: methods of Kafka Streams, also of earlier releases, that have another name here
_OTHER_NAMES = {
    "add_state_store": "add_store", "branch": "split", "emit_strategy": "windowed_by",
    "flat_transform": "process", "flat_transform_values": "process_values",
    "through": "repartition", "transform": "process", "transform_values": "process_values",
}  # fmt: skip


def _no_method(given: object, name: str) -> str:
    """Return the message for a method that is not there, with its name in Python."""
    if name.startswith("_"):
        return f"{type(given).__name__!r} object has no attribute {name!r}"
    from millrace_compiler.diagnostics.guesses import guess

    known = tuple(each for each in dir(type(given)) if each[0] != "_")
    python = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    other = _OTHER_NAMES.get(python, python)
    hint = f"Its name here is {other}." if other in known else guess(name, known).strip()
    if python in ("aggregate", "cogroup", "count", "reduce", "windowed_by") and other not in known:
        hint = f"Group the records first: group_by_key().{python}(...)."
    return f"{type(given).__name__} has no method {name!r}. {hint}".strip()


def _message(function: str, unknown: str, known: tuple[str, ...]) -> str:
    # Imported here: the process of a processor must not load the compiler.
    from millrace_compiler.diagnostics.guesses import guess

    listed = f"Its arguments are: {', '.join(known)}." if known else "It takes none."
    return f"{function}() has no argument {unknown!r}. {guess(unknown, known)}{listed}"
