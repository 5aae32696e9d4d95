"""Where a first run begins to read, on a real broker."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.runtime import topics
from tests.runtime.drivers import ended, kill, problems, started
from tests.runtime.reported import Reported

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.spark,
    pytest.mark.services,
    pytest.mark.slow,
    pytest.mark.long,
]


def test_a_first_run_from_latest_has_whole_global_tables(
    broker: Any, redis_url: str, tmp_path: Path
) -> None:
    prefix = f"{uuid.uuid4()}-"
    names, orders, out = (f"{prefix}{each}" for each in ("names", "orders", "out"))
    topics.create(broker.address, {names: 2, orders: 2, out: 1})
    topics.produce(broker.address, names, [{"key": "1", "value": "tea", "partition": 1}])
    topics.produce(broker.address, orders, [{"key": "before", "value": "1"}])
    reported = Reported(redis_url)

    def run(*options: str) -> Any:
        return started(
            "named_orders_job.py", prefix, *reported.options, *options, address=broker.address,
            checkpoint=tmp_path / "c",
        )  # fmt: skip

    first = run("--start", "latest")
    try:
        reported.until_running(dead=lambda: ended(first))
        topics.produce(broker.address, orders, [{"key": "first", "value": "1"}])
        assert [each.key() for each in topics.consume(broker.address, out, 1)] == [b"first"]
    finally:
        first.terminate()
        kill(first)
    topics.produce(broker.address, orders, [{"key": "second", "value": "1"}])
    _, printed = run("--start", "earliest", "--available-now").communicate(timeout=240)
    assert problems(printed) == []
    found = [(each.key(), each.value()) for each in topics.consume(broker.address, out, 2)]
    assert found[0] == (b"first", b"tea")
    assert found[-1] == (b"second", b"tea")
    assert b"before" not in dict(found)
