"""Random requests: whatever comes, no answer is a defect and every refusal has the one shape."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Client, People
from .test_routes import ROUTES, Route, call, world  # noqa: F401  (a fixture)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
WRITES = [route for route in ROUTES if route.body is not None and route.path != "session"]
READS = [
    route for route in ROUTES if route.method == "get" and route.path not in {"live", "schema"}
]
QUIET = settings(
    max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def check(response: Any) -> None:
    assert response.status_code < 500 or response.status_code == 503, response.content
    if response.status_code >= 400:
        error = response.json()["error"]
        assert error["code"]
        assert error["message"]


@pytest.mark.parametrize("route", WRITES, ids=str)
def test_no_body_is_a_defect(
    route: Route,
    world: dict[str, Any],  # noqa: F811
    people: People,
    client_of: Client,
) -> None:
    client = client_of(people.admin)

    @QUIET
    @given(st.data())
    def trial(data: st.DataObject) -> None:
        body = data.draw(
            JSON | st.fixed_dictionaries(dict.fromkeys(route.body, JSON)), label="body"
        )
        with transaction.atomic():
            check(getattr(client, route.method)(f"/api/{route.path.format(**world)}", body))
            transaction.set_rollback(True)

    trial()


@pytest.mark.parametrize("route", READS, ids=str)
def test_no_query_is_a_defect(
    route: Route,
    world: dict[str, Any],  # noqa: F811
    people: People,
    client_of: Client,
) -> None:
    client = client_of(people.admin)
    names = ("page", "page_size", "search", "ordering", "after", "level", "node")

    @settings(QUIET, max_examples=6)
    @given(st.fixed_dictionaries({name: TEXT | st.integers().map(str) for name in names}))
    def trial(query: dict[str, str]) -> None:
        check(client.get(f"/api/{route.path.format(**world)}", query))

    if "topics" not in route.path:
        trial()


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_an_id_beyond_every_integer_is_simply_not_there(
    route: Route,
    world: dict[str, Any],  # noqa: F811
    people: People,
    client_of: Client,
) -> None:
    huge = {name: 10**40 if isinstance(value, int) else value for name, value in world.items()}
    response = call(client_of(people.admin), route, huge)
    check(response)
