"""Real-time mode gives Kafka Streams' results, record by record, on a real broker.

`MILLRACE_SCENARIOS=all ./millrace test tests/runtime/job/test_real_time.py` plays every recorded
scenario of records and restarts only; without it some.
"""

from __future__ import annotations

import itertools
import json
import os
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import columns
from millrace_runtime.errors import fault_of
from millrace_runtime.reports.report import Progress
from millrace_runtime.results.comparing import differences
from pyspark.errors import StreamingQueryException

from tests.runtime import topics
from tests.runtime.live import Live, play

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

FOLDER = Path(__file__).parents[2] / "conformance" / "scenarios"
#: With several levels and topics, global tables and restarts.
SAMPLE = ["A06", "D10", "F02", "I08", "K52", "M02"]
TEXT = {"format": "string"}


def scenarios() -> dict[str, Any]:
    """Return the scenarios that end by themselves; real-time mode is at least once."""
    found = {}
    for path in sorted(FOLDER.glob("*.json")):
        scenario = json.loads(path.read_text("utf-8"))
        scenario["topology"].get("settings", {}).pop("processing_guarantee", None)
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
    running = Live(broker.address)
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


def document(nodes: list[Any], partitions: int = 1, **settings: Any) -> Any:
    """Return a chain of nodes between two new topics of text."""
    prefix = uuid.uuid4().hex[:8]
    source = {"topics": [f"{prefix}-in"], "key": TEXT, "value": TEXT}
    chain = [
        {"id": "in", "kind": "source.stream", "params": source},
        *nodes,
        {"id": "out", "kind": "sink.topic", "params": {"topic": f"{prefix}-out"}},
    ]
    ids = [node["id"] for node in chain]
    return {
        "format": "millrace.topology/1",
        "name": prefix,
        "topics": {f"{prefix}-{name}": {"partitions": partitions} for name in ("in", "out")},
        "nodes": chain,
        "edges": [{"source": a, "target": b} for a, b in itertools.pairwise(ids)],
        "settings": settings,
    }


def ends(made: Any) -> tuple[str, str]:
    """Return the source and target topic of a document made here."""
    source, target = made["topics"]
    return source, target


COUNT = [
    {"id": "count", "kind": "count", "params": {}},
    {"id": "updates", "kind": "to_stream", "params": {}},
]


def test_a_failing_record_ends_the_query_long_before_its_batch_does(live: Live) -> None:
    made = document(
        [
            {"id": "check", "kind": "map_values", "params": {
                "value": "CASE WHEN value = 'bad' THEN cast(value AS INT) ELSE 1 END"}},
            *COUNT,
        ]
    )  # fmt: skip
    source, target = ends(made)
    topics.create(live.address, {source: 1, target: 1})
    running = live.start(made, batch="10 minutes")
    try:
        topics.produce(live.address, source, [{"key": "a", "value": "1"}] * 2)
        assert len(topics.consume(live.address, target, 2)) == 2
        topics.produce(live.address, source, [{"key": "a", "value": v} for v in ("2", "bad", "3")])
        assert running.query.awaitTermination(60)
    except StreamingQueryException as error:
        text = str(error)
        assert '"node":"check"' in text
        assert '"offset":3' in text
    else:
        raise AssertionError("the query went on")
    finally:
        running.close()
    assert len(topics.consume(live.address, target, 3)) == 3


def test_a_task_does_not_wait_for_a_partition_that_has_nothing(live: Live) -> None:
    made = document(COUNT, partitions=4)
    source, target = ends(made)
    topics.create(live.address, {source: 4, target: 4})
    running = live.start(made, batch="10 minutes", tasks=2)
    try:
        for number in range(5):
            record = {"key": "a", "value": str(number), "partition": 3}
            topics.produce(live.address, source, [record])
            arrived = topics.consume(live.address, target, number + 1)
            assert len(arrived) == number + 1
    finally:
        running.close()


def test_figures_of_a_batch_that_goes_on_have_rates_places_and_lag(live: Live) -> None:
    """The figures while the source has read everything and waits for more."""
    made = document(COUNT)
    source, target = ends(made)
    topics.create(live.address, {source: 1, target: 1})
    running = live.start(made, batch="10 minutes")
    progress = Progress(live.spark, running.query, running.run, running.client)
    try:
        topics.produce(live.address, source, [{"key": "a", "value": "1"}] * 3)
        assert len(topics.consume(live.address, target, 3, seconds=120)) == 3
        running.until(lambda: running.taken({(source, 0): 2}), "the third record")
        event = progress.event(last=True)
        assert event["batch"] is None
        assert event["nodes"]["in"]["in"] == 3
        (task,) = event["tasks"]
        (place,) = task["topic_partitions"]
        assert (place["offset"], place["end_offset"], place["lag"]) == (2, 3, 0)
        assert (task["state_rows"], event["lost"]) == (1, [])
    finally:
        progress.close()
        running.close()


TICKING = """
class Ticking(Processor):
    def init(self, context):
        self.context = context
        self.last = None
        context.schedule(200, WALL_CLOCK_TIME, self.tick)

    def process(self, record):
        self.last = record

    def tick(self, now):
        if self.last is not None:
            self.context.forward(self.last)
"""


def test_the_wall_clock_ticks_while_no_record_comes(live: Live) -> None:
    made = document([{"id": "tick", "kind": "process", "params": {
        "code": TICKING, "class_name": "Ticking",
        "output": {"key": "STRING", "value": "STRING"}}}])  # fmt: skip
    source, target = ends(made)
    topics.create(live.address, {source: 1, target: 1})
    running = live.start(made, batch="10 minutes")
    try:
        topics.produce(live.address, source, [{"key": "a", "value": "b"}])
        found = topics.consume(live.address, target, 3)
        running.check()
        assert len(found) >= 3
    finally:
        running.close()


def test_figures_come_while_the_batch_goes_on(live: Live) -> None:
    made = document(COUNT)
    source, target = ends(made)
    topics.create(live.address, {source: 1, target: 1})
    running = live.start(made, batch="10 minutes")
    try:
        topics.produce(live.address, source, [{"key": "a", "value": "b"}] * 7)
        running.until(lambda: running.taken({(source, 0): 6}), "the taking")
        reported = running.statistics()
        assert reported["nodes"]["count"]["in"] == 7
        assert reported["tasks"][0]["records"] == 7
        assert reported["tasks"][0]["thread"].startswith("stream-")
        assert running.batches() < 0
    finally:
        running.close()


def test_records_are_seen_from_the_next_one_on_while_the_batch_goes_on(live: Live) -> None:
    """A real-time task has no next micro-batch in which a sampler could begin or end."""
    made = document(COUNT)
    source, target = ends(made)
    topics.create(live.address, {source: 1, target: 1})
    running = live.start(made, batch="10 minutes")
    samples = columns.gateway().Samples

    def takes(value: str, offset: int) -> list[Any]:
        topics.produce(live.address, source, [{"key": "a", "value": value}])
        running.until(lambda: running.taken({(source, 0): offset}), "the taking")
        taken = samples.take(running.run)
        found = {(way["from"], way["to"]): way["records"] for way in json.loads(taken or "[]")}
        return next((each for (start, _), each in found.items() if start == "in"), [])

    try:
        assert takes("before", 0) == []
        samples.watch(running.run)
        (seen,) = takes("during", 1)
        assert (seen["key"], seen["value"]) == ("a", "during")
        assert (seen["topic"], seen["partition"], seen["offset"]) == (source, 0, 1)
        running.until(lambda: samples.unwatch(running.run), "the end of looking")
        assert takes("after", 2) == []
        assert running.batches() < 0
    finally:
        running.close()


def test_what_was_kept_is_not_done_again_and_what_was_not_is(live: Live) -> None:
    made = document(COUNT, partitions=2)
    source, target = ends(made)
    topics.create(live.address, {source: 2, target: 2})
    running = live.start(made)
    try:
        topics.produce(live.address, source, [{"key": "a", "value": "b"}] * 3)
        assert len(topics.consume(live.address, target, 3)) == 3
        running.rest()
        running.begin(batch="10 minutes")
        topics.produce(live.address, source, [{"key": "a", "value": "b"}] * 2)
        assert len(topics.consume(live.address, target, 5)) == 5
        running.end()
        running.begin()
        values = [int.from_bytes(each.value()) for each in topics.consume(live.address, target, 7)]
        assert values == [1, 2, 3, 4, 5, 4, 5]
    finally:
        running.close()


def test_a_partition_that_the_topic_does_not_have_is_reported_at_its_sink(live: Live) -> None:
    made = document([], partitions=2)
    made["nodes"][-1]["params"]["partition"] = "length(value)"
    source, target = ends(made)
    topics.create(live.address, {source: 2, target: 2})
    running = live.start(made, batch="10 minutes")
    try:
        for value in ("a", "abc"):
            record = {"key": "k", "value": value, "partition": 1}
            topics.produce(live.address, source, [record])
        assert running.query.awaitTermination(60)
    except StreamingQueryException as error:
        fault = fault_of(str(error))
        assert fault is not None
        assert (fault["kind"], fault["node"], fault["parameter"]) == (
            "production",
            "out",
            "partition",
        )
        assert (
            fault["message"]
            == f"there is no partition 3: the topic {target} has 2, numbered from 0"
        )
        assert fault["record"] is not None
        assert (fault["record"]["partition"], fault["record"]["offset"]) == (1, 1)
    else:
        raise AssertionError("the query went on")
    finally:
        running.close()
    assert len(topics.consume(live.address, target, 1)) == 1
