"""Writing sentences and reading counts with confluent-kafka, as any other program would."""

from __future__ import annotations

import struct
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic


@dataclass(frozen=True)
class Sentence:
    """A record to write; a value of None is null."""

    partition: int
    timestamp: int
    value: str | None
    key: str | None = None


def create_topic(servers: str, topic: str, partitions: int) -> None:
    """Create a topic and wait until it exists."""
    admin = AdminClient({"bootstrap.servers": servers})
    for made in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        made.result(30)


def write(servers: str, topic: str, sentences: Iterable[Sentence]) -> None:
    """Write records in order, each to its partition with its timestamp (milliseconds)."""
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for each in sentences:
        producer.produce(
            topic,
            value=None if each.value is None else each.value.encode(),
            key=None if each.key is None else each.key.encode(),
            partition=each.partition,
            timestamp=each.timestamp,
        )
    assert producer.flush(30) == 0


def words(sentences: Iterable[Sentence]) -> Counter[str]:
    """Count how often each word occurs."""
    return Counter(
        word for each in sentences for word in (each.value or "").lower().split(" ") if word
    )


@dataclass
class Counts:
    """Checks updates as they arrive: a repeated one is allowed, a wrong one is not."""

    highest: dict[str, int] = field(default_factory=dict)
    updates: int = 0

    def add(self, word: str, count: int) -> None:
        """Check and store the next update of a word."""
        before = self.highest.get(word, 0)
        assert 1 <= count <= before + 1, f"{word!r} went from {before} to {count}"
        self.highest[word] = max(before, count)
        self.updates += 1


class CountReader:
    """Reads the topic of counts from its beginning, or from its current end."""

    def __init__(self, servers: str, topic: str, *, from_end: bool = False) -> None:
        self.consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": f"journey-{time.monotonic_ns()}",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                # Without this, an open reader logs many errors when the system stops.
                "log_level": 2,
            }
        )
        partitions = self.consumer.list_topics(topic, 30).topics[topic].partitions
        places = [TopicPartition(topic, number) for number in partitions]
        for place in places:
            low, high = self.consumer.get_watermark_offsets(place, 30)
            place.offset = high if from_end else low
        self.consumer.assign(places)
        self.counts = Counts()

    def until(self, done: Callable[[Counts], bool], seconds: float) -> Counts:
        """Read until the condition holds for the counts; fail with the counts after `seconds`."""
        deadline = time.monotonic() + seconds
        while not done(self.counts):
            assert time.monotonic() < deadline, f"only {self.counts} came"
            message: Message | None = self.consumer.poll(0.5)
            if message is not None:
                assert message.error() is None, message.error()
                key, value = message.key(), message.value()
                assert key is not None
                assert value is not None
                self.counts.add(_text(key), struct.unpack(">q", value)[0])
        return self.counts

    def until_counted(self, expected: Counter[str], seconds: float) -> Counts:
        """Read until every word has its count."""
        found = self.until(lambda counts: counts.highest == dict(expected), seconds)
        assert found.updates >= expected.total()
        return found

    def close(self) -> None:
        """Close the consumer."""
        self.consumer.close()


def _text(key: str | bytes) -> str:
    return key if isinstance(key, str) else key.decode()
