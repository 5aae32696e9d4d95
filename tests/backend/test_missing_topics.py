"""Missing topics on a real broker: found before deploying, created on request."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource  # type: ignore[attr-defined]
from millrace_services.topics import listed
from topologies.models import Topology

from tests.runtime import topics

from .conftest import Client, People

pytestmark = [pytest.mark.kafka]


@pytest.fixture
def prefix(broker: Any, millrace_settings: Any) -> str:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    return f"t{uuid.uuid4().hex[:8]}-"


def save(topology: Topology, prefix: str) -> None:
    """Make version 1 read `orders` and the misspelled `ordrs`, and write `out`."""
    named = [f"{prefix}orders", f"{prefix}ordrs"]
    topology.versions.filter(number=1).update(
        document={
            "nodes": [
                {"id": "in", "kind": "source.stream", "params": {"topics": named}},
                {"id": "to", "kind": "sink.topic", "params": {"topic": f"{prefix}out"}},
            ],
            "topics": {f"{prefix}out": {"partitions": 5}},
        }
    )


def test_a_typing_error_in_a_topic_is_found_with_the_name_that_it_is_like(
    people: People, topology: Topology, client_of: Client, prefix: str, broker: Any
) -> None:
    topics.create(broker.address, {f"{prefix}orders": 3})
    save(topology, prefix)
    path = f"/api/topologies/{topology.pk}/versions/1/missing-topics"
    first, second = client_of(people.viewer).get(path).json()
    # Topics of other tests on the same broker may have names that are like this one, too.
    nearest, *_ = first.pop("nearest")
    assert nearest == f"{prefix}orders"
    assert first == {
        "name": f"{prefix}ordrs",
        "node": "in",
        "parameter": "topics",
        "partitions": 3,
    }
    assert (second["name"], second["node"], second["partitions"]) == (f"{prefix}out", "to", 5)


def test_topics_are_created_with_the_chosen_partitions_and_retention(
    people: People, topology: Topology, client_of: Client, prefix: str, broker: Any
) -> None:
    body = {
        "topics": [
            {"name": f"{prefix}kept", "partitions": 4, "retention_ms": -1},
            {"name": f"{prefix}usual", "partitions": 1},
        ]
    }
    refused = client_of(people.editor).post("/api/workspaces/main/topics", body)
    assert refused.status_code == 403
    client = client_of(people.operator)
    made = client.post("/api/workspaces/main/topics", body)
    assert made.status_code == 201
    assert {each["name"]: each["partitions"] for each in made.json()} == {
        f"{prefix}kept": 4,
        f"{prefix}usual": 1,
    }
    admin = AdminClient({"bootstrap.servers": broker.address})
    asked = ConfigResource(ConfigResource.Type.TOPIC, f"{prefix}kept")
    (found,) = admin.describe_configs([asked]).values()
    assert found.result()["retention.ms"].value == "-1"
    audit = client_of(people.admin).get("/api/workspaces/main/audit").json()["results"]
    assert [each["action"] for each in audit].count("topic.create") == 2


def test_a_new_topic_is_waited_for_until_the_broker_lists_it() -> None:
    answers = iter([{"old"}, {"old"}, {"old", "new"}])
    assert "new" in listed(lambda: next(answers), ["old", "new"], seconds=5.0)
    assert listed(lambda: {"old"}, ["never"], seconds=0.1) == {"old"}


def test_a_workspace_creates_no_topic_outside_of_its_prefixes(
    people: People, topology: Topology, client_of: Client, prefix: str
) -> None:
    topology.workspace.topic_prefixes = ["other-"]
    topology.workspace.save()
    body = {"topics": [{"name": f"{prefix}x", "partitions": 1}]}
    refused = client_of(people.operator).post("/api/workspaces/main/topics", body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "topic_not_allowed")
