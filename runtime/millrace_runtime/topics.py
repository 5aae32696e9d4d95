"""The topics of a job on the broker, looked at before anything runs."""

from __future__ import annotations

from typing import Any

from millrace_runtime.errors import MillraceError

PATIENCE_SECONDS = 30


def prepare(
    session: Any,
    client: dict[str, str],
    sources: tuple[str, ...],
    sinks: tuple[str, ...],
) -> dict[str, int]:
    """The number of partitions of each source topic; sink topics that are missing are created.

    A created topic has as many partitions as the broker gives by default. Raises MillraceError
    `topic_missing` for sources that are not there, since nothing would ever arrive from them.
    """
    jvm = session._jvm
    settings = jvm.java.util.Properties()
    for key, value in client.items():
        settings.put(key, value)
    settings.put("default.api.timeout.ms", str(PATIENCE_SECONDS * 1000))
    admin = jvm.org.apache.kafka.clients.admin.Admin.create(settings)
    try:
        found = {name: _partitions(jvm, admin, name) for name in {*sources, *sinks}}
        missing = sorted(name for name in sources if found[name] is None)
        if missing:
            raise MillraceError(
                "topic_missing",
                f"The broker has no topic {', '.join(missing)}, which the job reads. Create it, "
                "or mend its name in the topology.",
            )
        for name in sorted(name for name in sinks if found[name] is None):
            _create(jvm, admin, name)
        return {name: found[name] or 0 for name in sources}
    finally:
        admin.close()


def _partitions(jvm: Any, admin: Any, name: str) -> int | None:
    from py4j.protocol import Py4JJavaError

    names = jvm.java.util.Collections.singletonList(name)
    future = admin.describeTopics(names).topicNameValues().get(name)
    try:
        described = future.get(PATIENCE_SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS)
    except Py4JJavaError as error:
        if "UnknownTopicOrPartitionException" in str(error.java_exception.toString()):
            return None
        raise
    return int(described.partitions().size())


def _create(jvm: Any, admin: Any, name: str) -> None:
    from py4j.protocol import Py4JJavaError

    nothing = jvm.java.util.Optional.empty()
    topic = jvm.org.apache.kafka.clients.admin.NewTopic(name, nothing, nothing)
    made = admin.createTopics(jvm.java.util.Collections.singletonList(topic)).all()
    try:
        made.get(PATIENCE_SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS)
    except Py4JJavaError as error:
        # Another job may have been quicker.
        if "TopicExistsException" not in str(error.java_exception.toString()):
            raise
