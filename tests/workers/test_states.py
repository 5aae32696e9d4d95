"""The life of a deployment, driven state by state with scripted outside parts."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from millrace_workers.doubles import Bench, ScriptedTopics
from millrace_workers.jobs import Jobs
from millrace_workers.model import Deployment, Failure
from millrace_workers.monitors import Pulse
from millrace_workers.outages import CODES
from millrace_workers.states import STATES, TRANSITIONS
from millrace_workers.states.restarting import LIMIT, wait_after
from millrace_workers.states.starting import START_PATIENCE_SECONDS

from tests.compiler.kit import line, node

DOCUMENT: dict[str, Any] = {
    "format": "millrace.topology/1",
    "topics": {"in": {"partitions": 2}},
    "nodes": [
        {"id": "in", "kind": "source.stream", "params": {"topics": ["in"]}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
    ],
    "edges": [{"source": "in", "target": "out"}],
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    topics = ScriptedTopics({"in": 2, "out": 1})
    return Bench(
        Deployment(
            id=7,
            name="sample",
            version=1,
            document=DOCUMENT,
            settings={},
            desired="running",
            observed="new",
            directory=tmp_path,
            since=1000.0,
        ),
        topics=topics,
    )


def running(bench: Bench) -> Bench:
    bench.tick()
    bench.say("running")
    assert bench.tick() == "running"
    return bench


def test_a_version_with_topics_that_its_workspace_may_not_use_is_refused_before_anything_else(
    bench: Bench,
) -> None:
    forbidden = Failure("topic_not_allowed", "not allowed", "out", "topic")
    bench.deployment = replace(bench.deployment, forbidden=forbidden)
    assert bench.tick() == "failed"
    assert bench.deployment.failure == forbidden.as_json()
    assert bench.launcher.started == []


def driver(bench: Bench) -> int:
    assert bench.deployment.run is not None
    return bench.deployment.run.process.pid


def test_a_new_deployment_is_compiled_checked_staged_and_started_in_one_go(bench: Bench) -> None:
    assert bench.tick() == "starting"
    done = [name for name, state, _ in bench.steps if state == "done"]
    assert done == ["compile", "check", "stage"]
    assert bench.launcher.started[0].arguments[:4] == (
        "--checkpoint",
        str(bench.deployment.checkpoint),
        "--run",
        "7-1",
    )


def test_it_is_running_only_when_the_driver_says_so(bench: Bench) -> None:
    bench.tick()
    assert bench.tick() == "starting"
    bench.say("running")
    assert bench.tick() == "running"
    assert ("start", "done", None) in bench.steps


def test_the_driver_of_a_deployment_starts_from_where_its_settings_say(bench: Bench) -> None:
    bench.deployment = replace(bench.deployment, settings={"start": "latest"})
    bench.tick()
    arguments = bench.launcher.started[0].arguments
    assert arguments[arguments.index("--start") + 1] == "latest"


def unseen(bench: Bench) -> Bench:
    """As the backend leaves a deployment that no worker looked after."""
    bench.deployment = replace(bench.deployment, observed="unknown")
    return bench


def test_a_driver_that_ran_on_unseen_is_running_again_at_the_first_look(bench: Bench) -> None:
    before = driver(unseen(running(bench)))
    assert bench.tick() == "running"
    assert driver(bench) == before


def test_a_driver_that_was_starting_unseen_is_waited_for(bench: Bench) -> None:
    bench.tick()
    assert unseen(bench).tick() == "starting"
    bench.say("running")
    assert bench.tick() == "running"
    assert ("start", "done", None) in bench.steps


def test_a_driver_that_died_unseen_is_started_again(bench: Bench) -> None:
    before = driver(running(bench))
    bench.launcher.lose(before, None)
    unseen(bench).tick()
    assert bench.outcomes == ["crashed"]
    assert bench.deployment.observed == "restarting"


def test_what_was_compiled_while_nobody_looked_is_compiled_again(bench: Bench) -> None:
    assert unseen(bench).tick() == "starting"
    assert [name for name, state, _ in bench.steps if state == "done"] == [
        "compile",
        "check",
        "stage",
    ]


def test_a_wish_to_stop_holds_though_nobody_saw_it(bench: Bench) -> None:
    running(bench)
    bench.deployment = replace(bench.deployment, desired="stopped", observed="unknown")
    bench.tick()
    assert bench.tick() == "stopped"


def test_a_document_that_is_refused_fails_at_its_node_and_starts_nothing(bench: Bench) -> None:
    bench.compiler.failure = Failure("unknown_column", "no column amount", "big", "predicate")
    assert bench.tick() == "failed"
    assert bench.deployment.failure is not None
    assert bench.deployment.failure["node"] == "big"
    assert bench.launcher.started == []


def test_a_killed_driver_is_started_again_on_the_same_checkpoint(bench: Bench) -> None:
    running(bench)
    bench.launcher.lose(driver(bench), None)
    assert bench.tick() == "restarting"
    bench.now += 1
    assert bench.tick() == "starting"
    bench.say("running")
    assert bench.tick() == "running"
    first, second = bench.launcher.started
    assert first.checkpoint == second.checkpoint
    assert (first.report_id, second.report_id) == ("7-1", "7-2")
    assert bench.outcomes == ["crashed"]


def test_a_fault_of_a_record_is_not_tried_again(bench: Bench) -> None:
    running(bench)
    bench.say("failed", Failure("processing_error", "division by zero", "inverse", "value"))
    bench.launcher.lose(driver(bench), 3)
    assert bench.tick() == "failed"
    assert bench.deployment.failure is not None
    assert bench.deployment.failure["node"] == "inverse"
    assert len(bench.launcher.started) == 1


def test_a_driver_that_keeps_dying_is_given_up_with_its_cause(bench: Bench) -> None:
    bench.launcher.dies = 1
    for _ in range(40):
        if bench.tick() == "failed":
            break
        bench.now += 31
    else:
        pytest.fail("it never gave up")
    assert len(bench.launcher.started) == LIMIT
    assert bench.deployment.failure is not None
    assert bench.deployment.failure["code"] == "restart_limit"
    assert "ended with 1" in bench.deployment.failure["message"]


def test_a_driver_that_ended_with_the_whole_system_has_not_crashed(bench: Bench) -> None:
    for _ in range(LIMIT + 2):
        running(bench)
        bench.launcher.lose(driver(bench), 0)
        assert bench.tick() == "restarting"
        bench.now += 1
        assert bench.tick() == "starting"
    assert set(bench.outcomes) == {"stopped"}
    assert bench.deployment.failure is None


def test_the_wait_before_a_restart_doubles_up_to_a_minute() -> None:
    assert [wait_after(n) for n in (1, 2, 3, 4)] == [0.5, 1, 2, 4]
    assert wait_after(30) == 60


def test_stop_asks_first_and_ends_a_deaf_driver_after_the_deadline(bench: Bench) -> None:
    running(bench)
    pid = driver(bench)
    bench.launcher.deaf = True
    bench.deployment = replace(bench.deployment, desired="stopped")
    assert bench.tick() == "stopping"
    assert bench.launcher.killed == []
    bench.now += 21
    bench.tick()
    assert bench.launcher.killed == [pid]
    assert bench.tick() == "stopped"
    assert bench.outcomes == ["killed"]


def test_stop_while_starting_leaves_no_driver(bench: Bench) -> None:
    bench.tick()
    bench.deployment = replace(bench.deployment, desired="stopped")
    bench.tick()
    assert bench.tick() == "stopped"
    assert bench.launcher.alive == {}


def test_a_driver_without_room_for_another_is_stopped_once_the_new_version_is_staged(
    bench: Bench,
) -> None:
    running(bench)
    old = driver(bench)
    bench.launcher.deaf = True
    bench.cold = "1,792 MB are needed, 900 MB are free."
    bench.deployment = replace(bench.deployment, version=2)
    assert bench.tick() == "stopping"
    assert (bench.deployment.directory / "jobs" / "v2" / "job.py").exists()
    assert old in bench.launcher.alive
    bench.launcher.lose(old, 0)
    assert bench.tick() == "starting"
    assert bench.launcher.started[-1].job_directory.name == "v2"
    assert ("stage", "done", bench.cold) in bench.steps


def test_a_new_version_that_is_refused_leaves_the_old_one_running(bench: Bench) -> None:
    running(bench)
    bench.compiler.failure = Failure("unknown_column", "no column amount", "big", "predicate")
    bench.deployment = replace(bench.deployment, version=2)
    assert bench.tick() == "running"
    assert bench.deployment.version == 1
    assert driver(bench) in bench.launcher.alive


def test_a_version_wanted_during_a_restart_is_compiled_before_it_starts(bench: Bench) -> None:
    running(bench)
    bench.launcher.deaf = True
    bench.deployment = replace(bench.deployment, restart_requested=True)
    assert bench.tick() == "staging"
    bench.launcher.prepare()
    assert bench.tick() == "stopping"
    old = driver(bench)
    bench.deployment = replace(bench.deployment, version=2)
    bench.launcher.lose(old, 0)
    assert bench.tick() == "starting"
    assert bench.launcher.started[-1].job_directory.name == "v2"
    assert (bench.deployment.directory / "jobs" / "v2" / "job.py").exists()


def test_a_driver_started_by_a_worker_that_died_is_adopted_not_doubled(bench: Bench) -> None:
    bench.tick()
    bench.deployment = replace(bench.deployment, run=None)
    bench.tick()
    assert len(bench.launcher.started) == 1
    assert driver(bench) in bench.launcher.alive


def test_a_start_waits_for_the_driver_that_holds_the_checkpoint(bench: Bench) -> None:
    bench.launcher.holder = "Another driver runs on the checkpoint: process 7 on there."
    assert bench.tick() == "starting"
    assert ("start", "running", bench.launcher.holder) in bench.steps
    assert bench.deployment.outage is not None
    bench.launcher.holder = None
    bench.now += 1
    assert bench.tick() == "starting"
    assert len(bench.launcher.started) == 1
    assert bench.outcomes == []


def test_a_deployment_creates_no_topic_that_nobody_asked_for(bench: Bench) -> None:
    """The one that is missing is named at its node; with the setting all of them are created."""
    bench.topics.there = {"inn": 2}
    assert bench.tick() == "failed"
    assert bench.topics.there == {"inn": 2}
    assert bench.deployment.failure is not None
    assert bench.deployment.failure["code"] == "topic_missing"
    assert (bench.deployment.failure["node"], bench.deployment.failure["parameter"]) == (
        "in",
        "topics",
    )
    bench.deployment = replace(
        bench.deployment, settings={"create_topics": True}, observed="compiling", failure=None
    )
    assert bench.tick() == "starting"
    assert bench.topics.there == {"inn": 2, "in": 2, "out": 1}


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
    # 1, 2, 4 … 60 seconds apart, not once a second.
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


def test_a_broker_that_goes_away_under_a_driver_is_no_crash_however_often(bench: Bench) -> None:
    running(bench)
    began = bench.now
    for _ in range(3 * LIMIT):
        bench.say("failed", Failure("broker_unreachable", "The broker does not answer."))
        bench.launcher.lose(driver(bench), 1)
        assert bench.tick() == "restarting"
        bench.now += 61
        assert bench.tick() == "starting"
    assert set(bench.outcomes) == {"outage"}
    assert bench.deployment.crashes == ()
    assert bench.deployment.failure is None
    outage = bench.deployment.outage
    assert outage is not None
    assert (outage.since, outage.attempts) == (began, 3 * LIMIT)
    bench.say("running")
    assert bench.tick() == "running"
    assert bench.deployment.outage is None


def test_no_driver_is_started_while_the_broker_is_away(bench: Bench) -> None:
    running(bench)
    bench.topics.away = True
    bench.say("failed", Failure("broker_unreachable", "The broker does not answer."))
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
    bench.say("failed", Failure("disk_full", "The disk that holds the checkpoint is full."))
    bench.launcher.lose(driver(bench), 1)
    for _ in range(100):
        assert bench.tick() == "restarting"
        bench.now += 1
    bench.free = 1_000_000_000
    bench.now += 60
    assert bench.tick() == "starting"


def test_the_cluster_overrules_the_partitions_of_the_design_and_says_so(bench: Bench) -> None:
    bench.topics.there = {"in": 5, "out": 1}
    bench.tick()
    assert bench.compiler.written[0]["topics"]["in"]["partitions"] == 5
    details = [detail for name, _, detail in bench.steps if name == "check" and detail]
    assert details == ["in has 5 partitions, the topology declares 2"]


def test_a_driver_that_never_reports_is_ended_and_started_anew(bench: Bench) -> None:
    bench.tick()
    pid = driver(bench)
    bench.now += 121
    assert bench.tick() == "restarting"
    assert bench.launcher.killed == [pid]


def test_a_failed_deployment_starts_again_on_the_users_word(bench: Bench) -> None:
    bench.compiler.failure = Failure("unknown_column", "no column amount", "big", "predicate")
    bench.tick()
    assert bench.tick() == "failed"
    bench.compiler.failure = None
    bench.deployment = replace(bench.deployment, restart_requested=True)
    assert bench.tick() == "starting"


def test_every_state_has_its_transitions_and_every_transition_a_state() -> None:
    assert set(TRANSITIONS) == set(STATES)
    assert set().union(*TRANSITIONS.values()) <= set(STATES)


def test_old_jobs_are_removed_but_those_in_use_and_the_last_ones(bench: Bench) -> None:
    jobs = bench.deployment.job_directory.parent
    for number in range(2, 8):
        (jobs / f"v{number}").mkdir(parents=True)
        os.utime(jobs / f"v{number}", (number, number))
    bench.deployment = replace(bench.deployment, version=3)
    running(bench)
    # The bench keeps two beside the one that runs.
    assert {path.name for path in jobs.iterdir()} == {"v3", "v6", "v7"}


def test_real_time_is_compiled_for_and_takes_the_place_of_the_trigger(bench: Bench) -> None:
    settings = {"real_time_ms": 10_000, "trigger_ms": 500, "cores": 2}
    bench.deployment = replace(bench.deployment, settings=settings)
    assert bench.tick() == "starting"
    assert bench.compiler.real_time
    arguments = bench.launcher.started[0].arguments
    assert arguments[arguments.index("--real-time") + 1] == "10000 ms"
    assert "--trigger" not in arguments


def _replaced(bench: Bench) -> int:
    """Version 2 takes the place of version 1 and starts; the pid of its driver."""
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
def test_a_version_that_ends_before_its_first_batch_gives_way_to_the_one_before(
    bench: Bench, code: int
) -> None:
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


def test_a_driver_that_tells_how_far_it_is_is_waited_for(bench: Bench) -> None:
    pid = _replaced(bench)
    for rows in (10, 20, 30):
        bench.now += START_PATIENCE_SECONDS - 1
        bench.say("starting", detail=f"{rows} rows written.")
        assert bench.tick() == "starting"
        assert bench.steps[-1] == ("start", "running", f"{rows} rows written.")
    assert bench.launcher.killed == []
    bench.now += START_PATIENCE_SECONDS + 1
    bench.tick()
    assert bench.launcher.killed == [pid]


def test_a_change_that_is_cancelled_while_it_starts_gives_way_to_the_version_before(
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


def test_a_change_that_is_cancelled_before_anything_stopped_leaves_the_driver_alone(
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


def test_the_driver_is_told_what_was_decided_about_stores(bench: Bench) -> None:
    bench.deployment = replace(bench.deployment, state_decisions={"sum": "reset"})
    bench.tick()
    assert "--decide=sum=reset" in bench.launcher.started[-1].arguments


def test_the_driver_gets_the_expression_that_converts_a_store(bench: Bench) -> None:
    decisions: dict[str, str | dict[str, str]] = {"sum": {"convert": "CAST(old AS INT)"}}
    bench.deployment = replace(bench.deployment, state_decisions=decisions)
    bench.tick()
    assert "--decide=sum=convert:CAST(old AS INT)" in bench.launcher.started[-1].arguments


def test_the_driver_is_told_where_to_begin_at_every_start(bench: Bench) -> None:
    asked = {"id": "1", "reset": True, "from": "offsets", "offsets": {"orders": {"0": 12}}}
    bench.deployment = replace(bench.deployment, beginning=asked)
    bench.tick()
    given = [each for each in bench.launcher.started[-1].arguments if each.startswith("--begin=")]
    assert [json.loads(each.removeprefix("--begin=")) for each in given] == [asked]


def test_what_the_compiler_says_of_an_absent_analyzer_is_an_outage(tmp_path: Path) -> None:
    found = Jobs("127.0.0.1:1", tmp_path, None).check(
        line(node("keep", "filter", predicate="true"))
    )
    assert found is not None
    assert found.code in CODES


def pulse(bench: Bench, at: float, state: str = "running", busy: float = 0.0) -> None:
    assert bench.deployment.run is not None
    bench.reports.pulses[bench.deployment.run.report_id] = Pulse(at, state, busy)


def test_a_driver_that_is_silent_is_degraded_then_restarted_with_its_threads_kept(
    bench: Bench,
) -> None:
    first = driver(running(bench))
    pulse(bench, bench.now)
    bench.now += 14
    assert bench.tick() == "running"
    bench.now += 2
    assert bench.tick() == "degraded"
    assert (bench.deployment.failure or {})["code"] == "driver_silent"
    bench.now += 29
    assert bench.tick() == "degraded"
    assert bench.launcher.killed == []
    bench.now += 1
    bench.tick()
    assert bench.launcher.killed == [first]
    assert bench.outcomes == ["killed"]
    (kept,) = (bench.deployment.directory / "threads").iterdir()
    assert f"threads of {first}" in kept.read_text()
    bench.now += 1
    assert bench.tick() == "starting"
    bench.say("running")
    assert bench.tick() == "running"
    assert bench.deployment.failure is None


def test_a_driver_that_reports_again_is_degraded_no_more(bench: Bench) -> None:
    running(bench)
    pulse(bench, bench.now - 20)
    assert bench.tick() == "degraded"
    pulse(bench, bench.now, "paused")
    assert bench.tick() == "paused"
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


def test_a_redis_that_has_forgotten_everything_says_nothing_of_a_driver(bench: Bench) -> None:
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
    bench: Bench, settings: dict[str, Any], late: float
) -> None:
    running(bench)
    bench.deployment = replace(bench.deployment, settings=settings)
    pulse(bench, bench.now, busy=late - 2)
    assert bench.tick() == "running"
    pulse(bench, bench.now, busy=late)
    assert bench.tick() == "degraded"
    assert (bench.deployment.failure or {})["code"] == "batch_late"


def test_a_new_version_whose_driver_hangs_falls_back(bench: Bench) -> None:
    running(bench)
    bench.deployment = replace(bench.deployment, fallback=4, version=1)
    pulse(bench, bench.now - 20)
    assert bench.tick() == "degraded"
    bench.now += 31
    bench.tick()
    assert bench.deployment.version == 4
    assert (bench.deployment.failure or {})["code"] == "fell_back"


def test_a_degraded_deployment_can_be_stopped(bench: Bench) -> None:
    running(bench)
    pulse(bench, bench.now - 20)
    assert bench.tick() == "degraded"
    bench.deployment = replace(bench.deployment, desired="stopped")
    bench.tick()
    assert bench.tick() == "stopped"


def test_a_paused_deployment_is_told_its_driver_and_is_paused_after_a_restart(bench: Bench) -> None:
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
    bench.say("paused")
    assert bench.tick() == "paused"
    bench.deployment = replace(bench.deployment, paused=False)
    pulse(bench, bench.now, "running")
    assert bench.tick() == "running"
    assert not control.exists()


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


def test_the_driver_of_a_deployment_that_did_a_batch_expects_its_checkpoint(bench: Bench) -> None:
    running(bench)
    assert "--continues" not in bench.launcher.started[0].arguments
    run = bench.deployment.run
    assert run is not None
    bench.deployment.checkpoint.mkdir(parents=True)
    (bench.deployment.checkpoint / "arrived").write_text(run.report_id)
    bench.tick()
    bench.launcher.lose(driver(bench), None)
    bench.tick()
    bench.now += 1
    bench.tick()
    assert "--continues" in bench.launcher.started[1].arguments


def test_the_driver_is_given_what_was_decided_about_single_records(bench: Bench) -> None:
    decided = [
        {"decision": "skip", "topic": "orders", "partition": 2, "offset": 17},
        {"decision": "dead_letter", "topic": "a.b", "partition": 0, "offset": 0},
    ]
    bench.deployment = replace(bench.deployment, record_decisions=tuple(decided))
    bench.tick()
    arguments = bench.launcher.started[0].arguments
    assert arguments[-2:] == ("--skip-record=orders:2:17", "--dead-letter-record=a.b:0:0")


def test_what_happens_to_lost_offsets_is_up_to_the_settings(bench: Bench) -> None:
    bench.deployment = replace(bench.deployment, settings={"lost_offsets": "latest"})
    bench.tick()
    arguments = bench.launcher.started[0].arguments
    assert arguments[arguments.index("--lost-offsets") + 1] == "latest"
