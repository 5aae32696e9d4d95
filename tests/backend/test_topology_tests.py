"""Tests of a topology: saved, replaced, deleted, found, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from accounts.models import AuditEntry

from tests.backend.conftest import Client, People

LINE = {"topic": "in", "key": "k", "value": "a", "timestamp": 1}
CONDITION = {"topic": "out", "predicate": "value > 0"}
EXPECTED = {"outputs": [{"topic": "out", "key": "k", "value": "a"}]}


def test_a_test_is_kept_found_replaced_and_deleted(
    people: People, client_of: Client, topology: Any
) -> None:
    client, path = client_of(people.editor), f"/api/topologies/{topology.pk}/tests"
    given = {"name": "Late", "inputs": [LINE], "expected": EXPECTED}
    made: Any = client.post(path, given, format="json")
    assert made.status_code == 201
    assert made.json()["expected"]["outputs"] == EXPECTED["outputs"]
    one = f"{path}/{made.json()['id']}"
    client.post(path, {**given, "name": "Null key"}, format="json")
    assert [each["name"] for each in client.get(path).json()["results"]] == ["Late", "Null key"]
    found = client.get(path, {"search": "null"}).json()["results"]
    assert [(each["name"], each["updated_by"]) for each in found] == [
        ("Null key", people.editor.shown_name)
    ]
    judged: dict[str, Any] = {"dropped": 1, "conditions": [CONDITION, {**CONDITION, "records": 2}]}
    replaced: Any = client.put(one, {**given, "expected": judged}, format="json")
    every = {**CONDITION, "records": "every"}
    assert replaced.status_code == 200
    assert replaced.json()["expected"] == {**judged, "conditions": [every, judged["conditions"][1]]}
    assert client.delete(one).status_code == 204
    assert [each["name"] for each in client.get(path).json()["results"]] == ["Null key"]
    assert client.delete(one).json()["error"]["code"] == "not_found"
    assert set(AuditEntry.objects.values_list("action", flat=True)) >= {"test.keep", "test.delete"}


def test_a_name_is_taken_once_and_tests_are_bounded(
    people: People, client_of: Client, topology: Any, millrace_settings: Any
) -> None:
    client, path = client_of(people.editor), f"/api/topologies/{topology.pk}/tests"
    given = {"name": "Late", "inputs": [], "expected": {"dropped": 0}}
    made = client.post(path, given, format="json").json()
    again: Any = client.post(path, {**given, "name": "late"}, format="json")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "name_taken")
    own: Any = client.put(f"{path}/{made['id']}", {**given, "name": "late"}, format="json")
    assert (own.status_code, own.json()["name"]) == (200, "late")
    millrace_settings.QUOTAS = {**millrace_settings.QUOTAS, "tests": 1}
    more: Any = client.post(path, {**given, "name": "More"}, format="json")
    assert (more.status_code, more.json()["error"]["code"]) == (409, "quota_reached")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"inputs": [LINE] * 2001}, "inputs"),
        ({"expected": {}}, "expected"),
        ({"expected": {"outputs": [{"key": "k"}]}}, "expected"),
        ({"expected": {"outputs": "none"}}, "expected"),
        ({"expected": {"stores": {"rows": [{"value": 1}]}}}, "expected"),
        ({"expected": {"conditions": []}}, "expected"),
        ({"expected": {"conditions": [{"predicate": "true"}]}}, "expected"),
        ({"expected": {"conditions": [{"topic": "out", "predicate": " "}]}}, "expected"),
        ({"expected": {"conditions": [{**CONDITION, "store": "s"}]}}, "expected"),
        ({"expected": {"conditions": [{**CONDITION, "records": "all"}]}}, "expected"),
        ({"expected": {"conditions": [{**CONDITION, "records": True}]}}, "expected"),
        ({"expected": {"conditions": [CONDITION] * 51}}, "expected"),
        ({"inputs": [{**LINE, "value": "a" * 3_000_000}]}, "non_field_errors"),
    ],
)
def test_what_is_no_test_is_refused_at_its_field(
    people: People, client_of: Client, topology: Any, change: dict[str, Any], field: str
) -> None:
    given = {"name": "Late", "inputs": [LINE], "expected": EXPECTED, **change}
    answer: Any = client_of(people.editor).post(
        f"/api/topologies/{topology.pk}/tests", given, format="json"
    )
    assert answer.status_code == 400
    assert [each.split(".")[0] for each in answer.json()["error"]["fields"]] == [field]
    assert not topology.tests.exists()
