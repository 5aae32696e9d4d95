"""Stores without a memory cache: ranges come from RocksDB, in key order.

With MILLRACE_CONFORMANCE=whole every scenario runs, else a sample.
"""

from __future__ import annotations

import ast
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.cuts import Cut

from bench._documents import chain, document, node
from cli.simulating import Warm, load_scenarios, run_scenario
from tests.runtime.job.test_random_topologies import records, rows
from tests.runtime.processor.test_processor_api import run

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FOLDER = Path(__file__).parents[2] / "conformance"
#: a schedule that no `init` makes is lost at a restart, in Kafka Streams too
WITHOUT_RESTARTS = {"schedules-from-a-start-time"}


def loops(scenario: Any) -> bool:
    """Whether the topology reads a topic that it writes, which needs Spark's micro-batches."""
    params = [node["params"] for node in scenario["topology"]["nodes"]]
    return bool({p.get("topic") for p in params} & {t for p in params for t in p.get("topics", [])})


SCENARIOS = {
    scenario["id"]: scenario
    for kind in ("random", "semantics")
    for scenario in load_scenarios(FOLDER / kind)
    if not loops(scenario)
    and not scenario["expected"]["error"]
    and scenario["id"] not in WITHOUT_RESTARTS
}
WHOLE = os.environ.get("MILLRACE_CONFORMANCE") == "whole"
CHOSEN = list(SCENARIOS) if WHOLE else random.Random(4).sample(sorted(SCENARIOS), 12)
# Keys of all lengths up to 299: RocksDB orders them by length, those above 255 first.
KEYS = [f"{'ab'[n % 2]}{'x' * n}" for n in range(300)] + [f"c{n}" for n in range(1500)]
CODE = """
if record.value == "write":
    keys = [f"{'ab'[n % 2]}{'x' * n}" for n in range(300)] + [f"c{n}" for n in range(1500)]
    for key in keys: s.put(key, len(key))
    return
say([k for k, _ in s.all()])
say([k for k, _ in s.reverse_all()])
say([k for k, _ in s.range("axx", "bxxx")])
say([k for k, _ in s.reverse_range("c1", "c15")])
say([k for k, _ in s.prefix_scan("c12")])
for k, v in s.all():
    if v % 2: s.delete(k)
    s.put("d" + k, v)
say([k for k, _ in s.range(None, "c")])
say([s.approximate_num_entries(), s.get("ax"), s.get("bx")])
"""


@pytest.fixture(scope="module")
def unbatched() -> Iterator[Warm]:
    session = Warm(unbatched=True)
    yield session
    session.close()


@pytest.fixture(autouse=True)
def no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_STORE_MEMORY_MB", "0")


def ranges(warm: Warm) -> list[list[Any]]:
    """Return the ranges that the processor finds after a restart."""
    found = run(warm, "key_value", CODE, key_type="STRING", value_type="INT")
    return [ast.literal_eval(each) for each in found]


def test_keys_of_all_lengths_come_in_the_order_of_their_bytes(warm: Warm) -> None:
    keys = sorted(KEYS)
    left = [key for key in keys if len(key) % 2 == 0]
    assert ranges(warm) == [
        keys,
        keys[::-1],
        [key for key in keys if "axx" <= key <= "bxxx"],
        [key for key in keys if "c1" <= key <= "c15"][::-1],
        [key for key in keys if key.startswith("c12")],
        [key for key in left if key <= "c"],
        [len(left) + len(keys), None, 2],
    ]


@pytest.mark.parametrize("name", CHOSEN)
def test_a_topology_gives_what_kafka_streams_gives(name: str, unbatched: Warm) -> None:
    scenario = SCENARIOS[name]
    result = run_scenario(unbatched, scenario, Cut.parse("each"), restart_each=True)
    expected = scenario["expected"]
    assert result["error"] is None
    assert records(result["outputs"], scenario) == records(expected["outputs"], scenario)
    assert rows(result["stores"]) == rows(expected["stores"])


#: more than a thousand for each side: stores delete expired rows after so many
LINES = 4_500


def join_of_streams() -> tuple[Any, Counter[tuple[str, str]]]:
    """Return a scenario whose stores expire again and again, and the pairs that it has to find.

    Records are late by at most 30 ms, and found for at least 50 ms longer than the window.
    """
    chance = random.Random(11)
    text = {"format": "string"}
    source = "source.stream"
    nodes = [
        node("left", source, topics=["l"], key=text, value=text),
        node("right", source, topics=["r"], key=text, value=text),
        node(
            "join", "join.stream_stream", type="inner", before=40, after=40, grace=100,
            joiner="concat(left, '-', right)",
        ),
        node("out", "sink.topic", topic="out"),
    ]  # fmt: skip
    edges = [*chain("left", "join.left"), *chain("right", "join.right"), *chain("join", "out")]
    inputs: list[Any] = [
        {
            "topic": chance.choice("lr"),
            "key": f"k{chance.randrange(12)}",
            "value": str(n),
            "timestamp": 1_000 + n - chance.randrange(30),
        }
        for n in range(LINES)
    ]
    found = Counter(
        (one["key"], f"{one['value']}-{other['value']}")
        for at, one in enumerate(inputs)
        for other in inputs[max(0, at - 120) : at + 120]
        if (one["topic"], other["topic"], one["key"]) == ("l", "r", other["key"])
        and abs(one["timestamp"] - other["timestamp"]) <= 40
    )
    topology = {**document("expiring", nodes, edges), "topics": {}}
    return {"id": "expiring", "topology": topology, "inputs": inputs}, found


@pytest.mark.parametrize(("cut", "memory"), [("all", "64"), ("random:1", "64"), ("random:2", "0")])
def test_a_join_finds_all_pairs_while_its_rows_expire(
    cut: str, memory: str, unbatched: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_STORE_MEMORY_MB", memory)
    scenario, expected = join_of_streams()
    result = run_scenario(unbatched, scenario, Cut.parse(cut))
    assert result["error"] is None
    assert Counter((each["key"], each["value"]) for each in result["outputs"]) == expected


@pytest.mark.parametrize("text", ["much", "-1"])
def test_memory_that_is_no_number_is_refused(
    text: str, warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_STORE_MEMORY_MB", text)
    with pytest.raises(MillraceError, match=f"must be a whole number of 0 or more, found '{text}'"):
        ranges(warm)


def test_a_table_of_rocksdb_is_one_file_in_the_checkpoint_and_beside_it(
    unbatched: Warm, tmp_path: Path
) -> None:
    jvm: Any = unbatched.spark._jvm
    hadoop = jvm.org.apache.hadoop.fs
    files = hadoop.FileSystem.get(unbatched.spark._jsc.hadoopConfiguration())
    for name in ("1.sst", "2.sst", "3.log"):
        (tmp_path / name).write_text(name)

    def copied(method: str, name: str, to: str) -> bool:
        source, target = tmp_path / name, tmp_path / "kept" / to
        getattr(files, method)(hadoop.Path(str(source)), hadoop.Path(str(target)))
        assert target.read_text() == name
        return target.samefile(source)

    assert copied("copyFromLocalFile", "1.sst", "a.sst")
    assert copied("copyToLocalFile", "2.sst", "a.sst"), "in place of another table"
    assert not copied("copyFromLocalFile", "3.log", "b.log")
    assert (tmp_path / "1.sst").read_text() == "1.sst"
