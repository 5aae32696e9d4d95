"""Stream threads give Kafka Streams' results on the checkpoints of micro-batches.

`MILLRACE_SCENARIOS=all ./millrace test tests/runtime/job/test_stream_threads.py` plays every
recorded scenario of records and restarts; without it one of each family.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.results.comparing import differences

from tests.compiler.kit import line, node
from tests.runtime import topics
from tests.runtime.live import Live, play
from tests.runtime.spread import renamed

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


def test_figures_count_all_records_although_nobody_looked(live: Live) -> None:
    prefix = f"figures-{uuid.uuid4().hex[:6]}-"
    kept = node("kept", "filter", predicate="value <> 'no'")
    topics.create(live.address, {f"{prefix}in": 1, f"{prefix}out": 1})
    running = live.start(renamed(line(kept), prefix, partitions=None))
    try:
        record = {"key": b"k", "value": b"yes"}
        topics.produce(live.address, f"{prefix}in", [record])
        topics.consume(live.address, f"{prefix}out", 1)
        running.continue_in_thread()
        for _ in range(3):
            topics.produce(
                live.address, f"{prefix}in", [record, record, {**record, "value": b"no"}]
            )
        assert len(topics.consume(live.address, f"{prefix}out", 7)) == 7
        running.query.stop()
        assert running.statistics()["nodes"]["kept"] == {
            "in": 10, "out": 7, "dead_letters": 0, "dropped": {}, "misses": {},
        }  # fmt: skip
    finally:
        running.close()


def test_the_logs_of_an_epoch_have_the_form_of_sparks(live: Live) -> None:
    prefix = f"logs-{uuid.uuid4().hex[:6]}-"
    counted = line(node("n", "count"), node("updates", "to_stream"))
    topics.create(live.address, {f"{prefix}in": 1, f"{prefix}out": 1})
    running = live.start(renamed(counted, prefix, partitions=None))
    try:
        for number in (1, 2):
            topics.produce(live.address, f"{prefix}in", [{"key": b"k", "value": b"v"}])
            assert len(topics.consume(live.address, f"{prefix}out", number)) == number
            running.continue_in_thread()
        running.query.stop()
        for log in ("offsets", "commits"):
            folder = Path(running.checkpoint, log)
            first, last = (
                (folder / str(number)).read_text("utf-8").splitlines()
                for number in (0, max(int(each.stem) for each in folder.glob("[0-9]*")))
            )
            assert len(first) == len(last) > 1
            assert first[0] == last[0]
            for before, now in zip(first[1:], last[1:], strict=True):
                assert json.loads(before).keys() == json.loads(now).keys()
                assert json.dumps(json.loads(now), separators=(",", ":")) == now
    finally:
        running.close()
