"""Recipes of generated records, and data types as JSON."""

from __future__ import annotations

from typing import Any, TypedDict

from millrace_model.documents import Format
from millrace_model.records import InputLine
from millrace_model.scenarios import Expected


class TypeLimits(TypedDict, total=False):
    """Restrictions of an Avro or Protobuf schema."""

    #: of an enum
    symbols: list[str]
    #: of a fixed type
    length: int | None
    #: exactly one field of the struct has a value
    union: bool


class TypeJson(TypedDict):
    """A data type: numbers in parentheses, inner types and, for a struct, field names."""

    name: str
    numbers: list[int]
    inner: list[TypeJson]
    fields: list[str]
    allows: TypeLimits


class FieldRule(TypedDict, total=False):
    """How a field is generated.

    ``values``: one of them; ``min`` and ``max``: a number between them; ``prefix``: text before a
    number; ``parts``: one text of each list, joined.
    """

    values: list[Any]
    min: float
    max: float
    prefix: str
    parts: list[list[str]]


class SourceFormats(TypedDict):
    """The formats of a source, and the field of the value that contains the timestamp."""

    key: Format
    value: Format
    time_field: str | None


class RecipeSettings(TypedDict, total=False):
    """Settings of a recipe (``millrace_compiler.types.generating.Recipe``)."""

    key: Format
    value: Format
    time_field: str | None
    keys: int
    skew: float
    late: float
    late_by: int
    nulls: float
    malformed: float
    seed: int
    fields: dict[str, FieldRule]


class KeptRecipe(RecipeSettings, total=False):
    """The recipe of a kept generator, with the types of ``key`` and ``value`` a schema had."""

    types: dict[str, TypeJson]


class TemplateGenerator(RecipeSettings):
    """A generator of a template, with the settings that its source lacks; ``rate``: a second."""

    topic: str
    rate: float


class TemplateTest(TypedDict):
    """A test of a template."""

    name: str
    inputs: list[InputLine]
    expected: Expected
