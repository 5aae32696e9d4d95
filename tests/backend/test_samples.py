"""The last records over an edge of a running deployment: permissions and responses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from accounts import actions as accounts
from accounts.models import Workspace
from deployments import actions, reconciling
from deployments.models import Deployment
from millrace_backend import redis
from topologies import actions as topologies

from .conftest import Client, People

EDGE = "in.out>out.in"
DOCUMENT: Any = {
    "format": "millrace.topology/1",
    "name": "test",
    "nodes": [
        {"id": "in", "kind": "source.stream", "params": {"topics": ["orders-a"]}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "orders-b"}},
    ],
    "edges": [{"source": "in", "target": "out"}],
}


@pytest.fixture
def running(people: People) -> Deployment:
    """A deployment with one edge and a running driver, whose reports have the id `7-1`."""
    topology = topologies.create_topology(people.editor, people.workspace, "Copy", DOCUMENT)
    deployment = actions.create_deployment(people.operator, topology, 1, "local", {})
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1, report_id="7-1")
    return deployment


def record(number: int) -> Any:
    return {
        "number": number, "seen": 5, "key": "a", "value": {"n": number}, "timestamp": 3,
        "headers": {"h": None}, "topic": "orders-a", "partition": 0, "offset": number,
    }  # fmt: skip


def keeps(edges: Any, **more: Any) -> None:
    """Write the records that a sampling driver would write."""
    kept = {"at": 9, "edges": edges, "keys": {}, **more}
    redis.client().set(redis.run_records("7-1"), json.dumps(kept))


def asked(client: Any, deployment: Deployment, edge: str = EDGE) -> Any:
    return client.get(f"/api/deployments/{deployment.pk}/records", {"edge": edge})


def test_a_request_for_records_reaches_the_driver_for_some_seconds(
    running: Deployment, people: People, client_of: Client
) -> None:
    watched = redis.run_watched("7-1")
    assert not redis.client().exists(watched)
    answer = asked(client_of(people.viewer), running).json()
    assert answer == {"sampling": "starting", "at": None, "records": [], "keys": None}
    assert 5 <= int(redis.client().ttl(watched)) <= 10


def test_records_come_as_the_driver_kept_them_and_never_more_than_twenty(
    running: Deployment, people: People, client_of: Client
) -> None:
    client = client_of(people.viewer)
    keeps({EDGE: [{**record(1), "value": "[1, 2", "value_cut": True}]})
    answer = asked(client, running).json()
    assert (answer["sampling"], answer["at"]) == ("on", 9)
    (found,) = answer["records"]
    assert found == {**record(1), "value": "[1, 2", "value_cut": True}
    keeps({EDGE: [record(number) for number in range(50, 0, -1)]})
    numbers = [each["number"] for each in asked(client, running).json()["records"]]
    assert numbers == list(range(50, 30, -1))


def test_the_hottest_keys_come_with_the_skew_of_all_tasks_behind_the_edge(
    running: Deployment, people: People, client_of: Client
) -> None:
    counted = {
        "since": 4, "records": 90, "sampled": 30,
        "top": [['"a"', 60], ['"b"', 30]], "tasks": [["1_0", 20], ["1_10", 60], ["1_2", 10]],
    }  # fmt: skip
    keeps({EDGE: [record(1)]}, keys={EDGE: counted})
    client = client_of(people.viewer)
    found = asked(client, running).json()["keys"]
    assert found["top"][0] == {"key": '"a"', "records": 60}
    assert [each["task"] for each in found["tasks"]] == ["1_0", "1_2", "1_10"]
    assert (found["records"], found["sampled"], found["skew"]) == (90, 30, 3.0)
    # Idle tasks of the same sub-topology are listed; those of another one are not.
    report = {
        "event": "progress", "at": 1_000, "stores": [],
        "tasks": [{"task": task, "topic_partitions": []} for task in ("1_3", "0_1")],
    }  # fmt: skip
    redis.client().xadd(redis.run_stream("7-1"), {"event": json.dumps(report)})
    found = asked(client, running).json()["keys"]
    assert {"task": "1_3", "records": 0} in found["tasks"]
    assert (len(found["tasks"]), found["skew"]) == (4, 4.0)


@pytest.mark.parametrize("edge", ["out.out>in.in", "in.late>out.in", "in", "x" * 999])
def test_an_edge_that_the_running_version_lacks_is_refused_and_not_watched(
    running: Deployment, people: People, client_of: Client, edge: str
) -> None:
    answer = asked(client_of(people.viewer), running, edge)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_such_edge")
    assert not redis.client().exists(redis.run_watched("7-1"))


@pytest.mark.parametrize("edge", ["", "x" * 1_001])
def test_no_edge_is_no_question(
    running: Deployment, people: People, client_of: Client, edge: str
) -> None:
    assert asked(client_of(people.viewer), running, edge).status_code == 400


def test_a_deployment_without_a_driver_shows_that_it_is_stopped(
    running: Deployment, people: People, client_of: Client
) -> None:
    keeps({EDGE: [record(1)]})
    running.runs.all().delete()
    answer = asked(client_of(people.viewer), running).json()
    assert answer == {"sampling": "stopped", "at": None, "records": [], "keys": None}
    assert not redis.client().exists(redis.run_watched("7-1"))


def test_records_of_forbidden_topics_are_not_shown(
    running: Deployment, people: People, client_of: Client
) -> None:
    keeps({EDGE: [record(1)]})
    client = client_of(people.viewer)
    Workspace.objects.filter(pk=people.workspace.pk).update(topic_prefixes=["orders-"])
    assert asked(client, running).status_code == 200
    Workspace.objects.filter(pk=people.workspace.pk).update(topic_prefixes=["paid-"])
    answer = asked(client, running)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "topic_not_allowed")


def test_strangers_do_not_see_that_the_deployment_exists(
    running: Deployment, people: People, client_of: Client
) -> None:
    keeps({EDGE: [record(1)]})
    assert asked(client_of(people.outsider), running).status_code == 404
    assert asked(client_of(accounts.set_up("chief", "chiefs")), running).status_code == 404
    assert not redis.client().exists(redis.run_watched("7-1"))


def test_a_redis_that_is_away_is_an_answer(
    running: Deployment, people: People, client_of: Client, millrace_settings: Any
) -> None:
    client = client_of(people.viewer)
    millrace_settings.REDIS_URL = "redis://127.0.0.1:1/0"
    redis.client.cache_clear()
    answer = asked(client, running)
    redis.client.cache_clear()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "redis_unreachable")


def test_an_edge_of_a_fragment_has_the_records_of_those_in_its_place(
    people: People, client_of: Client
) -> None:
    ports: Any = [{"id": "in", "kind": "fragment.input"}, {"id": "out", "kind": "fragment.output"}]
    keeps_all = {"predicate": "${low} > 0"}
    inner = [{"id": name, "kind": "filter", "params": keeps_all} for name in ("a", "b")]
    definition = {
        "parameters": {"low": {"type": "number", "default": 1}},
        "nodes": [*ports, *inner],
        "edges": [
            {"source": "in", "target": "a"}, {"source": "in", "target": "b"},
            {"source": "a", "target": "out"}, {"source": "b", "target": "out"},
        ],
    }  # fmt: skip
    fragment = {"id": "clean", "kind": "fragment", "params": {"fragment": "Clean@1"}}
    document: Any = {
        **DOCUMENT,
        "nodes": [*DOCUMENT["nodes"], fragment],
        "edges": [
            {"source": "in", "target": "clean", "target_port": "in"},
            {"source": "clean", "source_port": "out", "target": "out"},
        ],
        "fragments": {"Clean@1": definition},
    }
    topology = topologies.create_topology(people.editor, people.workspace, "Cleaned", document)
    deployment = actions.create_deployment(people.operator, topology, 1, "local", {})
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1, report_id="7-1")
    client = client_of(people.viewer)
    entering = {f"in.out>clean--{each}.in": [record(1)] for each in "ab"}
    leaving = {f"clean--{each}.out>out.in": [record(n)] for n, each in ((2, "a"), (3, "b"))}
    keeps(entering | leaving)
    for edge, numbers in (
        ("in.out>clean.in", [1]), ("clean.out>out.in", [3, 2]),
        ("in.out>clean--b.in", [1]), ("clean--a.out>out.in", [2]),
    ):  # fmt: skip
        found = asked(client, deployment, edge).json()
        assert [each["number"] for each in found["records"]] == numbers, edge
    keeps({})
    assert asked(client, deployment, "clean--b.out>out.in").json()["records"] == []
    assert asked(client, deployment, "in.out>out.in").status_code == 404
