"""A real broker for tests: one JVM on free ports, data in a scratch folder."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from tools import java
from tools.services import broker as embedded


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody uses now."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


class Broker:
    """A running broker; `with Broker() as broker:`."""

    def __init__(self) -> None:
        os.environ.update(java.environment())
        self._folder = tempfile.TemporaryDirectory(prefix="millrace-broker-")
        self.port, self._controller = free_ports(2)
        self.address = f"127.0.0.1:{self.port}"
        self._properties = embedded.configure(Path(self._folder.name), self.port, self._controller)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    def start(self) -> None:
        """Starts and waits until it answers."""
        folder = Path(self._folder.name)
        self._process = subprocess.Popen(
            [*embedded._java(folder, heap_mb=384), "kafka.Kafka", str(self._properties)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while not embedded.metadata_known(self.address):
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise RuntimeError("the broker did not start")
            time.sleep(0.2)

    def stop(self, *, kill: bool = False) -> None:
        """Stops it; data stay until the end of the block."""
        if self._process is not None:
            (self._process.kill if kill else self._process.terminate)()
            self._process.wait(timeout=30)
            self._process = None

    def create(self, **topics: int) -> None:
        """Creates topics with so many partitions; `_` in a name stands for `-`."""
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        made = [
            NewTopic(name.replace("_", "-"), partitions, 1, config={"retention.ms": "-1"})
            for name, partitions in topics.items()
        ]
        for future in admin.create_topics(made).values():
            future.result()

    def produce(self, topic: str, records: list[dict[str, Any]]) -> None:
        """Writes records: key, value (bytes or text), timestamp (ms), headers, partition."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.address, "partitioner": "murmur2_random"})
        for record in records:
            producer.produce(topic, **record)
        producer.flush(30)

    def consume(self, topic: str, count: int, *, seconds: float = 20) -> list[Any]:
        """The first records of a topic over all partitions, at least `count` or what came."""
        from confluent_kafka import Consumer

        consumer = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": f"test-{time.monotonic_ns()}",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        consumer.subscribe([topic])
        found: list[Any] = []
        deadline = time.monotonic() + seconds
        try:
            while len(found) < count and time.monotonic() < deadline:
                message = consumer.poll(0.2)
                if message is not None and message.error() is None:
                    found.append(message)
            quiet = time.monotonic() + 0.5
            while time.monotonic() < quiet:
                message = consumer.poll(0.1)
                if message is not None and message.error() is None:
                    found.append(message)
        finally:
            consumer.close()
        return found
