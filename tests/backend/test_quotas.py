"""Every list that a member can make longer has a quota, which is a setting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from deployments.models import CreatedTopic
from django.core.exceptions import ImproperlyConfigured
from millrace_backend.quota_table import QUOTAS, read
from topologies.models import Draft, Topology, TopologyTest, Version, size_of

from .conftest import Client, People, document

SETTINGS = Path(__file__).parents[2] / "docs" / "settings.md"
LARGE = "x" * 700_000
TOPOLOGY = "/api/topologies/{topology}"
WORKSPACE = "/api/workspaces/main"


def large(**more: Any) -> Any:
    return document("a", "b", description=LARGE, **more)


TEST = {"name": "New", "inputs": [], "expected": {"dropped": 0}}
#: by quota: the limit, and the request that exceeds it, made by an admin of the workspace
REQUESTS: dict[str, tuple[int, str, str, Any]] = {
    "topologies": (1, "post", f"{WORKSPACE}/topologies", {"name": "New"}),
    "versions": (2, "post", f"{TOPOLOGY}/versions", {"document": document(), "base_version": 2}),
    "versions_mb": (0, "post", f"{TOPOLOGY}/versions", {"document": large(), "base_version": 2}),
    "drafts": (0, "put", f"{TOPOLOGY}/draft", {"document": document(), "base_version": 2}),
    "drafts_mb": (0, "put", f"{TOPOLOGY}/draft", {"document": large(), "base_version": 2}),
    "comments": (0, "post", f"{TOPOLOGY}/comments", {"node": "a", "text": "Why?"}),
    "tests": (0, "post", f"{TOPOLOGY}/tests", TEST),
    "tests_mb": (0, "post", f"{TOPOLOGY}/tests", {**TEST, "inputs": [{"value": LARGE}]}),
    "deployments": (0, "post", f"{WORKSPACE}/deployments", {"topology": 0, "version": 1}),
    "alert_rules": (0, "post", f"{WORKSPACE}/alert-rules", {"name": "R", "condition": "failed"}),
    "members": (4, "post", f"{WORKSPACE}/members", {"username": "new", "role": "viewer"}),
    "accounts": (4, "post", f"{WORKSPACE}/members", {"username": "new", "role": "viewer"}),
    "tokens": (0, "post", "/api/tokens", {"name": "ci"}),
}
#: those whose requests need a broker
BY_KAFKA = {"generators", "topics", "partitions"}


def test_every_quota_has_a_request_that_exceeds_it_and_is_in_the_docs() -> None:
    assert REQUESTS.keys() | BY_KAFKA == QUOTAS.keys()
    text = SETTINGS.read_text(encoding="utf-8")
    for quota in QUOTAS.values():
        assert f"| `{quota.setting}` | {quota.most:,} |" in text


@pytest.mark.parametrize("name", REQUESTS)
def test_a_quota_is_refused_clearly_and_admits_what_is_below(
    name: str, people: People, client_of: Client, topology: Topology, millrace_settings: Any
) -> None:
    limit, method, path, body = REQUESTS[name]
    client: Any = client_of(people.admin)
    path = path.format(topology=topology.pk)
    body = {**body, **({"topology": topology.pk} if "topology" in body else {})}
    millrace_settings.QUOTAS = {**millrace_settings.QUOTAS, name: limit}
    refused = getattr(client, method)(path, body)
    assert refused.status_code == 409, refused.content
    error = refused.json()["error"]
    assert (error["code"], error["quota"], error["limit"]) == ("quota_reached", name, limit)
    assert QUOTAS[name].things in error["message"]
    assert QUOTAS[name].setting in error["hint"]
    millrace_settings.QUOTAS = {**millrace_settings.QUOTAS, name: limit + 1}
    assert getattr(client, method)(path, body).status_code in {200, 201}


def test_what_is_replaced_or_deleted_makes_room(
    people: People, client_of: Client, topology: Topology, millrace_settings: Any
) -> None:
    client: Any = client_of(people.editor)
    millrace_settings.QUOTAS = {**millrace_settings.QUOTAS, "drafts_mb": 1, "tests_mb": 1}
    path = f"/api/topologies/{topology.pk}"
    body = {"document": large(), "base_version": 2}
    saved = client.put(f"{path}/draft", body)
    again = {**body, "document": large(name="again"), "revision": saved.json()["revision"]}
    assert client.put(f"{path}/draft", again).status_code == 200
    test = {**TEST, "inputs": [{"value": LARGE}]}
    made = client.post(f"{path}/tests", test)
    assert client.post(f"{path}/tests", {**test, "name": "Other"}).status_code == 409
    assert client.put(f"{path}/tests/{made.json()['id']}", test).status_code == 200
    assert client.delete(f"{path}/tests/{made.json()['id']}").status_code == 204
    assert client.post(f"{path}/tests", {**test, "name": "Other"}).status_code == 201


def test_sizes_are_those_of_the_stored_json(people: People, topology: Topology) -> None:
    version = Version.objects.get(topology=topology, number=2)
    assert version.size == size_of(version.document) > 50
    assert size_of({"a": "é"}) == len('{"a": "é"}'.encode())
    assert json.loads(json.dumps(version.document)) == version.document
    assert not Draft.objects.exists()
    assert not TopologyTest.objects.exists()


@pytest.mark.kafka
def test_topics_and_partitions_that_a_workspace_created_are_bounded(
    people: People, client_of: Client, topic: str, millrace_settings: Any
) -> None:
    client: Any = client_of(people.admin)
    path = f"{WORKSPACE}/topics"

    def create(name: str, partitions: int) -> Any:
        return client.post(path, {"topics": [{"name": name, "partitions": partitions}]})

    millrace_settings.QUOTAS = {**millrace_settings.QUOTAS, "topics": 1, "partitions": 3}
    assert create(topic, 3).status_code in {200, 201, 204}, "an existing topic is not created"
    refused = create(f"{topic}-a", 4)
    assert refused.status_code == 409
    assert refused.json()["error"]["quota"] == "partitions"
    assert create(f"{topic}-a", 3).status_code in {200, 201, 204}
    assert create(f"{topic}-b", 1).json()["error"]["quota"] == "topics"
    assert list(CreatedTopic.objects.values_list("name", "partitions")) == [(f"{topic}-a", 3)]
    assert client.delete(f"{path}/{topic}-a").status_code == 204
    assert create(f"{topic}-b", 1).status_code in {200, 201, 204}
    # A topic that somebody else deleted makes room too.
    CreatedTopic.objects.create(workspace=people.workspace, name=f"{topic}-gone", partitions=9)
    millrace_settings.QUOTAS = {**millrace_settings.QUOTAS, "topics": 2, "partitions": 5}
    assert create(f"{topic}-c", 1).status_code in {200, 201, 204}


def test_a_quota_that_is_no_number_is_named() -> None:
    assert read({})["topologies"] == QUOTAS["topologies"].most
    assert read({"MILLRACE_QUOTA_TOPOLOGIES": "7"})["topologies"] == 7
    for wrong in ("-1", "many", "1e9", "99999999999"):
        with pytest.raises(ImproperlyConfigured, match="MILLRACE_QUOTA_TOPOLOGIES"):
            read({"MILLRACE_QUOTA_TOPOLOGIES": wrong})
