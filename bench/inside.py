"""The cost of simulating a topology, and of inspecting one that is running.

    ./millrace bench inside -- --keys 1000000

Starts a separate system in the way a person does. Prints: the first simulation after the start and
later ones; ten people who simulate at once; reading one key, and a page of 100 rows, of a store
with the given number of keys while its deployment runs: in micro-batches, with 20,000 records a
second, then in a stream thread, with 100 a second; beside it a key from the driver's own socket,
and a request that only looks at the session; and the cost of a backlog while a page shows
the deployment's figures and the records of an edge, and without a page, in turns: seconds, and
CPU seconds of the driver and of all services. *The page's share* is the median over pairs of
turns; a program becomes faster for minutes, so distant turns cannot be compared.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
from confluent_kafka import Consumer, Producer, TopicPartition
from millrace_services import local_services

from bench._broker import free_ports
from bench._documents import chain, document, node, ten_nodes
from bench._table import Row, processor_seconds, show
from bench.warm import lines
from tests.e2e.api import Api
from tests.e2e.system import System, running_system
from tests.e2e.topics import create_topic

PEOPLE = 10
#: simulations by each person
TIMES = 5
LOOKUPS = 60
PAGES = 30
ROUNDS = 8
WARMING = 3
PARTITIONS = 2
SOURCE, SINK, STORE, EDGE = "inside-in", "inside-out", "counts", "records.out>by-value.in"
SIMULATION_LIMIT = 2.0
LOOKUP_LIMIT = 0.02
#: records a second while stores are read, in micro-batches and in a stream thread
MANY, FEW = 20_000, 100
PARTS = ("simulations", "reading", "looking")
#: log lines of a driver, by how it runs from then on
IN_THREAD, IN_BATCHES = "processed in a stream thread", "Back to micro-batches"
PATIENCE_SECONDS = 400.0


def counting() -> dict[str, Any]:
    """Return a document that counts records by value, with a store that can be read."""
    text = {"format": "string"}
    nodes = [
        node("records", "source.stream", topics=[SOURCE], key=text, value=text),
        node("by-value", "select_key", key="value"),
        node("count", "count"),
        node("updates", "to_stream"),
        node("out", "sink.topic", topic=SINK),
        node("kept", "store.key_value", name=STORE),
    ]
    edges = [
        *chain("records", "by-value", "count", "updates", "out"),
        *chain("kept", "count.store"),
    ]
    made = document("inside", nodes, edges)
    made["topics"] = {topic: {"partitions": PARTITIONS} for topic in (SOURCE, SINK)}
    return made


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that the function takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def paced(work: Callable[[], Any]) -> float:
    """Wait as long as the rate limit requires, then measure like `timed`."""
    time.sleep(0.6)
    return timed(work)


def simulate(api: Api) -> None:
    """Run one simulation and wait for its result."""
    body = {"document": ten_nodes(), "inputs": lines()}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while api.call("POST", "/workspaces/main/simulations", body)["result"] is None:
        if time.monotonic() > deadline:
            raise RuntimeError("the simulator does not start")
        time.sleep(1)


def simulations(system: System, api: Api) -> Iterator[Row]:
    """Measure simulations by one person, then by all at once."""
    yield Row("simulation, first", timed(lambda: simulate(api)), 0.0)
    own = [timed(lambda: simulate(api)) for _ in range(10)]
    yield Row("simulation, later", statistics.median(own), 0.0, SIMULATION_LIMIT)
    people = [api, *(person(system, api, n) for n in range(1, PEOPLE))]

    def several(of: Api) -> list[float]:
        return [timed(lambda: simulate(of)) for _ in range(TIMES)]

    for name in (f"{PEOPLE} people at once, first rounds", f"{PEOPLE} people at once"):
        with ThreadPoolExecutor(PEOPLE) as pool:
            found = sorted(itertools.chain.from_iterable(pool.map(several, people)))
        yield Row(f"{name}: median", statistics.median(found), 0.0, SIMULATION_LIMIT)
        yield Row(f"{name}: slowest", found[-1], 0.0)


def person(system: System, api: Api, number: int) -> Api:
    """Sign in another editor."""
    body = {"username": f"person{number}", "display_name": f"Person {number}", "role": "editor"}
    made = api.call("POST", "/workspaces/main/members", body)
    return Api(system.address, made["sign_in_link"])


class Records:
    """Writes records and waits for their updates."""

    def __init__(self, servers: str, keys: int) -> None:
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 20, "log_level": 0})
        self._consumer = Consumer(
            {"bootstrap.servers": servers, "group.id": "inside", "log_level": 0}
        )
        self._keys = keys
        self.written = 0

    def write(self, count: int) -> None:
        """Write the next records; all keys are written in turn."""
        for number in range(self.written, self.written + count):
            while True:
                try:
                    self._producer.produce(SOURCE, self.key(number), self.key(number))
                    break
                except BufferError:
                    self._producer.poll(0.1)
        self._producer.flush()
        self.written += count

    def key(self, number: int) -> str:
        """Return the key of a record."""
        return f"key-{number % self._keys:012}"

    def wait(self) -> None:
        """Wait until each record has its update."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._updates() < self.written:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self._updates()} updates of {self.written}")
            time.sleep(0.05)

    def _updates(self) -> int:
        ends = (
            self._consumer.get_watermark_offsets(TopicPartition(SINK, n), timeout=10)
            for n in range(PARTITIONS)
        )
        return sum(end for _, end in ends)


@contextmanager
def written(records: Records, rate: int) -> Iterator[None]:
    """Write records at a steady rate, ten times a second."""
    ended = threading.Event()

    def write() -> None:
        due = time.monotonic()
        while not ended.wait(max(0.0, due - time.monotonic())):
            records.write(rate // 10)
            due += 0.1

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    time.sleep(5)
    try:
        yield
    finally:
        ended.set()
        thread.join(30)


def wait_for(how: str, api: Api, deployment: int) -> None:
    """Wait until a deployment runs in this way, by its log."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        lines = api.call("GET", f"/deployments/{deployment}/logs")["lines"]
        text = "\n".join(line["message"] for line in lines)
        in_thread = text.rfind(IN_THREAD) > text.rfind(IN_BATCHES)
        if in_thread == (how == IN_THREAD):
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"the deployment is not {how}")
        time.sleep(0.5)


def lookups(
    system: System, api: Api, deployment: int, records: Records, keys: int
) -> Iterator[Row]:
    """Measure reads of keys and of pages, while the deployment is running."""
    path = f"/deployments/{deployment}/stores/{STORE}"
    chosen = random.Random(7)  # noqa: S311

    def read(query: dict[str, Any]) -> int:
        address = str(httpx.URL(path, params=query))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (page := api.call("GET", address)["page"]) is None:
            if time.monotonic() > deadline:
                raise RuntimeError("the process that reads does not start")
            time.sleep(0.2)
        return len(page["rows"])

    def one() -> None:
        if read({"key": records.key(chosen.randrange(keys))}) != 1:
            raise RuntimeError("a key has no row")

    def page() -> None:
        start = records.key(chosen.randrange(keys - 200))
        if read({"from": start, "limit": 100}) != 100:
            raise RuntimeError("a page does not have 100 rows")

    def driver() -> None:
        query = {"key": records.key(chosen.randrange(keys))}
        asked = {"do": "read_state", "store": STORE, "query": query}
        if local_services.ask(str(socket), asked, PATIENCE_SECONDS)["page"] is None:
            raise RuntimeError("the driver does not know")

    def measured(how: str) -> Iterator[Row]:
        works = {
            "one key": (one, LOOKUPS),
            "100 rows": (page, PAGES),
            "one key, of the driver": (driver, PAGES),
            "the session": (lambda: api.call("GET", "/session"), PAGES),
        }
        turns = [name for name, (_, times) in works.items() for _ in range(times)]
        chosen.shuffle(turns)
        found: dict[str, list[float]] = {name: [] for name in works}
        for name in turns:
            found[name].append(paced(works[name][0]))
        for name, every in found.items():
            yield Row(f"{how}: {name}: median", statistics.median(every), 0.0)
            limit = LOOKUP_LIMIT if name == "one key" else None
            yield Row(f"{how}: {name}: p95", sorted(every)[int(len(every) * 0.95)], 0.0, limit)

    yield Row(f"store of {keys:,} keys: first read", timed(one), 0.0)
    socket = system.data / "deployments" / str(deployment) / "live" / "stores"
    with written(records, MANY):
        wait_for(IN_BATCHES, api, deployment)
        yield from measured("micro-batches")
    records.wait()
    with written(records, FEW):
        wait_for(IN_THREAD, api, deployment)
        yield from measured("stream thread")
    records.wait()


@contextmanager
def looking(api: Api, deployment: int, topology: int) -> Iterator[None]:
    """Act like an open page: listen to figures, and request an edge's records."""
    ended = threading.Event()

    def listen() -> None:
        with api.events(f"/live?topology={topology}") as events:
            for _ in events:
                if ended.is_set():
                    return

    def ask() -> None:
        query = httpx.QueryParams({"edge": EDGE})
        while not ended.wait(2):
            api.call("GET", f"/deployments/{deployment}/records?{query}")

    threads = [threading.Thread(target=work, daemon=True) for work in (listen, ask)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(30)


@dataclass(frozen=True)
class Drained:
    """The cost of processing a backlog, in seconds."""

    wall: float
    #: CPU seconds
    driver: float
    #: CPU seconds, including all services
    everything: float


def drained(system: System, api: Api, deployment: int, records: Records, backlog: int) -> Drained:
    """Measure the time from resuming the deployment until its backlog has been processed."""
    api.call("POST", f"/deployments/{deployment}/pause")
    api.until(deployment, "paused", 60)
    records.write(backlog)
    driver = psutil.Process(api.call("GET", f"/deployments/{deployment}")["run"]["pid"])
    state = json.loads((system.data / "run" / "state.json").read_text())
    pids = [each["pid"] for each in state["services"]]
    services = [psutil.Process(pid) for pid in pids if pid and psutil.pid_exists(pid)]

    def used() -> tuple[float, float]:
        return processor_seconds(driver), processor_seconds(driver, *services)

    before = used()
    api.call("POST", f"/deployments/{deployment}/resume")
    api.until(deployment, "running", 60)
    wall = timed(records.wait)
    return Drained(wall, *(late - early for early, late in zip(before, used(), strict=True)))


def looked_at(
    system: System, api: Api, deployment: int, records: Records, backlog: int, rounds: int
) -> Iterator[Row]:
    """Measure a backlog without and with an open page, and print the page's share."""
    topology = api.call("GET", f"/deployments/{deployment}")["topology"]

    def one() -> Drained:
        return drained(system, api, deployment, records, backlog)

    for _ in range(WARMING):
        one()
        with looking(api, deployment, topology):
            one()
    alone: list[Drained] = []
    looked: list[Drained] = []
    for turn in range(rounds):
        for who in (alone, looked) if turn % 2 else (looked, alone):
            if who is alone:
                who.append(one())
            else:
                with looking(api, deployment, topology):
                    who.append(one())
    for name, found in (("nobody looks", alone), ("a page looks", looked)):
        for part in ("driver", "everything"):
            yield Row(
                f"{backlog:,} records, {name}: {part}",
                statistics.median(each.wall for each in found),
                statistics.median(getattr(each, part) for each in found),
            )
    for part in ("wall", "driver", "everything"):
        shares = sorted(
            getattr(page, part) / getattr(none, part) - 1
            for page, none in zip(looked, alone, strict=True)
        )
        print(f"the page's share, {part:11}{statistics.median(shares):8.1%}"
              f"   of {rounds} pairs {shares[0]:.1%} … {shares[-1]:.1%}")  # fmt: skip


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--backlog", type=int, default=2_000_000, help="records (2,000,000)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"pairs of turns ({ROUNDS})")
    parser.add_argument("--only", choices=PARTS, help="a part of the figures")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder,
        running_system(Path(folder), free_ports(1)[0]) as system,
        Api(system.address, system.link) as api,
    ):
        wanted = PARTS if given.only is None else (given.only,)
        rows = list(simulations(system, api)) if "simulations" in wanted else []
        for topic in (SOURCE, SINK):
            create_topic(system.bootstrap_servers, topic, PARTITIONS)
        deployment = api.deploy("inside", counting())
        api.until(deployment, "running", 240)
        records = Records(system.bootstrap_servers, given.keys)
        records.write(given.keys)
        records.wait()
        if "reading" in wanted:
            rows += lookups(system, api, deployment, records, given.keys)
        show(rows)
        if "looking" in wanted:
            rows += looked_at(system, api, deployment, records, given.backlog, given.rounds)
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 120)
    show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
