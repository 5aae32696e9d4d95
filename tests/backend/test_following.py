"""A record of a deployment's input and its neighbors, as input lines of a simulation."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from accounts.models import Workspace
from deployments import actions as deployment_actions
from deployments.models import Deployment
from topologies import actions as topology_actions

from tests.runtime import topics

from .conftest import Client, People, RecordedSimulator

pytestmark = [pytest.mark.kafka]
BEGIN = 1_767_225_600_000


def followed_document(orders: str, users: str) -> Any:
    """Orders that are joined with a table of users."""
    formats = {
        "key": {"format": "string"},
        "value": {"format": "json", "schema": "n INT, a STRING"},
    }
    return {
        "format": "millrace.topology/1",
        "name": "follow",
        "nodes": [
            {"id": "orders", "kind": "source.stream", "params": {"topics": [orders], **formats}},
            {"id": "users", "kind": "source.table", "params": {"topic": users, **formats}},
        ],
        "edges": [],
    }


@pytest.fixture
def names(broker: Any, millrace_settings: Any) -> tuple[str, str]:
    """Twenty orders in two partitions, one second apart, and a user before and after them."""
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    orders, users = (f"{name}-{uuid.uuid4().hex[:8]}" for name in ("orders", "users"))
    topics.create(broker.address, {orders: 2, users: 2})
    rows = [
        {
            "key": f"k{n % 4}",
            "value": json.dumps({"n": n, "a": f"A-{n}"}),
            "timestamp": BEGIN + 1_000 * n,
            "partition": n % 2,
            "headers": {"origin": b"web"} if n == 10 else {},
        }
        for n in range(20)
    ]
    topics.produce(broker.address, orders, rows)
    user = {"key": "k2", "partition": 0}
    topics.produce(
        broker.address,
        users,
        [
            {**user, "value": json.dumps({"n": -at, "a": "Ann"}), "timestamp": BEGIN + at}
            for at in (0, 15_000)
        ],
    )
    return orders, users


Ask = Callable[..., Any]


@pytest.fixture
def ask(people: People, client_of: Client, names: tuple[str, str]) -> Ask:
    """A function that follows a record as a viewer, through a deployment of the document."""
    document = followed_document(*names)
    topology = topology_actions.create_topology(people.editor, people.workspace, "F", document)
    row = deployment_actions.create_deployment(people.operator, topology, 1, "local", {})
    client = client_of(people.viewer)

    def asked(status: int = 200, **body: Any) -> Any:
        path = f"/api/deployments/{row.pk}/followed-record"
        answer: Any = client.post(path, {"topic": names[0], **body})
        assert answer.status_code == status, answer.content
        return answer.json()

    return asked


def numbers(found: Any) -> list[int]:
    return [line["value"]["n"] for line in found["lines"]]


def test_a_place_comes_with_what_its_task_read_around_it(ask: Ask, names: tuple[str, str]) -> None:
    orders, users = names
    found = ask(partition=0, offset=5, before=6, after=4, partitions="task")
    # Three records of each topic before it and two after, merged by timestamp.
    assert numbers(found) == [0, 4, 6, 8, 10, 12, 14, -15_000]
    assert (found["state"], found["version"], found["input"]) == ("found", 1, 5)
    assert found["document"] == followed_document(orders, users)
    assert found["topic_partitions"] == {orders: 2, users: 2}
    line = found["lines"][4]
    assert line == {
        "topic": orders,
        "partition": 0,
        "offset": 5,
        "timestamp": BEGIN + 10_000,
        "key": "k2",
        "value": {"n": 10, "a": "A-10"},
        "headers": {"origin": "web"},
    }
    place = {"topic": orders, "partition": 0, "offset": 5, "timestamp": BEGIN + 10_000}
    assert found["record"] == place
    ends = {"earliest": 0, "latest": 10, "first": 2, "last": 7}
    assert found["partitions"][0] == {"topic": orders, "partition": 0, **ends}
    assert [each["topic"] for each in found["partitions"]] == [orders, users]


def test_other_partitions_belong_to_it_where_they_are_wanted(ask: Ask) -> None:
    found = ask(partition=0, offset=5, before=4, after=2, partitions="all")
    assert numbers(found) == [0, 8, 9, 10, 11, -15_000]
    # Before the first batch, it is unknown whether the topology repartitions.
    assert numbers(ask(partition=0, offset=5, before=4, after=2)) == numbers(found)
    assert len(found["partitions"]) == 4
    assert numbers(ask(partition=0, offset=5, before=0, after=0)) == [10]


def test_only_its_key_reaches_further_back(ask: Ask) -> None:
    found = ask(partition=0, offset=5, before=4, after=0, same_key=True, partitions="task")
    assert numbers(found) == [0, 2, 6, 10]


def test_the_newest_record_with_a_key_or_a_text_is_found(ask: Ask) -> None:
    by_key = ask(key="k3", before=0, after=0)
    assert (by_key["record"]["offset"], by_key["record"]["partition"]) == (9, 1)
    by_text = ask(contains="a-13", before=0, after=0)
    assert numbers(by_text) == [13]
    both = ask(key="k1", contains="A-1", before=0, after=0)
    assert numbers(both) == [17]
    nothing = ask(key="k", before=0, after=0)
    assert (nothing["state"], nothing["scanned"]) == ("not_found", 20)
    assert "lines" not in nothing


def test_a_search_goes_on_where_it_stopped(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    from records import reading

    monkeypatch.setattr(reading, "MOST_SCANNED", 5)
    monkeypatch.setattr(reading, "FIRST_STEP", 2)
    cursor, requests = "", 0
    while True:
        found = ask(contains="A-0", cursor=cursor, before=0, after=0)
        requests += 1
        if found["state"] != "searching":
            break
        cursor = found["cursor"]
    assert (found["state"], found["record"]["offset"], requests > 1) == ("found", 0, True)


def test_masked_fields_never_leave(ask: Ask, broker: Any, names: tuple[str, str]) -> None:
    masks = {"key": {"how": "hash"}, "value.a": {"how": "replace", "by": "x"}}
    found = ask(partition=0, offset=5, before=6, after=4, masks=masks, headers=False)
    assert {line["value"]["a"] for line in found["lines"]} == {"x"}
    text = json.dumps(found["lines"])
    assert not any(secret in text for secret in ('"k2"', "A-10", "Ann", "web"))
    # An unreadable record cannot be masked; without masks its bytes are returned.
    broken = {"key": "k0", "value": "no JSON", "timestamp": BEGIN + 11_000, "partition": 0}
    topics.produce(broker.address, names[0], [broken])
    around = {"partition": 0, "offset": 9, "before": 0, "after": 2, "partitions": "task"}
    assert ask(**around, masks=masks)["skipped"] == 1
    refused = ask(400, partition=0, offset=10, masks=masks)["error"]
    assert refused["code"] == "unreadable_record"
    (line,) = ask(partition=0, offset=10, before=0, after=0)["lines"]
    assert base64.b64decode(line["value_bytes"]) == b"no JSON"


@pytest.fixture
def deployed(people: People, names: tuple[str, str]) -> Deployment:
    """A deployment whose checkpoint notes show one level; it has two tasks."""
    topology = topology_actions.create_topology(
        people.editor, people.workspace, "D", followed_document(*names)
    )
    row = deployment_actions.create_deployment(people.operator, topology, 1, "local", {})
    folder = row.directory / "checkpoint"
    folder.mkdir(parents=True)
    (folder / "stores.json").write_text('{"levels": 1}', encoding="utf-8")
    return row


def test_it_begins_with_the_stores_after_the_batch_before_it(
    people: People, client_of: Client, names: tuple[str, str], deployed: Deployment,
    simulator: RecordedSimulator,
) -> None:  # fmt: skip
    orders, users = names
    ends = [((2, 1), 1), ((7, 7), 1), ((10, 10), 2)]
    simulator.answer = {
        "batches": [
            {"batch": n, "at": 1_000 * n,
             "places": {orders: {"0": first, "1": second}, users: {"0": third, "1": 0}}}
            for n, ((first, second), third) in enumerate(ends)
        ],
        "subtopologies": {"0": 2}, "levels": 1, "clock": True,
    }  # fmt: skip
    client, path = client_of(people.operator), f"/api/deployments/{deployed.pk}"

    def followed(**more: Any) -> Any:
        place = {"topic": orders, "partition": 0, "offset": 5, "before": 0, "after": 0}
        answer: Any = client.post(f"{path}/followed-record", {**place, **more})
        assert answer.status_code == 200, answer.content
        return answer.json()

    found = followed()
    # The simulation begins after batch 0, at its wall-clock time, with the second batch of the
    # record's partition.
    assert found["begins"] == {"batch": 0, "at": 0, "tasks": [0]}
    assert [line.get("offset") for line in found["lines"]] == [2, 3, 4, 5, 6]
    assert (found["input"], found["empty_because"]) == (4, None)
    asked = simulator.asked[0]
    assert (asked["do"], asked["checkpoint"]) == (
        "read_batches", str(deployed.directory / "checkpoint"),
    )  # fmt: skip
    more = followed(after=5)["lines"]
    assert [line.get("offset") for line in more] == [2, 3, 4, 5, 6, None, 7, 1, 8, 9]
    assert more[5] == {"advance_wall_clock": 1_000}
    every = followed(partitions="all")
    assert (every["begins"]["tasks"], len(every["lines"])) == (None, 11)
    for request, because in (
        ({"stores": "empty"}, "asked"), ({"same_key": True}, "changed"),
        ({"masks": {"key": {"how": "hash"}}}, "changed"), ({"offset": 1}, "too_old"),
    ):  # fmt: skip
        empty = followed(**request)
        assert (empty["begins"], empty["empty_because"]) == (None, because)
    simulator.answer = {"error": {"code": "state_unreadable", "message": "Gone."}}
    assert followed()["empty_because"] == "no_state"
    simulator.answer = {"state": "starting"}
    assert followed()["state"] == "starting"

    body = {"inputs": found["lines"], "begins": found["begins"], "partitions": {orders: 2}}
    answer: Any = client.post(f"{path}/simulations", body)
    assert (answer.status_code, answer.json()["state"]) == (202, "starting")
    asked = simulator.asked[-1]
    assert (asked["do"], asked["batch"], asked["tasks"]) == ("read_task_states", 0, [0])
    simulator.answer = {"rows": 3, "diagnostics": [], "result": None}
    client.post(f"{path}/simulations", body)
    asked = simulator.asked[-1]
    assert (asked["do"], asked["begins"]) == ("simulate", simulator.answer)
    assert (asked["document"], asked["partitions"]) == (
        followed_document(orders, users), {orders: 2},
    )  # fmt: skip
    simulator.answer = {"error": {"code": "state_too_large", "message": "Too large."}}
    assert client.post(f"{path}/simulations", body).status_code == 409
    assert client_of(people.outsider).post(f"{path}/simulations", body).status_code == 404


def test_what_cannot_be_followed_says_why(ask: Ask, names: tuple[str, str], people: People) -> None:
    orders, _ = names
    assert ask(404, topic="elsewhere", key="a")["error"]["code"] == "no_such_source"
    internal = ask(404, topic="follow-by-a-repartition", key="a")["error"]
    assert (internal["code"], orders in internal["hint"]) == ("internal_topic", True)
    missing = ask(404, partition=0, offset=99)["error"]
    assert (missing["code"], "from 0 to 9" in missing["hint"]) == ("no_such_record", True)
    assert ask(404, partition=7, offset=0)["error"]["code"] == "no_such_partition"
    assert "key" in ask(400)["error"]["fields"]
    assert "before" in ask(400, key="a", before=1_501)["error"]["fields"]
    Workspace.objects.filter(pk=people.workspace.pk).update(topic_prefixes=["other-"])
    assert ask(404, partition=0, offset=5)["error"]["code"] == "topic_not_allowed"
    assert orders
