"""Drivers that are silent, hang, pause or drain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from millrace_workers.doubles import Bench
from millrace_workers.monitors import Pulse

from tests.workers.kit import driver, running


def pulse(bench: Bench, at: float, state: str = "running", busy: float = 0.0) -> None:
    assert bench.deployment.run is not None
    bench.reports.pulses[bench.deployment.run.report_id] = Pulse(at, state, busy)


def test_a_silent_driver_is_degraded_then_restarted_with_its_threads(
    bench: Bench,
) -> None:
    first = driver(running(bench))
    pulse(bench, bench.now)
    bench.now += 14
    assert bench.tick() == "running"
    bench.now += 2
    assert bench.tick() == "degraded"
    assert cast(Any, bench.deployment.failure)["code"] == "driver_silent"
    bench.now += 29
    assert bench.tick() == "degraded"
    assert bench.launcher.killed == []
    bench.now += 1
    bench.tick()
    assert bench.launcher.killed == [first]
    assert bench.outcomes == ["killed"]
    failure = cast(Any, bench.deployment.failure)
    assert failure["code"] == "driver_restarted"
    cause = failure["cause"]
    assert (cause["code"], cause["facts"]) == ("driver_silent", {"seconds": "46"})
    assert failure["message"].startswith(cause["message"])
    (kept,) = (bench.deployment.directory / "threads").iterdir()
    assert f"threads of {first}" in kept.read_text()
    bench.now += 1
    assert bench.tick() == "starting"
    bench.report("running")
    assert bench.tick() == "running"
    assert bench.deployment.failure is None


@pytest.mark.parametrize("state", ["running", "asleep", "paused"])
def test_a_driver_that_reports_again_is_degraded_no_more(bench: Bench, state: str) -> None:
    running(bench)
    pulse(bench, bench.now - 20)
    assert bench.tick() == "degraded"
    pulse(bench, bench.now, state)
    assert bench.tick() == state
    assert bench.deployment.failure is None
    assert bench.outcomes == []


@pytest.mark.parametrize("step_of_the_clock", [-3600, 3600])
def test_a_step_of_the_clock_restarts_no_driver(bench: Bench, step_of_the_clock: int) -> None:
    running(bench)
    pulse(bench, bench.now)
    bench.now += step_of_the_clock
    assert bench.tick() == "degraded"
    bench.now += 1
    pulse(bench, bench.now)
    assert bench.tick() == "running"
    assert bench.outcomes == []


def test_a_redis_that_has_forgotten_everything_reports_nothing_of_a_driver(bench: Bench) -> None:
    running(bench)
    bench.now += 100
    assert bench.tick() == "running"


@pytest.mark.parametrize(
    ("settings", "late"),
    [
        ({}, 601),
        ({"batch_deadline_s": 20}, 21),
        ({"batch_deadline_s": 20, "real_time_ms": 9_000}, 30),
    ],
)
def test_a_batch_that_does_not_end_by_its_deadline_is_degraded(
    bench: Bench, settings: Any, late: float
) -> None:
    running(bench)
    bench.deployment = replace(bench.deployment, settings=settings)
    pulse(bench, bench.now, busy=late - 2)
    assert bench.tick() == "running"
    pulse(bench, bench.now, busy=late)
    assert bench.tick() == "degraded"
    assert cast(Any, bench.deployment.failure)["code"] == "batch_late"


def test_a_new_version_whose_driver_hangs_falls_back(bench: Bench) -> None:
    running(bench)
    bench.deployment = replace(bench.deployment, fallback=4, version=1)
    pulse(bench, bench.now - 20)
    assert bench.tick() == "degraded"
    bench.now += 31
    bench.tick()
    assert bench.deployment.version == 4
    assert cast(Any, bench.deployment.failure)["code"] == "fell_back"


def test_a_degraded_deployment_can_be_stopped(bench: Bench) -> None:
    running(bench)
    pulse(bench, bench.now - 20)
    assert bench.tick() == "degraded"
    bench.deployment = replace(bench.deployment, desired="stopped")
    bench.tick()
    assert bench.tick() == "stopped"


def test_a_pause_reaches_the_driver_and_holds_after_a_restart(
    bench: Bench,
) -> None:
    running(bench)
    control = bench.deployment.control
    bench.deployment = replace(bench.deployment, paused=True)
    pulse(bench, bench.now)
    assert bench.tick() == "running"
    assert control.read_text() == "pause"
    pulse(bench, bench.now, "paused")
    assert bench.tick() == "paused"
    bench.launcher.lose(driver(bench), None)
    bench.tick()
    bench.now += 1
    bench.tick()
    assert control.read_text() == "pause"
    assert str(control) in bench.launcher.started[-1].arguments
    bench.report("paused")
    assert bench.tick() == "paused"
    bench.deployment = replace(bench.deployment, paused=False)
    pulse(bench, bench.now, "running")
    assert bench.tick() == "running"
    assert not control.exists()


def test_a_sleeping_driver_is_watched_changed_and_restarted(
    bench: Bench,
) -> None:
    running(bench)
    pulse(bench, bench.now, "asleep")
    assert bench.tick() == "asleep"
    bench.launcher.lose(driver(bench), None)
    assert bench.tick() == "restarting"
    bench.now += 1
    bench.tick()
    bench.report("asleep")
    assert bench.tick() == "asleep"
    pulse(bench, bench.now - 20, "asleep")
    assert bench.tick() == "degraded"
    pulse(bench, bench.now, "asleep")
    assert bench.tick() == "asleep"
    bench.deployment = replace(bench.deployment, restart_requested=True)
    assert bench.tick() == "staging"


def test_a_driver_that_drains_has_all_the_time_it_needs_while_it_responds(bench: Bench) -> None:
    running(bench)
    bench.launcher.deaf = True
    bench.deployment = replace(bench.deployment, desired="stopped", draining=True)
    pulse(bench, bench.now)
    assert bench.tick() == "stopping"
    assert bench.deployment.control.read_text() == "drain"
    bench.now += 3600
    pulse(bench, bench.now)
    assert bench.tick() == "stopping"
    assert bench.launcher.killed == []
    bench.launcher.lose(driver(bench), 0)
    assert bench.tick() == "stopped"
    assert bench.outcomes == ["stopped"]


def test_a_driver_that_hangs_while_it_drains_is_ended(bench: Bench) -> None:
    running(bench)
    bench.launcher.deaf = True
    bench.deployment = replace(bench.deployment, desired="stopped", draining=True)
    pulse(bench, bench.now)
    bench.tick()
    bench.now += 60
    assert bench.tick() == "stopping"
    assert bench.tick() == "stopped"
    assert bench.launcher.killed
