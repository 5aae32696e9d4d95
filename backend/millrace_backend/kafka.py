"""Clients of the Kafka cluster, with bounded waits and readable errors.

The process has one admin client and a few consumers. The consumers join no group and commit
nothing, so reading leaves no trace on the cluster.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from django.conf import settings

from millrace_backend.errors import ApiError, NotFound, TooMany, Unavailable
from millrace_backend.turns import Busy, Turns, current_owner

ANSWER_SECONDS = 5.0
#: size of the pool of consumers, and seconds for which a request waits for one
READERS, WAIT_SECONDS = 4, 5.0
#: seconds for which numbers of partitions are kept, and if the broker did not respond; the seconds
#: for which a compilation waits for them
KNOWN_SECONDS, UNKNOWN_SECONDS, KNOWN_WAIT_SECONDS = 5.0, 30.0, 0.5
#: required by the client; no offsets are stored under it
GROUP = "millrace-page"

#: address of the cluster, and settings of its clients
Cluster = tuple[str, frozenset[tuple[str, str]]]
K = TypeVar("K")
V = TypeVar("V")

_DENIED = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}
_NOT_LET_IN = {KafkaError._AUTHENTICATION, KafkaError._SSL}
_REFUSED = {
    KafkaError.POLICY_VIOLATION,
    KafkaError.INVALID_CONFIG,
    KafkaError.INVALID_REQUEST,
    KafkaError.TOPIC_EXCEPTION,
    KafkaError.INVALID_PARTITIONS,
    KafkaError.TOPIC_DELETION_DISABLED,
    KafkaError.MSG_SIZE_TOO_LARGE,
}


def configuration() -> dict[str, Any]:
    """Return the settings that all clients share."""
    return {
        **settings.KAFKA_CLIENTS,
        "bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS,
        # librdkafka would print each refused connection itself; the error is raised instead.
        "log_level": 0,
        "error_cb": _connections.failed,
        "socket.timeout.ms": int(ANSWER_SECONDS * 1000),
        "reconnect.backoff.max.ms": 1_000,
    }


class _Partitions:
    """The numbers of partitions by topic. A broker that does not respond delays nobody for long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cluster = ""
        self._found: dict[str, int] = {}
        self._until = 0.0
        self._asking: Future[None] | None = None

    def known(self) -> dict[str, int]:
        """Return them as of the last seconds; empty as long as the broker has not responded."""
        with self._lock:
            cluster = str(settings.KAFKA_BOOTSTRAP_SERVERS)
            if cluster != self._cluster:
                self._cluster, self._found, self._until, self._asking = cluster, {}, 0.0, None
            if self._asking is None and time.monotonic() >= self._until:
                self._asking = Future()
                threading.Thread(
                    target=self._ask, args=(cluster, self._asking), daemon=True
                ).start()
            asking = self._asking
        if asking is not None:
            with suppress(TimeoutError):
                asking.result(KNOWN_WAIT_SECONDS)
        return self._found

    def _ask(self, cluster: str, asking: Future[None]) -> None:
        found: dict[str, int] = {}
        kept = UNKNOWN_SECONDS
        try:
            topics = admin().list_topics(timeout=ANSWER_SECONDS).topics
            found = {name: len(topic.partitions) for name, topic in topics.items()}
            kept = KNOWN_SECONDS
        except KafkaException:
            pass  # unknown: plans say which numbers are assumed
        finally:
            with self._lock:
                if cluster == self._cluster:
                    self._found, self._asking = found, None
                    self._until = time.monotonic() + kept
            asking.set_result(None)


_partitions = _Partitions()


def known_partitions() -> dict[str, int]:
    """Return the number of partitions by topic, as far as it is known within a moment."""
    return _partitions.known()


def address() -> dict[str, str]:
    """Return what clients need to know to connect to the cluster, without credentials."""
    return {
        "bootstrap_servers": settings.KAFKA_BOOTSTRAP_SERVERS,
        "security_protocol": settings.KAFKA_CLIENTS.get("security.protocol", "PLAINTEXT").upper(),
    }


class _Connections:
    """The latest failure of authentication or TLS among the clients of this process.

    A request of such a client fails as if there were no broker; only an event has the reason.
    """

    def __init__(self) -> None:
        self._failed: tuple[float, str] | None = None

    def failed(self, error: KafkaError) -> None:
        """Handle an error event of any client."""
        if error.code() in _NOT_LET_IN:
            self._failed = (time.monotonic(), error.str())

    def reason(self) -> str | None:
        """Return the recent reason, if there is one, for a request that has just failed."""
        admin().poll(0)
        if self._failed is None or time.monotonic() - self._failed[0] > 2 * ANSWER_SECONDS:
            return None
        return self._failed[1]


_connections = _Connections()


def admin() -> AdminClient:
    """The admin client of this process."""
    return _admin(_cluster())


@lru_cache(maxsize=2)
def _admin(_of: Cluster) -> AdminClient:
    return AdminClient(configuration())


def _cluster() -> Cluster:
    return (settings.KAFKA_BOOTSTRAP_SERVERS, frozenset(settings.KAFKA_CLIENTS.items()))


def answers(futures: Mapping[K, Future[V]]) -> dict[K, V]:
    """Return the results of an admin client's request, by key.

    Raises the ApiError of :func:`failure`.
    """
    until = time.monotonic() + ANSWER_SECONDS
    with failures():
        return {
            asked: future.result(max(until - time.monotonic(), 0.01) + 0.5)
            for asked, future in futures.items()
        }


@contextmanager
def failures() -> Iterator[None]:
    """Convert errors of Kafka clients to ApiErrors."""
    try:
        yield
    except (KafkaException, TimeoutError) as error:
        raise failure(error) from error


def failure(error: KafkaException | TimeoutError) -> ApiError:
    """Return Unavailable if the cluster does not respond, else an error with its response."""
    reason = error.args[0] if error.args else None
    text = reason.str() if isinstance(reason, KafkaError) else str(reason or "no response in time")
    code = reason.code() if isinstance(reason, KafkaError) else None
    if code == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return NotFound("no_such_topic", "The cluster has no such topic or partition.")
    if code in _DENIED:
        return ApiError(
            "kafka_denied",
            f"Kafka denied this request: {text}",
            "The cluster's ACLs do not permit it. Ask its administrator.",
            reason=text,
        )
    if code in _REFUSED:
        return ApiError("kafka_refused", f"Kafka rejected this request: {text}", reason=text)
    reason_of_broker = _connections.reason()
    # After a broker hung, its client may keep failing; the next request gets a new client.
    _admin.cache_clear()
    if reason_of_broker is not None:
        return Unavailable(
            "kafka_login_failed",
            f"Kafka at {settings.KAFKA_BOOTSTRAP_SERVERS} denies Millrace access: "
            f"{reason_of_broker}",
            "Check the settings of Kafka clients, MILLRACE_KAFKA_…, of the server.",
            servers=settings.KAFKA_BOOTSTRAP_SERVERS,
            reason=reason_of_broker,
        )
    return Unavailable(
        "kafka_unreachable",
        f"Kafka at {settings.KAFKA_BOOTSTRAP_SERVERS} does not respond: {text}",
        "Check that the broker is running, that KAFKA_BOOTSTRAP_SERVERS has its address, and that "
        "the settings of Kafka clients (MILLRACE_KAFKA_…) are those that it requires.",
        servers=settings.KAFKA_BOOTSTRAP_SERVERS,
        reason=text,
    )


class Readers:
    """A pool of at most ``most`` consumers, which people share."""

    def __init__(self, most: int) -> None:
        self._places = Turns(most)
        self._idle: list[tuple[Cluster, Consumer]] = []
        self._lock = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[Consumer]:
        """Yield a consumer without an assignment; close it if its use fails.

        Raises TooMany if the person of the request gets none within ``WAIT_SECONDS``.
        """
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._places.place(current_owner.get(), WAIT_SECONDS))
            except Busy as busy:
                raise _too_many(busy) from None
            consumer = self._take()
            try:
                yield consumer
                consumer.unassign()
            except BaseException:
                consumer.close()
                raise
            with self._lock:
                self._idle.append((_cluster(), consumer))

    def _take(self) -> Consumer:
        with self._lock:
            if self._idle:
                cluster, consumer = self._idle.pop()
                if cluster == _cluster():
                    return consumer
                consumer.close()
        return Consumer(
            {
                **configuration(),
                "group.id": GROUP,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
                # The end of a partition is detected by an empty fetch, which should be short.
                "fetch.wait.max.ms": 50,
                # Prefetched records are usually thrown away, so few are prefetched.
                "queued.min.messages": 1_000,
                "queued.max.messages.kbytes": 16 * 1024,
            }
        )


def _too_many(busy: Busy) -> TooMany:
    if busy.own:
        return TooMany(
            "readers_busy",
            "You are already reading as many topics as one person can at a time.",
            "Wait until one of these requests is done.",
        )
    return TooMany(
        "readers_busy",
        "Too many people are reading topics at this moment.",
        "Try again in a few seconds.",
    )


readers = Readers(READERS)
