"""kill -9 again and again during one run of a stateful job, and what a reader sees of it.

`MILLRACE_KILLS=20 ./millrace test tests/runtime/test_kills.py` kills as often as that; without
it twice, for time. Of every run: counts, a windowed count and a join behind a repartition.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import struct
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.runtime import topics
from tests.runtime.drivers import ended, kill, started

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

KILLS = int(os.environ.get("MILLRACE_KILLS", "2"))
ITEMS = 40
PRICES = 3
#: Records of a micro-batch, and of the input for each kill: several batches lie between two kills.
BATCH, EACH = 1_500, 4_000


def job(
    address: str, checkpoint: Path, guarantee: str, *options: str, batch: int = BATCH
) -> subprocess.Popen[str]:
    """Starts the job with micro-batches of at most so many records."""
    return started(
        "orders_job.py", guarantee, "--max-records", str(batch), *options, address=address,
        checkpoint=checkpoint,
    )  # fmt: skip


def written(address: str, topic: str) -> int:
    """The end offsets of a topic, summed: uncommitted records and markers count as well."""
    consumer = Consumer({"bootstrap.servers": address, "group.id": "none", "log_level": 0})
    try:
        return sum(
            consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=30)[1]
            for p in range(4)
        )
    finally:
        consumer.close()


def fill(address: str, records: int) -> list[str]:
    """Writes the orders and the prices; returns the items of the orders, in their order."""
    chosen = random.Random(4)
    items = [f"item-{chosen.randrange(ITEMS)}" for _ in range(records)]
    orders = [
        {"key": f"c{n % 97}", "value": f"{item}:{n}", "timestamp": 1_000_000 + n}
        for n, item in enumerate(items)
    ]
    prices = [
        {"key": f"item-{n % ITEMS}", "value": str(n), "timestamp": 1_000_000 + n}
        for n in range(ITEMS * PRICES)
    ]
    topics.produce(address, "prices", prices)
    topics.produce(address, "orders", orders)
    return items


def run_with_kills(address: str, checkpoint: Path, guarantee: str) -> tuple[int, int]:
    """Kills the job at random moments of its micro-batches, then lets it finish.

    Gives the number of kills, and of those that left a batch behind that had not ended.
    """
    chance = random.Random(KILLS)
    kills = inside = 0
    for _ in range(KILLS):
        before = written(address, "counts")
        process = job(address, checkpoint, guarantee)
        try:
            deadline = time.monotonic() + 240
            while written(address, "counts") == before:
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(ended(process))
                time.sleep(0.02)
            time.sleep(chance.uniform(0.0, 3.0))
            kills += process.poll() is None
        finally:
            kill(process)
        inside += unfinished(checkpoint)
    last = job(address, checkpoint, guarantee, "--available-now", batch=100_000)
    _, said = last.communicate(timeout=600)
    assert last.returncode == 0, said
    return kills, inside


def unfinished(checkpoint: Path) -> bool:
    """Whether a batch was begun and did not end."""
    stream = checkpoint / "stream"
    begun, ended = (len(list((stream / n).glob("[0-9]*"))) for n in ("offsets", "commits"))
    return begun > ended


def records_of(address: str, topic: str, at_least: int) -> dict[str, list[Any]]:
    """By key, in the order of the partition; every key is in one partition only."""
    found: dict[str, list[Any]] = defaultdict(list)
    places: dict[str, int] = {}
    for record in topics.consume(address, topic, at_least, seconds=120):
        key = record.key().decode()
        assert places.setdefault(key, record.partition()) == record.partition()
        found[key].append(record.value())
    return found


def text(value: bytes) -> str:
    """Counts are BIGINT, the rest is text."""
    return str(struct.unpack(">q", value)[0]) if value[:1] == b"\0" else value.decode()


def expected(items: list[str]) -> dict[str, dict[str, list[str]]]:
    """What each of the three topics must have, by key."""
    counts, seconds = Counter[str](), Counter[tuple[str, int]]()
    made: dict[str, dict[str, list[str]]] = {
        "counts": defaultdict(list), "seconds": defaultdict(list), "joined": defaultdict(list),
    }  # fmt: skip
    for n, item in enumerate(items):
        start = (1_000_000 + n) // 1_000 * 1_000
        counts[item] += 1
        seconds[item, start] += 1
        made["counts"][item].append(str(counts[item]))
        made["seconds"][item].append(f"{start}:{seconds[item, start]}")
        own = int(item.removeprefix("item-"))
        made["joined"][item] += [f"{n}@{own + ITEMS * price}" for price in range(PRICES)]
    return made


@pytest.fixture(scope="module", params=["exactly_once", "at_least_once"])
def run(request: Any, broker: Any, tmp_path_factory: Any) -> tuple[str, dict[str, Any], Any]:
    """A run with kills: its guarantee, what was expected and what a reader of committed gets."""
    names = ["orders", "prices", "counts", "seconds", "joined"]
    topics.create(broker.address, dict.fromkeys(names, 4))
    try:
        items = fill(broker.address, EACH * (KILLS + 1))
        checkpoint = tmp_path_factory.mktemp(request.param) / "c"
        began = time.monotonic()
        kills, inside = run_with_kills(broker.address, checkpoint, request.param)
        took = time.monotonic() - began
        wanted = expected(items)
        found = {}
        for topic, by_key in wanted.items():
            raw = records_of(broker.address, topic, sum(map(len, by_key.values())))
            found[topic] = {key: [text(v) for v in values] for key, values in raw.items()}
        size = sum(len(v) for by_key in wanted.values() for v in by_key.values())
        seen = sum(len(v) for by_key in found.values() for v in by_key.values())
        told = {
            "guarantee": request.param, "kills": kills, "inside a batch": inside,
            "expected": size, "arrived": seen, "seconds": round(took),
        }  # fmt: skip
        print(json.dumps(told), file=sys.stderr, flush=True)
        assert kills == KILLS
        return request.param, wanted, found
    finally:
        topics.delete(broker.address, names)


def test_a_reader_sees_what_the_guarantee_says(run: tuple[str, dict[str, Any], Any]) -> None:
    guarantee, wanted, found = run
    for topic in ("counts", "seconds"):
        assert found[topic].keys() == wanted[topic].keys()
        for key, values in wanted[topic].items():
            seen = found[topic][key]
            if guarantee == "exactly_once":
                assert windows(seen) == windows(values)
            else:
                assert sorted(set(seen)) == sorted(values)
                assert seen[-1] in values[-1:] or topic == "seconds"


def test_every_pair_of_the_join_is_there(run: tuple[str, dict[str, Any], Any]) -> None:
    guarantee, wanted, found = run
    for key, values in wanted["joined"].items():
        seen = found["joined"][key]
        assert sorted(set(seen)) == sorted(values)
        if guarantee == "exactly_once":
            assert len(seen) == len(values)


def test_counts_never_jump(run: tuple[str, dict[str, Any], Any]) -> None:
    """A batch that is run again repeats what it had written, from its first record on."""
    _, _, found = run
    for seen in found["counts"].values():
        highest = 0
        for count in map(int, seen):
            assert count <= highest + 1
            highest = max(highest, count)


def windows(values: list[str]) -> list[list[str]]:
    """The counts of each window in their order; windows may take turns."""

    def window(value: str) -> str:
        return value.partition(":")[0] if ":" in value else ""

    return [list(each) for _, each in itertools.groupby(sorted(values, key=window), window)]
