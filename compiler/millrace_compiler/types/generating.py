"""Random records for a schema, for simulations and for topics.

Recipes come from people. To keep their size from delaying others, check the `weight` first, and
call `lines` in a separate process (`millrace_compiler.isolated`).

Record *n* of a recipe depends only on the seed and on *n*: the same recipe yields the same records,
and an interrupted generator continues where it stopped.
"""

from __future__ import annotations

import base64
import bisect
import itertools
import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from millrace_model.documents import DocumentNode, Format, TopologyDocument
from millrace_model.recipes import FieldRule, RecipeSettings, SourceFormats, TemplateGenerator
from millrace_model.records import InputLine

from millrace_compiler.types.types import DataType

#: maximum number of keys for a Zipf distribution; more keys are drawn uniformly
MOST_SKEWED_KEYS = 100_000
#: maximum bytes generated for an Avro fixed; longer ones get a value that is too short
MOST_FIXED = 10_000
_WORDS = (
    *("apple", "bread", "coffee", "dates", "eggs"),
    *("flour", "grapes", "honey", "ice", "juice"),
)
_TIME_FIELD = re.compile(r"(^|_)(at|ts|time|timestamp|date)$", re.IGNORECASE)
_VALUE_FIELD = re.compile(r"value\.(\w+)")
#: a map key for each type, in JSON
_MAP_KEYS = {
    "STRING": "a", "BOOLEAN": "true",
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL"), "1"),
}  # fmt: skip
#: size of the longest number, time or word
_LONGEST_PLAIN = 30
_FRACTIONS = {"DOUBLE", "FLOAT", "DECIMAL"}
#: length of the longest generated session of a windowed key, in ms
_LONGEST_SESSION = 60_000
#: bytes that only the formats string and bytes can read: the start of an object and invalid UTF-8
_MALFORMED = b'{"malformed": \xff'


@dataclass(frozen=True)
class Made:
    """A generated record; ``time`` in ms. ``raw`` replaces the value of a malformed record."""

    key: Any
    value: Any
    time: int
    raw: bytes | None = None


@dataclass(frozen=True)
class Weight:
    """The number of values in a record, and its size as JSON in bytes, both at most."""

    values: int
    size: int

    def __add__(self, other: Weight) -> Weight:
        return Weight(self.values + other.values, self.size + other.size)


@dataclass(frozen=True)
class Recipe:
    """The description of generated records. Shares are percentages, durations are in ms.

    ``fields`` has the rule of a field by its path (``key``, ``value.item``).
    """

    topic: str
    #: of time windows, `window_size` is a number of ms
    key: Format
    value: Format
    #: the field of the value that contains the record's timestamp
    time_field: str | None = None
    keys: int = 10
    #: exponent of Zipf's law: 0 draws all keys equally often, 1 the first twice as often as the
    #: second
    skew: float = 0
    late: float = 0
    late_by: int = 0
    nulls: float = 0
    malformed: float = 0
    seed: int = 1
    fields: Mapping[str, FieldRule] = field(default_factory=dict)
    #: types of `key` and `value`
    types: Mapping[str, DataType] = field(default_factory=dict)

    @cached_property
    def _shares(self) -> list[float]:
        """The cumulative shares of the keys."""
        count = min(self.keys, MOST_SKEWED_KEYS)
        return list(itertools.accumulate(1 / (n + 1) ** self.skew for n in range(count)))

    def made(self, number: int, now: int) -> Made:
        """Return record ``number``, generated at the time ``now`` (ms)."""
        draw = random.Random(f"{self.seed}/{self.topic}/{number}")  # noqa: S311  (no secrets)
        key = self._key(draw)
        late = draw.random() * 100 < self.late
        time = max(0, now - draw.randint(0, self.late_by)) if late else now
        malformed = draw.random() * 100 < self.malformed
        missing = draw.random() * 100 < self.nulls
        name = self._made(self.types["key"], "key", draw, key, time)
        if self.key["format"] in ("time_windowed", "session_windowed"):
            name["window"] = self._window(draw, time)
        if malformed:
            return Made(name, None, time, _MALFORMED)
        value = None if missing else self._made(self.types["value"], "value", draw, key, time)
        if self.time_field and isinstance(value, dict) and self.time_field in value:
            value[self.time_field] = time
        return Made(name, value, time)

    def line(self, number: int, now: int) -> InputLine:
        """Return a record as an input line of a simulation."""
        made = self.made(number, now)
        found: InputLine = {"topic": self.topic, "key": made.key, "value": made.value}
        if made.raw is not None:
            del found["value"]
            found["value_bytes"] = base64.b64encode(made.raw).decode()
        return {**found, "timestamp": made.time}

    @cached_property
    def weight(self) -> Weight:
        """An upper bound of the size of one record."""
        return self._weight("key", self.types["key"]) + self._weight("value", self.types["value"])

    def _weight(self, path: str, type_: DataType) -> Weight:
        name_bytes = len(path.rsplit(".", 1)[-1]) + 6
        rule = self.fields.get(path)
        if rule:
            return Weight(1, name_bytes + _rule_bytes(rule))
        if type_.name == "STRUCT":
            fields = zip(type_.fields, type_.inner, strict=True)
            inner = [self._weight(f"{path}.{name}", each) for name, each in fields]
            return sum(inner, Weight(1, name_bytes))
        if type_.name == "ARRAY":
            count = 1 if "[]" in path else 2
            each = self._weight(f"{path}[]", type_.inner[0])
            return Weight(1 + count * each.values, name_bytes + count * each.size)
        if type_.name == "MAP":
            return self._weight(f"{path}[]", type_.inner[1]) + Weight(1, name_bytes)
        length = min(type_.allows.get("length") or 0, MOST_FIXED) * 4 // 3
        symbols = max(map(len, type_.allows.get("symbols") or [""]))
        return Weight(1, name_bytes + max(_LONGEST_PLAIN, length, symbols))

    def _window(self, draw: random.Random, time: int) -> dict[str, int]:
        """The window of a record's key: the one that contains its time, or a session until then."""
        if self.key["format"] == "session_windowed":
            return {"start": max(0, time - draw.randint(0, _LONGEST_SESSION)), "end": time}
        size = int(self.key["window_size"])
        start = time // size * size
        return {"start": start, "end": start + size}

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
            # Nested arrays have one element, so that their number does not double with each level.
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


def _rule_bytes(rule: FieldRule) -> int:
    """Return the size of the longest value of a rule."""
    if "values" in rule:
        return max(len(json.dumps(each)) for each in rule["values"])
    if "parts" in rule:
        return sum(1 + max(len(json.dumps(each)) for each in part) for part in rule["parts"])
    return len(json.dumps(rule.get("prefix", ""))) + _LONGEST_PLAIN


def _ruled(rule: FieldRule, type_: DataType, draw: random.Random, key: int) -> Any:
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
    """Return the word of an index, which is always the same."""
    turn, place = divmod(index, len(_WORDS))
    return f"{_WORDS[place]}-{turn}" if turn else _WORDS[place]


def settings_of_source(source: DocumentNode) -> SourceFormats:
    """Return a source node's settings for a recipe: its formats and the field of the timestamp."""
    params = source["params"]
    found = _VALUE_FIELD.fullmatch(str(params.get("timestamp") or "").strip())
    return {
        "key": params["key"],
        "value": params["value"],
        "time_field": found[1] if found else None,
    }


def recipe_settings(document: TopologyDocument, generator: TemplateGenerator) -> RecipeSettings:
    """Return the settings of a template's generator, completed with those of its source."""
    topic = generator["topic"]
    source = next(
        node
        for node in document["nodes"]
        if node["kind"].startswith("source.")
        and topic in (node["params"].get("topics") or [node["params"].get("topic")])
    )
    own = {name: value for name, value in generator.items() if name not in {"topic", "rate"}}
    return cast(RecipeSettings, {**settings_of_source(source), **own})


def arriving(seed: int, count: int, every: int) -> Iterator[int]:
    """Yield increasing times in ms, on average ``every`` ms apart."""
    draw = random.Random(seed)  # noqa: S311  (no secrets)
    now = 0
    for _ in range(count):
        now += round(every * (0.5 + draw.random()))
        yield now


def lines(recipe: Recipe, count: int, every: int) -> list[InputLine]:
    """Return input lines of a simulation, on average ``every`` ms apart."""
    times = arriving(recipe.seed, count, every)
    return [recipe.line(number, at) for number, at in enumerate(times)]
