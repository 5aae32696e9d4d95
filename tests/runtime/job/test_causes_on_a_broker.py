"""Exceptions of Kafka's own producer as causes of a failure."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any

import pytest
from millrace_runtime.job.explaining import explain
from millrace_runtime.kafka import topics
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


def test_a_slow_first_connection_to_a_broker_that_answers_is_waited_for(
    changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a busy machine: Kafka's client has no answer yet when a plain connection has one."""
    monkeypatch.setattr(topics, "ANSWER_SECONDS", 2)
    host, port = changing.address.rsplit(":", 1)
    held = threading.Event()
    asked: list[int] = []

    def pump(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)

    def forward(connection: socket.socket, number: int) -> None:
        with connection, socket.create_connection((host, int(port))) as there:
            if number == 0:
                held.wait(20)
            else:
                held.set()
            threading.Thread(target=pump, args=(there, connection), daemon=True).start()
            pump(connection, there)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                asked.append(len(asked))
                threading.Thread(target=forward, args=(connection, asked[-1]), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        client = {"bootstrap.servers": f"127.0.0.1:{server.getsockname()[1]}"}
        assert topics.prepare(changing.spark, client, (), ()) == {}
    # The client's connection was held until the plain one came.
    assert len(asked) == 2
