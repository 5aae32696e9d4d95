"""Topics of the cluster: partitions with offsets, configuration and consumer groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from accounts.models import Workspace
from accounts.topics import allows
from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    OffsetSpec,
)
from millrace_backend import kafka
from millrace_backend.errors import NotFound

#: names that Kafka accepts for topics
NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
#: maximum number of consumer groups whose committed offsets are requested
MOST_GROUPS = 200


@dataclass(frozen=True)
class Ends:
    """Offsets of a partition: of its first record, and after its last one."""

    earliest: int
    latest: int


def check_allowed(workspace: Workspace, topic: str) -> None:
    """Raise NotFound for a topic that the workspace may not use, as for one that does not exist."""
    if not NAME.fullmatch(topic) or not allows(workspace.topic_prefixes, topic):
        raise missing(topic)


def missing(topic: str) -> NotFound:
    """Return the error for a topic that does not exist."""
    return NotFound(
        "no_such_topic",
        f"There is no topic “{topic[:249]}” that this workspace may use.",
        "The page Topics lists the existing ones.",
    )


def described(topic: str) -> Any:
    """Return Kafka's description of a topic. Raises NotFound if it does not exist.

    The request never creates a topic.
    """
    asked = kafka.admin().describe_topics(
        TopicCollection([topic]), request_timeout=kafka.ANSWER_SECONDS
    )
    try:
        return kafka.answers(asked)[topic]
    except NotFound as error:
        raise missing(topic) from error


def ends_of(partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Ends]:
    """Return the first and last offsets of these topic-partitions for read-committed consumers."""
    places = list(partitions)
    earliest = _offsets(places, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
    latest = _offsets(places, OffsetSpec.latest())  # type: ignore[no-untyped-call]
    return {place: Ends(earliest[place], latest[place]) for place in places}


def offsets_at(topic: str, partitions: Iterable[int], timestamp: int) -> dict[int, int | None]:
    """Return the offset of the first record at or after the time (ms), or None, by partition."""
    found = _offsets([(topic, each) for each in partitions], OffsetSpec.for_timestamp(timestamp))
    return {number: None if at < 0 else at for (_, number), at in found.items()}


def _offsets(places: Sequence[tuple[str, int]], spec: OffsetSpec) -> dict[tuple[str, int], int]:
    if not places:
        return {}
    asked = {TopicPartition(*place): spec for place in places}
    answers = kafka.answers(
        kafka.admin().list_offsets(
            asked,
            isolation_level=IsolationLevel.READ_COMMITTED,
            request_timeout=kafka.ANSWER_SECONDS,
        )
    )
    return {(each.topic, each.partition): found.offset for each, found in answers.items()}


def figures(partitions: Mapping[str, int]) -> list[dict[str, object]]:
    """Return offsets and cleanup policy of topics (name to partition count), in their order."""
    ends = ends_of((name, each) for name, count in partitions.items() for each in range(count))
    policies = configurations(list(partitions))
    return [
        {
            "name": name,
            "partitions": count,
            "records": sum(
                ends[name, each].latest - ends[name, each].earliest for each in range(count)
            ),
            "cleanup_policy": policies[name]["cleanup.policy"].value,
        }
        for name, count in partitions.items()
    ]


def configurations(topics: Sequence[str]) -> dict[str, dict[str, ConfigEntry]]:
    """The configuration of each topic, by the settings' names."""
    if not topics:
        return {}
    asked = [ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics]
    answers = kafka.answers(
        kafka.admin().describe_configs(asked, request_timeout=kafka.ANSWER_SECONDS)
    )
    return {resource.name: entries for resource, entries in answers.items()}


def detail(topic: str) -> dict[str, object]:
    """Return the details of a topic, without its records."""
    found = described(topic)
    numbers = sorted(each.id for each in found.partitions)
    ends = ends_of((topic, each) for each in numbers)
    entries = configurations([topic])[topic]
    return {
        "name": topic,
        "cleanup_policy": entries["cleanup.policy"].value,
        "records": sum(each.latest - each.earliest for each in ends.values()),
        "partitions": [
            {
                "partition": each.id,
                "earliest": ends[topic, each.id].earliest,
                "latest": ends[topic, each.id].latest,
                "leader": None if each.leader is None else each.leader.id,
                "replicas": [node.id for node in each.replicas],
                "in_sync": [node.id for node in each.isr],
            }
            for each in sorted(found.partitions, key=lambda each: each.id)
        ],
        "configuration": [
            {
                "name": name,
                "value": None if entry.is_sensitive else entry.value,
                "own": ConfigSource(entry.source) == ConfigSource.DYNAMIC_TOPIC_CONFIG,
                "sensitive": bool(entry.is_sensitive),
            }
            for name, entry in sorted(entries.items())
        ],
    }


def groups(topic: str) -> dict[str, object]:
    """Return the consumer groups that committed offsets of a topic, with their lag.

    At most MOST_GROUPS groups of the cluster are queried; ``complete`` is false if there are more.
    """
    numbers = [each.id for each in described(topic).partitions]
    ends = ends_of((topic, each) for each in numbers)
    admin = kafka.admin()
    listed = kafka.answers(
        {"groups": admin.list_consumer_groups(request_timeout=kafka.ANSWER_SECONDS)}
    )["groups"].valid
    states = {each.group_id: each.state.name.lower() for each in listed}
    asked = sorted(states)[:MOST_GROUPS]
    futures: dict[str, Future[Any]] = {}
    for group in asked:
        request = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, n) for n in numbers])
        futures |= admin.list_consumer_group_offsets(
            [request], request_timeout=kafka.ANSWER_SECONDS
        )
    found = []
    for group, answer in kafka.answers(futures).items():
        places = [
            {
                "partition": each.partition,
                "committed": each.offset,
                "lag": max(ends[topic, each.partition].latest - each.offset, 0),
            }
            for each in sorted(answer.topic_partitions, key=lambda each: each.partition)
            if each.offset >= 0
        ]
        if places:
            lag = sum(place["lag"] for place in places)
            found.append({"group": group, "state": states[group], "lag": lag, "partitions": places})
    return {"groups": found, "complete": len(asked) == len(states)}
