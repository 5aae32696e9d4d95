"""Deployments of the plain dialect: what starts, and which checkpoint the next driver has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from millrace_workers.doubles import Bench
from millrace_workers.launchers import JobSpec
from millrace_workers.model import Cause, Failure, plain_state

from tests.workers.kit import driver, running

PLAIN: Any = {"dialect": "plain"}


@pytest.fixture
def plain(bench: Bench) -> Bench:
    bench.deployment = replace(bench.deployment, settings=PLAIN)
    bench.compiler.program = "one"
    bench.cold = Cause("cold_plain", "cold")
    return bench


def option(spec: JobSpec, name: str) -> Any:
    arguments = spec.arguments
    return arguments[arguments.index(name) + 1] if name in arguments else None


def commits(stream: Path, batch: int, offsets: dict[str, dict[str, int]]) -> None:
    """Write the files of a Spark query that has committed a batch."""
    for folder in ("offsets", "commits"):
        (stream / folder).mkdir(parents=True, exist_ok=True)
    text = f"v1\n{{}}\n{json.dumps(offsets)}"
    (stream / "offsets" / str(batch)).write_text(text, "utf-8")
    (stream / "commits" / str(batch)).write_text("v1\n{}", "utf-8")


def again(bench: Bench, version: int, program: str, **settings: Any) -> JobSpec:
    """Replace the running driver with another version, or with other settings."""
    other = settings != bench.deployment.settings
    bench.compiler.program = program
    bench.deployment = replace(
        bench.deployment, version=version, settings=cast(Any, settings), restart_requested=other
    )
    for _ in range(4):
        bench.tick()
    bench.report("running")
    assert bench.tick() == "running"
    return bench.launcher.started[-1]


def test_a_plain_program_is_driven_with_its_own_checkpoint(
    plain: Bench,
) -> None:
    plain.compiler.between_queries = ["sample-changes"]
    assert plain.tick() == "starting"
    assert plain.compiler.plain
    assert plain.topics.there["sample-changes"] == 2, "as many partitions as its sources"
    [spec] = plain.launcher.started
    assert spec.module == "millrace_runtime.plain.driving"
    assert option(spec, "--checkpoint") == str(plain.deployment.directory / "plain" / "1")
    assert option(spec, "--run") == "7-1"
    assert "--starting-offsets" not in spec.arguments
    assert option(spec, "--control") == str(plain.deployment.control)


def test_settings_reach_the_driver_of_a_plain_program(plain: Bench) -> None:
    settings: Any = {**PLAIN, "trigger_ms": 500, "start": "latest", "memory_mb": 2048}
    plain.deployment = replace(plain.deployment, settings=settings)
    plain.tick()
    [spec] = plain.launcher.started
    assert option(spec, "--trigger") == "500 milliseconds"
    assert option(spec, "--start") == "latest"
    assert option(spec, "--spark-config") == "spark.driver.memory=2048m"


def test_a_checkpoint_in_an_object_store_leaves_its_notes_in_the_folder(plain: Bench) -> None:
    place = "s3a://bucket/deployment-7"
    plain.deployment = replace(plain.deployment, state_location=place)
    running(plain)
    notes = plain.deployment.directory / "plain" / "1"
    first = plain.launcher.started[-1]
    assert option(first, "--checkpoint") == f"{place}/plain/1"
    assert option(first, "--notes") == str(notes)
    commits(notes / "counts", 4, {"in": {"0": 7, "1": 9}})
    spec = again(plain, 2, "two", **PLAIN)
    assert option(spec, "--checkpoint") == f"{place}/plain/2"
    assert json.loads(option(spec, "--starting-offsets")) == {"in": {"0": 7, "1": 9}}


def test_a_start_from_another_position_has_a_new_checkpoint_once(plain: Bench) -> None:
    running(plain)
    home = plain.deployment.directory / "plain"
    commits(home / "1" / "counts", 4, {"in": {"0": 7, "1": 9}})
    asked: Any = {"id": "one", "reset": True, "from": "earliest"}
    plain.deployment = replace(plain.deployment, beginning=asked)

    def begun(spec: JobSpec) -> list[str]:
        return [each for each in spec.arguments if each.startswith("--begin=")]

    spec = again(plain, 2, "one", **PLAIN)
    assert option(spec, "--checkpoint") == str(home / "2")
    [begin] = begun(spec)
    assert json.loads(begin.removeprefix("--begin=")) == asked
    commits(home / "2" / "counts", 0, {"in": {"0": 2, "1": 2}})
    assert option(again(plain, 3, "one", **PLAIN), "--checkpoint") == str(home / "2")
    other = again(plain, 4, "two", **PLAIN)
    assert option(other, "--checkpoint") == str(home / "3")
    assert begun(other) == [], "it continues where the program before stopped"


def test_a_start_that_did_nothing_leaves_the_checkpoint_before_in_use(plain: Bench) -> None:
    running(plain)
    home = plain.deployment.directory / "plain"
    commits(home / "1" / "counts", 4, {"in": {"0": 7, "1": 9}})
    asked: Any = {"id": "one", "reset": True, "from": "earliest"}
    plain.deployment = replace(plain.deployment, beginning=asked)
    assert option(again(plain, 2, "one", **PLAIN), "--checkpoint") == str(home / "2")
    plain.deployment = replace(plain.deployment, beginning=None)
    assert option(again(plain, 1, "one", **PLAIN), "--checkpoint") == str(home / "1")


def test_a_topology_that_plain_spark_cannot_express_fails_at_its_node(plain: Bench) -> None:
    plain.compiler.failure = Failure("plain_kind", "not possible", "in", "kind")
    assert plain.tick() == "failed"
    assert plain.deployment.failure is not None
    assert plain.deployment.failure["node"] == "in"
    assert plain.launcher.started == []


def test_a_program_that_crashed_goes_on_with_its_checkpoint(plain: Bench) -> None:
    running(plain)
    plain.launcher.lose(driver(plain), None)
    plain.tick()
    plain.now += 1
    plain.tick()
    first, second = plain.launcher.started
    assert option(second, "--checkpoint") == option(first, "--checkpoint")


def test_another_program_begins_where_the_one_before_has_committed(plain: Bench) -> None:
    running(plain)
    home = plain.deployment.directory / "plain"
    commits(home / "1" / "counts", 4, {"in": {"0": 7, "1": 9}})
    commits(home / "1" / "others", 2, {"in": {"0": 8, "1": 3}})
    spec = again(plain, 2, "two", **PLAIN)
    assert option(spec, "--checkpoint") == str(home / "2")
    begin = json.loads(option(spec, "--starting-offsets"))
    assert begin == {"in": {"0": 7, "1": 3}}, "where the slowest query is"
    commits(home / "2" / "counts", 0, {"in": {"0": 8, "1": 3}})
    assert option(again(plain, 3, "three", **PLAIN), "--checkpoint") == str(home / "3")
    assert not (home / "1").exists(), "no program will continue it"
    assert (home / "2").exists(), "the version before may have to return"


def test_the_same_program_of_another_version_goes_on(plain: Bench) -> None:
    running(plain)
    commits(plain.deployment.directory / "plain" / "1" / "counts", 0, {"in": {"0": 7}})
    spec = again(plain, 2, "one", **PLAIN)
    assert option(spec, "--checkpoint") == str(plain.deployment.directory / "plain" / "1")


def test_a_program_that_did_nothing_leaves_the_checkpoint_before_in_use(plain: Bench) -> None:
    running(plain)
    home = plain.deployment.directory / "plain"
    commits(home / "1" / "counts", 0, {"in": {"0": 7}})
    assert option(again(plain, 2, "two", **PLAIN), "--checkpoint") == str(home / "2")
    back = again(plain, 3, "one", **PLAIN)
    assert option(back, "--checkpoint") == str(home / "1")


def test_a_change_of_dialect_begins_where_the_other_stopped(
    plain: Bench,
) -> None:
    running(plain)
    home = plain.deployment.directory
    commits(home / "plain" / "1" / "counts", 0, {"in": {"0": 7, "1": 9}, "own": {"0": 4}})

    exact = again(plain, 1, "exact")
    assert exact.module is None
    assert option(exact, "--checkpoint") == str(home / "checkpoint")
    [begin] = [each for each in exact.arguments if each.startswith("--begin=")]
    asked = json.loads(begin.removeprefix("--begin="))
    assert asked.pop("id").startswith("plain-")
    assert asked == {"reset": True, "from": "offsets", "offsets": {"in": {"0": 7, "1": 9}}}

    # It is passed at every start, because the driver applies it only once.
    plain.launcher.lose(driver(plain), None)
    plain.tick()
    plain.now += 1
    plain.tick()
    assert begin in plain.launcher.started[-1].arguments
    plain.report("running")
    plain.tick()

    commits(home / "checkpoint" / "stream", 0, {"in": {"0": 20, "1": 21}})
    spec = again(plain, 1, "one", **PLAIN)
    assert option(spec, "--checkpoint") == str(home / "plain" / "2"), "never the old one"
    assert json.loads(option(spec, "--starting-offsets")) == {"in": {"0": 20, "1": 21}}


def test_a_plain_program_that_did_nothing_leaves_the_exact_checkpoint(
    bench: Bench,
) -> None:
    running(bench)
    bench.cold = Cause("cold_plain", "cold")
    home = bench.deployment.directory
    commits(home / "checkpoint" / "stream", 3, {"in": {"0": 20, "1": 21}})
    spec = again(bench, 1, "one", **PLAIN)
    assert json.loads(option(spec, "--starting-offsets")) == {"in": {"0": 20, "1": 21}}
    back = again(bench, 1, "exact")
    assert not any(each.startswith("--begin=") for each in back.arguments)
    assert plain_state.last_program(home) is None
