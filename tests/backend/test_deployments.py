"""Requests for deployments, and what the reconciler records."""

from __future__ import annotations

import base64
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from deployments import actions, reconciling
from deployments.choices import Observed
from deployments.models import Deployment, Run
from deployments.reconciling import LiveRunExists
from deployments.snapshots import Cause, Process
from django.db import IntegrityError, transaction
from millrace_backend import redis
from millrace_backend.errors import Conflict
from millrace_compiler.export.bundle import MANIFESTS
from millrace_compiler.export.kubernetes import name_of
from topologies import exporting
from topologies.models import Topology

from .conftest import Client, People, RedisServer

FAILURE = {
    "code": "processing_error",
    "node": "a",
    "parameter": "predicate",
    "message": "division by zero",
    "record": None,
}


def shown(client_of: Client, people: People, deployment: Deployment) -> Any:
    return client_of(people.viewer).get(f"/api/deployments/{deployment.pk}").json()


def begin(deployment: Deployment, pid: int = 100, epoch: int = 1) -> Any:
    return reconciling.begin_run(deployment.pk, pid, "here", "boot/1", epoch)


def test_one_click_deploys_a_version_that_is_to_run_at_once(
    people: People, topology: Topology, client_of: Client
) -> None:
    body = {
        "topology": topology.pk,
        "version": 2,
        "target": "local",
        "settings": {"trigger_ms": 0, "cores": 2, "memory_mb": 1024, "start": "earliest"},
    }
    response = client_of(people.operator).post("/api/workspaces/main/deployments", body)
    assert response.status_code == 201
    made = response.json()
    assert (made["version"], made["desired"], made["observed"]) == (2, "running", "new")
    assert made["settings"] == body["settings"]
    assert [(step["name"], step["state"]) for step in made["steps"]] == [
        ("compile", "waiting"),
        ("check", "waiting"),
        ("stage", "waiting"),
        ("start", "waiting"),
    ]
    assert made["run"] is None
    assert made["failure"] is None
    assert made["created_by"] == "Operator"
    assert reconciling.due_for_reconcile() == [made["id"]]
    listed = client_of(people.viewer).get("/api/workspaces/main/topologies").json()["results"][0]
    assert listed["deployment"] == {
        "id": made["id"],
        "observed": "new",
        "desired": "running",
        "version": 2,
        "environment": None,
    }


def test_a_topology_is_deployed_once(
    people: People, deployment: Deployment, client_of: Client
) -> None:
    body = {"topology": deployment.topology_id, "version": 1}
    refused = client_of(people.operator).post("/api/workspaces/main/deployments", body)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "already_deployed"
    assert refused.json()["error"]["deployment"] == deployment.pk


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"version": 1}, "topology"),
        ({"topology": 1, "version": 99}, "version"),
        ({"topology": 1, "version": 1, "target": "moon"}, "target"),
        ({"topology": 1, "version": 1, "settings": {"cores": 0}}, "settings"),
        ({"topology": 1, "version": 1, "settings": {"speed": 9}}, "settings"),
    ],
)
def test_a_deployment_that_cannot_be_is_refused_by_field(
    body: dict[str, Any], field: str, people: People, topology: Topology, client_of: Client
) -> None:
    if "topology" in body:
        body = {**body, "topology": topology.pk}
    response = client_of(people.operator).post("/api/workspaces/main/deployments", body)
    assert response.status_code in {400, 404}
    assert field in response.json()["error"]["fields"]
    assert not Deployment.objects.exists()


def test_a_topology_of_another_workspace_cannot_be_deployed_here(
    people: People, topology: Topology, client_of: Client
) -> None:
    body = {"topology": topology.pk, "version": 1}
    response = client_of(people.outsider).post("/api/workspaces/other/deployments", body)
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "no_such_topology"


def test_the_database_holds_at_most_one_live_run(deployment: Deployment) -> None:
    run = begin(deployment)
    assert begin(deployment) == run
    with pytest.raises(LiveRunExists):
        begin(deployment, pid=200, epoch=2)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.create(
            deployment=deployment,
            epoch=3,
            version=deployment.version,
            pid=300,
            host="there",
            process_born="boot/1",
        )
    reconciling.end_run(deployment.pk, "crashed", FAILURE)
    assert begin(deployment, pid=200, epoch=2).process.pid == 200


def test_the_reconciler_loads_everything_it_needs_as_plain_values(
    deployment: Deployment, millrace_settings: Any
) -> None:
    begin(deployment)
    found = reconciling.load_for_reconcile(deployment.pk)
    assert found is not None
    assert (found.version, found.desired, found.observed) == (1, "running", "new")
    assert found.document["nodes"][0]["id"] == "a"
    assert found.directory == millrace_settings.MILLRACE_DATA / "deployments" / str(deployment.pk)
    assert found.run is not None
    assert (found.run.process, found.run.version) == (Process("here", 100, "boot/1"), 1)
    assert found.run.report_id == f"{deployment.pk}-1"
    assert found.next_epoch == 2
    assert reconciling.load_for_reconcile(999_999) is None


def test_steps_show_their_times_and_wait_after_a_new_beginning(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    for name in ("compile", "check"):
        reconciling.record_step(deployment.pk, name, "running")
        well = Cause("well", "all well", facts={"topics": "2"})
        reconciling.record_step(deployment.pk, name, "done", well if name == "check" else None)
    steps = {step["name"]: step for step in shown(client_of, people, deployment)["steps"]}
    assert steps["compile"]["state"] == "done"
    assert steps["compile"]["started_at"] <= steps["compile"]["finished_at"]
    assert steps["check"]["detail"] == {
        "code": "well", "message": "all well", "facts": {"topics": "2"}, "cause": None,
    }  # fmt: skip
    reconciling.record_step(deployment.pk, "compile", "running")
    steps = {step["name"]: step for step in shown(client_of, people, deployment)["steps"]}
    assert (steps["compile"]["state"], steps["check"]["state"]) == ("running", "waiting")
    with pytest.raises(ValueError, match="no step"):
        reconciling.record_step(deployment.pk, "fly", "running")


def test_a_change_that_changes_nothing_is_not_published(deployment: Deployment) -> None:
    reconciling.record_step(deployment.pk, "compile", "running")
    reconciling.observe(deployment.pk, "compiling")
    before = Deployment.objects.get(pk=deployment.pk).revision
    reconciling.record_step(deployment.pk, "compile", "running")
    reconciling.observe(deployment.pk, "compiling")
    reconciling.record_failure(deployment.pk, None)
    reconciling.end_run(deployment.pk, "stopped")
    assert Deployment.objects.get(pk=deployment.pk).revision == before


def test_a_state_is_written_only_if_it_is_still_the_one_that_was_found(
    deployment: Deployment,
) -> None:
    assert reconciling.observe(deployment.pk, "compiling", found="new")
    assert not reconciling.observe(deployment.pk, "stopped", found="new")
    with pytest.raises(ValueError, match="no observed state"):
        reconciling.observe(deployment.pk, "flying")


def test_what_is_at_rest_is_not_looked_at(deployment: Deployment, people: People) -> None:
    reconciling.observe(deployment.pk, "running")
    assert reconciling.due_for_reconcile() == [deployment.pk]
    actions.request_stop(people.operator, deployment)
    reconciling.observe(deployment.pk, "stopped")
    assert reconciling.due_for_reconcile() == []
    actions.request_start(people.operator, deployment)
    assert reconciling.due_for_reconcile() == [deployment.pk]
    reconciling.observe(deployment.pk, "failed", FAILURE)
    assert reconciling.due_for_reconcile() == []
    begin(deployment)
    assert reconciling.due_for_reconcile() == [deployment.pk]


def test_starting_what_failed_asks_for_one_more_try(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    reconciling.observe(deployment.pk, "failed", FAILURE)
    assert shown(client_of, people, deployment)["failure"] == FAILURE
    answer = client_of(people.operator).post(f"/api/deployments/{deployment.pk}/start").json()
    assert answer["failure"] is None
    assert answer["restart_requested"] is True
    assert reconciling.due_for_reconcile() == [deployment.pk]
    reconciling.observe(deployment.pk, "compiling")
    reconciling.observe(deployment.pk, "failed", FAILURE)
    assert reconciling.due_for_reconcile() == []


def test_a_restart_is_fulfilled_by_the_next_run(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    begin(deployment)
    reconciling.observe(deployment.pk, "running")
    answer = client_of(people.operator).post(f"/api/deployments/{deployment.pk}/restart").json()
    assert answer["restart_requested"] is True
    reconciling.end_run(deployment.pk, "stopped")
    begin(deployment, pid=101, epoch=2)
    after = shown(client_of, people, deployment)
    assert after["restart_requested"] is False
    assert (after["run"]["pid"], after["run"]["epoch"], after["run"]["restarts"]) == (101, 2, 0)


def test_crashes_are_counted_until_the_user_starts_it_anew(
    deployment: Deployment, people: People
) -> None:
    for epoch in (1, 2):
        begin(deployment, epoch=epoch)
        reconciling.end_run(deployment.pk, "crashed", FAILURE)
    found = reconciling.load_for_reconcile(deployment.pk)
    assert found is not None
    assert len(found.crashes) == 2
    assert begin(deployment, epoch=3)
    assert Run.objects.get(epoch=3).restarts == 2
    reconciling.end_run(deployment.pk, "stopped")
    actions.request_start(people.operator, deployment)
    found = reconciling.load_for_reconcile(deployment.pk)
    assert found is not None
    assert found.crashes == ()


def test_redeploy_wants_another_version_and_a_refused_one_is_taken_back(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    begin(deployment)
    reconciling.observe(deployment.pk, "running")
    path = f"/api/deployments/{deployment.pk}/redeploy"
    answer = client_of(people.operator).post(path, {"version": 2}).json()
    assert (answer["version"], answer["run"]["version"]) == (2, 1)
    assert answer["restart_requested"] is False
    reconciling.keep_version(deployment.pk, 1)
    assert shown(client_of, people, deployment)["version"] == 1
    refused = client_of(people.operator).post(path, {"version": 55})
    assert refused.json()["error"]["code"] == "no_such_version"


def test_other_settings_of_the_same_version_ask_for_a_restart(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    begin(deployment)
    reconciling.observe(deployment.pk, "running")
    path = f"/api/deployments/{deployment.pk}/redeploy"
    body = {"version": 1, "settings": {"cores": 4}}
    answer = client_of(people.operator).post(path, body).json()
    assert (answer["settings"], answer["restart_requested"]) == ({"cores": 4}, True)


def test_a_place_to_start_from_is_refused_where_a_checkpoint_has_it(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    path = f"/api/deployments/{deployment.pk}/redeploy"
    client = client_of(people.operator)
    latest = {"version": 1, "settings": {"start": "latest"}}
    assert client.post(path, latest).json()["has_checkpoint"] is False
    noted = deployment.directory / "checkpoint" / "stream" / "sources" / "0" / "0"
    noted.parent.mkdir(parents=True)
    noted.write_text("v1")
    same = client.post(path, {"version": 2, "settings": {"start": "latest", "cores": 4}})
    assert (same.status_code, same.json()["has_checkpoint"]) == (200, True)
    refused = client.post(path, {"version": 2, "settings": {"start": "earliest"}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "has_checkpoint")
    assert shown(client_of, people, deployment)["settings"] == same.json()["settings"]


def test_a_checkpoint_lies_where_the_settings_say_and_stays_there(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    path = f"/api/deployments/{deployment.pk}/redeploy"
    client = client_of(people.operator)
    secret = {"version": 1, "settings": {"checkpoint": "s3a://key:secret@bucket/x"}}
    assert client.post(path, secret).status_code == 400
    for wrong in ("file:///etc/x", "file://../../x", "http://host/x", "s3a://bucket/../x"):
        answer = client.post(path, {"version": 1, "settings": {"checkpoint": wrong}})
        assert "The location" in str(answer.json()["error"]["fields"])
    place = {"checkpoint": "s3a://bucket/x/"}
    assert client.post(path, {"version": 1, "settings": place}).status_code == 200
    deployment.refresh_from_db()
    named = rf"s3a://bucket/x/deployment-{deployment.pk}-\d{{8}}T\d{{6}}"
    assert re.fullmatch(named, deployment.state_location or "")
    loaded = reconciling.load_for_reconcile(deployment.pk)
    assert loaded is not None
    assert loaded.state_location == deployment.state_location
    Deployment.objects.filter(pk=deployment.pk).update(has_state=True)
    for settings in ({}, {"cores": 4}, {"checkpoint": "hdfs://other/x"}):
        refused = client.post(path, {"version": 1, "settings": settings})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "has_checkpoint")
    kept = {"version": 1, "settings": {**place, "cores": 4}}
    assert client.post(path, kept).json()["settings"] == kept["settings"]


def test_only_what_is_stopped_is_deleted_and_its_files_go_too(
    deployment: Deployment,
    people: People,
    client_of: Client,
    django_capture_on_commit_callbacks: Any,
) -> None:
    deployment.directory.mkdir(parents=True)
    (deployment.directory / "driver.log").write_text("x")
    begin(deployment)
    reconciling.observe(deployment.pk, "running")
    client = client_of(people.operator)
    refused = client.delete(f"/api/deployments/{deployment.pk}")
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "still_running"
    assert client.delete(f"/api/topologies/{deployment.topology_id}").status_code == 409
    reconciling.end_run(deployment.pk, "stopped")
    reconciling.observe(deployment.pk, "stopped")
    with django_capture_on_commit_callbacks(execute=True):
        assert client.delete(f"/api/deployments/{deployment.pk}").status_code == 204
    assert not deployment.directory.exists()
    assert not Run.objects.exists()


def test_every_run_is_kept_with_its_end(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    begin(deployment)
    reconciling.end_run(deployment.pk, "failed", FAILURE)
    begin(deployment, pid=7, epoch=2)
    page = client_of(people.viewer).get(f"/api/deployments/{deployment.pk}/runs").json()
    newest, oldest = page["results"]
    assert (newest["pid"], newest["ended_at"], newest["outcome"]) == (7, None, None)
    assert (oldest["outcome"], oldest["failure"]) == ("failed", FAILURE)
    assert oldest["ended_at"] is not None
    with pytest.raises(ValueError, match="no outcome"):
        reconciling.end_run(deployment.pk, "vanished")


def test_every_observed_state_of_the_contract_can_be_written(deployment: Deployment) -> None:
    for state in Observed.values:
        assert reconciling.observe(deployment.pk, state)


@pytest.mark.django_db(transaction=True)
def test_without_redis_a_stop_is_written_down_all_the_same_and_soon(
    deployment: Deployment, people: People, client_of: Client, redis_server: RedisServer
) -> None:
    client = client_of(people.operator)
    redis_server.kill()
    try:
        began = time.monotonic()
        answer = client.post(f"/api/deployments/{deployment.pk}/stop")
        assert answer.status_code == 200
        assert answer.json()["desired"] == "stopped"
        assert time.monotonic() - began < 8
    finally:
        redis_server.start()


def test_a_change_wakes_the_reconciler_by_the_name_of_its_task(
    deployment: Deployment, people: People, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        actions.request_stop(people.operator, deployment)
    message = json.loads(redis.client().lindex("celery", 0) or b"{}")
    assert message["headers"]["task"] == "millrace_workers.tasks.reconcile"
    body = json.loads(base64.b64decode(message["body"]))
    assert body[0] == [deployment.pk]


def test_creating_twice_at_once_leaves_one(people: People, topology: Topology) -> None:
    actions.create_deployment(people.operator, topology, 1, "local", {})
    with pytest.raises(Conflict):
        actions.create_deployment(people.operator, topology, 2, "local", {})
    assert Deployment.objects.count() == 1


def test_operators_pause_and_resume_a_deployment_that_is_to_run(
    people: People, deployment: Deployment, client_of: Client
) -> None:
    path = f"/api/deployments/{deployment.pk}"
    client = client_of(people.operator)
    assert client.post(f"{path}/resume").json()["error"]["code"] == "not_paused"
    paused = client.post(f"{path}/pause").json()
    assert (paused["paused"], paused["desired"]) == (True, "running")
    snapshot = reconciling.load_for_reconcile(deployment.pk)
    assert snapshot is not None
    assert snapshot.paused
    client.post(f"{path}/restart")
    assert shown(client_of, people, deployment)["paused"], "a restart does not end it"
    assert client.post(f"{path}/resume").json()["paused"] is False
    client.post(f"{path}/pause")
    assert client.post(f"{path}/stop").json()["paused"] is False
    refused = client.post(f"{path}/pause")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_running")


def test_a_drain_needs_a_driver_and_ends_with_the_stop_or_another_start(
    people: People, deployment: Deployment, client_of: Client
) -> None:
    path = f"/api/deployments/{deployment.pk}"
    client = client_of(people.operator)
    refused = client.post(f"{path}/stop", {"drain": True})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_running")
    begin(deployment)
    reconciling.observe(deployment.pk, Observed.RUNNING)
    asked = client.post(f"{path}/stop", {"drain": True}).json()
    assert (asked["desired"], asked["draining"]) == ("stopped", True)
    assert client.post(f"{path}/stop").json()["draining"] is False, "a second stop is at once"
    client.post(f"{path}/start")
    client.post(f"{path}/stop", {"drain": True})
    reconciling.observe(deployment.pk, Observed.STOPPED)
    assert shown(client_of, people, deployment)["draining"] is False


def test_the_thread_dump_of_a_run_is_shown_where_there_is_one(
    people: People, deployment: Deployment, client_of: Client
) -> None:
    run = begin(deployment)
    path = f"/api/deployments/{deployment.pk}/runs"
    client = client_of(people.viewer)
    assert client.get(path).json()["results"][0]["threads"] is False
    assert client.get(f"{path}/{run.id}/threads").status_code == 404
    file = deployment.threads_file(run.id)
    file.parent.mkdir(parents=True)
    file.write_text("Full thread dump")
    assert client.get(path).json()["results"][0]["threads"] is True
    assert client.get(f"{path}/{run.id}/threads").content == b"Full thread dump"


def test_a_deployment_has_state_once_a_batch_was_done(deployment: Deployment) -> None:
    begin(deployment)
    before = reconciling.load_for_reconcile(deployment.pk)
    reconciling.arrived(deployment.pk)
    after = reconciling.load_for_reconcile(deployment.pk)
    assert before is not None
    assert after is not None
    assert (before.has_state, after.has_state) == (False, True)


def test_an_export_has_manifests_as_large_as_the_deployment(
    deployment: Deployment, tmp_path: Path
) -> None:
    deployment.settings = {
        "cores": 4, "memory_mb": 2000, "real_time_ms": 5000, "checkpoint": "s3a://bucket/x",
    }  # fmt: skip
    deployment.save()
    exporting.add_manifests(tmp_path, deployment.topology)
    text = (tmp_path / MANIFESTS).read_text("utf-8")
    name = name_of(deployment.topology.name)
    for expected in ("local[4]", "2800Mi", '"5000 ms"', f'CHECKPOINT: "s3a://bucket/x/{name}"'):
        assert expected in text
