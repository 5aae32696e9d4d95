"""The Spark SQL type of what a Python function returns: by its annotation, or for samples."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, Literal, Union

from millrace_compiler.types.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    STRING,
    TIMESTAMP,
    DataType,
    array,
    struct,
)

from millrace_runtime.processor.values import Struct, fields_of, key_of_map

_SIMPLE: dict[Any, DataType] = {
    int: BIGINT, float: DOUBLE, str: STRING, bool: BOOLEAN, bytes: BINARY,
    decimal.Decimal: DataType("DECIMAL", (38, 18)), dt.date: DataType("DATE"),
    dt.datetime: TIMESTAMP,
}  # fmt: skip
_MOST_TEXTS = 20
_TEXTS = ("a", "1", "a b", "a,b", '{"a": 1}', "2024-01-02T03:04:05", "https://a.example/b?c=d")


def annotated(function: Callable[..., Any], *, pairs: bool = False) -> DataType | None:
    """Return the type of a function's annotation; None without one that says it."""
    given = inspect.unwrap(function)
    if not isinstance(given, FunctionType) or "return" not in given.__annotations__:
        return None
    # Alone: those of parameters may name what only type checkers import.
    alone = FunctionType((lambda: None).__code__, given.__globals__)
    alone.__annotations__ = {"return": given.__annotations__["return"]}
    try:
        return type_of_hint(typing.get_type_hints(alone)["return"], pairs=pairs)
    except Exception:  # noqa: BLE001 - an annotation can be any expression of the program
        return None


def type_of_hint(hint: Any, *, pairs: bool = False) -> DataType | None:
    """Return the type of an annotation, such as `list[str]` or a dataclass; None if it has none."""
    hint = getattr(hint, "__supertype__", hint)  # of a NewType
    if isinstance(hint, type) and _simple(hint) is not None:
        return _simple(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return merged([_SIMPLE.get(type(each)) for each in args])
    if origin in (Union, types.UnionType):
        some = [each for each in args if each is not type(None)]
        return type_of_hint(some[0], pairs=pairs) if len(some) == 1 else None
    if typing.is_typeddict(hint) or _is_record(hint):
        fields = {n: type_of_hint(t) for n, t in typing.get_type_hints(hint).items()}
        known = {name: each for name, each in fields.items() if each is not None}
        return struct(**known) if known and len(known) == len(fields) else None
    made = [type_of_hint(each, pairs=pairs) for each in args]
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


def _simple(kind: type[Any]) -> DataType | None:
    """Return the type of a class such as int, or of one that extends it, such as a text's enum."""
    return next((_SIMPLE[each] for each in kind.__mro__ if each in _SIMPLE), None)


def _is_record(hint: Any) -> bool:
    """Whether a class is a dataclass or a NamedTuple."""
    return isinstance(hint, type) and (
        dataclasses.is_dataclass(hint) or (issubclass(hint, tuple) and hasattr(hint, "_fields"))
    )


class Samples:
    """Values of the types of columns; what a function passes on keeps its type.

    `texts`: texts that the function knows, such as the keys of a dict; numbers are then small.
    """

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._texts = texts
        self._types: dict[int, tuple[Any, DataType]] = {}

    def value(self, type_: DataType, number: int) -> Any:
        """Return a sample of a type. Samples of different numbers differ."""
        made = self._made(type_, number)
        if type(made) is int and made < 1_000 and type_.name != "TINYINT":
            return made  # small integers are shared by Python, so their type is not kept
        if not isinstance(made, bool):
            self._types[id(made)] = (made, type_)
        return made

    def _made(self, type_: DataType, number: int) -> Any:
        match type_.name:
            case "STRING":
                texts = self._texts or _TEXTS
                return "".join(["", texts[number % len(texts)]])
            case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
                if self._texts:
                    return number
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
            case "MAP" if self._texts and type_.inner[0] == STRING:
                return {each: self.value(type_.inner[1], number) for each in self._texts}
            case "MAP":
                key = key_of_map(lambda given: self.value(given, number))(type_.inner[0])
                return {key: self.value(type_.inner[1], number)}
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
        simple = _simple(type(value))
        if simple is not None:
            return simple
        if _is_record(type(value)):
            value = fields_of(value, "it")
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


@dataclasses.dataclass(frozen=True)
class Sampled:
    """The type of what a function returns for samples, or the reason why it is not clear."""

    type: DataType | None
    reason: str = ""
    #: whether it returned nothing but None
    nothing: bool = False


def sampled(
    function: Callable[..., Any], columns: Sequence[DataType | None], *, pairs: bool = False
) -> Sampled:
    """Return the type of what a function returns for samples of its inputs.

    If they do not suit it, it gets the texts that it knows, and small numbers.
    """
    known = [each for each in columns if each is not None]
    if len(known) < len(columns):
        return Sampled(None, "the types of its inputs are not known here")
    found = _attempts(function, known, (), pairs=pairs)
    if not found.nothing:
        return found
    texts = tuple(dict.fromkeys(_texts_of(function)))[:_MOST_TEXTS]
    again = _attempts(function, known, texts or _TEXTS, pairs=pairs)
    return again if again.type is not None else found


def _attempts(
    function: Callable[..., Any], columns: Sequence[DataType], texts: Sequence[str], *, pairs: bool
) -> Sampled:
    found: dict[DataType | None, str] = {}
    raised = ""
    for number in range(len(texts or _TEXTS)):
        samples = Samples(texts)
        try:
            result = function(*(samples.value(each, number) for each in columns))
        except Exception as error:  # noqa: BLE001 - the function may refuse a sample
            raised = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            continue
        if result is not None:
            found.setdefault(samples.type_of(result, pairs=pairs), type(result).__name__)
    if not found:
        told = f"raises {raised}"[:200] if raised else "returns None"
        return Sampled(None, f"it {told} for samples of its inputs", nothing=True)
    types = [each for each in found if each is not None]
    made = merged(types)
    if made is not None:
        return Sampled(made)
    if not types:
        return Sampled(None, f"it returns a {found[None]} that is not one type of Spark SQL")
    if all(each.name == "STRUCT" for each in types):
        return Sampled(None, "its dicts have different keys; a map is dict[str, int]")
    return Sampled(None, f"it returns {' and '.join(each.text for each in types[:2])}"[:300])


def _texts_of(function: Any) -> Iterator[str]:
    """The texts in a function, and in constants, enums and functions of its file that it uses."""
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting and len(seen) < _MOST_TEXTS * 10:
        found = waiting.pop(0)
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, str):
            yield found
        elif isinstance(found, Mapping | list | tuple | set | frozenset):
            waiting += list(found)[:_MOST_TEXTS]
        elif isinstance(found, type) and issubclass(found, enum.Enum):
            waiting += [each.value for each in found][:_MOST_TEXTS]
        elif isinstance(found, FunctionType):
            used = [found.__globals__.get(name) for name in _names_of(found.__code__)]
            cells = [cell.cell_contents for cell in found.__closure__ or () if _is_filled(cell)]
            waiting += [*_constants(found.__code__), *used, *cells]


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names_of(each)


def _constants(code: CodeType) -> Iterator[Any]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _constants(each)
        else:
            yield each


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty one raises
    except ValueError:
        return False
    return True
