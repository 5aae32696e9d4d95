"""Generated records neither delay other requests nor exceed their limits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_backend.errors import ApiError
from millrace_compiler.types.generating import Recipe, lines
from records.encoding import records_of
from records.generating import check_rate, recipe_of

from .conftest import RedisServer
from .serving import Person, installed, serving

PATH = "/api/workspaces/main/generated-records"
FIELDS = 7_000
WIDE = ", ".join(f"f{n} STRING" for n in range(FIELDS))


def request_for(schema: str, count: int, **more: Any) -> dict[str, Any]:
    recipe = {"key": {"format": "string"}, "value": {"format": "json", "schema": schema}, **more}
    return {"topic": "orders", "recipe": recipe, "count": count, "every": 1_000}


@pytest.fixture
def person(redis_server: RedisServer, tmp_path: Path) -> Iterator[Person]:
    """A member of an installation whose backend is a process of its own."""
    installation = installed(tmp_path, redis_server.url)
    with serving(installation, tmp_path):
        found = Person(installation.address, installation.token)
        yield found
        found.close()


@pytest.mark.services
@pytest.mark.alone
def test_a_schema_of_7000_fields_delays_no_other_request(person: Person) -> None:
    assert person.send("POST", PATH, **request_for("a STRING", 1)).status_code == 200
    answers: list[tuple[int, int]] = []

    def generate(count: int) -> None:
        answer = person.send("POST", PATH, **request_for(WIDE, count))
        answers.append((count, answer.status_code))

    asking = [threading.Thread(target=generate, args=(n,)) for n in (28, 2_000, 28, 2_000, 28)]
    for each in asking:
        each.start()
    slowest = 0.0
    while any(each.is_alive() for each in asking):
        began = time.monotonic()
        assert person.send("GET", "/api/workspaces/main/topologies").status_code == 200
        slowest = max(slowest, time.monotonic() - began)
    assert slowest < 1
    assert sorted(answers) == [(28, 200)] * 3 + [(2_000, 400)] * 2


@pytest.mark.django_db
def test_a_request_for_too_many_values_names_how_many_are_possible(
    people: Any, client_of: Any
) -> None:
    answer = client_of(people.viewer).post(PATH, request_for(WIDE, 29))
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "generation_too_large"
    assert "7,002 values" in error["message"]
    assert error["hint"] == "At most 28 records of this schema are possible."
    rules = {f"value.f{n}": {"values": ["x" * 900]} for n in range(500)}
    answer = client_of(people.viewer).post(PATH, request_for(WIDE, 1, fields=rules))
    assert answer.status_code == 400
    assert "200,000 bytes" in answer.json()["error"]["message"]


def wide(**more: Any) -> Recipe:
    formats = {"key": {"format": "string"}, "value": {"format": "json", "schema": WIDE}}
    settings: Any = {**formats, **more}
    return recipe_of("orders", settings)


def test_a_generator_writes_a_limited_number_of_values_a_second() -> None:
    check_rate(wide(), 7)
    with pytest.raises(ApiError, match=r"7,002 values.*8 records a second") as refused:
        check_rate(wide(), 8)
    assert refused.value.hint == "At most 7 records a second of this schema are possible."


@pytest.mark.parametrize(
    "schema",
    [
        "a STRING, b INT, c DECIMAL(38, 10), d TIMESTAMP, e DATE, f BINARY, g BOOLEAN, h DOUBLE",
        "a ARRAY<ARRAY<STRUCT<x: STRING, y: ARRAY<BIGINT>>>>, m MAP<STRING, ARRAY<STRING>>",
        "s STRUCT<t: STRUCT<u: STRING>>, name STRING",
    ],
)
def test_no_generated_record_is_larger_than_its_stated_weight(schema: str) -> None:
    rules = {
        "value.name": {"values": ["long" * 20, "é"]},
        "value.s.t.u": {"parts": [["a" * 30, ""], ["b"]]},
        "key": {"prefix": "customer-", "min": 1, "max": 10**9},
    }
    formats = {"key": {"format": "string"}, "value": {"format": "json", "schema": schema}}
    settings: Any = {**formats, "fields": rules}
    recipe = recipe_of("orders", settings)
    for key, value, _ in records_of(recipe, [(n, 0) for n in range(50)], ""):
        assert len(key or b"") + len(value or b"") <= recipe.weight.size
    assert recipe.weight.values >= max(_values(each["value"]) for each in lines(recipe, 50, 1))


def _values(made: Any) -> int:
    inner = made.values() if isinstance(made, dict) else made if isinstance(made, list) else []
    return 1 + sum(_values(each) for each in inner)
