"""The system on a bare machine, where every part of it is killed while sentences are counted."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from launcher import places
from tests.conftest import unused_port
from tests.e2e.api import Api
from tests.e2e.system import BROUGHT_ALONG, OWN_SYSTEM, System, python_alone, running_system
from tests.e2e.topics import CountReader, Sentence, create_topic, words, write

pytestmark = OWN_SYSTEM

SOURCE, SINK = "recovery-sentences", "recovery-counts"
TO_RUNNING = 240.0
DOCUMENT: dict[str, Any] = {
    "format": "millrace.topology/1",
    "name": "recovery",
    "topics": {SOURCE: {"partitions": 2}, SINK: {"partitions": 2}},
    "nodes": [
        {
            "id": "lines",
            "kind": "source.stream",
            "params": {
                "topics": [SOURCE],
                "key": {"format": "string"},
                "value": {"format": "string"},
            },
        },
        {
            "id": "words",
            "kind": "flat_map_values",
            "params": {"values": "split(lower(value), ' ')"},
        },
        {"id": "count", "kind": "count", "params": {"group_by": {"key": "value"}}},
        {"id": "counts", "kind": "store.key_value", "params": {"name": "counts"}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": SINK}},
    ],
    "edges": [
        {"source": "lines", "target": "words"},
        {"source": "words", "target": "count"},
        {"source": "counts", "target": "count", "target_port": "store"},
        {"source": "count", "target": "out"},
    ],
}


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A separate system whose parts are killed, on a machine with only Python."""
    folder = tmp_path_factory.mktemp("victim")
    with running_system(folder, unused_port(), python_alone(folder)) as found:
        yield found


@pytest.fixture(scope="module")
def api(victim: System) -> Iterator[Api]:
    """One session for all tests: a sign-in link works once."""
    with Api(victim.address, victim.link) as session:
        yield session


def pid_of(system: System, service: str) -> int:
    state = json.loads((system.data / "run" / "state.json").read_text())
    return next(int(one["pid"]) for one in state["services"] if one["name"] == service)


def kill(system: System, service: str) -> None:
    """kill -9, and wait until the supervisor has a new process that answers."""
    before = pid_of(system, service)
    os.kill(before, signal.SIGKILL)
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        state = json.loads((system.data / "run" / "state.json").read_text())
        now = next(one for one in state["services"] if one["name"] == service)
        if now["state"] == "running" and now["pid"] not in (None, before):
            return
        time.sleep(0.2)
    raise AssertionError(f"{service} did not come back: {now}")


@contextmanager
def stopped(system: System, service: str) -> Iterator[None]:
    """Suspend a service and its Celery children, but not the drivers."""
    parent = psutil.Process(pid_of(system, service))
    family = [parent, *parent.children(recursive=True)]
    alive = [process for process in family if process.status() != psutil.STATUS_ZOMBIE]
    silent = [process for process in alive if "celery" in process.cmdline()]
    for process in silent:
        process.suspend()
    try:
        yield
    finally:
        for process in reversed(silent):
            process.resume()


@pytest.mark.long
def test_with_python_alone_the_operator_is_compiled_and_a_job_runs(
    victim: System, api: Api
) -> None:
    assert list(victim.data.with_name("cache").glob("millrace-operator-*.jar"))
    for topic in ("alone-sentences", "alone-counts"):
        create_topic(victim.bootstrap_servers, topic, 1)
    text = json.dumps({**DOCUMENT, "name": "alone"})
    text = text.replace(SOURCE, "alone-sentences").replace(SINK, "alone-counts")
    sentences = [Sentence(0, 1_000, "python alone")]
    write(victim.bootstrap_servers, "alone-sentences", sentences)
    deployment = api.deploy("Alone", json.loads(text))
    api.until(deployment, "running", TO_RUNNING)
    reader = CountReader(victim.bootstrap_servers, "alone-counts")
    reader.until_counted(words(sentences), TO_RUNNING)
    reader.close()
    launcher = json.loads((victim.data / "run" / "state.json").read_text())["launcher"]
    family = psutil.Process(launcher).children(recursive=True)
    foreign = {each.exe() for each in family if each.name() in BROUGHT_ALONG}
    assert {
        path for path in foreign if not Path(path).is_relative_to(places.VENV.resolve())
    } == set()
    api.call("POST", f"/deployments/{deployment}/stop")
    api.until(deployment, "stopped", 90)


@pytest.mark.long
def test_the_counts_are_right_whoever_is_killed(victim: System, api: Api) -> None:
    create_topic(victim.bootstrap_servers, SOURCE, 2)
    create_topic(victim.bootstrap_servers, SINK, 2)
    written: list[Sentence] = []

    def write_some(who: str) -> None:
        some = [
            Sentence(number % 2, 1_000 * number, f"{who} lives and {who} counts {number % 5}")
            for number in range(40)
        ]
        write(victim.bootstrap_servers, SOURCE, some)
        written.extend(some)

    deployment = api.deploy("Recovery", DOCUMENT)
    api.until(deployment, "running", TO_RUNNING)
    write_some("nobody")
    with stopped(victim, "worker"):
        unseen = api.until(deployment, "unknown", 90)
    assert unseen["since"] < unseen["updated_at"]
    api.until(deployment, "running", 60)
    for service in ("worker", "beat", "redis", "backend", "analyzer", "broker"):
        kill(victim, service)
        write_some(service)
    running = api.until(deployment, "running", TO_RUNNING)
    os.kill(running["run"]["pid"], signal.SIGKILL)
    write_some("driver")

    reader = CountReader(victim.bootstrap_servers, SINK)
    reader.until_counted(words(written), TO_RUNNING)
    reader.close()
    again = api.until(deployment, "running", TO_RUNNING)
    assert again["run"]["pid"] != running["run"]["pid"]
    api.call("POST", f"/deployments/{deployment}/stop")
    api.until(deployment, "stopped", 90)
