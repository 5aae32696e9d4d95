"""Every operation of the API by every kind of person, as the table ``rights.md`` states."""

from __future__ import annotations

import json
import re
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from accounts import actions
from accounts.models import ApiToken, User
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from millrace_backend import kafka
from rest_framework.test import APIClient

from .conftest import Client, People, document

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("rights.md")
PEOPLE = (
    *("anonymous", "closed", "stranger", "viewer", "editor", "operator", "admin"),
    *("installation", "token"),
)
#: error codes of refusals; “yes” is any other response, which must have the table's status
REFUSALS = {
    "401": {"not_authenticated", "authentication_failed"},
    "403": {"role_too_small", "session_needed", "installation_admin_needed"},
    "404": {"not_found"},
}


def operations() -> dict[str, tuple[str, str]]:
    """Method and path of each operation of the committed API description."""
    description = json.loads((ROOT / "backend" / "openapi.json").read_text(encoding="utf-8"))
    return {
        operation["operationId"]: (method, path)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    }


def rows() -> dict[str, dict[str, str]]:
    """Return the table: expected responses by operation and column."""
    lines = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in TABLE.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    header, _, *found = lines
    assert header == ["operation", "answer", *PEOPLE]
    return {name: dict(zip(header[1:], cells, strict=True)) for name, *cells in found}


OPERATIONS = operations()
RECIPE = {"key": {"format": "string"}, "value": {"format": "string"}}
#: bodies and queries of the operations that need one
BODIES: dict[str, dict[str, Any]] = {
    "session_begin": {"username": "nobody", "password": "wrong"},
    "session_begin_by_link": {"token": "wrong"},
    "account_update": {"display_name": "New"},
    "account_password": {"new": "another-long-phrase-8"},
    "token_create": {"name": "ci"},
    "member_add": {"username": "new", "role": "viewer"},
    "member_change": {"role": "editor"},
    "topology_create": {"name": "New"},
    "topology_update": {"name": "Renamed"},
    "compile": {"document": document()},
    "verification_start": {"document": document("unsaved"), "inputs": []},
    "simulation_run": {"document": document("unsaved"), "inputs": []},
    "state_compare": {"old": document(), "new": document("c")},
    "difference_search": {"old": document("unsaved"), "new": document("c")},
    "program_read": {"name": "job.py", "program": "x = 1"},
    "deployment_create": {"topology": "{topology}", "version": 1},
    "deployment_redeploy": {"version": 2},
    "deployment_scale": {"cores": 2},
    "deployment_schedule": {
        "times": [{"days": [1], "start": "08:00", "stop": "18:00"}],
        "zone": "UTC",
    },
    "deployment_promote": {"environment": "prod"},
    "shadow_create": {"version": 2},
    "shadow_end": {"name": "Orders"},
    "deployment_plan_start": {"version": 2},
    "deployment_failed_record": {
        "decision": "skip",
        "topic": "orders",
        "partition": 0,
        "offset": 0,
    },
    "deployment_follow_record": {"topic": "orders", "partition": 0, "offset": 0},
    "deployment_simulation_run": {"inputs": [], "begins": {"batch": 0, "tasks": None}},
    "draft_save": {"document": document("c"), "base_version": 2},
    "version_create": {"document": document("c"), "base_version": 2},
    "comment_create": {"node": "a", "text": "Why?"},
    "comment_change": {"resolved": True},
    "version_name": {"name": "Release"},
    "test_create": {"name": "New", "inputs": [], "expected": {"dropped": 0}},
    "test_replace": {"name": "New", "inputs": [], "expected": {"dropped": 0}},
    "presence_update": {"node": "a"},
    "cursor_update": {"at": [1, 2]},
    "record_search": {"value_format": "string"},
    "record_read": {"value_format": "string"},
    "record_produce": {"value": {"format": "string", "text": "a"}},
    "generator_start": {"topic": "orders", "recipe": RECIPE},
    "generator_change": {"recipe": RECIPE},
    "format_types": RECIPE,
    "expression_try": {
        "expression": "key",
        "types": {"key": "STRING", "value": "INT"},
        "records": [{"key": "a"}],
    },
    "records_generate": {"topic": "orders", "recipe": RECIPE},
    "topic_create": {"topics": [{"name": "orders", "partitions": 1}]},
    "workspace_rules_set": {"tests_required": False},
    "repository_bind": {"url": "/srv/git/orders.git"},
    "repository_change_take": {"commit": "0" * 40, "base_version": 1},
    "alert_rule_create": {"name": "New", "condition": "failed"},
    "alert_rule_replace": {"name": "New", "condition": "failed"},
    "installation_workspace_create": {"slug": "new", "name": "New", "admin": "ada"},
    "installation_account_change": {"installation_admin": False},
    "installation_workspace_set": {"topic_prefixes": ["orders-"]},
}
QUERIES = {
    "deployment_figures": "?figure=lag",
    "workspace_delete": "?name=Main",
    "live": "?topology={topology}",
    "deployment_plan": "?version=2",
    "deployment_promotion": "?environment=prod",
    "deployment_records": "?edge=a.out>b.in",
}


class World:
    """Objects of the workspace ``main`` and a client for each person; no Kafka and no analyzer."""

    def __init__(self, people: People, deployment: Any, client_of: Client) -> None:
        self.people = people
        self.client_of = client_of
        self.chief = actions.set_up("chief", "chiefs")
        token, self.secret = ApiToken.objects.create(people.admin, name="admin's")
        self.ids = {
            "workspace": "main",
            "topology": deployment.topology_id,
            "deployment": deployment.pk,
            "number": 1,
            "token": token.pk,
            "member": people.viewer.memberships.get().pk,
            "account": people.viewer.pk,
            "draft": 10**6,
            "topic": "orders",
            "partition": 0,
            "offset": 0,
            "test": deployment.topology.tests.create(
                name="One", inputs=[], expected={"dropped": 0}, updated_at=timezone.now()
            ).pk,
            "store": "count",
            "run": 1,
            "name": "stream",
            "template_id": "word-count",
            "verification": "0" * 32,
            "generator": people.workspace.generators.create(
                topic="orders", recipe=RECIPE, rate=1
            ).pk,
            "folder": "Orders",
            "comment": deployment.topology.comments.create(
                node="a", text="Why?", author=people.editor
            ).pk,
            "rule": deployment.workspace.alert_rules.create(name="One", condition="failed").pk,
        }

    def client(self, name: str) -> APIClient:
        """The client of a person of the table."""
        if name == "token":
            script = self.client_of(None)
            script.credentials(HTTP_AUTHORIZATION=f"Token {self.secret}")
            return script
        persons: dict[str, User | None] = {
            "anonymous": None,
            "closed": self.people.admin,
            "stranger": self.people.outsider,
            "installation": self.chief,
        }
        person = persons[name] if name in persons else self.people[name]
        client = self.client_of(person)
        if name == "closed":
            User.objects.filter(pk=self.people.admin.pk).update(is_active=False)
        return client

    def ask(self, operation: str, client: APIClient) -> tuple[str, int, str]:
        """Return a refusal's status or “yes”, the status, and the text; roll the request back."""
        method, path = OPERATIONS[operation]
        body = {key: self._filled(value) for key, value in BODIES.get(operation, {}).items()}
        address = (path + QUERIES.get(operation, "")).format(**self.ids)
        cookies = client.cookies.output()
        with transaction.atomic():
            answer: Any = getattr(client, method)(address, body or None, format="json")
            transaction.set_rollback(True)
        client.cookies = SimpleCookie(cookies.replace("Set-Cookie:", ""))
        status = str(answer.status_code)
        text = "" if answer.streaming else answer.content.decode(errors="replace")
        refused = status in REFUSALS and json.loads(text)["error"]["code"] in REFUSALS[status]
        return status if refused else "yes", answer.status_code, text

    def _filled(self, value: Any) -> Any:
        return value.format(**self.ids) if isinstance(value, str) else value


@pytest.fixture
def world(
    people: People,
    deployment: Any,
    millrace_settings: Any,
    client_of: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = "127.0.0.1:1"
    millrace_settings.MILLRACE_ANALYZER = None
    monkeypatch.setattr(kafka, "ANSWER_SECONDS", 0.1)
    return World(people, deployment, client_of)


def test_the_table_has_a_row_for_every_operation_of_the_api() -> None:
    assert list(rows()) == sorted(OPERATIONS, key=lambda name: OPERATIONS[name][::-1])


def test_every_address_is_described() -> None:
    """The table would lack an address that the API description omits."""
    described = {(method, path.removeprefix("/api/")) for method, path in OPERATIONS.values()}
    assert _served() == described | {("get", "schema")}


@pytest.mark.parametrize("name", PEOPLE)
def test_everybody_is_answered_as_the_table_says(name: str, world: World) -> None:
    client, wrong = world.client(name), {}
    for operation, row in rows().items():
        answer, status, text = world.ask(operation, client)
        if answer != row[name] or (answer == "yes" and str(status) != row["answer"]):
            wrong[operation] = (row[name], answer, status, text[:200])
        if answer in {"401", "404"}:
            assert "Orders" not in text, operation
    assert wrong == {}


def _served() -> set[tuple[str, str]]:
    """Every (method, address) that the URL configuration serves under /api/."""

    def walk(patterns: Any, prefix: str) -> Any:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, prefix + str(pattern.pattern))
            elif isinstance(pattern, URLPattern):
                view = getattr(pattern.callback, "view_class", None)
                view = view or getattr(pattern.callback, "cls", None)
                for method in ("get", "post", "put", "patch", "delete") if view else ():
                    if hasattr(view, method):
                        yield method, prefix + str(pattern.pattern)

    root = next(
        pattern
        for pattern in get_resolver().url_patterns
        if isinstance(pattern, URLResolver) and str(pattern.pattern) == "api/"
    )
    return {
        (method, re.sub(r"<\w+:(\w+)>", r"{\1}", path))
        for method, path in walk(root.url_patterns, "")
    }


def test_an_address_that_does_not_exist_is_answered_in_the_same_shape(
    client_of: Client, people: People
) -> None:
    response = client_of(people.admin).get("/api/nothing/here")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"
