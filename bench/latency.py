"""The latency from a record's producer to a consumer of its result, beside Kafka Streams.

    ./millrace bench latency -- --rate 1000 --seconds 20
    ./millrace bench latency -- --only micro-batches --guarantee exactly_once --rounds 3
    ./millrace bench latency -- --guarantee exactly_once --trigger "100 milliseconds"

A value per key with four partitions, Kafka to Kafka, on one broker: in a stream thread, as
deployments with few records do, in micro-batches, in real time, and as a Kafka Streams application,
with both guarantees, with and without a repartition. The consumer reads committed records only.
Each record is written separately; its value is its number.
Beside milliseconds, the table shows the processor time of the engine, which depends less on what
else the machine does: cores, microseconds for a record, milliseconds for a micro-batch.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from millrace_runtime import Topology, columns, string
from millrace_runtime.analyzer.compiling import compiled, session_analyzer
from millrace_runtime.job.job import Job
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.session import session
from pyspark.sql.streaming.query import StreamingQuery

from bench._broker import Broker
from bench._table import processor_seconds
from cli import oracle

PARTITIONS = 4
KEYS = 100
SYSTEMS = ("kafka streams", "stream thread", "micro-batches", "real time")
GUARANTEES: tuple[Literal["at_least_once", "exactly_once"], ...] = ("at_least_once", "exactly_once")
PATIENCE_SECONDS = 120.0
AT_ONCE = "0 seconds"


@dataclass(frozen=True)
class Way:
    """A way of running: the system, its guarantee, and whether records are repartitioned first."""

    system: str
    guarantee: Literal["at_least_once", "exactly_once"]
    repartition: bool


@dataclass(frozen=True)
class Figures:
    """What a way of running costs: ms of each record, CPU seconds, seconds, micro-batches."""

    took: list[float]
    processor: float
    seconds: float
    batches: int | None

    def __str__(self) -> str:
        cuts = statistics.quantiles(self.took, n=100)
        each = "" if not self.batches else f"{self.processor / self.batches * 1e3:10.1f}"
        return (
            f"{cuts[49]:8.0f}{cuts[98]:8.0f}{max(self.took):8.0f}"
            f"{self.processor / self.seconds:8.3f}{self.processor / len(self.took) * 1e6:10.0f}"
            f"{each}"
        )


def ways(given: argparse.Namespace) -> Iterator[Way]:
    """Return the chosen ways of running; real time has no exactly once."""
    for repartition, guarantee, system in itertools.product((False, True), GUARANTEES, SYSTEMS):
        chosen = given.only in (None, system) and given.guarantee in (None, guarantee)
        chosen &= given.repartition in (None, "yes" if repartition else "no")
        if chosen and (system, guarantee) != ("real time", "exactly_once"):
            yield Way(system, guarantee, repartition)


def latest(source: str, target: str, way: Way) -> Topology:
    """Aggregate each key's records to the latest value."""
    topology = Topology(
        "latency", partitions={source: PARTITIONS}, processing_guarantee=way.guarantee
    )
    records = topology.stream(source, key=string(), value=string())
    grouped = records.group_by("key") if way.repartition else records.group_by_key()
    aggregated = grouped.aggregate("STRING", initializer="''", aggregator="value")
    aggregated.to(target, key=string(), value=string())
    return topology


@contextmanager
def on_spark(
    address: str, topics: tuple[str, str], way: Way, given: argparse.Namespace
) -> Iterator[tuple[psutil.Process, Callable[[], int]]]:
    """Run the topology; give the engine's process, and the number of its last micro-batch."""
    run = uuid.uuid4().hex
    real_time = way.system == "real time"
    own = session.create(
        "millrace-bench",
        # Tasks of real time keep their slots: two levels with a task for each partition.
        master="local[16]" if real_time else "local[*]",
        settings={
            "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
            **session.CHECKPOINTS,
            **(session.REAL_TIME if real_time else {}),
        },
    )
    kafka = Kafka(own, address, run=run, real_time=real_time)
    document = latest(*topics, way).document()
    graph = compiled(document, session_analyzer(own)).require_task_graph()
    job = Job(own, kafka, graph, name="latency", run=run, updates=True)
    own.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
    plan = job.query()
    checkpoint = tempfile.mkdtemp(prefix="millrace-bench-")
    trigger = {"realTime": given.batch} if real_time else {"processingTime": given.trigger}
    writer = plan.rows.writeStream.outputMode("update").option("checkpointLocation", checkpoint)
    query = kafka.into(writer.trigger(**trigger), plan.graph, job.settings).start()
    if not real_time and given.trigger == AT_ONCE:
        columns.gateway().Pacing.start(query._jsq)
    running = [query]
    if way.system == "stream thread":
        threading.Thread(target=continue_in_thread, args=(running, job, kafka)).start()
    jvm: Any = own._jvm
    java = psutil.Process(jvm.java.lang.ProcessHandle.current().pid())
    try:
        yield java, lambda: int((running[-1].lastProgress or {"batchId": 0})["batchId"])
    finally:
        running[-1].stop()
        columns.gateway().StreamTasks.release(run)
        own.stop()
        shutil.rmtree(Path(checkpoint), ignore_errors=True)


def continue_in_thread(running: list[Any], job: Job, kafka: Kafka) -> None:
    """Continue a query in a stream thread once it gets few records, as a driver does."""
    scala, query = columns.gateway(), running[0]
    while not scala.Pacing.calm(query._jsq):
        time.sleep(0.1)
    while query.status["isTriggerActive"]:
        time.sleep(0.005)
    query.stop()
    readings, client = json.dumps(job.readings), json.dumps(kafka.client)
    running.append(StreamingQuery(scala.StreamThread.start(query._jsq, readings, client, None)))


@contextmanager
def on_kafka_streams(
    address: str, topics: tuple[str, str], way: Way, seconds: float
) -> Iterator[tuple[psutil.Process, Callable[[], int]]]:
    """Run the same document as a Kafka Streams application with two threads."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "document.json"
        path.write_text(json.dumps(latest(*topics, way).document()), encoding="utf-8")
        asked = oracle.command(
            "app", str(path), "--bootstrap-servers", address, "--threads", "2",
            "--seconds", str(seconds), scratch=scratch,
        )  # fmt: skip
        with subprocess.Popen(asked, stdout=subprocess.DEVNULL) as process:
            try:
                yield psutil.Process(process.pid), lambda: 0
            finally:
                process.terminate()
                process.wait(30)


class Load:
    """Records that are written at a rate, and read again as results."""

    def __init__(self, address: str, topics: tuple[str, str], rate: float, total: int) -> None:
        self._address, self._source, self._target = address, *topics
        self._rate, self._total = rate, total
        self.sent, self.arrived = [0.0] * total, [0.0] * total
        self._deadline = time.monotonic() + PATIENCE_SECONDS + total / rate
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._producer = Producer({"bootstrap.servers": address, "linger.ms": 0})

    def _read(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._address, "group.id": self._target,
                "auto.offset.reset": "earliest", "isolation.level": "read_committed",
                "fetch.wait.max.ms": 5, "log_level": 0,
            }
        )  # fmt: skip
        consumer.subscribe([self._target])
        seen = 0
        while seen < self._total and time.monotonic() < self._deadline:
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                number = int(str(message.value(), "ascii"))  # type: ignore[arg-type]
                seen += self.arrived[number] == 0.0
                self.arrived[number] = self.arrived[number] or time.perf_counter()
        consumer.close()

    def write(self, first: int, end: int) -> None:
        """Write records at the rate."""
        began = time.perf_counter()
        for number in range(first, end):
            due = began + (number - first) / self._rate
            while (now := time.perf_counter()) < due:
                time.sleep(due - now)
            self.sent[number] = time.perf_counter()
            self._producer.produce(self._source, key=f"key-{number % KEYS}", value=str(number))
            self._producer.poll(0)

    def first(self) -> None:
        """Write one record and wait for its result: the query has started then."""
        self.write(0, 1)
        self._producer.flush(30)
        while not self.arrived[0]:
            if time.monotonic() > self._deadline:
                raise SystemExit("nothing came out")
            time.sleep(0.05)

    def finish(self) -> None:
        """Wait until all results were read."""
        self._producer.flush(30)
        self._reader.join()
        missing = self.arrived.count(0.0)
        if missing:
            raise SystemExit(f"{missing} of {self._total} records did not come out")


def measure(address: str, way: Way, given: argparse.Namespace) -> Figures:
    """Run one way, and measure it after it has been running for a while."""
    topics = (f"in-{uuid.uuid4().hex}", f"out-{uuid.uuid4().hex}")
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    made = [NewTopic(n, PARTITIONS, 1, config={"retention.ms": "-1"}) for n in topics]
    for future in admin.create_topics(made).values():
        future.result()
    warm, measured = int(given.rate * given.warm) + 1, int(given.rate * given.seconds)
    running = (
        on_kafka_streams(address, topics, way, 10 * PATIENCE_SECONDS)
        if way.system == "kafka streams"
        else on_spark(address, topics, way, given)
    )
    with running as (process, batch):
        load = Load(address, topics, given.rate, warm + measured)
        load.first()
        load.write(1, warm)
        began, at, used = time.monotonic(), batch(), processor_seconds(process)
        load.write(warm, warm + measured)
        used, seconds = processor_seconds(process) - used, time.monotonic() - began
        batches = batch() - at
        load.finish()
    pairs = zip(load.sent[warm:], load.arrived[warm:], strict=True)
    return Figures([1_000 * (b - a) for a, b in pairs], used, seconds, batches or None)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="bench latency")
    parser.add_argument("--rate", type=float, default=1_000, help="records a second (1000)")
    parser.add_argument("--seconds", type=float, default=20, help="measured time of each (20)")
    parser.add_argument("--warm", type=float, default=20, help="seconds before that (20)")
    parser.add_argument("--rounds", type=int, default=1, help="of all, in turns (1)")
    parser.add_argument("--only", choices=SYSTEMS)
    parser.add_argument("--guarantee", choices=GUARANTEES)
    parser.add_argument("--repartition", choices=("yes", "no"))
    parser.add_argument("--batch", default="60 seconds", help="a batch of real time (60 seconds)")
    parser.add_argument(
        "--trigger", default=AT_ONCE, help="interval of micro-batches (none, with pauses)"
    )
    given = parser.parse_args()
    print(
        f"{'':46}{'p50 ms':>8}{'p99 ms':>8}{'most':>8}{'cores':>8}{'µs/record':>10}{'ms/batch':>10}"
    )
    with Broker() as broker:
        for _ in range(given.rounds):
            for way in ways(given):
                place = "repartition" if way.repartition else "no repartition"
                name = f"{way.system}, {way.guarantee.replace('_', ' ')}, {place}"
                print(f"{name:46}{measure(broker.address, way, given)}", flush=True)
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
