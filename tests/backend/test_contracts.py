"""Committed texts: the API's description and the number of queries of every list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from accounts import actions as account_actions
from catalog.management.commands.millrace_api import PATH, description
from deployments import actions as deployment_actions
from deployments import reconciling
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from monitoring.models import Alert, AlertRule, Delivery
from topologies import actions as topology_actions

from .conftest import Client, People, document

COUNTS = Path(__file__).with_name("query_counts.json")
LISTS = [
    "/api/session",
    "/api/tokens",
    "/api/workspaces/main/members",
    "/api/workspaces/main/audit",
    "/api/workspaces/main/topologies",
    "/api/workspaces/main/deployments",
    "/api/topologies/{topology}/versions",
    "/api/deployments/{deployment}/runs",
    "/api/workspaces/main/alerts",
    "/api/workspaces/main/alert-rules",
]


def test_the_committed_description_of_the_api_is_up_to_date() -> None:
    assert PATH.read_text(encoding="utf-8") == description(), "run ./millrace api"


def fill(people: People, size: int) -> dict[str, int]:
    """Create this many rows of each model."""
    found: dict[str, int] = {}
    for number in range(size):
        topology = topology_actions.create_topology(
            people.editor, people.workspace, f"T{number}", document("a")
        )
        topology_actions.save_draft(people.admin, topology, document("b"), 1)
        row = deployment_actions.create_deployment(people.operator, topology, 1, "local", {})
        for epoch in range(1, size + 1):
            reconciling.begin_run(row.pk, epoch, "here", "boot/1", epoch)
            reconciling.end_run(row.pk, "stopped")
        reconciling.begin_run(row.pk, 9, "here", "boot/1", size + 1)
        topology.refresh_from_db()
        for base in range(1, size + 1):
            topology_actions.save_version(people.editor, topology, document("c"), "", base)
        rule = AlertRule.objects.create(
            workspace=people.workspace, topology=topology, name="R", condition="failed"
        )
        alert = Alert.objects.create(
            rule=rule, deployment=row, since=timezone.now(), fired_at=timezone.now()
        )
        Delivery.objects.create(alert=alert, event="fired", channel="mail", target="a")
        account_actions.create_token(people.admin, f"token {number}", 1)
        found = {"topology": topology.pk, "deployment": row.pk}
    return found


def counted(client: Any, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
    assert response.status_code == 200
    return len(queries)


@pytest.mark.parametrize("size", [1, 4])
def test_a_longer_list_takes_no_more_queries_than_committed(
    size: int, people: People, client_of: Client
) -> None:
    ids = fill(people, size)
    client = client_of(people.admin)
    found = {path: counted(client, path.format(**ids)) for path in LISTS}
    assert found == json.loads(COUNTS.read_text(encoding="utf-8")), json.dumps(found, indent=2)
