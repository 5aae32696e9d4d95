"""Serializers that have the fields of a shape."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from django.db import models
from millrace_backend.shapes import ShapeSerializer, serializer_of
from millrace_model.reading import Moment
from rest_framework import serializers


class Size(models.TextChoices):
    SMALL = "small", "Small"
    LARGE = "large", "Large"


class Wheel(TypedDict):
    """A wheel."""

    spokes: int


class CartJson(TypedDict):
    """A cart."""

    name: Annotated[str, "What people call it."]
    load: float | None
    wheels: list[Wheel]
    built: Moment
    size: str
    color: Literal["red", "blue"]
    by_place: NotRequired[dict[str, Wheel | None]]
    notes: NotRequired[list[str]]
    other: NotRequired[Any]
    label: NotRequired[str | None]


class CartSerializer(ShapeSerializer):
    """A cart, as the API shows it."""

    shape = CartJson
    present = ("notes",)
    absent = ("other",)
    filled = ("label",)
    choices = {"size": Size}

    load = serializers.IntegerField(min_value=1)


def test_each_field_of_a_shape_has_its_type_and_its_words() -> None:
    fields: Any = CartSerializer().fields
    assert list(fields) == [
        "name", "load", "wheels", "built", "size", "color", "by_place", "notes", "label",
    ]  # fmt: skip
    assert isinstance(fields["name"], serializers.CharField)
    assert fields["name"].help_text == "What people call it."
    assert isinstance(fields["built"], serializers.DateTimeField)
    assert [fields[each].required for each in ("by_place", "notes")] == [False, True]
    assert dict(fields["size"].choices) == dict(Size.choices)
    assert list(fields["color"].choices) == ["red", "blue"]
    assert (fields["label"].allow_null, fields["label"].required) == (False, False)
    inner: Any = fields["by_place"]
    assert inner.child.allow_null
    assert isinstance(inner.child.fields["spokes"], serializers.IntegerField)


def test_a_field_of_the_class_replaces_that_of_the_shape() -> None:
    field = CartSerializer().fields["load"]
    assert isinstance(field, serializers.IntegerField)
    assert field.min_value == 1


def test_a_shape_inside_another_one_has_one_serializer_with_its_name() -> None:
    wheels: Any = CartSerializer().fields["wheels"]
    assert type(wheels.child) is serializer_of(Wheel)
    assert serializer_of(Wheel).__name__ == "WheelSerializer"
    assert serializer_of(Wheel).__doc__ == "A wheel."
    assert serializer_of(CartJson) is CartSerializer


def test_a_value_of_a_shape_is_written_as_it_is() -> None:
    cart = {"name": "a", "load": 2, "wheels": [{"spokes": 8}], "built": "2026-01-31T12:00:00Z",
            "size": "small", "color": "red", "notes": []}  # fmt: skip
    assert CartSerializer(cart).data == cart
