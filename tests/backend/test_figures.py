"""Figures over time: what is recorded of reports, at which resolution, and how charts read it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from deployments import reconciling
from deployments.models import Deployment
from hypothesis import given
from hypothesis import strategies as st
from millrace_backend import redis
from monitoring import queries, recording
from monitoring.choices import Figure, Range, Unit
from monitoring.figures import (
    KINDS,
    MOST_ENDS,
    Figures,
    ends_after,
    merged,
    of_report,
    pack,
    unpack,
)
from monitoring.models import FigureRow, Seen

from .conftest import Client, People
from .test_runtime import progress

#: epoch seconds, at the beginning of a quarter of an hour
NOON = 1_800_000_000


def noted(
    deployment: Deployment, seconds: float, records: int, run: str = "1-1", **more: Any
) -> bool:
    """Record a report from `seconds` after noon."""
    return recording.record(
        deployment, run, progress(int((NOON + seconds) * 1000), records, **more)
    )


def values(
    deployment: Deployment, figure: Figure, seconds: float, range_: Range = Range.QUARTER
) -> dict[str, list[float | None]]:
    """The last six values of each series of a chart, `seconds` after noon."""
    found = queries.chart(deployment, figure, range_, [], NOON + seconds)
    assert all(len(each["values"]) == found["points"] for each in found["series"])
    return {each["name"]: each["values"][-6:] for each in found["series"]}


def lagging(lag: int, end: int = 100) -> dict[str, Any]:
    """Return a report of one task with this lag in its one partition."""
    task = progress(0, 5)["tasks"][0]
    place = {"topic": "t", "partition": 1, "offset": end - lag, "end_offset": end, "lag": lag}
    return {"tasks": [{**task, "topic_partitions": [place]}]}


def test_rates_are_exact_from_one_report_to_another(deployment: Deployment) -> None:
    for at, records in ((1, 100), (11, 150), (21, 400), (31, 400)):
        assert noted(deployment, at, records)
    assert values(deployment, Figure.NODE_IN, 35) == {"words": [None, None, None, 5.0, 25.0, 0.0]}
    assert values(deployment, Figure.NODE_OUT, 35)["words"][-3:] == [10.0, 50.0, 0.0]
    assert values(deployment, Figure.TASK_RECORDS, 35)["0_1"][-3:] == [5.0, 25.0, 0.0]
    assert not noted(deployment, 31, 900), "the same report twice"


def test_a_run_that_begins_counts_from_zero_and_a_pause_is_a_gap(deployment: Deployment) -> None:
    noted(deployment, 1, 1_000)
    noted(deployment, 11, 50, run="1-2")
    noted(deployment, 101, 150, run="1-2")
    noted(deployment, 111, 250, run="1-2")
    found = queries.chart(deployment, Figure.NODE_IN, Range.QUARTER, [], NOON + 111)
    last = found["series"][0]["values"][-12:]
    assert last == [None, 5.0, *[None] * 8, None, 10.0]


def test_every_figure_of_a_report_has_a_series(deployment: Deployment) -> None:
    for seconds, records, warned in ((1, 100, 5), (11, 350, 25)):
        node = {**progress(0, records)["nodes"]["words"], "misses": {"warned": warned}}
        noted(deployment, seconds, records, nodes={"words": node})
    expected: dict[Figure, tuple[str, float]] = {
        Figure.NODE_IN: ("words", 25.0),
        Figure.NODE_OUT: ("words", 50.0),
        Figure.NODE_DROPPED: ("words", 0.0),
        Figure.NODE_DEAD_LETTERS: ("words", 0.0),
        Figure.NODE_WARNED: ("words", 2.0),
        Figure.DROPPED_BY_REASON: ("words: null_key", 0.0),
        Figure.TASK_RECORDS: ("0_1", 25.0),
        Figure.TASK_LAG: ("0_1", 2.0),
        Figure.TASK_STREAM_TIME_DISTANCE: ("0_1", (NOON + 11) * 1000.0 - 99),
        Figure.TASK_STATE_ROWS: ("0_1", 4.0),
        Figure.LAG: ("t-1", 2.0),
        Figure.LAG_TIME: ("t-1", 10_000.0),
        Figure.LATENCY_P50: ("words", 200.0),
        Figure.LATENCY_P99: ("words", 900.0),
        Figure.ARRIVAL_P50: ("words", 20.0),
        Figure.ARRIVAL_P99: ("words", 90.0),
        Figure.STORE_ROWS: ("counts", 4.0),
        Figure.STORE_BYTES: ("counts", 400.0),
        Figure.BATCH_DURATION: ("batch", 120.0),
        Figure.BATCH_PHASES: ("addBatch", 80.0),
    }
    # A sub-topology with one task has no skew.
    assert {*expected, Figure.TASK_SKEW} == set(Figure) == set(KINDS)
    assert values(deployment, Figure.TASK_SKEW, 12) == {}
    found = {figure: values(deployment, figure, 12) for figure in expected}
    last = {
        figure: [(name, line[-1]) for name, line in lines.items()]
        for figure, lines in found.items()
    }
    assert last == {figure: [pair] for figure, pair in expected.items()}


def test_skew_is_the_share_of_the_busiest_task_of_each_sub_topology(
    deployment: Deployment,
) -> None:
    task = progress(0, 5)["tasks"][0]
    for at, busy in ((1, 0), (11, 60), (21, 60), (31, 90)):
        counts = {"0_0": busy, "0_1": busy // 2, "0_2": 0, "1_0": at}
        tasks = [{**task, "task": name, "records": n} for name, n in counts.items()]
        assert noted(deployment, at, at, tasks=tasks)
    # The first task processed 60 of 90 records, then none, then 30 of 45.
    assert values(deployment, Figure.TASK_SKEW, 35) == {"0": [None, None, None, 66.7, None, 66.7]}


def test_coarser_intervals_have_the_same_totals_and_maxima(
    deployment: Deployment,
) -> None:
    for at, records, lag in ((5, 0, 1), (55, 600, 90), (58, 600, 3), (65, 600, 2), (115, 1200, 4)):
        noted(deployment, at, records, **lagging(lag))
    assert values(deployment, Figure.LAG, 119, Range.DAY)["t-1"][-2:] == [90.0, 4.0]
    # The rate is taken from the report at 58 s to the one at 115 s.
    assert values(deployment, Figure.NODE_IN, 119, Range.DAY)["words"][-1] == round(600 / 57, 3)
    assert values(deployment, Figure.LAG, 119, Range.WEEK)["t-1"][-1] == 90.0


def test_the_rings_are_bounded(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "RINGS", ((10, 5), (60, 3)))
    for at in range(0, 600, 5):
        noted(deployment, at, at)
    kept = {step: FigureRow.objects.filter(deployment=deployment, step=step) for step in (10, 60)}
    assert [row.slot - NOON // 10 for row in kept[10].order_by("slot")] == [55, 56, 57, 58, 59]
    assert [row.slot - NOON // 60 for row in kept[60].order_by("slot")] == [7, 8, 9]


def test_what_lies_in_the_rings_reaches_as_far_as_the_ranges() -> None:
    kept = dict(recording.RINGS)
    for seconds, step in queries.RANGES.values():
        assert kept[step] * step >= seconds


def test_an_answer_is_bounded_and_has_the_highest(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    now = int(time.time())
    many = {f"n{n:04}": {"in": 0, "out": 0, "dropped": {}, "dead_letters": 0} for n in range(1_500)}
    more = {name: {**node, "in": n * 10} for n, (name, node) in enumerate(many.items())}
    recording.record(deployment, "1-1", progress((now - 20) * 1000, 0, nodes=many))
    recording.record(deployment, "1-1", progress((now - 10) * 1000, 0, nodes=more))
    client = client_of(people.viewer)
    path = f"/api/deployments/{deployment.pk}/figures?figure=node_in"
    found: Any = client.get(path).json()
    assert [each["name"] for each in found["series"]] == [f"n{n}" for n in range(1499, 1487, -1)]
    assert (found["left_out"], len(found["names"])) == (1_488, 1_000)
    assert (found["of"], found["unit"], found["step"], found["points"]) == (
        "node",
        "per_second",
        10,
        90,
    )
    named: Any = client.get(f"{path}&name=n0003&name=n0007&name=none").json()
    assert [each["name"] for each in named["series"]] == ["n0007", "n0003"]
    assert named["left_out"] == 0
    for wrong in ("figure=nothing", "figure=lag&range=1y", "range=1h"):
        answer: Any = client.get(f"/api/deployments/{deployment.pk}/figures?{wrong}")
        assert answer.status_code == 400
        assert answer.json()["error"]["fields"]


def test_workers_note_what_lies_in_redis_of_runs_that_live(deployment: Deployment) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    assert recording.record_all() == 0
    now = int(time.time() * 1000)
    snapshot = redis.run_snapshot(f"{deployment.pk}-1")
    redis.client().set(snapshot, json.dumps(progress(now, 100)))
    assert [recording.record_all(), recording.record_all()] == [1, 0]
    redis.client().set(snapshot, "no JSON")
    assert recording.record_all() == 0
    redis.client().set(snapshot, json.dumps(progress(now + 1, 110)))
    reconciling.end_run(deployment.pk, "stopped")
    assert recording.record_all() == 0
    seen = Seen.objects.get(deployment=deployment)
    assert (seen.at, seen.records, seen.records_at) == (now, 100, now)


def test_the_age_of_a_backlog_is_counted_from_the_end_that_was_read() -> None:
    ends: list[list[int]] = []
    ages = []
    for at, end, lag in (
        (0, 100, 0),
        (5, 100, 0),
        (10, 150, 50),  # all of them came after 5 s
        (15, 200, 80),  # read up to 120
        (20, 200, 50),  # read up to 150, which was the end at 10 s
        (25, 200, 0),
    ):
        ends = ends_after(ends, end, lag, at)
        ages.append(0 if lag == 0 else at - ends[0][1])
    assert ages == [0, 0, 5, 10, 10, 0]


@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=300),
)
def test_ends_are_bounded_and_an_age_never_runs_backwards(
    steps: list[tuple[int, int]],
) -> None:
    ends: list[list[int]] = []
    end = read = 0
    for at, (came, taken) in enumerate(steps):
        end += came
        read = min(end, read + taken)
        before, ends = ends, ends_after(ends, end, end - read, at)
        assert len(ends) <= MOST_ENDS + 1
        assert ends == sorted(ends)
        if taken == 0 and end > read and before and before[0][0] <= read:
            assert ends[0] == before[0]


def test_a_report_with_nothing_in_it_has_no_figures() -> None:
    report: Any = {"at": 1, "nodes": {}, "tasks": [], "stores": []}
    assert of_report(report, {}) == ({}, {})
    figures: Figures = {Figure.LAG.value: {"t-0": 4}, Figure.NODE_IN.value: {"a": 9}}
    assert unpack(pack(figures)) == figures
    assert merged(figures, {Figure.NODE_IN.value: {"a": 3}}) == {
        Figure.LAG.value: {"t-0": 4},
        Figure.NODE_IN.value: {"a": 3},
    }
    assert {kind.unit for kind in KINDS.values()} <= set(Unit)
