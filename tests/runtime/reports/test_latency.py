"""Percentiles of a report from the operator's buckets."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime.reports.latency import WINDOW_SECONDS, Latencies


def reported(latencies: Latencies, now: float, counts: dict[int, int], total: int) -> Any:
    """Return the latencies that are reported for one node's buckets."""
    buckets = [[lowest, n] for lowest, n in sorted(counts.items())]
    nodes: dict[str, Any] = {
        "out": {"latency": {"event": {"sum": total, "buckets": buckets}}},
        "between": {},
    }
    latencies.complete(nodes, now)
    assert "latency" not in nodes["between"]
    return nodes["out"]["latency"]["event"]


def test_percentiles_are_those_of_the_window_and_totals_those_of_the_run() -> None:
    latencies = Latencies()
    first = reported(latencies, 0, {1_024: 99, 8_192: 1}, 115_000)
    assert (first["p50"], first["p99"], first["max"]) == (1_088, 1_088, 8_704)
    assert first["avg"] == 1_150
    later = reported(latencies, WINDOW_SECONDS, {3: 10, 1_024: 99, 8_192: 1}, 115_030)
    assert (later["min"], later["p50"], later["p99"], later["avg"]) == (3, 3, 3, 3)
    assert (later["count"], later["sum"]) == (110, 115_030)
    assert later["buckets"] == [[4, 10], [2_048, 99], [16_384, 1]]


def test_a_window_without_records_has_no_percentiles() -> None:
    latencies = Latencies()
    reported(latencies, 0, {0: 5}, 0)
    still = reported(latencies, 2 * WINDOW_SECONDS, {0: 5}, 0)
    assert [still[each] for each in ("avg", "min", "max", "p50", "p99")] == [None] * 5
    assert still["buckets"] == [[1, 5]]


@pytest.mark.parametrize(("share", "slow"), [("p50", 51), ("p99", 2)])
def test_a_percentile_is_that_of_the_first_record_with_that_share(share: str, slow: int) -> None:
    found = reported(Latencies(), 0, {0: 100 - slow, 64: slow}, 0)
    assert found[share] == 68
    found = reported(Latencies(), 0, {0: 101 - slow, 64: slow - 1}, 0)
    assert found[share] == 0
