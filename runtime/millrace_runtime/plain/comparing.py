"""Comparison of plain Spark's output with Kafka Streams': topic by topic, record by record.

Each difference has the codes that announced it. `predicting` defines what a code explains, and
judges a result as a whole. This module pairs the records of both sides, so that a person sees
which records differ, and how.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from millrace_compiler import Compilation
from millrace_compiler.operators.sinks.topic import SinkTopic
from millrace_compiler.operators.sources.stream import SourceStream
from millrace_model.records import OutputLine
from millrace_model.scenarios import Scenario, ScenarioResult
from millrace_model.simulations import PlainComparison, PlainCounts, PlainRow, PlainTopic

from millrace_runtime.plain.predicting import (
    FAILED,
    HEADERS,
    LAST,
    ORDER,
    RECORDS,
    REPEATED,
    TIMESTAMP,
    UNCOUNTED,
    Verdict,
    unexplained,
    verdict,
)
from millrace_runtime.results.comparing import canonical
from millrace_runtime.results.differences import Difference
from millrace_runtime.results.results import Result

Record: TypeAlias = OutputLine
#: How a record differs; `missing`: plain Spark does not write it, `extra`: Kafka Streams does not,
#: `input`: another input line causes it.
Aspect = Literal["value", "headers", "timestamp", "order", "input", "missing", "extra"]
#: maximum number of rows of a topic in a response; all are counted
MOST_ROWS = 2_000
#: maximum number of sentences about differences that no code explains
MOST_SENTENCES = 20


@dataclass
class _Pair:
    """A record of Kafka Streams, of plain Spark, or of both, by their places in the topic."""

    exact: int | None
    plain: int | None
    in_order: bool = True


def beside(
    compilation: Compilation, exact: Result, plain: Result, cut: Literal["each", "all"]
) -> PlainComparison:
    """Return both results by topic, with the verdict and the codes that explain differences."""
    verdict_, left = judged(compilation, exact, plain, cut)
    announced = {str(each["code"]) for each in compilation.differences}
    return {
        "verdict": verdict_,
        "unexplained": [each.to_json() for each in left[:MOST_SENTENCES]],
        "topics": [
            _Topic(compilation, name, exact, plain).to_json()
            for name in _topics(compilation, exact, plain)
        ],
        "dropped": {
            "kafka_streams": exact.dropped,
            "spark": plain.dropped,
            "codes": sorted(UNCOUNTED & announced) if exact.dropped != plain.dropped else [],
        },
        "stopped": {"kafka_streams": exact.error, "spark": plain.error},
    }


def judged(
    compilation: Compilation, exact: Result, plain: Result, cut: Literal["each", "all"]
) -> tuple[Verdict, list[Difference]]:
    """Return the verdict on a plain result, and the differences that no code explains."""
    codes = compilation.differences
    scenario: Scenario = {
        "inputs": [],
        "compare": "sequence",
        "topology": {"nodes": [], "edges": []},
        "expected": {"outputs": exact.outputs, "dropped": exact.dropped, "error": exact.error},
    }
    found: ScenarioResult = {
        "outputs": plain.outputs,
        "dropped": plain.dropped,
        "error": plain.error,
        "differences": codes,
    }
    verdict_ = verdict(scenario, found, cut)
    announced = {str(each["code"]) for each in codes}
    return verdict_, unexplained(scenario, found, cut, announced) if verdict_ == "wrong" else []


class _Topic:
    """The records of one topic on both sides."""

    def __init__(self, compilation: Compilation, name: str, exact: Result, plain: Result) -> None:
        self.name = name
        self.sinks = [sink.id for sink in _sinks(compilation) if sink.topic in (name, None)]
        self.exact = [each for each in exact.outputs if each["topic"] == name]
        self.plain = [each for each in plain.outputs if each["topic"] == name]
        above = _above(compilation, self.sinks)
        self._all = {str(each["code"]) for each in compilation.differences}
        self._codes = {
            str(each["code"]) for each in compilation.differences if each["node"] in above
        }
        self._stopped = exact.error is not None or plain.error is not None
        self._replaced = (_replaced(self.exact), _replaced(self.plain))
        self._repeated = (_repeated(self.exact), _repeated(self.plain))

    def to_json(self) -> PlainTopic:
        """Return counts, and the first rows in the order in which Kafka Streams writes them."""
        rows = [self._row(pair) for pair in _pairs(self.exact, self.plain)]
        counts = PlainCounts(equal=0, time=0, different=0, kafka_streams=0, spark=0)
        for row in rows:
            counts[_group(row["differs"])] += 1
        return {
            "topic": self.name,
            "sinks": self.sinks,
            "counts": counts,
            "rows": rows[:MOST_ROWS],
        }

    def _row(self, pair: _Pair) -> PlainRow:
        first = None if pair.exact is None else self.exact[pair.exact]
        second = None if pair.plain is None else self.plain[pair.plain]
        differs = list(_aspects(first, second, in_order=pair.in_order))
        found = {aspect: self._explaining(aspect, pair) for aspect in differs}
        return {
            "kafka_streams": first,
            "spark": second,
            "differs": differs,
            "codes": sorted(set[str]().union(*found.values())),
            "explained": all(found.values()),
        }

    def _explaining(self, aspect: Aspect, pair: _Pair) -> frozenset[str]:
        """Return the codes that explain an aspect: at or above this topic's sinks, else any."""
        wanted = list(self._wanted(aspect, pair))
        for codes in (self._codes, self._all):
            for group in wanted:
                if group & codes:
                    return group & codes
        return frozenset()

    def _wanted(self, aspect: Aspect, pair: _Pair) -> Iterator[frozenset[str]]:
        """Yield groups of codes that explain an aspect of a pair, the most precise first."""
        narrow = {"timestamp": TIMESTAMP, "headers": HEADERS, "order": ORDER}.get(aspect)
        if narrow is not None:
            yield narrow
        places = ((pair.exact, 0), (pair.plain, 1))
        sides = [(at, side) for at, side in places if at is not None]
        if all(at in self._replaced[side] for at, side in sides):
            yield LAST
        if any(at in self._repeated[side] for at, side in sides):
            yield REPEATED
        if self._stopped:
            yield FAILED
        yield RECORDS
        yield LAST | REPEATED


def _group(
    differs: Sequence[str],
) -> Literal["equal", "time", "different", "kafka_streams", "spark"]:
    """Return the name of the count to which a row belongs."""
    if "missing" in differs:
        return "kafka_streams"
    if "extra" in differs:
        return "spark"
    if not differs:
        return "equal"
    return "time" if differs == ["timestamp"] else "different"


def _aspects(first: Record | None, second: Record | None, *, in_order: bool) -> Iterator[Aspect]:
    if first is None or second is None:
        yield "extra" if first is None else "missing"
        return
    if canonical(first["value"]) != canonical(second["value"]):
        yield "value"
    if (first.get("headers") or {}) != (second.get("headers") or {}):
        yield "headers"
    if first["timestamp"] != second["timestamp"]:
        yield "timestamp"
    if first.get("after") != second.get("after"):
        yield "input"
    elif not in_order:
        yield "order"


# ---- pairs ----------------------------------------------------------------------------------


def _pairs(exact: Sequence[Record], plain: Sequence[Record]) -> list[_Pair]:
    """Pair records: equal ones of a line, then equal keys of a line, then equal ones elsewhere."""
    pairs: list[_Pair] = []
    left = list(range(len(exact))), list(range(len(plain)))
    for identity in (_same_of_line, _key_of_line, _same):
        pairs += _matched(exact, plain, left, identity)
    _mark_order(pairs, exact)
    pairs += [_Pair(at, None) for at in left[0]] + [_Pair(None, at) for at in left[1]]
    return _sorted(pairs, exact, plain)


def _matched(
    exact: Sequence[Record],
    plain: Sequence[Record],
    left: tuple[list[int], list[int]],
    identity: Callable[[Record], Hashable],
) -> list[_Pair]:
    """Pair records of equal identity and remove them from `left`; the last ones pair up first."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for at in left[1]:
        waiting[identity(plain[at])].append(at)
    found = []
    for at in reversed(left[0]):
        others = waiting[identity(exact[at])]
        if others:
            found.append(_Pair(at, others.pop()))
    firsts, seconds = {pair.exact for pair in found}, {pair.plain for pair in found}
    left[0][:] = [at for at in left[0] if at not in firsts]
    left[1][:] = [at for at in left[1] if at not in seconds]
    return found


def _mark_order(pairs: list[_Pair], exact: Sequence[Record]) -> None:
    """Mark the pairs of each line that moved: all but a longest sequence in the same order."""
    lines: dict[Any, list[_Pair]] = defaultdict(list)
    for pair in sorted(pairs, key=lambda pair: pair.exact or 0):
        lines[exact[pair.exact or 0].get("after")].append(pair)
    for line in lines.values():
        kept = _longest_rise([pair.plain or 0 for pair in line])
        for at, pair in enumerate(line):
            pair.in_order = at in kept


def _longest_rise(numbers: Sequence[int]) -> set[int]:
    """Return the places of a longest increasing subsequence."""
    ends: list[int] = []
    places: list[int] = []
    before: list[int | None] = []
    for at, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(places[length - 1] if length else None)
        ends[length:] = [number, *ends[length + 1 :]]
        places[length:] = [at, *places[length + 1 :]]
    found: set[int] = set()
    last = places[-1] if places else None
    while last is not None:
        found.add(last)
        last = before[last]
    return found


def _sorted(pairs: list[_Pair], exact: Sequence[Record], plain: Sequence[Record]) -> list[_Pair]:
    """Sort pairs as Kafka Streams does; an extra record follows the record written before it."""
    partner = {pair.plain: pair.exact for pair in pairs}
    anchors, anchor = [], -1
    for at in range(len(plain)):
        found = partner[at]
        anchor = anchor if found is None else found
        anchors.append(anchor)

    def place(pair: _Pair) -> tuple[int, int, int, int]:
        if pair.exact is not None:
            return exact[pair.exact].get("after", 0), pair.exact, 0, 0
        at = pair.plain or 0
        return plain[at].get("after", 0), anchors[at], 1, at

    return sorted(pairs, key=place)


def _same_of_line(record: Record) -> Hashable:
    return record.get("after"), _same(record)


def _key_of_line(record: Record) -> Hashable:
    return record.get("after"), canonical(record["key"])


def _same(record: Record) -> Hashable:
    return canonical(record["key"]), canonical(record["value"])


# ---- what the codes are about ---------------------------------------------------------------


def _replaced(records: Sequence[Record]) -> set[int]:
    """Return the places of records that a later one of their key and micro-batch replaces."""
    last = {_key_of_line(record): at for at, record in enumerate(records)}
    return set(range(len(records))) - set(last.values())


def _repeated(records: Iterable[Record]) -> set[int]:
    """Return the places of records that repeat their key's value, or delete a missing one."""
    rows: dict[str, str] = {}
    found = set()
    for at, record in enumerate(records):
        key, value = canonical(record["key"]), canonical(record["value"])
        if rows.get(key, canonical(None)) == value:
            found.add(at)
        rows[key] = value
    return found


def _sinks(compilation: Compilation) -> list[SinkTopic]:
    return [each for each in compilation.graph.operators.values() if isinstance(each, SinkTopic)]


def _topics(compilation: Compilation, *results: Result) -> list[str]:
    """Return the topics of the sinks, followed by those that an expression named."""
    fixed = [str(sink.topic) for sink in _sinks(compilation) if sink.topic is not None]
    named = sorted({str(each["topic"]) for result in results for each in result.outputs})
    return list(dict.fromkeys([*fixed, *named]))


def _above(compilation: Compilation, nodes: Iterable[str]) -> set[str]:
    """Return the nodes, and all nodes whose records reach them, also through topics."""
    graph = compilation.graph
    writers: dict[str, list[str]] = defaultdict(list)
    for sink in _sinks(compilation):
        if sink.topic is not None:
            writers[str(sink.topic)].append(sink.id)
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        found.add(node)
        waiting += graph.parents(node)
        operator = graph.operators[node]
        names = operator.topic_names() if isinstance(operator, SourceStream) else ()
        waiting += [writer for name in names for writer in writers[name]]
    return found
