"""A job on a real broker: what arrives on the topics, and what a crash does to it."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.runtime import topics

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


def job(
    address: str, checkpoint: Path, *options: str, script: str = "word_count_job.py"
) -> subprocess.Popen[str]:
    """Starts the job in a session of its own, as a deployment does."""
    path = os.pathsep.join([str(ROOT / "runtime"), str(ROOT)])
    return subprocess.Popen(
        [
            sys.executable, str(Path(__file__).with_name(script)), "--bootstrap-servers", address,
            "--master", "local[2]", "--checkpoint", str(checkpoint), *options,
        ],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def address(broker: Any) -> str:
    topics.create(broker.address, {"text-lines": 4, "word-counts": 4})
    return str(broker.address)


def ended(process: subprocess.Popen[str]) -> str:
    """What a job that did not do what it should was doing: its threads, its last words."""
    spoke = subprocess.run(["jps", "-q"], capture_output=True, text=True, check=False).stdout
    session = os.getsid(process.pid) if process.poll() is None else None
    stacks = [
        subprocess.run(["jstack", each], capture_output=True, text=True, check=False).stdout
        for each in spoke.split()
        if session is not None and _session_of(int(each)) == session
    ]
    code = process.poll()
    if code is None:
        os.killpg(process.pid, signal.SIGKILL)
    _, said = process.communicate(timeout=30)
    return "\n".join([f"exit code {code}", said, *stacks])


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def counts(records: list[Any]) -> dict[str, list[int]]:
    """The updates of each word in their order."""
    found: dict[str, list[int]] = defaultdict(list)
    for record in records:
        found[record.key().decode()].append(struct.unpack(">q", record.value())[0])
    return found


def without_repeats(updates: list[int]) -> list[int]:
    """At least once: after a crash updates come again, from an earlier one on."""
    highest: list[int] = []
    for update in updates:
        if not highest or update == highest[-1] + 1:
            highest.append(update)
        else:
            assert update <= highest[-1], f"a count jumped: {updates}"
    return highest


def test_words_are_counted_and_a_killed_job_goes_on_where_it_was(
    address: str, tmp_path: Path
) -> None:
    lines = [
        {"value": "to be or not", "timestamp": 5_000, "partition": 0},
        {"value": "to be ÄÖÜ 世界", "timestamp": 1_000, "partition": 1},
    ]
    topics.produce(address, "text-lines", lines)
    first = job(address, tmp_path / "c")
    try:
        arrived = topics.consume(address, "word-counts", 8, seconds=180)
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
    finally:
        if first.poll() is None:
            os.killpg(first.pid, signal.SIGKILL)
        first.wait(30)
    topics.produce(address, "text-lines", [{"value": "to to", "timestamp": 9_000}])
    second = job(address, tmp_path / "c", "--available-now")
    _, said = second.communicate(timeout=240)
    assert second.returncode == 0, said
    assert said == ""
    updates = counts(topics.consume(address, "word-counts", 10))
    assert without_repeats(updates["to"]) == [1, 2, 3, 4]
    assert without_repeats(updates["be"]) == [1, 2]


def test_a_record_that_fails_ends_the_job_with_its_place(address: str, tmp_path: Path) -> None:
    topics.produce(address, "text-lines", [{"value": None, "timestamp": 1, "partition": 2}])
    failing = job(address, tmp_path / "c", "--available-now")
    _, said = failing.communicate(timeout=240)
    assert failing.returncode == 3
    error = json.loads(said.splitlines()[-1])["error"]
    assert (error["node"], error["parameter"]) == ("words", "values")
    assert error["record"]["topic"] == "text-lines"
    assert error["record"]["partition"] == 2
    assert len(said.splitlines()) == 1


def test_sigterm_ends_a_job_in_time_with_success(address: str, tmp_path: Path) -> None:
    running = job(address, tmp_path / "c", "--trigger", "1 second")
    time.sleep(8)
    running.terminate()
    _, _ = running.communicate(timeout=120)
    assert running.returncode in (0, 3)


def test_a_broker_that_does_not_answer_is_said_in_a_sentence(tmp_path: Path) -> None:
    away = job("127.0.0.1:1", tmp_path / "c", "--available-now")
    _, said = away.communicate(timeout=240)
    assert away.returncode == 1
    error = json.loads(said.splitlines()[-1])["error"]
    assert error["code"] == "broker_unreachable"
    assert "Traceback" not in said


def test_a_source_topic_that_is_not_there_is_named(broker: Any, tmp_path: Path) -> None:
    early = job(broker.address, tmp_path / "c", "--available-now", script="missing_topic_job.py")
    _, said = early.communicate(timeout=240)
    assert early.returncode == 1
    error = json.loads(said.splitlines()[-1])["error"]
    assert error["code"] == "topic_missing"
    assert "nowhere-to-be-found" in error["message"]
