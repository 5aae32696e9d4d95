"""Signing in and out, one-time links, tokens, members, lock-out, audit."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from accounts import actions
from accounts.choices import Role
from accounts.models import ApiToken, AuditEntry, SignInLink, User
from django.test import Client as DjangoClient
from django.utils import timezone
from millrace_backend.errors import Forbidden

from .conftest import PASSWORD, Client, People, RedisServer


@pytest.fixture
def editor(people: People) -> User:
    people.editor.set_password(PASSWORD)
    people.editor.save()
    return people.editor


def test_a_person_signs_in_sees_the_workspaces_and_signs_out(
    editor: User, client_of: Client
) -> None:
    client = client_of(None)
    nobody = client.get("/api/session").json()
    assert (nobody["user"], nobody["workspaces"], nobody["has_password"]) == (None, [], False)
    answer = client.post("/api/session", {"username": "editor", "password": PASSWORD})
    assert answer.status_code == 200
    assert answer.json()["user"] == {
        "id": editor.pk,
        "username": "editor",
        "display_name": "Editor",
    }
    assert [(each["slug"], each["role"]) for each in answer.json()["workspaces"]] == [
        ("main", "editor")
    ]
    assert client.get("/api/session").json()["user"]["username"] == "editor"
    assert client.delete("/api/session").json()["user"] is None
    assert client.get("/api/tokens").status_code == 401


def test_eight_wrong_passwords_lock_the_name_at_this_address(
    editor: User, client_of: Client
) -> None:
    client = client_of(None)
    codes = [
        client.post("/api/session", {"username": "editor", "password": "wrong"}).status_code
        for _ in range(8)
    ]
    assert codes[0] == 400
    assert codes[-1] == 429
    answer = client.post("/api/session", {"username": "editor", "password": PASSWORD})
    assert answer.status_code == 429
    assert answer.json()["error"]["code"] == "locked_out"
    assert client.get("/api/session").json()["user"] is None


def test_signing_in_and_changing_need_the_csrf_token(editor: User) -> None:
    browser = DjangoClient(enforce_csrf_checks=True)
    body = {"username": "editor", "password": PASSWORD}
    refused = browser.post("/api/session", body, content_type="application/json")
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == "csrf_failed"
    browser.get("/api/session")
    headers = {"X-CSRFToken": browser.cookies["csrftoken"].value}
    accepted = browser.post("/api/session", body, content_type="application/json", headers=headers)
    assert accepted.status_code == 200
    refused = browser.post("/api/tokens", {"name": "x"}, content_type="application/json")
    assert refused.status_code == 403
    headers = {"X-CSRFToken": browser.cookies["csrftoken"].value}
    made = browser.post(
        "/api/tokens", {"name": "x"}, content_type="application/json", headers=headers
    )
    assert made.status_code == 201


def test_a_sign_in_link_works_once_and_only_its_hash_is_kept(
    people: People, client_of: Client
) -> None:
    link = actions.issue_sign_in_link(people.viewer)
    token = link.rsplit("/", 1)[1]
    assert link.startswith("http://127.0.0.1:8000/sign-in/")
    assert token not in str(SignInLink.objects.values())
    client = client_of(None)
    answer = client.post("/api/session/link", {"token": token})
    assert answer.status_code == 200
    assert answer.json()["user"]["username"] == "viewer"
    again = client_of(None).post("/api/session/link", {"token": token})
    assert again.status_code == 403
    assert again.json()["error"]["code"] == "link_not_valid"


def test_a_sign_in_link_expires(people: People) -> None:
    link = actions.issue_sign_in_link(people.viewer, lifetime=timedelta(seconds=-1))
    with pytest.raises(Forbidden):
        actions.redeem_sign_in_link(link.rsplit("/", 1)[1])


def test_a_token_opens_the_api_until_it_is_revoked_or_expires(
    people: People, client_of: Client
) -> None:
    made = client_of(people.editor).post("/api/tokens", {"name": "ci", "days": 2}).json()
    assert made["name"] == "ci"
    assert made["token"].startswith("mr_")
    assert made["token"] not in str(ApiToken.objects.values())
    script = client_of(None)
    script.credentials(HTTP_AUTHORIZATION=f"Token {made['token']}")
    assert script.get("/api/session").json()["user"]["username"] == "editor"
    assert script.post("/api/workspaces/main/topologies", {"name": "By script"}).status_code == 201
    listed = client_of(people.editor).get("/api/tokens").json()["results"]
    assert [each["name"] for each in listed] == ["ci"]
    assert "token" not in listed[0]
    ApiToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert script.get("/api/tokens").status_code == 401


def names(page: Any, *path: str) -> list[Any]:
    """Return the value at a path in each row of a page."""
    assert page.status_code == 200, page.content
    found = page.json()["results"]
    for step in path:
        found = [row[step] for row in found]
    return list(found)


def test_members_are_listed_by_name_in_pages_and_searched(
    people: People, client_of: Client
) -> None:
    for name in ("ada", "grace"):
        user = User.objects.create(username=name, display_name=f"Zoe {name}")
        people.workspace.memberships.create(user=user, role=Role.VIEWER)
    viewer, path = client_of(people.viewer), "/api/workspaces/main/members"
    listed = [names(viewer.get(f"{path}?page_size=4&page={n}"), "user", "username") for n in (1, 2)]
    assert listed == [["ada", "admin", "editor", "grace"], ["operator", "viewer"]]
    first = viewer.get(f"{path}?page_size=4").json()
    assert (first["count"], first["previous"]) == (6, None)
    assert "page=2" in first["next"]
    assert names(viewer.get(f"{path}?search=zoe"), "user", "username") == ["ada", "grace"]
    assert names(viewer.get(f"{path}?search=ACE+zo"), "user", "username") == ["grace"]
    assert viewer.get(f"{path}?search=outsider").json()["count"] == 0
    assert viewer.get(f"{path}?page=3").status_code == 404
    assert client_of(people.outsider).get(f"{path}?search=zoe").status_code == 404


def test_tokens_are_listed_newest_first_in_pages_and_searched(
    people: People, client_of: Client
) -> None:
    for name in ("first", "second", "third"):
        actions.create_token(people.editor, name, 1)
    actions.create_token(people.admin, "first of somebody else", 1)
    editor = client_of(people.editor)
    assert names(editor.get("/api/tokens?page_size=2"), "name") == ["third", "second"]
    assert names(editor.get("/api/tokens?page_size=2&page=2"), "name") == ["first"]
    assert names(editor.get("/api/tokens?search=FIR"), "name") == ["first"]
    prefix = editor.get("/api/tokens").json()["results"][1]["prefix"]
    assert names(editor.get("/api/tokens", {"search": prefix}), "name") == ["second"]
    assert editor.get("/api/tokens?search=else").json()["count"] == 0


def test_nobody_revokes_the_token_of_somebody_else(people: People, client_of: Client) -> None:
    made = client_of(people.editor).post("/api/tokens", {"name": "ci"}).json()
    assert client_of(people.admin).delete(f"/api/tokens/{made['id']}").status_code == 404
    assert client_of(people.editor).delete(f"/api/tokens/{made['id']}").status_code == 204
    script = client_of(None)
    script.credentials(HTTP_AUTHORIZATION=f"Token {made['token']}")
    assert script.get("/api/tokens").status_code == 401


def test_an_admin_adds_somebody_new_who_signs_in_by_the_link(
    people: People, client_of: Client
) -> None:
    admin = client_of(people.admin)
    body = {"username": "ada", "display_name": "Ada", "role": "operator"}
    answer = admin.post("/api/workspaces/main/members", body)
    assert answer.status_code == 201
    token = answer.json()["sign_in_link"].rsplit("/", 1)[1]
    session = client_of(None).post("/api/session/link", {"token": token}).json()
    assert session["user"]["display_name"] == "Ada"
    assert session["workspaces"][0]["role"] == "operator"
    again = admin.post("/api/workspaces/main/members", body)
    assert again.status_code == 409
    assert again.json()["error"]["code"] == "already_member"


def test_somebody_with_an_account_is_added_without_a_link(
    people: People, client_of: Client
) -> None:
    body = {"username": "outsider", "role": "viewer"}
    answer = client_of(people.admin).post("/api/workspaces/main/members", body).json()
    assert answer["sign_in_link"] is None
    member = answer["member"]["id"]
    link = client_of(people.admin).post(f"/api/workspaces/main/members/{member}/link")
    assert link.json()["error"]["code"] == "not_this_workspaces_account"


def test_the_last_admin_cannot_be_removed_or_made_less(people: People, client_of: Client) -> None:
    admin = client_of(people.admin)
    member = people.admin.memberships.get().pk
    refused = admin.delete(f"/api/workspaces/main/members/{member}")
    assert refused.json()["error"]["code"] == "last_admin"
    refused = admin.patch(f"/api/workspaces/main/members/{member}", {"role": "viewer"})
    assert refused.status_code == 409
    assert people.admin.memberships.get().role == Role.ADMIN


def test_what_the_framework_refuses_is_in_the_language_of_the_page(
    people: People, client_of: Client
) -> None:
    chinese = {"accept-language": "zh-hans"}
    client = client_of(people.admin)
    members = "/api/workspaces/main/members"
    error = client.post(members, {}, headers=chinese).json()["error"]
    assert error["code"] == "invalid"
    assert error["found"] == f"username: {error['fields']['username'][0]}"
    assert "必填" in error["found"]
    other = {"accept-language": "fr"}
    error = client.post(members, {}, headers=other).json()["error"]
    assert error["found"] == "username: This field is required."


def test_a_weak_password_is_refused_with_the_reason(people: People, client_of: Client) -> None:
    client = client_of(people.editor)
    refused = client.put("/api/account/password", {"new": "12345"})
    assert refused.status_code == 400
    assert "too short" in refused.json()["error"]["message"]
    assert client.get("/api/session").json()["has_password"] is False
    set_ = client.put("/api/account/password", {"current": "", "new": PASSWORD})
    assert set_.json()["has_password"] is True
    wrong = client.put("/api/account/password", {"current": "wrong", "new": "x" * 20})
    assert wrong.json()["error"]["code"] == "wrong_password"
    assert client.get("/api/session").json()["user"]["username"] == "editor"


def test_every_change_leaves_an_audit_entry_that_cannot_be_changed(
    people: People, client_of: Client
) -> None:
    client_of(people.editor).post("/api/workspaces/main/topologies", {"name": "Noted"})
    page = client_of(people.admin).get("/api/workspaces/main/audit").json()
    entry = page["results"][0]
    assert (entry["actor"], entry["action"]) == ("Editor", "topology.create")
    assert entry["detail"] == {"name": "Noted"}
    row = AuditEntry.objects.get(pk=entry["id"])
    row.action = "something.else"
    with pytest.raises(ValueError, match="cannot be changed"):
        row.save()


def test_sign_ins_are_throttled(people: People, client_of: Client, monkeypatch: Any) -> None:
    from millrace_backend.throttling import ScopeThrottle

    monkeypatch.setitem(ScopeThrottle.THROTTLE_RATES, "sign-in", "3/minute")
    client = client_of(None)
    answers = [client.post("/api/session/link", {"token": "guess"}) for _ in range(4)]
    assert [each.status_code for each in answers] == [403, 403, 403, 429]
    assert answers[-1].json()["error"]["code"] == "throttled"
    assert int(answers[-1].headers["Retry-After"]) > 0


def test_the_minute_before_counts_as_far_as_it_is_not_over(
    people: People, client_of: Client, monkeypatch: Any
) -> None:
    from millrace_backend import throttling

    monkeypatch.setitem(throttling.ScopeThrottle.THROTTLE_RATES, "sign-in", "3/minute")
    client, minute = client_of(None), 60.0 * 30_000_000

    def guess(second: float) -> tuple[int, str | None]:
        monkeypatch.setattr(throttling, "time", SimpleNamespace(time=lambda: minute + second))
        answer = client.post("/api/session/link", {"token": "guess"})
        return answer.status_code, answer.headers.get("Retry-After")

    assert [guess(50.5)[0] for _ in range(3)] == [403, 403, 403]
    assert guess(50.5) == (429, "10")
    # A third of a minute later, one of the three requests is over.
    assert guess(61.5) == (429, "19")
    assert guess(80.1)[0] == 403
    # A refused request does not count.
    assert guess(80.2) == (429, "20")
    assert guess(100.1)[0] == 403


def test_without_redis_requests_are_let_through(
    people: People, client_of: Client, redis_server: RedisServer
) -> None:
    client = client_of(people.editor)
    redis_server.kill()
    try:
        assert client.get("/api/session").status_code == 200
        made = client.post("/api/workspaces/main/topologies", {"name": "While Redis is away"})
        assert made.status_code == 201
        assert client_of_health(client) == (503, False)
    finally:
        redis_server.start()
    assert client_of_health(client) == (200, True)


def client_of_health(client: Any) -> tuple[int, bool]:
    answer = client.get("/api/health")
    return answer.status_code, answer.json()["redis"]
