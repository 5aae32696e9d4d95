"""Memory and processor time of small deployments that share a JVM, and of the same with their own.

    ./millrace bench host -- --sizes 1 5 10 --own 5 --seconds 30

Word counts with 20 lines a second each, started as a worker starts them, with a separate broker.
The first row has deployments with JVMs of their own (`--own`), the others deployments of one host.
Memory is the proportional set size of drivers, JVMs and their parents: pages that processes share
count once. `ratio` compares a deployment with one of the first row.
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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from millrace_compiler import bundle_files, compile_document
from millrace_runtime.jars import operator_jar
from millrace_workers.launchers import JobSpec, LocalLauncher

from bench._broker import Broker
from bench._documents import word_count
from bench._table import processor_seconds
from cli import documents
from launcher import archive, places

RATE = 20
START_SECONDS = 300.0
#: seconds in which the JVM compiles what it needs, before measuring
SETTLE_SECONDS = 10.0


@dataclass(frozen=True)
class Figures:
    """What some deployments used together, in bytes and in cores."""

    deployments: int
    memory: int
    cores: float
    start: float


class Deployments:
    """Word counts of one group; `host`: its name, or None for JVMs of their own."""

    def __init__(self, data: Path, broker: str, job: Path, host: str | None) -> None:
        self._data, self._broker, self._job, self._host = data, broker, job, host
        self._launcher = LocalLauncher(data)

    def start(self, number: int) -> None:
        """Start one and wait until it has committed a batch."""
        folder = self._data / "deployments" / str(number)
        checkpoint = folder / "checkpoint"
        self._launcher.start(
            JobSpec(
                number, self._job, checkpoint, folder / "driver.log", f"{number}-1",
                (
                    "--bootstrap-servers", self._broker, "--checkpoint", str(checkpoint),
                    "--run", f"{number}-1",
                ),
                host=self._host,
            )
        )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not any(checkpoint.glob("stream*/commits/*")):
            if time.monotonic() > deadline:
                raise RuntimeError((folder / "driver.log").read_text()[-2000:])
            time.sleep(0.1)

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
            producer.produce(topic, b"to be or not to be")
            producer.poll(0)
        producer.flush(10)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


def measure(
    broker: str, job: Path, host: str | None, sizes: list[int], seconds: float
) -> list[Figures]:
    """Start deployments one after the other, and measure at each of the sizes."""
    found = []
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        group = Deployments(Path(folder), broker, job, host)
        try:
            for number in range(1, max(sizes) + 1):
                began = time.monotonic()
                group.start(number)
                took = time.monotonic() - began
                if number not in sizes:
                    continue
                time.sleep(SETTLE_SECONDS)
                roots = group.processes()
                before, since = processor_seconds(*roots), time.monotonic()
                time.sleep(seconds)
                used = (processor_seconds(*roots) - before) / (time.monotonic() - since)
                found.append(Figures(number, memory_of(roots), used, took))
        finally:
            group.stop()
    return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="bench host")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 5, 10, 20])
    parser.add_argument("--own", type=int, default=2, help="deployments with their own JVM")
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    os.environ.update(archive.with_options(archive.spark().use()))
    os.environ["PYTHONPATH"] = os.pathsep.join(places.PYTHON_PATH)
    with Broker() as broker, tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        document = word_count()
        document["topics"] = {name: {"partitions": 1} for name in ("start-lines", "start-counts")}
        job = Path(folder) / "job"
        with documents.analyzer() as analyzer:
            compilation = compile_document(document, analyzer)
        for path, content in bundle_files(compilation, places.RUNTIME, operator_jar()).items():
            (job / path).parent.mkdir(parents=True, exist_ok=True)
            (job / path).write_bytes(content)
        names = ("start-lines", "start-counts")
        admin = AdminClient({"bootstrap.servers": broker.address})
        for future in admin.create_topics([NewTopic(name, 1, 1) for name in names]).values():
            future.result()
        with load(broker.address, names[0]):
            own = measure(broker.address, job, None, [arguments.own], arguments.seconds)[0]
            shared = measure(broker.address, job, "bench", arguments.sizes, arguments.seconds)
    print(f"{'':16}{'deployments':>12}{'MB':>8}{'each':>8}{'cores':>8}{'each':>8}{'start s':>9}")
    for name, each in (("own JVMs", own), *(("one host", each) for each in shared)):
        megabytes = each.memory / 1e6
        print(
            f"{name:16}{each.deployments:12}{megabytes:8.0f}{megabytes / each.deployments:8.0f}"
            f"{each.cores:8.2f}{each.cores / each.deployments:8.3f}{each.start:9.1f}"
            f"   ratio {own.memory / own.deployments / (each.memory / each.deployments):.1f}"
            f" / {own.cores / own.deployments / (each.cores / each.deployments):.1f}"
        )
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
