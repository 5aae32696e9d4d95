"""Random requests: none causes a server error, and every refusal has the same shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .test_rights import BODIES, OPERATIONS, World, world  # noqa: F401  (a fixture)

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
#: Signing in is left out because it is throttled and locks accounts.
WRITES = [operation for operation in BODIES if operation != "session_begin"]
READS = [
    operation
    for operation, (method, _) in OPERATIONS.items()
    if method == "get" and operation not in {"live", "topic_list", "missing_topic_list"}
]
QUIET = settings(
    max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def check(response: Any) -> None:
    assert response.status_code < 500 or response.status_code == 503, response.content
    if response.status_code >= 400:
        error = response.json()["error"]
        assert error["code"]
        assert error["message"]


@pytest.mark.parametrize("operation", WRITES)
def test_no_body_is_a_defect(operation: str, world: World) -> None:  # noqa: F811
    client = world.client("installation" if operation.startswith("installation") else "admin")
    method, path = OPERATIONS[operation]

    @QUIET
    @given(st.data())
    def trial(data: st.DataObject) -> None:
        body = data.draw(
            JSON | st.fixed_dictionaries(dict.fromkeys(BODIES[operation], JSON)), label="body"
        )
        with transaction.atomic():
            check(getattr(client, method)(path.format(**world.ids), body))
            transaction.set_rollback(True)

    trial()


@pytest.mark.parametrize("operation", READS)
def test_no_query_is_a_defect(operation: str, world: World) -> None:  # noqa: F811
    client = world.client("installation" if operation.startswith("installation") else "admin")
    names = ("page", "page_size", "search", "ordering", "after", "level", "node")

    @settings(QUIET, max_examples=3)
    @given(st.fixed_dictionaries({name: TEXT | st.integers().map(str) for name in names}))
    def trial(query: dict[str, str]) -> None:
        check(client.get(OPERATIONS[operation][1].format(**world.ids), query))

    trial()


def test_an_id_beyond_every_integer_is_simply_not_there(world: World) -> None:  # noqa: F811
    for name in ("admin", "installation"):
        client = world.client(name)
        world.ids |= {key: 10**40 for key, id_ in world.ids.items() if isinstance(id_, int)}
        for operation in OPERATIONS:
            _, status, text = world.ask(operation, client)
            assert status < 500 or status == 503, (operation, text)
            if status >= 400:
                assert json.loads(text)["error"]["message"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the size of SQLite alone is limited")
def test_a_full_database_is_named_and_nothing_is_half_saved(world: World) -> None:  # noqa: F811
    client = world.client("admin")
    path = f"/api/workspaces/{world.ids['workspace']}/topologies"
    before = client.get(path).json()["count"]
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 1")
        try:
            answers: list[Any] = []
            while len(answers) < 500 and (not answers or answers[-1].status_code == 201):
                answers.append(client.post(path, {"name": f"New {len(answers)}"}))
        finally:
            cursor.execute("PRAGMA max_page_count = 1073741823")
    *saved, refused = answers
    assert refused.status_code == 503, refused.content
    assert refused.json()["error"]["code"] == "database_unavailable"
    assert client.get(path).json()["count"] == before + len(saved)
