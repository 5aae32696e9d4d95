"""Every address of the API, walked by everybody who must not get in and everybody who may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from accounts.choices import Role
from accounts.models import ApiToken
from django.urls import URLPattern, URLResolver, get_resolver

from .conftest import Client, People, document

PUBLIC, SIGNED_IN = "public", "signed in"
VIEWER, EDITOR, OPERATOR, ADMIN = (role.value for role in Role)
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Route:
    """A method at an address, and who may use it."""

    method: str
    path: str
    needs: str
    body: Any = None
    #: what the right person gets, with everything outside the backend absent
    answer: int = 200
    query: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"


W, T, D = "workspaces/{workspace}", "topologies/{topology}", "deployments/{deployment}"
ROUTES = [
    Route("get", "session", PUBLIC),
    Route("post", "session", PUBLIC, {"username": "nobody", "password": "wrong"}, 400),
    Route("delete", "session", PUBLIC),
    Route("post", "session/link", PUBLIC, {"token": "wrong"}, 403),
    Route("get", "health", PUBLIC),
    Route("get", "schema", PUBLIC),
    Route("get", "catalog", SIGNED_IN),
    Route("get", "templates", SIGNED_IN),
    Route("patch", "account", SIGNED_IN, {"display_name": "New"}),
    Route("put", "account/password", SIGNED_IN, {"new": "another-long-phrase-8"}),
    Route("get", "tokens", SIGNED_IN),
    Route("post", "tokens", SIGNED_IN, {"name": "ci"}, 201),
    Route("delete", "tokens/{token}", SIGNED_IN, answer=404),
    Route("get", f"{W}/members", VIEWER),
    Route("post", f"{W}/members", ADMIN, {"username": "new", "role": "viewer"}, 201),
    Route("patch", f"{W}/members/{{member}}", ADMIN, {"role": "editor"}),
    Route("delete", f"{W}/members/{{member}}", ADMIN, answer=204),
    Route("post", f"{W}/members/{{member}}/link", ADMIN, answer=201),
    Route("get", f"{W}/audit", ADMIN),
    Route("get", f"{W}/topologies", VIEWER),
    Route("post", f"{W}/topologies", EDITOR, {"name": "New"}, 201),
    Route("post", f"{W}/compile", VIEWER, {"document": document()}, 503),
    Route("get", f"{W}/topics", VIEWER, answer=503),
    Route("get", f"{W}/deployments", VIEWER),
    Route(
        "post", f"{W}/deployments", OPERATOR, {"topology": "{topology}", "version": 1}, answer=409
    ),
    Route("get", T, VIEWER),
    Route("patch", T, EDITOR, {"name": "Renamed"}),
    Route("delete", T, OPERATOR, answer=204),
    Route("get", f"{T}/draft", VIEWER),
    Route("put", f"{T}/draft", EDITOR, {"document": document("c"), "base_version": 2}),
    Route("delete", f"{T}/draft", EDITOR, answer=204),
    Route("get", f"{T}/versions", VIEWER),
    Route(
        "post", f"{T}/versions", EDITOR, {"document": document("c"), "base_version": 2}, answer=201
    ),
    Route("get", f"{T}/versions/{{number}}", VIEWER),
    Route("patch", f"{T}/versions/{{number}}", EDITOR, {"name": "Release"}),
    Route("get", f"{T}/versions/{{number}}/export", VIEWER, answer=503),
    Route("put", f"{T}/presence", VIEWER, {"node": "a"}, 204),
    Route("get", "live", VIEWER, query={"topology": "{topology}"}),
    Route("get", D, VIEWER),
    Route("delete", D, OPERATOR, answer=204),
    Route("post", f"{D}/start", OPERATOR),
    Route("post", f"{D}/stop", OPERATOR),
    Route("post", f"{D}/restart", OPERATOR),
    Route("post", f"{D}/redeploy", OPERATOR, {"version": 2}),
    Route("get", f"{D}/runs", VIEWER),
    Route("get", f"{D}/logs", VIEWER),
    Route("get", f"{D}/runtime", VIEWER, answer=404),
]


@pytest.fixture
def world(people: People, deployment: Any, millrace_settings: Any) -> dict[str, Any]:
    """Ids of things that exist in the workspace ``main``; Kafka is away."""
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = "127.0.0.1:1"
    millrace_settings.MILLRACE_ANALYZER = None
    token, _ = ApiToken.objects.create(people.admin, name="admin's")
    return {
        "workspace": "main",
        "topology": deployment.topology_id,
        "deployment": deployment.pk,
        "number": 1,
        "token": token.pk,
        "member": people.viewer.memberships.get().pk,
    }


def call(client: Any, route: Route, world: dict[str, Any]) -> Any:
    def filled(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("{"):
            return value.format(**world)
        return value

    query = "&".join(f"{name}={filled(value)}" for name, value in route.query.items())
    path = f"/api/{route.path.format(**world)}" + (f"?{query}" if query else "")
    body = {k: filled(v) for k, v in route.body.items()} if route.body is not None else None
    return getattr(client, route.method)(path, body, format="json")


def described() -> Iterator[tuple[str, str]]:
    """Every (method, address) that the URL configuration serves under /api/."""

    def walk(patterns: Any, prefix: str) -> Iterator[tuple[str, str]]:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, prefix + str(pattern.pattern))
            elif isinstance(pattern, URLPattern):
                view = getattr(pattern.callback, "view_class", None)
                view = view or getattr(pattern.callback, "cls", None)
                for method in METHODS if view else ():
                    if hasattr(view, method):
                        yield method, prefix + str(pattern.pattern)

    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, URLResolver) and str(pattern.pattern) == "api/":
            yield from walk(pattern.url_patterns, "")


def test_the_table_names_every_route_of_the_api() -> None:
    served = {
        (method, path.replace("<int:", "{").replace("<slug:", "{").replace(">", "}"))
        for method, path in described()
    }
    assert served == {(route.method, route.path) for route in ROUTES}


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_nobody_gets_in_without_signing_in(
    route: Route, world: dict[str, Any], client_of: Client
) -> None:
    response = call(client_of(None), route, world)
    if route.needs == PUBLIC:
        assert response.status_code == route.answer
    else:
        assert response.status_code == 401
        assert response.json()["error"]["code"] == "not_authenticated"


@pytest.mark.parametrize(
    "route", [r for r in ROUTES if r.needs not in {PUBLIC, SIGNED_IN}], ids=str
)
def test_people_of_another_workspace_are_told_nothing(
    route: Route, world: dict[str, Any], people: People, client_of: Client
) -> None:
    response = call(client_of(people.outsider), route, world)
    assert response.status_code == 404
    assert "Orders" not in response.content.decode()


@pytest.mark.parametrize(
    "route", [r for r in ROUTES if r.needs not in {PUBLIC, SIGNED_IN}], ids=str
)
def test_every_role_below_the_needed_one_is_refused(
    route: Route, world: dict[str, Any], people: People, client_of: Client
) -> None:
    for role in Role:
        if not role.allows(Role(route.needs)):
            response = call(client_of(people[role.value]), route, world)
            assert response.status_code == 403, role
            assert response.json()["error"]["code"] == "role_too_small"


@pytest.mark.parametrize("route", [r for r in ROUTES if r.path != "catalog"], ids=str)
def test_the_needed_role_is_enough(
    route: Route, world: dict[str, Any], people: People, client_of: Client
) -> None:
    person = people[route.needs] if route.needs in Role.values else people.viewer
    response = call(client_of(person), route, world)
    assert response.status_code == route.answer, response.content
    if response.status_code >= 400:
        error = response.json()["error"]
        assert error["code"]
        assert error["message"]


@pytest.mark.parametrize("route", [r for r in ROUTES if r.needs in Role.values], ids=str)
def test_people_whose_account_is_closed_are_shut_out(
    route: Route, world: dict[str, Any], people: People, client_of: Client
) -> None:
    client = client_of(people.admin)
    people.admin.is_active = False
    people.admin.save()
    assert call(client, route, world).status_code == 401


def test_an_address_that_does_not_exist_is_answered_in_the_same_shape(
    client_of: Client, people: People
) -> None:
    response = client_of(people.admin).get("/api/nothing/here")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"
