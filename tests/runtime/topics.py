"""Topics of a real broker, written and read by an independent client."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic  # type: ignore[attr-defined]


def create(address: str, topics: dict[str, int]) -> None:
    """Create topics with this many partitions, without time-based retention."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    made = [
        NewTopic(name, count, 1, config={"retention.ms": "-1"}) for name, count in topics.items()
    ]
    for future in admin.create_topics(made).values():
        future.result()


def grow(address: str, topic: str, partitions: int) -> None:
    """Add partitions to a topic and wait until the broker announces them."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    for future in admin.create_partitions([NewPartitions(topic, partitions)]).values():
        future.result()
    deadline = time.monotonic() + 30
    while len(admin.list_topics(topic, timeout=30).topics[topic].partitions) < partitions:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} did not get {partitions} partitions")
        time.sleep(0.05)


def produce(address: str, topic: str, records: list[dict[str, Any]]) -> None:
    """Write records: key, value (bytes or text), timestamp (ms), headers, partition."""
    producer = Producer({"bootstrap.servers": address, "partitioner": "murmur2_random"})
    for record in records:
        producer.produce(topic, **record)
        producer.poll(0)
    producer.flush(30)


def delete_before(address: str, topic: str, offset: int, partition: int = 0) -> None:
    """Delete the records of a partition before an offset, as retention does."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    place = TopicPartition(topic, partition, offset)
    for future in admin.delete_records([place]).values():
        future.result()


def delete(address: str, topic: str) -> None:
    """Delete a topic."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    for deleted in admin.delete_topics([topic], operation_timeout=30).values():
        deleted.result()


def _ends(reader: Consumer, partition: TopicPartition) -> tuple[int, int]:
    """Return the first and the next offset of a partition, which may not have a leader yet."""
    deadline = time.monotonic() + 30
    while True:
        try:
            found: tuple[int, int] = reader.get_watermark_offsets(partition, timeout=30)
            return found
        except KafkaException as error:
            waits = error.args[0].code() == KafkaError.NOT_LEADER_FOR_PARTITION
            if not waits or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def size(address: str, topic: str) -> int:
    """Return the number of records in a topic, over all partitions."""
    reader = Consumer({"bootstrap.servers": address, "group.id": "size", "log_level": 0})
    try:
        partitions = reader.list_topics(topic, timeout=30).topics[topic].partitions
        ends = (_ends(reader, TopicPartition(topic, each)) for each in partitions)
        return sum(high - low for low, high in ends)
    finally:
        reader.close()


def consume(address: str, topic: str, count: int, *, seconds: float = 30) -> list[Any]:
    """Return a topic's records: at least `count`, or those that arrived within `seconds`."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
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


def partitions(address: str, topic: str) -> int | None:
    """Return the number of partitions of a topic, or None if it does not exist."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    found = admin.list_topics(timeout=30).topics.get(topic)
    return None if found is None else len(found.partitions)
