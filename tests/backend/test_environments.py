"""Deployments in an environment: the values that their parameters have, and what a change does."""

from __future__ import annotations

from typing import Any, cast

import pytest
from accounts.models import User
from deployments import actions, reconciling, topic_users
from deployments.environments import changed_parameters
from deployments.models import Deployment
from django.db import IntegrityError, transaction
from millrace_backend.errors import Conflict
from millrace_compiler.state.plan_text import plan_text
from millrace_model.drivers import DeploymentSettings
from monitoring import notifying
from monitoring.choices import AlertEvent
from records.uses import uses_of
from topologies import actions as topologies
from topologies.approving import approve
from topologies.models import Topology
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


def writing(topic: str = "${target}") -> Any:
    """Return such a document that writes a topic of the environment, and dead letters likewise."""
    made = parametrized()
    made["parameters"] = {
        **PARAMETERS,
        "target": {"type": "topic", "default": "out", "values": {"prod": "out-prod"}},
    }
    made["nodes"][-1]["params"]["topic"] = topic
    made["settings"] = {"dead_letter_topic": "${target}-dead"}
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
        {"name": "source", "old": "orders", "new": "in", "by_default": True},
        {"name": "unit", "old": "2", "new": "1", "by_default": False},
    ]
    assert {each["topic"]: each["verdict"] for each in plan["sources"]} == {
        "in": "new", "orders": "gone",
    }  # fmt: skip
    assert [each["verdict"] for each in plan["stores"]] == ["kept"]


def test_a_value_that_an_environment_lacks_is_listed_also_if_it_stays(deployed: Deployment) -> None:
    """The default may be an oversight once other environments have values of their own."""
    version, in_dev = deployed.version, DeploymentSettings(environment="dev")
    in_test = DeploymentSettings(environment="test")
    assert changed_parameters((version, in_dev), (version, in_test)) == [
        {"name": "source", "old": "in", "new": "in", "by_default": True},
        {"name": "unit", "old": "1", "new": "0", "by_default": True},
    ]
    assert changed_parameters((version, in_test), (version, in_test)) == []


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


def deploy(person: User, topology: Topology, environment: str | None, version: int = 1) -> Any:
    """Deploy a version in an environment."""
    settings: Any = {} if environment is None else {"environment": environment}
    return actions.create_deployment(person, topology, version, "local", settings)


def test_a_topology_has_a_deployment_for_each_environment(
    people: People, client_of: Client
) -> None:
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", writing())
    first, second = (deploy(people.operator, topology, each) for each in (None, "prod"))
    listed: Any = client_of(people.viewer).get(f"/api/topologies/{topology.pk}").json()
    assert [(each["id"], each["environment"]) for each in listed["deployments"]] == [
        (second.pk, "prod"), (first.pk, None),
    ]  # fmt: skip
    assert listed["deployment"] == listed["deployments"][0]
    with pytest.raises(Conflict) as refused:
        deploy(people.operator, topology, "prod")
    assert (refused.value.code, refused.value.data["deployment"]) == ("already_deployed", second.pk)
    with pytest.raises(IntegrityError), transaction.atomic():
        Deployment.objects.filter(pk=first.pk).update(settings={"environment": "prod"})
    with pytest.raises(Conflict) as refused:
        actions.request_redeploy(people.operator, first, 1, {"environment": "prod"})
    assert refused.value.code == "already_deployed"


def test_two_deployments_never_write_the_same_topics(people: People, client_of: Client) -> None:
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", writing())
    prod = deploy(people.operator, topology, "prod")
    dev = deploy(people.operator, topology, "dev")
    with pytest.raises(Conflict) as refused:
        deploy(people.operator, topology, "test")
    assert refused.value.code == "outputs_shared"
    assert refused.value.data["topics"] == ["out", "out-dead"]
    assert refused.value.data["deployment"] == dev.pk
    topologies.save_version(people.editor, topology, writing("out"), "Same topic", 1)
    actions.request_redeploy(people.operator, dev, 2)
    client = client_of(people.operator)
    for answer in (
        client.post(f"/api/deployments/{prod.pk}/redeploy", {"version": 2}, format="json"),
        client.get(f"/api/deployments/{prod.pk}/plan?version=2"),
        client.get(f"/api/deployments/{dev.pk}/promotion?environment=test"),
    ):
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (409, "outputs_shared")
        assert "“out”" in error["message"]
        assert "parameter" in error["hint"]


def test_an_environment_is_held_until_the_change_to_another_has_arrived(people: People) -> None:
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", writing())
    row = deploy(people.operator, topology, "dev")
    reconciling.begin_run(row.pk, 100, "here", "boot/1", 1)
    actions.request_redeploy(people.operator, row, 1, {"environment": "prod"})
    with pytest.raises(Conflict) as refused:
        deploy(people.operator, topology, "dev")
    assert refused.value.code == "already_deployed"
    reconciling.fall_back(row.pk)
    row.refresh_from_db()
    assert row.environment == "dev"
    deploy(people.operator, topology, "prod")


def test_a_version_is_promoted_to_a_new_deployment_and_later_to_that_one(
    people: People, client_of: Client
) -> None:
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", writing())
    dev = deploy(people.operator, topology, "dev")
    Deployment.objects.filter(pk=dev.pk).update(settings={"environment": "dev", "cores": 3})
    path = f"/api/deployments/{dev.pk}/promotion"
    client = client_of(people.operator)
    proposed = client.get(f"{path}?environment=prod").json()
    assert proposed.get("error") is None
    assert (proposed["deployment"], proposed["plan"], proposed["version"]) == (None, None, 1)
    assert proposed["settings"] == {"environment": "prod", "cores": 3}
    assert proposed["parameters"] == [
        {"name": "source", "old": "in", "new": "orders", "by_default": False},
        {"name": "unit", "old": "1", "new": "2", "by_default": False},
        {"name": "target", "old": "out", "new": "out-prod", "by_default": False},
    ]
    body = {"environment": "prod", "settings": {"cores": 1}}
    made = client.post(path, body, format="json")
    assert (made.status_code, made.json()["settings"]) == (201, {"environment": "prod", "cores": 1})
    changed = {**writing(), "description": "Second"}
    topologies.save_version(people.editor, topology, cast("Any", changed), "Second", 1)
    actions.request_redeploy(people.operator, dev, 2)
    proposed = client.get(f"{path}?environment=prod").json()
    assert (proposed["deployment"], proposed["version"]) == (made.json()["id"], 2)
    assert (proposed["plan"]["before"], proposed["plan"]["version"]) == (1, 2)
    assert proposed["plan"]["environments"] == {"old": "prod", "new": "prod"}
    again = client.post(path, {"environment": "prod"}, format="json")
    assert (again.status_code, again.json()["version"]) == (200, 2)
    assert again.json()["settings"] == {"environment": "prod", "cores": 1}
    same = client.post(path, {"environment": "dev"}, format="json")
    assert same.json()["error"]["code"] == "already_in_environment"


def test_a_promotion_needs_the_approval_of_its_version(people: People, client_of: Client) -> None:
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", writing())
    dev = deploy(people.operator, topology, "dev")
    people.workspace.approval_required = True
    people.workspace.save()
    path = f"/api/deployments/{dev.pk}/promotion"
    client = client_of(people.operator)
    assert client.get(f"{path}?environment=prod").json()["approval"]["approved_by"] == []
    refused = client.post(path, {"environment": "prod"}, format="json")
    assert refused.json()["error"]["code"] == "approval_by_you"
    approve(people.admin, topology.versions.get())
    assert client.post(path, {"environment": "prod"}, format="json").status_code == 201


def test_the_readers_of_a_topic_name_the_deployment_that_reads_it(people: People) -> None:
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", writing())
    rows = {each: deploy(people.operator, topology, each) for each in ("dev", "prod")}
    for topic, environment in (("in", "dev"), ("orders", "prod")):
        (use,) = uses_of(people.workspace, topic)
        assert use["deployment"] == rows[environment].pk


def test_generators_stop_with_the_last_deployment(people: People) -> None:
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", writing())
    rows = [deploy(people.operator, topology, each) for each in ("dev", "prod")]
    made = topology.generators.create(
        workspace=people.workspace, topic="in", recipe={}, rate=1, state="running"
    )
    states = []
    for row in rows:
        actions.request_stop(people.operator, row)
        made.refresh_from_db()
        states.append(made.state)
    assert states == ["running", "stopped"]


def test_notifications_and_commands_name_the_environment(deployed: Deployment) -> None:
    rule = deployed.workspace.alert_rules.create(name="Down", condition="failed")
    found = notifying.content(AlertEvent.FIRED, rule, deployed, None)
    assert found["title"] == "Firing: Down – Sums (prod)"
    assert found["url"].endswith(f"/t/{deployed.topology_id}?deployment={deployed.pk}")
    plan: Any = {"before": 1, "version": 2, "stores": [], "sources": []}
    plan |= {"handover": None, "tests": None}
    lines = plan_text(plan, deployed.topology.name, deployed.environment)
    assert lines[0] == "Sums (prod): version 1 -> 2"
