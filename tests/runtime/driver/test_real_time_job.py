"""A job in real-time mode as a driver process: kill -9, too few slots, and refusals."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.errors import MillraceError
from millrace_runtime.job import real_time

from tests.runtime import topics
from tests.runtime.drivers import ended, kill, problems
from tests.runtime.job.test_kafka_job import Words, counts, job, without_repeats, words

__all__ = ["words"]
pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

BATCH = ("--real-time", "5 seconds", "--master", "local[8]")


def produce(words: Words, number: int) -> None:
    """Write one line with the same two words."""
    record = {"value": "to be", "timestamp": 1_000 + number, "partition": number % 4}
    topics.produce(words.address, words.lines, [record])


def refusal(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the error of a job that refuses to start."""
    _, printed = process.communicate(timeout=240)
    assert process.returncode == 2, printed
    error: dict[str, Any] = json.loads(printed.splitlines()[-1])["error"]
    return error


@pytest.mark.long
def test_a_job_that_is_killed_in_a_batch_loses_nothing_and_counts_on(
    words: Words, tmp_path: Path
) -> None:
    for number in range(40):  # read in a micro-batch, before real-time mode begins
        produce(words, number)
    first = job(words, tmp_path / "c", *BATCH)
    try:
        assert len(topics.consume(words.address, words.counts, 80, seconds=180)) == 80, ended(first)
        for number in range(40, 140):
            produce(words, number)
            time.sleep(0.02)
        # Whether or not a batch ended after the last of them, the results must be right.
        assert len(topics.consume(words.address, words.counts, 280, seconds=60)) >= 280
    finally:
        kill(first)
    second = job(words, tmp_path / "c", *BATCH)
    try:
        for number in range(140, 160):
            produce(words, number)
        deadline = time.monotonic() + 120
        highest = 0
        while highest < 160 and time.monotonic() < deadline:
            updates = counts(topics.consume(words.address, words.counts, 320))
            highest = min(max(updates["to"]), max(updates["be"]))
        assert highest == 160, ended(second)
        for word in ("to", "be"):
            assert without_repeats(updates[word]) == list(range(1, 161))
        second.terminate()
        _, printed = second.communicate(timeout=120)
        assert second.returncode == 0, printed
        assert problems(printed) == []
    finally:
        kill(second)
    # A regular stop follows the end of a batch, and micro-batches continue from the checkpoint.
    produce(words, 160)
    third = job(words, tmp_path / "c", "--available-now")
    _, printed = third.communicate(timeout=240)
    assert third.returncode == 0, printed
    last = counts(topics.consume(words.address, words.counts, 322))
    assert last["to"][len(updates["to"]) :] == [161]


def test_too_few_slots_are_reported_in_words(words: Words, tmp_path: Path) -> None:
    error = refusal(job(words, tmp_path / "c", "--real-time", "5 seconds", "--master", "local[7]"))
    assert error["code"] == "real_time_slots"
    assert "8 for the tasks of all levels" in error["message"]
    assert "local[8]" in error["message"]


@pytest.mark.parametrize(
    ("text", "printed"),
    [("1 second", "at least 5 seconds"), ("soon", "not a duration"), ("99", "99")],
)
def test_a_batch_that_spark_cannot_make_is_reported_in_words(text: str, printed: str) -> None:
    with pytest.raises(MillraceError, match=printed) as refused:
        real_time.batch_ms(text)
    assert refused.value.code == "option_invalid"


def test_the_length_of_a_batch_is_a_duration() -> None:
    assert real_time.batch_ms("1 minute") == real_time.batch_ms("60000") == 60_000


def test_exactly_once_is_refused_before_anything_starts(words: Words, tmp_path: Path) -> None:
    began = time.monotonic()
    error = refusal(job(words, tmp_path / "c", *BATCH, processing_guarantee="exactly_once"))
    assert error["code"] == "real_time_exactly_once"
    assert not (tmp_path / "c").exists()
    assert time.monotonic() - began < 30
