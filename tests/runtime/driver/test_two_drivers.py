"""Two drivers on one checkpoint in an object store, where file locks do not work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime import s3, topics
from tests.runtime.drivers import kill, started

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.long]

ONCE = json.dumps({"processing_guarantee": "exactly_once"})


class Count:
    """A word count with a checkpoint on S3, which can be started several times."""

    def __init__(self, address: str, server: s3.Server) -> None:
        self.address = address
        self.server = server
        self.environment = {**server.environment, "MILLRACE_TEST_SETTINGS": ONCE}
        self.lines, self.counts = (f"{name}-{uuid.uuid4()}" for name in ("lines", "counts"))
        topics.create(address, {self.lines: 1, self.counts: 1})
        self._lines = 0

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Start a driver as a worker on another machine would."""
        return started(
            "word_count_job.py", self.lines, self.counts, *options, address=self.address,
            checkpoint=f"s3a://{s3.BUCKET}/{self.counts}", **self.environment,
        )  # fmt: skip

    def write(self) -> None:
        """Write a word."""
        self._lines += 1
        topics.produce(self.address, self.lines, [{"value": "word", "timestamp": self._lines}])

    def counted(self, driver: subprocess.Popen[str]) -> None:
        """Write a word; wait until it is counted."""
        self.write()
        found = topics.consume(self.address, self.counts, self._lines, seconds=300)
        assert len(found) >= self._lines, (driver.poll(), kill(driver))

    def found(self) -> list[int]:
        """Every count that a reader of committed records sees."""
        return [
            int.from_bytes(record.value(), "big")
            for record in topics.consume(self.address, self.counts, self._lines + 1, seconds=5)
        ]


@pytest.fixture
def count(broker: Any, tmp_path: Path) -> Iterator[Count]:
    with s3.server(tmp_path / "configuration") as server:
        yield Count(broker.address, server)


def error_of(driver: subprocess.Popen[str]) -> dict[str, Any]:
    _, printed = driver.communicate(timeout=300)
    assert driver.returncode == 1, printed
    lines = [line for line in printed.splitlines() if line.startswith('{"at"')]
    error: dict[str, Any] = json.loads(lines[-1])["error"]
    return error


def test_a_second_driver_takes_over_only_from_a_stopped_one(count: Count) -> None:
    drivers = [count.start()]
    try:
        count.counted(drivers[0])
        drivers.append(count.start())
        refused = error_of(drivers[1])
        assert refused["code"] == "checkpoint_in_use"
        assert f"process {drivers[0].pid}" in refused["message"]
        count.counted(drivers[0])

        os.killpg(drivers[0].pid, signal.SIGSTOP)
        drivers.append(count.start())
        count.counted(drivers[2])
        os.killpg(drivers[0].pid, signal.SIGCONT)
        assert error_of(drivers[0])["code"] == "checkpoint_lease_lost"
        count.counted(drivers[2])

        kill(drivers[2])
        drivers.append(count.start())
        count.counted(drivers[3])
        drivers[3].terminate()
        assert drivers[3].wait(120) == 0
        # After a regular stop, the next driver starts at once.
        drivers.append(count.start("--available-now"))
        assert drivers[4].wait(120) == 0
    finally:
        for driver in drivers:
            kill(driver)
    assert count.found() == [1, 2, 3, 4, 5]


def test_storage_without_an_answer_ends_a_driver_and_the_next_continues(
    count: Count,
) -> None:
    drivers = [count.start()]
    try:
        count.counted(drivers[0])
        with count.server.away():
            count.write()
            assert error_of(drivers[0])["code"] == "checkpoint_lease_lost"
        drivers.append(count.start())
        count.counted(drivers[1])
        kill(drivers[1])
        nobody = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
        count.environment |= nobody
        drivers.append(count.start())
        refused = error_of(drivers[2])
        assert refused["code"] == "storage_unreachable"
    finally:
        for driver in drivers:
            kill(driver)
    assert count.found() == [1, 2, 3]
