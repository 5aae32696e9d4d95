"""Exceptions of Kafka's own producer as causes of a failure."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime.job.explaining import explain
from py4j.protocol import Py4JJavaError

from tests.runtime.changing import Changing

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


@pytest.mark.parametrize(
    ("reachable", "code"), [(True, "topic_missing"), (False, "broker_unreachable")]
)
def test_a_missing_topic_and_a_missing_broker_have_different_codes(
    changing: Changing, reachable: bool, code: str
) -> None:
    """Both end in a TimeoutException with the same message; only its cause differs."""
    jvm: Any = changing.spark._jvm
    clients = jvm.org.apache.kafka.clients.producer
    serializer = "org.apache.kafka.common.serialization.StringSerializer"
    producer = clients.KafkaProducer(
        {
            "bootstrap.servers": changing.address if reachable else "127.0.0.1:1",
            "key.serializer": serializer,
            "value.serializer": serializer,
            "max.block.ms": "3000",
        }
    )
    try:
        with pytest.raises(Py4JJavaError, match="not present in metadata") as caught:
            producer.send(clients.ProducerRecord("nowhere", "x")).get()
    finally:
        producer.close()
    assert explain(caught.value).code == code
