"""Topics of the Kafka cluster, always read from the cluster itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, TypedDict

from accounts.topics import allows
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.cimpl import NewTopic
from millrace_backend import kafka
from millrace_backend.errors import Unavailable
from millrace_compiler.graphs.needs import topics_of
from millrace_model.documents import TopologyDocument
from millrace_services.topics import listed

#: number of similar names to suggest for a missing topic
NEAREST = 3


class TopicSize(TypedDict):
    """A topic of the cluster."""

    name: str
    partitions: int


def existing_topics() -> set[str]:
    """Return the names of all topics, also of those that a workspace may not use.

    Raises Unavailable if the cluster does not respond.
    """
    with kafka.failures():
        return set(kafka.admin().list_topics(timeout=kafka.ANSWER_SECONDS).topics)


def list_topics(prefixes: Sequence[str]) -> list[TopicSize]:
    """Return the topics that a workspace with these prefixes may use (`accounts.topics.allows`).

    Raises Unavailable if the cluster does not respond.
    """
    with kafka.failures():
        found = kafka.admin().list_topics(timeout=kafka.ANSWER_SECONDS).topics
    return [
        {"name": name, "partitions": len(topic.partitions)}
        for name, topic in sorted(found.items())
        if allows(prefixes, name)
    ]


def missing_topics(document: TopologyDocument, prefixes: Sequence[str]) -> list[dict[str, object]]:
    """Return the topics that a document names and the cluster lacks, each with similar names.

    Only topics with one of these prefixes are included. Raises Unavailable if the cluster does not
    respond.
    """
    there = {topic["name"]: topic["partitions"] for topic in list_topics(prefixes)}
    needs = topics_of(document)
    widest = max((there[need.topic] for need in needs if need.topic in there), default=1)
    return [
        {
            "name": need.topic,
            "node": need.node,
            "parameter": need.parameter,
            "partitions": need.partitions if need.assumed else widest,
            "nearest": get_close_matches(need.topic, there, n=NEAREST),
        }
        for need in needs
        if need.topic not in there and allows(prefixes, need.topic)
    ]


def create_missing(
    needed: Mapping[str, int], retention_ms: Mapping[str, int] | None = None
) -> list[str]:
    """Create the missing topics (name to partitions), and return the names of those created.

    Those who then list the cluster's topics find them. ``retention_ms``: by name; the default is
    that of the broker, -1 keeps records without limit.
    Raises Unavailable if the cluster does not respond or refuses.
    """
    kept = retention_ms or {}
    with kafka.failures():
        admin = kafka.admin()
        there = admin.list_topics(timeout=kafka.ANSWER_SECONDS).topics
        absent = [name for name in needed if name not in there]
        if absent:
            made = admin.create_topics(
                [
                    NewTopic(
                        name,
                        num_partitions=needed[name],
                        config={"retention.ms": str(kept[name])} if name in kept else {},
                    )
                    for name in absent
                ],
                operation_timeout=kafka.ANSWER_SECONDS,
                request_timeout=kafka.ANSWER_SECONDS,
            )
            created = [name for name, future in made.items() if _created(future)]
            with suppress(Unavailable):  # they exist, whether the broker lists them or not
                listed(existing_topics, absent, kafka.ANSWER_SECONDS)
            return created
    return []


def _created(future: Any) -> bool:
    """Return whether the topic was created here, and not by another client in the meantime."""
    try:
        future.result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
        return False
    return True
