"""Conversion of values between the operator's JSON and Python, checked by their Spark types.

A struct is a dict (`Struct`), an array a list, a map a dict, TIMESTAMP an int (ms), DATE its ISO
text, DECIMAL a Decimal, BINARY bytes. As keys of a map, structs are frozen and arrays are tuples.
Where a struct is needed, a dataclass or a NamedTuple is one.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import math
from collections.abc import Callable
from typing import Any, NoReturn, Self

Convert = Callable[[Any], Any]


class Struct(dict[str, object]):
    """A struct: a dict whose fields are attributes as well, so `value.name` is `value["name"]`.

    A field with the name of a method of dict, such as `items`, is read as `value["items"]` only.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            fields = ", ".join(self) or "none"
            raise AttributeError(f"no field {name!r}; the struct's fields: {fields}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    # Of a subclass, these methods of dict return a dict.
    def copy(self) -> Self:
        """Return a struct with the same fields."""
        return type(self)(self)

    def __or__(self, other: Any) -> Any:
        return type(self)({**self, **other}) if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return type(self)({**other, **self}) if isinstance(other, dict) else NotImplemented


class FrozenStruct(Struct):
    """A struct that cannot be changed and can be a key of a dict, or in a set.

    Structs that are keys of a map are frozen. `value.counts[FrozenStruct(key)]` finds one.
    """

    __slots__ = ()

    def __init__(self, *given: Any, **fields: object) -> None:
        super().__init__({name: _frozen(each) for name, each in dict(*given, **fields).items()})

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none, since it can change
        return hash(tuple(sorted((name, hash(each)) for name, each in self.items())))

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a FrozenStruct cannot be changed; Struct(it) is a copy that can")

    __setitem__ = __delitem__ = __setattr__ = __ior__ = _refuse  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]


def _frozen(value: Any) -> Any:
    """Return a value that can be a key of a dict."""
    if isinstance(value, dict):
        return value if isinstance(value, FrozenStruct) else FrozenStruct(value)
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def key_of_map(convert: Convert) -> Convert:
    """Return a converter whose results can be keys of a dict."""
    return convert if convert is _same else lambda value: _frozen(convert(value))


def _same(value: Any) -> Any:
    return value


def decoder(kind: Any) -> Convert:
    """Return the converter from JSON to Python for a Spark type in JSON form; null becomes None."""
    if isinstance(kind, str):
        if kind in ("float", "double"):
            return _float
        if kind == "binary":
            return _optional(base64.b64decode)
        if kind.startswith("decimal"):
            return _optional(decimal.Decimal)
        return _same
    if kind["type"] == "array":
        element = decoder(kind["elementType"])
        if element is _same:
            return _same
        return _optional(lambda items: [element(item) for item in items])
    if kind["type"] == "map":
        key, value = key_of_map(decoder(kind["keyType"])), decoder(kind["valueType"])
        return _optional(lambda pairs: {key(k): value(v) for k, v in pairs})
    fields = {field["name"]: decoder(field["type"]) for field in kind["fields"]}
    if all(convert is _same for convert in fields.values()):
        return _optional(Struct)
    return _optional(
        lambda row: Struct({name: convert(row[name]) for name, convert in fields.items()})
    )


def _optional(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _float(value: Any) -> Any:
    return None if value is None else float(value)


_INTEGERS = {"byte": 8, "short": 16, "integer": 32, "long": 64}


def encoder(kind: Any, what: str) -> Convert:
    """Return the converter from Python to JSON for a Spark type; its TypeErrors name `what`."""
    if isinstance(kind, str):
        if kind in _INTEGERS:
            return _integer(kind, what)
        made = {
            "string": _text, "boolean": _boolean, "float": _number, "double": _number,
            "binary": _binary, "date": _date, "timestamp": _timestamp,
            "timestamp_ntz": _timestamp, "void": _nothing,
        }.get("decimal" if kind.startswith("decimal") else kind, _decimal)  # fmt: skip
        return made(kind, what)
    if kind["type"] == "array":
        return _list(encoder(kind["elementType"], f"an element of {what}"), what)
    if kind["type"] == "map":
        key = encoder(kind["keyType"], f"a key of {what}")
        return _map(key, encoder(kind["valueType"], f"a value of {what}"), what)
    fields = {
        field["name"]: encoder(field["type"], f"{what}.{field['name']}") for field in kind["fields"]
    }
    return _struct(fields, what)


def misfit(value: Any, what: str, needs: str) -> TypeError:
    """Return the error for a value of the wrong type: `what` must be `needs`, not its type."""
    return TypeError(f"{what} must be {needs}, not {type(value).__name__} {value!r}"[:300])


def _integer(kind: str, what: str) -> Convert:
    limit = 1 << (_INTEGERS[kind] - 1)

    def convert(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is not int and (not isinstance(value, int) or isinstance(value, bool)):
            raise misfit(value, what, "an int")
        if not -limit <= value < limit:
            raise OverflowError(f"{what} must fit in {_INTEGERS[kind]} bits, but {value} does not")
        return value

    return convert


def _text(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        raise misfit(value, what, "a str")

    return convert


def _boolean(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        raise misfit(value, what, "a bool")

    return convert


def _number(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is float:
            if math.isfinite(value):
                return value
        elif not isinstance(value, int | float) or isinstance(value, bool):
            raise misfit(value, what, "a float")
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return value

    return convert


def _binary(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, bytes | bytearray):
            raise misfit(value, what, "bytes")
        return base64.b64encode(value).decode()

    return convert


def _decimal(kind: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, int | decimal.Decimal) or isinstance(value, bool):
            raise misfit(value, what, f"a Decimal ({kind})")
        return str(value)

    return convert


def _date(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dt.date):
            return value.isoformat()[:10]
        if isinstance(value, str):
            return dt.date.fromisoformat(value).isoformat()
        raise misfit(value, what, "a date or its ISO text")

    return convert


def _timestamp(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dt.datetime):
            at = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
            return round(at.timestamp() * 1000)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise misfit(value, what, "an int (ms) or a datetime")

    return convert


def _nothing(_: str, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        raise misfit(value, what, "None")

    return convert


def _list(element: Convert, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise misfit(value, what, "a list")
        return [element(item) for item in value]

    return convert


def _map(key: Convert, item: Convert, what: str) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise misfit(value, what, "a dict")
        if None in value:
            raise misfit(None, f"a key of {what}", "no None")
        return [[key(k), item(v)] for k, v in value.items()]

    return convert


def _struct(fields: dict[str, Convert], what: str) -> Convert:
    names, pairs = fields.keys(), tuple(fields.items())

    def convert(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dict) and value.keys() == names:
            return {name: field(value[name]) for name, field in pairs}
        if not isinstance(value, dict):
            value = fields_of(value, what)
        unknown = [name for name in value if name not in fields]
        if unknown:
            known = ", ".join(fields)
            raise TypeError(f"{what} has no field {unknown[0]!r}; its fields are {known}")
        return {name: field(value.get(name)) for name, field in fields.items()}

    return convert


def fields_of(value: Any, what: str) -> dict[str, object]:
    """Return the fields of a dataclass or a NamedTuple. Raises TypeError for other values."""
    if hasattr(type(value), "__dataclass_fields__"):
        return {name: getattr(value, name) for name in type(value).__dataclass_fields__}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    raise misfit(value, what, "a dict")
