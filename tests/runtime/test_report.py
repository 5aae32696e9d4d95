"""Reports of a job: what they say, and that nothing depends on them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from millrace_runtime.report import RedisReport, Silence, _end_offsets, reporter


def test_without_an_address_nobody_is_told() -> None:
    assert isinstance(reporter(None, "r"), Silence)


def test_a_redis_that_is_away_neither_fails_nor_holds_up_the_job() -> None:
    report = RedisReport("redis://127.0.0.1:1/0", "r")
    began = time.monotonic()
    for _ in range(2000):
        report.state("running")
    assert time.monotonic() - began < 1
    report.close()
    assert time.monotonic() - began < 5


@pytest.mark.services
def test_states_and_logs_arrive_in_their_order(redis_url: str) -> None:
    import redis

    report = RedisReport(redis_url, "order")
    report.state("starting")
    report.log("info", "hello", "node")
    report.state("failed", {"code": "processing", "node": "n", "message": "m"})
    report.close()
    entries: Any = redis.Redis.from_url(redis_url).xrange("millrace:run:order")
    events = [json.loads(fields[b"event"]) for _, fields in entries]
    assert [event["event"] for event in events] == ["state", "log", "state"]
    assert events[1]["node"] == "node"
    assert events[2]["error"]["node"] == "n"
    assert all(isinstance(event["at"], int) for event in events)


def test_ends_of_topics_come_from_every_kafka_source() -> None:
    progress = {
        "sources": [
            {"endOffset": {"a": {"0": 5, "1": 7}}, "latestOffset": {"a": {"0": 9, "1": 7}}},
            {"endOffset": '{"b": {"0": 1}}'},
            {"endOffset": 12},
        ]
    }
    assert _end_offsets(progress) == {("a", 0): 9, ("a", 1): 7, ("b", 0): 1}
