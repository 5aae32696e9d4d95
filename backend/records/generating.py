"""Recipes of generated records, within limits of size."""

from __future__ import annotations

from collections.abc import Mapping

from accounts.models import User
from millrace_backend.errors import ApiError, TooMany, Unavailable
from millrace_compiler.documents.durations import parse_duration
from millrace_compiler.isolated import Exceeded, Limits
from millrace_compiler.types.generating import Recipe
from millrace_compiler.types.types import DataType
from millrace_model.recipes import RecipeSettings
from millrace_model.records import InputLine
from topologies import compiling

from records.types import type_of

#: maximum number of values (fields × records), and of bytes as JSON, of the records of a request
MOST_VALUES, MOST_BYTES = 200_000, 16_000_000
#: the same for the records that a generator writes in a second
MOST_VALUES_A_SECOND, MOST_BYTES_A_SECOND = 50_000, 5_000_000
LIMITS = Limits(seconds=5.0, output_megabytes=16)


def recipe_of(
    topic: str, settings: RecipeSettings, types: Mapping[str, DataType] | None = None
) -> Recipe:
    """Return a recipe with its types; by default those that the formats define themselves.

    Raises ApiError for a format that defines no type.
    """
    key, value = settings["key"], settings["value"]
    found = types or {"key": type_of(key, "key"), "value": type_of(value, "value")}
    own = settings.copy()
    if "window_size" in key:
        own["key"] = {**key, "window_size": parse_duration(key["window_size"])}
    return Recipe(topic=topic, **own, types=found)


def generated(person: User, recipe: Recipe, count: int, every: int) -> list[InputLine]:
    """Return input lines of a simulation, on average ``every`` ms apart.

    Raises ApiError if they are too many or too large, TooMany if no process is free.
    """
    _check(recipe, count, MOST_VALUES, MOST_BYTES, "records")
    try:
        return compiling.pool().generate(recipe, count, every, owner=str(person.pk), limits=LIMITS)
    except Exceeded as error:
        if error.limit in {"waiting", "busy"}:
            raise TooMany(
                "generation_busy",
                "Too many requests are waiting for generated records.",
                "Try again in a few seconds.",
            ) from error
        if error.limit == "process":
            raise Unavailable(
                "generation_failed",
                "The process that generates records ended.",
                "Try again in a few seconds.",
            ) from error
        raise ApiError(
            "generation_too_large",
            "Generating these records takes too much time or memory.",
            "Ask for fewer records, or remove fields from the schema.",
        ) from error


def check_rate(recipe: Recipe, rate: float) -> None:
    """Raise ApiError if a generator would write too much with this number of records a second."""
    _check(recipe, rate, MOST_VALUES_A_SECOND, MOST_BYTES_A_SECOND, "records a second")


def _check(recipe: Recipe, records: float, values: int, size: int, unit: str) -> None:
    weight = recipe.weight
    fitting = int(min(values / weight.values, size / weight.size))
    if records <= max(fitting, 1) and weight.values <= values and weight.size <= size:
        return
    raise ApiError(
        "generation_too_large",
        f"A record of this schema has up to {weight.values:,} values and {weight.size:,} bytes, "
        f"so {records:,g} {unit} are too much.",
        f"At most {fitting:,} {unit} of this schema are possible."
        if fitting
        else "Remove fields from the schema, or shorten the values of its rules.",
        values=weight.values,
        bytes=weight.size,
        most=fitting,
    )
