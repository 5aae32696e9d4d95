"""Reports of a job: their contents, and that the job never depends on them."""

from __future__ import annotations

import itertools
import json
import re
import time
from typing import Any, cast

import pytest
import redis
from millrace_runtime.kafka.lag import Held, Offsets, Place, bounds
from millrace_runtime.reports import report as reports
from millrace_runtime.reports.report import RedisReporter, Silence, reporter


def test_without_an_address_log_lines_go_to_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    silent = reporter(None, "r")
    assert isinstance(silent, Silence)
    silent.state("running")
    silent.log("warning", "Topic a has 3 partitions.", "source")
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d WARNING Topic a has 3 partitions.\n",
        capsys.readouterr().err,
    )


def test_a_redis_that_is_away_neither_fails_nor_holds_up_the_job() -> None:
    report = RedisReporter("redis://127.0.0.1:1/0", "r")
    began = time.monotonic()
    for _ in range(2000):
        report.state("running")
    assert time.monotonic() - began < 10
    report.close()
    assert time.monotonic() - began < 5


@pytest.mark.services
def test_states_and_logs_arrive_in_their_order(redis_url: str) -> None:
    report = RedisReporter(redis_url, "order")
    report.state("starting")
    report.log("info", "hello", "node")
    report.state("failed", {"code": "processing", "node": "n", "parameter": None, "message": "m"})
    report.close()
    entries: Any = redis.Redis.from_url(redis_url).xrange("millrace:run:order")
    events = [json.loads(fields[b"event"]) for _, fields in entries]
    assert [event["event"] for event in events] == ["state", "log", "state"]
    assert events[1]["node"] == "node"
    assert events[2]["error"]["node"] == "n"
    assert all(isinstance(event["at"], int) for event in events)


def test_ends_of_topics_come_from_every_kafka_source() -> None:
    sources = [
        {"endOffset": {"a": {"0": 5, "1": 7}}},
        {"endOffset": '{"b": {"0": 1}, "a": {"0": 9}}'},
        {"endOffset": 12},
        {"endOffset": None},
    ]
    assert bounds(sources, "endOffset") == {("a", 0): 9, ("a", 1): 7, ("b", 0): 1}


def looked(offsets: Offsets, *, end: int, read: int, start: int | None = 0) -> list[str]:
    """Check one topic-partition of which `read` records were read up to an offset."""
    sources = [
        {
            "startOffset": None if start is None else {"t": {"0": start}},
            "endOffset": {"t": {"0": end}},
        }
    ]
    place = {"topic": "t", "partition": 0, "offset": end - 1, "read": read}
    return offsets.look(sources, sources, [{"topic_partitions": [place]}])


def test_offsets_without_a_record_are_lost_only_where_deleted() -> None:
    """Transaction markers and compacted offsets are not lost records."""
    earliest = 0
    offsets = Offsets(lambda places: dict.fromkeys(places, (earliest, 100)))
    assert looked(offsets, end=10, read=8) == []
    earliest = 15
    (printed,) = looked(offsets, end=20, read=12)
    assert printed.startswith("5 records of t-0 lost")
    assert looked(offsets, end=30, read=22) == []
    assert offsets.lost == [{"topic": "t", "partition": 0, "records": 5}]


def test_what_a_broker_that_is_away_does_not_answer_is_asked_for_later() -> None:
    away = True

    def ask(places: list[Place]) -> Held:
        if away:
            raise ConnectionError
        return dict.fromkeys(places, (4, 6))

    offsets = Offsets(ask)
    assert looked(offsets, end=6, read=2) == []
    away = False
    assert looked(offsets, end=6, read=2) != []


def test_the_lag_is_unknown_without_the_end() -> None:
    place = {"topic": "t", "partition": 0, "offset": 5, "read": 6}
    offsets = Offsets(lambda places: dict.fromkeys(places, (0, 9)))
    offsets.complete([{"topic_partitions": [place]}])
    assert (place["end_offset"], place["lag"]) == (None, None)
    looked(offsets, end=6, read=6)
    offsets.complete([{"topic_partitions": [place]}])
    assert (place["end_offset"], place["lag"]) == (9, 3)


@pytest.mark.services
def test_a_runs_stream_is_bounded_and_gone_some_days_after_its_last_word(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_REPORT_EVENTS", "100")
    monkeypatch.setenv("MILLRACE_REPORT_DAYS", "2")
    report = RedisReporter(redis_url, "bounded")
    for number in range(900):
        report.log("info", str(number))
    report.close()
    with redis.Redis.from_url(redis_url) as client:
        # Redis trims whole nodes of a stream, of 100 entries each.
        assert 100 <= int(client.xlen("millrace:run:bounded")) <= 200
        left = int(client.ttl("millrace:run:bounded"))
    assert 47 * 3600 < left <= 48 * 3600


class Busy:
    """A query whose batches end faster than they are polled."""

    def moved(self) -> bool:
        return True

    def logs(self) -> list[Any]:
        return []

    def close(self) -> None:
        """Do nothing."""

    def event(self, *, last: bool = False) -> dict[str, Any]:
        return {"event": "progress", "at": int(time.time() * 1000), "last": last}


@pytest.mark.services
def test_with_no_page_open_little_is_reported(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reports.QUIET_SECONDS == 5
    monkeypatch.setattr(reports, "QUIET_SECONDS", 2.0)
    stream = "millrace:run:quiet"
    with redis.Redis.from_url(redis_url) as client:

        def reported() -> list[int]:
            entries: Any = client.xrange(stream)
            return [json.loads(fields[b"event"])["at"] for _, fields in entries]

        def until(number: int) -> None:
            deadline = time.monotonic() + 60
            while len(reported()) < number:
                assert time.monotonic() < deadline, reported()
                time.sleep(0.05)

        report = RedisReporter(redis_url, "quiet")
        report._progress = cast("Any", Busy())
        until(3)
        quiet = reported()
        assert all(after - before >= 1_990 for before, after in itertools.pairwise(quiet))
        client.set(f"{stream}:open", 1)
        began = int(time.time() * 1000)
        until(len(quiet) + 20)
        # Quiet reports alone would have taken more than half a minute.
        assert reported()[len(quiet) + 19] - began < 30_000
        client.delete(f"{stream}:open")
        time.sleep(reports.OPEN_SECONDS + 1)
        before = len(reported())
        until(before + 2)
        last = reported()[before - 1 :]
        assert last[1] - last[0] >= 1_990
        report.detach()
        report.close()
        assert len(reported()) > before + 2, "the last report is not held back"
