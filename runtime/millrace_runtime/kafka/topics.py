"""The topics of a job on the broker, checked before anything runs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from millrace_runtime.errors import MillraceError
from millrace_runtime.kafka.reaching import ANSWER_SECONDS, require_reachable, unreachable
from millrace_runtime.session.java_exceptions import is_caused_by

PATIENCE_SECONDS = 30
#: how long Kafka's client may take to connect to a broker that answers
CONNECT_SECONDS = 20
#: the part of the seconds for an answer in which the broker is asked without the client
_ASKING_SECONDS = 1


def prepare(
    session: Any,
    client: dict[str, str],
    sources: tuple[str, ...],
    sinks: tuple[str, ...],
    reader_of: Callable[[str], str | None] = lambda topic: None,
) -> dict[str, int]:
    """Return the number of partitions of each source topic, and create missing sink topics.

    A created topic has the broker's default number of partitions. Raises MillraceError
    `topic_missing` for missing source topics, from which nothing would ever arrive, at the node
    that `reader_of` returns for the first of them, and `broker_unreachable` for a broker that does
    not respond.
    """
    jvm = session._jvm
    with _admin(jvm, client) as admin:
        _require_answer(jvm, admin, client)
        found = {name: _partitions(jvm, admin, name) for name in {*sources, *sinks}}
        missing = sorted(name for name in sources if found[name] is None)
        if missing:
            raise MillraceError(
                "topic_missing",
                f"The broker has no topic {', '.join(missing)}, which the job reads. Create it, "
                "or correct its name in the topology.",
                node=reader_of(missing[0]),
                facts={"topic": ", ".join(missing)},
            )
        for name in sorted(name for name in sinks if found[name] is None):
            _create(jvm, admin, name)
        return {name: found[name] or 0 for name in sources}


def matching(session: Any, client: dict[str, str], pattern: str) -> dict[str, int]:
    """Return the topics whose full names match a Java pattern, with their partition counts."""
    jvm = session._jvm
    with _admin(jvm, client) as admin:
        names = (
            admin.listTopics()
            .names()
            .get(PATIENCE_SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS)
        )
        named = [str(name) for name in names if jvm.java.util.regex.Pattern.matches(pattern, name)]
        return {name: _partitions(jvm, admin, name) or 0 for name in named}


def identities(session: Any, client: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the id of each existing topic; a topic that is deleted and recreated gets another."""
    jvm = session._jvm
    with _admin(jvm, client) as admin:
        described = {name: _described(jvm, admin, name) for name in names}
    return {name: str(found.topicId()) for name, found in described.items() if found is not None}


def ends(session: Any, client: dict[str, str], names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the end offset of each partition of some topics."""
    found = ranges(session, client, names)
    return {
        name: {number: end for number, (_, end) in held.items()} for name, held in found.items()
    }


def ranges(
    session: Any, client: Mapping[str, str], names: Sequence[str]
) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the earliest and the end offset of each partition of some topics."""
    from millrace_runtime import columns

    jvm = session._jvm
    with _admin(jvm, client) as admin:
        counts = {name: _partitions(jvm, admin, name) or 0 for name in names}
    places = [[name, number] for name, count in counts.items() for number in range(count)]
    asked = columns.gateway().TopicOffsets(json.dumps(dict(client)))
    try:
        found: dict[str, dict[str, tuple[int, int]]] = {}
        for name, number, first, end in json.loads(asked.of(json.dumps(places))):
            found.setdefault(name, {})[str(number)] = (first, end)
        return found
    finally:
        asked.close()


def at_time(
    session: Any,
    client: dict[str, str],
    places: Mapping[str, Mapping[str, object]],
    time_ms: int,
) -> dict[str, dict[str, int]]:
    """Return, for each partition, the first offset with this timestamp or a later one.

    `places`: topics and partitions (only the keys are used). Partitions without such a record are
    omitted.
    """
    jvm = session._jvm
    asked = {
        (name, number): jvm.org.apache.kafka.common.TopicPartition(name, int(number))
        for name, partitions in places.items()
        for number in partitions
    }
    found: dict[str, dict[str, int]] = {name: {} for name in places}
    specs = jvm.java.util.HashMap()
    for place in asked.values():
        specs.put(place, jvm.org.apache.kafka.clients.admin.OffsetSpec.forTimestamp(time_ms))
    with _admin(jvm, client) as admin:
        results = admin.listOffsets(specs)
        for (name, number), place in asked.items():
            future = results.partitionResult(place)
            answer = future.get(PATIENCE_SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS)
            if answer.offset() >= 0:
                found[name][number] = int(answer.offset())
    return found


@contextlib.contextmanager
def _admin(jvm: Any, client: Mapping[str, str]) -> Iterator[Any]:
    settings = jvm.java.util.Properties()
    for key, value in client.items():
        settings.put(key, value)
    settings.put("default.api.timeout.ms", str(PATIENCE_SECONDS * 1000))
    admin = jvm.org.apache.kafka.clients.admin.Admin.create(settings)
    try:
        yield admin
    finally:
        # Without a timeout it would wait for requests that the broker does not answer.
        admin.close(jvm.java.time.Duration.ofMillis(0))


def _require_answer(jvm: Any, admin: Any, client: Mapping[str, str]) -> None:
    """Wait for the broker. Raises MillraceError `broker_unreachable` if it does not respond.

    A client that has just been loaded on a busy machine takes longer than a broker that answers, so
    the broker is asked without it before it is given up.
    """
    servers = client["bootstrap.servers"]
    nodes = admin.describeCluster().nodes()
    if _answers(jvm, nodes, ANSWER_SECONDS - _ASKING_SECONDS):
        return
    try:
        require_reachable(servers, client.get("security.protocol"), seconds=_ASKING_SECONDS)
    except MillraceError:
        raise unreachable(servers) from None
    if not _answers(jvm, nodes, CONNECT_SECONDS - ANSWER_SECONDS):
        raise unreachable(servers, CONNECT_SECONDS)


def _answers(jvm: Any, future: Any, seconds: int) -> bool:
    from py4j.protocol import Py4JJavaError

    try:
        future.get(seconds, jvm.java.util.concurrent.TimeUnit.SECONDS)
    except Py4JJavaError as error:
        if not is_caused_by(error, "TimeoutException"):
            raise
        return False
    return True


def _partitions(jvm: Any, admin: Any, name: str) -> int | None:
    described = _described(jvm, admin, name)
    return None if described is None else int(described.partitions().size())


def _described(jvm: Any, admin: Any, name: str) -> Any:
    from py4j.protocol import Py4JJavaError

    names = jvm.java.util.Collections.singletonList(name)
    future = admin.describeTopics(names).topicNameValues().get(name)
    try:
        return future.get(PATIENCE_SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS)
    except Py4JJavaError as error:
        if is_caused_by(error, "UnknownTopicOrPartitionException"):
            return None
        raise


def _create(jvm: Any, admin: Any, name: str) -> None:
    from py4j.protocol import Py4JJavaError

    nothing = jvm.java.util.Optional.empty()
    topic = jvm.org.apache.kafka.clients.admin.NewTopic(name, nothing, nothing)
    made = admin.createTopics(jvm.java.util.Collections.singletonList(topic)).all()
    try:
        made.get(PATIENCE_SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS)
    except Py4JJavaError as error:
        # Another job may have created it meanwhile.
        if not is_caused_by(error, "TopicExistsException"):
            raise
