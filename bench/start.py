"""The time until a deployment is running, by phase, and until a record is visible.

    ./millrace bench start -- --probes 20

Compiles a word count and starts its driver as a worker does, with a separate broker and Redis.
Prints the driver's phases until it reports that it is running, the first micro-batch, the time from
the broker's acknowledgement of a record to the report that counts it (the page shows it a few
milliseconds later), and the time to stop.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import redis
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from millrace_compiler import bundle_files, compile_document
from millrace_model.events import run_open
from millrace_runtime.jars import operator_jar

from bench._broker import Broker, free_ports
from bench._documents import word_count
from bench._table import Row, processor_seconds, show
from cli import documents
from launcher import places
from launcher.services import redis as embedded_redis

RUN_LIMIT = 10.0
SEEN_LIMIT = 1.0
PATIENCE_SECONDS = 600.0


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Run the embedded Redis on a free port; yield its URL."""
    password, port = secrets.token_urlsafe(12), free_ports(1)[0]
    settings = embedded_redis.configure(folder, port, password)
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    server = subprocess.Popen(
        [str(embedded_redis.binary()), str(settings)], stdout=subprocess.DEVNULL
    )
    try:
        while not embedded_redis.answers(url):
            time.sleep(0.05)
        yield url
    finally:
        server.terminate()
        server.wait(20)


class Driver:
    """A running driver and its reports."""

    def __init__(self, job: Path, broker: str, url: str, scratch: Path) -> None:
        self._redis = redis.Redis.from_url(url)
        self._redis.set(run_open("bench"), 1)  # a page looks: it is told at once what changes
        self._at = "0-0"
        self._log = (scratch / "driver.log").open("wb")
        self.process = subprocess.Popen(
            [
                sys.executable, str(job / "job.py"), "--bootstrap-servers", broker,
                "--checkpoint", str(scratch / "checkpoint"), "--run", "bench", "--report", url,
            ],
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
            stdout=self._log,
            stderr=self._log,
        )  # fmt: skip
        self._seen = psutil.Process(self.process.pid)

    def worked(self) -> float:
        """Return the CPU seconds used so far."""
        return processor_seconds(self._seen)

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield reports as they arrive. Raises RuntimeError when there are no more."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            found: Any = self._redis.xread({"millrace:run:bench": self._at}, block=200)
            for _, entries in found:
                for entry, fields in entries:
                    self._at = entry
                    yield json.loads(fields[b"event"])
        raise RuntimeError(f"the driver is silent; see {self._log.name}")

    def stop(self) -> None:
        """Stop the driver as a worker does."""
        self.process.terminate()
        self.process.wait(120)
        self._log.close()


def measure(job: Path, broker: str, url: str, scratch: Path, probes: int) -> list[Row]:
    """Measure the start, the latency of records, and the stop."""
    began = time.monotonic()
    driver = Driver(job, broker, url, scratch)
    rows = []
    try:
        for event in driver.events():
            took = time.monotonic() - began
            if event["event"] == "state" and event["state"] == "starting":
                rows.append(Row("Python until it reports", took, driver.worked()))
            elif event["event"] == "state" and event["state"] == "running":
                rows.append(Row("started until running", took, driver.worked(), RUN_LIMIT))
            elif event["event"] == "log" and str(event["message"]).startswith("started in"):
                parts = re.findall(r"(\w+) ([\d.]+)(?:,|$)", event["message"])
                rows[1:1] = [Row(f"  {name}", float(wall), 0.0) for name, wall in parts]
            elif event["event"] == "progress" and event["batch"] is not None:
                rows.append(Row("started until the first micro-batch", took, driver.worked()))
                break
        seen = [_probe(driver, broker, n) for n in range(probes)]
        if seen:
            rows.append(
                Row("record in to report out, median", statistics.median(seen), 0.0, SEEN_LIMIT)
            )
            rows.append(Row("record in to report out, worst", max(seen), 0.0))
    finally:
        began = time.monotonic()
        driver.stop()
    return [*rows, Row("asked to stop until gone", time.monotonic() - began, 0.0)]


def _probe(driver: Driver, broker: str, number: int) -> float:
    """Return the seconds from a record's acknowledgement to the report that counts it."""
    producer = Producer({"bootstrap.servers": broker, "linger.ms": 0, "log_level": 0})
    producer.produce("start-lines", f"word{number} again", "probe")
    producer.flush(30)
    began = time.monotonic()
    # One line was there at the start, and the source node emits one record per line.
    for event in driver.events():
        lines = event.get("nodes", {}).get("lines", {}) if event["event"] == "progress" else {}
        if lines.get("out", 0) >= number + 2:
            break
    return time.monotonic() - began


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probes", type=int, default=20)
    probes = parser.parse_args().probes
    document = word_count()
    document["topics"] = {"start-lines": {"partitions": 4}, "start-counts": {"partitions": 4}}
    with documents.analyzer() as analyzer:
        compilation = compile_document(document, analyzer)
    with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder, Broker() as broker:
        scratch = Path(folder)
        for path, content in bundle_files(compilation, places.RUNTIME, operator_jar()).items():
            target = scratch / "job" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0})
        for made in admin.create_topics(
            [NewTopic(name, 4, 1) for name in document["topics"]]
        ).values():
            made.result()
        producer = Producer({"bootstrap.servers": broker.address, "log_level": 0})
        producer.produce("start-lines", "the first line", "probe")
        producer.flush(30)
        with redis_server(scratch / "redis") as url:
            rows = measure(scratch / "job", broker.address, url, scratch, probes)
    show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
