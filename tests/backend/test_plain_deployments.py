"""Deployments of the plain dialect: what is refused, and the plan for another program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from deployments import actions, plain_state, reconciling, state_plan
from deployments.models import Deployment
from millrace_compiler import compile_document
from topologies import actions as topologies
from topologies.models import Topology

from tests.described import validator
from tests.served import serving_analyzer

from .conftest import Client, People
from .test_state_plan import ExpectedTypes, summing


def with_note(note: str, type_: str = "INT") -> Any:
    """A document whose plain program has this comment."""
    document = summing(type_)
    document["nodes"][1]["description"] = note
    return document


@pytest.fixture
def running(people: People, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Deployment]:
    """Version 1 runs as plain PySpark and has read 7 records; 2 changes labels, 3 a type."""
    monkeypatch.setattr(state_plan, "list_topics", lambda _prefixes: [])
    versions = [with_note("sums"), with_note("a sum, by another name")]
    versions[1]["nodes"][1]["label"] = "Total"
    versions.append(with_note("sums", "BIGINT"))
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", versions[0])
    for number, each in enumerate(versions[1:], 1):
        topologies.save_version(people.editor, topology, each, "next", number)
    row = actions.create_deployment(people.operator, topology, 1, "local", {"dialect": "plain"})
    made = compile_document(versions[0], ExpectedTypes(), dialect="plain").require()
    checkpoint = plain_state.enter_plain(row.directory, made.identity or "").folder
    for name in ("offsets", "commits"):
        (checkpoint / "out" / name).mkdir(parents=True)
        (checkpoint / "out" / name / "0").write_text('v1\n{}\n{"in":{"0":7}}')
    reconciling.begin_run(row.pk, 100, "here", "boot/1", 1)
    reconciling.observe(row.pk, "running")
    with serving_analyzer(ExpectedTypes()) as address:
        settings.MILLRACE_ANALYZER = address
        yield row


@pytest.mark.parametrize(
    ("setting", "value"),
    [("real_time_ms", 10_000), ("lost_offsets", "latest")],
)
def test_settings_without_a_plain_counterpart_are_refused(
    people: People, topology: Topology, client_of: Client, setting: str, value: Any
) -> None:
    body = {
        "topology": topology.pk, "version": 1, "settings": {"dialect": "plain", setting: value},
    }  # fmt: skip
    answer = client_of(people.operator).post("/api/workspaces/main/deployments", body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "plain_dialect"
    assert setting in error["message"]


def test_what_a_plain_program_cannot_do_is_refused_with_one_code(
    running: Deployment, people: People, client_of: Client
) -> None:
    client, path = client_of(people.operator), f"/api/deployments/{running.pk}"
    latest = {"start_from": {"position": "latest"}}
    asked = [
        client.post(f"{path}/start", latest),
        client.post(f"{path}/redeploy", {"version": 3, **latest}),
        client.post(f"{path}/plan", {"version": 3, **latest}),
        client.post(f"{path}/shadow", {"version": 3, "start": "earliest"}),
        client.get(f"{path}/stores"),
        client.get(f"{path}/stores/sum"),
        client.get(f"{path}/records", {"edge": "in.out>sum.in"}),
        client.post(
            f"{path}/failed-record",
            {"decision": "skip", "topic": "in", "partition": 0, "offset": 1},
        ),
    ]
    asked.append(
        client.post(f"{path}/followed-record", {"topic": "in", "partition": 0, "offset": 1})
    )
    found = [(each.status_code, each.json()["error"]["code"]) for each in asked]
    assert found == [(409, "plain_dialect")] * len(asked)
    messages = [each.json()["error"]["message"] for each in asked]
    assert "another position starts with empty stores" in messages[0]
    assert "runs plain PySpark, which cannot have a shadow" in messages[3]


def test_a_plain_program_is_paused_and_drained_like_any_other(
    running: Deployment, people: People, client_of: Client
) -> None:
    client, path = client_of(people.operator), f"/api/deployments/{running.pk}"
    assert client.post(f"{path}/pause").json()["paused"]
    assert not client.post(f"{path}/resume").json()["paused"]
    assert client.post(f"{path}/stop", {"drain": True}).json()["draining"]


def test_another_position_starts_with_empty_stores(
    running: Deployment, people: People, client_of: Client
) -> None:
    client, path = client_of(people.operator), f"/api/deployments/{running.pk}"
    asked = {"version": 3, "start_from": {"position": "earliest"}, "reset": ["stores"]}
    assert client.post(f"{path}/redeploy", asked).json()["error"]["code"] == "name_does_not_match"
    assert client.post(f"{path}/redeploy", {**asked, "name": "Sums"}).status_code == 200
    found = reconciling.load_for_reconcile(running.pk)
    assert found is not None
    assert found.beginning is not None
    assert (found.beginning["from"], found.beginning["reset"]) == ("earliest", True)


def test_the_dialect_stays_where_the_checkpoint_is_in_an_object_store(
    running: Deployment, people: People, client_of: Client
) -> None:
    stored = {"dialect": "plain", "checkpoint": "s3a://bucket/folder"}
    Deployment.objects.filter(pk=running.pk).update(settings=stored, has_state=True)
    client, path = client_of(people.operator), f"/api/deployments/{running.pk}"
    exact = {"version": 1, "settings": {**stored, "dialect": "exact"}, "stores": {"sum": "drop"}}
    refused = client.post(f"{path}/redeploy", exact)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "has_checkpoint")


def test_a_program_with_other_labels_keeps_its_state(
    running: Deployment, people: People, client_of: Client
) -> None:
    client, path = client_of(people.operator), f"/api/deployments/{running.pk}"
    same = client.get(f"{path}/plan", {"version": 2}).json()
    validator("StatePlan").validate(same)
    assert [(s["id"], s["verdict"]) for s in same["stores"]] == [("sum", "kept")]
    assert same["accepted"]
    other = client.get(f"{path}/plan", {"version": 3}).json()
    assert [(s["id"], s["verdict"], s["reasons"]) for s in other["stores"]] == [
        ("sum", "lost", ["program_changed"])
    ]
    assert (other["handover"]["warm"], other["handover"]["reason"]) == (False, "plain")
    refused = client.post(f"{path}/redeploy", {"version": 3})
    assert (refused.status_code, refused.json()["error"]["missing"]) == (409, ["sum"])
    decided = client.post(f"{path}/redeploy", {"version": 3, "stores": {"sum": "drop"}})
    assert decided.status_code == 200


def test_another_dialect_begins_with_a_checkpoint_of_its_own(
    running: Deployment, people: People, client_of: Client
) -> None:
    client, path = client_of(people.operator), f"/api/deployments/{running.pk}"
    Deployment.objects.filter(pk=running.pk).update(has_state=True)
    exact = {"version": 1, "settings": {"dialect": "exact"}}
    plan = client.post(f"{path}/plan", exact).json()
    assert [(s["id"], s["verdict"], s["reasons"]) for s in plan["stores"]] == [
        ("sum", "lost", ["dialect_changed"])
    ]
    refused = client.post(f"{path}/redeploy", exact)
    assert refused.json()["error"]["code"] == "state_undecided"
    assert client.post(f"{path}/redeploy", {**exact, "stores": {"sum": "drop"}}).status_code == 200
    found = reconciling.load_for_reconcile(running.pk)
    assert found is not None
    assert (found.plain, found.restart_requested, found.has_state) == (False, True, False)


def test_lag_of_a_program_without_tasks_is_reported(
    running: Deployment, people: People, client_of: Client
) -> None:
    from millrace_backend import redis

    place = {"topic": "in", "partition": 0, "offset": 6, "end_offset": 9, "lag": 2}
    report = {
        "event": "progress", "at": 1_000, "nodes": {"in": {"in": 7, "out": 7}},
        "topic_partitions": [place],
    }  # fmt: skip
    redis.client().xadd(redis.run_stream(f"{running.pk}-1"), {"event": json.dumps(report)})
    client, path = client_of(people.operator), f"/api/deployments/{running.pk}"
    found = client.get(f"{path}/runtime").json()
    validator("Runtime").validate(found)
    assert (found["tasks"], found["topic_partitions"]) == ([], [place])
    [source] = client.get(f"{path}/plan", {"version": 3}).json()["sources"]
    assert source["partitions"] == [{"partition": 0, "offset": 7, "lag": 2, "stopped": 7}]
    assert "records_lag" in client.get("/api/metrics").content.decode()
