"""The worker's reconcile task on a real database and Redis, with the real launcher."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from deployments import actions, reconciling
from deployments.models import Deployment
from millrace_backend import redis
from millrace_workers import tasks
from millrace_workers.launchers.shim import born
from rest_framework.test import APIClient
from topologies import actions as topologies

from launcher import java
from launcher.services import broker as embedded_broker
from tests.backend.conftest import Client, People, RedisServer
from tests.compiler.kit import OneTypeAnalyzer, line, node
from tests.conftest import Broker, until, unused_port
from tests.runtime import topics
from tests.served import running_analyzer, serving_analyzer

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(
    monkeypatch: pytest.MonkeyPatch, redis_server: RedisServer, millrace_settings: Any
) -> Iterator[None]:
    """The environment of a worker process in which only Redis can be reached."""
    monkeypatch.setenv("MILLRACE_DATA", str(millrace_settings.MILLRACE_DATA))
    monkeypatch.setenv("REDIS_URL", redis_server.url)
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:1")
    monkeypatch.setenv("MILLRACE_ANALYZER", "/nowhere")
    parts = (tasks.configuration, tasks.launcher, tasks.reports, tasks.jobs)
    for part in parts:
        part.cache_clear()
    yield
    for part in parts:
        part.cache_clear()


@contextmanager
def kafka(folder: Path, port: int) -> Iterator[None]:
    """Run a broker on this port until the end of the block; its data is kept."""
    properties = embedded_broker.configure(folder, port, unused_port())
    with (folder / "broker.log").open("ab") as log:
        process = subprocess.Popen(
            embedded_broker.java_command(folder, properties), stdout=log, stderr=log
        )
    try:
        until(lambda: embedded_broker.metadata_known(f"127.0.0.1:{port}"), 90, process)
        yield
    finally:
        process.terminate()
        process.wait(30)


def observed(deployment: Deployment) -> str:
    found = reconciling.load_for_reconcile(deployment.pk)
    assert found is not None
    return found.observed


def test_a_driver_of_another_host_is_judged_there_alone(
    worker: None, deployment: Deployment
) -> None:
    driver = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        start = born(driver.pid)
        assert start is not None
        reconciling.begin_run(deployment.pk, driver.pid, "elsewhere", start, 1)
        reconciling.observe(deployment.pk, "running")
        tasks.reconcile(deployment.pk)
        assert observed(deployment) == "running"
        assert not redis.client().hexists(redis.HEARTBEATS, str(deployment.pk))
        reconciling.end_run(deployment.pk, "stopped")
        reconciling.begin_run(deployment.pk, driver.pid, tasks.launcher().host, start, 2)
        Deployment.objects.filter(pk=deployment.pk).update(desired="stopped")
        tasks.reconcile(deployment.pk)
        assert observed(deployment) == "stopping"
        assert driver.wait(10) == -15
    finally:
        driver.kill()
        driver.wait()


@pytest.mark.kafka
@pytest.mark.slow
def test_a_broker_that_is_stopped_is_waited_for_and_shown_until_it_is_back(
    worker: None,
    deployment: Deployment,
    people: People,
    client_of: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def shown() -> dict[str, Any]:
        answer = client_of(people.viewer).get(f"/api/deployments/{deployment.pk}")
        found: dict[str, Any] = answer.json()
        return found

    for name, value in java.environment().items():
        monkeypatch.setenv(name, value)
    port = unused_port()
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", f"127.0.0.1:{port}")
    monkeypatch.setattr("millrace_workers.cluster.ANSWER_SECONDS", 3.0)
    tasks.configuration.cache_clear()
    folder = tmp_path / "kafka"
    folder.mkdir()
    reconciling.observe(deployment.pk, "checking")
    with kafka(folder, port):
        pass
    before = time.time()
    tasks.reconcile(deployment.pk)
    waiting = shown()
    assert waiting["observed"] == "checking"
    assert waiting["failure"] is None
    assert waiting["outage"]["code"] == "broker_unreachable"
    assert f"127.0.0.1:{port}" in waiting["outage"]["message"]
    assert datetime.fromisoformat(waiting["outage"]["since"]).timestamp() >= before
    time.sleep(1.1)
    tasks.reconcile(deployment.pk)
    again = shown()["outage"]
    assert (again["since"], again["attempts"]) == (waiting["outage"]["since"], 2)
    with kafka(folder, port):
        time.sleep(2.1)
        tasks.reconcile(deployment.pk)
        # The fixture's document is refused: the compiler runs as soon as Kafka answers.
        after = shown()
    assert (after["observed"], after["outage"]) == ("failed", None)


COPY = line(node("keep", "filter", predicate="value = 'a'"))


@pytest.fixture
def copying(people: People, worker: None, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    """A deployment of a document that compiles; each call of the task makes one step."""
    monkeypatch.setattr(tasks, "STEPS_AT_ONCE", 1)
    made = topologies.create_topology(people.editor, people.workspace, "Copy", COPY)
    return actions.create_deployment(people.operator, made, 1, "local", {})


def page_of(client: APIClient, deployment: Deployment) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/deployments/{deployment.pk}").json()
    return found


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Put deployments on a disk of 200 KB; the value is a function that resizes it."""
    folder = tmp_path / "deployments"
    folder.mkdir()

    def mount(*options: str) -> None:
        command = ["mount", "-t", "tmpfs", *options, "none", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"a disk of its own cannot be mounted here: {done.stderr.strip()}")

    if shutil.which("mount") is None:
        pytest.skip("there is no mount on this machine")
    mount("-o", "size=200k")
    try:
        yield lambda size: mount("-o", f"remount,size={size}")
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.kafka
def test_a_full_disk_is_waited_for_and_shown_until_there_is_room(
    copying: Deployment,
    people: People,
    client_of: Client,
    broker: Broker,
    small_disk: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", broker.address)
    topics.create(broker.address, {"in": 1, "out": 1})
    client = client_of(people.viewer)
    with serving_analyzer(OneTypeAnalyzer()) as analyzer:
        monkeypatch.setenv("MILLRACE_ANALYZER", analyzer)
        reconciling.observe(copying.pk, "staging")
        before = time.time()
        for _ in range(3):  # as often as the beat likes; nothing is raised
            tasks.reconcile(copying.pk)
        waiting = page_of(client, copying)
        assert (waiting["observed"], waiting["failure"]) == ("staging", None)
        assert (waiting["outage"]["code"], waiting["outage"]["attempts"]) == ("disk_full", 1)
        assert "Free some space" in waiting["outage"]["message"]
        assert datetime.fromisoformat(waiting["outage"]["since"]).timestamp() >= before
        time.sleep(1.1)
        tasks.reconcile(copying.pk)
        again = page_of(client, copying)["outage"]
        assert (again["since"], again["attempts"]) == (waiting["outage"]["since"], 2)
        small_disk("60m")
        time.sleep(2.1)
        tasks.reconcile(copying.pk)
    after = page_of(client, copying)
    assert (after["observed"], after["outage"], after["failure"]) == ("starting", None, None)
    assert list((Path(tasks.configuration().data) / "deployments").rglob("job.py"))


@pytest.mark.spark
@pytest.mark.slow
def test_an_analyzer_that_is_killed_is_waited_for_and_shown(
    copying: Deployment,
    people: People,
    client_of: Client,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "services" / "analyzer")
    monkeypatch.setenv("MILLRACE_ANALYZER", path)
    client = client_of(people.viewer)
    with running_analyzer(path) as process:
        # From here on, the compiler keeps a connection to the analyzer.
        assert tasks.jobs().check(line(node("other", "filter", predicate="key = 'b'"))) is None
        reconciling.observe(copying.pk, "compiling")
        process.kill()
        process.wait()
        tasks.reconcile(copying.pk)
    waiting = page_of(client, copying)
    assert (waiting["observed"], waiting["failure"]) == ("compiling", None)
    assert waiting["outage"]["code"] == "analyzer"
    assert path in waiting["outage"]["message"]
    time.sleep(1.1)
    tasks.reconcile(copying.pk)
    again = page_of(client, copying)["outage"]
    assert (again["since"], again["attempts"]) == (waiting["outage"]["since"], 2)
    with running_analyzer(path):
        time.sleep(1.0)
        tasks.reconcile(copying.pk)
    after = page_of(client, copying)
    assert (after["observed"], after["outage"], after["failure"]) == ("checking", None, None)
