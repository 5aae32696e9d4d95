"""Jobs without records sleep: nothing of them runs until the next record, on a real broker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_runtime import columns
from millrace_runtime.driver import options, stream_threads
from millrace_runtime.errors import MillraceError
from millrace_runtime.job.job import Job
from millrace_runtime.job.kafka import Kafka

from tests.compiler.kit import Raw, line, node
from tests.runtime.changing import Changing, Pair
from tests.runtime.driver.test_losses_while_running import eventually, running
from tests.runtime.driver.test_lost_offsets import Losses, pair, recreate, send, summed

__all__ = ["pair"]

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


class States(Losses):
    """Records the states that a job reports."""

    def __init__(self) -> None:
        super().__init__()
        self.states: list[str] = []

    def state(self, state: str, _error: Any = None) -> None:
        self.states.append(state)

    def log(self, level: str, message: str, node: str | None = None) -> None:
        self.logs.append(message)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs sleep half a second after their last record, when they are in stream threads."""
    monkeypatch.setenv(options.SLEEP, "0.5")
    monkeypatch.setattr(stream_threads, "LOOK_SECONDS", 0.0)


@contextmanager
def asleep(
    changing: Changing, raw: Raw, folder: Path, *more: str
) -> Iterator[tuple[Future[None], States]]:
    """Run a job in the block, which begins when it sleeps."""
    report = States()
    with running(changing, raw, folder, *more, report=report) as job:
        sleeps(job, report, 1)
        yield job, report


def sleeps(job: Future[None], report: States, times: int) -> None:
    """Wait until a job sleeps for the n-th time."""
    deadline = time.monotonic() + 60
    while report.states.count("asleep") < times:
        failed = job.exception() if job.done() else None
        late = job.done() or time.monotonic() > deadline
        assert not late, (failed, report.states, report.logs)
        time.sleep(0.05)


def once(raw: Raw) -> Raw:
    raw["settings"] = {"processing_guarantee": "exactly_once"}
    return raw


def test_a_job_without_records_sleeps_and_the_next_record_wakes_it(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    other, control = Pair(changing.address, 2), tmp_path / "control"
    send(pair, 1)
    with (
        asleep(changing, once(summed(pair)), tmp_path) as (job, first),
        asleep(
            changing, summed(other), tmp_path / "other", "--control", str(control)
        ) as (neighbour, second),
    ):  # fmt: skip
        assert not changing.spark.streams.active
        assert columns.gateway().TopicWatch.consumers() == 1
        send(pair, 2)
        sleeps(job, first, 2)
        control.write_text("pause")
        eventually(lambda: second.states[:3] == ["running", "asleep", "paused"])
        send(pair, 3, partition=1)
        sleeps(job, first, 3)
        send(other, 10)
        control.write_text("drain")
        neighbour.result(timeout=60)
    assert pair.new() == [("a", 1), ("a", 3), ("b", 3)]
    assert other.new() == [("a", 10)]
    assert first.states == ["running", "asleep"] * 3
    # A thread goes on as a thread: no query has started for the two records that woke it up.
    assert sum("in a stream thread" in line for line in first.logs) == 1
    assert columns.gateway().TopicWatch.consumers() == 0


@pytest.mark.long
def test_a_topic_that_is_created_again_while_its_job_sleeps_is_reported(
    changing: Changing, pair: Pair, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    watch: Any = columns.gateway(changing.spark.sparkContext).TopicWatch
    request.addfinalizer(lambda: watch.checkEvery(10_000))
    watch.checkEvery(100)
    send(pair, 1)
    with asleep(changing, summed(pair), tmp_path) as (job, _):
        recreate(pair)
        error = job.exception(timeout=60)
    assert isinstance(error, MillraceError)
    assert error.code == "topic_recreated"


CODE = """
class Alike(Processor):
    def process(self, record):
        self.context.forward(record)
"""
PROCESS = node(
    "p", "process", code=CODE, class_name="Alike", output={"key": "STRING", "value": "STRING"}
)
SUPPRESSED = [
    node("counted", "count"),
    node("late", "suppress", until="time_limit", limit=5, max_records=3),
    node("changes", "to_stream"),
    node("text", "map_values", value="CAST(value AS STRING)"),
]
HANDLER = {
    "processing_handler": "function",
    "processing_function": "def handle(record, error):\n    return Response.resume()\n",
}


@pytest.mark.parametrize(
    ("raw", "sleeps"),
    [
        (line(*SUPPRESSED), True),
        (line(PROCESS), False),
        (line(settings={"processing_handler": "continue"}), True),
        (line(settings=HANDLER), False),
    ],
    ids=["a suppression by stream time", "a processor", "a handler", "a handler in Python"],
)
def test_a_job_that_runs_python_does_not_sleep(changing: Changing, raw: Raw, sleeps: bool) -> None:
    graph = compile_document(raw, changing.analyzer).require().require_task_graph()
    job = Job(changing.spark, Kafka(changing.spark, changing.address), graph, name="job")
    assert job.only_records is sleeps
