"""The Spark SQL type of what a Python function returns: by its annotation, or for samples."""

from __future__ import annotations

import decimal
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from millrace_compiler.types.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    STRING,
    DataType,
    array,
    struct,
)

from millrace_runtime.processor.values import Struct

_SIMPLE: dict[Any, DataType] = {
    int: BIGINT, float: DOUBLE, str: STRING, bool: BOOLEAN, bytes: BINARY,
    decimal.Decimal: DataType("DECIMAL", (38, 18)),
}  # fmt: skip
_TEXTS = ("a", "1", "a b", "a,b", '{"a": 1}', "2024-01-02T03:04:05", "https://a.example/b?c=d")


def annotated(function: Callable[..., Any], *, pairs: bool = False) -> DataType | None:
    """Return the type of a function's annotation; None without one that says it."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - an annotation can be any expression of the program
        return None
    return _of_hint(hints["return"], pairs=pairs) if "return" in hints else None


def _of_hint(hint: Any, *, pairs: bool) -> DataType | None:
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        some = [each for each in args if each is not type(None)]
        return _of_hint(some[0], pairs=pairs) if len(some) == 1 else None
    if typing.is_typeddict(hint):
        fields = {n: _of_hint(t, pairs=False) for n, t in typing.get_type_hints(hint).items()}
        known = {name: each for name, each in fields.items() if each is not None}
        return struct(**known) if known and len(known) == len(fields) else None
    made = [_of_hint(each, pairs=pairs) for each in args]
    found = [each for each in made if each is not None]
    if len(found) < len(made) or not found:
        return None
    if origin is list:
        return array(found[0])
    if origin is dict and len(found) == 2:
        return DataType("MAP", inner=(found[0], found[1]))
    if origin is tuple and pairs and len(found) == 2:
        return struct(key=found[0], value=found[1])
    return None


class Samples:
    """Values of the types of columns; what a function passes on keeps its type."""

    def __init__(self) -> None:
        self._types: dict[int, tuple[Any, DataType]] = {}

    def value(self, type_: DataType, number: int) -> Any:
        """Return a sample of a type. Samples of different numbers differ."""
        made = self._made(type_, number)
        if not isinstance(made, bool):
            self._types[id(made)] = (made, type_)
        return made

    def _made(self, type_: DataType, number: int) -> Any:
        match type_.name:
            case "STRING":
                return "".join(["", _TEXTS[number % len(_TEXTS)]])
            case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
                # Small integers are shared by Python, and these must be objects of their own.
                return int(f"{(100 if type_.name == 'TINYINT' else 1000) + number}")
            case "TIMESTAMP" | "TIMESTAMP_NTZ":
                return int(f"{1_704_164_645_000 + number}")
            case "FLOAT" | "DOUBLE":
                return float(f"{1.5 + number}")
            case "BOOLEAN":
                return number % 2 == 0
            case "BINARY":
                return bytes([97 + number])
            case "DECIMAL":
                return decimal.Decimal(1 + number)
            case "DATE":
                return f"2024-01-0{1 + number % 9}"
            case "ARRAY":
                return [self.value(type_.inner[0], number + i) for i in range(2)]
            case "MAP":
                return {self.value(type_.inner[0], number): self.value(type_.inner[1], number)}
            case "STRUCT":
                pairs = zip(type_.fields, type_.inner, strict=True)
                return Struct({name: self.value(each, number) for name, each in pairs})
        return None

    def type_of(self, value: Any, *, pairs: bool = False) -> DataType | None:
        """Return the type of a result; None if it has none, or contains only None."""
        known = self._types.get(id(value))
        if known is not None and known[0] is value and not (pairs and isinstance(value, list)):
            return known[1]
        if pairs and isinstance(value, tuple) and len(value) == 2:
            key, item = (self.type_of(each) for each in value)
            return None if key is None or item is None else struct(key=key, value=item)
        if type(value) in _SIMPLE:
            return _SIMPLE[type(value)]
        if isinstance(value, list | tuple):
            found = merged([self.type_of(each, pairs=pairs) for each in value])
            return None if found is None else array(found)
        if isinstance(value, Mapping) and value and all(isinstance(k, str) for k in value):
            fields = {k: self.type_of(each) for k, each in value.items()}
            known_fields = {k: each for k, each in fields.items() if each is not None}
            return struct(**known_fields) if len(known_fields) == len(fields) else None
        return None


def merged(found: Sequence[DataType | None]) -> DataType | None:
    """Return the one type of all; an int among floats is a float. None if they differ."""
    some = list(dict.fromkeys(each for each in found if each is not None))
    if len(some) == 1:
        return some[0]
    numbers = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE")
    if some and all(each.name in numbers for each in some):
        return DOUBLE if DOUBLE in some else BIGINT
    return None


def sampled(
    function: Callable[..., Any], columns: Sequence[DataType | None], *, pairs: bool = False
) -> DataType | None:
    """Return the type of what a function returns for samples; None if it is not clear."""
    if any(each is None for each in columns):
        return None
    found: list[DataType | None] = []
    for number in range(len(_TEXTS)):
        samples = Samples()
        try:
            result = function(*(samples.value(each, number) for each in columns if each))
        except Exception:  # noqa: BLE001, S112 - the function may refuse a sample
            continue
        found.append(samples.type_of(result, pairs=pairs))
    return merged(found)
