"""Rates from two reports, staleness, and the log's pages."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from deployments import reconciling, runtime
from deployments.choices import LogLevel
from deployments.logs import BLOCK, PAGE, Filter, parse, read_log
from deployments.models import Deployment
from hypothesis import given
from hypothesis import strategies as st
from millrace_backend import redis
from millrace_model.events import ProgressEvent

from .conftest import Client, People


def latency(records: int, p99: int | None = 900) -> dict[str, Any]:
    """Return a node's latency report; the latency since arrival is a tenth of the event latency."""
    buckets = [[256, records - 1], [1_024, 1]]
    event = {"avg": 210.5, "min": 130, "max": 944, "p50": 200, "p99": p99}
    arrival = {"avg": 21.0, "min": 13, "max": 94, "p50": 20, "p99": p99 and p99 // 10}
    totals = {"count": records, "sum": 210 * records, "buckets": buckets}
    return {"event": {**event, **totals}, "arrival": {**arrival, **totals}}


def progress(at: int, records: int, **more: Any) -> ProgressEvent:
    """Return a driver's progress report with totals since the run started."""
    event = {
        "event": "progress",
        "at": at,
        "batch": 3,
        "duration_ms": 120,
        "input_rate": 10.0,
        "process_rate": 12.5,
        "phases": {"addBatch": 80},
        "nodes": {
            "words": {
                "in": records,
                "out": 2 * records,
                "dropped": {"null_key": 1},
                "misses": {"no_match": 2},
                "dead_letters": 3,
                "latency": latency(records),
            }
        },
        "tasks": [
            {
                "task": "0_1",
                "subtopology": 0,
                "level": 0,
                "partition": 1,
                "executor": "driver",
                "host": "127.0.0.1",
                "thread": "stream-1",
                "topic_partitions": [
                    {"topic": "t", "partition": 1, "offset": 5, "end_offset": 7, "lag": 2}
                ],
                "records": records,
                "stream_time": 99,
                "last_active": at,
                "state_rows": 4,
            }
        ],
        "stores": [{"name": "counts", "node": "counts", "rows": 4, "bytes": 400}],
        **more,
    }
    return cast(ProgressEvent, event)


def report(report_id: str, *events: Mapping[str, Any]) -> None:
    client = redis.client()
    for event in events:
        client.xadd(redis.run_stream(report_id), {"event": json.dumps(event)})


def test_rates_are_taken_from_the_report_two_seconds_back() -> None:
    history = [progress(at, at // 10) for at in (1_000, 2_000, 3_000)]
    found = runtime.derive(1, "1-1", progress(4_000, 1_000), history)
    assert found["nodes"]["words"] == {
        "in": 1000,
        "out": 2000,
        "dropped": {"null_key": 1},
        "misses": {"no_match": 2},
        "dead_letters": 3,
        "in_rate": 400.0,
        "out_rate": 800.0,
        "latency": latency(1_000),
    }
    assert found["tasks"][0]["rate"] == 400.0
    assert found["as_of"] == "1970-01-01T00:00:04Z"


def test_without_an_earlier_report_the_rate_is_unknown_and_not_zero() -> None:
    found = runtime.derive(1, "1-1", progress(4_000, 1_000), [])
    assert found["nodes"]["words"]["in_rate"] is None
    assert found["tasks"][0]["rate"] is None


def test_a_node_that_was_not_reported_before_counts_from_nothing() -> None:
    last = progress(4_000, 10)
    last["nodes"]["new"] = {"in": 6, "out": 6, "dropped": {}}
    found = runtime.derive(1, "1-1", last, [progress(1_000, 4)])
    assert found["nodes"]["new"]["in_rate"] == 2.0


def rates(steps: list[tuple[int, int]], until: int) -> list[Any]:
    """Return the input rate at each second's report; the total grows by steps of (ms, records)."""
    history: list[ProgressEvent] = []
    found = []
    for at in range(0, until + 1, 1_000):
        last = progress(at, sum(records for when, records in steps if when <= at))
        node = runtime.derive(1, "1-1", last, history)["nodes"]["words"]
        found.append(node["in_rate"])
        history = runtime.kept(history, last)
    return found


def test_a_rate_holds_between_batches_while_records_come() -> None:
    """There is a batch every five seconds and a report every second."""
    found = rates([(at, 500) for at in range(0, 40_001, 5_000)], until=60_000)
    assert set(found[10:50]) == {100.0}
    assert found[51:] == [0.0] * 10


def test_what_comes_after_a_pause_is_not_spread_over_the_pause() -> None:
    found = rates([(0, 500), (20_000, 500), (21_000, 500), (22_000, 500)], until=30_000)
    assert found[19] == 0.0
    assert found[22] == 500.0
    assert found[-1] == 0.0


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60))
def test_reports_that_are_not_kept_change_no_rate(growth: list[int]) -> None:
    """A client that follows the stream and one that reads it afresh derive the same rates."""
    reports: list[ProgressEvent] = []
    kept: list[ProgressEvent] = []
    total = 0
    for second, more in enumerate(growth):
        total += more
        reports.append(progress(second * 1_000, total))
    for each in reports[:-1]:
        kept = runtime.kept(kept, each)
    afresh = runtime.derive(1, "1-1", reports[-1], reports[:-1])
    assert runtime.derive(1, "1-1", reports[-1], kept) == afresh


def test_the_runtime_endpoint_shows_the_last_report_with_rates(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    client = client_of(people.viewer)
    path = f"/api/deployments/{deployment.pk}/runtime"
    assert "No driver of this deployment is running" in client.get(path).json()["error"]["message"]
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    assert client.get(path).json()["error"]["code"] == "no_report"
    now = int(time.time() * 1000)
    log = {"event": "log", "at": now, "level": "INFO", "node": None, "message": "hello"}
    report(f"{deployment.pk}-1", progress(now - 3_000, 100), log, progress(now - 500, 350), log)
    found = client.get(path).json()
    assert found["nodes"]["words"]["in_rate"] == 100.0
    assert (found["deployment"], found["run"], found["stale"]) == (
        deployment.pk,
        f"{deployment.pk}-1",
        False,
    )
    report(f"{deployment.pk}-1", progress(now - 20_000, 400))
    assert client.get(path).json()["stale"] is True


def test_a_report_pushed_out_by_log_lines_is_found_in_its_own_place(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    now = int(time.time() * 1000)
    redis.client().set(redis.run_snapshot(f"{deployment.pk}-1"), json.dumps(progress(now, 5)))
    found = client_of(people.viewer).get(f"/api/deployments/{deployment.pk}/runtime").json()
    assert found["nodes"]["words"]["in"] == 5


# -- the log ------------------------------------------------------------------------------------
LOG = """\
{"at": 1700000000000, "level": "INFO", "node": "words", "message": "peek: héllo"}
26/11/21 11:30:01 WARN StateStore: slow commit
2026-11-21T11:30:02.5Z ERROR driver: lost
    at somewhere
{"broken":

{"ts": "2026-11-21T11:30:03Z", "level": "ERROR", "msg": "from log4j"}
"""


def test_lines_of_json_and_of_plain_text_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_text(LOG, encoding="utf-8")
    lines, end = read_log(path, None, Filter())
    assert end == len(LOG.encode())
    assert [(line.level.value, line.node, line.message) for line in lines] == [
        ("info", "words", "peek: héllo"),
        ("warn", None, "StateStore: slow commit"),
        ("error", None, "driver: lost"),
        ("info", None, "    at somewhere"),
        ("info", None, '{"broken":'),
        ("error", None, "from log4j"),
    ]
    assert [None if line.at is None else line.at.isoformat() for line in lines][:3] == [
        "2023-11-14T22:13:20+00:00",
        "2026-11-21T11:30:01+00:00",
        "2026-11-21T11:30:02.500000+00:00",
    ]


@pytest.mark.parametrize(
    ("wanted", "messages"),
    [
        (Filter(node="words"), ["peek: héllo"]),
        (Filter(level=LogLevel.ERROR), ["driver: lost", "from log4j"]),
        (Filter(search="SLOW"), ["StateStore: slow commit"]),
    ],
)
def test_lines_are_filtered(wanted: Filter, messages: list[str], tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_text(LOG, encoding="utf-8")
    assert [line.message for line in read_log(path, None, wanted)[0]] == messages


def test_reading_on_gives_every_line_once_and_no_half_line(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_bytes(b"one\ntw")
    lines, place = read_log(path, 0, Filter())
    assert ([line.message for line in lines], place) == (["one"], 4)
    with path.open("ab") as log:
        log.write(b"o\nthree\n")
    lines, place = read_log(path, place, Filter())
    assert [line.message for line in lines] == ["two", "three"]
    assert read_log(path, place, Filter()) == ([], place)
    path.write_bytes(b"anew\n")
    assert [line.message for line in read_log(path, place, Filter())[0]] == ["anew"]


def test_a_long_log_comes_in_pages_that_together_are_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_text("".join(f"line {number}\n" for number in range(3 * PAGE)))
    found: list[str] = []
    place: int | None = 0
    while True:
        lines, place = read_log(path, place, Filter())
        if not lines:
            break
        found += [line.message for line in lines]
    assert found == [f"line {number}" for number in range(3 * PAGE)]
    tail, _ = read_log(path, None, Filter())
    assert tail[-1].message == f"line {3 * PAGE - 1}"
    assert len(tail) == PAGE


def test_a_line_longer_than_all_that_is_read_does_not_stop_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_bytes(b"x" * (BLOCK + 10) + b"\nafter\n")
    _, place = read_log(path, 0, Filter())
    assert place == BLOCK
    assert [line.message for line in read_log(path, place, Filter())[0]][-1] == "after"


@given(st.binary(max_size=200))
def test_no_line_whatever_is_in_it_breaks_the_reader(raw: bytes) -> None:
    line = parse(raw)
    assert line is None or isinstance(line.message, str)


def test_the_last_words_of_a_job_that_failed_are_an_error_at_its_node() -> None:
    line = parse(b'{"error": {"code": "processing", "node": "inverse", "message": "by zero"}}')
    assert line is not None
    assert (line.level, line.node, line.message) == ("error", "inverse", "by zero")
    assert line.record is None


def test_an_error_in_the_log_has_its_time_and_record(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    record = {"topic": "in", "partition": 2, "offset": 7, "key": "a", "timestamp": 5}
    at = 1_795_260_600_000
    error = {"at": at, "error": {"node": "divide", "message": "by zero", "record": record}}
    deployment.directory.mkdir(parents=True)
    deployment.log_file.write_text(f"Traceback without a time\n{json.dumps(error)}\n")
    reconciling.begin_run(deployment.pk, 1, "here", "1", 1)
    peek = {"event": "log", "at": at - 1, "level": "info", "node": "peek", "message": "older"}
    report(f"{deployment.pk}-1", peek)
    lines = client_of(people.viewer).get(f"/api/deployments/{deployment.pk}/logs").json()["lines"]
    assert [line["message"] for line in lines] == ["older", "Traceback without a time", "by zero"]
    assert (lines[-1]["at"], lines[-1]["record"]) == ("2026-11-21T11:30:00Z", record)


def test_a_record_that_user_code_prints_breaks_no_log(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    deployment.directory.mkdir(parents=True)
    deployment.log_file.write_text('{"message": "x", "record": {"offset": "no", "topic": 1}}\n')
    (line,) = client_of(people.viewer).get(f"/api/deployments/{deployment.pk}/logs").json()["lines"]
    assert set(line["record"].values()) == {None}


def test_reports_at_a_node_are_among_the_lines_of_its_log(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    client = client_of(people.viewer)
    path = f"/api/deployments/{deployment.pk}/logs"
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    deployment.directory.mkdir(parents=True)
    deployment.log_file.write_text(
        "2026-11-21T11:30:01Z WARN first\n11:30:02 ERROR no day\n2026-11-21T11:30:05Z WARN last\n"
    )

    def printed(second: int, message: str) -> dict[str, Any]:
        at = 1_795_260_600_000 + 1000 * second
        return {"event": "log", "at": at, "level": "INFO", "node": "words", "message": message}

    report(f"{deployment.pk}-1", printed(3, "peek: a"), progress(1, 1), printed(9, "peek: b"))
    page = client.get(path).json()
    assert [(line["level"], line["node"], line["message"]) for line in page["lines"]] == [
        ("warn", None, "first"),
        ("error", None, "no day"),
        ("info", "words", "peek: a"),
        ("warn", None, "last"),
        ("info", "words", "peek: b"),
    ]
    report(f"{deployment.pk}-1", printed(10, "peek: c"))
    more = client.get(path, {"after": page["next"], "node": "words"}).json()
    assert [line["message"] for line in more["lines"]] == ["peek: c"]
    assert client.get(path, {"after": more["next"]}).json()["lines"] == []


def test_the_logs_endpoint_pages_and_refuses_what_is_no_place(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    client = client_of(people.viewer)
    path = f"/api/deployments/{deployment.pk}/logs"
    assert client.get(path).json() == {"lines": [], "next": "0"}
    deployment.directory.mkdir(parents=True)
    deployment.log_file.write_text(LOG, encoding="utf-8")
    page = client.get(path, {"level": "warn", "search": "commit"}).json()
    assert page["lines"] == [
        {
            "at": "2026-11-21T11:30:01Z",
            "level": "warn",
            "node": None,
            "message": "StateStore: slow commit",
            "record": None,
        }
    ]
    assert client.get(path, {"after": page["next"]}).json()["lines"] == []
    assert client.get(path, {"after": "-1"}).status_code == 400
    assert client.get(path, {"level": "loud"}).status_code == 400
