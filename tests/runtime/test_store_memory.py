"""Stores that keep nothing in memory: ranges come from RocksDB, in the order of the keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.errors import MillraceError
from millrace_runtime.simulation import Cut

from cli.simulating import Warm, load_scenarios, run_scenario
from tests.runtime.test_random_topologies import records, rows

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FOLDER = Path(__file__).parents[1] / "conformance"


def loops(scenario: dict[str, Any]) -> bool:
    """Whether the topology reads what it writes: that needs Spark's micro-batches."""
    params = [node["params"] for node in scenario["topology"]["nodes"]]
    return bool({p.get("topic") for p in params} & {t for p in params for t in p.get("topics", [])})


SCENARIOS = {
    scenario["id"]: scenario
    for kind in ("random", "semantics")
    for scenario in load_scenarios(FOLDER / kind)
    if not loops(scenario)
}
# Of all lengths up to 299: RocksDB has them by length, and lengths above 255 before others.
KEYS = [f"{'ab'[n % 2]}{'x' * n}" for n in range(300)] + [f"c{n}" for n in range(1500)]
CODE = """class P(Processor):
    def init(self, context):
        self.context = context
        self.s = context.store("s")
    def process(self, record):
        s = self.s
        def say(found): self.context.forward(record.replace(value=",".join(found)))
        if record.value == "write":
            keys = [f"{'ab'[n % 2]}{'x' * n}" for n in range(300)] + [f"c{n}" for n in range(1500)]
            for key in keys: s.put(key, len(key))
            return
        say(k for k, _ in s.all())
        say(k for k, _ in s.reverse_all())
        say(k for k, _ in s.range("axx", "bxxx"))
        say(k for k, _ in s.reverse_range("c1", "c15"))
        say(k for k, _ in s.prefix_scan("c12"))
        for k, v in s.all():
            if v % 2: s.delete(k)
            s.put("d" + k, v)
        say(k for k, _ in s.range(None, "c"))
        say([str(s.approximate_num_entries()), str(s.get("ax")), str(s.get("bx"))])
"""


@pytest.fixture(scope="module")
def unbatched() -> Iterator[Warm]:
    session = Warm(unbatched=True)
    yield session
    session.close()


@pytest.fixture(autouse=True)
def no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_STORE_MEMORY_MB", "0")


def ranges(warm: Warm) -> list[list[str]]:
    """What the processor finds after a restart."""
    raw = {
        "format": "millrace.topology/1",
        "name": "ranges",
        "nodes": [
            {"id": "in", "kind": "source.stream",
             "params": {"topics": ["in"], "key": {"format": "string"},
                        "value": {"format": "string"}}},
            {"id": "s", "kind": "store.key_value",
             "params": {"name": "s", "key_type": "STRING", "value_type": "INT"}},
            {"id": "p", "kind": "process",
             "params": {"code": CODE, "class_name": "P",
                        "output": {"key": "STRING", "value": "STRING"}}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "in", "target": "p"},
                  {"source": "s", "target": "p", "target_port": "store"},
                  {"source": "p", "target": "out"}],
    }  # fmt: skip
    lines: list[dict[str, Any]] = [
        {"topic": "in", "key": "k", "value": "write", "timestamp": 100},
        {"restart": True},
        {"topic": "in", "key": "k", "value": "read", "timestamp": 100},
    ]
    result = warm.simulate(raw, warm.compile(raw).require(), lines, Cut.parse("each"))
    assert result.error is None
    return [out["value"].split(",") for out in result.outputs]


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
        [str(len(left) + len(keys)), "None", "2"],
    ]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_topology_gives_what_kafka_streams_gives(name: str, unbatched: Warm) -> None:
    scenario = SCENARIOS[name]
    result = run_scenario(unbatched, scenario, Cut.parse("each"), restart_each=True)
    expected = scenario["expected"]
    assert result["error"] is None
    assert records(result["outputs"], scenario) == records(expected["outputs"], scenario)
    assert rows(result["stores"]) == rows(expected["stores"])


@pytest.mark.parametrize("text", ["much", "-1"])
def test_memory_that_is_no_number_is_refused(
    text: str, warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_STORE_MEMORY_MB", text)
    with pytest.raises(MillraceError, match=f"must be a whole number of 0 or more, found '{text}'"):
        ranges(warm)
