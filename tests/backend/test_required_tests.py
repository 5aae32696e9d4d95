"""Tests that must pass before a version is deployed, in workspaces that require it."""

from __future__ import annotations

import json
from typing import Any

from deployments.models import Deployment
from deployments.state_plan import start_plan
from topologies.models import TestPass, Version
from topologies.simulating import Simulation

from tests.backend.conftest import Client, People, RecordedSimulator, document

RULES = "/api/workspaces/main/rules"
DEPLOYMENTS = "/api/workspaces/main/deployments"
EXPECTED = {"outputs": [{"topic": "out", "key": None, "value": 10.0}], "dropped": 0}
INPUTS: Any = [{"topic": "in", "key": None, "value": 1.5, "timestamp": 0}]


class Workbench:
    """A topology with two versions, the first of which is drawn, in a workspace with the rule."""

    def __init__(self, people: People, client_of: Client, simulator: RecordedSimulator) -> None:
        self.simulator = simulator
        self.client: Any = client_of(people.operator)
        assert client_of(people.admin).put(RULES, {"tests_required": True}).status_code == 200
        body = {"name": "Tested", "document": document("a")}
        made = self.client.post("/api/workspaces/main/topologies", body).json()
        self.topology = made["id"]

    def keep(self, name: str, inputs: Any = INPUTS) -> int:
        body = {"name": name, "inputs": inputs, "expected": EXPECTED}
        answer = self.client.post(f"/api/topologies/{self.topology}/tests", body)
        assert answer.status_code == 201
        number: int = answer.json()["id"]
        return number

    def run(self, differences: list[str], of: Any = None, **more: Any) -> None:
        """Run all tests as the page does, with inputs and expectations from the API."""
        self.simulator.answer = {
            "diagnostics": [],
            "result": {"differences": differences, **EMPTY},
        }
        for test in self.client.get(f"/api/topologies/{self.topology}/tests").json()["results"]:
            body = {
                "document": of or document("a"),
                "inputs": test["inputs"],
                "expected": test["expected"],
                **more,
            }
            # JavaScript writes whole numbers without a decimal point.
            written = json.dumps(body).replace("10.0", "10")
            answer = self.client.post(
                "/api/workspaces/main/simulations", written, content_type="application/json"
            )
            assert answer.status_code == 200, answer.content

    def deploy(self, version: int = 1) -> Any:
        body = {"topology": self.topology, "version": version, "target": "local", "settings": {}}
        return self.client.post(DEPLOYMENTS, body)


EMPTY: Any = {
    "outputs": [], "output_count": 0, "dropped": 0, "edges": [], "nodes": {}, "stores": {},
    "steps": [], "truncated": False, "logs": [], "error": None,
}  # fmt: skip


def test_a_version_is_deployed_once_all_its_tests_have_passed_with_it(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    bench = Workbench(people, client_of, simulator)
    assert bench.deploy().json()["error"]["code"] == "tests_missing"
    bench.keep("First")
    second = bench.keep("Second", [])
    bench.run(["out[0]: expected 1, got 2"])
    refused = bench.deploy()
    assert refused.status_code == 409
    error = refused.json()["error"]
    assert (error["code"], error["tests"]) == ("tests_not_passed", ["First", "Second"])
    # Passing with another document does not count for this one.
    bench.run([], document("b"))
    assert bench.deploy().status_code == 409
    bench.run([])
    # A test that was changed since its run has not passed.
    changed = {"name": "Second", "inputs": INPUTS * 2, "expected": EXPECTED}
    path = f"/api/topologies/{bench.topology}/tests/{second}"
    assert bench.client.put(path, changed).status_code == 200
    assert bench.deploy().json()["error"]["tests"] == ["Second"]
    bench.run([])
    deployed = bench.deploy()
    assert deployed.status_code == 201

    # Another version needs its own passes; the running one is restarted without any.
    version = {"document": document("a", "b"), "message": "", "base_version": 1}
    saved = bench.client.post(f"/api/topologies/{bench.topology}/versions", version)
    assert saved.status_code == 201
    run = f"/api/deployments/{deployed.json()['id']}"
    redeployed = bench.client.post(f"{run}/redeploy", {"version": 2})
    assert redeployed.json()["error"]["code"] == "tests_not_passed"
    assert bench.client.post(f"{run}/restart", {}).status_code == 200
    # The labels and positions of nodes, groups and notes do not matter.
    moved = document("a", "b")
    moved["nodes"][0] |= {"label": "Moved", "position": {"x": 16, "y": 32}}
    moved["drawing"] = {"groups": [{"id": "all", "nodes": [moved["nodes"][0]["id"]]}]}
    bench.run([], moved)
    assert bench.client.post(f"{run}/redeploy", {"version": 2}).status_code == 200


def test_without_the_rule_nothing_is_asked_and_only_admins_set_it(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    bench = Workbench(people, client_of, simulator)
    shown = {"tests_required": True, "approval_required": False}
    assert bench.client.get(RULES).json() == shown
    assert bench.client.put(RULES, {"tests_required": False}).status_code == 403
    admin: Any = client_of(people.admin)
    shown["tests_required"] = False
    assert admin.put(RULES, {"tests_required": False}).json() == shown
    assert bench.deploy().status_code == 201
    entries = admin.get("/api/workspaces/main/audit").json()["results"]
    assert [each["action"] for each in entries].count("workspace.tests") == 2


def test_a_pass_of_another_workspace_counts_nothing(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    bench = Workbench(people, client_of, simulator)
    bench.keep("First")
    bench.run([])
    TestPass.objects.update(workspace=people.other_workspace)
    assert bench.deploy().status_code == 409


def test_a_run_with_other_partitions_is_no_pass_of_the_test(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    bench = Workbench(people, client_of, simulator)
    bench.keep("First")
    bench.run([], partitions={"in": 4})
    assert bench.deploy().json()["error"]["tests"] == ["First"]
    begins: Any = {"batch": 1, "at": 0, "stores": {}}
    assert not Simulation(document("a"), INPUTS, begins=begins).is_of_document
    bench.run([], partitions={"in": 1})
    assert bench.deploy().status_code == 201


def test_a_pass_with_the_documents_doubles_counts_and_is_named(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    bench = Workbench(people, client_of, simulator)
    bench.keep("Scores")
    node = document("a")["nodes"][0]["id"]
    doubles = [{"node": node, "rows": [{"when": "", "value": "1"}]}]
    drawn = {**document("a"), "drawing": {"doubles": doubles}}
    version = {"document": drawn, "message": "", "base_version": 1}
    versions = f"/api/topologies/{bench.topology}/versions"
    assert bench.client.post(versions, version).status_code == 201
    # Only the document's own doubles count.
    bench.run([], drawn, part={"doubles": [{"node": node, "rows": [{"value": "2"}]}]})
    assert bench.deploy(2).status_code == 409
    bench.run([], drawn, part={"doubles": [{"node": node, "rows": [{"value": "1"}]}]})
    # The first version has no doubles.
    assert bench.deploy(1).status_code == 409
    assert bench.deploy(2).status_code == 201
    entries = client_of(people.admin).get("/api/workspaces/main/audit").json()["results"]
    (made,) = [each for each in entries if each["action"] == "deployment.create"]
    assert made["detail"]["tests_with_doubles"] == ["Scores"]

    # Other answers need another pass; one without doubles needs none to be named.
    changed = {**drawn, "drawing": {"doubles": [{**doubles[0], "passes": True}]}}
    version = {"document": changed, "message": "", "base_version": 2}
    assert bench.client.post(versions, version).status_code == 201
    deployment = Deployment.objects.get()
    third = Version.objects.get(topology=bench.topology, number=3)
    shown = start_plan(deployment, third, None)["tests"]
    assert shown == {
        "required": True, "passed": 0, "missing": ["Scores"], "doubled": [], "doubles": [node],
    }  # fmt: skip
    bench.run([], changed)
    again: Any = start_plan(deployment, third, None)["tests"]
    assert (again["passed"], again["missing"], again["doubled"]) == (1, [], [])
