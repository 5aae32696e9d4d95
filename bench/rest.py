"""What a system costs while nothing happens: processor and memory of each process over a minute.

    ./millrace bench rest
    ./millrace bench rest -- --seconds 60 --minutes 2 --only platform

Starts a system of its own as a person does, without a sample. The first table shows it without
deployments, after the services that nobody uses have ended; below it, the seconds until `up` was
ready and until the first answer of a service that was asleep. The second table shows the driver of
a small deployment, a count behind a repartition: without records, then with twenty a second, each
after the given minutes of running so, and at last asleep. Below it are the seconds from the record
that wakes it to its result.

Memory is the proportional set size: pages that several processes share are counted once.
"""

from __future__ import annotations

import argparse
import os
import re
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition
from millrace_runtime.driver.options import SLEEP
from millrace_services import local_services

from bench._broker import free_ports
from bench.inside import PARTITIONS, SINK, SOURCE, counting
from launcher import control
from tests.e2e.api import Api
from tests.e2e.system import running_system
from tests.e2e.topics import create_topic

#: goals: cores and megabytes of the platform, and cores of a deployment
PLATFORM_CORES, PLATFORM_MB = 0.1, 1200.0
IDLE_CORES, SLOW_CORES = 0.01, 0.08
RATE = 20
#: seconds without use after which services end here, and until all have ended
IDLE, ASLEEP = 15, 120.0
#: seconds after the measurement without records until the deployment sleeps
SLEEP_AFTER = 30.0
LONGEST_START = 240.0


@dataclass(frozen=True)
class Cost:
    """A process, or a sum: cores over the measured time, and megabytes at its end."""

    name: str
    cores: float
    megabytes: float
    #: the goal for cores and for megabytes, if there is one
    goal: tuple[float, float | None] | None = None

    def __str__(self) -> str:
        aim = ""
        if self.goal is not None:
            cores, megabytes = self.goal
            aim = f"   goal {cores:g}" + (f", {megabytes:,.0f} MB" if megabytes else "")
        return f"{self.name:44}{self.cores:9.4f}{self.megabytes:9.0f}{aim}"

    @property
    def over(self) -> bool:
        """Whether it exceeds its goal."""
        if self.goal is None:
            return False
        cores, megabytes = self.goal
        return self.cores > cores or (megabytes is not None and self.megabytes > megabytes)


def costs(roots: dict[str, int], seconds: float) -> list[Cost]:
    """Measure processes by name, each with its descendants that have no name of their own."""
    named = set(roots.values())

    def family(pid: int) -> list[psutil.Process]:
        found, waiting = [], [psutil.Process(pid)]
        while waiting:
            one = waiting.pop()
            found.append(one)
            waiting += [each for each in one.children() if each.pid not in named]
        return found

    families = {name: family(pid) for name, pid in roots.items()}
    before = {name: {each.pid: used(each) for each in found} for name, found in families.items()}
    time.sleep(seconds)
    made = []
    for name, pid in roots.items():
        found = family(pid)
        worked = sum(used(each) - before[name].get(each.pid, 0.0) for each in found)
        made.append(Cost(name, worked / seconds, sum(map(megabytes, found))))
    return made


def used(process: psutil.Process) -> float:
    """Return the CPU seconds of a process so far; 0 if it has ended."""
    try:
        return sum(process.cpu_times()[:2])
    except psutil.Error:
        return 0.0


def megabytes(process: psutil.Process) -> float:
    """Return the proportional set size, or the resident one where the system lacks it."""
    try:
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        return int(re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)[1]) / 1024  # type: ignore[index]
    except (OSError, TypeError):
        try:
            return process.memory_info().rss / (1 << 20)
        except psutil.Error:
            return 0.0


def total(name: str, found: list[Cost], goal: tuple[float, float | None]) -> Cost:
    """Return the sum of costs."""
    return Cost(name, sum(c.cores for c in found), sum(c.megabytes for c in found), goal)


def services() -> dict[str, int]:
    """Return the pids of the launcher and of the services that run, by name."""
    state = control.read_state()
    found = {"launcher": state["launcher"]}
    return found | {
        each["name"]: each["pid"]
        for each in state["services"]
        if each["state"] == "running" and each["pid"] is not None
    }


def wait_until_asleep() -> None:
    """Wait until no service runs that ends when nobody uses it."""
    deadline = time.monotonic() + ASLEEP
    names = {"analyzer", "simulator", "store-reader", "generators"}
    while names & set(services()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"still running: {', '.join(sorted(names & set(services())))}")
        time.sleep(0.5)


def platform(data: Path, seconds: float) -> list[Cost]:
    """Print the table of the platform; return the rows with goals."""
    wait_until_asleep()
    time.sleep(5)
    found = costs(services(), seconds)
    found.append(total("platform", found, (PLATFORM_CORES, PLATFORM_MB)))
    show("nothing deployed, services that nobody uses asleep", found)
    for name in ("analyzer", "simulator"):
        began = time.monotonic()
        local_services.ask(str(data / "run" / "services" / name), {"do": "awake"}, LONGEST_START)
        print(f"{name + ': first answer after it was asleep':44}{time.monotonic() - began:9.2f} s")
    return found[-1:]


def show(title: str, found: list[Cost]) -> None:
    """Print a table."""
    print(f"\n{title}\n{'':44}{'cores':>9}{'MB':>9}")
    for each in found:
        print(each)
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    sys.stdout.flush()


@contextmanager
def writing(servers: str, rate: int) -> Iterator[None]:
    """Write records at a steady rate while the block runs, with ten keys."""
    ended = threading.Event()

    def work() -> None:
        producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        n = 0
        while not ended.wait(1 / rate):
            sent = struct.pack(">d", time.time()).hex()
            producer.produce(SOURCE, key=sent, value=f"word-{n % 10}")
            producer.poll(0)
            n += 1
        producer.flush(10)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(20)


def results(servers: str) -> int:
    """Return the number of results so far."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "rest"})
    try:
        ends = (
            consumer.get_watermark_offsets(TopicPartition(SINK, n), timeout=20)
            for n in range(PARTITIONS)
        )
        return sum(end for _, end in ends)
    finally:
        consumer.close()


def deployment(
    api: Api, servers: str, seconds: float, minutes: float, *, rounds: int
) -> list[Cost]:
    """Print the table of a deployment; return its rows, which have goals."""
    for topic in (SOURCE, SINK):
        create_topic(servers, topic, PARTITIONS)
    number = api.deploy("rest", counting())
    api.until(number, "running", LONGEST_START)
    rows = []
    for turn in range(1, rounds + 1):
        pid = api.call("GET", f"/deployments/{number}")["run"]["pid"]
        for rate, goal in ((0, IDLE_CORES), (RATE, SLOW_CORES)):
            with writing(servers, rate or 1) if rate else _nothing():
                time.sleep(60 * minutes)
                begin = results(servers)
                found = costs(_parts(pid), seconds)
                each = results(servers) - begin
            name = f"{rate} records a second, round {turn}"
            rows.append(total(name, found, (goal, None)))
            show(f"{name}: {each} results", [*found, rows[-1]])
    api.until(number, "asleep", 2 * float(os.environ[SLEEP]))
    time.sleep(60)  # Spark closes state stores within a minute
    found = costs(_parts(pid), seconds)
    rows.append(total("asleep", found, (IDLE_CORES, None)))
    show("asleep", [*found, rows[-1]])
    print(f"{'asleep: first result after':44}{woken(servers):9.2f} s")
    api.call("POST", f"/deployments/{number}/stop")
    api.until(number, "stopped", 120)
    return rows


def woken(servers: str) -> float:
    """Return the seconds from a record to its result, of a deployment that sleeps."""
    before = results(servers)
    producer = Producer({"bootstrap.servers": servers})
    producer.produce(SOURCE, key="wakes", value="word-0")
    producer.flush(10)
    began = time.monotonic()
    while results(servers) == before:
        time.sleep(0.01)
    return time.monotonic() - began


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def _parts(pid: int) -> dict[str, int]:
    """Return the processes of a driver by name: its launcher, Python and Java."""
    found = {"driver": pid}
    for each in psutil.Process(pid).children(recursive=True):
        name = each.name()
        found[f"driver's {name} {each.pid}" if "java" not in name else "driver's JVM"] = each.pid
    return found


def main() -> int:
    """Print the tables. Return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="measured time (60)")
    parser.add_argument("--minutes", type=float, default=1, help="of running before each (1)")
    parser.add_argument("--rounds", type=int, default=1, help="without and with records (1)")
    parser.add_argument("--only", choices=("platform", "deployment"))
    given = parser.parse_args()
    os.environ[local_services.IDLE] = str(IDLE)
    os.environ[SLEEP] = str(60 * given.minutes + given.seconds + SLEEP_AFTER)
    rows: list[Cost] = []
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        data = Path(folder) / "data"
        os.environ["MILLRACE_DATA"] = str(data)
        began = time.monotonic()
        with running_system(Path(folder), free_ports(1)[0], awake=False) as system:
            print(f"{'up: ready after':44}{time.monotonic() - began:9.2f} s", flush=True)
            if given.only != "deployment":
                rows += platform(data, given.seconds)
            if given.only != "platform":
                with Api(system.address, system.link) as api:
                    servers = system.bootstrap_servers
                    rows += deployment(
                        api, servers, given.seconds, given.minutes, rounds=given.rounds
                    )
    return 1 if any(each.over for each in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
