"""The life of a deployment, driven state by state with scripted external parts."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any, cast

import pytest
from millrace_workers.doubles import Bench
from millrace_workers.model import Cause, Failure
from millrace_workers.states import STATES, TRANSITIONS
from millrace_workers.states.restarting import wait_after
from millrace_workers.states.starting import spec_of
from millrace_workers.states.watching import CRASHES

from tests.workers.kit import driver, running


def test_a_version_with_forbidden_topics_is_refused_first(
    bench: Bench,
) -> None:
    forbidden = Failure("topic_not_allowed", "not allowed", "out", "topic")
    bench.deployment = replace(bench.deployment, forbidden=forbidden)
    assert bench.tick() == "failed"
    assert bench.deployment.failure == forbidden.as_json()
    assert bench.launcher.started == []


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


def test_it_is_running_only_when_the_driver_reports_it(bench: Bench) -> None:
    bench.tick()
    assert bench.tick() == "starting"
    bench.report("running")
    assert bench.tick() == "running"
    assert ("start", "done", None) in bench.steps


def test_the_driver_of_a_deployment_starts_from_where_its_settings_say(bench: Bench) -> None:
    bench.deployment = replace(bench.deployment, settings={"start": "latest"})
    bench.tick()
    arguments = bench.launcher.started[0].arguments
    assert arguments[arguments.index("--start") + 1] == "latest"


def test_a_deployment_shares_the_jvm_of_its_workspace_if_it_is_set(bench: Bench) -> None:
    own = replace(bench.deployment, workspace=4)
    assert spec_of(own, bench.tools()).host is None
    shared = replace(own, settings={"jvm": "shared"})
    assert spec_of(shared, bench.tools()).host == "workspace-4"


def unseen(bench: Bench) -> Bench:
    """Put the deployment into the state that the backend sets without a worker's heartbeat."""
    bench.deployment = replace(bench.deployment, observed="unknown")
    return bench


def test_a_checkpoint_that_lies_elsewhere_leaves_its_notes_in_the_folder(bench: Bench) -> None:
    place = "s3a://bucket/x/deployment-1-20260101T000000"
    bench.deployment = replace(bench.deployment, state_location=place)
    bench.tick()
    notes = str(bench.deployment.directory / "checkpoint")
    expected = ("--checkpoint", place, "--notes", notes)
    assert bench.launcher.started[0].arguments[:4] == expected


def test_a_driver_that_ran_on_unseen_is_running_again_at_the_first_look(bench: Bench) -> None:
    before = driver(unseen(running(bench)))
    assert bench.tick() == "running"
    assert driver(bench) == before


def test_a_driver_that_was_starting_unseen_is_waited_for(bench: Bench) -> None:
    bench.tick()
    assert unseen(bench).tick() == "starting"
    bench.report("running")
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


def test_a_request_to_stop_holds_though_nobody_saw_it(bench: Bench) -> None:
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
    bench.report("running")
    assert bench.tick() == "running"
    first, second = bench.launcher.started
    assert first.checkpoint == second.checkpoint
    assert (first.report_id, second.report_id) == ("7-1", "7-2")
    assert bench.outcomes == ["crashed"]


def test_a_fault_of_a_record_is_not_tried_again(bench: Bench) -> None:
    running(bench)
    bench.report("failed", Failure("processing_error", "division by zero", "inverse", "value"))
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
    assert len(bench.launcher.started) == CRASHES
    assert bench.deployment.failure is not None
    assert bench.deployment.failure["code"] == "restart_limit"
    assert "ended with 1" in bench.deployment.failure["message"]
    assert bench.deployment.failure["facts"] == {"count": str(CRASHES), "minutes": "10"}
    assert cast(Any, bench.deployment.failure)["cause"]["facts"] == {"exit_code": "1"}


def test_a_driver_that_ended_with_the_whole_system_has_not_crashed(bench: Bench) -> None:
    for _ in range(CRASHES + 2):
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


def test_without_room_for_two_a_driver_stops_once_the_next_is_staged(
    bench: Bench,
) -> None:
    running(bench)
    old = driver(bench)
    bench.launcher.deaf = True
    bench.cold = Cause("cold_memory", "1,792 MB are needed, 900 MB are free.")
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


def test_a_driver_that_cannot_be_started_says_why(bench: Bench) -> None:
    bench.launcher.refuses = "[Errno 2] No such file or directory: 'python'"
    assert bench.tick() == "failed"
    failure = cast(Any, bench.deployment.failure)
    assert (failure["code"], failure["facts"]) == (
        "start_failed",
        {"reason": bench.launcher.refuses},
    )
    assert failure["message"] == f"The driver could not be started: {bench.launcher.refuses}"
    name, state, detail = bench.steps[-1]
    assert (name, state, detail and detail.cause_fields()) == (
        "start",
        "failed",
        Cause.of(failure).cause_fields(),
    )


def test_a_start_waits_for_the_driver_that_holds_the_checkpoint(bench: Bench) -> None:
    bench.launcher.holder = "process 7 on there"
    assert bench.tick() == "starting"
    (detail,) = [detail for name, _, detail in bench.steps if name == "start" and detail]
    assert detail.message == "Another driver runs on the checkpoint: process 7 on there."
    assert bench.deployment.outage is not None
    assert bench.deployment.outage.code == detail.code == "checkpoint_in_use"
    assert bench.deployment.outage.facts == detail.facts == {"holder": "process 7 on there"}
    bench.launcher.holder = None
    bench.now += 1
    assert bench.tick() == "starting"
    assert len(bench.launcher.started) == 1
    assert bench.outcomes == []


def test_a_deployment_creates_no_topic_that_nobody_asked_for(bench: Bench) -> None:
    """A missing topic is reported at its node; with the setting, all of them are created."""
    bench.topics.there = {"inn": 2}
    assert bench.tick() == "failed"
    assert bench.topics.there == {"inn": 2}
    assert bench.deployment.failure is not None
    assert bench.deployment.failure["code"] == "topic_missing"
    assert bench.deployment.failure["facts"] == {"topic": "in"}
    assert (bench.deployment.failure["node"], bench.deployment.failure["parameter"]) == (
        "in",
        "topics",
    )
    bench.deployment = replace(
        bench.deployment, settings={"create_topics": True}, observed="compiling", failure=None
    )
    assert bench.tick() == "starting"
    assert bench.topics.there == {"inn": 2, "in": 2, "out": 1}


def test_the_cluster_overrules_the_partitions_of_the_design_and_reports_it(bench: Bench) -> None:
    bench.topics.there = {"in": 5, "out": 1}
    bench.tick()
    assert bench.compiler.written[0]["topics"]["in"]["partitions"] == 5
    (detail,) = [detail for name, _, detail in bench.steps if name == "check" and detail]
    assert detail.message == "in has 5 partitions, the topology declares 2"
    assert (detail.code, detail.facts) == ("partitions_differ", {"topics": "in: 5 ≠ 2"})


def test_a_start_needs_one_compilation_whether_topics_exist_or_are_created(bench: Bench) -> None:
    settings: Any = {"create_topics": True}
    bench.deployment = replace(bench.deployment, settings=settings)
    bench.topics.there.pop("out", None)
    while bench.tick() != "starting":
        assert len(bench.compiler.checked) < 4
    asked = [*bench.compiler.checked, *bench.compiler.written]
    assert len(asked) == 3
    # The same request each time, which the compiler's process answers from its last compilation.
    assert len({json.dumps(each) for each in asked}) == 1


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
    # The bench keeps two versions besides the running one.
    assert {path.name for path in jobs.iterdir()} == {"v3", "v6", "v7"}


def test_real_time_is_compiled_for_and_takes_the_place_of_the_trigger(bench: Bench) -> None:
    settings: Any = {"real_time_ms": 10_000, "trigger_ms": 500, "cores": 2}
    bench.deployment = replace(bench.deployment, settings=settings)
    assert bench.tick() == "starting"
    assert bench.compiler.real_time
    arguments = bench.launcher.started[0].arguments
    assert arguments[arguments.index("--real-time") + 1] == "10000 ms"
    assert "--trigger" not in arguments


def test_the_driver_gets_what_was_decided_about_stores(bench: Bench) -> None:
    bench.deployment = replace(bench.deployment, state_decisions={"sum": "reset"})
    bench.tick()
    assert "--decide=sum=reset" in bench.launcher.started[-1].arguments


def test_the_driver_gets_the_expression_that_converts_a_store(bench: Bench) -> None:
    decisions: dict[str, str | dict[str, str]] = {"sum": {"convert": "CAST(old AS INT)"}}
    bench.deployment = replace(bench.deployment, state_decisions=decisions)
    bench.tick()
    assert "--decide=sum=convert:CAST(old AS INT)" in bench.launcher.started[-1].arguments


def test_the_driver_gets_where_to_begin_at_every_start(bench: Bench) -> None:
    asked: Any = {"id": "1", "reset": True, "from": "offsets", "offsets": {"orders": {"0": 12}}}
    bench.deployment = replace(bench.deployment, beginning=asked)
    bench.tick()
    given = [each for each in bench.launcher.started[-1].arguments if each.startswith("--begin=")]
    assert [json.loads(each.removeprefix("--begin=")) for each in given] == [asked]


def test_a_deployment_that_did_a_batch_expects_its_checkpoint(bench: Bench) -> None:
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
    decided: Any = [
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
