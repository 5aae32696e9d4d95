"""Random input lines for two versions of a topology, made to reach what their nodes decide."""

from __future__ import annotations

import base64
import copy
import datetime as dt
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from millrace_model.documents import TopologyDocument

from millrace_runtime import columns
from millrace_runtime.counterexamples.constants import KEYS, Constants, Focus, topics_of
from millrace_runtime.formats import Format
from millrace_runtime.results.lines import Line, partition_by_key

_NULL = 0.08
_MOST_LINES = 40
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_LONGEST_TIME = 2**53
_FIELD = re.compile(r"value\.(\w+)")
_WALL_CLOCK = re.compile(r"wall_?clock|current_timestamp|now\(", re.IGNORECASE)
_TIMED = re.compile(r"\.(grace|size|gap|advance|difference|before|after|retention|until|emit)\b")
_NULLS = re.compile(r"\bnull\b|coalesce|nvl|ifnull", re.IGNORECASE)
_CASTS = re.compile(r"cast\(|int\(|number", re.IGNORECASE)
_One = TypeVar("_One")


@dataclass(frozen=True)
class Rates:
    """How often an input line has what few topologies look at, each between 0 and 1."""

    #: the wall clock advances
    wall_clock: float = 0.0
    headers: float = 0.0
    #: bytes that no format reads
    broken: float = 0.0
    negative_time: float = 0.0
    #: texts that are numbers
    digits: float = 0.1
    #: an input begins with a record that is late by a span of time
    late: float = 0.0
    #: a field is null
    null: float = _NULL

    @classmethod
    def of(cls, documents: Iterable[TopologyDocument], focus: Focus) -> Rates:
        """Look for what documents mention, and what the difference between them mentions."""
        text = json.dumps(list(documents))
        return cls(
            wall_clock=0.15 if _WALL_CLOCK.search(text) else 0.0,
            headers=0.4 if "header" in text else 0.02,
            broken=0.15 if "deserialization" in focus.text else 0.01,
            negative_time=0.2 if "invalid_timestamp" in focus.text else 0.01,
            digits=0.4 if _CASTS.search(text) else 0.1,
            null=0.25 if _NULLS.search(focus.text) else _NULL,
            late=0.2 if _TIMED.search(focus.text) else 0.02,
        )


class Inputs:
    """Makes random inputs for topics, always the same for a seed.

    `topics`: the formats of key and value, and the number of partitions, by topic.
    """

    def __init__(
        self,
        topics: Mapping[str, tuple[tuple[Format, Format], int]],
        documents: Sequence[TopologyDocument],
        focus: Focus,
        seed: int,
    ) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - a search is to be repeatable
        self._topics = {
            topic: (_type_of(key), _type_of(value), partitions)
            for topic, ((key, value), partitions) in topics.items()
        }
        self._key_formats = {topic: key for topic, ((key, _), _) in topics.items()}
        self._focus = focus
        self._focused = [topic for topic in self._topics if topic in focus.topics]
        self._constants = Constants.of(
            [{"numbers": "0, 1, -1, 2, 10, 1000", "texts": "'a', 'b', 'c', 'abc'", "span": 5}]
            + [node.get("params") or {} for each in documents for node in each.get("nodes") or ()]
        )
        self._rates = Rates.of(documents, focus)
        self._time_fields = dict(_time_fields(documents))
        #: Values of the current input, by type: most records repeat them.
        self._pool: dict[str, list[Any]] = {}
        #: How many values of a type records of the current input share.
        self._distinct = len(KEYS)
        #: Whether all values of a type are the same in the current input, so that all records meet.
        self._same = False
        #: Spans of time of the current input: few, so that records meet at the ends of windows.
        self._spans: list[int] = []

    def fresh(self, most: int = 14) -> list[Line]:
        """Return a new input of a few records."""
        self._begin(())
        usual = min(5, most)
        size = self._chance.randint(1, usual if self._maybe(0.6) else most)
        lines = self._late() if most >= 3 and self._maybe(self._rates.late) else []
        for _ in range(size - len(lines)):
            lines.append(self._line(lines))
        return lines

    def varied(self, lines: Sequence[Line], others: Sequence[Line]) -> list[Line]:
        """Return an input that differs from `lines` in a few places; `others` may be spliced in."""
        self._begin(lines)
        made = copy.deepcopy(list(lines))
        if self._maybe(self._rates.late):
            return self._late_again(made)[:_MOST_LINES]
        for _ in range(self._chance.choice((1, 1, 2, 3))):
            place = self._chance.randrange(len(made) + 1)
            what = self._chance.random()
            if what < 0.35 or not made:
                made.insert(place, self._line(made[:place]))
            elif what < 0.45 and len(made) > 1:
                del made[place - 1]
            elif what < 0.55:
                self._shift(made[place:])
            elif what < 0.65 and others:
                begin = self._chance.randrange(len(others))
                made[place:place] = copy.deepcopy(others[begin : begin + 4])
            else:
                self._change(made[place - 1], made[: place - 1])
        return made[:_MOST_LINES]

    def _begin(self, lines: Sequence[Line]) -> None:
        """Choose what the records of an input share: the keys of `lines`, and some spans."""
        self._pool = {}
        self._distinct = self._chance.randint(1, len(KEYS))
        self._same = self._distinct == 1 and self._maybe(0.5)
        for line in lines:
            if (topic := self._topics.get(line.get("topic", ""))) and line.get("key") is not None:
                pool = self._pool.setdefault(json.dumps(topic[0]), [])
                if line["key"] not in pool:
                    pool.append(line["key"])
        spans = [self._of("spans") for _ in range(3)]
        self._spans = [*spans, spans[0] + self._of("spans")]

    def _of(self, name: str) -> Any:
        """Return one of the constants; half of the time of those in which the versions differ."""
        own: list[Any] = getattr(self._focus.constants, name)
        return self._one_of(own if own and self._maybe(0.5) else getattr(self._constants, name))

    def _maybe(self, rate: float) -> bool:
        return self._chance.random() < rate

    def _one_of(self, choices: Sequence[_One]) -> _One:
        return self._chance.choice(choices)

    # ---- lines ----

    def _line(self, before: Sequence[Line]) -> Line:
        """Return a line that follows others."""
        if self._maybe(self._rates.wall_clock):
            return {"advance_wall_clock": self._one_of([*self._spans, self._of("spans")])}
        focused = self._focused and self._maybe(0.7)
        topic = self._one_of(self._focused if focused else list(self._topics))
        line = self._record(topic)
        self._set_time(line, self._time(before))
        if self._maybe(self._rates.headers):
            names = (*KEYS, self._of("texts"))
            line["headers"] = {
                self._one_of(names): self._text() for _ in range(self._chance.randint(1, 2))
            }
        if self._maybe(self._rates.broken):
            line["value_bytes"] = base64.b64encode(b"{").decode()
            del line["value"]
        return line

    def _late(self) -> list[Line]:
        """Return a record, one that is a span of time ahead of it, and one as old as the first.

        Of a key: so it is at the ends of windows and of grace periods.
        """
        topics = self._focused or list(self._topics)
        lines: list[Line] = [self._record(self._one_of(topics)) for _ in range(3)]
        first, _, late = lines
        if self._topics[late["topic"]][0] == self._topics[first["topic"]][0]:
            late["key"] = copy.deepcopy(first["key"])
            self._set_partition(late)
        self._set_late(lines)
        return lines

    def _late_again(self, lines: list[Line]) -> list[Line]:
        """Return lines, and one of their records three times, with times as in `_late`.

        Where a record passes joins and filters, its copies do, too. Half of the time all others
        are as old as the first copy, which is late otherwise.
        """
        topics = self._focused or list(self._topics)
        records = [line for line in lines if line.get("topic") in topics]
        if not records:
            return lines
        record = self._one_of(records)
        copies = [copy.deepcopy(record) for _ in range(3)]
        begin = self._set_late(copies)
        if self._maybe(0.5):
            for line in lines:
                if "topic" in line:
                    self._set_time(line, begin)
        return [*lines, *copies]

    def _set_late(self, lines: Sequence[Line]) -> int:
        """Set the times of three records: one, one ahead of it, and a late one. Return the first.

        The first one is at 0 or at the end of a span.
        """
        first, ahead, late = lines
        begin = 0 if self._maybe(0.6) else int(self._one_of(self._spans))
        self._set_time(first, begin)
        self._set_time(ahead, begin + self._of("spans"))
        self._set_time(late, max(0, begin + self._one_of((0, 0, 0, 1, -1))))
        return begin

    def _record(self, topic: str) -> Line:
        key, value, _ = self._topics[topic]
        line: Line = {"topic": topic, "key": self._value(key, 0.85), "value": self._value(value)}
        self._set_partition(line)
        return line

    def _set_partition(self, line: Line) -> None:
        """Set the partition of a record: most of the time that of its key, as producers do.

        Tables are only found by records that were repartitioned if theirs have such partitions.
        """
        partitions = self._topics[line["topic"]][2]
        if partitions == 1:
            return
        line.pop("partition", None)
        if self._maybe(0.8):
            place = partition_by_key(line, self._key_formats[line["topic"]], partitions)
        else:
            place = self._chance.randrange(partitions)
        if place:
            line["partition"] = place

    def _change(self, line: Line, before: Sequence[Line]) -> None:
        if "advance_wall_clock" in line:
            line["advance_wall_clock"] = self._of("spans")
        if line.get("topic") not in self._topics:
            return
        key, value, _ = self._topics[line["topic"]]
        what = self._chance.random()
        if what < 0.35:
            self._set_time(line, self._time(before))
        elif what < 0.5:
            line["key"] = self._value(key, 0.7)
            line.pop("key_bytes", None)
            self._set_partition(line)
        elif isinstance(line.get("value"), dict) and line["value"] and what < 0.9:
            name = self._one_of(list(line["value"]))
            fields = {each["name"]: each["type"] for each in value["fields"]} if value else {}
            if name in fields:
                line["value"][name] = self._value(fields[name])
        else:
            line["value"] = self._value(value)
            line.pop("value_bytes", None)

    # ---- times ----

    def _time(self, before: Sequence[Line]) -> int:
        """Return a time near that of an earlier line; a third of them lie before it.

        Most are near the highest time so far, which decides what is late.
        """
        times = [each.get("timestamp", 0) for each in before if "topic" in each]
        span = 0 if self._maybe(0.2) else self._one_of(self._spans)
        if not times:
            return 0 if self._maybe(0.6) else span
        if self._maybe(self._rates.negative_time):
            return -1
        base = max(times) if self._maybe(0.6) else self._one_of(times)
        return min(_LONGEST_TIME, max(0, base + (-span if self._maybe(0.35) else span)))

    def _set_time(self, line: Line, time: int) -> None:
        """Set the time of a record, also in the fields from which its topic takes it."""
        line["timestamp"] = time
        value = line.get("value")
        for name in self._time_fields.get(line["topic"], ()):
            if isinstance(value, dict) and value.get(name) is not None and self._maybe(0.85):
                is_text = isinstance(value[name], str)
                value[name] = _time_text(time) if is_text else time

    def _shift(self, lines: Sequence[Line]) -> None:
        """Move lines by one span of time, most of them forward."""
        span = self._one_of(self._spans)
        shift = -span if self._maybe(0.3) else span
        for line in lines:
            if "topic" in line:
                self._set_time(line, max(0, line.get("timestamp", 0) + shift))

    # ---- values ----

    def _value(self, kind: Any, shared: float = 0.6) -> Any:
        """Return a value of a type; a share of plain ones were used before in this input."""
        if kind is None:
            return None
        name = kind if isinstance(kind, str) else kind["type"]
        if self._maybe(_NULL if name == "struct" else self._rates.null):
            return None
        if name == "struct":
            return {each["name"]: self._value(each["type"], shared) for each in kind["fields"]}
        if name == "array":
            return [self._value(kind["elementType"]) for _ in range(self._chance.randint(0, 3))]
        if name == "map":
            return {
                self._text(): self._value(kind["valueType"])
                for _ in range(self._chance.randint(0, 2))
            }
        pool = self._pool.setdefault(json.dumps(kind), [])
        if pool and (self._same or self._maybe(shared)):
            return self._one_of(pool)
        made = self._plain(str(name))
        if len(pool) < self._distinct and made not in pool:
            pool.append(made)
        return made

    def _plain(self, kind: str) -> Any:
        number = self._of("numbers")
        if kind in ("long", "integer"):
            return int(number)
        if kind in ("short", "byte"):
            return max(-128, min(127, int(number)))
        if kind in ("double", "float"):
            return float(number) if self._maybe(0.8) else float(number) + 0.5
        if kind.startswith("decimal"):
            return f"{number}"
        if kind == "boolean":
            return self._maybe(0.5)
        if kind in ("timestamp", "timestamp_ntz"):
            return _time_text(self._of("spans"))[: None if kind == "timestamp" else -1]
        if kind == "date":
            return (_EPOCH + dt.timedelta(days=self._chance.randint(0, 3))).date().isoformat()
        text = self._text()
        return base64.b64encode(text.encode()).decode() if kind == "binary" else text

    def _text(self) -> str:
        if self._maybe(self._rates.digits):
            return f"{self._of('numbers')}"
        separators = self._focus.constants.separators or self._constants.separators
        if separators and self._maybe(0.3):
            words = [self._word() for _ in range(self._chance.randint(2, 3))]
            return self._one_of(separators).join(words)
        return self._word()

    def _word(self) -> str:
        if self._maybe(0.4):
            return self._one_of(KEYS)
        return "" if self._maybe(0.05) else str(self._of("texts"))


def _type_of(format: Format) -> Any:
    """Return the Spark type of a format as JSON; JSON without a schema is text."""
    return json.loads(columns.gateway().TestDriver.typeOf(json.dumps(format)))


def _time_text(time: int) -> str:
    at = _EPOCH + dt.timedelta(milliseconds=min(time, 10**14))
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _time_fields(documents: Iterable[TopologyDocument]) -> Iterator[tuple[str, list[str]]]:
    """Yield the topics whose records take their time from fields, with these fields."""
    for document in documents:
        for node in document.get("nodes") or ():
            params = node.get("params") or {}
            if isinstance(taken := params.get("timestamp"), str):
                for topic in topics_of(params):
                    yield topic, _FIELD.findall(taken)


def records_of(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the input lines that a search can use: records and advances of the wall clock."""
    for line in lines:
        if "topic" in line or "advance_wall_clock" in line:
            yield cast(Line, {name: value for name, value in line.items() if name in _USED})


_USED = (
    "topic", "key", "value", "key_bytes", "value_bytes", "timestamp", "partition", "headers",
    "advance_wall_clock",
)  # fmt: skip
