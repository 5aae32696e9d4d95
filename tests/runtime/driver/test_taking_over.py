"""A driver takes over a checkpoint under load: no record is lost; one driver writes at a time."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from millrace_workers.launchers import JobSpec, LocalLauncher
from millrace_workers.launchers.shim import locked
from millrace_workers.model import Process

from launcher import archive
from tests.runtime import topics
from tests.runtime.drivers import ROOT

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.long]


class Word:
    """An exactly-once word count in a deployment's folder, started as a worker starts it."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder
        self.launcher = LocalLauncher(folder / "data")
        self.lines, self.counts = (f"{name}-{uuid.uuid4()}" for name in ("lines", "counts"))
        topics.create(address, {self.lines: 1, self.counts: 1})
        (folder / "job").mkdir()
        shutil.copy(
            Path(__file__).parents[1].joinpath("word_count_job.py"), folder / "job" / "job.py"
        )
        self.written = 0

    def spec(self, run: str) -> JobSpec:
        path = [*(str(ROOT / each) for each in ("compiler", "runtime")), str(ROOT)]
        return JobSpec(
            5, self.folder / "job", self.folder / "checkpoint", self.folder / "driver.log", run,
            (
                self.lines, self.counts, "--bootstrap-servers", self.address,
                "--master", "local[2]", "--checkpoint", str(self.folder / "checkpoint"),
                "--run", run,
            ),
            {
                "PYTHONPATH": os.pathsep.join(path),
                "MILLRACE_TEST_SETTINGS": json.dumps({"processing_guarantee": "exactly_once"}),
                **archive.with_options(archive.spark().use()),
            },
        )  # fmt: skip

    def write(self) -> None:
        self.written += 1
        record = {"value": "word", "timestamp": self.written}
        topics.produce(self.address, self.lines, [record])

    def found(self, count: int, seconds: float) -> list[int]:
        """Every count that a reader of committed records sees."""
        records = topics.consume(self.address, self.counts, count, seconds=seconds)
        return [int.from_bytes(each.value(), "big") for each in records]

    def until(self, holds: Callable[[], Any], seconds: float = 240.0) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, (self.folder / "driver.log").read_text()[-4000:]
            time.sleep(0.05)

    def prepared(self) -> bool:
        standby = self.launcher.standby(self.folder)
        assert standby is not None
        assert standby.ended is None, (self.folder / "driver.log").read_text()[-4000:]
        return standby.ready


@pytest.fixture
def word(broker: Any, tmp_path: Path) -> Iterator[Word]:
    made = Word(broker.address, tmp_path)
    yield made
    made.launcher.end_standby(5, tmp_path)
    running = made.launcher.find(tmp_path)
    if running is not None:
        made.launcher.kill(running)


def group(process: Process) -> list[int]:
    """Return the living processes of a driver and of its children."""
    found = []
    for each in psutil.pids():
        try:
            if os.getpgid(each) == process.pid and psutil.Process(each).status() != "zombie":
                found.append(each)
        except (ProcessLookupError, psutil.Error):
            continue
    return found


def test_a_prepared_driver_takes_over_under_load(word: Word) -> None:
    old = word.launcher.start(word.spec("5-1"))
    word.write()
    word.until(lambda: word.found(1, 2) == [1])
    word.launcher.start_standby(word.spec("5-2"))
    word.until(word.prepared)
    scratch = Path(psutil.Process(old.pid).environ()["MILLRACE_SCRATCH"])
    assert any(scratch.iterdir()), "the JVM's temporary files are elsewhere"
    assert len(group(old)) > 1

    ended = threading.Event()

    def load() -> None:
        while not ended.wait(0.02):
            word.write()

    writer = threading.Thread(target=load)
    writer.start()
    try:
        time.sleep(2)
        word.launcher.hand_over(word.folder)
        word.launcher.ask_to_stop(old)
        log = word.folder / "checkpoint.lock"
        standby = word.launcher.standby(word.folder)
        assert standby is not None
        word.until(lambda: log.read_text().startswith(f"process {standby.process.pid} "), 60)
        assert group(old) == [], "the old driver's processes live, and another has the lock"
        time.sleep(8)
    finally:
        ended.set()
        writer.join()
    assert word.found(word.written, 60) == list(range(1, word.written + 1))
    assert word.found(word.written + 1, 3) == list(range(1, word.written + 1))
    new = word.launcher.adopt(5, word.folder)
    assert new is not None
    assert locked(word.folder / "checkpoint.lock") is None
    word.until(lambda: not scratch.exists(), 10)
    word.launcher.ask_to_stop(new)
    word.until(lambda: word.launcher.poll(word.folder, new), 60)
