"""The trace of a simulation: where every record went, where it ended and why."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

REPOSITORY = Path(__file__).parents[3]
HOUR = 3_600_000
TEMPLATE = REPOSITORY / "backend/catalog/documents/purchases-per-hour.json"
DOCUMENT = json.loads(TEMPLATE.read_text(encoding="utf-8"))["document"]


def order(item: str | None, quantity: int, ordered_at: int) -> Any:
    value = {"item": item, "quantity": quantity, "ordered_at": ordered_at}
    return {"topic": "orders", "key": "customer", "value": value, "timestamp": 0}


LINES = [
    order("tea", 2, 1000),
    order(None, 1, 2000),
    order("tea", 1, HOUR + 12 * 60_000),
    order("tea", 7, HOUR // 2),
    order("milk", 1, -1),
]


def simulated(warm: Any, *, batches: bool = False, steps: int = 1000) -> Any:
    from millrace_runtime.analyzer.compiling import compiled
    from millrace_runtime.simulator.memory import TraceLimits
    from millrace_runtime.simulator.simulation import Simulator
    from millrace_runtime.simulator.unbatched import UnbatchedSimulator

    graph = compiled(DOCUMENT, warm.analyzer).require_task_graph()
    simulator = Simulator if batches else UnbatchedSimulator
    limits = TraceLimits(steps=steps)
    return simulator(warm.spark.newSession(), graph, trace=limits).run(LINES)


@pytest.mark.parametrize("batches", [False, True])
def test_every_record_is_followed_to_where_it_ends(warm: Any, batches: bool) -> None:
    result = simulated(warm, batches=batches)
    steps = result.trace["steps"]
    assert [step["seq"] for step in steps] == list(range(len(steps)))
    assert not result.trace["truncated"]
    path = [
        (s["from"], s["node"]) for s in steps if s["event"] == "record" and s["from"] != s["node"]
    ]
    assert Counter(path) == {
        (None, "orders"): 4,
        ("orders", "valid"): 4,
        ("valid", "total"): 3,
        ("total", "rows"): 2,
        ("rows", "flat"): 2,
        ("flat", "out"): 2,
    }
    ended = steps[-2]
    assert (ended["event"], ended["node"], ended["reason"], ended["after"]) == (
        "drop", "total", "late", 4,
    )  # fmt: skip
    window = {name: ended[name] for name in ("window_start", "window_end", "closed_until")}
    assert window == {"window_start": 0, "window_end": HOUR, "closed_until": HOUR + 2 * 60_000}
    causing = steps[ended["parent"]]
    assert causing["record"]["value"]["quantity"] == 7
    assert causing["stream_time"] == HOUR + 12 * 60_000
    assert (steps[-1]["reason"], steps[-1]["after"]) == ("skipped_timestamp", 5)


def test_the_drops_of_a_trace_are_those_that_are_counted(warm: Any) -> None:
    result = simulated(warm)
    reported = Counter(step["node"] for step in result.trace["steps"] if step["event"] == "drop")
    assert reported == {node: n for node, n in result.drops.items() if n}
    assert sum(reported.values()) == result.dropped


def test_the_writes_of_a_trace_lead_to_the_contents_of_the_store(warm: Any) -> None:
    result = simulated(warm)
    rows: Any = {}
    for step in result.trace["steps"]:
        if step["event"] == "store":
            rows[json.dumps(step["row"]["key"], sort_keys=True)] = step["row"]
    assert [rows[key] for key in sorted(rows)] == result.stores["totals"]


def test_a_trace_that_is_too_long_is_marked_as_such(warm: Any) -> None:
    result = simulated(warm, steps=5)
    assert len(result.trace["steps"]) == 5
    assert result.trace["truncated"]
    assert len(result.outputs) == 2
