"""The plan for a change of a running deployment: shown, decided, and refused without a decision."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from accounts.models import AuditEntry
from deployments import actions, reconciling, state_plan
from deployments.models import Deployment
from millrace_backend import redis
from millrace_compiler import ExpressionRequest, ExpressionResult, compile_document
from millrace_compiler.inference.analysis import ExpressionError
from millrace_compiler.state.state_schema import state_schema
from topologies import actions as topologies

from tests.described import validator
from tests.served import serving_analyzer

from .conftest import Client, People


class ExpectedTypes:
    """A double that returns the expected type for every expression."""

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        return [
            ExpressionResult(None, ExpressionError("no column old_ is there"))
            if "old_" in request.text
            else ExpressionResult(request.expects or "STRING")
            for request in requests
        ]


def summing(type_: str, id_: str = "sum") -> Any:
    formats = {"key": {"format": "string"}, "value": {"format": "string"}}
    params = {"type": type_, "initializer": "null", "aggregator": "agg"}
    return {
        "format": "millrace.topology/1",
        "name": "test",
        "nodes": [
            {"id": "in", "kind": "source.stream", "params": {"topics": ["in"], **formats}},
            {"id": id_, "kind": "aggregate", "params": params},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "in", "target": id_}, {"source": id_, "target": "out"}],
    }


@pytest.fixture
def running(people: People, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Deployment]:
    """Version 1 sums INTs and has state; 2 has BIGINT, 3 STRING, 4 another store."""
    # A broker that cannot be reached would be waited for.
    monkeypatch.setattr(state_plan, "list_topics", lambda _prefixes: [])
    versions = [summing("INT"), summing("BIGINT"), summing("STRING"), summing("INT", "total")]
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", versions[0])
    for number, each in enumerate(versions[1:], 1):
        topologies.save_version(people.editor, topology, each, "next", number)
    row = actions.create_deployment(people.operator, topology, 1, "local", {})
    schema = state_schema(compile_document(versions[0], ExpectedTypes()))
    notes = row.directory / "checkpoint" / "stores.json"
    notes.parent.mkdir(parents=True)
    notes.write_text(json.dumps({"state": schema}))
    reconciling.begin_run(row.pk, 100, "here", "boot/1", 1)
    reconciling.observe(row.pk, "running")
    with serving_analyzer(ExpectedTypes()) as address:
        settings.MILLRACE_ANALYZER = address
        yield row


def test_the_plan_shows_what_becomes_of_each_store(
    running: Deployment, people: People, client_of: Client
) -> None:
    path = f"/api/deployments/{running.pk}/plan"
    plan = client_of(people.viewer).get(path, {"version": 2}).json()
    validator("StatePlan").validate(plan)
    assert (plan["before"], plan["version"], plan["accepted"]) == (1, 2, True)
    [store] = plan["stores"]
    assert (store["id"], store["verdict"], store["reasons"]) == (
        "sum", "migrated", ["value_widened"],
    )  # fmt: skip
    assert (store["old"]["values"], store["new"]["values"]) == (["INT"], ["BIGINT"])
    assert plan["sources"] == [{"topic": "in", "verdict": "continues", "partitions": []}]
    assert (store["rows"], store["bytes"], plan["as_of"]) == (None, None, None)
    assert client_of(people.viewer).get(path, {"version": 9}).status_code == 404
    assert client_of(people.viewer).get(path).status_code == 400


def test_the_plan_shows_how_large_stores_are_and_where_sources_go_on(
    running: Deployment, people: People, client_of: Client
) -> None:
    def read(partition: int, offset: int, lag: int | None) -> Any:
        return {"topic": "in", "partition": partition, "offset": offset, "lag": lag}

    report = {
        "event": "progress", "at": 1_000,
        "tasks": [
            {"task": "0_1", "topic_partitions": [read(1, 41, 7), read(0, 9, None)]},
            {"task": "1_1", "topic_partitions": [read(1, 30, 18)]},
        ],
        "stores": [{"name": "Sum", "node": "sum", "rows": 12, "bytes": 3_400}],
    }  # fmt: skip
    stream = redis.run_stream(f"{running.pk}-1")
    redis.client().xadd(stream, {"event": json.dumps(report)})
    path = f"/api/deployments/{running.pk}/plan"
    plan = client_of(people.viewer).get(path, {"version": 2}).json()
    [store] = plan["stores"]
    assert (store["rows"], store["bytes"]) == (12, 3_400)
    [source] = plan["sources"]
    assert source["partitions"] == [
        {"partition": 0, "offset": 10, "lag": None, "stopped": 10},
        {"partition": 1, "offset": 42, "lag": 7, "stopped": 42},
    ]
    assert plan["as_of"] == "1970-01-01T00:00:01Z"


def test_a_deployment_without_state_has_an_empty_plan(
    running: Deployment, people: People, client_of: Client
) -> None:
    (running.directory / "checkpoint" / "stores.json").unlink()
    plan = client_of(people.viewer).get(f"/api/deployments/{running.pk}/plan", {"version": 4})
    assert plan.json()["stores"] == []


def test_a_loss_is_answered_with_the_plan_until_it_is_decided_by_store(
    running: Deployment, people: People, client_of: Client
) -> None:
    client = client_of(people.operator)
    path = f"/api/deployments/{running.pk}/redeploy"
    refused = client.post(path, {"version": 4})
    assert refused.status_code == 409
    error = refused.json()["error"]
    assert (error["code"], error["missing"], error["accepted"]) == (
        "state_undecided", ["sum"], False,
    )  # fmt: skip
    assert [(s["id"], s["verdict"]) for s in error["stores"]] == [("sum", "lost"), ("total", "new")]
    running.refresh_from_db()
    assert (running.version.number, running.fallback) == (1, None)
    assert client.post(path, {"version": 4, "stores": {"sum": "keep"}}).status_code == 400
    assert client.post(path, {"version": 4, "stores": {"other": "drop"}}).status_code == 409
    assert client.post(path, {"version": 4, "stores": {"sum": "drop"}}).status_code == 200
    running.refresh_from_db()
    assert (running.version.number, running.fallback) == (4, 1)
    found = reconciling.load_for_reconcile(running.pk)
    assert found is not None
    assert (found.state_decisions, found.fallback) == ({"sum": "drop"}, 1)


def test_an_expression_converts_values_if_it_gives_the_new_type(
    running: Deployment, people: People, client_of: Client
) -> None:
    client = client_of(people.operator)
    plan = client.get(f"/api/deployments/{running.pk}/plan", {"version": 3}).json()
    assert [store["convertible"] for store in plan["stores"]] == [True]
    path = f"/api/deployments/{running.pk}/redeploy"
    for broken in ({"convert": ""}, {"convert": 1}, {"turn": "old"}, {}, 5):
        assert client.post(path, {"version": 3, "stores": {"sum": broken}}).status_code == 400
    refused = client.post(path, {"version": 3, "stores": {"sum": {"convert": "old_"}}})
    assert refused.status_code == 400
    error = refused.json()["error"]
    assert (error["code"], error["store"]) == ("conversion_invalid", "sum")
    assert "no column old_" in error["message"]
    assert "returns STRING" in error["hint"]
    running.refresh_from_db()
    assert running.version.number == 1
    lost = client.post(path, {"version": 4, "stores": {"sum": {"convert": "old"}}})
    assert lost.json()["error"]["code"] == "state_not_convertible"
    decision = {"sum": {"convert": "CAST(old AS STRING)"}}
    assert client.post(path, {"version": 3, "stores": decision}).status_code == 200
    found = reconciling.load_for_reconcile(running.pk)
    assert found is not None
    assert found.state_decisions == decision


def test_a_version_that_fails_is_rolled_back_and_a_later_one_stays(
    running: Deployment, people: People
) -> None:
    actions.request_redeploy(people.operator, running, 2)
    assert reconciling.fall_back(running.pk) == 1
    assert reconciling.fall_back(running.pk) is None
    running.refresh_from_db()
    assert (running.version.number, running.state_decisions) == (1, {})
    actions.request_redeploy(people.operator, running, 2)
    reconciling.arrived(running.pk)
    running.refresh_from_db()
    assert (running.version.number, running.fallback) == (2, 1), "the one that runs is the first"
    reconciling.end_run(running.pk, "stopped")
    reconciling.begin_run(running.pk, 4243, "here", "boot/2", 9)
    reconciling.arrived(running.pk)
    running.refresh_from_db()
    assert (running.version.number, running.fallback) == (2, None)


def test_a_version_that_does_not_compile_is_left_to_the_checks(
    running: Deployment, people: People, client_of: Client
) -> None:
    broken = summing("NONSENSE")
    topologies.save_version(people.editor, running.topology, broken, "broken", 4)
    client = client_of(people.operator)
    plan = client.get(f"/api/deployments/{running.pk}/plan", {"version": 5})
    assert plan.json()["error"]["code"] == "not_compiled"
    answer = client.post(f"/api/deployments/{running.pk}/redeploy", {"version": 5})
    assert answer.status_code == 200


def test_an_earlier_version_is_deployed_by_the_same_plan_as_a_new_one(
    running: Deployment, people: People, client_of: Client
) -> None:
    """Version 2 has committed BIGINTs, which version 1 does not read as INTs."""
    client = client_of(people.operator)
    redeploy = f"/api/deployments/{running.pk}/redeploy"
    assert client.post(redeploy, {"version": 2}).status_code == 200
    reconciling.end_run(running.pk, "stopped")
    reconciling.begin_run(running.pk, 101, "here", "boot/1", 2)
    reconciling.arrived(running.pk)
    schema = state_schema(compile_document(summing("BIGINT"), ExpectedTypes()))
    notes = running.directory / "checkpoint" / "stores.json"
    notes.write_text(json.dumps({"state": schema}))

    plan = client.get(f"/api/deployments/{running.pk}/plan", {"version": 1}).json()
    assert (plan["before"], plan["version"], plan["accepted"]) == (2, 1, False)
    assert [store["verdict"] for store in plan["stores"]] == ["incompatible"]
    refused = client.post(redeploy, {"version": 1})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "state_undecided")
    convert = {"sum": {"convert": "CAST(old AS INT)"}}
    assert client.post(redeploy, {"version": 1, "stores": convert}).status_code == 200
    found = reconciling.load_for_reconcile(running.pk)
    assert found is not None
    assert (found.version, found.state_decisions, found.fallback) == (1, convert, 2)


def test_a_change_is_cancelled_until_its_version_has_done_a_batch(
    running: Deployment, people: People, client_of: Client
) -> None:
    client = client_of(people.operator)
    cancel = f"/api/deployments/{running.pk}/cancel"
    assert client.post(cancel).json()["error"]["code"] == "nothing_to_cancel"
    body = {"version": 4, "stores": {"sum": "drop"}}
    changed = client.post(f"/api/deployments/{running.pk}/redeploy", body).json()
    assert (changed["version"], changed["fallback"]) == (4, 1)
    assert client_of(people.editor).post(cancel).status_code == 403
    cancelled = client.post(cancel).json()
    assert (cancelled["version"], cancelled["fallback"], cancelled["desired"]) == (
        1, None, "running",
    )  # fmt: skip
    found = reconciling.load_for_reconcile(running.pk)
    assert found is not None
    assert found.state_decisions == {}
    entry = AuditEntry.objects.filter(action="deployment.cancel").latest("pk")
    assert (entry.detail["version"], entry.detail["cancelled"]) == (1, 4)
    client.post(f"/api/deployments/{running.pk}/redeploy", {"version": 2})
    reconciling.end_run(running.pk, "stopped")
    reconciling.begin_run(running.pk, 101, "here", "boot/1", 2)
    reconciling.arrived(running.pk)
    assert client.post(cancel).status_code == 409


def test_other_settings_that_cannot_start_are_taken_back_with_the_version(
    people: People, running: Deployment
) -> None:
    """By a fallback, by a refusal, and by a person."""
    before = dict(running.settings)

    def ask(memory: int) -> None:
        wanted: Any = {**before, "memory_mb": memory}
        actions.request_redeploy(people.operator, running, 1, wanted)
        running.refresh_from_db()
        assert (running.settings, running.fallback) == (wanted, 1)
        assert running.restart_requested_at is not None
        reconciling.arrived(running.pk)
        running.refresh_from_db()
        assert running.fallback == 1, "what has done a batch is what runs, with other settings"

    ask(1_000_000)
    reconciling.end_run(running.pk, "stopped")
    reconciling.begin_run(running.pk, 101, "here", "boot/2", 2)
    reconciling.end_run(running.pk, "crashed", {"code": "spark_not_started"})
    assert reconciling.fall_back(running.pk) == 1
    running.refresh_from_db()
    assert (running.settings, running.fallback) == (before, None)

    reconciling.begin_run(running.pk, 102, "here", "boot/3", 3)
    ask(900_000)
    reconciling.keep_version(running.pk, 1)
    running.refresh_from_db()
    assert (running.settings, running.restart_requested_at) == (before, None)

    ask(800_000)
    actions.request_cancel(people.operator, running)
    running.refresh_from_db()
    assert (running.settings, running.restart_requested_at) == (before, None)
    ask(700_000)
    reconciling.end_run(running.pk, "stopped")
    reconciling.begin_run(running.pk, 103, "here", "boot/4", 4)
    actions.request_cancel(people.operator, running)
    running.refresh_from_db()
    assert running.settings == before
    assert running.restart_requested_at is not None, "the driver that runs has the others"


def test_two_documents_are_compared_by_what_happens_to_the_state(
    running: Deployment, people: People, client_of: Client
) -> None:
    def change(new: Any) -> Any:
        body = {"old": summing("INT"), "new": new}
        answer: Any = client_of(people.viewer).post(
            "/api/workspaces/main/state-changes", body, format="json"
        )
        assert answer.status_code == 200
        return answer.json()["change"]

    (store,) = change(summing("BIGINT"))["stores"]
    assert (store["verdict"], store["reasons"]) == ("migrated", ["value_widened"])
    lost = change(summing("INT", "total"))
    assert [each["verdict"] for each in lost["stores"]] == ["lost", "new"]
    assert (lost["accepted"], lost["sources"][0]["verdict"]) == (False, "continues")
    assert change(summing("NONSENSE")) is None
