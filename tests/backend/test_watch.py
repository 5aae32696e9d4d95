"""A deployment without a worker's heartbeat is unknown since its last one."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from deployments import reconciling
from deployments.models import Deployment
from deployments.watch import Watch
from millrace_backend import redis
from millrace_workers.monitors import Reports

from .conftest import RedisServer

pytestmark = pytest.mark.django_db


@dataclass
class Clock:
    """A clock that the test sets, in epoch seconds."""

    at: float = 1_000_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watch(clock: Clock) -> Watch:
    return Watch(silent=15.0, now=clock)


def state(deployment: Deployment) -> str:
    deployment.refresh_from_db()
    return str(deployment.observation.state)


def pass_time(clock: Clock, watch: Watch, seconds: float) -> None:
    for _ in range(int(seconds / 2)):
        clock.at += 2.0
        watch.look()


def test_silence_makes_it_unknown_since_the_last_word(
    deployment: Deployment, watch: Watch, clock: Clock
) -> None:
    reconciling.observe(deployment.pk, "running")
    reconciling.heartbeat(deployment.pk)
    watch.look()
    last = clock.at
    pass_time(clock, watch, 14)
    assert state(deployment) == "running"
    pass_time(clock, watch, 4)
    assert state(deployment) == "unknown"
    assert deployment.observation.since.timestamp() == last


def test_as_long_as_a_worker_is_at_it_nothing_changes(
    deployment: Deployment, watch: Watch, clock: Clock
) -> None:
    reconciling.observe(deployment.pk, "compiling")
    for _ in range(10):
        reconciling.heartbeat(deployment.pk)
        pass_time(clock, watch, 8)
    assert state(deployment) == "compiling"


def test_a_backend_that_was_just_started_gives_the_workers_time(
    deployment: Deployment, watch: Watch, clock: Clock
) -> None:
    reconciling.observe(deployment.pk, "running")
    reconciling.heartbeat(deployment.pk)
    clock.at += 3_600
    pass_time(clock, watch, 14)
    assert state(deployment) == "running"


def test_what_is_at_rest_is_known_without_any_worker(
    deployment: Deployment, watch: Watch, clock: Clock
) -> None:
    Deployment.objects.filter(pk=deployment.pk).update(desired="stopped")
    reconciling.observe(deployment.pk, "stopped")
    pass_time(clock, watch, 60)
    assert state(deployment) == "stopped"


def test_without_redis_no_worker_can_be_heard(
    deployment: Deployment, watch: Watch, clock: Clock, redis_server: RedisServer
) -> None:
    reconciling.observe(deployment.pk, "running")
    reconciling.heartbeat(deployment.pk)
    watch.look()
    redis_server.kill()
    try:
        clock.at += 20
        watch.look()
    finally:
        redis_server.start()
    assert state(deployment) == "unknown"
    outage = Deployment.objects.get(pk=deployment.pk).observation.outage
    assert outage is not None
    assert outage["code"] == "redis_unreachable"
    reconciling.observe(deployment.pk, "running")
    assert Deployment.objects.get(pk=deployment.pk).observation.outage is None


def test_a_driver_that_reported_long_ago_that_it_runs_still_runs(redis_server: RedisServer) -> None:
    def tell(event: str, at: int, **more: str) -> None:
        text = json.dumps({"event": event, "at": at, **more})
        redis.client().xadd(redis.run_stream("9-1"), {"event": text})

    reports = Reports(redis_server.url)
    assert reports.last_state("9-1") is None
    tell("state", 1_000, state="running")
    for second in range(600):
        tell("progress", 2_000 + 1_000 * second)
    found = reports.last_state("9-1")
    assert found is not None
    assert found.state == "running"
    assert found.at == 601.0
    tell("state", 900_000, state="stopping")
    found = reports.last_state("9-1")
    assert found is not None
    assert found.state == "stopping"
