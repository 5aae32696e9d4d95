"""Drafts, immutable versions, conflicts, refusals of bad input."""

from __future__ import annotations

from typing import Any

import pytest
from accounts.models import AuditEntry
from deployments.actions import create_deployment
from deployments.models import Observation
from topologies import actions
from topologies.models import Draft, Topology, Version, hash_of

from .conftest import Client, People, document


def test_a_new_topology_is_empty_and_has_no_version(people: People, client_of: Client) -> None:
    client = client_of(people.editor)
    made = client.post("/api/workspaces/main/topologies", {"name": "Orders"}).json()
    assert made["latest_version"] is None
    assert made["draft"] is False
    assert made["deployment"] is None
    draft = client.get(f"/api/topologies/{made['id']}/draft").json()
    assert draft == {
        "revision": None,
        "document": {"format": "millrace.topology/1", "name": "Orders", "nodes": [], "edges": []},
        "base_version": None,
        "updated_at": None,
    }


def test_a_template_becomes_the_first_version(people: People, client_of: Client) -> None:
    client = client_of(people.editor)
    names = [each["id"] for each in client.get("/api/templates").json()]
    assert "word-count" in names
    for name in names:
        body = {"name": f"From {name}", "template": name, "description": "What it is for."}
        made = client.post("/api/workspaces/main/topologies", body)
        assert made.status_code == 201
        assert made.json()["latest_version"] == 1
        version = client.get(f"/api/topologies/{made.json()['id']}/versions/1").json()
        assert version["document"]["name"] == f"From {name}"
        assert version["document"]["description"] == "What it is for."
    body = {"name": "X", "template": "no-such"}
    refused = client.post("/api/workspaces/main/topologies", body).json()["error"]
    assert refused["code"] == "no_such_template"
    assert "word-count" in refused["hint"]


def test_a_draft_is_private_and_saves_itself(
    people: People, topology: Topology, client_of: Client
) -> None:
    mine, theirs = client_of(people.editor), client_of(people.operator)
    body = {"document": document("a", "b", "c"), "base_version": 2}
    saved = mine.put(f"/api/topologies/{topology.pk}/draft", body)
    assert saved.status_code == 200
    assert saved.json()["updated_at"] is not None
    assert mine.get(f"/api/topologies/{topology.pk}/draft").json()["document"] == body["document"]
    other = theirs.get(f"/api/topologies/{topology.pk}/draft").json()
    assert (other["document"], other["base_version"]) == (document("a", "b"), 2)
    listed = mine.get("/api/workspaces/main/topologies").json()["results"][0]
    assert (listed["draft"], listed["node_count"]) == (True, 3)
    listed = theirs.get("/api/workspaces/main/topologies").json()["results"][0]
    assert (listed["draft"], listed["node_count"]) == (False, 2)
    assert mine.delete(f"/api/topologies/{topology.pk}/draft").status_code == 204
    assert mine.get(f"/api/topologies/{topology.pk}/draft").json()["document"] == document("a", "b")


def test_a_draft_is_replaced_by_who_has_seen_it_and_by_nobody_else(
    people: People, topology: Topology, client_of: Client
) -> None:
    client, path = client_of(people.editor), f"/api/topologies/{topology.pk}/draft"

    def put(name: str, revision: str | None) -> Any:
        return client.put(
            path, {"document": document(name), "base_version": 2, "revision": revision}
        )

    assert client.get(path).json()["revision"] is None
    first = put("first", None).json()["revision"]
    second = put("second", first).json()["revision"]
    late = put("late", first)
    assert late.status_code == 409
    error = late.json()["error"]
    assert error["code"] == "draft_conflict"
    assert error["theirs"]["document"] == document("second")
    assert error["theirs"]["revision"] == second
    assert error["yours"] == document("late")
    assert client.get(path).json()["document"] == document("second")
    assert put("unaware", None).status_code == 409
    # The response got lost and the request is repeated: the draft is already stored.
    assert put("second", first).json()["revision"] == second
    assert put("late", second).status_code == 200


def test_a_version_from_one_window_leaves_the_draft_of_another_one(
    people: People, topology: Topology, client_of: Client
) -> None:
    draft = actions.save_draft(people.editor, topology, document("other window"), 2)
    assert draft is not None
    client, path = client_of(people.editor), f"/api/topologies/{topology.pk}/versions"
    body = {"document": document("x"), "base_version": 2, "draft_revision": "of-long-ago"}
    assert client.post(path, body).status_code == 201
    assert Draft.objects.get().document == document("other window")
    body |= {"base_version": 3, "draft_revision": draft.revision}
    assert client.post(path, body).status_code == 201
    assert not Draft.objects.exists()


def test_a_draft_that_is_its_version_again_is_no_draft(
    people: People, topology: Topology, client_of: Client
) -> None:
    client, path = client_of(people.editor), f"/api/topologies/{topology.pk}/draft"
    changed = client.put(path, {"document": document("a", "b", "c"), "base_version": 2}).json()
    body = {"document": document("a", "b"), "base_version": 2, "revision": changed["revision"]}
    undone = client.put(path, body).json()
    assert (undone["document"], undone["revision"]) == (document("a", "b"), None)
    listed = client.get("/api/workspaces/main/topologies").json()["results"][0]
    assert listed["draft"] is False


def test_a_description_typed_in_the_designer_reaches_the_list(
    people: People, topology: Topology, client_of: Client
) -> None:
    mine, theirs = client_of(people.editor), client_of(people.viewer)

    def listed(client: Any) -> Any:
        return client.get("/api/workspaces/main/topologies").json()["results"][0]["description"]

    described = document("a", "b", description="Counts orders")
    body = {"document": described, "base_version": 2}
    mine.put(f"/api/topologies/{topology.pk}/draft", body)
    assert (listed(mine), listed(theirs)) == ("Counts orders", "")
    assert mine.post(f"/api/topologies/{topology.pk}/versions", body).status_code == 201
    assert (listed(mine), listed(theirs)) == ("Counts orders", "Counts orders")
    mine.patch(f"/api/topologies/{topology.pk}", {"description": "Counts all orders"})
    body = {"document": {**described, "settings": {}}, "base_version": 3}
    assert mine.post(f"/api/topologies/{topology.pk}/versions", body).status_code == 201
    assert listed(mine) == "Counts all orders"


def test_a_graph_with_errors_and_unknown_fields_is_kept_as_it_is(
    people: People, topology: Topology, client_of: Client
) -> None:
    odd = document(
        notes=[{"text": "# hello", "at": [1, 2]}],
        settings={"unknown": True},
        topics={"t": {"partitions": "many"}},
    )
    odd["nodes"] = [{"id": "x", "kind": "no.such.kind", "params": {"a": [None, "é", 1.5]}}]
    odd["edges"] = [{"source": "x", "target": "nowhere"}]
    client = client_of(people.editor)
    body = {"document": odd, "base_version": 2}
    assert client.put(f"/api/topologies/{topology.pk}/draft", body).json()["document"] == odd
    saved = client.post(f"/api/topologies/{topology.pk}/versions", body)
    assert saved.status_code == 201
    assert saved.json()["document"] == odd


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ([], "not a list"),
        ("text", "not text"),
        ({"nodes": [], "edges": []}, '"format" is null'),
        (document() | {"format": "other/2"}, 'not "millrace.topology/1"'),
        (document() | {"nodes": {}}, '"nodes" is a list, not an object'),
        (document() | {"nodes": [{"id": "a"}]}, 'nodes[0] has no text in its field "kind"'),
        (document() | {"edges": [{"source": "a", "target": 3}]}, 'field "target"'),
        (document() | {"nodes": [{"id": "a", "kind": "k", "params": []}]}, "params is an object"),
    ],
)
def test_what_is_no_document_is_refused_with_its_place(
    bad: Any, complaint: str, people: People, topology: Topology, client_of: Client
) -> None:
    response = client_of(people.editor).put(
        f"/api/topologies/{topology.pk}/draft", {"document": bad, "base_version": 2}
    )
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "invalid"
    assert complaint in error["fields"]["document"][0]


def test_a_document_nested_without_end_is_refused(
    people: People, topology: Topology, client_of: Client
) -> None:
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    body = {"document": document(settings={"deep": deep}), "base_version": 2}
    response = client_of(people.editor).put(f"/api/topologies/{topology.pk}/draft", body)
    assert response.status_code == 400
    assert "levels deep" in response.json()["error"]["fields"]["document"][0]


@pytest.mark.parametrize(
    "body",
    [
        b'{"document": ',
        b"",
        b'{"document": NaN}',
        b'{"document": "\xff"}',
        b'{"document": "\\ud800"}',
        b'{"document": "\\u0000"}',
        b'{"document": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"document": "' + b"x" * (8 * 1024 * 1024) + b'"}',
    ],
    ids=["cut", "empty", "nan", "latin", "surrogate", "nul", "deep", "large"],
)
def test_a_body_that_is_no_good_json_is_refused_in_the_same_shape(
    body: bytes, people: People, topology: Topology, client_of: Client
) -> None:
    response = client_of(people.editor).put(
        f"/api/topologies/{topology.pk}/draft", body, content_type="application/json"
    )
    assert response.status_code in {400, 413}
    assert response.json()["error"]["code"] in {"not_json", "invalid", "too_large"}


def test_saving_a_version_ends_the_own_draft_only(
    people: People, topology: Topology, client_of: Client
) -> None:
    for person in (people.editor, people.operator):
        actions.save_draft(person, topology, document("x"), 2)
    body = {"document": document("x"), "base_version": 2, "message": "three"}
    saved = client_of(people.editor).post(f"/api/topologies/{topology.pk}/versions", body)
    assert saved.status_code == 201
    assert saved.json()["number"] == 3
    assert saved.json()["author"] == "Editor"
    assert saved.json()["hash"] == hash_of(document("x"))
    assert [draft.user for draft in Draft.objects.all()] == [people.operator]


def test_saving_over_someones_version_is_answered_with_both_sides(
    people: People, topology: Topology, client_of: Client
) -> None:
    yours = document("a", "mine")
    body = {"document": yours, "base_version": 1, "message": "late"}
    response = client_of(people.operator).post(f"/api/topologies/{topology.pk}/versions", body)
    assert response.status_code == 409
    error = response.json()["error"]
    assert error["code"] == "version_conflict"
    assert error["base"]["document"] == document("a")
    assert (error["theirs"]["number"], error["theirs"]["author"]) == (2, "Editor")
    assert error["theirs"]["message"] == "second"
    assert error["theirs"]["document"] == document("a", "b")
    assert error["yours"] == yours
    assert topology.versions.count() == 2


def test_a_version_is_immutable_but_for_the_name_people_give_it(
    people: People, topology: Topology, client_of: Client
) -> None:
    version = Version.objects.get(topology=topology, number=1)
    version.message = "changed"
    with pytest.raises(ValueError, match="cannot be changed"):
        version.save()
    client = client_of(people.editor)
    path = f"/api/topologies/{topology.pk}/versions/1"
    assert client.patch(path, {"name": "Release 1"}).json()["name"] == "Release 1"
    again = client.get(path).json()
    assert (again["name"], again["message"], again["hash"]) == (
        "Release 1",
        "",
        hash_of(document("a")),
    )


def test_the_hash_is_of_the_meaning_and_not_of_the_order_of_fields() -> None:
    assert hash_of({"a": 1, "b": [1, 2]}) == hash_of({"b": [1, 2], "a": 1})
    assert hash_of({"a": [1, 2]}) != hash_of({"a": [2, 1]})


def test_the_versions_are_listed_newest_first_without_documents(
    people: People, topology: Topology, client_of: Client
) -> None:
    page = client_of(people.viewer).get(f"/api/topologies/{topology.pk}/versions").json()
    assert [each["number"] for each in page["results"]] == [2, 1]
    assert "document" not in page["results"][0]


def test_a_base_version_that_is_not_there_is_refused(
    people: People, topology: Topology, client_of: Client
) -> None:
    body = {"document": document(), "base_version": 77}
    for method, path in (("put", "draft"), ("post", "versions")):
        response = getattr(client_of(people.editor), method)(
            f"/api/topologies/{topology.pk}/{path}", body
        )
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "no_such_version"


def test_names_are_unique_in_a_workspace_whatever_their_case(
    people: People, topology: Topology, client_of: Client
) -> None:
    client = client_of(people.editor)
    refused = client.post("/api/workspaces/main/topologies", {"name": "ORDERS"})
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "name_taken"
    made = client.post("/api/workspaces/main/topologies", {"name": "Other"}).json()
    refused = client.patch(f"/api/topologies/{made['id']}", {"name": "orders"})
    assert refused.status_code == 409
    assert client.patch(f"/api/topologies/{topology.pk}", {"name": "orders"}).status_code == 200


def test_lists_are_searched_ordered_and_paged(people: People, client_of: Client) -> None:
    client = client_of(people.editor)
    for name in ("Beta", "Alpha", "Gamma ray"):
        client.post("/api/workspaces/main/topologies", {"name": name})

    def names(query: str) -> list[str]:
        page = client.get(f"/api/workspaces/main/topologies?{query}").json()
        return [each["name"] for each in page["results"]]

    assert names("") == ["Gamma ray", "Alpha", "Beta"]
    assert names("ordering=name") == ["Alpha", "Beta", "Gamma ray"]
    assert names("search=ray gam") == ["Gamma ray"]
    assert names("ordering=-name&page_size=2&page=2") == ["Alpha"]
    refused = client.get("/api/workspaces/main/topologies?ordering=secret")
    assert refused.json()["error"]["code"] == "unknown_ordering"
    assert client.get("/api/workspaces/main/topologies?page=9").status_code == 404


def test_topologies_are_listed_by_what_their_deployments_do(
    people: People, client_of: Client
) -> None:
    states = ("running", "degraded", "failed", "stopped")
    for state in (*states, "never"):
        made = actions.create_topology(people.operator, people.workspace, state, document("a"))
        if state != "never":
            row = create_deployment(people.operator, made, 1, "local", {})
            Observation.objects.filter(deployment=row).update(state=state)
    waiting = Observation.objects.get(deployment__topology__name="running")
    client = client_of(people.viewer)

    def listed(state: str) -> set[str]:
        answer = client.get(f"/api/workspaces/main/topologies?state={state}").json()
        return {each["name"] for each in answer["results"]}

    assert listed("active") == {"running", "degraded"}
    assert listed("problem") == {"degraded", "failed"}
    assert listed("stopped") == {"stopped"}
    assert listed("none") == {"never"}
    waiting.outage = {"code": "broker_unreachable"}
    waiting.save()
    assert listed("problem") == {"running", "degraded", "failed"}
    assert client.get("/api/workspaces/main/topologies?state=odd").status_code == 400


def test_deleting_a_topology_takes_its_versions_and_leaves_the_audit(
    people: People, topology: Topology, client_of: Client
) -> None:
    assert client_of(people.editor).delete(f"/api/topologies/{topology.pk}").status_code == 204
    assert not Version.objects.exists()
    assert AuditEntry.objects.filter(action="topology.delete", detail__name="Orders").exists()
