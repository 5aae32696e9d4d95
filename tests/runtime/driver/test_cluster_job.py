"""A job whose tasks run in separate executor processes."""

from __future__ import annotations

import json
import uuid
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.conftest import until
from tests.runtime import topics
from tests.runtime.drivers import ended, kill, started

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.services, pytest.mark.slow]


def watched(client: Any, address: str, topic: str, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Produce more records and return what the page would show."""
    topics.produce(address, topic, records)
    kept = client.get("millrace:run:cluster:records")
    return {"edges": {}, "keys": {}} if kept is None else json.loads(kept)


def executors(kept: dict[str, Any], edge: str) -> set[int]:
    """Return the executors that sampled records: a number ends in that of its JVM."""
    return {record["number"] % 1000 for record in kept["edges"].get(edge, [])}


@pytest.mark.long
def test_processors_on_executors_are_closed_when_the_job_stops(
    broker: Any, redis_url: str, tmp_path: Path
) -> None:
    """The sampled records come from all executors."""
    source, target = (f"{name}-{uuid.uuid4()}" for name in ("in", "out"))
    topics.create(broker.address, {source: 2, target: 2})
    records = [{"key": f"k{n}", "value": "v", "partition": n % 2} for n in range(10)]
    topics.produce(broker.address, source, records)
    closed = tmp_path / "closed"
    client = redis.Redis.from_url(redis_url)
    client.set("millrace:run:cluster:watched", 1)
    running = started(
        "closing_job.py", source, target, str(closed), "--master", "local-cluster[2,1,1024]",
        "--report", redis_url, "--run", "cluster",
        address=broker.address, checkpoint=tmp_path / "c",
    )  # fmt: skip
    try:
        assert len(topics.consume(broker.address, target, 10, seconds=180)) == 10, ended(running)
        kept = partial(watched, client, broker.address, source, records)
        edge = "in.out>noting.in"
        until(lambda: executors(kept(), edge) == {1, 2}, 60, running)
        shown = kept()["edges"][edge]
        assert len({record["number"] for record in shown}) == len(shown)
        assert [record["seen"] for record in shown] == sorted(
            (record["seen"] for record in shown), reverse=True
        )
        assert {task for task, _ in kept()["keys"][edge]["tasks"]} == {"0_0", "0_1"}
        # Without viewers the samples are deleted, and executors keep none.
        client.delete("millrace:run:cluster:watched")
        until(lambda: client.exists("millrace:run:cluster:records") == 0, 30, running)
        running.terminate()
        _, printed = running.communicate(timeout=120)
        assert running.returncode == 0, printed
    finally:
        kill(running)
        client.close()
    assert closed.read_text() == "closed\nclosed\n"
