"""Which task ran where over time, and why it moved."""

from __future__ import annotations

import time
from typing import Any

import pytest
from deployments import reconciling
from deployments.models import Deployment
from monitoring import placing, recording
from monitoring.models import Placement

from .conftest import Client, People
from .test_runtime import progress


@pytest.fixture
def start() -> int:
    """Epoch milliseconds a minute ago."""
    return int(time.time() * 1000) - 60_000


def tell(deployment: Deployment, run: int, at: int, **places: tuple[str, str]) -> None:
    """Record a report with the executor and thread of each task; `t0_1` is task 0_1."""
    task = progress(at, 1)["tasks"][0]
    tasks = [
        {**task, "task": name.removeprefix("t"), "executor": executor, "thread": thread}
        for name, (executor, thread) in places.items()
    ]
    deployment.refresh_from_db()
    report_id = f"{deployment.pk}-{run}"
    recording.record(deployment, report_id, progress(at, 1, tasks=tasks))


def moves() -> list[tuple[str, str, str, str]]:
    """Return task, old and new executor, and reason of each move, oldest first."""
    rows = Placement.objects.order_by("id")
    return [(row.task, row.from_executor, row.executor, row.reason) for row in rows]


def test_tasks_are_placed_once_and_moves_have_their_reasons(
    deployment: Deployment, start: int
) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    tell(deployment, 1, start, t0_0=("0", "a"), t0_1=("1", "a"))
    tell(deployment, 1, start + 5_000, t0_0=("0", "b"), t0_1=("1", "c"))
    first = [("0_0", "", "0", "start"), ("0_1", "", "1", "start")]
    assert moves() == first, "another thread of the executor is no move in micro-batches"
    tell(deployment, 1, start + 10_000, t0_0=("1", "b"), t0_1=("0", "c"))
    swapped = [("0_0", "0", "1", "moved"), ("0_1", "1", "0", "moved")]
    assert moves() == [*first, *swapped]
    tell(deployment, 1, start + 15_000, t0_0=("1", "b"), t0_1=("2", "c"))
    scaled = ("0_1", "0", "2", "scale")
    assert moves() == [*first, *swapped, scaled]
    rows = list(Placement.objects.filter(task="0_1").order_by("id"))
    assert [row.since for row in rows[1:]] == [row.until for row in rows[:-1]]
    assert rows[-1].until is None


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [("crashed", "crash"), ("killed", "crash"), ("outage", "outage"), ("stopped", "start")],
)
def test_a_new_driver_takes_the_tasks_for_a_reason(
    deployment: Deployment, start: int, outcome: str, reason: str
) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    tell(deployment, 1, start, t0_0=("driver", "a"))
    reconciling.end_run(deployment.pk, outcome)
    recording.record_all()
    ended = deployment.runs.get(epoch=1).ended_at
    assert Placement.objects.get().until == ended
    reconciling.begin_run(deployment.pk, 2, "here", "boot/2", 2)
    tell(deployment, 2, start + 30_000, t0_0=("driver", "a"))
    assert moves() == [("0_0", "", "driver", "start"), ("0_0", "driver", "driver", reason)]


def test_tasks_that_appear_one_by_one_began_for_the_same_reason(
    deployment: Deployment, start: int
) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    tell(deployment, 1, start, t0_0=("0", "a"))
    tell(deployment, 1, start + 5_000, t0_0=("0", "a"), t1_0=("0", "b"))
    reconciling.end_run(deployment.pk, "crashed")
    reconciling.begin_run(deployment.pk, 2, "here", "boot/2", 2)
    tell(deployment, 2, start + 30_000, t0_0=("0", "a"))
    tell(deployment, 2, start + 35_000, t0_0=("0", "a"), t1_0=("0", "b"))
    assert moves() == [
        ("0_0", "", "0", "start"),
        ("1_0", "", "0", "start"),
        ("0_0", "0", "0", "crash"),
        ("1_0", "0", "0", "crash"),
    ]


def test_another_version_is_a_reason(deployment: Deployment, start: int) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    tell(deployment, 1, start, t0_0=("driver", "a"), t0_1=("driver", "a"))
    reconciling.end_run(deployment.pk, "stopped")
    reconciling.begin_run(deployment.pk, 2, "here", "boot/2", 2, version=2)
    tell(deployment, 2, start + 10_000, t0_0=("driver", "b"))
    assert moves()[2:] == [("0_0", "driver", "driver", "version")]
    assert Placement.objects.filter(until__isnull=True).count() == 1, "a task that is gone"


def test_in_real_time_another_thread_is_a_move(deployment: Deployment, start: int) -> None:
    Deployment.objects.filter(pk=deployment.pk).update(settings={"real_time_ms": 1_000})
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    for seconds, thread in ((0, "a"), (5, "a"), (10, "b")):
        tell(deployment, 1, start + seconds * 1000, t0_0=("driver", thread))
    rows = Placement.objects.order_by("id")
    assert [(row.from_thread, row.thread, row.reason) for row in rows] == [
        ("", "a", "start"),
        ("a", "b", "moved"),
    ]


def test_the_history_is_bounded(
    deployment: Deployment, start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "MOST_PLACEMENTS", 10)
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    for number in range(30):
        tell(deployment, 1, start + number * 1000, t0_0=(str(number % 2), "a"), t0_1=("9", "a"))
    assert Placement.objects.count() <= 11
    assert Placement.objects.filter(task="0_1", until__isnull=True).count() == 1


def test_the_history_is_read_by_page_and_found(
    deployment: Deployment, people: People, client_of: Client, start: int
) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    long_ago = start - 3 * 24 * 3_600_000
    tell(deployment, 1, long_ago, t0_0=("0", "a"), t0_1=("0", "b"))
    tell(deployment, 1, long_ago + 10_000, t0_0=("1", "a"), t0_1=("0", "b"))
    tell(deployment, 1, start, t0_0=("0", "a"), t0_1=("0", "b"))
    client = client_of(people.viewer)
    path = f"/api/deployments/{deployment.pk}/placements"
    day: Any = client.get(path).json()
    assert [(each["task"], each["executor"]) for each in day["results"]] == [
        ("0_0", "0"),
        ("0_0", "1"),
        ("0_1", "0"),
    ]
    newest = day["results"][0]
    assert (newest["from_executor"], newest["reason"], newest["until"]) == ("1", "scale", None)
    assert client.get(f"{path}?range=7d").json()["count"] == 4
    assert client.get(f"{path}?range=7d&search=0_1").json()["count"] == 1
    assert len(client.get(f"{path}?range=7d&page_size=3").json()["results"]) == 3
    assert client.get(f"{path}?range=1y").status_code == 400
