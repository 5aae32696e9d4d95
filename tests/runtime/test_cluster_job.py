"""A job whose tasks run on executors that are processes of their own."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.conftest import until
from tests.runtime import topics
from tests.runtime.drivers import ended, kill, started

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.services, pytest.mark.slow]


@pytest.mark.long
def test_processors_on_executors_are_closed_when_the_job_stops(
    broker: Any, redis_url: str, tmp_path: Path
) -> None:
    """And who looks at its records is told that executors keep none."""
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
        until(lambda: client.exists("millrace:run:cluster:records") == 1, 60, running)
        kept: Any = client.get("millrace:run:cluster:records")
        assert json.loads(kept)["here"] is False
        assert json.loads(kept)["edges"] == {}
        running.terminate()
        _, printed = running.communicate(timeout=120)
        assert running.returncode == 0, printed
    finally:
        kill(running)
        client.close()
    assert closed.read_text() == "closed\nclosed\n"
