"""Writes sentences to the topic `sentences`, some twenty a second, until it is stopped."""

from __future__ import annotations

import itertools
import os
import random
import signal
import sys
import time
from types import FrameType
from typing import Any

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from launcher.console import say

TOPIC = "sentences"
#: what the sample topology makes of it
COUNTS = "word-counts"
#: as in the sample topology
PARTITIONS = 2
#: a sample that runs for weeks must not fill the disk
KEPT = {"retention.ms": "86400000", "segment.ms": "3600000"}
PER_SECOND = 20.0
OPENINGS = ("the mill", "a river", "the old wheel", "every stream", "the miller", "one small drop")
VERBS = ("turns", "follows", "carries", "remembers", "counts", "grinds", "waits for")
OBJECTS = ("the grain", "the water", "a new day", "the stone", "its own way", "the rain", "the sea")
ENDINGS = (
    "",
    "again and again",
    "until the evening",
    "under the bridge",
    "without a sound",
    "清晨",
)
#: seconds between two tries to reach the broker
PAUSE = 1.0


class Generator:
    """A producer that goes on through outages of the broker."""

    def __init__(self, servers: str, seed: int | None = None) -> None:
        self.servers = servers
        self.random = random.Random(seed)  # noqa: S311  (sentences, no secrets)
        self.stopped = False
        self.written = 0

    def sentence(self) -> str:
        """One sentence of four to ten words."""
        parts = (self.random.choice(words) for words in (OPENINGS, VERBS, OBJECTS, ENDINGS))
        return " ".join(part for part in parts if part)

    def run(self) -> None:
        """Make the topics, then write until stopped."""
        settings: dict[str, Any] = {
            "bootstrap.servers": self.servers,
            "log_level": 0,
            "error_cb": lambda _error: None,
            "linger.ms": 20,
            # A record that could not be delivered for so long is old news.
            "message.timeout.ms": 30_000,
        }
        self._make_topics(settings)
        producer = Producer(settings)
        began = time.monotonic()
        for number in itertools.count():
            if self.stopped:
                break
            try:
                producer.produce(
                    TOPIC,
                    key=f"writer-{number % 8}".encode(),
                    value=self.sentence().encode(),
                    on_delivery=self._delivered,
                )
            except BufferError:
                # The broker is away and the queue is full: newer sentences wait.
                time.sleep(PAUSE)
            producer.poll(0)
            ahead = began + (number + 1) / PER_SECOND - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -5:
                # After a pause of the machine: no burst to catch up.
                began = time.monotonic() - (number + 1) / PER_SECOND
        producer.flush(5)

    def _make_topics(self, settings: dict[str, Any]) -> None:
        admin = AdminClient(dict(settings))
        while not self.stopped:
            try:
                there = admin.list_topics(timeout=5).topics
                absent = [name for name in (TOPIC, COUNTS) if name not in there]
                if absent:
                    new = [NewTopic(name, PARTITIONS, 1, config=KEPT) for name in absent]
                    for made in admin.create_topics(new, operation_timeout=5).values():
                        made.result(timeout=10)
            except KafkaException as error:
                say(f"sample: its topics could not be made: {error.args[0].str()}")
                time.sleep(PAUSE)
            else:
                return

    def _delivered(self, error: object, _message: object) -> None:
        if error is None:
            self.written += 1
            if self.written == 1:
                say("READY")


def main() -> int:
    """Write to KAFKA_BOOTSTRAP_SERVERS until TERM or INT."""
    generator = Generator(os.environ["KAFKA_BOOTSTRAP_SERVERS"])

    def stop(_number: int, _frame: FrameType | None) -> None:
        generator.stopped = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    generator.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
