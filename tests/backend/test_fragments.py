"""Fragments of a workspace: lists, uses, and what is refused while they are used."""

from __future__ import annotations

from typing import Any

import pytest
from accounts.models import AuditEntry
from topologies import actions
from topologies.environments import document_in
from topologies.models import FragmentUse, Topology
from topologies.topics import refusals

from .conftest import Client, People, document


def definition(predicate: str = "true") -> Any:
    nodes = [
        {"id": "in", "kind": "fragment.input", "params": {"role": "stream", "value": "STRING"}},
        {"id": "keep", "kind": "filter", "params": {"predicate": predicate}},
        {"id": "out", "kind": "fragment.output", "params": {}},
    ]
    edges = [{"source": "in", "target": "keep"}, {"source": "keep", "target": "out"}]
    parameters = {"low": {"type": "number", "default": 1}}
    return {"nodes": nodes, "edges": edges, "parameters": parameters}


def using(*versions: int, name: str = "Clean") -> Any:
    params = {"fragment": f"{name}@{versions[0]}"}
    return document(
        nodes=[
            {"id": "orders", "kind": "source.stream", "params": {"topics": ["shop-orders"]}},
            {"id": "clean", "kind": "fragment", "params": params},
        ],
        edges=[{"source": "orders", "target": "clean"}],
        fragments={f"{name}@{number}": definition() for number in versions},
    )


@pytest.fixture
def fragment(people: People) -> Topology:
    """The fragment “Clean” of the workspace ``main`` with one version."""
    return actions.create_topology(
        people.editor, people.workspace, "Clean", document(**definition()), fragment=True
    )


def test_a_fragment_is_in_the_list_of_fragments_alone(people: People, client_of: Client) -> None:
    client = client_of(people.editor)
    body = {"name": "Clean", "document": document(**definition()), "fragment": True}
    made = client.post("/api/workspaces/main/topologies", body)
    assert (made.status_code, made.json()["is_fragment"]) == (201, True)
    assert client.get("/api/workspaces/main/topologies").json()["results"] == []
    assert AuditEntry.objects.get(action="topology.create").detail["fragment"] is True
    for number in range(3):
        more = {"name": f"Other {number}", "fragment": True}
        assert client.post("/api/workspaces/main/topologies", more).status_code == 201
    found = client.get("/api/workspaces/main/fragments?search=cle").json()["results"]
    assert [(each["name"], each["latest_version"], each["users"]) for each in found] == [
        ("Clean", 1, 0)
    ]
    assert found[0]["interface"] == {
        "inputs": [{"name": "in", "role": "stream", "key": None, "value": "STRING"}],
        "outputs": ["out"],
        "parameters": ["low"],
    }
    page = client.get("/api/workspaces/main/fragments?page_size=2&ordering=name").json()
    assert [each["name"] for each in page["results"]] == ["Clean", "Other 0"]
    assert page["results"][1]["interface"] == {"inputs": [], "outputs": [], "parameters": []}
    refused = client.post("/api/workspaces/main/topologies", {**body, "template": "word-count"})
    assert refused.status_code == 400


def test_who_uses_a_fragment_follows_the_newest_version(
    people: People, fragment: Topology, client_of: Client
) -> None:
    user = actions.create_topology(people.editor, people.workspace, "Orders", using(1, 2))
    client = client_of(people.viewer)
    path = f"/api/topologies/{fragment.pk}/users"
    assert client.get(path).json() == [
        {"topology": user.pk, "name": "Orders", "is_fragment": False, "versions": [1, 2]}
    ]
    [row] = client.get("/api/workspaces/main/fragments").json()["results"]
    assert row["users"] == 1
    actions.save_version(people.editor, user, document("a"), "", 1)
    assert client.get(path).json() == []
    # A name that is no fragment of the workspace is noted nowhere.
    actions.save_version(people.editor, user, using(1, name="Elsewhere"), "", 2)
    assert not FragmentUse.objects.exists()


def test_a_fragment_that_is_used_is_deleted_on_demand_and_not_renamed(
    people: People, fragment: Topology, client_of: Client
) -> None:
    user = actions.create_topology(people.editor, people.workspace, "Orders", using(1))
    client, path = client_of(people.editor), f"/api/topologies/{fragment.pk}"
    for refused in (client.delete(path), client.patch(path, {"name": "Tidy"})):
        assert refused.status_code == 409
        assert refused.json()["error"]["code"] == "fragment_used"
        assert "Orders" in refused.json()["error"]["message"]
    assert client.patch(path, {"description": "Keeps what is whole."}).status_code == 200
    assert client.delete(f"{path}?used=true").status_code == 204
    # The topology contains what it uses.
    node = document_in(user.versions.get().document, None)["nodes"][1]
    assert (node["id"], node["kind"]) == ("clean--keep", "filter")


def test_a_fragment_is_not_deployed(people: People, fragment: Topology, client_of: Client) -> None:
    body = {"topology": fragment.pk, "version": 1}
    refused = client_of(people.operator).post("/api/workspaces/main/deployments", body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "fragment_not_deployed")


def test_topics_of_fragments_are_those_of_the_workspace() -> None:
    sink = {"id": "keep", "kind": "sink.topic", "params": {"topic": "${to}"}}
    raw = using(1)
    raw["fragments"]["Clean@1"]["nodes"][1] = sink
    raw["fragments"]["Clean@1"]["parameters"] = {"to": {"type": "topic", "default": "others"}}
    raw["fragments"]["Clean@1"]["edges"].pop()
    raw["fragments"]["Clean@1"]["nodes"].pop()
    [found] = refusals(document_in(raw, None), ["shop-"])
    assert (found.code, found.node) == ("topic_not_allowed", "clean--keep")
