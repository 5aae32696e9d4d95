"""Parts of running deployments are killed (-9) at random: is each result there once, and in order?

    ./millrace bench kills -- --kills 40
    ./millrace bench kills -- --kills 40 --deployments 10 --shared

Exactly-once word counts with one source topic, started as a worker starts them, with a separate
broker. Once all of them process their records in stream threads, a part is killed within the next
seconds: a driver or its JVM, or also the keeper or the parent of a shared JVM. What has ended
starts again from its checkpoint. Meanwhile a reader of committed records checks that the counts of
each word arrive once and in order; at last, that none is missing. Exit code 1 if not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import struct
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from bench import host
from bench._broker import Broker
from cli import documents
from launcher import archive, places

IN_THREAD, STARTING = "processed in a stream thread", "INFO starting"
PATIENCE_SECONDS = 600.0
#: a kill comes so many seconds after all are in stream threads, at most
LATEST = 2.0


class Lines(threading.Thread):
    """Writes lines of random words at a rate until it is stopped, and counts their words."""

    def __init__(self, broker: str, topic: str, rate: float, seed: int) -> None:
        super().__init__(daemon=True)
        self._broker, self._topic, self._rate = broker, topic, rate
        self._random, self._ended = random.Random(seed), threading.Event()  # noqa: S311
        self.words: Counter[str] = Counter()

    def run(self) -> None:
        """Write until it is stopped."""
        producer = Producer({"bootstrap.servers": self._broker, "linger.ms": 0})
        while not self._ended.wait(1 / self._rate):
            words = [f"word-{self._random.randrange(50)}" for _ in range(3)]
            producer.produce(self._topic, " ".join(words))
            self.words.update(words)
            producer.poll(0)
        producer.flush(30)

    def stop(self) -> None:
        """Stop, when all lines are written."""
        self._ended.set()
        self.join()


class Counts:
    """The committed counts of one deployment, which must be 1, 2, 3 … for each word."""

    def __init__(self, broker: str, topic: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": broker, "group.id": topic, "enable.auto.commit": False,
                "isolation.level": "read_committed", "log_level": 0,
            }
        )  # fmt: skip
        self._consumer.assign([TopicPartition(topic, 0, 0)])
        self.words: Counter[str] = Counter()
        self.wrong: list[str] = []

    def read(self) -> None:
        """Read what has arrived."""
        while records := self._consumer.consume(1_000, 0.05):
            for each in records:
                word = (each.key() or b"").decode()
                (count,) = struct.unpack(">q", each.value() or b"")
                if count != self.words[word] + 1:
                    self.wrong.append(f"{word}: {count} after {self.words[word]}")
                self.words[word] = count


class Victims(host.Deployments):
    """Deployments that start again after they were killed."""

    def revive(self, numbers: range) -> None:
        """Start what does not run, and wait until all continue in stream threads."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        waiting = set(numbers)
        while waiting:
            for number in sorted(waiting):
                if not self.runs(number):
                    with suppress(OSError):  # the checkpoint is still locked
                        self.launch(number)
                elif IN_THREAD in self.log(number).rpartition(STARTING)[2]:
                    waiting.discard(number)
            if time.monotonic() > deadline:
                raise RuntimeError("\n".join(self.log(number) for number in waiting))
            time.sleep(0.1)

    def parts(self, numbers: range, *, shared: bool) -> dict[str, list[int]]:
        """Return the processes that may be killed, by kind."""
        notes = [
            json.loads((self.folder(number) / "process.json").read_text()) for number in numbers
        ]
        drivers = [note["pid"] for note in notes]
        if not shared:
            javas = [_java(psutil.Process(pid)) for pid in drivers]
            return {"driver": drivers, "JVM": [pid for pid in javas if pid]}
        (parent,) = {note["shim"] for note in notes}
        found = {"driver": drivers, "parent": [parent]}
        java = _java(psutil.Process(parent))
        if java:
            found |= {"JVM": [java], "keeper": [psutil.Process(java).ppid()]}
        return found


def _java(parent: psutil.Process) -> int | None:
    found = [each.pid for each in parent.children(recursive=True) if each.name() == "java"]
    return found[0] if found else None


def run(broker: str, given: argparse.Namespace, folder: Path) -> int:
    """Kill, and return the number of deployments whose results are wrong."""
    chance = random.Random(given.seed)  # noqa: S311
    numbers = range(1, given.deployments + 1)
    with documents.analyzer() as analyzer:
        jobs = [
            host.staged(analyzer, folder, number, "exactly_once", source=0) for number in numbers
        ]
    names = [host.topics(0)[0], *(host.topics(number)[1] for number in numbers)]
    admin = AdminClient({"bootstrap.servers": broker, "log_level": 0})
    for future in admin.create_topics([NewTopic(name, 1, 1) for name in names]).values():
        future.result()
    lines = Lines(broker, names[0], given.rate, given.seed)
    counts = [Counts(broker, name) for name in names[1:]]
    group = Victims(folder, broker, jobs, "kills" if given.shared else None)
    killed: Counter[str] = Counter()
    lines.start()
    began = time.monotonic()
    try:
        group.revive(numbers)
        began = time.monotonic()
        while killed.total() < given.kills and time.monotonic() < began + 60 * given.minutes:
            time.sleep(chance.uniform(0.0, LATEST))
            parts = group.parts(numbers, shared=given.shared)
            kind = chance.choice(["driver", *parts])
            with suppress(ProcessLookupError):
                os.kill(chance.choice(parts[kind]), signal.SIGKILL)
                killed[kind] += 1
            for each in counts:
                each.read()
            group.revive(numbers)
            wrong = sum(len(each.wrong) for each in counts)
            print(
                f"{killed.total():3} kills in {time.monotonic() - began:5.0f} s, last: {kind}; "
                f"{sum(each.words.total() for each in counts)} results, {wrong} wrong",
                flush=True,
            )
        lines.stop()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while any(each.words.total() < lines.words.total() for each in counts):
            for each in counts:
                each.read()
            if time.monotonic() > deadline:
                break
        time.sleep(2.0)
        for each in counts:
            each.read()
    finally:
        group.stop()
    failed = 0
    for number, each in zip(numbers, counts, strict=True):
        if each.wrong or each.words != lines.words:
            failed += 1
            print(f"deployment {number}: {each.wrong[:5]}, {each.words - lines.words} more, "
                  f"{lines.words - each.words} missing")  # fmt: skip
    print(
        f"{dict(killed)} in {time.monotonic() - began:.0f} s; {lines.words.total()} results of each"
        f" of {given.deployments} deployments; {failed} deployments with wrong results"
    )
    return failed


def main() -> int:
    """Print each kill and the outcome."""
    parser = argparse.ArgumentParser(prog="bench kills")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=30.0, help="for the kills at most (30)")
    parser.add_argument("--deployments", type=int, default=1)
    parser.add_argument("--shared", action="store_true", help="all in one JVM")
    parser.add_argument("--rate", type=float, default=50.0, help="lines a second (50)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    os.environ.update(archive.with_options(archive.spark().use()))
    os.environ["PYTHONPATH"] = os.pathsep.join(places.PYTHON_PATH)
    with Broker() as broker, tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
        failed = run(broker.address, given, Path(folder))
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
