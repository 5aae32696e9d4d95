"""A broker that requires a login: the page's and the workers' clients use the same settings."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from millrace_backend.environment import read
from millrace_workers.cluster import KafkaTopics

from tests.conftest import CLIENT_VARIABLES
from tests.runtime import topics

from .conftest import Client, People

pytestmark = [pytest.mark.kafka]

WRONG = {
    **CLIENT_VARIABLES,
    "MILLRACE_KAFKA_sasl_jaas_config": CLIENT_VARIABLES["MILLRACE_KAFKA_sasl_jaas_config"].replace(
        "sesame", "wrong"
    ),
}
PASSWORD = "open=wrong"


@pytest.fixture
def topic(broker: Any, millrace_settings: Any) -> str:
    """A topic of the broker; the backend knows only the secured listener."""
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.secured
    name = f"s{uuid.uuid4().hex[:8]}"
    topics.create(broker.address, {name: 2})
    return name


def test_records_are_written_read_and_counted(
    client_of: Client, people: People, topic: str, millrace_settings: Any
) -> None:
    millrace_settings.KAFKA_CLIENTS = read(CLIENT_VARIABLES).kafka_clients
    client = client_of(people.operator)
    path = f"/api/workspaces/main/topics/{topic}/records"
    value = {"format": "string", "text": "here"}
    assert client.post(path, {"value": value}).status_code == 201
    (record,) = client.get(path).json()["records"]
    assert record["value"]["text"] == "here"
    found = client.get("/api/workspaces/main/topic-figures", {"search": topic}).json()
    (figures,) = found["results"]
    assert (figures["name"], figures["records"]) == (topic, 1)


def test_a_refused_login_is_told_apart_from_a_broker_that_is_away(
    client_of: Client, people: People, topic: str, millrace_settings: Any
) -> None:
    millrace_settings.KAFKA_CLIENTS = read(WRONG).kafka_clients
    client = client_of(people.operator)
    for response in (
        client.get("/api/workspaces/main/topic-figures"),
        client.get(f"/api/workspaces/main/topics/{topic}/records"),
    ):
        assert response.status_code == 503
        error = response.json()["error"]
        assert error["code"] == "kafka_login_failed"
        assert "Invalid username or password" in error["message"]
        assert PASSWORD not in response.content.decode()


def test_the_workers_find_topics_with_the_login_and_say_when_it_is_refused(
    broker: Any, topic: str
) -> None:
    there = KafkaTopics(broker.secured, read(CLIENT_VARIABLES).kafka_clients)
    assert there.ensure({topic: 1}, create=False) == {topic: 2}
    with pytest.raises(RuntimeError, match=r"denies Millrace access: .*Invalid username") as error:
        KafkaTopics(broker.secured, read(WRONG).kafka_clients).ensure({topic: 1}, create=False)
    assert PASSWORD not in str(error.value)
