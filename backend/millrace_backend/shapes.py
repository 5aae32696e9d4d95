"""Serializers with the fields of a shape of `millrace_model`, so that these are written once.

    class StoreFiguresSerializer(ShapeSerializer):
        \"\"\"Size of a store.\"\"\"

        shape = StoreFigures

The text of an ``Annotated`` field is its description, ``X | None`` may be null, a ``Literal`` is a
choice, a field that is not required may be absent. A shape inside another one has the serializer
of its own, or one that is made from it. A field that the class declares replaces that of the shape.
A shape without differences has its serializer from `serializer_of`.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NotRequired, Required, TypeAlias, Union

from django.db.models import Choices
from millrace_model.reading import Iso8601, fields_of
from rest_framework import serializers

Field: TypeAlias = serializers.Field[Any, Any, Any, Any]

_SIMPLE: dict[Any, type[Field]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
}
_OWN: dict[Any, type[ShapeSerializer]] = {}


class ShapeSerializer(serializers.Serializer[Any]):
    """A serializer with the fields of a shape, which its subclasses name."""

    #: a TypedDict
    shape: ClassVar[Any]
    #: fields that are not required in the shape, but are always there, or never
    present: ClassVar[Collection[str]] = ()
    absent: ClassVar[Collection[str]] = ()
    #: fields that may be null in the shape, but never are
    filled: ClassVar[Collection[str]] = ()
    #: Django's choices, with their words, of fields that are text in the shape
    choices: ClassVar[Mapping[str, type[Choices]]] = {}

    def __init_subclass__(cls) -> None:
        """Add the fields of the shape to those that the class declares."""
        super().__init_subclass__()
        shape = vars(cls).get("shape")
        if shape is None:
            return
        _OWN.setdefault(shape, cls)
        own = cls._declared_fields
        found = {
            name: own.get(name)
            or _field(
                hint if name not in cls.filled else _filled(hint),
                cls.choices.get(name),
                _optional(required or name in cls.present),
            )
            for name, hint, required in fields_of(shape)
            if name not in cls.absent
        }
        cls._declared_fields = {**found, **own}


def serializer_of(
    shape: Any, name: str | None = None, about: str | None = None
) -> type[ShapeSerializer]:
    """The serializer of a shape: the one that there is, or a new one.

    `name`: in the API, if it is not the shape's. `about`: description of a shape without its own.
    """
    if shape not in _OWN:
        name = name or shape.__name__.removesuffix("Json")
        body = {"__doc__": about or shape.__doc__, "__module__": __name__, "shape": shape}
        metaclass: Any = type(ShapeSerializer)
        metaclass(f"{name}Serializer", (ShapeSerializer,), body)
    return _OWN[shape]


def _optional(required: bool) -> dict[str, Any]:
    return {} if required else {"required": False}


def _filled(hint: Any) -> Any:
    """The type without null."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Required, NotRequired):
        return _filled(inner[0])
    return Union[*(each for each in inner if each is not type(None))]


def _field(hint: Any, choices: type[Choices] | None, options: dict[str, Any]) -> Field:
    """The field of a type."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Required, NotRequired):
        return _field(inner[0], choices, options)
    if origin is Annotated:
        texts = [each for each in inner[1:] if isinstance(each, str)]
        options = {**options, "help_text": texts[0]} if texts else options
        if Iso8601 in inner[1:]:
            return serializers.DateTimeField(**options)
        return _field(inner[0], choices, options)
    if origin in (Union, types.UnionType):
        members = [each for each in inner if each is not type(None)]
        if len(members) > 1:
            return serializers.JSONField(**options)
        return _field(members[0], choices, {**options, "allow_null": True})
    if origin in (list, Sequence):
        if typing.is_typeddict(inner[0]):
            return serializer_of(inner[0])(many=True, **options)
        return serializers.ListField(child=_field(inner[0], choices, {}), **options)
    if origin is dict and inner[1] in (Any, object):
        return serializers.DictField(**options)
    if origin is dict:
        return serializers.DictField(child=_field(inner[1], choices, {}), **options)
    if typing.is_typeddict(hint):
        return serializer_of(hint)(**options)
    if choices is not None or origin is Literal:
        named = [(each, each) for each in inner] if choices is None else choices.choices
        return serializers.ChoiceField(choices=named, **options)
    if hint in (Any, object):
        return serializers.JSONField(**{"allow_null": True, **options})
    return _SIMPLE[hint](**options)
