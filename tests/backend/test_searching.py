"""The limits of the search of every list."""

from __future__ import annotations

import json
import time

import pytest

from .test_rights import OPERATIONS, ROOT, World, world  # noqa: F401  (a fixture)

DESCRIPTION = json.loads((ROOT / "backend" / "openapi.json").read_text(encoding="utf-8"))
#: the parameter `search` of each operation that has one
SEARCHED = {
    operation["operationId"]: parameter
    for methods in DESCRIPTION["paths"].values()
    for operation in methods.values()
    for parameter in operation.get("parameters", [])
    if parameter["name"] == "search"
}


def test_every_search_states_its_maximum_length() -> None:
    assert len(SEARCHED) >= 15
    assert {each["schema"].get("maxLength") for each in SEARCHED.values()} == {200}


@pytest.mark.parametrize("operation", SEARCHED)
def test_a_search_has_ten_words_and_200_characters_at_most(
    operation: str,
    world: World,  # noqa: F811
) -> None:
    client = world.client("installation" if operation.startswith("installation") else "admin")
    path = OPERATIONS[operation][1].format(**world.ids)
    for search in ("a " * 11, "a" * 201, "word " * 3_000):
        began = time.monotonic()
        answer = client.get(path, {"search": search})
        assert time.monotonic() - began < 5
        assert answer.status_code == 400, answer.content
        error = answer.json()["error"]
        assert error["code"] == "search_too_long"
        assert "at most" in error["message"]
        assert error["hint"]
    for search in ("a " * 10, "a" * 200):
        answer = client.get(path, {"search": search})
        # There is no Kafka in this test.
        assert answer.status_code == (503 if operation == "topic_figures_list" else 200)
