"""Deployments in an environment: the values that their parameters have, and what a change does."""

from __future__ import annotations

from typing import Any

import pytest
from accounts.models import User
from deployments import actions, reconciling, topic_users
from deployments.models import Deployment
from topologies import actions as topologies
from topologies.simulating import Simulation

from tests.backend.conftest import Client, People, RecordedSimulator
from tests.backend.test_state_plan import ExpectedTypes, summing
from tests.served import serving_analyzer

PARAMETERS = {
    "source": {"type": "topic", "default": "in", "values": {"prod": "orders"}},
    "unit": {"type": "text", "default": "0", "values": {"dev": "1", "prod": "2"}},
}


def parametrized() -> Any:
    """Return a document that reads a topic of the environment."""
    made = summing("INT")
    made["parameters"] = PARAMETERS
    made["nodes"][0]["params"]["topics"] = ["${source}"]
    return made


@pytest.fixture
def deployed(people: People) -> Deployment:
    """A deployment in the environment prod."""
    made = topologies.create_topology(people.editor, people.workspace, "Sums", parametrized())
    return actions.create_deployment(people.operator, made, 1, "local", {"environment": "prod"})


def test_a_deployment_runs_with_the_values_of_its_environment(deployed: Deployment) -> None:
    found = reconciling.load_for_reconcile(deployed.pk)
    assert found is not None
    assert found.document["nodes"][0]["params"]["topics"] == ["orders"]
    assert "parameters" not in found.document
    assert found.job_directory.name == "v1-prod"
    assert [use.deployment for use in topic_users.uses_of_topic("orders")] == [deployed]
    assert list(topic_users.uses_of_topic("in")) == []


def test_a_forbidden_topic_of_another_environment_is_refused(
    deployed: Deployment, people: People, client_of: Client, settings: Any
) -> None:
    people.workspace.topic_prefixes = ["in", "out"]
    people.workspace.save()
    found = reconciling.load_for_reconcile(deployed.pk)
    assert found is not None
    assert found.forbidden is not None
    assert found.forbidden.facts["topic"] == "orders"
    with serving_analyzer(ExpectedTypes()) as settings.MILLRACE_ANALYZER:
        answer: Any = client_of(people.editor).post(
            "/api/workspaces/main/compile",
            {"document": parametrized(), "revision": 1},
            format="json",
        )
    refused = [each for each in answer.json()["diagnostics"] if "not_allowed" in each["code"]]
    assert [each["facts"]["topic"] for each in refused] == ["orders"]


def test_the_plan_of_another_environment_shows_values_topics_and_stores(
    deployed: Deployment, people: People, client_of: Client, settings: Any, monkeypatch: Any
) -> None:
    from deployments import state_plan

    monkeypatch.setattr(state_plan, "list_topics", lambda _prefixes: [])
    reconciling.begin_run(deployed.pk, 100, "here", "boot/1", 1)
    notes = deployed.directory / "checkpoint" / "stores.json"
    notes.parent.mkdir(parents=True)
    notes.write_text('{"begun": true}')
    path = f"/api/deployments/{deployed.pk}/plan"
    with serving_analyzer(ExpectedTypes()) as settings.MILLRACE_ANALYZER:
        client = client_of(people.operator)
        plan = client.post(
            path, {"version": 1, "settings": {"environment": "dev"}}, format="json"
        ).json()
    assert plan["environments"] == {"old": "prod", "new": "dev"}
    assert plan["parameters"] == [
        {"name": "source", "old": "orders", "new": "in"},
        {"name": "unit", "old": "2", "new": "1"},
    ]
    assert {each["topic"]: each["verdict"] for each in plan["sources"]} == {
        "in": "new", "orders": "gone",
    }  # fmt: skip
    assert [each["verdict"] for each in plan["stores"]] == ["kept"]


@pytest.mark.parametrize(("environment", "status"), [("prod", 201), ("staging", 400)])
def test_only_known_environments_are_accepted(
    people: People, client_of: Client, environment: str, status: int
) -> None:
    made = topologies.create_topology(people.editor, people.workspace, "Sums", parametrized())
    answer: Any = client_of(people.operator).post(
        "/api/workspaces/main/deployments",
        {"topology": made.pk, "version": 1, "settings": {"environment": environment}},
        format="json",
    )
    assert answer.status_code == status


def test_a_simulation_has_the_defaults_or_the_values_of_an_environment(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    given = {"document": parametrized(), "inputs": []}
    client_of(people.editor).post("/api/workspaces/main/simulations", given, format="json")
    (asked,) = simulator.asked
    assert asked["document"]["nodes"][0]["params"]["topics"] == ["in"]
    run = Simulation(parametrized(), [], environment="prod").request("me")
    assert run["document"]["nodes"][0]["params"]["topics"] == ["orders"]
    assert not Simulation(parametrized(), [], environment="prod").is_of_document


def test_a_saved_version_with_parameters_is_simulated_by_a_viewer(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    topologies.create_topology(people.editor, people.workspace, "Sums", parametrized())
    viewer: User = people.viewer
    answer: Any = client_of(viewer).post(
        "/api/workspaces/main/simulations",
        {"document": parametrized(), "inputs": []},
        format="json",
    )
    assert answer.status_code == 202
