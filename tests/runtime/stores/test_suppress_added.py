"""*Suppress* added to a running windowed aggregation: what Kafka Streams does after a restart.

The real application runs on a broker: one version, then the next with the same application id. Its
suppress buffer begins empty, so a window whose last update came before the change has no final
result, although it was open.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from cli.oracle import command
from tests.compiler.kit import Raw, document, edge, node, sink, store, stream
from tests.runtime import topics
from tests.runtime.changing import Changing

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.long]

#: key and seconds; windows of ten seconds
Line = tuple[str, int]
#: the window of 0 s is open at the change; `a` is updated again afterwards, `b` is not
FIRST: list[Line] = [("a", 1), ("b", 2)]
BETWEEN: list[Line] = [("b", 3)]
SECOND: list[Line] = [("a", 4), ("c", 12), ("a", 25), ("a", 41)]
FINAL = {"a@0": "2", "c@10": "1", "a@20": "1"}
#: a window's start, in seconds; the broker deletes changelogs of records that are very old
NOW = int(time.time()) // 10 * 10


def windowed(names: tuple[str, str], type_: str, *, suppress: bool) -> Raw:
    """A count of type `type_` by key and window, with or without final results only."""
    held = [node("held", "suppress", until="window_closes")] if suppress else []
    count = node("count", "aggregate", type=type_, initializer=f"CAST(0 AS {type_})",
                 aggregator=f"CAST(CAST(agg AS INT) + 1 AS {type_})",
                 window={"type": "tumbling", "size": 10_000})  # fmt: skip
    start = f"unix_millis(key.window.start) DIV 1000 - {NOW}"
    key = f"concat(key.key, '@', CAST({start} AS STRING))"
    steps = [stream("in", [names[0]]), count, *held, node("updates", "to_stream"),
             node("shown", "map", key=key, value="CAST(value AS STRING)"),
             sink("out", topic=names[1])]  # fmt: skip
    ids = [each["id"] for each in steps]
    raw = document([*steps, store("counts", "window")], [])
    raw["edges"] = [edge(f"{a} > {b}") for a, b in itertools.pairwise(ids)]
    raw["edges"].append(edge("counts > count.store"))
    return raw


class Both:
    """The topics of one side, and what it wrote."""

    def __init__(self, address: str) -> None:
        self.address = address
        name = uuid.uuid4().hex[:8]
        self.names = (f"in-{name}", f"out-{name}")
        topics.create(address, dict.fromkeys(self.names, 1))

    def write(self, lines: list[Line]) -> None:
        records = [{"key": key, "value": "x", "timestamp": 1_000 * (NOW + at)} for key, at in lines]
        topics.produce(self.address, self.names[0], records)

    def read(self, begin: int = 0) -> dict[str, str]:
        count = topics.size(self.address, self.names[1])
        found = topics.consume(self.address, self.names[1], count, seconds=20)[begin:]
        return {each.key().decode(): each.value().decode() for each in found}


@pytest.fixture
def kafka_streams(broker: Any, tmp_path: Path) -> Any:
    """A function that runs versions of a topology as one application; returns what the last wrote.

    Each version gets the lines beside it.
    """

    def run(*versions: tuple[str, bool, list[Line]]) -> dict[str, str]:
        side = Both(broker.address)
        before = 0
        for type_, suppress, lines in versions:
            before = topics.size(broker.address, side.names[1])
            side.write(lines)
            path = tmp_path / "version.json"
            path.write_text(json.dumps(windowed(side.names, type_, suppress=suppress)), "utf-8")
            subprocess.run(
                command(
                    "app", str(path), "--bootstrap-servers", broker.address, "--application-id",
                    f"app-{side.names[0]}", "--stop-after", str(len(lines)), scratch=str(tmp_path),
                    quick_start=True,
                ),
                check=True, timeout=120,
            )  # fmt: skip
        return side.read(before)

    return run


def test_kafka_streams_begins_with_an_empty_buffer(kafka_streams: Any) -> None:
    versions = [("INT", False, [*FIRST, *BETWEEN]), ("INT", True, SECOND)]
    assert kafka_streams(*versions) == FINAL


@pytest.mark.parametrize("converted", [False, True], ids=["as it was", "converted before"])
def test_the_buffer_of_an_added_suppress_begins_as_in_kafka_streams(
    converted: bool, changing: Changing, broker: Any, tmp_path: Path
) -> None:
    side = Both(broker.address)
    side.write(FIRST)
    changing.run(windowed(side.names, "STRING" if converted else "INT", suppress=False), tmp_path)
    side.write(BETWEEN)
    decisions = ["counts=convert:CAST(old AS INT)"] if converted else []
    changing.run(windowed(side.names, "INT", suppress=False), tmp_path, *decisions)
    before = topics.size(broker.address, side.names[1])
    side.write(SECOND)
    changing.run(windowed(side.names, "INT", suppress=True), tmp_path)
    assert side.read(before) == FINAL
