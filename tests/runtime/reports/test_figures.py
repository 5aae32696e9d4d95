"""The figures that a running job reports, on a real broker."""

from __future__ import annotations

import time
from typing import Any

import pytest
from millrace_model.events import ProgressEvent
from millrace_runtime import (
    Topology,
    json,
    key_value_store,
    long,
    string,
    tumbling,
    until_window_closes,
    within,
)

from tests.runtime import topics
from tests.runtime.figures import Figures

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

READABLE = {"key": "a", "value": '{"n": 6, "d": 2}', "timestamp": 1_000}
FAILING = {"key": "b", "value": '{"n": 6, "d": 0}', "timestamp": 2_000}
MALFORMED = {"key": "c", "value": "{", "timestamp": 9_000}


def quotients(source: str, target: str, **settings: Any) -> Topology:
    """Return a topology that divides and has no state."""
    topology = Topology("quotients", **settings)
    numbers = topology.stream(source, key=string(), value=json("n INT, d INT"), name="in")
    numbers.map_values("value.n / value.d", name="divide").to(target)
    return topology


def test_dead_letters_are_counted_by_themselves_and_move_no_stream_time(figures: Figures) -> None:
    source, target, dead = figures.topic(), figures.topic(), figures.topic()
    topics.produce(figures.address, source, [READABLE, FAILING, MALFORMED])
    run = figures.job(
        quotients(
            source, target, processing_handler="dead_letter",
            deserialization_handler="dead_letter", dead_letter_topic=dead,
        )
    )  # fmt: skip
    event = run.read_all()
    assert topics.size(figures.address, dead) == 2
    counted = {
        node: (each["dead_letters"], each["dropped"]) for node, each in event["nodes"].items()
    }
    assert counted["in"] == (1, {})
    assert counted["divide"] == (1, {})
    # In Kafka Streams every readable record advances stream time, even if it fails later.
    assert [task["stream_time"] for task in event["tasks"]] == [2_000]
    run.close()


def test_what_an_inner_join_does_not_find_is_counted_at_its_node(figures: Figures) -> None:
    """Of every kind of join; the records do not count as dropped."""
    orders, items, target = (figures.topic() for _ in range(3))
    topology = Topology("misses")
    lines = topology.stream(orders, key=string(), value=string(), name="lines")
    known = topology.table(items, key=string(), value=string(), name="known")
    by_value = lines.select_key("value", name="by-value")
    by_value.join(known, joiner="right", name="looked-up").to(target)
    by_value.left_join(known, joiner="right", name="left").to(target)
    lines.join(by_value, within("1 second"), joiner="right", name="paired").to(target)
    rows = lines.to_table(name="rows")
    joined = rows.join(known, joiner="right", name="tables")
    joined.to_stream().to(target)
    foreign = rows.join(known, foreign_key="value", joiner="right", name="foreign")
    foreign.to_stream().to(target)
    topics.produce(figures.address, items, [{"key": "a", "value": "A", "timestamp": 0}])
    topics.produce(
        figures.address,
        orders,
        [{"key": f"key-{n}", "value": "abc"[n % 3], "timestamp": 9_000 * n} for n in range(6)],
    )
    run = figures.job(topology)
    nodes = run.read_all()["nodes"]
    missed = {node: each["misses"] for node, each in nodes.items() if each["misses"]}
    assert missed == {
        "looked-up": {"no_match": 4},
        "paired": {"no_match_yet": 12},
        # Each of seven updates, because no key is in both tables.
        "tables": {"no_match": 7},
        # Rows of two foreign keys without a row, and the row that came before all that refer to it.
        "foreign": {"no_match": 5},
    }
    # Over the left edge, by its repartition topic, and the one row of the table.
    assert nodes["looked-up"]["in"] == 6 + 1
    assert nodes["looked-up"]["dropped"] == {}
    run.close()


def test_a_task_has_as_many_state_rows_as_its_stores_hold(figures: Figures) -> None:
    """The figure is correct after a restart, too."""
    source, target = figures.topic(2), figures.topic()
    topology = Topology("counts", partitions={source: 2})
    lines = topology.stream(source, key=string(), value=string())
    counts = lines.group_by_key().count(store=key_value_store("counts"))
    counts.to_stream().to(target, key=string(), value=long())
    records = [
        {"key": f"key-{n}", "value": "x", "partition": int(n > 2)} for n in range(5) for _ in "ab"
    ]
    topics.produce(figures.address, source, records)
    run = figures.job(topology)
    rows = {task["task"]: task["state_rows"] for task in run.read_all()["tasks"]}
    assert rows == {"0_0": 3, "0_1": 2}
    topics.produce(figures.address, source, [{"key": "key-5", "value": "x", "partition": 1}])
    rows = {task["task"]: task["state_rows"] for task in run.read_all()["tasks"]}
    assert rows["0_1"] == 3
    run.close()


def test_stores_without_a_node_are_reported_with_their_operator(figures: Figures) -> None:
    """Named stores, an operator's own result, buffers and subscriptions, with their rows."""
    orders, items, prices, target = (figures.topic() for _ in range(4))
    topology = Topology("sizes")
    lines = topology.stream(orders, key=string(), value=string(), name="lines")
    others = topology.stream(items, key=string(), value=string(), name="others")
    lines.group_by_key().count(store=key_value_store("named"), name="counted")
    hours = lines.group_by_key().windowed_by(tumbling("1 hour")).count(name="hourly")
    held = hours.suppress(until_window_closes(), name="held")
    paired = lines.outer_join(
        others, within("1 second"), joiner="concat(left, right)", name="paired"
    )
    known = lines.to_table(name="known")
    known.join(
        topology.table(prices, key=string(), value=string(), name="prices"),
        foreign_key="value",
        joiner="right",
        name="looked-up",
    )
    paired.to(target, key=string(), value=string())
    held.to_stream().select_key("key.key").to(target, key=string(), value=long())
    topics.produce(
        figures.address,
        orders,
        [{"key": f"key-{n % 4}", "value": f"item-{n}", "timestamp": 1000} for n in range(6)],
    )
    run = figures.job(topology)
    stores = {each["node"]: each for each in run.read_all()["stores"]}
    assert {node: each["rows"] for node, each in stores.items()} == {
        "named": 4,
        "hourly": 4,
        "held": 4,
        # Six records of the left side, and by key those that have no partner yet.
        "paired": 6 + 4,
        "known": 4,
        "looked-up": 4,
        "prices": 0,
    }
    assert all(each["name"] == node for node, each in stores.items())
    assert all(each["bytes"] >= 10 * each["rows"] for each in stores.values())
    run.close()


def test_records_deleted_before_they_were_read_are_counted(
    figures: Figures,
) -> None:
    """Some, then all records are deleted between runs; a task without a store has no state rows."""
    source, target = figures.topic(), figures.topic()
    run = figures.job(quotients(source, target))
    topics.produce(figures.address, source, [READABLE] * 3)
    event = run.read_all()
    assert (event["lost"], event["said"]) == ([], [])
    assert [task["state_rows"] for task in event["tasks"]] == [None]
    topics.produce(figures.address, source, [READABLE] * 5)
    topics.delete_before(figures.address, source, 7)
    event = run.read_all()
    assert event["lost"] == [{"topic": source, "partition": 0, "records": 4}]
    (printed,) = event["said"]
    assert printed.startswith(f"4 records of {source}-0 lost: the broker deleted them")
    (task,) = event["tasks"]
    (place,) = task["topic_partitions"]
    assert (place["end_offset"], place["lag"]) == (8, 0)
    topics.produce(figures.address, source, [READABLE] * 2)
    topics.delete_before(figures.address, source, 10)
    assert run.read_all()["lost"] == [{"topic": source, "partition": 0, "records": 2}]
    run.close()


def test_for_how_long_a_batch_has_been_at_work_is_reported_while_it_is(figures: Figures) -> None:
    source, target = figures.topic(), figures.topic()
    topology = Topology("slow")
    lines = topology.stream(source, key=string(), value=string())
    numbers = "transform(sequence(1, 2000000), x -> x + length(value))"
    slow = lines.map_values(f"CAST(aggregate({numbers}, 0L, (a, x) -> a + x) AS STRING)")
    slow.to(target, key=string(), value=string())
    run = figures.job(topology)
    topics.produce(figures.address, source, [{"key": "a", "value": str(n)} for n in range(6)])
    during: list[ProgressEvent] = []
    event = run.read_all(during)
    busy = [each["batch_ms"] for each in during]
    assert max(busy) > 500
    rising = busy[: busy.index(max(busy))]
    assert rising == sorted(rising)
    assert event["batch_ms"] == 0
    run.close()


def test_latencies_are_measured_from_the_records_time_and_its_arrival(
    figures: Figures,
) -> None:
    """Also after a repartition; the arrival is the time at which Kafka received the record."""
    source, target = figures.topic(2), figures.topic()
    topology = Topology("late", partitions={source: 2})
    made = topology.stream(
        source, key=string(), value=json("at BIGINT"), timestamp="value.at", name="in"
    )
    counts = made.group_by("value.at").count(store=key_value_store("counts"))
    counts.to_stream().to(target, key=long(), value=long(), name="out")
    now = int(time.time() * 1000)
    old, arrived = now - 3_600_000, now - 60_000
    records = [
        {"key": f"key-{n}", "value": f'{{"at": {old}}}', "timestamp": arrived} for n in range(50)
    ]
    topics.produce(figures.address, source, records)
    run = figures.job(topology)
    nodes = run.read_all()["nodes"]
    assert {name for name, node in nodes.items() if "latency" in node} == {"in", "out"}
    for name in ("in", "out"):
        latency = nodes[name]["latency"]
        for kind, least in (("event", 3_600_000), ("arrival", 60_000)):
            found = latency[kind]
            assert found["count"] == 50 == sum(n for _, n in found["buckets"])
            # A bucket is an eighth of a power of two wide; a run takes less than a minute.
            assert least * 15 / 16 < found["p50"] <= found["p99"] < (least + 60_000) * 17 / 16
            assert found["min"] <= found["p50"]
            assert found["p99"] <= found["max"]
            assert least <= found["avg"] < least + 60_000
            assert found["sum"] >= 50 * least
    run.close()
