"""Records and topics that are lost while a job runs, on a real broker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from millrace_runtime.driver import life_cycle
from millrace_runtime.errors import MillraceError

from tests.compiler.kit import Raw
from tests.runtime import topics
from tests.runtime.changing import Changing, Pair
from tests.runtime.driver.test_lost_offsets import (
    EARLIEST,
    LATEST,
    Losses,
    pair,
    recreate,
    send,
    summed,
)

__all__ = ["pair"]

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

#: one record a second, so that later records are still unread
SLOW = ["--max-records", "1", "--trigger", "1 second"]


def eventually(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


@contextmanager
def running(
    changing: Changing, raw: Raw, folder: Path, *more: str, report: Any = None
) -> Iterator[Future[None]]:
    """Run the job in a thread during the block, then stop it."""
    stopping = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(
            changing.run, raw, folder, more=more, report=report or Losses(), until=stopping
        )
        try:
            yield job
        finally:
            stopping.set()


def seen(pair: Pair, wanted: list[tuple[str, int]]) -> bool:
    """Wait until these updates are among those since the last call."""
    found: list[tuple[str, int]] = []
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(KafkaException):  # the broker may not have announced its topic yet
            found += pair.new()
        if set(wanted) <= set(found):
            return True
        time.sleep(0.1)
    raise AssertionError(found)


def behind(pair: Pair) -> None:
    """Write thirty records, which are read one a second, and delete the first twenty of them."""
    send(pair, 1)
    assert seen(pair, [("a", 1)])
    send(pair, *[2] * 30)
    topics.delete_before(pair.address, pair.source, 21)


def test_a_job_that_retention_overtakes_stops_with_the_number_lost(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    with running(changing, summed(pair), tmp_path, *SLOW) as job:
        behind(pair)
        error = job.exception(timeout=90)
    assert isinstance(error, MillraceError)
    assert (error.code, error.node) == ("offsets_lost", "in"), error.message
    assert f"{pair.source}-0: the next offset is " in error.message
    assert "the broker has 21 to 31, which is the end" in error.message


@pytest.mark.long
@pytest.mark.parametrize(("choice", "lost"), [(EARLIEST, 20), (LATEST, 30)])
def test_a_job_that_retention_overtakes_counts_what_it_lost_if_chosen(
    changing: Changing, pair: Pair, tmp_path: Path, choice: list[str], lost: int
) -> None:
    reported = Losses()
    with running(changing, summed(pair), tmp_path, *SLOW, *choice, report=reported) as job:
        behind(pair)
        eventually(lambda: bool(reported.lost) or job.done())
        send(pair, 500)
        place, begin, records = reported.lost[0]
        assert (place, begin) == ((pair.source, 0), 21 if choice is EARLIEST else 31)
        # Some were read before they were deleted.
        assert lost - 5 <= records <= lost
        total = 1 + 2 * (30 - records) + 500
        assert seen(pair, [("a", total)])
        assert f"{records} records are not read" in reported.logs[0]


def test_a_topic_that_is_created_again_stops_the_job(
    changing: Changing, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life_cycle, "TOPICS_SECONDS", 0.5)
    with running(changing, summed(pair), tmp_path) as job:
        send(pair, 1, 2)
        assert seen(pair, [("a", 3)])
        recreate(pair)
        send(pair, 4, 5, 6)
        error = job.exception(timeout=90)
    assert isinstance(error, MillraceError)
    assert (error.code, error.node) == ("topic_recreated", "in")
    assert f"since the job read it: {pair.source}." in error.message


@pytest.mark.long
def test_a_topic_that_is_created_again_is_read_whole_if_chosen(
    changing: Changing, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life_cycle, "TOPICS_SECONDS", 0.5)
    reported = Losses()
    with running(changing, summed(pair), tmp_path, *EARLIEST, report=reported) as job:
        send(pair, 1, 2)
        assert seen(pair, [("a", 3)])
        recreate(pair)
        eventually(lambda: bool(reported.logs) or job.done())
        send(pair, 4, 5, 6)
        assert seen(pair, [("a", 18)])
        assert not job.done()


@pytest.mark.long
def test_a_job_whose_topic_is_deleted_stops_and_names_it(
    changing: Changing, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life_cycle, "TOPICS_SECONDS", 0.5)
    with running(changing, summed(pair), tmp_path) as job:
        send(pair, 1)
        assert seen(pair, [("a", 1)])
        topics.delete(pair.address, pair.source)
        error = job.exception(timeout=90)
    assert isinstance(error, MillraceError)
    assert (error.code, error.node) == ("topic_missing", "in")
    assert pair.source in error.message
