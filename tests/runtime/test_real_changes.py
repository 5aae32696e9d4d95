"""A topology runs, is changed, runs on; what comes out is what Kafka Streams gives.

Each row of `CHANGES` is one change, run on Spark and Kafka. Kafka Streams runs the new version over
the records of before and after the change; what it gives for the later ones is what must come.
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

from tests.compiler.kit import Raw, document, edge, node, sink, store, stream
from tests.runtime import topics
from tests.runtime.changing import Changing

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.long]

#: topic, key, value, seconds
Line = tuple[str, str, str | None, int]


@dataclasses.dataclass(frozen=True)
class Change:
    """A version and the one after it."""

    name: str
    before: Raw
    after: Raw


def summed(*before: Raw, kept: Raw | None = None, after: Raw | None = None) -> Raw:
    """A sum of the values of each key, with nodes before and after it, and a store."""
    total = node("sum", "aggregate", type="BIGINT", initializer="0L",
                 aggregator="agg + CAST(value AS BIGINT)")  # fmt: skip
    steps = [stream("in", ["a"]), *before, total, *([after] if after else []),
             node("updates", "to_stream"),
             node("text", "map_values", value="to_json(named_struct('sum', value))"),
             sink("out", topic="out")]  # fmt: skip
    edges = [f"{a['id']} > {b['id']}" for a, b in itertools.pairwise(steps)]
    raw = document([*steps, *([kept] if kept else [])], edges)
    if kept:
        raw["edges"].append(edge(f"{kept['id']} > sum.store"))
    return raw


FIRST: list[Line] = [("a", "x", "2", 1), ("a", "y", "5", 2), ("a", "x", "3", 3)]
SECOND: list[Line] = [("a", "x", "4", 4), ("a", "z", "1", 5), ("a", "y", "6", 6)]
POSITIVE = node("positive", "filter", predicate="CAST(value AS BIGINT) > 0")
LARGE = node("large", "filter", predicate="value > 0")
SPREAD = node("spread", "repartition", partitions=3)

CHANGES = [
    Change("another name of the store", summed(kept=store("rows")),
           summed(kept=store("rows", name="other"))),
    Change("a node before", summed(), summed(POSITIVE)),
    Change("a node after", summed(), summed(after=LARGE)),
    Change("a repartition before", summed(), summed(SPREAD)),
]  # fmt: skip


class Running:
    """Topics of a change's own, written and read by their short names."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.names = {name: f"{name}-{uuid.uuid4()}" for name in ("a", "out")}
        topics.create(address, dict.fromkeys(self.names.values(), 1))

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
            record = {"key": key, "value": value, "timestamp": at * 1_000}
            topics.produce(self.address, self.names[topic], [record])

    def read(self, begin: int) -> list[tuple[str, str, int]]:
        """Key, value and time of the records from the `begin`-th on."""
        topic = self.names["out"]
        count = topics.size(self.address, topic)
        found = topics.consume(self.address, topic, begin + 1, seconds=5)[begin:] if count else []
        return [(r.key().decode(), r.value().decode(), r.timestamp()[1]) for r in found]


def by_key(records: list[tuple[str, str, int]]) -> dict[str, list[tuple[Any, int]]]:
    """Kafka orders the records of a key."""
    found: dict[str, list[tuple[Any, int]]] = defaultdict(list)
    for key, value, time in records:
        found[key].append((json.loads(value), time))
    return dict(found)


@pytest.fixture(scope="module")
def changing(broker: Any) -> Iterator[Changing]:
    made = Changing(broker.address)
    yield made
    made.close()


Streams = Callable[[Raw, list[Line], int], list[tuple[str, str, int]]]


@pytest.fixture(scope="module")
def kafka_streams() -> Iterator[Streams]:
    """What the library gives for the lines behind the first so many."""
    from cli.oracle import Oracle

    with Oracle() as oracle:

        def run(raw: Raw, lines: list[Line], after: int) -> list[tuple[str, str, int]]:
            inputs = [
                {"topic": topic, "key": key, "value": value, "timestamp": at * 1_000}
                for topic, key, value, at in lines
            ]
            plain = {**raw, "settings": {}}
            scenario = {"id": "change", "topology": plain, "inputs": inputs, "cuts": ["all"]}
            answer = oracle.run(scenario)
            assert answer.get("error") is None
            return [
                (each["key"], each["value"], each["timestamp"])
                for each in answer["outputs"]
                if each["after"] > after
            ]

        yield run


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_changed_topology_goes_on_as_kafka_streams_would(
    change: Change, changing: Changing, kafka_streams: Streams, broker: Any, tmp_path: Path
) -> None:
    running = Running(broker.address)
    running.write(FIRST)
    changing.run(running.named(change.before), tmp_path)
    before = running.read(0)
    assert by_key(before) == by_key(kafka_streams(change.before, FIRST, 0))
    running.write(SECOND)
    changing.run(running.named(change.after), tmp_path)
    wanted = kafka_streams(change.after, FIRST + SECOND, len(FIRST))
    assert wanted
    assert by_key(running.read(len(before))) == by_key(wanted)
