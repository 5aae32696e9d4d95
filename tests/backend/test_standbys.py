"""What the API shows of a deployment's standby."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deployments import actions, handover, reconciling
from deployments.models import Deployment, Run
from topologies.models import Topology

from .conftest import Client, People


@pytest.fixture
def standing(people: People, topology: Topology) -> Deployment:
    row = actions.create_deployment(people.operator, topology, 1, "local", {"standby": True})
    row.directory.mkdir(parents=True)
    reconciling.begin_run(row.pk, 100, "here", "boot/1", 1)
    reconciling.observe(row.pk, "running")
    return row


def shown(row: Deployment, client_of: Client, people: People) -> Any:
    return client_of(people.viewer).get(f"/api/deployments/{row.pk}").json()["standby"]


def test_the_standby_is_shown_while_it_is_prepared_ready_or_ended(
    standing: Deployment, people: People, client_of: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "free_memory_mb", lambda: 100_000)
    absent = {"state": "absent", "pid": None, "since": None, "reason": None}
    assert shown(standing, client_of, people) == absent
    folder = standing.directory / "standby" / f"{standing.pk}-2"
    folder.mkdir(parents=True)
    (folder / "process.json").write_text(json.dumps({"pid": 101, "born": "boot/2"}))
    found = shown(standing, client_of, people)
    assert (found["state"], found["pid"]) == ("preparing", 101)
    assert found["since"]
    (folder / "ready").touch()
    assert shown(standing, client_of, people)["state"] == "preparing"
    (folder / "go").touch()
    assert shown(standing, client_of, people)["state"] == "ready"
    (folder / "exit.json").write_text(json.dumps({"pid": 101, "exit_code": 1}))
    assert shown(standing, client_of, people)["state"] == "failed"
    reconciling.observe(standing.pk, "staging")
    assert shown(standing, client_of, people) is None, "it is the driver of the next version"


def test_why_no_standby_can_be_prepared_is_shown(
    standing: Deployment, people: People, client_of: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "free_memory_mb", lambda: 100)
    found = shown(standing, client_of, people)
    assert (found["state"], found["reason"]["code"]) == ("absent", "standby_memory")
    assert found["reason"]["message"].endswith("but only 100 MB are free.")


def test_the_notes_of_the_driver_that_took_over_are_no_standby(
    standing: Deployment, people: People, client_of: Client
) -> None:
    folder = standing.directory / "standby" / f"{standing.pk}-2"
    folder.mkdir(parents=True)
    (folder / "process.json").write_text(json.dumps({"pid": 101, "born": "boot/2"}))
    reconciling.end_run(standing.pk, "crashed", {"code": "driver_lost", "message": "lost"})
    reconciling.begin_run(standing.pk, 101, "here", "boot/2", 2, standby=True)
    assert shown(standing, client_of, people)["state"] == "absent"
    path = f"/api/deployments/{standing.pk}/runs"
    runs = client_of(people.viewer).get(path).json()["results"]
    assert [run["standby"] for run in runs] == [True, False]
    assert Run.objects.get(epoch=2).standby


def test_a_deployment_without_the_setting_has_no_standby(
    people: People, topology: Topology, client_of: Client
) -> None:
    row = actions.create_deployment(people.operator, topology, 1, "local", {})
    reconciling.begin_run(row.pk, 100, "here", "boot/1", 1)
    assert shown(row, client_of, people) is None


def test_plain_pyspark_has_no_standby(
    people: People, topology: Topology, client_of: Client
) -> None:
    settings = {"dialect": "plain", "standby": True}
    body = {"topology": topology.pk, "version": 1, "settings": settings}
    answer = client_of(people.operator).post("/api/workspaces/main/deployments", body)
    assert answer.status_code == 400
    assert "standby" in answer.json()["error"]["message"]
