"""A job on a real broker: its outputs, and the effects of a crash."""

from __future__ import annotations

import dataclasses
import json
import struct
import subprocess
import time
import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from millrace_services import local_services

from tests.runtime import topics
from tests.runtime.drivers import ended, kill, problems, started

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


@dataclasses.dataclass(frozen=True)
class Words:
    """A broker and two topics that only one word count uses."""

    address: str
    lines: str
    counts: str


def job(words: Words, checkpoint: Path, *options: str, **settings: str) -> subprocess.Popen[str]:
    """Start the word count."""
    return started(
        "word_count_job.py", words.lines, words.counts, *options, address=words.address,
        checkpoint=checkpoint, MILLRACE_TEST_SETTINGS=json.dumps(settings),
    )  # fmt: skip


@pytest.fixture
def words(broker: Any) -> Words:
    own = Words(broker.address, f"lines-{uuid.uuid4()}", f"counts-{uuid.uuid4()}")
    topics.create(broker.address, {own.lines: 4, own.counts: 4})
    return own


def counts(records: list[Any]) -> dict[str, list[int]]:
    """Return the updates of each word in order."""
    found: dict[str, list[int]] = defaultdict(list)
    for record in records:
        found[record.key().decode()].append(struct.unpack(">q", record.value())[0])
    return found


def without_repeats(updates: list[int]) -> list[int]:
    """Remove the updates that at-least-once processing repeats after a crash."""
    highest: list[int] = []
    for update in updates:
        if not highest or update == highest[-1] + 1:
            highest.append(update)
        else:
            assert update <= highest[-1], f"a count jumped: {updates}"
    return highest


@pytest.mark.long
def test_words_are_counted_and_a_killed_job_goes_on_where_it_was(
    words: Words, tmp_path: Path
) -> None:
    lines: list[dict[str, Any]] = [
        {"value": "to be or not", "timestamp": 5_000, "partition": 0},
        {"value": "to be ÄÖÜ 世界", "timestamp": 1_000, "partition": 1},
    ]
    topics.produce(words.address, words.lines, lines)
    stores = str(tmp_path / "live" / "stores")
    first = job(words, tmp_path / "c", "--stores", stores)
    try:
        arrived = topics.consume(words.address, words.counts, 8, seconds=180)
        assert len(arrived) == 8, ended(first)
        by_word = counts(arrived)
        assert by_word == {
            "to": [1, 2],
            "be": [1, 2],
            "or": [1],
            "not": [1],
            "ÄÖÜ": [1],
            "世界": [1],
        }
        times = {record.key().decode(): record.timestamp()[1] for record in arrived}
        assert times["or"] == 5_000
        assert times["世界"] == 1_000
        asked = {"do": "read_state", "store": "counts", "query": {"key": "to"}}
        deadline = time.monotonic() + 60
        while not (page := local_services.ask(stores, asked, 60)["page"]) or not page["rows"]:
            assert time.monotonic() < deadline, ended(first)
        assert page["rows"][0]["value"] == "2"
    finally:
        kill(first)
    topics.produce(words.address, words.lines, [{"value": "to to", "timestamp": 9_000}])
    second = job(words, tmp_path / "c", "--available-now")
    _, printed = second.communicate(timeout=240)
    assert second.returncode == 0, printed
    assert problems(printed) == []
    updates = counts(topics.consume(words.address, words.counts, 10))
    assert without_repeats(updates["to"]) == [1, 2, 3, 4]
    assert without_repeats(updates["be"]) == [1, 2]


def test_a_record_that_fails_ends_the_job_with_its_place(words: Words, tmp_path: Path) -> None:
    topics.produce(words.address, words.lines, [{"value": None, "timestamp": 1, "partition": 2}])
    failing = job(words, tmp_path / "c", "--available-now")
    _, printed = failing.communicate(timeout=240)
    assert failing.returncode == 3
    last = json.loads(printed.splitlines()[-1])
    error = last["error"]
    assert 0 <= time.time() * 1000 - last["at"] < 240_000
    assert (error["node"], error["parameter"]) == ("words", "values")
    assert error["record"]["topic"] == words.lines
    assert error["record"]["partition"] == 2
    assert len(problems(printed)) == 1


@pytest.mark.long
def test_what_came_before_a_failing_record_is_written_and_never_again(
    words: Words, tmp_path: Path
) -> None:
    lines: list[dict[str, Any]] = [
        {"value": "a a", "timestamp": 1_000, "partition": 0},
        {"value": "b d", "timestamp": 2_000, "partition": 1},
        {"value": None, "timestamp": 3_000, "partition": 2},
        {"value": "a c b", "timestamp": 4_000, "partition": 3},
    ]
    topics.produce(words.address, words.lines, lines)

    def run(handler: str) -> tuple[int, dict[str, list[int]]]:
        process = job(
            words, tmp_path / "c", "--available-now",
            processing_guarantee="exactly_once", processing_handler=handler,
        )  # fmt: skip
        process.communicate(timeout=240)
        return process.returncode, counts(topics.consume(words.address, words.counts, 4))

    before = {"a": [1, 2], "b": [1], "d": [1]}
    assert run("fail") == (3, before)
    assert run("fail") == (3, before)
    assert run("continue") == (0, {"a": [1, 2, 3], "b": [1, 2], "c": [1], "d": [1]})


@pytest.mark.long
def test_sigterm_ends_a_job_in_time_with_success(words: Words, tmp_path: Path) -> None:
    topics.produce(words.address, words.lines, [{"value": "on", "partition": 0}])
    stores = tmp_path / "live" / "stores"
    running = job(words, tmp_path / "c", "--trigger", "1 second", "--stores", str(stores))
    assert topics.consume(words.address, words.counts, 1, seconds=180), ended(running)
    assert stores.is_socket()
    running.terminate()
    _, printed = running.communicate(timeout=120)
    assert running.returncode == 0, printed
    assert not stores.exists()


@pytest.mark.long
def test_a_broker_that_does_not_answer_is_reported_in_a_sentence(tmp_path: Path) -> None:
    away = job(Words("127.0.0.1:1", "lines", "counts"), tmp_path / "c", "--available-now")
    _, printed = away.communicate(timeout=240)
    assert away.returncode == 1
    error = json.loads(printed.splitlines()[-1])["error"]
    assert error["code"] == "broker_unreachable"
    assert "Traceback" not in printed


def test_a_source_topic_that_is_not_there_is_named(broker: Any, tmp_path: Path) -> None:
    early = started(
        "missing_topic_job.py", "--available-now", address=broker.address,
        checkpoint=tmp_path / "c",
    )  # fmt: skip
    _, printed = early.communicate(timeout=240)
    assert early.returncode == 1
    error = json.loads(printed.splitlines()[-1])["error"]
    assert error["code"] == "topic_missing"
    assert "nowhere-to-be-found" in error["message"]
    assert error["node"] == "lines"
