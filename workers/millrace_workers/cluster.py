"""The Kafka cluster that deployments run against."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, TopicMetadata  # type: ignore[attr-defined]
from confluent_kafka.cimpl import NewTopic
from millrace_services.topics import listed

from millrace_workers.model import Cause, Failure, Rejected, Unanswered

ANSWER_SECONDS = 8.0
#: error codes of Kafka's client for an unreachable cluster; all others are refusals by the cluster
AWAY = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._RESOLVE,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_CONTROLLER,
        KafkaError.NETWORK_EXCEPTION,
    }
)


class KafkaTopics:
    """Looks up and creates topics through Kafka's admin API.

    `settings`: of the clients, under librdkafka's names.
    """

    def __init__(
        self, bootstrap_servers: str, settings: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._servers = bootstrap_servers
        self._not_let_in = ""
        self._config: Any = {
            **settings,
            "bootstrap.servers": bootstrap_servers,
            # librdkafka would print each refused connection itself; the error is raised instead.
            "log_level": 0,
            "error_cb": self._failed,
        }

    def _failed(self, error: KafkaError) -> None:
        if error.code() in (KafkaError._AUTHENTICATION, KafkaError._SSL):
            self._not_let_in = error.str()

    def ensure(self, needed: Mapping[str, int], create: bool) -> dict[str, int]:
        """Create missing topics if `create` is set; return the partition counts of existing ones.

        Raises Unanswered if the cluster does not respond, Rejected if it refuses.
        """
        admin = AdminClient(self._config)

        def existing() -> dict[str, TopicMetadata]:
            return admin.list_topics(timeout=ANSWER_SECONDS).topics

        try:
            there = existing()
            absent = [name for name in needed if name not in there]
            if create and absent:
                made = admin.create_topics(
                    [NewTopic(name, num_partitions=needed[name]) for name in absent],
                    operation_timeout=ANSWER_SECONDS,
                    request_timeout=ANSWER_SECONDS,
                )
                for future in made.values():
                    self._done(future.result)
                there = listed(existing, needed, ANSWER_SECONDS)
        except KafkaException as error:
            reason = error.args[0]
            text = reason.str() if isinstance(reason, KafkaError) else str(reason)
            if isinstance(reason, KafkaError) and reason.code() not in AWAY:
                message = f"Kafka at {self._servers} rejected the request: {text}."
                facts = {"servers": self._servers, "reason": text}
                raise Rejected(Failure("kafka_refused", message, facts=facts)) from error
            # The reason why a broker rejected the client arrives as a separate event.
            admin.poll(0)
            if self._not_let_in:
                message = (
                    f"Kafka at {self._servers} denies Millrace access: {self._not_let_in}. Check "
                    "the settings of Kafka clients (MILLRACE_KAFKA_…) of the workers."
                )
                facts = {"servers": self._servers, "reason": self._not_let_in}
                raise Rejected(Failure("kafka_login_failed", message, facts=facts)) from error
            message = f"Kafka at {self._servers} does not respond: {text}"
            facts = {"servers": self._servers, "reason": text}
            raise Unanswered(Cause("broker_unreachable", message, facts=facts)) from error
        return {
            name: len(there[name].partitions)
            for name in needed
            if name in there and there[name].partitions
        }

    @staticmethod
    def _done(result: object) -> None:
        try:
            result()  # type: ignore[operator]
        except KafkaException as error:
            # Another deployment created it in the meantime.
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
