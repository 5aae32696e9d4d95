"""Comments on nodes, mentions, and approvals by a second person."""

from __future__ import annotations

from typing import Any

import pytest
from accounts.models import AuditEntry, User
from deployments.models import Deployment
from millrace_backend.errors import Conflict
from topologies import actions, approving
from topologies.models import Comment, Topology

from .conftest import Client, People, document

RULES = "/api/workspaces/main/rules"
MENTIONS = "/api/workspaces/main/mentions"


def test_a_comment_mentions_members_is_answered_resolved_and_reopened(
    people: People, topology: Topology, client_of: Client
) -> None:
    path = f"/api/topologies/{topology.pk}/comments"
    editor: Any = client_of(people.editor)
    operator: Any = client_of(people.operator)
    viewer: Any = client_of(people.viewer)
    body = {"node": "a", "node_label": "Large", "text": "Why 10, @operator and me@viewer.org?"}
    first = editor.post(path, body).json()
    assert (first["node"], first["node_label"], first["author"]) == ("a", "Large", "Editor")
    # An address is no mention, nor is somebody who is no member.
    assert first["mentions"] == ["operator"]
    (mention,) = operator.get(MENTIONS).json()["results"]
    assert (mention["topology"], mention["node_label"]) == (topology.pk, "Large")
    assert viewer.get(MENTIONS).json()["count"] == 0
    answer = {"node": "ignored", "text": "See @viewer. @outsider", "reply_to": first["id"]}
    thread = operator.post(path, answer).json()
    assert [each["text"] for each in thread["replies"]] == ["See @viewer. @outsider"]
    assert thread["replies"][0]["mentions"] == ["viewer"]
    # An answer to an answer belongs to the same thread and node.
    nested = {"node": "b", "text": "Thanks", "reply_to": thread["replies"][0]["id"]}
    assert len(editor.post(path, nested).json()["replies"]) == 2
    assert set(Comment.objects.values_list("node", flat=True)) == {"a"}
    edited = editor.patch(f"{path}/{first['id']}", {"text": "Why 10?"}).json()
    assert (edited["mentions"], edited["edited_at"] is not None) == ([], True)
    assert operator.get(MENTIONS).json()["count"] == 0
    resolved = operator.patch(f"{path}/{first['id']}", {"resolved": True}).json()
    assert resolved["resolved_by"] == "Operator"
    assert viewer.get(MENTIONS).json()["count"] == 0
    assert editor.patch(f"{path}/{first['id']}", {"resolved": False}).json()["resolved_at"] is None
    assert viewer.get(MENTIONS).json()["count"] == 1
    found = AuditEntry.objects.filter(action__startswith="comment.").values_list(
        "action", flat=True
    )
    assert sorted(found) == [
        *("comment.add", "comment.add", "comment.add", "comment.edit"),
        *("comment.reopen", "comment.resolve"),
    ]


def test_comments_stay_when_the_node_is_renamed_or_deleted(
    people: People, topology: Topology, client_of: Client
) -> None:
    path = f"/api/topologies/{topology.pk}/comments"
    client: Any = client_of(people.editor)
    client.post(path, {"node": "b", "node_label": "Old name", "text": "Keep?"})
    renamed = document("a", "b")
    renamed["nodes"][1] |= {"label": "New name", "position": {"x": 1, "y": 1}}
    actions.save_version(people.editor, topology, renamed, "", 2)
    actions.save_version(people.editor, topology, document("a"), "", 3)
    (comment,) = client.get(path).json()["results"]
    assert (comment["node"], comment["node_label"]) == ("b", "Old name")


def test_only_authors_change_comments_and_no_answer_loses_its_question(
    people: People, topology: Topology, client_of: Client
) -> None:
    path = f"/api/topologies/{topology.pk}/comments"
    editor: Any = client_of(people.editor)
    operator: Any = client_of(people.operator)
    admin: Any = client_of(people.admin)
    first = editor.post(path, {"node": "a", "text": "One"}).json()["id"]
    thread = operator.post(path, {"node": "a", "text": "Two", "reply_to": first}).json()
    second = thread["replies"][0]["id"]
    refused = operator.patch(f"{path}/{first}", {"text": "Changed"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_your_comment")
    assert editor.delete(f"{path}/{second}").status_code == 403
    kept = editor.delete(f"{path}/{first}")
    assert (kept.status_code, kept.json()["error"]["code"]) == (409, "comment_answered")
    assert admin.delete(f"{path}/{second}").status_code == 204
    assert editor.delete(f"{path}/{first}").status_code == 204
    assert Comment.objects.count() == 0
    assert editor.post(path, {"node": "a", "text": " "}).status_code == 400
    assert editor.post(path, {"node": "a", "text": "x", "reply_to": first}).status_code == 404


def test_a_version_is_deployed_once_a_second_person_has_approved_it(
    people: People, topology: Topology, client_of: Client
) -> None:
    admin: Any = client_of(people.admin)
    operator: Any = client_of(people.operator)
    assert operator.put(RULES, {"approval_required": True}).status_code == 403
    assert admin.put(RULES, {"approval_required": True}).json() == {
        "tests_required": False,
        "approval_required": True,
    }
    actions.save_version(people.operator, topology, document("c"), "third", 2)
    body = {"topology": topology.pk, "version": 3, "target": "local", "settings": {}}
    deployments = "/api/workspaces/main/deployments"
    refused = operator.post(deployments, body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "approval_missing")
    assert "Admin" in refused.json()["error"]["hint"]
    own = operator.post(f"/api/topologies/{topology.pk}/versions/3/approval")
    assert (own.status_code, own.json()["error"]["code"]) == (409, "own_version")
    for _ in range(2):
        approved = admin.post(f"/api/topologies/{topology.pk}/versions/3/approval").json()
        assert [each["name"] for each in approved["approved_by"]] == ["Admin"]
    listed = operator.get(f"/api/topologies/{topology.pk}/versions").json()["results"]
    assert [len(each["approved_by"]) for each in listed] == [1, 0, 0]
    assert operator.post(deployments, body).status_code == 201
    run = Deployment.objects.get()
    redeploy = operator.post(f"/api/deployments/{run.pk}/redeploy", {"version": 2})
    assert redeploy.json()["error"]["code"] == "approval_by_you"
    # The running version needs no approval for a restart or other settings.
    admin.delete(f"/api/topologies/{topology.pk}/versions/3/approval")
    assert operator.post(f"/api/deployments/{run.pk}/restart", {}).status_code == 200
    assert Deployment.objects.get().version.number == 3
    actions_done = AuditEntry.objects.values_list("action", flat=True)
    assert {"workspace.approval", "version.approve", "version.withdraw_approval"} <= {*actions_done}


def test_the_plan_says_who_must_approve(people: People, deployment: Deployment) -> None:
    version = deployment.topology.versions.get(number=2)
    assert approving.approval_of(version) == {
        "required": False,
        "approved_by": [],
        "possible_by": ["Admin", "Operator"],
    }
    approving.approve(people.operator, version)
    assert approving.approval_of(version)["approved_by"] == ["Operator"]


def test_an_approval_counts_while_its_author_is_an_operator(
    people: People, topology: Topology
) -> None:
    people.workspace.approval_required = True
    people.workspace.save()
    version = topology.versions.select_related("topology__workspace").get(number=2)
    approving.approve(people.operator, version)
    approving.require_approval(version, people.admin)
    people.operator.memberships.update(role="editor")
    with pytest.raises(Conflict, match="must be approved"):
        approving.require_approval(version, people.operator)
    people.admin.memberships.all().delete()
    with pytest.raises(Conflict) as refused:
        approving.require_approval(version, people.operator)
    assert "Nobody else" in refused.value.hint


def test_a_refusal_names_others_and_says_who_can_approve_alone(
    people: People, topology: Topology
) -> None:
    people.workspace.approval_required = True
    people.workspace.save()
    versions = topology.versions.select_related("topology__workspace")
    version = versions.get(number=2)

    def refusal(actor: User) -> tuple[str, str]:
        with pytest.raises(Conflict) as refused:
            approving.require_approval(version, actor)
        return refused.value.code, refused.value.hint

    assert version.author_id == people.editor.pk
    code, hint = refusal(people.operator)
    assert code == "approval_by_you"
    assert "Admin" in hint
    assert "Operator" not in hint
    people.admin.memberships.all().delete()
    assert refusal(people.operator) == ("approval_by_you", "Approve it in Versions.")
    assert refusal(people.admin)[0] == "approval_missing"
    actions.save_version(people.operator, topology, document("c"), "third", 2)
    version = versions.get(number=3)
    code, hint = refusal(people.operator)
    assert code == "approval_missing"
    assert hint.startswith("Nobody else")
