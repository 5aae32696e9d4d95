"""An unreachable part is waited for, without a crash or a failure."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest
from millrace_workers.doubles import Bench
from millrace_workers.jobs import Jobs
from millrace_workers.model import Failure
from millrace_workers.outages import CODES
from millrace_workers.states.watching import CRASHES

from tests.compiler.kit import line, node
from tests.workers.kit import driver, running


def test_a_cluster_that_is_away_is_waited_for_however_long(bench: Bench) -> None:
    bench.topics.away = True
    assert bench.tick() == "checking"
    began, asked = bench.now, bench.topics.asked
    for _ in range(4_000):
        bench.now += 1
        assert bench.tick() == "checking"
    outage = bench.deployment.outage
    assert outage is not None
    assert (outage.code, outage.since) == ("broker_unreachable", began)
    assert "does not answer" in outage.message
    # It is retried after 1, 2, 4 … 60 seconds, not every second.
    assert bench.topics.asked - asked == 6 + (4_000 - 63) // 60
    bench.topics.away = False
    bench.now += 60
    assert bench.tick() == "starting"
    assert bench.deployment.outage is None


def test_a_cluster_that_refuses_is_no_outage(bench: Bench) -> None:
    bench.topics.refuses = "Topic authorization failed"
    assert bench.tick() == "failed"
    assert bench.deployment.failure is not None
    assert bench.deployment.failure["code"] == "kafka_refused"


@pytest.mark.parametrize(
    "code", ["broker_unreachable", "storage_unreachable", "checkpoint_lease_lost"]
)
def test_a_part_that_goes_away_under_a_driver_is_no_crash_however_often(
    bench: Bench, code: str
) -> None:
    running(bench)
    began = bench.now
    for _ in range(3 * CRASHES):
        bench.report("failed", Failure(code, "It does not respond."))
        bench.launcher.lose(driver(bench), 1)
        assert bench.tick() == "restarting"
        bench.now += 61
        assert bench.tick() == "starting"
    assert set(bench.outcomes) == {"outage"}
    assert bench.deployment.crashes == ()
    assert bench.deployment.failure is None
    outage = bench.deployment.outage
    assert outage is not None
    assert (outage.since, outage.attempts) == (began, 3 * CRASHES)
    bench.report("running")
    assert bench.tick() == "running"
    assert bench.deployment.outage is None


def test_an_outage_that_changes_its_reason_began_with_the_first(bench: Bench) -> None:
    running(bench)
    began = bench.now
    for attempts, code in enumerate(("broker_unreachable", "storage_unreachable"), 1):
        bench.report("failed", Failure(code, "It does not respond."))
        bench.launcher.lose(driver(bench), 1)
        assert bench.tick() == "restarting"
        outage = bench.deployment.outage
        assert outage is not None
        assert (outage.code, outage.since, outage.attempts) == (code, began, attempts)
        bench.now += 61
        assert bench.tick() == "starting"


def test_no_driver_is_started_while_the_broker_is_away(bench: Bench) -> None:
    running(bench)
    bench.topics.away = True
    bench.report("failed", Failure("broker_unreachable", "The broker does not answer."))
    bench.launcher.lose(driver(bench), 1)
    for _ in range(600):
        assert bench.tick() == "restarting"
        bench.now += 1
    assert len(bench.launcher.started) == 1


def test_a_stop_is_not_held_up_by_an_outage(bench: Bench) -> None:
    bench.topics.away = True
    bench.tick()
    bench.deployment = replace(bench.deployment, desired="stopped")
    assert bench.tick() == "stopped"
    assert bench.deployment.outage is None


def test_an_analyzer_that_is_away_is_waited_for(bench: Bench) -> None:
    bench.compiler.failure = Failure("analyzer", "The analyzer does not answer.")
    assert bench.tick() == "compiling"
    assert bench.deployment.outage is not None
    assert bench.deployment.failure is None
    bench.compiler.failure = None
    bench.now += 1
    assert bench.tick() == "starting"
    assert bench.deployment.outage is None


def test_a_full_disk_is_waited_for_and_shown(bench: Bench) -> None:
    bench.compiler.disk = OSError(errno.ENOSPC, "No space left on device")
    assert bench.tick() == "staging"
    assert bench.deployment.outage is not None
    assert bench.deployment.outage.code == "disk_full"
    bench.compiler.disk = None
    bench.now += 1
    assert bench.tick() == "starting"


def test_a_driver_that_found_the_disk_full_is_started_when_there_is_room(bench: Bench) -> None:
    running(bench)
    bench.free = 0
    bench.report("failed", Failure("disk_full", "The disk that holds the checkpoint is full."))
    bench.launcher.lose(driver(bench), 1)
    for _ in range(100):
        assert bench.tick() == "restarting"
        bench.now += 1
    bench.free = 1_000_000_000
    bench.now += 60
    assert bench.tick() == "starting"


def test_what_the_compiler_reports_of_an_absent_analyzer_is_an_outage(tmp_path: Path) -> None:
    found = Jobs("127.0.0.1:1", tmp_path, None).check(
        line(node("keep", "filter", predicate="true"))
    )
    assert found is not None
    assert found.code in CODES
