"""Kafka Streams itself, in a process that is queried, ended, and may die."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, cast

import pytest
from millrace_workers.streams import KafkaStreams

SCENARIO = Path(__file__).parents[1] / "conformance" / "scenarios" / "A01.json"


def until_answered(streams: KafkaStreams, name: str) -> tuple[list[str], Any]:
    """Wait for the answer; return the phases on the way and the answer."""
    did: list[str] = []
    deadline = time.monotonic() + 240
    while "answer" not in (found := streams.look(name)):
        if found["doing"] not in did:
            did.append(found["doing"])
        assert time.monotonic() < deadline, did
        time.sleep(0.05)
    answer: Any = found["answer"]
    return did, answer


@pytest.mark.spark
@pytest.mark.slow
def test_results_are_compared_with_those_of_kafka_streams(tmp_path: Path) -> None:
    scenario = json.loads(SCENARIO.read_text(encoding="utf-8"))
    streams = KafkaStreams(tmp_path)
    assert streams.available
    request = {name: scenario[name] for name in ("topology", "inputs")}
    right = scenario["expected"]
    streams.start("right", cast(Any, {"id": "right", **request, "found": right}))
    did, answer = until_answered(streams, "right")
    assert answer == {"differences": []}
    assert did == sorted(did, key=["jars", "start", "run"].index)
    wrong = {**right, "outputs": right["outputs"][1:]}
    streams.start("wrong", cast(Any, {"id": "wrong", **request, "found": wrong}))
    _, answer = until_answered(streams, "wrong")
    assert answer["differences"]
    for name in ("right", "wrong"):
        streams.end(name)
    assert list((tmp_path / "verifications").iterdir()) == []


def test_a_process_that_is_ended_or_gone_is_reported(tmp_path: Path) -> None:
    streams = KafkaStreams(tmp_path)
    assert streams.look("nobody")["answer"]["error"]["code"] == "streams_gone"
    streams.start("ended", cast(Any, {"id": "ended"}))
    pid = int((tmp_path / "verifications" / "ended" / "pid").read_text())
    os.kill(pid, 0)
    assert not KafkaStreams(tmp_path).free
    streams.end("ended")
    deadline = time.monotonic() + 10
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert KafkaStreams(tmp_path).free
    assert "no longer exists" in streams.look("ended")["answer"]["error"]["message"]


def test_nothing_is_compared_where_the_commands_are_not_installed(tmp_path: Path) -> None:
    assert not KafkaStreams(tmp_path, root=tmp_path).available
