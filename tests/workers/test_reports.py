"""Only authorized processes may report: a real Redis with a password."""

from __future__ import annotations

import time

import pytest
import redis
from millrace_runtime.reports.report import RedisReporter
from millrace_workers.model import Cause
from millrace_workers.monitors import Reports

pytestmark = pytest.mark.services


def test_a_driver_reports_into_its_own_stream_and_reaches_nothing_else(redis_url: str) -> None:
    assert "@" in redis_url, "this test needs a server with a password"
    reports = Reports(redis_url)
    address = reports.grant("7-1")
    with redis.Redis.from_url(redis_url) as ours, redis.Redis.from_url(address) as driver:
        driver.xadd("millrace:run:7-1", {"event": "{}"}, maxlen=10)
        driver.set("millrace:run:7-1:snapshot", "{}", ex=60)
        assert not driver.exists("millrace:run:7-1:watched")
        assert not driver.exists("millrace:run:7-1:open")
        driver.set("millrace:run:7-1:records", "{}", ex=60)
        driver.expire("millrace:run:7-1:records", 30)
        driver.delete("millrace:run:7-1:records")
        ours.xadd("millrace:run:8-1", {"event": "{}"})
        for reach in (
            lambda: driver.xadd("millrace:run:8-1", {"event": "{}"}),
            lambda: driver.xadd("millrace:live:1", {"event": "{}"}),
            lambda: driver.xrange("millrace:run:7-1"),
            lambda: driver.exists("millrace:run:8-1:watched"),
            lambda: driver.set("millrace:run:8-1:records", "{}"),
            lambda: driver.keys("*"),
            lambda: driver.lpush("celery", "task"),
            lambda: driver.config_get("requirepass"),
            driver.acl_list,
            lambda: driver.publish("anything", "x"),
        ):
            with pytest.raises(redis.exceptions.NoPermissionError):
                reach()
    assert reports.grant("7-1") == address
    reports.revoke("7-1")
    with redis.Redis.from_url(address) as late, pytest.raises(redis.AuthenticationError):
        late.xadd("millrace:run:7-1", {"event": "{}"})


def test_reporting_goes_on_after_redis_has_forgotten_its_users(redis_url: str) -> None:
    reports = Reports(redis_url)
    address = reports.grant("7-2")
    reports.revoke("7-2")
    assert reports.grant("7-2") == address
    with redis.Redis.from_url(address) as driver:
        driver.xadd("millrace:run:7-2", {"event": "{}"})


def test_a_server_that_lets_in_everybody_needs_no_users() -> None:
    assert Reports("redis://127.0.0.1:1/0").grant("7-1") == "redis://127.0.0.1:1/0"


def test_a_start_that_takes_long_reports_how_far_it_is_until_it_runs(redis_url: str) -> None:
    reports = Reports(redis_url)
    address = reports.grant("7-3")
    reporter = RedisReporter(address, "7-3")
    reporter.state("starting")
    for rows in ("10", "20"):
        message = f"Moving the state: {rows} rows written."
        reporter.step({"code": "moving", "message": message, "facts": {"rows": rows}})
    last = Cause("moving", "Moving the state: 20 rows written.", facts={"rows": "20"})
    deadline = time.monotonic() + 30
    while (found := reports.last_state("7-3")) is None or found.detail != last:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    assert found.state == "starting"
    reporter.state("running")
    reporter.close()
    found = reports.last_state("7-3")
    assert found is not None
    assert (found.state, found.detail) == ("running", None)
