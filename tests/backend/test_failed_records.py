"""The record at which a deployment failed: skipped once, and the decision recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from accounts.models import AuditEntry
from deployments import actions, reconciling
from deployments.beginnings import Beginning
from deployments.models import Deployment
from millrace_backend import redis
from topologies.models import Version

from .conftest import Client, People

RECORD = {"topic": "orders", "partition": 2, "offset": 17, "key": "a", "timestamp": 5}
PLACE = {name: RECORD[name] for name in ("topic", "partition", "offset")}
FAILURE = {
    "code": "processing",
    "node": "divide",
    "parameter": "value",
    "message": "Division by zero.",
    "record": RECORD,
}


def fail(deployment: Deployment, **more: Any) -> None:
    reconciling.observe(deployment.pk, "failed", {**FAILURE, **more})


def decide(client: Any, deployment: Deployment, decision: str = "skip", **place: Any) -> Any:
    body = json.dumps({"decision": decision, **PLACE, **place})
    return client.post(
        f"/api/deployments/{deployment.pk}/failed-record", body, content_type="application/json"
    )


def with_dead_letters(deployment: Deployment) -> None:
    version = deployment.version
    settings = {**(version.document.get("settings") or {}), "dead_letter_topic": "dead"}
    # Versions are immutable, but nothing has used this one yet.
    Version.objects.filter(pk=version.pk).update(
        document={**version.document, "settings": settings}
    )


def handed(deployment: Deployment) -> list[tuple[str, int]]:
    """Return (decision, offset) of the record decisions that the next driver receives."""
    row = reconciling.load_for_reconcile(deployment.pk)
    assert row is not None
    return [(each["decision"], each["offset"]) for each in row.record_decisions]


def test_a_record_is_skipped_once_and_the_deployment_starts_again(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    fail(deployment)
    answer = decide(client_of(people.operator), deployment)
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert (found["desired"], found["failure"]) == ("running", None)
    assert found["restart_requested"]
    (decided,) = found["record_decisions"]
    assert {name: decided[name] for name in (*PLACE, "decision", "node", "active")} == {
        **PLACE, "decision": "skip", "node": "divide", "active": True,
    }  # fmt: skip
    assert decided["by"] == people.operator.shown_name
    assert handed(deployment) == [("skip", 17)]
    entry = AuditEntry.objects.get(action="deployment.skip_record")
    assert {name: entry.detail[name] for name in PLACE} == PLACE
    assert entry.detail["message"] == "Division by zero."

    fail(deployment, record={**RECORD, "offset": 18})
    assert decide(client_of(people.operator), deployment, offset=18).status_code == 200
    assert handed(deployment) == [("skip", 17), ("skip", 18)]


def test_where_records_are_read_again_decisions_are_history(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    fail(deployment)
    decide(client_of(people.operator), deployment)
    reconciling.observe(deployment.pk, "stopped")
    actions.request_start(people.operator, deployment, Beginning(position="earliest"))
    assert handed(deployment) == []
    shown = client_of(people.viewer).get(f"/api/deployments/{deployment.pk}").json()
    assert [each["active"] for each in shown["record_decisions"]] == [False]


def test_a_dead_letter_needs_a_topic_and_a_failure_before_the_sink(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    fail(deployment)
    client = client_of(people.operator)
    refused = decide(client, deployment, "dead_letter")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_dead_letter_topic")
    with_dead_letters(deployment)
    fail(deployment, code="production")
    refused = decide(client, deployment, "dead_letter")
    assert refused.json()["error"]["code"] == "no_dead_letter"
    fail(deployment)
    assert decide(client, deployment, "dead_letter").status_code == 200
    assert handed(deployment) == [("dead_letter", 17)]


@pytest.mark.parametrize(
    ("failure", "place"),
    [
        ({}, {"offset": 16}),
        ({}, {"topic": "other"}),
        ({"record": None}, {}),
        ({"code": "registry"}, {}),
    ],
)
def test_another_record_than_that_of_the_failure_is_refused(
    deployment: Deployment,
    people: People,
    client_of: Client,
    failure: dict[str, Any],
    place: dict[str, Any],
) -> None:
    fail(deployment, **failure)
    answer = decide(client_of(people.operator), deployment, **place)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_the_failed_record")
    assert handed(deployment) == []


def test_what_does_not_stand_at_a_failure_has_no_failed_record(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    answer = decide(client_of(people.operator), deployment)
    assert answer.json()["error"]["code"] == "not_the_failed_record"


def remove(client: Any, deployment: Deployment, offset: int = 17) -> Any:
    return client.delete(f"/api/deployments/{deployment.pk}/record-decisions/orders/2/{offset}")


def test_a_decision_that_was_not_used_is_removed(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    fail(deployment)
    client = client_of(people.operator)
    decide(client, deployment)
    assert remove(client_of(people.editor), deployment).status_code == 403
    assert remove(client, deployment, 18).json()["error"]["code"] == "no_such_decision"
    answer = remove(client, deployment)
    assert answer.status_code == 200, answer.content
    (removed,) = answer.json()["record_decisions"]
    assert (removed["active"], removed["removed_by"]) == (False, people.operator.shown_name)
    assert handed(deployment) == []
    entry = AuditEntry.objects.get(action="deployment.remove_record_decision")
    assert {name: entry.detail[name] for name in PLACE} == PLACE
    assert remove(client, deployment).status_code == 404
    # It fails there again, and needs another decision.
    fail(deployment)
    assert decide(client, deployment).status_code == 200
    assert handed(deployment) == [("skip", 17)]


def test_a_decision_about_a_record_that_was_passed_stays(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    fail(deployment)
    client = client_of(people.operator)
    decide(client, deployment)
    for epoch, read, status in ((1, 17, 409), (2, 16, 200)):
        reconciling.begin_run(deployment.pk, 100 + epoch, "here", f"boot/{epoch}", epoch)
        reconciling.end_run(deployment.pk, "stopped")
        place = {"topic": "orders", "partition": 2, "offset": read, "lag": 0}
        task = {"task": "0_2", "topic_partitions": [place]}
        report = {"event": "progress", "at": 1_000, "stores": [], "tasks": [task]}
        stream = redis.run_stream(f"{deployment.pk}-{epoch}")
        redis.client().xadd(stream, {"event": json.dumps(report)})
        answer = remove(client, deployment)
        assert answer.status_code == status, answer.content
    assert handed(deployment) == []
