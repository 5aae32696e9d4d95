"""Memory and processor time of small deployments that share a JVM, and of the same with their own.

    ./millrace bench host -- --sizes 1 5 10 --own 5 --seconds 30
    ./millrace bench host -- --sizes 10 --own 0 --idle 20 --settle 60

Word counts with 20 lines a second each, started as a worker starts them, with a separate broker.
The first row has deployments with JVMs of their own (`--own`), the others deployments of one host.
Memory is the proportional set size of drivers, JVMs and their parents: pages that processes share
count once. `ratio` compares a deployment with one of the first row. The last row (`--idle`) has
deployments of another host that each have counted some lines and sleep; below it, the seconds from
the line that wakes one of them to its result.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from millrace_compiler import Analyzer, bundle_files, compile_document
from millrace_runtime.driver.options import SLEEP
from millrace_runtime.jars import operator_jar
from millrace_workers.launchers import JobSpec, LocalLauncher

from bench._broker import Broker
from bench._documents import word_count
from bench._table import processor_seconds
from cli import documents
from launcher import archive, places

RATE = 20
START_SECONDS = 300.0
#: seconds without lines after which the deployments of the last row sleep, and until all do
SLEEP_AFTER, ASLEEP = 5.0, 120.0
#: seconds in which Spark closes what is left of state stores
CLOSED_SECONDS = 65.0
LINE = b"to be or not to be"


@dataclass(frozen=True)
class Figures:
    """What some deployments used together, in bytes and in cores."""

    deployments: int
    memory: int
    cores: float
    start: float


class Deployments:
    """Word counts of one group, started from staged jobs in turn; `host`: its name, or None for
    JVMs of their own; `environment`: of their drivers.
    """

    def __init__(
        self,
        data: Path,
        broker: str,
        jobs: list[Path],
        host: str | None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self._data, self._broker, self._jobs, self._host = data, broker, jobs, host
        self._environment = environment or {}
        self._launcher = LocalLauncher(data)

    def folder(self, number: int) -> Path:
        """Return the folder of a deployment."""
        return self._data / "deployments" / str(number)

    def start(self, number: int) -> None:
        """Start one and wait until it has committed a batch."""
        folder = self.folder(number)
        checkpoint = folder / "checkpoint"
        run = f"{number}-1"
        self._launcher.start(
            JobSpec(
                number, self._jobs[(number - 1) % len(self._jobs)], checkpoint,
                folder / "driver.log", run,
                (
                    "--bootstrap-servers", self._broker, "--checkpoint", str(checkpoint),
                    "--run", run,
                ),
                self._environment,
                host=self._host,
            )
        )  # fmt: skip

        deadline = time.monotonic() + START_SECONDS
        while not any(checkpoint.glob("stream*/commits/*")):
            if time.monotonic() > deadline:
                raise RuntimeError(self.log(number))
            time.sleep(0.1)

    def log(self, number: int) -> str:
        """Return a deployment's log."""
        with suppress(FileNotFoundError):
            return (self.folder(number) / "driver.log").read_text(errors="replace")
        return ""

    def processes(self) -> list[psutil.Process]:
        """Return the parents of all drivers: shims, or the host."""
        found = set()
        for note in self._data.glob("deployments/*/process.json"):
            found.add(json.loads(note.read_text(encoding="utf-8"))["shim"])
        return [psutil.Process(pid) for pid in found]

    def stop(self) -> None:
        """Stop all drivers, and wait for their parents."""
        parents = self.processes()
        for note in self._data.glob("deployments/*/process.json"):
            driver = self._launcher.find(note.parent)
            if driver is not None:
                self._launcher.ask_to_stop(driver)
        psutil.wait_procs(parents, 60)


def memory_of(roots: list[psutil.Process]) -> int:
    """Return the proportional set size of processes and of all their descendants."""
    family = {each for root in roots for each in (root, *root.children(recursive=True))}
    return sum(each.memory_full_info().pss for each in family)


@contextmanager
def load(address: str, topic: str) -> Iterator[None]:
    """Write lines to the topic that all deployments read."""
    ended = threading.Event()

    def write() -> None:
        producer = Producer({"bootstrap.servers": address})
        while not ended.wait(1 / RATE):
            producer.produce(topic, LINE)
            producer.poll(0)
        producer.flush(10)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


def used_by(group: Deployments, number: int, seconds: float, start: float) -> Figures:
    """Measure a group for some seconds."""
    roots = group.processes()
    before, since = processor_seconds(*roots), time.monotonic()
    time.sleep(seconds)
    used = (processor_seconds(*roots) - before) / (time.monotonic() - since)
    return Figures(number, memory_of(roots), used, start)


def measure(
    broker: str, job: Path, host: str | None, sizes: list[int], given: argparse.Namespace
) -> list[Figures]:
    """Start deployments one after the other, and measure at each of the sizes."""
    found = []
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        group = Deployments(Path(folder), broker, [job], host)
        try:
            for number in range(1, max(sizes) + 1):
                began = time.monotonic()
                group.start(number)
                took = time.monotonic() - began
                if number in sizes:
                    time.sleep(given.settle)
                    found.append(used_by(group, number, given.seconds, took))
        finally:
            group.stop()
    return found


def idle(broker: str, jobs: list[Path], given: argparse.Namespace) -> tuple[Figures, float]:
    """Measure deployments that sleep, each with topics of its own; also the seconds that the first
    takes to wake up.
    """
    count = len(jobs)
    producer = Producer({"bootstrap.servers": broker})
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        sleeping = {SLEEP: str(SLEEP_AFTER)}
        group = Deployments(Path(folder), broker, jobs, "idle", sleeping)
        try:
            began = time.monotonic()
            for number in range(1, count + 1):
                producer.produce(topics(number)[0], LINE)
                producer.flush(10)
                group.start(number)
            took = (time.monotonic() - began) / count
            deadline = time.monotonic() + ASLEEP
            for number in range(1, count + 1):
                while "asleep until" not in group.log(number):
                    if time.monotonic() > deadline:
                        raise RuntimeError(group.log(number))
                    time.sleep(0.1)
            time.sleep(CLOSED_SECONDS)
            found = used_by(group, count, given.seconds, took)
            return found, woken(broker, producer)
        finally:
            group.stop()


def woken(broker: str, producer: Producer) -> float:
    """Return the seconds from a line for the first deployment to its results."""
    source, sink = topics(1)
    reader = Consumer({"bootstrap.servers": broker, "group.id": "woken"})
    place = TopicPartition(sink, 0)
    before = reader.get_watermark_offsets(place, timeout=20)[1]
    producer.produce(source, LINE)
    producer.flush(10)
    began = time.monotonic()
    while reader.get_watermark_offsets(place, timeout=20)[1] == before:
        time.sleep(0.01)
    took = time.monotonic() - began
    reader.close()
    return took


def topics(number: int) -> tuple[str, str]:
    """Return the topics of a word count; those of 0 are shared."""
    return f"lines-{number}", f"counts-{number}"


def staged(analyzer: Analyzer, folder: Path, number: int, guarantee: str) -> Path:
    """Write the job of a word count to a folder."""
    source, sink = topics(number)
    document: Any = word_count()
    for each in document["nodes"]:
        if each["kind"] == "source.stream":
            each["params"]["topics"] = [source]
        if each["kind"] == "sink.topic":
            each["params"]["topic"] = sink
    document["topics"] = {name: {"partitions": 1} for name in (source, sink)}
    document["settings"] = {"processing_guarantee": guarantee}
    job = folder / f"job-{number}"
    stage(job, document, analyzer)
    return job


def stage(job: Path, document: Any, analyzer: Analyzer) -> None:
    """Write the job of a document to a folder, as a worker does."""
    files = bundle_files(compile_document(document, analyzer), places.RUNTIME, operator_jar())
    for path, content in files.items():
        (job / path).parent.mkdir(parents=True, exist_ok=True)
        (job / path).write_bytes(content)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="bench host")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1, 5, 10, 20])
    parser.add_argument("--own", type=int, default=2, help="deployments with their own JVM")
    parser.add_argument("--idle", type=int, default=0, help="deployments that sleep in a host")
    parser.add_argument("--seconds", type=float, default=30.0, help="measured time (30)")
    parser.add_argument("--settle", type=float, default=10.0, help="seconds before that (10)")
    parser.add_argument(
        "--guarantee", choices=("at_least_once", "exactly_once"), default="at_least_once"
    )
    given = parser.parse_args()
    os.environ.update(archive.with_options(archive.spark().use()))
    os.environ["PYTHONPATH"] = os.pathsep.join(places.PYTHON_PATH)
    rows: list[tuple[str, Figures]] = []
    with Broker() as broker, tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        with documents.analyzer() as analyzer:
            jobs = [
                staged(analyzer, Path(folder), number, given.guarantee)
                for number in range(given.idle + 1)
            ]
        admin = AdminClient({"bootstrap.servers": broker.address})
        names = [name for number in range(given.idle + 1) for name in topics(number)]
        for future in admin.create_topics([NewTopic(name, 1, 1) for name in names]).values():
            future.result()
        print(
            f"{'':16}{'deployments':>12}{'MB':>8}{'each':>8}{'cores':>8}{'each':>8}{'start s':>9}"
        )
        with load(broker.address, topics(0)[0]):
            if given.own:
                for each in measure(broker.address, jobs[0], None, [given.own], given):
                    show("own JVMs", each, rows)
            if given.sizes:
                for each in measure(broker.address, jobs[0], "bench", given.sizes, given):
                    show("one host", each, rows)
        if given.idle:
            figures, seconds = idle(broker.address, jobs[1:], given)
            show("one host, idle", figures, rows)
            print(f"first result of one that slept: after {seconds:.2f} s")
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0


def show(name: str, found: Figures, rows: list[tuple[str, Figures]]) -> None:
    """Print a row, with its ratios to the first if that has JVMs of their own."""
    rows.append((name, found))
    megabytes, cores = found.memory / 1e6 / found.deployments, found.cores / found.deployments
    ratio = ""
    if rows[0][0] == "own JVMs" and len(rows) > 1:
        own = rows[0][1]
        ratio = (
            f"   ratio {own.memory / 1e6 / own.deployments / megabytes:.1f}"
            f" / {own.cores / own.deployments / max(cores, 1e-6):.1f}"
        )
    print(
        f"{name:16}{found.deployments:12}{found.memory / 1e6:8.0f}{megabytes:8.0f}"
        f"{found.cores:8.3f}{cores:8.4f}{found.start:9.1f}{ratio}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
