"""A standby is prepared beside the running driver, with scripted external parts."""

from dataclasses import replace

import pytest
from millrace_workers.doubles import Bench
from millrace_workers.launchers import Ended
from millrace_workers.model import Failure
from millrace_workers.monitors import StateReport
from millrace_workers.states.handing_over import PREPARE_PATIENCE_SECONDS

from tests.workers.kit import driver, running


@pytest.fixture
def changing(bench: Bench) -> Bench:
    """Version 1 runs, and a standby for version 2 is being prepared."""
    running(bench)
    bench.deployment = replace(bench.deployment, version=2, fallback=1)
    assert bench.tick() == "staging"
    return bench


def test_the_old_driver_is_asked_to_stop_once_the_new_one_is_prepared(changing: Bench) -> None:
    old = driver(changing)
    assert changing.tick() == "staging"
    assert old in changing.launcher.alive
    changing.launcher.prepare()
    changing.launcher.deaf = True
    assert changing.tick() == "stopping"
    assert changing.launcher.goes, "it takes the checkpoint as soon as that is free"
    waits = changing.launcher.waits
    assert waits is not None
    changing.launcher.lose(old, 0)
    assert changing.tick() == "starting"
    assert driver(changing) == waits.process.pid
    assert len(changing.launcher.started) == 2
    assert changing.deployment.run is not None
    assert changing.deployment.run.report_id == "7-2"
    changing.report("running")
    assert changing.tick() == "running"
    assert changing.outcomes == ["stopped"]


@pytest.mark.parametrize("code", [1, 2, -9, None])
def test_a_new_driver_that_ends_while_it_is_prepared_stops_nothing(
    changing: Bench, code: int | None
) -> None:
    old = driver(changing)
    waits = changing.launcher.waits
    assert waits is not None
    changing.launcher.waits = replace(waits, ended=Ended(code))
    cause = Failure("import_failed", "no module", "step")
    changing.reports.states["7-2"] = StateReport("failed", changing.now, cause)
    assert changing.tick() == "running"
    assert driver(changing) == old
    assert changing.deployment.version == 1
    failure = changing.deployment.failure
    assert failure is not None
    assert (failure["code"], failure["node"]) == ("fell_back", "step")
    assert failure["message"].endswith("no module Version 1 was not stopped.")
    assert changing.launcher.waits is None


def test_a_new_driver_that_finds_the_broker_away_is_prepared_again_later(changing: Bench) -> None:
    waits = changing.launcher.waits
    assert waits is not None
    changing.launcher.waits = replace(waits, ended=Ended(1))
    away = Failure("broker_unreachable", "Kafka does not answer")
    changing.reports.states["7-2"] = StateReport("failed", changing.now, away)
    assert changing.tick() == "staging"
    assert changing.deployment.outage is not None
    changing.now += 2
    assert changing.tick() == "staging"
    assert changing.launcher.waits is not None
    assert len(changing.launcher.started) == 3


def test_a_new_driver_that_nobody_asked_for_in_time_is_started_again(changing: Bench) -> None:
    waits = changing.launcher.waits
    assert waits is not None
    changing.launcher.waits = replace(waits, ended=Ended(0))
    changing.tick()
    assert changing.tick() == "staging"
    assert len(changing.launcher.started) == 3


def test_a_new_driver_that_is_never_prepared_is_given_up(changing: Bench) -> None:
    changing.now += PREPARE_PATIENCE_SECONDS + 1
    assert changing.tick() == "running"
    assert changing.deployment.failure is not None
    assert "not ready within" in changing.deployment.failure["message"]
    assert len(changing.launcher.killed) == 1


def test_a_driver_that_is_lost_meanwhile_gives_way_to_the_new_one_as_it_is(
    changing: Bench,
) -> None:
    waits = changing.launcher.waits
    assert waits is not None
    changing.launcher.lose(driver(changing), None)
    assert changing.tick() == "starting"
    assert driver(changing) == waits.process.pid
    assert changing.outcomes == ["killed"]


def test_a_change_that_is_cancelled_ends_the_driver_that_waits(changing: Bench) -> None:
    changing.deployment = replace(changing.deployment, version=1, fallback=None)
    assert changing.tick() == "running"
    assert changing.launcher.waits is None
    assert len(changing.launcher.killed) == 1


def test_a_stop_ends_the_driver_that_waits_as_well(changing: Bench) -> None:
    changing.deployment = replace(changing.deployment, desired="stopped")
    changing.tick()
    assert changing.tick() == "stopped"
    assert changing.launcher.waits is None
    assert changing.launcher.alive == {}


def test_another_version_ends_the_driver_that_waits_for_the_one_before(changing: Bench) -> None:
    first = changing.launcher.waits
    changing.deployment = replace(changing.deployment, version=3)
    assert changing.tick() == "staging"
    second = changing.launcher.waits
    assert first is not None
    assert second is not None
    assert changing.launcher.killed == [first.process.pid]
    assert second.process != first.process


def test_other_settings_end_the_driver_that_takes_over_with_those_before(changing: Bench) -> None:
    changing.launcher.prepare()
    changing.launcher.deaf = True
    assert changing.tick() == "stopping"
    waits = changing.launcher.waits
    assert waits is not None
    changing.deployment = replace(changing.deployment, settings={"memory_mb": 2048})
    changing.launcher.lose(driver(changing), 0)
    assert changing.tick() == "starting"
    assert changing.launcher.killed == [waits.process.pid]
    assert "spark.driver.memory=2048m" in changing.launcher.started[-1].arguments


def test_a_restart_is_prepared_too_with_the_code_that_is_there(bench: Bench) -> None:
    running(bench)
    bench.deployment = replace(bench.deployment, restart_requested=True)
    assert bench.tick() == "staging"
    assert len(bench.compiler.written) == 1, "the driver that runs reads its code from there"
    bench.launcher.prepare()
    bench.tick()
    assert bench.tick() == "starting"
    bench.report("running")
    assert bench.tick() == "running"


def test_a_paused_driver_is_stopped_first(bench: Bench) -> None:
    running(bench)
    bench.deployment = replace(bench.deployment, restart_requested=True, paused=True)
    bench.launcher.deaf = True
    assert bench.tick() == "stopping"
    assert bench.launcher.waits is None


def test_a_change_goes_on_after_a_reboot_that_ended_both_drivers(changing: Bench) -> None:
    waits = changing.launcher.waits
    assert waits is not None
    changing.launcher.lose(driver(changing), None)
    changing.launcher.waits = replace(waits, ended=Ended(None))
    assert changing.tick() == "starting"
    assert changing.deployment.failure is None
    assert changing.deployment.run is not None
    assert changing.deployment.run.version == 2
    assert len(changing.launcher.started) == 3


def test_the_time_to_prepare_counts_from_the_start_of_the_driver(changing: Bench) -> None:
    changing.now += PREPARE_PATIENCE_SECONDS
    changing.reports.states["7-2"] = StateReport("starting", changing.now - 1, None)
    changing.now += PREPARE_PATIENCE_SECONDS - 2
    assert changing.tick() == "staging"
    changing.now += 2
    assert changing.tick() == "running"
