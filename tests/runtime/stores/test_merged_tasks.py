"""State of tasks that are merged into fewer: the same as in a single task for all keys."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import columns

from tests.compiler.kit import Raw, document, edge, node, store, stream
from tests.runtime.changing import KEYS, Changing, Pair, by_key, everything, shown
from tests.runtime.spread import murmur2

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


@pytest.mark.parametrize(
    "counts",
    [
        (8, 4),
        pytest.param((4, 2), marks=pytest.mark.long),
        # No task of 4 has exactly the keys of whole tasks of 6.
        pytest.param((6, 4, 1), marks=pytest.mark.long),
    ],
)
def test_state_of_all_kinds_is_as_if_there_had_always_been_so_few_tasks(
    changing: Changing, broker: Any, tmp_path: Path, counts: tuple[int, ...]
) -> None:
    """Times do not go back, so that results do not depend on the tasks' stream time.

    They avoid the ends of gaps and windows, where stream time decides the contents of a store.
    """
    merged, never = Pair(broker.address), Pair(broker.address)
    first = [(key, str(n)) for n, key in enumerate(KEYS)]
    parts = [
        [(first, 1_000), (first[::2], 5_500)],
        [(first[::3], 8_000), (first, 12_000)],
        [(first[1::2], 14_000), ([(key, "1") for key in KEYS], 40_000)],
    ]
    parts = [*parts[: len(counts) - 1], [*itertools.chain(*parts[len(counts) - 1 :])]]
    for count, part in zip(counts, parts, strict=True):
        for pair in (merged, never):
            for records, timestamp in part:
                pair.write(records, timestamp)
        changing.run(everything(merged, 1, spread=count), tmp_path / "merged")
    changing.run(everything(never, 1, spread=counts[-1]), tmp_path / "never")
    found, expected = Counter(by_key(merged)), Counter(by_key(never))
    assert (expected - found, found - expected) == (Counter(), Counter())


def clocked(pair: Pair, tasks: int) -> Raw:
    """Return a document whose results depend on stream time, after a repartition."""
    window = {"type": "tumbling", "size": 10_000, "grace": 5_000}
    steps = [
        stream("in", [pair.source]),
        node("spread", "repartition", partitions=tasks),
        node("sum", "count"),
        node("windows", "count", window=window),
        node("held", "suppress", until="window_closes"),
        node("closing", "count", window=window, emit="window_close"),
        node("odd", "filter", predicate="CAST(value AS INT) % 2 = 1"),
        node("even", "filter", predicate="CAST(value AS INT) % 2 = 0"),
        node("pairs", "join.stream_stream", type="outer", before=4_000, after=4_000, grace=0,
             joiner="concat(coalesce(left, '-'), ' ', coalesce(right, '-'))"),
        node("versions", "to_table"),
        store("history", "versioned", history_retention=5_000),
    ]  # fmt: skip
    edges = ["in > spread", "spread > sum", "spread > windows", "windows > held",
             "spread > closing", "spread > odd", "spread > even", "odd > pairs.left",
             "even > pairs.right", "spread > versions"]  # fmt: skip
    for name in ("sum", "windows", "held", "closing", "versions"):
        steps.append(node(f"{name}-updates", "to_stream"))
        edges.append(f"{name} > {name}-updates")
    raw = document(steps, edges)
    raw["edges"].append(edge("history > versions.store"))
    for name in ("windows", "held", "closing"):
        # The key shows the start of the window in seconds.
        key = "concat(key.key, ' ', CAST(unix_millis(key.window.start) / 1000 AS INT))"
        shown(raw, f"{name}-updates", name, pair, key=key)
    shown(raw, "pairs", "pairs", pair)
    for name in ("sum", "versions"):
        shown(raw, f"{name}-updates", name, pair)
    return raw


def test_a_merged_task_has_the_furthest_stream_time(
    changing: Changing, broker: Any, tmp_path: Path
) -> None:
    """The expected output is that of a single Kafka Streams task with both tasks' state.

    Its stream time is 16,000. Records of closed windows are late for the key that was behind, its
    unsent windows are sent, and those of the other key are not sent again.
    """
    pair = Pair(broker.address)
    ahead, behind = (
        next(key for key in KEYS if (murmur2(key.encode()) & 0x7FFFFFFF) % 2 == task)
        for task in (0, 1)
    )

    def sent() -> dict[str, list[tuple[str, Any]]]:
        found: dict[str, list[tuple[str, Any]]] = {}
        for key, value in pair.new():
            shown_key = key.replace(ahead, "a").replace(behind, "b")
            found.setdefault(next(iter(value)), []).append((shown_key, *value.values()))
        return found

    pair.write([(ahead, "1"), (behind, "1")], 1_000)
    pair.write([(ahead, "3")], 16_000)
    changing.run(clocked(pair, 2), tmp_path)
    before = {name: sorted(rows) for name, rows in sent().items()}
    assert before == {
        "sum": [("a", 1), ("a", 2), ("b", 1)],
        "windows": [("a 0", 1), ("a 10", 1), ("b 0", 1)],
        "held": [("a 0", 1)],
        "closing": [("a 0", 1)],
        "pairs": [("a", "1 -")],
        "versions": [("a", "1"), ("a", "3"), ("b", "1")],
    }
    pair.write([(behind, "2")], 3_000)
    pair.write([(behind, "4")], 17_000)
    pair.write([(ahead, "5")], 2_000)
    pair.write([(ahead, "1")], 26_000)
    changing.run(clocked(pair, 1), tmp_path)
    moved = json.loads(columns.gateway().StateMove.progress())
    assert moved["phase"] == "checking"
    assert moved["rows"] > len(KEYS), "what the page shows while a state is moved"
    after = sent()
    after["held"][1:] = sorted(after["held"][1:])
    after["closing"][1:] = sorted(after["closing"][1:])
    assert after == {
        "sum": [("b", 2), ("b", 3), ("a", 3), ("a", 4)],
        # 3,000 and 2,000 are late: the window that begins at 0 closed at 15,000.
        "windows": [("b 10", 1), ("a 20", 1)],
        "held": [("b 0", 1), ("a 10", 1), ("b 10", 1)],
        "closing": [("b 0", 1), ("a 10", 1), ("b 10", 1)],
        # Records more than 8,000 behind the stream time have left the join's buffers.
        "pairs": [("b", "- 2"), ("b", "1 -"), ("a", "5 -"), ("a", "3 -"), ("b", "- 4")],
        # With 5,000 ms of history, records older than 11,000 are not stored.
        "versions": [("b", "4"), ("a", "1")],
    }
