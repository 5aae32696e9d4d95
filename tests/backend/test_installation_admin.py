"""What the installation's admins do: workspaces, accounts, admins and abandoned drafts."""

from __future__ import annotations

import io
from typing import Any

import pytest
from accounts import actions, installing
from accounts.choices import Role
from accounts.models import ApiToken, AuditEntry, SignInLink, User, Workspace
from django.core.management import CommandError, call_command
from millrace_backend.errors import Conflict, Forbidden
from topologies.actions import save_draft
from topologies.models import Draft, Topology

from .conftest import Client, People, document

INSTALLATION = "/api/installation"


@pytest.fixture
def chief(people: People) -> User:
    return actions.set_up("chief", "chiefs")


def change(client: Any, user: User, **what: bool) -> Any:
    return client.patch(f"{INSTALLATION}/accounts/{user.pk}", what)


def test_a_second_workspace_begins_with_its_first_admin(chief: User, client_of: Client) -> None:
    client: Any = client_of(chief)
    body = {"slug": "orders", "name": "Orders", "admin": "ada"}
    made = client.post(f"{INSTALLATION}/workspaces", body)
    assert made.status_code == 201
    assert made.json()["workspace"]["slug"] == "orders"
    ada = actions.redeem_sign_in_link(made.json()["sign_in_link"].rsplit("/", 1)[1])
    assert [(each.workspace.slug, each.role) for each in ada.memberships.all()] == [
        ("orders", "admin")
    ]
    taken = client.post(f"{INSTALLATION}/workspaces", {**body, "admin": "bob"})
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "workspace_exists")
    assert not User.objects.filter(username="bob").exists()
    second = client.post(f"{INSTALLATION}/workspaces", {**body, "slug": "more"})
    assert second.json()["sign_in_link"] is None, "the account has its own way to sign in"
    session: Any = client_of(ada).get("/api/session").json()
    assert {each["slug"] for each in session["workspaces"]} == {"orders", "more"}
    for slug in ("Orders", "a b", "-a", "a--b", "", "../x"):
        assert client.post(f"{INSTALLATION}/workspaces", {**body, "slug": slug}).status_code == 400


def test_closing_an_account_ends_all_its_access_and_keeps_its_audit(
    chief: User, people: People, client_of: Client, topology: Topology
) -> None:
    editor = people.editor
    browser: Any = client_of(editor)
    _, secret = actions.create_token(editor, "ci", 1)
    script: Any = client_of(None)
    script.credentials(HTTP_AUTHORIZATION=f"Token {secret}")
    actions.issue_sign_in_link(editor)
    path = "/api/workspaces/main/topologies"
    assert browser.get(path).status_code == script.get(path).status_code == 200
    before = AuditEntry.objects.filter(actor=editor).count()
    closed = change(client_of(chief), editor, active=False)
    assert closed.status_code == 200
    assert (closed.json()["active"], closed.json()["workspaces"]) == (False, [])
    assert browser.get(path).status_code == script.get(path).status_code == 401
    assert not ApiToken.objects.filter(user=editor).exists()
    assert not SignInLink.objects.filter(user=editor, used_at=None).exists()
    assert not editor.memberships.exists()
    assert AuditEntry.objects.filter(actor=editor).count() == before > 0
    assert AuditEntry.objects.filter(action="account.close", subject_id=editor.pk).exists()
    refused: Any = client_of(chief).post(f"{INSTALLATION}/accounts/{editor.pk}/link")
    assert refused.json()["error"]["code"] == "account_closed"
    again: Any = client_of(people.admin).post(
        "/api/workspaces/main/members", {"username": "editor", "role": "viewer"}
    )
    assert again.json()["error"]["code"] == "account_closed"
    opened = change(client_of(chief), editor, active=True).json()
    assert (opened["active"], opened["workspaces"], opened["has_password"]) == (True, [], False)
    assert browser.get(path).status_code == 401, "its old sessions stay ended"


def test_the_only_admin_is_not_closed_and_the_error_names_what_to_do(
    chief: User, people: People, client_of: Client
) -> None:
    client: Any = client_of(chief)
    refused = change(client, people.admin, active=False).json()["error"]
    assert refused["code"] == "only_admin_of_workspaces"
    assert "only admin of main" in refused["message"]
    assert "Make another member an admin there first" in refused["hint"]
    actions.change_role(people.admin, people.viewer.memberships.get(), Role.ADMIN)
    assert change(client, people.admin, active=False).status_code == 200
    for what in ({"active": False}, {"installation_admin": False}):
        refused = change(client, chief, **what).json()["error"]
        assert refused["code"] == "last_installation_admin"
        assert "first" in refused["hint"]
    assert User.objects.get(pk=chief.pk).is_superuser


def test_an_admin_of_the_installation_is_promoted_and_demoted(
    chief: User, people: People, client_of: Client
) -> None:
    client, viewer = client_of(chief), people.viewer
    link = actions.issue_sign_in_link(viewer)
    assert change(client, viewer, installation_admin=True).json()["installation_admin"] is True
    with pytest.raises(Exception, match="not valid"):
        actions.redeem_sign_in_link(link.rsplit("/", 1)[1])
    promoted: Any = client_of(User.objects.get(pk=viewer.pk))
    assert promoted.get(f"{INSTALLATION}/accounts").status_code == 200
    assert change(promoted, chief, installation_admin=False).status_code == 200
    assert change(client_of(chief), viewer, installation_admin=False).status_code == 403
    installing.close_account(User.objects.get(pk=viewer.pk), people.operator)
    with pytest.raises(Conflict, match="closed"):
        installing.set_installation_admin(
            User.objects.get(pk=viewer.pk), people.operator, admin=True
        )


def test_drafts_are_deleted_by_their_owner_or_when_abandoned(
    chief: User, people: People, client_of: Client, topology: Topology
) -> None:
    for person in (people.editor, people.operator, people.admin):
        save_draft(person, topology, document("mine"), 2)
    client: Any = client_of(chief)
    assert client.get(f"{INSTALLATION}/drafts").json()["count"] == 0
    own: Any = client_of(people.operator).get("/api/drafts").json()["results"]
    assert [(each["name"], each["workspace"]) for each in own] == [("Orders", "main")]
    theirs = Draft.objects.get(user=people.editor).pk
    assert client_of(people.operator).delete(f"/api/drafts/{theirs}").status_code == 404
    assert client.delete(f"{INSTALLATION}/drafts/{theirs}").status_code == 404, "not abandoned"
    # A member whose role became too low for drafts can still delete them.
    people.operator.memberships.update(role="viewer")
    assert client_of(people.operator).delete(f"/api/drafts/{own[0]['id']}").status_code == 204
    installing.close_account(chief, people.editor)
    people.admin.memberships.all().delete()
    listed = client.get(f"{INSTALLATION}/drafts")
    assert {each["user"] for each in listed.json()["results"]} == {"editor", "admin"}
    assert "Orders" not in listed.content.decode(), "what others draw is not the installation's"
    assert client.get(f"{INSTALLATION}/drafts?search=edit").json()["count"] == 1
    assert client.delete(f"{INSTALLATION}/drafts/{theirs}").status_code == 204
    entry = AuditEntry.objects.get(action="draft.discard", detail__user="editor")
    assert entry.actor == chief


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command("millrace_installation", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_does_what_the_page_does(chief: User, people: People) -> None:
    made = command("create-workspace", "orders", "--admin", "ada")
    assert made.startswith("Created the workspace orders: Orders.\nSign in once as ada: http")
    assert Workspace.objects.get(slug="orders").memberships.get().user.username == "ada"
    with pytest.raises(CommandError, match="already a workspace 'orders'"):
        command("create-workspace", "orders", "--admin", "ada")
    with pytest.raises(CommandError, match="slug: Lower-case"):
        command("create-workspace", "Not good", "--admin", "ada")
    assert command("promote", "viewer") == "viewer is an admin of the installation.\n"
    assert command("demote", "viewer") == "viewer is not an admin of the installation.\n"
    assert command("close", "viewer", "--yes") == "The account viewer is closed.\n"
    assert not User.objects.get(username="viewer").is_active
    assert "open" in command("open", "viewer")
    with pytest.raises(CommandError, match="only admin of the installation"):
        command("demote", "chief")
    with pytest.raises(CommandError, match="no account 'nobody'"):
        command("close", "nobody", "--yes")


def test_a_command_prints_a_new_sign_in_link_that_ends_the_one_before(
    chief: User, people: People
) -> None:
    def printed(*arguments: str) -> tuple[str, str]:
        out = io.StringIO()
        call_command("millrace_sign_in", *arguments, stdout=out)
        name, _, link = out.getvalue().strip().removeprefix("Sign in once as ").partition(": ")
        return name, link.rsplit("/", 1)[1]

    lost = actions.issue_sign_in_link(chief).rsplit("/", 1)[1]
    name, token = printed()
    assert name == "chief"
    with pytest.raises(Forbidden, match="not valid"):
        actions.redeem_sign_in_link(lost)
    assert actions.redeem_sign_in_link(token) == chief
    name, token = printed("viewer")
    assert (name, actions.redeem_sign_in_link(token)) == ("viewer", people.viewer)
    assert AuditEntry.objects.get(action="account.link", detail__username="viewer").actor == chief
    with pytest.raises(CommandError, match="no account 'nobody'"):
        printed("nobody")
    installing.close_account(chief, people.viewer)
    with pytest.raises(CommandError, match="viewer is closed"):
        printed("viewer")


def test_the_command_closes_nothing_without_the_typed_name(
    chief: User, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    with pytest.raises(CommandError, match=r"Nothing was changed\."):
        command("close", "viewer")
    assert User.objects.get(username="viewer").is_active
    monkeypatch.setattr("sys.stdin", io.StringIO("viewer\n"))
    assert command("close", "viewer").endswith("The account viewer is closed.\n")
