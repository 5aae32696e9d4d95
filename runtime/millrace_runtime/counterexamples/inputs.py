"""Random input lines for two versions of a topology, made to reach what their nodes decide."""

from __future__ import annotations

import base64
import copy
import datetime as dt
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from millrace_model.documents import TopologyDocument

from millrace_runtime import columns
from millrace_runtime.formats import Format
from millrace_runtime.results.lines import Line

#: Keys are few, so that records meet in joins, aggregations and windows.
_KEYS = ("a", "b", "c")
_NULL = 0.07
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass
class Constants:
    """What the parameters of documents mention: numbers and texts of expressions, and durations."""

    numbers: list[float] = field(default_factory=lambda: [0, 1, -1, 2, 10])
    texts: list[str] = field(default_factory=lambda: [*_KEYS, ""])
    #: in ms
    durations: list[int] = field(default_factory=lambda: [1, 5])

    @classmethod
    def of(cls, documents: Iterable[TopologyDocument]) -> Constants:
        """Collect the constants of documents, each with its neighbours."""
        found = cls()
        for document in documents:
            for node in document.get("nodes") or ():
                found._collect(node.get("params") or {})
            for edge in document.get("edges") or ():
                found._collect(edge)
        found.numbers = list(dict.fromkeys(found.numbers))
        found.texts = list(dict.fromkeys(found.texts))
        found.durations = sorted(set(found.durations))
        return found

    def _collect(self, part: Any) -> None:
        if isinstance(part, bool) or part is None:
            return
        if isinstance(part, int):
            if part > 0:
                self.durations += [part - 1, part, part + 1]
        elif isinstance(part, str):
            for text in _TEXT.findall(part):
                self.texts += [text, *text.split(" ")[:1]]
            for digits in _NUMBER.findall(_TEXT.sub("", part)):
                number = float(digits) if "." in digits else int(digits)
                self.numbers += [number - 1, number, number + 1]
                self.texts.append(digits)
        elif isinstance(part, Mapping):
            for each in part.values():
                self._collect(each)
        elif isinstance(part, Sequence):
            for each in part:
                self._collect(each)


class Inputs:
    """Makes random inputs for topics, always the same for a seed.

    `topics`: the formats of key and value, and the number of partitions, by topic.
    """

    def __init__(
        self,
        topics: Mapping[str, tuple[tuple[Format, Format], int]],
        constants: Constants,
        seed: int,
    ) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - a search is to be repeatable
        self._constants = constants
        self._topics = {
            topic: (_type_of(key), _type_of(value), partitions)
            for topic, ((key, value), partitions) in topics.items()
        }

    def fresh(self) -> list[Line]:
        """Return a new input of a few records."""
        now, lines = 0, []
        for _ in range(self._chance.randint(1, 12)):
            now = max(0, now + self._step())
            lines.append(self._line(now))
        return lines

    def varied(self, lines: Sequence[Line], others: Sequence[Line]) -> list[Line]:
        """Return an input that differs from `lines` in a few places; `others` may be spliced in."""
        made = copy.deepcopy(list(lines))
        for _ in range(self._chance.choice((1, 1, 2, 3))):
            place = self._chance.randrange(len(made) + 1)
            at = made[place - 1].get("timestamp", 0) if place else 0
            what = self._chance.random()
            if what < 0.3 or not made:
                made.insert(place, self._line(max(0, at + self._step())))
            elif what < 0.4 and len(made) > 1:
                del made[place - 1]
            elif what < 0.5:
                shift = self._step()
                for line in made[place:]:
                    if "topic" in line:
                        line["timestamp"] = max(0, line.get("timestamp", 0) + shift)
            elif what < 0.6 and others:
                begin = self._chance.randrange(len(others))
                made[place:place] = copy.deepcopy(others[begin : begin + 4])
            else:
                self._change(made[place - 1])
        return made[:40]

    def _change(self, line: Line) -> None:
        if line.get("topic") not in self._topics:
            return
        key, value, _ = self._topics[line["topic"]]
        what = self._chance.random()
        if what < 0.25:
            line["timestamp"] = max(0, line.get("timestamp", 0) + self._step())
        elif what < 0.5:
            line["key"] = self._value(key)
            line.pop("key_bytes", None)
        elif isinstance(line.get("value"), dict) and line["value"] and what < 0.9:
            name = self._chance.choice(list(line["value"]))
            fields = {each["name"]: each["type"] for each in value["fields"]} if value else {}
            if name in fields:
                line["value"][name] = self._value(fields[name])
        else:
            line["value"] = self._value(value)
            line.pop("value_bytes", None)

    def _line(self, now: int) -> Line:
        topic = self._chance.choice(list(self._topics))
        key, value, partitions = self._topics[topic]
        line: Line = {"topic": topic, "key": self._key(key), "value": self._value(value)}
        if partitions > 1 and (part := self._chance.randrange(partitions)):
            line["partition"] = part
        line["timestamp"] = now
        return line

    def _step(self) -> int:
        """Return a difference of time in ms; a fifth of them go back.

        A quarter are sums of two durations: a window closes after its size and its grace.
        """
        step = self._chance.choice((0, *self._constants.durations))
        if self._chance.random() < 0.25:
            step += self._chance.choice(self._constants.durations)
        return -step if self._chance.random() < 0.2 else step

    def _key(self, kind: Any) -> Any:
        if kind == "string" and self._chance.random() < 0.8:
            return self._chance.choice(_KEYS)
        return self._value(kind)

    def _value(self, kind: Any) -> Any:
        if kind is None or self._chance.random() < _NULL:
            return None
        if isinstance(kind, str):
            return self._plain(kind)
        name = kind["type"]
        if name == "struct":
            return {each["name"]: self._value(each["type"]) for each in kind["fields"]}
        if name == "array":
            return [self._value(kind["elementType"]) for _ in range(self._chance.randint(0, 3))]
        if name == "map":
            return {
                self._chance.choice(self._constants.texts): self._value(kind["valueType"])
                for _ in range(self._chance.randint(0, 2))
            }
        return self._plain(str(name))

    def _plain(self, kind: str) -> Any:
        number = self._chance.choice(self._constants.numbers)
        if kind in ("long", "integer"):
            return int(number)
        if kind in ("short", "byte"):
            return max(-128, min(127, int(number)))
        if kind in ("double", "float"):
            return float(number) if self._chance.random() < 0.8 else float(number) + 0.5
        if kind.startswith("decimal"):
            return f"{number}"
        if kind == "boolean":
            return self._chance.random() < 0.5
        if kind in ("timestamp", "timestamp_ntz"):
            at = _EPOCH + dt.timedelta(milliseconds=self._chance.choice(self._constants.durations))
            return at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + ("Z" if kind == "timestamp" else "")
        if kind == "date":
            return (_EPOCH + dt.timedelta(days=self._chance.randint(0, 3))).date().isoformat()
        text = self._chance.choice(self._constants.texts)
        return base64.b64encode(text.encode()).decode() if kind == "binary" else text


def _type_of(format: Format) -> Any:
    """Return the Spark type of a format as JSON; JSON without a schema is text."""
    return json.loads(columns.gateway().TestDriver.typeOf(json.dumps(format)))


def records_of(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the input lines that a search can use: records and advances of the wall clock."""
    for line in lines:
        if "topic" in line or "advance_wall_clock" in line:
            yield cast(Line, {name: value for name, value in line.items() if name in _USED})


_USED = (
    "topic", "key", "value", "key_bytes", "value_bytes", "timestamp", "partition", "headers",
    "advance_wall_clock",
)  # fmt: skip
