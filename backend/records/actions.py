"""The only code that changes topics and writes records, for members of a workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User, Workspace
from accounts.permissions import require
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from deployments.models import CreatedTopic
from deployments.topic_users import uses_of_topic
from millrace_backend import kafka
from millrace_backend.errors import Conflict, NotFound

from records.choices import GeneratorState, RecordFormat
from records.codecs import encode
from records.encoding import bytes_of_texts
from records.models import Generator
from records.topics import check_allowed, described


def produce(
    actor: User, workspace: Workspace, topic: str, record: Mapping[str, Any]
) -> dict[str, int | None]:
    """Write a record, and return its partition and offset when the cluster has it.

    Without a partition, the key determines it, as in Kafka's own clients. Raises ApiError for text
    that is not valid in its format, NotFound for a topic or partition that does not exist,
    Unavailable while the simulator, which encodes Avro and Protobuf, is starting.
    """
    require(actor, workspace.pk, Role.OPERATOR)
    check_allowed(workspace, topic)
    parts = {part: record.get(part) for part in ("key", "value")}
    encoded = bytes_of_texts(actor, workspace, parts)
    headers = _headers(record.get("headers") or [])
    partitions = len(described(topic).partitions)
    partition = record.get("partition")
    if partition is not None and partition >= partitions:
        raise NotFound(
            "no_such_partition",
            f"{topic} has no partition {partition}.",
            f"It has {partitions}, counted from 0.",
            fields={"partition": ["There is no such partition."]},
        )
    written = _deliver(
        topic,
        **encoded,
        headers=headers,
        **({} if partition is None else {"partition": partition}),
        **({"timestamp": record["timestamp"]} if record.get("timestamp") is not None else {}),
    )
    place = {"partition": written.partition(), "offset": written.offset()}
    audit(actor, workspace.pk, "record.produce", "topic", None, name=topic, **place)
    return place


def delete_topic(
    actor: User, workspace: Workspace, topic: str, *, despite_unknown: bool = False
) -> None:
    """Delete a topic with its records.

    ``despite_unknown``: also if it is not known whether a deployment uses it. Raises NotFound if
    the topic does not exist, Conflict if a deployment or a generator of any workspace uses it.
    """
    require(actor, workspace.pk, Role.ADMIN)
    check_allowed(workspace, topic)
    described(topic)
    _refuse_used(workspace, topic, despite_unknown=despite_unknown)
    kafka.answers(
        kafka.admin().delete_topics(
            [topic], operation_timeout=kafka.ANSWER_SECONDS, request_timeout=kafka.ANSWER_SECONDS
        )
    )
    CreatedTopic.objects.filter(name=topic).delete()
    audit(actor, workspace.pk, "topic.delete", "topic", None, name=topic)


def _refuse_used(workspace: Workspace, topic: str, *, despite_unknown: bool) -> None:
    generator = Generator.objects.filter(state=GeneratorState.RUNNING, topic=topic).first()
    if generator is not None:
        user = "a generator"
        if generator.workspace_id != workspace.pk:
            user += " of another workspace"
        raise Conflict(
            "topic_generated",
            f"The topic {topic} is in use: {user} writes to it.",
            "Stop the generator first.",
        )
    for use in uses_of_topic(topic):
        if not use.certain and despite_unknown:
            continue
        own = use.deployment.workspace_id == workspace.pk
        name, how = use.deployment.topology.name, use.how
        user = f"“{name}” {how}" if own else "a deployment of another workspace uses it"
        # Of another workspace, neither the name nor the deployment is shown.
        known, deployment = (name, use.deployment.pk) if own else (None, None)
        if use.certain:
            raise Conflict(
                "topic_in_use",
                f"The topic {topic} is in use: {user}.",
                "Stop the deployment first.",
                user=known,
                deployment=deployment,
            )
        if not own:
            user = "a deployment of another workspace may use it"
        raise Conflict(
            "topic_use_unknown",
            f"It is not known whether the topic {topic} is in use: {user}.",
            "Stop the deployment first, or confirm with ?despite_unknown=true that it does not use "
            "this topic.",
            user=known,
            deployment=deployment,
        )


def _headers(headers: Sequence[Mapping[str, str]]) -> list[tuple[str, bytes]]:
    return [(each["key"], encode(each["text"], RecordFormat.STRING)) for each in headers]


def _deliver(topic: str, **record: Any) -> Message:
    """Write a record and wait for its acknowledgement."""
    producer = Producer(
        {
            **kafka.configuration(),
            "partitioner": "murmur2_random",
            "message.timeout.ms": int(kafka.ANSWER_SECONDS * 1000),
            "linger.ms": 0,
        }
    )
    answers: list[tuple[KafkaError | None, Message]] = []
    with kafka.failures():
        try:
            producer.produce(topic, on_delivery=lambda *answer: answers.append(answer), **record)
        except BufferError as error:
            raise TimeoutError("its queue is full") from error
        producer.flush(kafka.ANSWER_SECONDS + 1)
        if not answers:
            raise TimeoutError("no response in time")
        failed, message = answers[0]
        if failed is not None:
            raise KafkaException(failed)
    return message
