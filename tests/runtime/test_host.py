"""Deployments that share a JVM: what one of them does wrong ends that one, and all come back."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from millrace_workers.launchers import JobSpec, LocalLauncher, hosts
from millrace_workers.launchers.shim import locked
from millrace_workers.model import Process

from launcher import archive
from tests.runtime import topics
from tests.runtime.drivers import ROOT

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

FILLS = "fill:400000000"
HANGS = "hold:1:200000"
IN_THREAD = "processed in a stream thread"


class Shared:
    """An exactly-once word count in a deployment's folder, started as a worker starts it."""

    def __init__(self, address: str, data: Path, number: int, **environment: str) -> None:
        self.address, self.number, self.environment = address, number, environment
        self.folder = data / "deployments" / str(number)
        self.launcher = LocalLauncher(data, host_memory_mb=512)
        self.renew()
        (self.folder / "job").mkdir(parents=True)
        shutil.copy(Path(__file__).with_name("shared_job.py"), self.folder / "job" / "job.py")
        self.written = 0
        self.epoch = 0
        self.process: Process | None = None

    def renew(self) -> None:
        self.lines, self.counts = (f"{name}-{uuid.uuid4()}" for name in ("lines", "counts"))
        topics.create(self.address, {self.lines: 1, self.counts: 1})

    def spec(self, host: str | None = "test") -> JobSpec:
        self.epoch += 1
        path = [*(str(ROOT / each) for each in ("compiler", "runtime", "workers")), str(ROOT)]
        run = f"{self.number}-{self.epoch}"
        return JobSpec(
            self.number, self.folder / "job", self.folder / "checkpoint",
            self.folder / "driver.log", run,
            (
                self.lines, self.counts, "--bootstrap-servers", self.address,
                "--checkpoint", str(self.folder / "checkpoint"), "--run", run,
                *(("--master", "local[2]") if host is None else ()),
            ),
            {"PYTHONPATH": os.pathsep.join(path), **self.environment},
            host=host,
        )  # fmt: skip

    def start(self, host: str | None = "test") -> Process:
        self.process = self.launcher.start(self.spec(host))
        return self.process

    def write(self, word: str = "word") -> None:
        self.written += word == "word"
        topics.produce(self.address, self.lines, [{"value": word}])

    def arrives(self) -> None:
        """All words that were written have been counted once."""
        expected = list(range(1, self.written + 1))
        records = topics.consume(self.address, self.counts, len(expected), seconds=300)
        found = [int.from_bytes(each.value(), "big") for each in records if each.key() == b"word"]
        assert found == expected, self.log

    @property
    def log(self) -> str:
        return (self.folder / "driver.log").read_text()

    def continues_in_thread(self) -> None:
        """Wait until its query has continued in a stream thread since its driver started."""
        until(lambda: IN_THREAD in self.log.rpartition("INFO Starting")[2], 120, self)

    def ended(self, seconds: float = 60.0) -> int | None:
        assert self.process is not None
        process = self.process
        until(lambda: self.launcher.poll(self.folder, process) is not None, seconds, self)
        found = self.launcher.poll(self.folder, process)
        assert found is not None
        return found.exit_code

    @property
    def note(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "process.json").read_text())
        return found

    @property
    def java(self) -> int:
        """The JVM of its host."""
        found = hosts.java_of(self.launcher.hosts.folder_of("test", self.folder / "job"))
        assert found is not None
        return found


def until(holds: Callable[[], Any], seconds: float, shared: Shared) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, shared.log[-4000:]
        time.sleep(0.05)


@pytest.fixture(scope="module")
def pair(broker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Shared]]:
    """Two deployments that share a JVM and have counted a word."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in archive.with_options(archive.spark().use()).items():
            environment.setenv(name, value)
        data = tmp_path_factory.mktemp("hosts")
        sleepy = Shared(broker.address, data, 1, MILLRACE_SLEEP_SECONDS="1")
        made = [sleepy, Shared(broker.address, data, 2)]
        yield made
        for note in (data / "run" / "drivers").glob("*.json"):
            group = json.loads(note.read_text())["group"]
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


def both_run(pair: list[Shared]) -> None:
    for each in pair:
        running = each.launcher.find(each.folder)
        if running is None:
            each.start()
    for each in pair:
        each.write()
        each.arrives()
    # The other one may fall asleep before.
    pair[1].continues_in_thread()


def test_each_has_its_driver_and_both_have_one_jvm(pair: list[Shared]) -> None:
    both_run(pair)
    one, other = (psutil.Process(each.note["pid"]) for each in pair)
    assert one.parent() == other.parent() == psutil.Process(pair[0].note["shim"])
    assert not one.children()
    assert pair[0].note["host"].startswith("test-")
    family = psutil.Process(pair[0].note["shim"]).children(recursive=True)
    assert [each.pid for each in family if each.name() == "java"] == [pair[0].java]


def test_a_driver_adds_little_memory_to_what_all_drivers_share(pair: list[Shared]) -> None:
    """Their modules were loaded before, and those of data frames never."""
    both_run(pair)
    for each in pair:
        each.arrives()
        driver = psutil.Process(each.note["pid"])
        assert not [name for name in (mapped.path for mapped in driver.memory_maps())
                    if "pyarrow" in name or "pandas" in name]  # fmt: skip
        assert driver.memory_full_info().uss < 32_000_000


def test_a_driver_that_is_killed_while_it_sleeps_ends_alone(pair: list[Shared]) -> None:
    both_run(pair)
    until(lambda: "asleep" in pair[0].log.splitlines()[-1], 60, pair[0])
    java = pair[0].java
    os.kill(pair[0].note["pid"], signal.SIGKILL)
    assert pair[0].ended() == -9
    pair[0].write()
    pair[1].write()
    pair[1].arrives()
    pair[0].start()
    pair[0].arrives()
    assert pair[0].java == java


@pytest.mark.long
def test_one_moves_out_and_in_while_its_driver_runs(pair: list[Shared]) -> None:
    both_run(pair)
    shared = pair[0]

    def prepared() -> bool:
        standby = shared.launcher.standby(shared.folder)
        return standby is not None and standby.ready

    for host in (None, "test"):
        old = shared.process
        assert old is not None
        shared.launcher.start_standby(shared.spec(host))
        until(prepared, 90, shared)
        shared.launcher.hand_over(shared.folder)
        shared.launcher.ask_to_stop(old)
        shared.write()
        shared.arrives()
        shared.process = shared.launcher.adopt(shared.number, shared.folder)
        assert shared.note.get("host", "").startswith("test" if host else "")
    pair[1].write()
    pair[1].arrives()


def test_all_come_back_when_their_jvm_is_killed(pair: list[Shared]) -> None:
    both_run(pair)
    os.kill(pair[0].java, signal.SIGKILL)
    for each in pair:
        each.write()
        assert each.ended() == 1
        assert '"host_lost"' in each.log
    both_run(pair)


@pytest.mark.long
def test_all_move_out_when_one_allocation_ends_their_jvm(pair: list[Shared]) -> None:
    both_run(pair)
    other, filling = pair
    filling.write(FILLS)
    assert [each.ended() for each in pair] == [1, 1]
    other.write()
    for each in pair:
        assert '"host_full"' in each.log
        each.start()
        assert "host" not in each.note
    other.arrives()
    assert json.loads((filling.folder / "alone").read_text()) == {"cause": "heap", "job": "job"}
    for each in pair:
        forgive(each)


@pytest.mark.long
def test_a_task_that_cannot_be_interrupted_ends_its_host(pair: list[Shared]) -> None:
    both_run(pair)
    other, hanging = pair
    hanging.write(HANGS)
    time.sleep(2)
    assert hanging.process is not None
    hanging.launcher.ask_to_stop(hanging.process)
    other.write()
    assert [hanging.ended(), other.ended()] == [0, 1]
    assert '"host_lost"' in other.log
    assert json.loads((hanging.folder / "alone").read_text())["cause"] == "hang"
    other.start()
    other.arrives()
    forgive(hanging)


def forgive(shared: Shared) -> None:
    """Give a deployment other topics and an empty checkpoint, and let it share a JVM again."""
    assert shared.process is not None
    shared.launcher.kill(shared.process)
    shared.ended()

    def free() -> bool:
        lock = locked(shared.folder / "checkpoint.lock")
        if lock is not None:
            os.close(lock)
        return lock is not None

    until(free, 20, shared)
    shutil.rmtree(shared.folder / "checkpoint")
    (shared.folder / "alone").unlink()
    shared.written = 0
    shared.renew()
