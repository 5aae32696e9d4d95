"""Deployments that share a JVM: their settings, which of them share, and what the API shows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from deployments import actions, reconciling
from deployments.models import Deployment
from deployments.snapshots import Follows
from topologies.models import Topology

from .conftest import Client, People

SHARED: Any = {"jvm": "shared"}


@pytest.mark.parametrize(
    "more",
    [
        {"cores": 2},
        {"memory_mb": 1024},
        {"real_time_ms": 10_000},
        {"checkpoint": "s3a://bucket/x"},
        {"standby": True},
        {"dialect": "plain"},
    ],
)
def test_settings_that_need_a_jvm_of_ones_own_are_refused_with_the_reason(
    people: People, topology: Topology, client_of: Client, more: Any
) -> None:
    body = {"topology": topology.pk, "version": 1, "settings": {**SHARED, **more}}
    answer = client_of(people.operator).post("/api/workspaces/main/deployments", body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "shared_jvm"
    assert next(iter(more)) in error["message"]


@pytest.fixture
def sharing(people: People, topology: Topology) -> Deployment:
    row = actions.create_deployment(people.operator, topology, 1, "local", SHARED)
    row.directory.mkdir(parents=True)
    return row


def run_of(row: Deployment, client_of: Client, people: People) -> Any:
    return client_of(people.viewer).get(f"/api/deployments/{row.pk}").json()["run"]


def test_the_run_shows_its_host_or_why_it_has_none(
    sharing: Deployment, people: People, client_of: Client
) -> None:
    reconciling.begin_run(sharing.pk, 100, "here", "boot/1", 1)
    note = sharing.directory / "process.json"
    note.write_text(json.dumps({"pid": 100, "host": "workspace-1-abc"}))
    shown = run_of(sharing, client_of, people)["jvm"]
    assert shown == {"host": "workspace-1-abc", "alone": None}
    note.write_text(json.dumps({"pid": 100}))
    (sharing.directory / "alone").write_text(json.dumps({"cause": "heap", "job": "v1"}))
    assert run_of(sharing, client_of, people)["jvm"] == {"host": None, "alone": "heap"}
    (sharing.directory / "alone").unlink()
    assert run_of(sharing, client_of, people)["jvm"] == {"host": None, "alone": "system"}


def test_deployments_share_unless_they_run_code_or_read_files(
    sharing: Deployment, people: People
) -> None:
    found = reconciling.load_for_reconcile(sharing.pk)
    assert found is not None
    assert found.host == f"workspace-{sharing.workspace_id}"
    for kind, params in (("process", {}), ("source.stream", {"reader": "parquet"})):
        node = {"id": "more", "kind": kind, "params": params}
        document: Any = {**found.document, "nodes": [*found.document["nodes"], node]}
        assert replace(found, document=document).host is None
    assert replace(found, follows=Follows(sharing.directory, copies_state=True)).host is None


def test_a_deployment_in_a_shared_jvm_is_not_scaled(
    sharing: Deployment, people: People, client_of: Client
) -> None:
    reconciling.begin_run(sharing.pk, 100, "here", "boot/1", 1)
    reconciling.observe(sharing.pk, "running")
    answer = client_of(people.operator).post(f"/api/deployments/{sharing.pk}/scale", {"cores": 2})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "shared_jvm"
    sharing.refresh_from_db()
    assert sharing.settings == SHARED
