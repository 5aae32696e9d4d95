"""Windows of one's own: a function in a program, its errors, modules, and the way to the canvas."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import Topology, custom_windows, json, long, string, window_store
from millrace_runtime.program import load_program
from millrace_runtime.testing import RecordFailed, TopologyTestDriver

pytestmark = [pytest.mark.spark, pytest.mark.slow]
Create = Callable[..., TopologyTestDriver]
HOUR = 3_600_000


def shifts(timestamp: int) -> list[tuple[int, int]]:
    """Shifts of 6, 6 and 12 hours."""
    day = timestamp // (24 * HOUR) * 24 * HOUR
    bounds = [day, day + 6 * HOUR, day + 12 * HOUR, day + 24 * HOUR]
    return [(a, b) for a, b in itertools.pairwise(bounds) if a <= timestamp < b]


def odd(timestamp: int) -> Any:
    """Windows that are none, by the timestamp."""
    return {1: [(0, 1.5)], 2: [(-1, 5)], 3: [(5, 5)], 4: 7, 5: [(1, 2, 3)]}[timestamp]


def counting(function: Any = shifts, **settings: Any) -> Topology:
    topology = Topology("shifts", **settings)
    records = topology.stream("in", key=string(), value=long())
    windows = custom_windows(function, size="12 hours", grace="1 hour")
    counted = records.group_by_key().windowed_by(windows).count(
        store=window_store("per-shift"), name="count"
    )  # fmt: skip
    counted.to_stream().to("out", key=json(), value=long())
    return topology


def test_each_record_is_counted_in_the_windows_of_the_function(
    topology_test_driver: Create,
) -> None:
    driver = topology_test_driver(counting())
    source, out = driver.input_topic("in"), driver.output_topic("out")
    for hour in (1, 5, 6, 7.5, 5.5, 13):
        source.pipe("a", 1, int(hour * HOUR))
    found = [(row["window"]["start"] // HOUR, row["window"]["end"] // HOUR, n)
             for row, n in out.read_key_values()]  # fmt: skip
    assert found == [(0, 6, 1), (0, 6, 2), (6, 12, 1), (6, 12, 2), (12, 24, 1)]
    assert [drop.reason for drop in driver.drops] == ["late"]
    assert driver.store("per-shift").fetch("a", 6 * HOUR) == 2


def test_a_lambda_with_a_value_of_its_function_gives_the_windows(
    topology_test_driver: Create,
) -> None:
    size = 6 * HOUR
    driver = topology_test_driver(counting(lambda ts: [(ts // size * size, ts // size * size + 1)]))
    driver.input_topic("in").pipe("a", 1, 7 * HOUR)
    [(key, count)] = driver.output_topic("out").read_key_values()
    assert (key["window"]["start"], key["window"]["end"], count) == (size, size + 1, 1)


def test_what_is_no_window_is_an_error_of_the_record(topology_test_driver: Create) -> None:
    driver = topology_test_driver(counting(odd))
    source = driver.input_topic("in")
    for timestamp, message in (
        (1, r"odd must return pairs \(start, end\) in ms, not \(0, 1.5\)"),
        (2, "starts before 1970"),
        (3, "ends at 5, not after 5"),
        (4, r"odd must return pairs"),
        (5, r"not \(1, 2, 3\)"),
        (6, "6"),
    ):
        with pytest.raises(RecordFailed, match=message) as failed:
            source.pipe("a", 1, timestamp)
    assert (failed.value.node, failed.value.parameter) == ("count", "window")
    assert "test_custom_windows.py, line " in str(failed.value)


def test_a_failure_goes_to_the_handler_of_the_topology(topology_test_driver: Create) -> None:
    driver = topology_test_driver(counting(odd, processing_handler="continue"))
    driver.input_topic("in").pipe("a", 1, 6)
    assert [(drop.node, drop.reason) for drop in driver.drops] == [("count", "processing")]


def test_the_canvas_has_the_function_and_the_way_back(
    tmp_path: Path, topology_test_driver: Create
) -> None:
    (tmp_path / "hours.py").write_text("HOUR = 3_600_000\n")
    (tmp_path / "job.py").write_text(PROGRAM)
    topology = load_program(tmp_path / "job.py")
    document = topology.document()
    window = next(each for each in document["nodes"] if each["kind"] == "count")["params"]["window"]
    assert window["type"] == "custom"
    assert "def per_hour" in window["code"]
    driver = topology_test_driver(document)
    driver.input_topic("in").pipe("a", 1, 2 * HOUR + 1)
    [(key, count)] = driver.output_topic("out").read_key_values()
    assert (key["window"], count) == ({"start": 2 * HOUR, "end": 3 * HOUR}, 1)


PROGRAM = """
from millrace_runtime import Topology, custom_windows, json, long, string


def per_hour(timestamp):
    from hours import HOUR

    start = timestamp // HOUR * HOUR
    return [(start, start + HOUR)]


topology = Topology("hours")
records = topology.stream("in", key=string(), value=long())
grouped = records.group_by_key().windowed_by(custom_windows(per_hour, size="1 hour"))
grouped.count(name="count").to_stream().to("out", key=json(), value=long())
"""
