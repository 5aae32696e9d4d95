"""Workspaces are deleted by their admins or the installation's, with what is lost said before."""

from __future__ import annotations

from typing import Any

import pytest
from accounts import actions
from accounts.models import AuditEntry, Membership, User, Workspace
from deployments.choices import Observed
from deployments.models import Deployment, Observation
from monitoring.models import AlertRule
from records.models import Generator
from topologies.models import Repository, Topology, Version

from .conftest import Client, People

MAIN = "/api/workspaces/main"


@pytest.fixture
def stopped(deployment: Deployment) -> Deployment:
    """A deployment at rest, with files."""
    Observation.objects.filter(deployment=deployment).update(state=Observed.STOPPED)
    deployment.directory.mkdir(parents=True)
    (deployment.directory / "driver.log").write_text("ran")
    return deployment


def deletion(client: Any, name: str = "Main") -> tuple[int, str | None]:
    """Return status and error code of a deletion."""
    answer = client.delete(f"{MAIN}?name={name}")
    return answer.status_code, answer.json()["error"]["code"] if answer.content else None


def test_a_workspace_is_deleted_with_all_that_it_contains(
    people: People,
    stopped: Deployment,
    client_of: Client,
    tmp_path: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    mirror = tmp_path / "git" / str(people.workspace.pk) / "mirror.git"
    mirror.mkdir(parents=True)
    Repository.objects.create(workspace=people.workspace, url="/srv/git/a.git", branch="main")
    people.workspace.generators.create(topic="orders", recipe={}, rate=1)
    people.workspace.alert_rules.create(name="One", condition="failed")
    client: Any = client_of(people.admin)
    assert client.get(MAIN).json() == {
        "slug": "main",
        "name": "Main",
        "topologies": 1,
        "deployments": 1,
        "running": 0,
        "members": 4,
    }
    with django_capture_on_commit_callbacks(execute=True):
        assert deletion(client) == (204, None)
    for model in (Topology, Version, Deployment, Generator, Repository, AlertRule):
        assert not model._default_manager.exists(), model
    assert not (mirror.exists())
    assert not (stopped.directory.exists())
    assert not Membership.objects.filter(workspace__slug="main").exists()
    assert client.get("/api/session").json()["workspaces"] == []
    assert client.get(MAIN).status_code == 404
    # Accounts stay, also those that it created, and other workspaces with all that is theirs.
    assert User.objects.filter(username="viewer", created_in=None, is_active=True).exists()
    assert Workspace.objects.get().memberships.get().user == people.outsider


def test_a_workspace_is_not_deleted_while_it_runs_or_without_its_name(
    people: People, stopped: Deployment, client_of: Client
) -> None:
    client = client_of(people.admin)
    for wrong in ("", "main", "Other"):
        assert deletion(client, wrong)[0] == 400
    assert deletion(client, "Other") == (400, "name_does_not_match")
    Observation.objects.filter(deployment=stopped).update(state=Observed.RUNNING)
    assert client.get(MAIN).json()["running"] == 1
    assert deletion(client) == (409, "workspace_in_use")
    assert Deployment.objects.get().pk == stopped.pk
    assert (stopped.directory / "driver.log").exists()


def test_the_audit_log_of_a_deleted_workspace_remains(
    people: People, topology: Topology, client_of: Client
) -> None:
    chief = actions.set_up("chief", "chiefs")
    before = AuditEntry.objects.filter(workspace=people.workspace).count()
    assert before > 0
    # The installation's admin is no member: the name and the counts are all that is seen.
    client: Any = client_of(chief)
    assert client.get(MAIN).json()["topologies"] == 1
    assert deletion(client) == (204, None)
    entries = client.get("/api/installation/audit?page_size=100").json()["results"]
    assert entries[0]["action"] == "workspace.delete"
    assert entries[0]["actor"] == chief.shown_name
    assert entries[0]["detail"] == {"name": "Main", "slug": "main"}
    kept = [each for each in entries if each["deleted_workspace"] == "main"]
    assert len(kept) == before
    assert {"topology.create", "version.create"} <= {each["action"] for each in kept}
    assert client.get("/api/installation/audit?search=main").json()["count"] >= before
