"""A deployment keeps a standby, which takes over when the driver is lost."""

from dataclasses import replace

import pytest
from millrace_model.drivers import DeploymentSettings
from millrace_workers.doubles import Bench
from millrace_workers.launchers import Ended
from millrace_workers.model import Cause
from millrace_workers.monitors import Pulse
from millrace_workers.states.standing_by import RETRY_SECONDS
from millrace_workers.states.watching import CRASHES

from tests.workers.kit import driver, running


def asking(bench: Bench, *, standby: bool = True) -> Bench:
    """A deployment with state, whose settings ask for a standby."""
    settings: DeploymentSettings = {"standby": standby}
    bench.deployment = replace(bench.deployment, settings=settings, has_state=True)
    return bench


@pytest.fixture
def standing(bench: Bench) -> Bench:
    """Version 1 runs, has finished a batch, and its standby waits for the checkpoint."""
    running(asking(bench))
    bench.launcher.prepare()
    assert bench.tick() == "running"
    assert bench.launcher.goes
    return bench


def waiting(bench: Bench) -> int:
    assert bench.launcher.waits is not None
    return bench.launcher.waits.process.pid


def test_a_standby_takes_over_from_a_lost_driver_and_gets_its_own(standing: Bench) -> None:
    second = waiting(standing)
    standing.launcher.lose(driver(standing), None)
    assert standing.tick() == "starting"
    assert driver(standing) == second
    assert standing.took_over == [second]
    assert standing.outcomes == ["crashed"]
    standing.report("running")
    assert standing.tick() == "running"
    assert standing.deployment.failure is None
    assert waiting(standing) not in {second, driver(standing)}


def test_a_driver_that_hangs_is_replaced_by_the_standby(standing: Bench) -> None:
    second = waiting(standing)
    assert standing.deployment.run is not None
    standing.reports.pulses[standing.deployment.run.report_id] = Pulse(standing.now, "running", 0)
    standing.now += 20
    assert standing.tick() == "degraded"
    standing.now += 40
    standing.deployment = replace(standing.deployment, since=standing.now - 40)
    assert standing.tick() == "starting"
    assert driver(standing) == second
    assert standing.outcomes == ["killed"]


@pytest.mark.parametrize("change", ["settings", "version", "fallback"])
def test_without_the_setting_or_a_first_batch_there_is_none(bench: Bench, change: str) -> None:
    asking(bench, standby=change != "settings")
    bench.deployment = replace(
        bench.deployment,
        has_state=change != "version",
        fallback=1 if change == "fallback" else None,
    )
    running(bench)
    assert bench.launcher.waits is None


def test_a_deployment_that_stops_ends_its_standby_first(standing: Bench) -> None:
    second = waiting(standing)
    standing.deployment = replace(standing.deployment, desired="stopped", draining=True)
    standing.launcher.deaf = True
    standing.report("running")
    assert standing.tick() == "stopping"
    assert standing.launcher.killed == [second]
    assert driver(standing) in standing.launcher.alive


def test_a_standby_never_takes_over_from_a_version_that_is_replaced(standing: Bench) -> None:
    second = waiting(standing)
    standing.cold = Cause("cold_memory", "no memory")
    standing.launcher.deaf = True
    standing.deployment = replace(standing.deployment, version=2, fallback=1)
    assert standing.tick() == "stopping"
    assert second in standing.launcher.killed
    assert not standing.launcher.goes or standing.launcher.waits is None


def test_a_lasting_fault_ends_the_standby_too(standing: Bench) -> None:
    second = waiting(standing)
    standing.launcher.lose(driver(standing), 3)
    assert standing.tick() == "failed"
    assert standing.launcher.killed == [second]


def test_many_losses_are_restarted_with_waits_and_then_given_up(standing: Bench) -> None:
    for _ in range(CRASHES - 1):
        standing.launcher.lose(driver(standing), None)
        assert standing.tick() == "starting"
        standing.report("running")
        assert standing.tick() == "running"
        standing.launcher.prepare()
        assert standing.tick() == "running"
    second = waiting(standing)
    standing.launcher.lose(driver(standing), None)
    assert standing.tick() == "failed"
    assert second in standing.launcher.killed


def test_a_standby_that_ends_is_prepared_again_after_a_wait(standing: Bench) -> None:
    waits = standing.launcher.waits
    assert waits is not None
    standing.launcher.waits = replace(waits, ended=Ended(1), ended_at=standing.now)
    assert standing.tick() == "running"
    assert waiting(standing) == waits.process.pid
    standing.launcher.lose(driver(standing), None)
    assert standing.tick() == "restarting", "it cannot take over"
    standing.now += RETRY_SECONDS
    assert standing.tick() == "starting"
    standing.report("running")
    assert standing.tick() == "running"
    assert waiting(standing) != waits.process.pid


def test_without_memory_for_two_drivers_there_is_no_standby(bench: Bench) -> None:
    asking(bench).cold = Cause("cold_memory", "no memory")
    running(bench)
    assert bench.launcher.waits is None
    bench.cold = None
    assert bench.tick() == "running"
    assert bench.launcher.waits is not None
