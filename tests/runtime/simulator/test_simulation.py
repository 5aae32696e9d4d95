"""Jobs on Spark with records from memory: order, restarts, loops, failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.runtime import jobs

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LINES = [
    {"topic": "text-lines", "key": None, "value": "to be or", "timestamp": 30},
    {"topic": "text-lines", "key": None, "value": "not to be", "timestamp": 10, "partition": 3},
    {"topic": "text-lines", "key": None, "value": "ÄÖÜ be", "timestamp": 20, "partition": 1},
]
COUNTED = [
    ("to", 1, 30),
    ("be", 1, 30),
    ("or", 1, 30),
    ("not", 1, 10),
    ("to", 2, 30),
    ("be", 2, 30),
    ("ÄÖÜ", 1, 20),
    ("be", 3, 30),
]


@pytest.fixture(scope="module")
def warm() -> Iterator[Any]:
    from cli.simulating import Warm

    session = Warm(cores=2)
    yield session
    session.close()


def simulate(warm: Any, topology: Any, lines: list[Any], **options: Any) -> Any:
    from millrace_runtime.results.cuts import Cut
    from millrace_runtime.simulator.simulation import Simulator

    cut = Cut.parse(options.pop("cut", "each"))
    graph = jobs.graph_of(topology, warm.analyzer)
    simulator = Simulator(warm.spark.newSession(), graph, cut=cut, **options)
    return simulator.run(lines)


def shown(result: Any) -> list[tuple[Any, Any, Any]]:
    return [(out["key"], out["value"], out["timestamp"]) for out in result.outputs]


@pytest.mark.parametrize("cut", ["each", "all", "random:7"])
def test_words_are_counted_in_the_order_of_the_lines(warm: Any, cut: str) -> None:
    result = simulate(warm, jobs.word_count(), LINES, cut=cut)
    assert result.error is None
    assert shown(result) == COUNTED
    stores = {row["key"]: row["value"] for row in result.stores["counts"]}
    assert stores == {"to": 2, "be": 3, "or": 1, "not": 1, "ÄÖÜ": 1}


def test_a_job_that_is_restarted_after_every_line_forgets_nothing(warm: Any) -> None:
    assert shown(simulate(warm, jobs.word_count(), LINES, restart_each=True)) == COUNTED


def test_outputs_show_their_cause_only_when_every_line_is_cut_off(warm: Any) -> None:
    each = simulate(warm, jobs.upper_case(), LINES)
    assert [out["after"] for out in each.outputs] == [1, 2, 3]
    assert all(
        "after" not in out for out in simulate(warm, jobs.upper_case(), LINES, cut="all").outputs
    )


@pytest.mark.parametrize("cut", ["each", "all"])
def test_a_plain_job_keeps_key_timestamp_and_headers(warm: Any, cut: str) -> None:
    line = {"topic": "text-lines", "key": "k", "value": "x", "timestamp": 5, "headers": {"h": "é"}}
    result = simulate(warm, jobs.upper_case(), [line], cut=cut)
    assert (
        result.outputs[0].items()
        >= {
            "topic": "upper-lines",
            "key": "k",
            "value": "X",
            "timestamp": 5,
            "headers": {"h": "é"},
        }.items()
    )


def test_what_a_job_writes_to_its_own_topic_it_reads(warm: Any) -> None:
    line = {"topic": "numbers", "key": "k", "value": 3, "timestamp": 1}
    result = simulate(warm, jobs.countdown(), [line])
    assert [(out["after"], out["value"]) for out in result.outputs] == [(1, 2), (1, 1), (1, 0)]


NUMBERS = [
    {"topic": "numbers", "key": "a", "value": {"n": 6, "d": 2}, "timestamp": 1},
    {"topic": "numbers", "key": "b", "value": {"n": 6, "d": 0}, "timestamp": 2},
    {"topic": "numbers", "key": "c", "value": {"n": 8, "d": 2}, "timestamp": 3},
]


@pytest.mark.parametrize("cut", ["each", "all"])
def test_a_record_that_fails_stops_the_job_at_its_place(warm: Any, cut: str) -> None:
    result = simulate(warm, jobs.divide(), NUMBERS, cut=cut)
    assert shown(result) == [("a", 3, 1)]
    assert result.error["after"] == 2
    assert (result.error["node"], result.error["parameter"]) == ("divide", "value")
    assert "zero" in result.error["message"].lower()


@pytest.mark.parametrize("cut", ["each", "all"])
def test_a_failing_record_is_dropped_and_counted_if_allowed(warm: Any, cut: str) -> None:
    settings = {"processing_handler": "continue"}
    result = simulate(warm, jobs.divide(**settings), NUMBERS, cut=cut)
    assert shown(result) == [("a", 3, 1), ("c", 4, 3)]
    assert result.dropped == 1


@pytest.mark.parametrize("cut", ["each", "all"])
def test_a_record_without_a_valid_time_is_counted_with_skip(warm: Any, cut: str) -> None:
    late = {"topic": "numbers", "key": "d", "value": {"n": 9, "d": -1}, "timestamp": 4}
    result = simulate(warm, jobs.timed(), [NUMBERS[0], late, NUMBERS[2]], cut=cut)
    assert shown(result) == [("a", 6, 2), ("c", 8, 2)]
    assert (result.error, result.dropped) == (None, 1)


def test_a_dead_letter_has_the_source_records_own_bytes(warm: Any) -> None:
    settings = {"processing_handler": "dead_letter", "dead_letter_topic": "dead"}
    result = simulate(warm, jobs.divide(**settings), NUMBERS)
    dead = [out for out in result.outputs if out["topic"] == "dead"]
    assert [(out["after"], out["key"]) for out in dead] == [(2, "Yg==")]


def test_bytes_that_do_not_fit_their_format_are_a_deserialization_error(warm: Any) -> None:
    bad = {"topic": "numbers", "key": "a", "value_bytes": "e30t", "timestamp": 1}
    result = simulate(warm, jobs.divide(), [bad])
    assert result.error["code"] == "deserialization"
    assert result.error["node"] == "in"
    settings = {"deserialization_handler": "continue"}
    assert simulate(warm, jobs.divide(**settings), [bad]).dropped == 1


def test_a_line_for_a_topic_that_nobody_reads_is_passed_over(warm: Any) -> None:
    result = simulate(warm, jobs.upper_case(), [{"topic": "other", "key": 1, "value": 2}, LINES[0]])
    assert [out["after"] for out in result.outputs] == [2]
