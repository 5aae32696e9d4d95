"""A topology runs, is changed and continues; its output equals that of Kafka Streams.

Each row of `CHANGES` is one change, run on Spark and Kafka. Kafka Streams runs the new version over
the records from before and after the change; its output for the later ones is expected. A store
that begins empty sees only the later records.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.errors import MillraceError

from tests.compiler.kit import Raw, document, edge, global_table, node, sink, store, stream, table
from tests.runtime import topics
from tests.runtime.changing import Changing

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.long]

SECOND, HOUR = 1_000, 3_600_000
#: topic (a or b), key, value, seconds
Line = tuple[str, str, str | None, int]


@dataclasses.dataclass(frozen=True)
class Change:
    """A version and the one after it, and the records that each of them gets.

    `decide`: a person's decisions, for a change that is refused without them. `anew`: names of
    outputs whose stores begin empty. `refused`: a part of the refusal's message. `partitions`: of
    the topic a, before and after.
    """

    name: str
    before: Raw
    after: Raw
    first: list[Line]
    second: list[Line]
    decide: tuple[str, ...] = ()
    refused: str = ""
    anew: frozenset[str] = frozenset()
    partitions: tuple[int, int] = (1, 1)


def topology(
    nodes: list[Raw], edges: list[str], shown: dict[str, str], kept: str = "", **more: Any
) -> Raw:
    """Return nodes on the topics a and b. `shown`: the key expression of each node that is written.

    `kept`: edges from store nodes to their operators.
    """
    made = list(nodes)
    wires = list(edges)
    for id_, key in shown.items():
        made += [
            node(f"{id_}-map", "map", key=key,
                 value=f"to_json(named_struct('{id_}', value))"),
            sink(f"{id_}-out", topic="out"),
        ]  # fmt: skip
        wires += [f"{id_} > {id_}-map", f"{id_}-map > {id_}-out"]
    raw = document(made, wires, **more)
    raw["edges"] += [edge(each) for each in kept.split(", ") if each]
    return raw


def summed(
    type_: str = "BIGINT", *before: Raw, add: str = "", zero: str = "", kept: Raw | None = None,
    after: Raw | None = None, value: str = "value", **more: Any,
) -> Raw:  # fmt: skip
    """A sum of the values of each key."""
    sum_ = node("sum", "aggregate", type=type_, initializer=zero or f"CAST(0 AS {type_})",
                aggregator=add or f"agg + CAST({value} AS {type_})")  # fmt: skip
    steps = [stream("in", ["a"]), *before, sum_, *([after] if after else []),
             node("updates", "to_stream")]  # fmt: skip
    edges = [f"{a['id']} > {b['id']}" for a, b in itertools.pairwise(steps)]
    nodes = [*steps, *([kept] if kept else [])]
    wire = f"{kept['id']} > sum.store" if kept else ""
    return topology(nodes, edges, {"updates": "key"}, wire, **more)


def windows(window: Raw, *before: Raw, suppress: bool = False, kept: Raw | None = None) -> Raw:
    """A count by key and window."""
    held = [node("held", "suppress", until="window_closes")] if suppress else []
    steps = [stream("in", ["a"]), *before, node("count", "count", window=window), *held,
             node("updates", "to_stream")]  # fmt: skip
    edges = [f"{a['id']} > {b['id']}" for a, b in itertools.pairwise(steps)]
    nodes = [*steps, *([kept] if kept else [])]
    wire = f"{kept['id']} > count.store" if kept else ""
    key = "concat(key.key, '@', cast(unix_millis(key.window.start) AS STRING))"
    return topology(nodes, edges, {"updates": key}, wire)


def tumbling(size: int = HOUR, grace: int = 0) -> Raw:
    return {"type": "tumbling", "size": size, "grace": grace}


def session(gap: int = 10 * SECOND) -> Raw:
    return {"type": "session", "gap": gap, "grace": HOUR}


def pairs(before: int, after: int, type_: str = "inner", *steps: Raw) -> Raw:
    """A join of the streams a and b."""
    sources = [stream("left", ["a"]), stream("right", ["b"])]
    join = node("pairs", "join.stream_stream", type=type_, before=before, after=after,
                grace=60 * SECOND,
                joiner="concat(coalesce(left, '-'), '+', coalesce(right, '-'))")  # fmt: skip
    path = ["left", *(each["id"] for each in steps), "pairs.left"]
    edges = [f"{a} > {b}" for a, b in itertools.pairwise(path)]
    nodes = [*sources, *steps, join]
    return topology(nodes, [*edges, "right > pairs.right"], {"pairs": "key"})


def history(retention: int) -> Raw:
    """A join with a versioned table."""
    nodes = [stream("ask", ["a"]), table("known", "b"),
             store("versions", "versioned", history_retention=retention),
             node("found", "join.stream_table", joiner="concat(left, ' of ', right)")]  # fmt: skip
    edges = ["ask > found.left", "known > found.right"]
    return topology(nodes, edges, {"found": "key"}, "versions > known.store")


def everywhere(*steps: Raw) -> Raw:
    """A join with a global table."""
    nodes = [stream("ask", ["a"]), *steps, global_table("known", topic="b"),
             node("found", "join.stream_global_table", key="value",
                  joiner="concat(left, ' is ', right)")]  # fmt: skip
    path = ["ask", *(each["id"] for each in steps), "found.left"]
    edges = [f"{a} > {b}" for a, b in itertools.pairwise(path)]
    return topology(nodes, [*edges, "known > found.right"], {"found": "key"})


def foreign(type_: str = "inner", *steps: Raw, left: str = "left") -> Raw:
    """A join of the table a with b, by the value of a. `left`: the text of a left row."""
    nodes = [table("orders", "a"), table("items", "b"), *steps,
             node("both", "join.foreign_key", type=type_, foreign_key=left.replace("left", "value"),
                  joiner=f"concat(coalesce({left}, '-'), '=', coalesce(right, '-'))"),
             node("updates", "to_stream")]  # fmt: skip
    path = ["orders", *(each["id"] for each in steps), "both.left"]
    edges = [f"{a} > {b}" for a, b in itertools.pairwise(path)]
    return topology(nodes, [*edges, "items > both.right", "both > updates"], {"updates": "key"})


def structs(value: str) -> Raw:
    """The same join with structs on the left side."""
    return foreign("inner", node("typed", "map_values", value=value), left="left.f")


def two(*, with_count: bool, with_join: bool = False) -> Raw:
    """A sum, and beside it a count of the same source or a lookup of the sum."""
    steps = [stream("in", ["a"]),
             node("sum", "aggregate", type="BIGINT", initializer="0L",
                  aggregator="agg + CAST(value AS BIGINT)"),
             node("updates", "to_stream")]  # fmt: skip
    edges, shown = ["in > sum", "sum > updates"], {"updates": "key"}
    if with_count:
        steps += [node("count", "count"), node("counts", "to_stream")]
        edges += ["in > count", "count > counts"]
        shown["counts"] = "key"
    if with_join:
        steps += [
            stream("ask", ["b"]),
            node("looked-up", "join.stream_table", joiner="concat(left, ' ', right)"),
        ]
        edges += ["ask > looked-up.left", "sum > looked-up.right"]
        shown["looked-up"] = "key"
    return topology(steps, edges, shown)


NUMBERS: list[Line] = [("a", "x", "2", 1), ("a", "y", "5", 2), ("a", "x", "3", 3)]
MORE: list[Line] = [("a", "x", "4", 4), ("a", "z", "1", 5), ("a", "y", "6", 6)]
HALVES: list[Line] = [("a", "x", "0.5", 1), ("a", "y", "2.25", 2)]
MANY: list[Line] = [("a", f"key-{n}", str(n), n) for n in range(1, 13)]
ASKED: list[Line] = [("b", "x", "how much", 7), ("b", "y", "and", 8)]
POSITIVE = node("positive", "filter", predicate="CAST(value AS BIGINT) > 0")
SPREAD = node("spread", "repartition", partitions=3)
SAME = node("same", "map_values", value="value")
#: two layouts of a struct, of which only the common fields are written
OLD = "STRUCT<n: INT, last: STRING>"
WIDE = "STRUCT<extra: STRING, last: STRING, n: BIGINT>"
OLD_ADD = "named_struct('n', agg.n + 1, 'last', value)"
WIDE_ADD = "named_struct('extra', CAST(NULL AS STRING), 'last', value, 'n', agg.n + 1)"
OLD_ZERO = "named_struct('n', 0, 'last', '')"
WIDE_ZERO = "named_struct('extra', CAST(NULL AS STRING), 'last', '', 'n', 0L)"
LAST = node("shown-n", "map_values", value="named_struct('n', value.n, 'last', value.last)")

EVENTS: list[Line] = [("a", "x", "1", 1), ("a", "y", "1", 1_800), ("a", "x", "1", 1_900)]
LATER: list[Line] = [("a", "x", "1", 3_000), ("a", "y", "1", 7_300), ("a", "x", "1", 7_400)]
NEAR: list[Line] = [("a", "x", "1", 100), ("a", "x", "1", 105), ("a", "y", "1", 106)]
JOINING: list[Line] = [("a", "x", "1", 112), ("a", "x", "1", 150), ("a", "y", "1", 114)]
LEFT: list[Line] = [("a", "x", "l1", 10), ("b", "y", "r1", 11), ("a", "z", "l2", 12)]
RIGHT: list[Line] = [("b", "x", "r2", 13), ("a", "y", "l3", 14), ("b", "x", "r3", 19),
                     ("a", "w", "l4", 400)]  # fmt: skip
VERSIONS: list[Line] = [("b", "x", "v1", 10), ("b", "x", "v2", 20), ("a", "x", "q1", 15)]
ASKING: list[Line] = [("a", "x", "q2", 12), ("a", "x", "q3", 25), ("b", "x", "v3", 30),
                      ("a", "x", "q4", 22)]  # fmt: skip
TABLES: list[Line] = [("b", "p", "pen", 1), ("b", "q", "ink", 2), ("a", "1", "p", 3)]
ORDERS: list[Line] = [("a", "2", "q", 4), ("b", "p", "pencil", 5), ("a", "1", "q", 6),
                      ("b", "q", None, 7)]  # fmt: skip

CHANGES = [
    Change("another name of the store", summed(kept=store("rows")),
           summed(kept=store("rows", name="other")), NUMBERS, MORE),
    Change("a node before", summed(), summed("BIGINT", POSITIVE), NUMBERS, MORE),
    Change("a node after", summed(),
           summed(after=node("large", "filter", predicate="value > 0")), NUMBERS, MORE),
    Change("a repartition before", summed(), summed("BIGINT", SPREAD), NUMBERS, MORE),
    Change("the repartition removed", summed("BIGINT", SPREAD), summed(), NUMBERS, MORE),
    Change("partitions 4 to 8", summed(topics={"a": 4}), summed(topics={"a": 8}), MANY, MANY,
           partitions=(4, 8)),
    Change("a store added", two(with_count=False), two(with_count=True), NUMBERS, MORE,
           anew=frozenset({"counts"})),
    Change("a store removed", two(with_count=True), two(with_count=False), NUMBERS, MORE,
           ("count=drop",), "count"),
    Change("a join added", two(with_count=False), two(with_count=False, with_join=True),
           NUMBERS, [*MORE, *ASKED]),
    Change("DOUBLE to BIGINT by an expression", summed("DOUBLE"), summed(), NUMBERS, MORE,
           ("sum=convert:CAST(old AS BIGINT)",), "its values were DOUBLE, now BIGINT"),
    Change("DOUBLE to BIGINT anew", summed("DOUBLE"), summed(), NUMBERS, MORE, ("sum=reset",),
           "its values were DOUBLE, now BIGINT", frozenset({"updates"})),
    Change("INT to BIGINT", summed("INT"), summed(), NUMBERS, MORE),
    Change("FLOAT to DOUBLE", summed("FLOAT"), summed("DOUBLE"), HALVES,
           [("a", "x", "1.25", 3), ("a", "y", "4", 4)]),
    Change("fields added, moved and widened",
           summed(OLD, add=OLD_ADD, zero=OLD_ZERO, after=LAST),
           summed(WIDE, add=WIDE_ADD, zero=WIDE_ZERO, after=LAST), NUMBERS, MORE),
    Change("a field removed",
           summed("STRUCT<n: BIGINT, gone: STRING>", zero="named_struct('n', 0L, 'gone', 'x')",
                  add="named_struct('n', agg.n + 1, 'gone', value)",
                  after=node("shown-n", "map_values", value="named_struct('n', value.n)")),
           summed("STRUCT<n: BIGINT>", zero="named_struct('n', 0L)",
                  add="named_struct('n', agg.n + 1)",
                  after=node("shown-n", "map_values", value="named_struct('n', value.n)")),
           NUMBERS, MORE),
    Change("windows of two hours", windows(tumbling()), windows(tumbling(2 * HOUR)), EVENTS, LATER,
           ("count=reset",), "windows were tumbling, size 3600000 ms", frozenset({"updates"})),
    Change("another grace", windows(tumbling()), windows(tumbling(grace=HOUR)), EVENTS, LATER),
    Change("windows behind a repartition", windows(tumbling()), windows(tumbling(), SPREAD),
           EVENTS, LATER),
    Change("another gap of sessions", windows(session()), windows(session(20 * SECOND)), NEAR,
           JOINING, ("count=reset",), "windows were session", frozenset({"updates"})),
    Change("sessions that go on behind another node", windows(session()),
           windows(session(), POSITIVE), NEAR, JOINING),
    Change("a suppress buffer behind a repartition", windows(tumbling(), suppress=True),
           windows(tumbling(), node("spread", "repartition", partitions=1), suppress=True), EVENTS,
           LATER),
    Change("suppress removed", windows(tumbling(), suppress=True), windows(tumbling()), EVENTS,
           LATER, ("held=drop",), "held"),
    Change("wider bounds of a join", pairs(2 * SECOND, 2 * SECOND),
           pairs(4 * SECOND, 4 * SECOND), LEFT, RIGHT),
    Change("an outer join behind another node", pairs(4 * SECOND, 4 * SECOND, "outer"),
           pairs(4 * SECOND, 4 * SECOND, "outer", SAME), LEFT, RIGHT),
    Change("a longer history", history(HOUR), history(2 * HOUR), VERSIONS, ASKING),
    Change("a node before the lookup of a global table", everywhere(), everywhere(SAME), TABLES,
           [("a", "1", "p", 4), ("a", "2", "q", 6)]),
    Change("a left join by foreign key", foreign(), foreign("left"), TABLES, ORDERS),
    Change("a node before a join by foreign key", foreign(), foreign("inner", SAME), TABLES,
           ORDERS),
    Change("a join by foreign key of rows with another type",
           structs("named_struct('f', value, 'n', 1)"),
           structs("named_struct('n', 1L, 'f', value)"), TABLES, ORDERS),
    Change("exactly once", summed(),
           summed(settings={"processing_guarantee": "exactly_once"}), NUMBERS, MORE),
    Change("at least once", summed(settings={"processing_guarantee": "exactly_once"}), summed(),
           NUMBERS, MORE),
]  # fmt: skip


class Running:
    """The topics of one change, used by their short names."""

    def __init__(self, address: str, change: Change) -> None:
        self.address = address
        self.names = {name: f"{name}-{uuid.uuid4()}" for name in ("a", "b", "out")}
        count = change.partitions[0]
        topics.create(address, {self.names["a"]: count, self.names["b"]: 1, self.names["out"]: 1})

    def named(self, raw: Raw) -> Raw:
        """A document with the real names of its topics."""
        made = json.loads(json.dumps(raw))
        for each in made["nodes"]:
            params = each["params"]
            if each["kind"].startswith(("source.", "sink.")):
                if "topics" in params:
                    params["topics"] = [self.names[name] for name in params["topics"]]
                if "topic" in params:
                    params["topic"] = self.names[params["topic"]]
        made["topics"] = {self.names[name]: of for name, of in made["topics"].items()}
        return dict(made)

    def write(self, lines: list[Line]) -> None:
        for topic, key, value, at in lines:
            record = {"key": key, "value": value, "timestamp": at * SECOND}
            topics.produce(self.address, self.names[topic], [record])

    def read(self, begin: int) -> list[tuple[str, str, int]]:
        """Return key, value and time of the records from index `begin` on."""
        topic = self.names["out"]
        count = topics.size(self.address, topic)
        found = topics.consume(self.address, topic, begin + 1, seconds=5)[begin:] if count else []
        return [(r.key().decode(), r.value().decode(), r.timestamp()[1]) for r in found]


def by_key(records: list[tuple[str, str, int]]) -> dict[str, list[tuple[Any, int]]]:
    """Group the records by key: Kafka orders only those of the same key."""
    found: dict[str, list[tuple[Any, int]]] = defaultdict(list)
    for key, value, time in records:
        found[key].append((json.loads(value), time))
    return dict(found)


Streams = Callable[[Raw, list[Line], int], list[tuple[str, str, int]]]


@pytest.fixture(scope="module")
def kafka_streams() -> Iterator[Streams]:
    """A function that returns Kafka Streams' output for the lines after the first `after`."""
    from cli.oracle import Oracle

    with Oracle() as oracle:

        def run(raw: Raw, lines: list[Line], after: int) -> list[tuple[str, str, int]]:
            inputs = [
                {"topic": topic, "key": key, "value": value, "timestamp": at * SECOND}
                for topic, key, value, at in lines
            ]
            plain = {**raw, "settings": {}}
            scenario: Any = {"id": "change", "topology": plain, "inputs": inputs, "cuts": ["all"]}
            answer = oracle.run(scenario)
            assert answer.get("error") is None
            return [
                (each["key"], each["value"], each["timestamp"])
                for each in answer["outputs"]
                if each["after"] > after
            ]

        yield run


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_changed_topology_continues_as_kafka_streams_would(
    change: Change, changing: Changing, kafka_streams: Streams, broker: Any, tmp_path: Path
) -> None:
    running = Running(broker.address, change)
    running.write(change.first)
    changing.run(running.named(change.before), tmp_path)
    before = topics.size(broker.address, running.names["out"])
    was = running.read(0)
    assert by_key(was) == by_key(kafka_streams(change.before, change.first, 0))
    if change.partitions[0] != change.partitions[1]:
        topics.grow(broker.address, running.names["a"], change.partitions[1])
    running.write(change.second)
    after = running.named(change.after)
    if change.refused:
        with pytest.raises(MillraceError, match=change.refused) as refused:
            changing.run(after, tmp_path)
        assert refused.value.code == "state_undecided"
        assert topics.size(broker.address, running.names["out"]) == before
    changing.run(after, tmp_path, *change.decide)
    wanted = kafka_streams(change.after, change.first + change.second, len(change.first))
    if change.anew:
        alone = kafka_streams(change.after, change.second, 0)
        wanted = [each for each in wanted if not _named(each, change.anew)]
        wanted += [each for each in alone if _named(each, change.anew)]
    assert by_key(running.read(len(was))) == by_key(wanted)
    assert wanted, "the change must be seen in what comes out"


def _named(record: tuple[str, str, int], names: frozenset[str]) -> bool:
    """Whether a record is of one of these outputs, or a session's deletion, which has no name."""
    shown = json.loads(record[1])
    return not shown or bool(shown.keys() & names)
