"""Checks JSON against a shape, and lists the fields of shapes.

Unknown fields are allowed: a later version may have written them.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired, Required, TypeAlias, TypeVar, Union, cast

Shape = TypeVar("Shape")
#: Raises ShapeError if the value at a path does not fit.
Check = Callable[[object, str], None]

#: Marks text that is a moment, such as ``2026-01-31T12:00:00Z``.
Iso8601 = object()
Moment: TypeAlias = Annotated[str, Iso8601]

_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class ShapeError(ValueError):
    """A value that does not fit; the message says where and what was expected."""

    def __init__(self, path: str, needed: str, found: object) -> None:
        text = repr(found)
        shown = text if len(text) <= 60 else f"{text[:59]}…"
        super().__init__(f"{path or 'the value'}: expected {needed}, found {shown}")


def read(shape: type[Shape], value: object) -> Shape:
    """Return a value that has a shape. Raises :class:`ShapeError` for the first fault."""
    check: Check = _check(cast(Any, shape))
    check(value, "")
    return cast(Shape, value)


@functools.cache
def _check(shape: Any) -> Check:
    """The check of a type, made once."""
    if typing.is_typeddict(shape):
        return _object(shape)
    origin, inner = typing.get_origin(shape), typing.get_args(shape)
    if origin in (Required, NotRequired, Annotated):
        return _check(inner[0])
    if origin is list:
        return _list(_check(inner[0]))
    if origin is dict:
        return _mapping(_check(inner[1]))
    if origin in (Union, types.UnionType):
        return _union(shape, inner)
    if origin is Literal:
        return _literal(inner)
    if shape in (Any, object):
        return lambda value, path: None
    return _simple(type(None) if shape is None else shape)


def _simple(kind: type) -> Check:
    fits = (int, float) if kind is float else kind

    def check(value: object, path: str) -> None:
        if not isinstance(value, fits) or (kind in (int, float) and isinstance(value, bool)):
            raise ShapeError(path, _NAMES.get(kind, "null"), value)

    return check


def _literal(values: tuple[object, ...]) -> Check:
    def check(value: object, path: str) -> None:
        if value not in values:
            raise ShapeError(path, " or ".join(map(repr, values)), value)

    return check


def _list(each: Check) -> Check:
    def check(value: object, path: str) -> None:
        if not isinstance(value, list):
            raise ShapeError(path, "a list", value)
        for index, element in enumerate(value):
            each(element, f"{path}[{index}]")

    return check


def _mapping(each: Check) -> Check:
    def check(value: object, path: str) -> None:
        if not isinstance(value, dict):
            raise ShapeError(path, "an object", value)
        for name, element in value.items():
            each(element, f"{path}.{name}")

    return check


def _object(shape: Any) -> Check:
    # Fields are resolved with the first value, as a shape may contain itself.
    @functools.cache
    def fields() -> list[tuple[str, Check, bool]]:
        return [(name, _check(hint), required) for name, hint, required in fields_of(shape)]

    def check(value: object, path: str) -> None:
        if not isinstance(value, dict):
            raise ShapeError(path, "an object", value)
        for name, each, required in fields():
            if name in value:
                each(value[name], f"{path}.{name}".lstrip("."))
            elif required:
                raise ShapeError(path, f"an object with {name}", value)

    return check


def fields_of(shape: Any) -> list[tuple[str, Any, bool]]:
    """The fields of a shape: name, type, and whether the field is required.

    The text of an ``Annotated`` type describes the field.
    """
    hints = typing.get_type_hints(shape, include_extras=True)
    return [(name, hint, _is_required(shape, name, hint)) for name, hint in hints.items()]


def _is_required(shape: Any, name: str, hint: object) -> bool:
    # Annotations are strings, so that the class itself does not know its markers.
    marker = typing.get_origin(hint)
    if marker in (Required, NotRequired):
        return marker is Required
    owner = next(each for each in _bases(shape) if name in vars(each)["__annotations__"])
    return bool(owner.__total__)


def _bases(shape: Any) -> list[Any]:
    """A shape and those that it extends, which are not among the bases of its class."""
    return [
        *(base for each in getattr(shape, "__orig_bases__", ()) for base in _bases(each)
          if typing.is_typeddict(each)),
        shape,
    ]  # fmt: skip


def _union(shape: Any, members: tuple[Any, ...]) -> Check:
    # An object is checked as the first member with its literals, so that faults have their place.
    checks = [_check(each) for each in members]
    objects = [each for each in members if typing.is_typeddict(each)]

    def check(value: object, path: str) -> None:
        fault: ShapeError | None = None
        for member, each in zip(members, checks, strict=True):
            try:
                each(value, path)
            except ShapeError as error:
                if fault is None or (member in objects and isinstance(value, dict)):
                    fault = error
            else:
                return
        if fault is not None:
            raise fault

    return check
