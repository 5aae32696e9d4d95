"""A new version that does not start is replaced by the previous one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from millrace_workers.doubles import Bench
from millrace_workers.model import Cause
from millrace_workers.states.starting import START_PATIENCE_SECONDS

from tests.workers.kit import driver, running


def _replaced(bench: Bench) -> int:
    """Start version 2 in place of version 1; return its driver's process id."""
    running(bench)
    bench.deployment = replace(bench.deployment, version=2, fallback=1)
    for _ in range(4):
        bench.tick()
        if bench.launcher.waits is not None:
            bench.launcher.prepare()
        if bench.deployment.run is not None and bench.deployment.run.version == 2:
            return driver(bench)
    raise AssertionError(bench.deployment.observed)


@pytest.mark.parametrize("code", [1, 2, 3, -9])
def test_a_version_that_ends_before_its_first_batch_is_rolled_back(bench: Bench, code: int) -> None:
    bench.launcher.lose(_replaced(bench), code)
    bench.tick()
    bench.now += 1
    bench.tick()
    assert bench.launcher.started[-1].job_directory.name == "v1"
    assert (bench.deployment.version, bench.deployment.fallback) == (1, None)
    running(bench)
    failure = bench.deployment.failure
    assert failure is not None
    assert failure["code"] == "fell_back"
    assert "Version 2 ended before its first batch" in failure["message"]
    assert "Version 1 runs again" in failure["message"]
    assert failure["facts"] == {"version": "2", "before": "1"}
    cause = failure["cause"]
    assert cause is not None
    assert (cause["code"], cause["facts"]) == ("driver_lost", {"exit_code": str(code)})
    assert cause["message"] in failure["message"]


def test_a_driver_that_reports_how_far_it_is_is_waited_for(bench: Bench) -> None:
    pid = _replaced(bench)
    for rows in (10, 20, 30):
        bench.now += START_PATIENCE_SECONDS - 1
        detail = Cause("moving_state_written", f"{rows} rows written.", facts={"rows": str(rows)})
        bench.report("starting", detail=detail)
        assert bench.tick() == "starting"
        assert bench.steps[-1] == ("start", "running", detail)
    assert bench.launcher.killed == []
    bench.now += START_PATIENCE_SECONDS + 1
    bench.tick()
    assert bench.launcher.killed == [pid]


def test_a_change_cancelled_while_it_starts_restores_the_version_before(
    bench: Bench,
) -> None:
    pid = _replaced(bench)
    bench.launcher.killed.clear()
    bench.deployment = replace(bench.deployment, version=1, fallback=None)
    assert bench.tick() == "stopping"
    assert bench.tick() == "starting"
    assert pid in bench.launcher.ended
    assert bench.launcher.started[-1].job_directory.name == "v1"
    assert bench.deployment.run is not None
    assert bench.deployment.run.version == 1


def test_a_change_cancelled_before_anything_stopped_leaves_the_driver(
    bench: Bench,
) -> None:
    before = driver(running(bench))
    bench.deployment = replace(bench.deployment, observed="compiling")
    assert bench.tick() == "running"
    assert driver(bench) == before
    assert len(bench.launcher.started) == 1


def test_a_version_that_has_done_a_batch_is_started_again_itself(bench: Bench) -> None:
    pid = _replaced(bench)
    running(bench)
    bench.deployment.checkpoint.mkdir(parents=True, exist_ok=True)
    run = bench.deployment.run
    assert run is not None
    (bench.deployment.checkpoint / "arrived").write_text(run.report_id)
    bench.tick()
    assert bench.deployment.fallback is None
    bench.launcher.lose(pid, 1)
    bench.tick()
    bench.now += 1
    bench.tick()
    assert bench.launcher.started[-1].job_directory.name == "v2"
    assert bench.deployment.failure is not None
    assert bench.deployment.failure["code"] != "fell_back"
