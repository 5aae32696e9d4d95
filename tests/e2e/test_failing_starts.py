"""A version fails to start at many points: the previous one runs again, and nothing is lost."""

from __future__ import annotations

import itertools
import json
import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import unused_port
from tests.e2e.api import Api
from tests.e2e.system import OWN_SYSTEM, System, running_system
from tests.e2e.topics import Sentence, create_topic, write
from tests.registry import Registry
from tests.registry import running as running_registry
from tests.runtime import topics

pytestmark = [*OWN_SYSTEM, pytest.mark.long]

SOURCE, SINK = "failing-numbers", "failing-sums"
#: from the end of the new driver until the previous version runs again
BACK_SECONDS = 30.0
#: until a standby is prepared, on a busy machine
PREPARED_SECONDS = 320.0
TEXT = {"format": "string"}
PROCESSOR = """
import package_that_nobody_has

class Broken(Processor):
    def process(self, record):
        self.context.forward(record)
"""


def summing(*between: dict[str, Any], **source: Any) -> dict[str, Any]:
    """Sums of numbers by key, exactly once, optionally after other steps."""
    params = {"type": "BIGINT", "initializer": "0L", "aggregator": "agg + CAST(value AS BIGINT)"}
    reads = {"topics": [SOURCE], "key": TEXT, "value": TEXT, **source}
    nodes: list[dict[str, Any]] = [
        {"id": "numbers", "kind": "source.stream", "params": reads},
        *between,
        {"id": "sum", "kind": "aggregate", "params": params},
        {"id": "out", "kind": "sink.topic", "params": {"topic": SINK}},
    ]
    ids = [each["id"] for each in nodes]
    return {
        "format": "millrace.topology/1",
        "name": "failing",
        "settings": {"processing_guarantee": "exactly_once"},
        "topics": {SOURCE: {"partitions": 1}, SINK: {"partitions": 1}},
        "nodes": nodes,
        "edges": [{"source": a, "target": b} for a, b in itertools.pairwise(ids)],
    }


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    with running_registry() as found:
        found.user = "me:right"
        yield found


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory, registry: Registry) -> Iterator[System]:
    """A system of its own, with a wrong password for its schema registry."""
    folder = tmp_path_factory.mktemp("failing")
    (folder / "conf").mkdir()
    machine = {
        **os.environ,
        "MILLRACE_SCHEMA_REGISTRIES": registry.url,
        "MILLRACE_REGISTRY_PASSWORDS": f'{{"{registry.url}": "me:wrong"}}',
        "SPARK_CONF_DIR": str(folder / "conf"),
    }
    with running_system(folder, unused_port(), machine) as found:
        yield found


@dataclass
class Victim:
    """A deployment that runs version 1; the tests deploy other versions that fail."""

    system: System
    api: Api
    deployment: int
    topology: int
    sent: list[int] = field(default_factory=list)
    versions: int = 1

    @property
    def folder(self) -> Path:
        return self.system.data / "deployments" / str(self.deployment)

    def now(self) -> dict[str, Any]:
        found: dict[str, Any] = self.api.call("GET", f"/deployments/{self.deployment}")
        return found

    def send(self, value: int) -> None:
        write(self.system.bootstrap_servers, SOURCE, [Sentence(0, 1_000, str(value), "a")])
        self.sent.append(value)

    def sums(self) -> list[int]:
        """The committed output: each sum once and in order, whatever happened before."""
        found = topics.consume(self.system.bootstrap_servers, SINK, len(self.sent), seconds=2)
        return [struct.unpack(">q", each.value())[0] for each in found]

    def until(self, holds: Callable[[], bool], seconds: float, what: str) -> float:
        began = time.monotonic()
        while not holds():
            assert time.monotonic() - began < seconds, f"{what}: {self.now()}"
            time.sleep(0.05)
        return time.monotonic() - began

    def deploy(self, document: dict[str, Any] | None, **settings: Any) -> int:
        """Deploy a document as the next version, or version 1 with other settings."""
        version = 1
        if document is not None:
            body = {"document": document, "message": "next", "base_version": self.versions}
            path = f"/topologies/{self.topology}/versions"
            version = self.versions = int(self.api.call("POST", path, body)["number"])
        asked = {"version": version, "settings": settings}
        self.api.call("POST", f"/deployments/{self.deployment}/redeploy", asked)
        return version

    def until_other_driver(self, before: int, seconds: float = PREPARED_SECONDS) -> int:
        """Wait for the driver of the new version and return its process id."""

        def other() -> bool:
            run = self.now()["run"]
            return run is not None and run["pid"] != before

        self.until(other, seconds, "no new driver")
        return int(self.now()["run"]["pid"])

    def until_gone(self, pid: int, seconds: float = PREPARED_SECONDS) -> None:
        self.until(lambda: not psutil.pid_exists(pid), seconds, "the new driver did not end")

    def until_failed(self, seconds: float = PREPARED_SECONDS) -> None:
        self.until(lambda: self.now()["failure"] is not None, seconds, "it did not fail")

    def is_back(self) -> bool:
        found = self.now()
        run = found["run"]
        return bool(found["observed"] == "running" and run is not None and run["version"] == 1)


@pytest.fixture(scope="module")
def victim(system: System) -> Iterator[Victim]:
    for topic in (SOURCE, SINK):
        create_topic(system.bootstrap_servers, topic, 1)
    with Api(system.address, system.link) as api:
        deployment = api.deploy("Failing", summing())
        topology = api.call("GET", f"/deployments/{deployment}")["topology"]
        found = Victim(system, api, deployment, topology)
        api.until(deployment, "running", 240)
        found.send(1)
        found.until(lambda: found.sums() == [1], 120, "nothing came")
        yield found


def no_memory(victim: Victim, pid: int) -> None:
    """Leave the new JVM without memory until it has failed."""
    state = (victim.system.data / "run" / "state.json").read_text()
    worker = next(each for each in json.loads(state)["services"] if each["name"] == "worker")
    parent = psutil.Process(worker["pid"])
    family = [parent, *parent.children(recursive=True)]
    alive = [each for each in family if each.status() != psutil.STATUS_ZOMBIE]
    workers = [each for each in alive if "celery" in each.cmdline()]
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    for each in workers:
        each.rlimit(psutil.RLIMIT_AS, (1_500_000_000, resource.RLIM_INFINITY))
    try:
        victim.deploy(None, memory_mb=4096)
        victim.until_failed()
    finally:
        for each in workers:
            each.rlimit(psutil.RLIMIT_AS, unlimited)


def broken_jar(victim: Victim, pid: int) -> None:
    """Truncate the staged operator's jar before the driver opens it."""
    same = {"id": "same", "kind": "filter", "params": {"predicate": "length(value) > 0"}}
    version = victim.deploy(summing(same))
    job = victim.folder / "jobs" / f"v{version}"
    victim.until((job / "job.py").exists, 60, "it was not staged")
    jar = job / "millrace_runtime" / "operator" / "millrace-operator.jar"
    jar.write_bytes(jar.read_bytes()[:1000])


def port_taken(victim: Victim, pid: int) -> None:
    """Configure a single port for Spark, which another process occupies.

    Without such a setting no port can be taken: see the test below.
    """
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        defaults = victim.system.data.parent / "conf" / "spark-defaults.conf"
        defaults.write_text(f"spark.driver.port {port}\nspark.port.maxRetries 0\n")
        try:
            victim.deploy(None, cores=1)
            victim.until_failed()
        finally:
            defaults.unlink()


def import_error(victim: Victim, pid: int) -> None:
    """A processor imports a module that is not installed; the driver or a check reports it."""
    params = {"code": PROCESSOR, "type": "STRING"}
    victim.deploy(summing({"id": "broken", "kind": "process_values", "params": params}))


def missing_topic(victim: Victim, pid: int) -> None:
    """The version reads a topic that does not exist and that it may not create."""
    victim.deploy(summing(topics=[SOURCE, "failing-nowhere"]), create_topics=False)


def wrong_password(victim: Victim, pid: int, registry: Registry) -> None:
    """The registry refuses the password."""
    value = {"format": "avro", "registry": registry.url, "subject": "failing"}
    registry.register("failing", '"string"')
    victim.deploy(summing(value=value))


def unreadable_state(victim: Victim, pid: int) -> None:
    """The state must be migrated, and its files cannot be read while the new driver lives."""
    spread = {"id": "spread", "kind": "repartition", "params": {"partitions": 3}}
    before = victim.folder / "checkpoint" / "stream" / "state"
    hidden = before.with_name("hidden")
    victim.deploy(summing(spread))
    victim.until_gone(pid)
    before.rename(hidden)
    try:
        victim.until_gone(victim.until_other_driver(pid))
    finally:
        # A folder that was created under that name contains nothing useful.
        if before.exists():
            before.rename(before.with_name("made"))
        hidden.rename(before)


def killed_while_prepared(victim: Victim, pid: int) -> None:
    """kill -9 of the standby beside the running driver."""
    same = {"id": "other", "kind": "filter", "params": {"predicate": "value <> 'y'"}}
    victim.deploy(summing(same))

    def prepared() -> list[int]:
        """Notes of earlier drivers may remain, including those of ended ones."""
        notes = (victim.folder / "standby").glob("*/process.json")
        pids = [int(json.loads(note.read_text())["pid"]) for note in notes]
        return [each for each in pids if each != pid and psutil.pid_exists(each)]

    victim.until(lambda: bool(prepared()), 90, "no driver was prepared")
    os.kill(prepared()[0], signal.SIGKILL)


def killed_half_way(victim: Victim, pid: int) -> None:
    """kill -9 of the new driver after it took over, before its first batch."""
    same = {"id": "again", "kind": "filter", "params": {"predicate": "value <> 'x'"}}
    victim.deploy(summing(same))
    driver = victim.until_other_driver(pid)
    with suppress(ProcessLookupError):
        os.kill(driver, signal.SIGKILL)
    victim.until_gone(driver)


#: faults that are noticed while the previous driver runs, which is therefore not stopped
UNSTOPPED = {
    no_memory, broken_jar, import_error, missing_topic, wrong_password, port_taken,
    killed_while_prepared,
}  # fmt: skip


@pytest.mark.parametrize(
    "fails",
    [no_memory, broken_jar, import_error, missing_topic, wrong_password, port_taken,
     unreadable_state, killed_while_prepared, killed_half_way],
)  # fmt: skip
def test_the_version_before_runs_again_within_half_a_minute(
    victim: Victim, registry: Registry, fails: Callable[..., None]
) -> None:
    before = victim.now()
    pid = before["run"]["pid"]
    given = (victim, pid, registry) if fails is wrong_password else (victim, pid)
    fails(*given)
    victim.send(len(victim.sent) + 1)
    if fails in UNSTOPPED:
        # The checks refuse the version, or its driver fails; either way there is a reason.
        victim.until_failed()
    took = victim.until(victim.is_back, BACK_SECONDS, "version 1 did not come back")
    after = victim.now()
    assert after["version"] == 1
    assert after["settings"] == before["settings"], "settings come back with the version"
    assert (after["run"]["pid"] == pid) == (fails in UNSTOPPED)
    expected = list(itertools.accumulate(victim.sent))
    victim.until(lambda: len(victim.sums()) >= len(expected), 60, "sums are missing")
    assert victim.sums() == expected
    print(f"{fails.__name__}: back after {took:.1f} s")


def test_no_port_of_a_driver_can_be_taken(victim: Victim) -> None:
    """A driver listens only on this machine, on ports that the system chose at its start."""
    driver = psutil.Process(victim.now()["run"]["pid"])
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    listening = [
        each.laddr
        for process in (driver, *driver.children(recursive=True))
        for each in process.net_connections("inet")
        if each.status == psutil.CONN_LISTEN
    ]
    assert listening, "Spark listens at least for the driver's own Python"
    assert {each.ip.removeprefix("::ffff:") for each in listening} == {"127.0.0.1"}
    assert [each.port for each in listening if each.port < lowest] == []


def test_a_standby_takes_over_from_a_killed_driver(victim: Victim) -> None:
    before = victim.now()["run"]["pid"]
    victim.deploy(None, standby=True)
    driver = victim.until_other_driver(before)
    victim.send(len(victim.sent) + 1)

    def ready() -> bool:
        found = victim.now()
        standby = found["standby"] or {"state": None}
        return bool(found["observed"] == "running" and standby["state"] == "ready")

    victim.until(ready, PREPARED_SECONDS, "no standby")
    waits = victim.now()["standby"]["pid"]
    os.kill(driver, signal.SIGKILL)
    victim.send(len(victim.sent) + 1)
    assert victim.until_other_driver(driver) == waits
    assert victim.now()["run"]["standby"]
    expected = list(itertools.accumulate(victim.sent))
    victim.until(lambda: len(victim.sums()) >= len(expected), 60, "sums are missing")
    assert victim.sums() == expected

    victim.deploy(None)
    victim.until_other_driver(waits)
    victim.until(victim.is_back, PREPARED_SECONDS, "it does not run without a standby")
    assert victim.now()["standby"] is None
