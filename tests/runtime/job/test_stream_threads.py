"""Stream threads give Kafka Streams' results on the checkpoints of micro-batches.

`MILLRACE_SCENARIOS=all ./millrace test tests/runtime/job/test_stream_threads.py` plays every
recorded scenario of records and restarts; without it one of each family.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.results.comparing import differences

from tests.runtime.live import Live, play

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

FOLDER = Path(__file__).parents[2] / "conformance" / "scenarios"
#: One of each family, to save time; with several levels and topics, global tables and restarts.
SAMPLE = ["A06", "B53", "C01", "D10", "F02", "G03", "H02", "J01", "L03", "M02"]


def scenarios() -> dict[str, Any]:
    """Return the scenarios of records and restarts that end by themselves."""
    found = {}
    for path in sorted(FOLDER.glob("*.json")):
        scenario = json.loads(path.read_text("utf-8"))
        if (
            scenario["compare"] not in ("refused", "describe")
            and not scenario["expected"]["error"]
            and all("topic" in line or "restart" in line for line in scenario["inputs"])
        ):
            found[scenario["id"]] = scenario
    wanted = os.environ.get("MILLRACE_SCENARIOS", ",".join(SAMPLE))
    return found if wanted == "all" else {n: s for n, s in found.items() if n in wanted.split(",")}


SCENARIOS = scenarios()
Played = dict[str, Future[tuple[Any, Any]]]


@pytest.fixture(scope="module")
def live(broker: Any) -> Iterator[Live]:
    running = Live(broker.address, in_threads=True)
    yield running
    running.close()


@pytest.fixture(scope="module")
def played(live: Live) -> Iterator[Played]:
    """Play all scenarios, three at a time: each mostly waits for one record."""
    with ThreadPoolExecutor(3) as pool:
        yield {name: pool.submit(play, live, each) for name, each in SCENARIOS.items()}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_record_gives_what_kafka_streams_gives(played: Played, name: str) -> None:
    reported, found = played[name].result()
    assert differences(reported, found, "each") == []
    assert found["in_thread"] == found["may_be"]
