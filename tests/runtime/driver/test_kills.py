"""kill -9 again and again during one run of a stateful job, and what a reader sees of it.

`MILLRACE_KILLS=20 ./millrace test tests/runtime/driver/test_kills.py` kills that often; without it
twice and once, to save time. Each run has counts, a windowed count and a join after a repartition.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.runtime import topics
from tests.runtime.drivers import ended, kill, started

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

KILLS = {
    "exactly_once": int(os.environ.get("MILLRACE_KILLS", "2")),
    "at_least_once": int(os.environ.get("MILLRACE_KILLS", "1")),
}
ITEMS = 40
PRICES = 3
#: Records per micro-batch, and input records per kill: several batches lie between two kills.
BATCH, EACH = 1_500, 4_000


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of the job: its broker, topic prefix, checkpoint and guarantee."""

    address: str
    prefix: str
    checkpoint: Path
    guarantee: str

    def start(self, *options: str, batch: int = BATCH) -> subprocess.Popen[str]:
        """Start the job with at most `batch` records per micro-batch."""
        return started(
            "orders_job.py", self.prefix, self.guarantee, "--max-records", str(batch), *options,
            address=self.address, checkpoint=self.checkpoint,
        )  # fmt: skip

    def unfinished(self) -> bool:
        """Whether a batch was begun but not committed."""
        stream = self.checkpoint / "stream"
        begun, ended = (len(list((stream / n).glob("[0-9]*"))) for n in ("offsets", "commits"))
        return begun > ended


def written(address: str, topic: str) -> int:
    """Return the sum of a topic's end offsets, which includes uncommitted records and markers."""
    consumer = Consumer({"bootstrap.servers": address, "group.id": "none", "log_level": 0})
    try:
        return sum(
            consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=30)[1]
            for p in range(4)
        )
    finally:
        consumer.close()


def fill(run: Run, records: int) -> list[str]:
    """Write the orders and the prices; return the items of the orders in order."""
    chosen = random.Random(4)
    items = [f"item-{chosen.randrange(ITEMS)}" for _ in range(records)]
    fill_prices(run)
    write_orders(run, items, 0)
    return items


def write_orders(run: Run, items: list[str], first: int) -> None:
    """Write one order for each item; `first`: the number of the first of them."""
    orders = [
        {"key": f"c{n % 97}", "value": f"{item}:{n}", "timestamp": 1_000_000 + n}
        for n, item in enumerate(items, first)
    ]
    topics.produce(run.address, f"{run.prefix}orders", orders)


def fill_prices(run: Run) -> None:
    """Write the prices."""
    prices = [
        {"key": f"item-{n % ITEMS}", "value": str(n), "timestamp": 1_000_000 + n}
        for n in range(ITEMS * PRICES)
    ]
    topics.produce(run.address, f"{run.prefix}prices", prices)


class FewOrders(threading.Thread):
    """Writes some orders at a time until it is told to end."""

    def __init__(self, run: Run) -> None:
        super().__init__(daemon=True)
        self.run_, self.items, self.enough = run, list[str](), threading.Event()

    def run(self) -> None:
        chosen = random.Random(4)
        while not self.enough.wait(0.1):
            more = [f"item-{chosen.randrange(ITEMS)}" for _ in range(chosen.randrange(1, 40))]
            write_orders(self.run_, more, len(self.items))
            self.items += more


class Lines(threading.Thread):
    """Reads what a job prints, which it would wait for otherwise."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        super().__init__(daemon=True)
        self.process, self.read = process, list[str]()
        self.start()

    def run(self) -> None:
        assert self.process.stderr is not None
        self.read.extend(iter(self.process.stderr.readline, ""))

    def await_line(self, part: str) -> None:
        """Wait until a line has this part."""
        deadline = time.monotonic() + 300
        while not any(part in line for line in self.read):
            if self.process.poll() is not None or time.monotonic() > deadline:
                pytest.fail("".join(self.read))
            time.sleep(0.02)


def with_kills_of_threads(run: Run, times: int) -> tuple[int, int]:
    """Kill the job at random moments of its stream threads, then let it finish."""
    chance = random.Random(times)
    kills = inside = 0
    for _ in range(times):
        process = run.start()
        try:
            Lines(process).await_line("processed in a stream thread")
            time.sleep(chance.uniform(0.0, 3.0))
            kills += process.poll() is None
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(60)
        inside += run.unfinished()
    last = run.start("--available-now", batch=100_000)
    _, printed = last.communicate(timeout=600)
    assert last.returncode == 0, printed
    return kills, inside


def with_kills(run: Run, times: int) -> tuple[int, int]:
    """Kill the job at random moments of its micro-batches, then let it finish.

    Return the number of kills, and how many of them left an unfinished batch.
    """
    chance = random.Random(times)
    kills = inside = 0
    counts = f"{run.prefix}counts"
    for _ in range(times):
        before = written(run.address, counts)
        process = run.start()
        try:
            deadline = time.monotonic() + 300
            while written(run.address, counts) == before:
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(ended(process))
                time.sleep(0.02)
            time.sleep(chance.uniform(0.0, 3.0))
            kills += process.poll() is None
        finally:
            kill(process)
        inside += run.unfinished()
    assert kills == times
    last = run.start("--available-now", batch=100_000)
    _, printed = last.communicate(timeout=600)
    assert last.returncode == 0, printed
    return kills, inside


def records_of(address: str, topic: str, at_least: int) -> dict[str, list[Any]]:
    """Return the records by key, in partition order; every key must be in one partition only."""
    found: dict[str, list[Any]] = defaultdict(list)
    places: dict[str, int] = {}
    for record in topics.consume(address, topic, at_least, seconds=120):
        key = record.key().decode()
        assert places.setdefault(key, record.partition()) == record.partition()
        found[key].append(record.value())
    return found


def text(value: bytes) -> str:
    """Return a BIGINT count or a text as text."""
    return str(struct.unpack(">q", value)[0]) if value[:1] == b"\0" else value.decode()


def expected(items: list[str]) -> dict[str, dict[str, list[str]]]:
    """Return the expected records of the three topics, by key."""
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


@pytest.mark.long
@pytest.mark.parametrize("guarantee", ["exactly_once", "at_least_once"])
def test_a_reader_sees_what_is_guaranteed_however_often_the_job_is_killed(
    broker: Any, tmp_path: Path, guarantee: str
) -> None:
    run = Run(broker.address, f"{guarantee}-{uuid.uuid4()}-", tmp_path / "c", guarantee)
    names = ("orders", "prices", "counts", "seconds", "joined")
    topics.create(run.address, {f"{run.prefix}{name}": 4 for name in names})
    items = fill(run, EACH * (KILLS[guarantee] + 1))
    check(run, items, with_kills(run, KILLS[guarantee]))


@pytest.mark.long
@pytest.mark.parametrize("guarantee", ["exactly_once", "at_least_once"])
def test_a_reader_sees_what_is_guaranteed_if_a_stream_thread_is_killed(
    broker: Any, tmp_path: Path, guarantee: str
) -> None:
    run = Run(broker.address, f"{guarantee}-{uuid.uuid4()}-", tmp_path / "c", guarantee)
    names = ("orders", "prices", "counts", "seconds", "joined")
    topics.create(run.address, {f"{run.prefix}{name}": 4 for name in names})
    fill_prices(run)
    orders = FewOrders(run)
    orders.start()
    kills = with_kills_of_threads(run, KILLS[guarantee] - 1 or 1)
    orders.enough.set()
    orders.join()
    last = run.start("--available-now", batch=100_000)
    _, printed = last.communicate(timeout=600)
    assert last.returncode == 0, printed
    check(run, orders.items, kills)


def check(run: Run, items: list[str], killed: tuple[int, int]) -> None:
    """Check what a reader sees of the results. `killed`: kills, and those inside a batch."""
    guarantee, (kills, inside) = run.guarantee, killed
    wanted = expected(items)
    found: dict[str, dict[str, list[str]]] = {}
    for topic, by_key in wanted.items():
        raw = records_of(run.address, run.prefix + topic, sum(map(len, by_key.values())))
        found[topic] = {key: [text(value) for value in values] for key, values in raw.items()}
    reported = {
        "guarantee": guarantee, "kills": kills, "inside a batch": inside,
        "expected": total(wanted), "arrived": total(found),
    }  # fmt: skip
    print(json.dumps(reported), file=sys.stderr, flush=True)
    assert kills
    for topic, by_key in wanted.items():
        assert found[topic].keys() == by_key.keys()
        for key, values in by_key.items():
            seen = found[topic][key]
            assert sorted(set(seen)) == sorted(values)
            if guarantee == "exactly_once":
                assert len(seen) == len(values)
                if topic != "joined":
                    assert windows(seen) == windows(values)
            elif topic == "counts":
                assert seen[-1] == values[-1]
                assert_no_jump([int(count) for count in seen])


def total(by_topic: dict[str, dict[str, list[str]]]) -> int:
    """Count the records of all topics."""
    return sum(len(values) for by_key in by_topic.values() for values in by_key.values())


def assert_no_jump(counts: list[int]) -> None:
    """A repeated batch writes its output again from the first record, but never skips a count."""
    highest = 0
    for count in counts:
        assert count <= highest + 1
        highest = max(highest, count)


def windows(values: list[str]) -> list[list[str]]:
    """Group the counts by window, in order; different windows may be interleaved."""

    def window(value: str) -> str:
        return value.partition(":")[0] if ":" in value else ""

    return [list(each) for _, each in itertools.groupby(sorted(values, key=window), window)]
