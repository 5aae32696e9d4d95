"""The load of `chaos` and `kills`: purchases that are written, and their counts."""

from __future__ import annotations

import random
import struct
import threading
import time
from collections import Counter
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from bench._documents import chain, document, node

SOURCE, SINK = "chaos-purchases", "chaos-counts"
PARTITIONS, ITEMS = 4, 500
#: maximum seconds until the system has recovered from a fault
PATIENCE_SECONDS = 240.0
WINDOW_START = 1_767_225_600_000


def counting(*, checked: bool = False, sink: str = SINK) -> dict[str, Any]:
    """Return a document that counts purchases per item and hour; `checked` adds a step."""
    text = {"format": "string"}
    nodes = [
        node("purchases", "source.stream", topics=[SOURCE], key=text, value=text),
        *([node("checked", "filter", predicate="value <> ''")] if checked else []),
        node("by-item", "select_key", key="value"),
        node("count", "count", window={"type": "tumbling", "size": "1 hour", "grace": "1 day"}),
        node("updates", "to_stream"),
        node("named", "map", key="key.key", value="value"),
        node("out", "sink.topic", topic=sink),
    ]
    made = document("chaos", nodes, chain(*(each["id"] for each in nodes)))
    made["topics"] = {name: {"partitions": PARTITIONS} for name in (SOURCE, sink)}
    made["settings"] = {"processing_guarantee": "exactly_once"}
    return made


class Writer(threading.Thread):
    """Writes purchases at a rate until it is stopped, also during outages of the broker."""

    def __init__(self, servers: str, rate: int, seed: int) -> None:
        super().__init__(name="writer", daemon=True)
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "message.timeout.ms": 0,
                "linger.ms": 20,
                "log_level": 0,
            }
        )
        self._rate, self._random = rate, random.Random(seed)  # noqa: S311
        self._ended = threading.Event()
        #: acknowledged purchases, by item
        self.written: Counter[str] = Counter()
        self.total = 0

    def run(self) -> None:
        """Write at the rate; purchases that could not be written in time are written later."""
        began, asked = time.monotonic(), 0
        while not self._ended.is_set():
            while asked < (time.monotonic() - began) * self._rate and not self._ended.is_set():
                item = f"item-{self._random.randrange(ITEMS)}"
                try:
                    self._producer.produce(
                        SOURCE, item, f"c{asked % 97}", on_delivery=self._done,
                        timestamp=WINDOW_START + asked % 3_600_000,
                    )  # fmt: skip
                except BufferError:
                    self._producer.poll(0.1)
                    continue
                asked += 1
            self._producer.poll(0.01)
        while self._producer.flush(5) > 0:
            pass

    def _done(self, error: Any, message: Any) -> None:
        if error is not None:
            raise RuntimeError(f"a purchase was not written: {error}")
        self.written[message.value().decode()] += 1
        self.total += 1

    def stop(self) -> None:
        """Stop writing, and wait until the broker has all purchases."""
        self._ended.set()
        self.join(PATIENCE_SECONDS)


class Reader(threading.Thread):
    """Reads committed counts: those of each item must be 1, 2, 3 …"""

    def __init__(self, servers: str, topic: str = SINK) -> None:
        super().__init__(name="reader", daemon=True)
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "chaos",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(topic, n, 0) for n in range(PARTITIONS)])
        self._ended = threading.Event()
        self.counts: Counter[str] = Counter()
        self.total = 0
        self.wrong: list[str] = []
        self.heard = time.monotonic()
        #: longest time without a record since it was last reset
        self.gap = 0.0

    def run(self) -> None:
        """Read until it is stopped."""
        while not self._ended.is_set():
            for message in self._consumer.consume(1_000, 0.2):
                if message.error() is not None:
                    continue  # the broker cannot be reached
                key, value = message.key(), message.value()
                if key is None or value is None:
                    raise RuntimeError("a count without an item")
                item = key.decode()
                count = struct.unpack(">q", value)[0]
                if count != self.counts[item] + 1:
                    place = f"{message.partition()}@{message.offset()}"
                    self.wrong.append(f"{item}: {count} after {self.counts[item]} at {place}")
                self.counts[item] = count
                self.total += 1
                now = time.monotonic()
                self.gap = max(self.gap, now - self.heard)
                self.heard = now

    def stop(self) -> None:
        """Stop reading."""
        self._ended.set()
        self.join(30)
        self._consumer.close()
