"""The Kafka cluster, asked live."""

from __future__ import annotations

from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from django.conf import settings
from millrace_backend.errors import Unavailable

ANSWER_SECONDS = 5.0


def list_topics() -> list[dict[str, Any]]:
    """Every topic but Kafka's own. Raises Unavailable where the cluster does not answer."""
    try:
        found = _admin().list_topics(timeout=ANSWER_SECONDS).topics
    except KafkaException as error:
        raise _unreachable(error) from error
    return [
        {"name": name, "partitions": len(topic.partitions)}
        for name, topic in sorted(found.items())
        if not name.startswith("__")
    ]


def create_missing(needed: dict[str, int]) -> list[str]:
    """Create the topics (name to partitions) that are not there; the names of those created.

    Raises Unavailable where the cluster does not answer or refuses.
    """
    try:
        admin = _admin()
        there = admin.list_topics(timeout=ANSWER_SECONDS).topics
        absent = [name for name in needed if name not in there]
        if absent:
            made = admin.create_topics(
                [NewTopic(name, num_partitions=needed[name]) for name in absent],
                operation_timeout=ANSWER_SECONDS,
                request_timeout=ANSWER_SECONDS,
            )
            for future in made.values():
                _wait(future)
    except KafkaException as error:
        raise _unreachable(error) from error
    return absent


def _wait(future: Any) -> None:
    try:
        future.result()
    except KafkaException as error:
        # Somebody else created it in the meantime.
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise


def _admin() -> AdminClient:
    configuration: dict[str, Any] = {
        "bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS,
        # librdkafka would print each refused connection itself; the error is raised instead.
        "log_level": 0,
        "error_cb": lambda _error: None,
        "socket.timeout.ms": int(ANSWER_SECONDS * 1000),
    }
    return AdminClient(configuration)


def _unreachable(error: KafkaException) -> Unavailable:
    reason = error.args[0]
    text = reason.str() if isinstance(reason, KafkaError) else str(reason)
    return Unavailable(
        "kafka_unreachable",
        f"Kafka at {settings.KAFKA_BOOTSTRAP_SERVERS} does not answer: {text}",
        "Check that the broker runs and that KAFKA_BOOTSTRAP_SERVERS names it.",
    )
