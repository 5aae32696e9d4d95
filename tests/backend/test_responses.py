"""Headers of the API's responses, and the description that it serves."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.test import Client as DjangoClient
from drf_spectacular.generators import SchemaGenerator

from .test_rights import OPERATIONS, ROOT, World, world  # noqa: F401  (a fixture)

#: responses that browsers keep and ask about; they are the same for everybody
KEPT = {"catalog_get"}


def test_no_response_of_the_api_is_stored_by_caches(world: World) -> None:  # noqa: F811
    client = world.client("admin")
    seen = 0
    for operation, (method, path) in OPERATIONS.items():
        if method != "get" or operation in KEPT:
            continue
        answer: Any = client.get(path.format(**world.ids))
        assert answer.headers["Cache-Control"] == "no-store", operation
        seen += 1
    assert seen > 40
    assert client.get("/api/nothing").headers["Cache-Control"] == "no-store"
    assert client.post("/api/session", {}).headers["Cache-Control"] == "no-store"


def test_the_description_is_read_once_and_not_generated_for_a_request(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def generated(*_: Any, **__: Any) -> Any:
        raise AssertionError("the description was generated")

    monkeypatch.setattr(SchemaGenerator, "get_schema", generated)
    client = DjangoClient()
    answer = client.get("/api/schema")
    assert answer.content == (ROOT / "backend" / "openapi.json").read_bytes()
    began = time.monotonic()
    for _ in range(20):
        assert client.get("/api/schema").status_code == 200
    assert (time.monotonic() - began) / 20 < 0.05
    known = answer.headers["ETag"]
    again = client.get("/api/schema", headers={"If-None-Match": known})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", known)
