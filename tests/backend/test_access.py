"""Access: sign-in links, expiry, trusted addresses and hosts, and the audit log."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from accounts import actions
from accounts.models import ApiToken, AuditEntry, SignInLink, User
from accounts.retention import forget_old
from asgiref.sync import sync_to_async
from deployments.models import Deployment
from django.contrib.sessions.models import Session
from django.core.exceptions import ImproperlyConfigured
from django.test import AsyncClient
from django.test import Client as DjangoClient
from django.utils import timezone
from live import hub as hubs
from millrace_backend import environment
from millrace_backend.clients import client_address
from millrace_workers import tasks
from millrace_workers.app import app
from topologies.actions import create_topology

from .conftest import PASSWORD, Client, People, RedisServer, document

ROOT = Path(__file__).parents[2]


def token_in(link: str) -> str:
    return link.rsplit("/", 1)[1]


def redeem(client_of: Client, link: str) -> int:
    return client_of(None).post("/api/session/link", {"token": token_in(link)}).status_code


def member(person: User, workspace: str = "main") -> int:
    return person.memberships.get(workspace__slug=workspace).pk


def asked_link(client_of: Client, admin: User, person: User, workspace: str = "main") -> Any:
    path = f"/api/workspaces/{workspace}/members/{member(person, workspace)}/link"
    return client_of(admin).post(path)


# -- sign-in links for others ---------------------------------------------------------------------
def test_an_admin_gets_no_link_for_an_account_of_another_workspace(
    people: People, client_of: Client
) -> None:
    lone = User.objects.create(username="lone", created_in=people.other_workspace)
    for victim in (people.outsider, lone):
        body = {"username": victim.username, "role": "viewer"}
        added = client_of(people.admin).post("/api/workspaces/main/members", body)
        assert added.json()["sign_in_link"] is None
        refused = asked_link(client_of, people.admin, victim)
        assert refused.json()["error"]["code"] == "not_this_workspaces_account"
    assert not SignInLink.objects.exists()


def test_an_admin_gets_no_link_for_an_account_of_the_installation(
    people: People, client_of: Client
) -> None:
    chief = actions.set_up("chief", "main")
    assert asked_link(client_of, people.admin, chief).status_code == 403
    User.objects.filter(pk=chief.pk).update(created_in=people.workspace)
    assert asked_link(client_of, people.admin, chief).status_code == 403


def test_an_admins_link_ends_once_the_account_works_elsewhere(
    people: People, client_of: Client
) -> None:
    link = asked_link(client_of, people.admin, people.viewer).json()["sign_in_link"]
    body = {"username": "viewer", "role": "admin"}
    assert client_of(people.outsider).post("/api/workspaces/other/members", body).status_code == 201
    assert asked_link(client_of, people.admin, people.viewer).status_code == 403
    assert asked_link(client_of, people.outsider, people.viewer, "other").status_code == 403
    assert redeem(client_of, link) == 403


def test_a_member_removed_and_added_again_gets_a_link(people: People, client_of: Client) -> None:
    admin = client_of(people.admin)
    admin.delete(f"/api/workspaces/main/members/{member(people.viewer)}")
    body = {"username": "viewer", "role": "viewer"}
    link = admin.post("/api/workspaces/main/members", body).json()["sign_in_link"]
    assert redeem(client_of, link) == 200


def test_a_newer_sign_in_link_ends_the_older_one(people: People, client_of: Client) -> None:
    first, second = (actions.issue_sign_in_link(people.viewer) for _ in range(2))
    assert redeem(client_of, first) == 403
    assert redeem(client_of, second) == 200


def test_removing_a_member_ends_the_sign_in_link(people: People, client_of: Client) -> None:
    link = asked_link(client_of, people.admin, people.viewer).json()["sign_in_link"]
    client_of(people.admin).delete(f"/api/workspaces/main/members/{member(people.viewer)}")
    assert redeem(client_of, link) == 403


# -- tokens and passwords -------------------------------------------------------------------------
def script_of(client_of: Client, person: User) -> Any:
    """A client with an API token of the person."""
    script = client_of(None)
    made = client_of(person).post("/api/tokens", {"name": "ci"}).json()
    script.credentials(HTTP_AUTHORIZATION=f"Token {made['token']}")
    return script


def test_a_token_cannot_lead_to_further_access(people: People, client_of: Client) -> None:
    script = script_of(client_of, people.admin)
    members = "/api/workspaces/main/members"
    viewer = f"{members}/{member(people.viewer)}"
    for answer in (
        script.post("/api/tokens", {"name": "longer", "days": 366}),
        script.put("/api/account/password", {"new": PASSWORD}),
        script.post(members, {"username": "friend", "role": "admin"}),
        script.patch(viewer, {"role": "admin"}),
        script.delete(viewer),
        script.post(f"{viewer}/link"),
    ):
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "session_needed"
    assert ApiToken.objects.count() == 1
    assert script.get(members).status_code == 200


def test_a_new_password_ends_tokens_links_and_other_sessions(
    people: People, client_of: Client
) -> None:
    script, elsewhere = script_of(client_of, people.editor), client_of(people.editor)
    link = actions.issue_sign_in_link(people.editor)
    here = client_of(people.editor)
    assert here.put("/api/account/password", {"new": PASSWORD}).status_code == 200
    assert here.get("/api/tokens").json()["results"] == []
    assert elsewhere.get("/api/tokens").status_code == 401
    assert script.get("/api/tokens").status_code == 401
    assert redeem(client_of, link) == 403


# -- live events ----------------------------------------------------------------------------------
async def seconds_until_end(
    client: AsyncClient, end: Any, topology: int | None = None, **headers: Any
) -> float:
    """Open the live events of ``main``, call `end`; return the seconds until the stream ends."""
    query: dict[str, Any] = {"workspace": "main"} if topology is None else {"topology": topology}
    answer: Any = await client.get("/api/live", query, headers=headers)
    assert answer.status_code == 200
    stream = aiter(answer.streaming_content)
    try:
        while b"event: snapshot" not in await anext(stream):
            pass
        await sync_to_async(end)()
        began = time.monotonic()
        async with asyncio.timeout(10):
            async for _ in stream:
                pass
        return time.monotonic() - began
    finally:
        await hubs.hub().close()
        hubs._hubs.clear()


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_live_events_end_when_the_token_is_revoked(people: People) -> None:
    token, secret = await sync_to_async(actions.create_token)(people.viewer, "ci", 1)
    headers: Any = {"Authorization": f"Token {secret}"}
    assert await seconds_until_end(AsyncClient(), token.delete, **headers) < 3


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", ["session", "password", "membership"])
async def test_live_events_end_with_the_session_and_the_membership(
    people: People, end: str
) -> None:
    client = AsyncClient()
    backend = "django.contrib.auth.backends.ModelBackend"
    await client.aforce_login(people.viewer, backend=backend)
    session = await client.asession()
    ends = {
        "session": session.flush,
        "password": lambda: actions.set_password(people.viewer, "", PASSWORD),
        "membership": lambda: actions.remove_member(people.admin, people.viewer.memberships.get()),
    }
    assert await seconds_until_end(client, ends[end]) < 3


@pytest.mark.alone
@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_live_events_end_in_time_while_redis_does_not_respond(
    people: People, redis_server: RedisServer
) -> None:
    token, secret = await sync_to_async(actions.create_token)(people.viewer, "ci", 1)
    topology = await sync_to_async(create_topology)(
        people.editor, people.workspace, "Orders", document("a")
    )

    def end() -> None:
        redis_server.pause()
        # The stream waits for Redis by now, which it does at least every two seconds.
        time.sleep(2.5)
        ApiToken.objects.filter(pk=token.pk).delete()

    headers: Any = {"Authorization": f"Token {secret}"}
    try:
        seconds = await seconds_until_end(AsyncClient(), end, topology=topology.pk, **headers)
    finally:
        redis_server.resume()
    assert seconds < 3


# -- addresses and hosts --------------------------------------------------------------------------
def wrong_sign_ins(count: int, **headers: str) -> list[int]:
    """Status codes of sign-ins with a wrong password, each with another X-Forwarded-For."""
    body = {"username": "editor", "password": "wrong"}
    browser = DjangoClient()
    return [
        browser.post(
            "/api/session",
            body,
            content_type="application/json",
            headers={"X-Forwarded-For": f"203.0.113.{number}", **headers},
        ).status_code
        for number in range(count)
    ]


def test_the_lock_out_is_not_evaded_by_another_forwarded_address(
    people: People, client_of: Client
) -> None:
    assert wrong_sign_ins(8)[-1] == 429


def test_behind_a_configured_proxy_each_client_has_its_own_lock_out(
    people: People, client_of: Client, millrace_settings: Any
) -> None:
    millrace_settings.MILLRACE_PROXIES = environment.read({"MILLRACE_PROXIES": "127.0.0.1"}).proxies
    assert set(wrong_sign_ins(8)) == {400}
    found = AuditEntry.objects.filter(action="session.refuse").values_list("address", flat=True)
    assert set(found) == {f"203.0.113.{number}" for number in range(8)}


def test_the_address_is_the_last_one_that_no_proxy_wrote_about_itself() -> None:
    proxies = environment.read({"MILLRACE_PROXIES": "10.0.0.0/8, ::1"}).proxies
    assert client_address("198.51.100.1", "1.1.1.1", proxies) == "198.51.100.1"
    assert client_address("10.0.0.1", "1.1.1.1, 203.0.113.9", proxies) == "203.0.113.9"
    assert client_address("10.0.0.1", "203.0.113.9, 10.0.0.2", proxies) == "203.0.113.9"
    assert client_address("::ffff:10.0.0.1", "2001:db8::1", proxies) == "2001:db8::1"
    assert client_address("10.0.0.1", "nonsense", proxies) == "10.0.0.1"
    assert client_address("10.0.0.1", "", proxies) == "10.0.0.1"
    assert environment.read({}).proxies == ()
    with pytest.raises(ImproperlyConfigured, match="'everybody'"):
        environment.read({"MILLRACE_PROXIES": "everybody"})


def test_the_container_believes_no_forwarded_address_by_itself() -> None:
    assert '"--no-proxy-headers"' in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    assert "MILLRACE_PROXIES: ${MILLRACE_PROXIES:-}" in compose


@pytest.mark.parametrize("path", ["/", "/api/session", "/assets/x.js", "/admin/"])
def test_a_request_for_another_host_is_refused(path: str, db: None) -> None:
    refused = DjangoClient().get(path, headers={"Host": "rebound.example"})
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "bad_request"
    assert DjangoClient().get(path, headers={"Host": "localhost:8000"}).status_code != 400


# -- the audit ------------------------------------------------------------------------------------
def test_the_audit_has_failed_sign_ins_with_the_clients_address(
    people: People, client_of: Client
) -> None:
    people.editor.set_password(PASSWORD)
    people.editor.save()
    for name, password in (("editor", "wrong"), ("nobody", "wrong"), ("editor", PASSWORD)):
        body = {"username": name, "password": password}
        client_of(None).post("/api/session", body, REMOTE_ADDR="198.51.100.7")
    found = AuditEntry.objects.order_by("id").values_list("action", "subject_id", "address")
    assert list(found) == [
        ("session.refuse", people.editor.pk, "198.51.100.7"),
        ("session.refuse", None, "198.51.100.7"),
        ("session.begin", people.editor.pk, "198.51.100.7"),
    ]
    assert AuditEntry.objects.order_by("id")[1].detail == {"username": "nobody", "locked": False}


def test_the_audit_has_the_settings_of_redeploys(
    people: People, client_of: Client, deployment: Deployment
) -> None:
    path = f"/api/deployments/{deployment.pk}/redeploy"
    body = {"version": 2, "settings": {"cores": 2}}
    answer = client_of(people.operator).post(path, body, REMOTE_ADDR="198.51.100.7")
    assert answer.status_code == 200
    page = client_of(people.admin).get("/api/workspaces/main/audit").json()
    entry = page["results"][0]
    assert (entry["action"], entry["address"]) == ("deployment.redeploy", "198.51.100.7")
    assert entry["detail"]["settings"]["cores"] == 2


# -- retention ------------------------------------------------------------------------------------
def aged(days: float) -> datetime:
    return timezone.now() - timedelta(days=days)


def test_used_links_ended_sessions_and_old_audit_entries_are_deleted(
    people: People, client_of: Client, millrace_settings: Any
) -> None:
    """One row of each kind is just too old, and one is not."""
    for number, days in enumerate((31, 29)):
        used = SignInLink.objects.create(
            user=people.viewer, digest=f"used {number}", expires_at=aged(days - 1)
        )
        SignInLink.objects.filter(pk=used.pk).update(used_at=aged(days))
        SignInLink.objects.create(
            user=people.viewer, digest=f"expired {number}", expires_at=aged(days)
        )
        token, _ = ApiToken.objects.create(people.viewer, name=str(number))
        ApiToken.objects.filter(pk=token.pk).update(expiry=aged(days))
    AuditEntry.objects.create(action="old", at=aged(366))
    AuditEntry.objects.create(action="young", at=aged(364))
    for hours in (-1, 1):
        expires = timezone.now() + timedelta(hours=hours)
        Session.objects.create(session_key=f"of {hours}", session_data="", expire_date=expires)
    scheduled = app.conf.beat_schedule["forget-old-access"]
    assert scheduled["task"] == tasks.forget_old_access.name
    tasks.forget_old_access()
    left = SignInLink.objects.order_by("digest").values_list("digest", flat=True)
    # A link is kept for 30 days after its use or expiry, whichever comes first.
    assert list(left) == ["expired 1", "used 1"]
    assert list(ApiToken.objects.values_list("name", flat=True)) == ["1"]
    assert list(AuditEntry.objects.values_list("action", flat=True)) == ["young"]
    assert list(Session.objects.values_list("session_key", flat=True)) == ["of 1"]
    assert set(forget_old().values()) == {0}


def test_how_long_access_and_audit_are_kept_is_a_setting() -> None:
    assert (environment.read({}).access_days, environment.read({}).audit_days) == (30, 365)
    assert environment.read({"MILLRACE_AUDIT_DAYS": "90"}).audit_days == 90
    for wrong in ("0", "-1", "soon", "99999"):
        with pytest.raises(ImproperlyConfigured, match="MILLRACE_ACCESS_DAYS"):
            environment.read({"MILLRACE_ACCESS_DAYS": wrong})
