"""Random records by a schema, for simulations and for topics.

Record *n* of a recipe depends on the seed and on *n* alone: the same recipe gives the same records,
and a generator that was interrupted goes on where it was.
"""

from __future__ import annotations

import base64
import bisect
import itertools
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from millrace_compiler.types import DataType

from records.types import by_schema, type_of

#: keys that records are spread over by the exponent of Zipf's law; more are drawn evenly
MOST_SKEWED_KEYS = 100_000
#: bytes of a fixed of Avro; a longer one is left too short
MOST_FIXED = 10_000
_WORDS = (
    *("apple", "bread", "coffee", "dates", "eggs"),
    *("flour", "grapes", "honey", "ice", "juice"),
)
_TIME_FIELD = re.compile(r"(^|_)(at|ts|time|timestamp|date)$", re.IGNORECASE)
_VALUE_FIELD = re.compile(r"value\.(\w+)")
#: a key of a map by its type, as JSON has it
_MAP_KEYS = {
    "STRING": "a", "BOOLEAN": "true",
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL"), "1"),
}  # fmt: skip
_FRACTIONS = {"DOUBLE", "FLOAT", "DECIMAL"}
#: bytes that no format reads but text and bytes: the begin of an object, and no UTF-8
_MALFORMED = b'{"malformed": \xff'


@dataclass(frozen=True)
class Made:
    """A generated record; ``time`` in milliseconds. Of a malformed one, ``raw`` is the value."""

    key: Any
    value: Any
    time: int
    raw: bytes | None = None


@dataclass(frozen=True)
class Recipe:
    """What records look like. Shares are percentages, durations milliseconds.

    ``fields``: how a field is made, by its path (``key``, ``value.item``): ``values`` (one of
    them), ``min`` and ``max``, ``prefix`` (before a number), ``parts`` (a text of one of each).
    """

    topic: str
    key: Mapping[str, Any]
    value: Mapping[str, Any]
    #: a field of the value that holds the record's time
    time_field: str | None = None
    keys: int = 10
    #: exponent of Zipf's law: 0, all keys alike; 1, the first key twice as often as the second
    skew: float = 0
    late: float = 0
    late_by: int = 0
    nulls: float = 0
    malformed: float = 0
    seed: int = 1
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: by `key` and `value`, from `types_of`; without them, those that the formats themselves state
    types: Mapping[str, DataType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.types:
            types = {part: type_of(getattr(self, part), part) for part in ("key", "value")}
            object.__setattr__(self, "types", types)

    @cached_property
    def _shares(self) -> list[float]:
        """The keys' shares, added up."""
        count = min(self.keys, MOST_SKEWED_KEYS)
        return list(itertools.accumulate(1 / (n + 1) ** self.skew for n in range(count)))

    def made(self, number: int, now: int) -> Made:
        """Record ``number`` of the recipe, made at the time ``now``."""
        draw = random.Random(f"{self.seed}/{self.topic}/{number}")  # noqa: S311  (no secrets)
        key = self._key(draw)
        late = draw.random() * 100 < self.late
        time = max(0, now - draw.randint(0, self.late_by)) if late else now
        malformed = draw.random() * 100 < self.malformed
        missing = draw.random() * 100 < self.nulls
        name = self._made(self.types["key"], "key", draw, key, time)
        if malformed:
            return Made(name, None, time, _MALFORMED)
        value = None if missing else self._made(self.types["value"], "value", draw, key, time)
        if self.time_field and isinstance(value, dict) and self.time_field in value:
            value[self.time_field] = time
        return Made(name, value, time)

    def line(self, number: int, now: int) -> dict[str, Any]:
        """The record as a simulation takes it."""
        made = self.made(number, now)
        found: dict[str, Any] = {"topic": self.topic, "key": made.key, "value": made.value}
        if made.raw is not None:
            del found["value"]
            found["value_bytes"] = base64.b64encode(made.raw).decode()
        return {**found, "timestamp": made.time}

    @cached_property
    def by_schema(self) -> bool:
        """Whether the simulator encodes its records (`records.encoding`)."""
        return by_schema(self.key) or by_schema(self.value)

    def _key(self, draw: random.Random) -> int:
        if self.skew <= 0 or self.keys > MOST_SKEWED_KEYS:
            return draw.randrange(self.keys)
        return min(
            bisect.bisect_left(self._shares, draw.random() * self._shares[-1]), self.keys - 1
        )

    def _made(self, type_: DataType, path: str, draw: random.Random, key: int, time: int) -> Any:
        rule = self.fields.get(path)
        if rule:
            return _ruled(rule, type_, draw, key)
        if type_.name == "STRUCT":
            chosen = draw.choice(type_.fields) if type_.allows.get("union") else None
            return {
                name: self._made(inner, f"{path}.{name}", draw, key, time)
                if chosen in (None, name)
                else None
                for name, inner in zip(type_.fields, type_.inner, strict=True)
            }
        if type_.name == "ARRAY":
            # One element within others: their number would double with each level.
            count = 1 if "[]" in path else 2
            return [
                self._made(type_.inner[0], f"{path}[]", draw, key + n, time) for n in range(count)
            ]
        if type_.name == "MAP":
            name = _MAP_KEYS.get(type_.inner[0].name)
            if name is None:
                return None  # JSON has no such keys
            return {name: self._made(type_.inner[1], f"{path}[]", draw, key, time)}
        timely = type_.name == "BIGINT" and _TIME_FIELD.search(path.rsplit(".", 1)[-1])
        if type_.name in {"TIMESTAMP", "TIMESTAMP_NTZ"} or timely:
            return time
        return _plain(type_, draw, key)


def _ruled(rule: Mapping[str, Any], type_: DataType, draw: random.Random, key: int) -> Any:
    if "values" in rule:
        return rule["values"][draw.randrange(len(rule["values"]))]
    if "parts" in rule:
        return " ".join(filter(None, (draw.choice(each) for each in rule["parts"])))
    number: int | float = key
    if "min" in rule:
        low, high = rule["min"], rule["max"]
        fraction = type_.name in _FRACTIONS
        number = (
            round(draw.uniform(low, high), 2) if fraction else draw.randint(int(low), int(high))
        )
    return f"{rule['prefix']}{number}" if "prefix" in rule else number


def _plain(type_: DataType, draw: random.Random, key: int) -> Any:
    name, symbols = type_.name, type_.allows.get("symbols")
    if symbols:
        return draw.choice(symbols)
    number = 1 + draw.randrange(10)
    if name == "VOID":
        return None
    if name == "BOOLEAN":
        return draw.random() < 0.5
    if name == "DECIMAL" and type_.numbers:
        digits, scale = type_.numbers
        return round(number * 1.25 % 10 ** (digits - scale), min(scale, 2))
    if name in _FRACTIONS:
        return round(number * 1.25, 2)
    if name == "DATE":
        return "2026-01-01"
    if name == "BINARY":
        raw, length = _word(key).encode(), type_.allows.get("length")
        if length is not None:
            raw = raw.ljust(min(length, MOST_FIXED), b".")[:length]
        return base64.b64encode(raw).decode()
    if name in {"TINYINT", "SMALLINT", "INT", "BIGINT"}:
        return number
    return _word(key)


def _word(index: int) -> str:
    """A word for each index, and always the same."""
    turn, place = divmod(index, len(_WORDS))
    return f"{_WORDS[place]}-{turn}" if turn else _WORDS[place]


def settings_of_source(source: Mapping[str, Any]) -> dict[str, Any]:
    """What a source node of a document says of its records: formats and the field of their time."""
    params = source["params"]
    found = _VALUE_FIELD.fullmatch(str(params.get("timestamp") or "").strip())
    return {
        "key": params["key"],
        "value": params["value"],
        "time_field": found[1] if found else None,
    }


def recipe_settings(document: Mapping[str, Any], generator: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a recipe for a template's generator: its own, and those of the source."""
    topic = generator["topic"]
    source = next(
        node
        for node in document["nodes"]
        if node["kind"].startswith("source.")
        and topic in (node["params"].get("topics") or [node["params"].get("topic")])
    )
    own = {name: value for name, value in generator.items() if name not in {"topic", "rate"}}
    return {**settings_of_source(source), **own}


def arriving(seed: int, count: int, every: int) -> Iterator[int]:
    """Times of records that come ``every`` so many milliseconds, each a little more or less."""
    draw = random.Random(seed)  # noqa: S311  (no secrets)
    now = 0
    for _ in range(count):
        now += round(every * (0.5 + draw.random()))
        yield now
