"""A shadow of a running deployment: its topics, its end, and the comparison."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from accounts.models import AuditEntry
from deployments import comparing, reconciling
from deployments.models import Deployment, Shadow
from deployments.shadows import own_topics, shadow_document
from django.core.management import call_command
from topologies.models import Topology, Version

from tests.runtime import topics

from .conftest import Client, People

DOCUMENT: Any = {
    "format": 1,
    "nodes": [
        {"id": "in", "kind": "source.stream", "params": {"topics": ["orders"]}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "sums"}},
        {"id": "by", "kind": "sink.topic", "params": {"topic_expression": "concat('to-', key)"}},
        {"id": "again", "kind": "source.stream", "params": {"topics": ["sums"]}},
    ],
    "edges": [],
    "settings": {"dead_letter_topic": "dead"},
    "topics": {"sums": {"partitions": 4}, "orders": {"partitions": 2}},
}


def test_a_shadow_writes_topics_of_its_own_and_reads_the_same() -> None:
    made = shadow_document(DOCUMENT, "-shadow-1")
    params = {node["id"]: node["params"] for node in made["nodes"]}
    assert params["in"] == {"topics": ["orders"]}
    assert params["again"] == {"topics": ["sums"]}, "what the running version writes there"
    assert params["out"] == {"topic": "sums-shadow-1"}
    assert params["by"] == {"topic_expression": "concat(concat('to-', key), '-shadow-1')"}
    assert made["settings"]["dead_letter_topic"] == "dead-shadow-1"
    assert made["topics"]["sums-shadow-1"] == {"partitions": 4}
    assert own_topics(DOCUMENT, "-shadow-1") == ["sums-shadow-1", "dead-shadow-1"]
    assert DOCUMENT["nodes"][1]["params"] == {"topic": "sums"}


pytestmark = [pytest.mark.kafka]


@pytest.fixture
def out(broker: Any, millrace_settings: Any) -> str:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    millrace_settings.SPARE_MEMORY_MB = -1_000_000
    name = f"sums-{uuid.uuid4().hex[:8]}"
    topics.create(broker.address, {name: 2})
    return name


@pytest.fixture
def running(topology: Topology, people: People, out: str) -> Deployment:
    """A deployment whose driver has recorded the end offsets of its outputs."""
    raw = {**DOCUMENT, "nodes": DOCUMENT["nodes"][:1], "settings": {}}
    raw["nodes"] = [*raw["nodes"], {"id": "out", "kind": "sink.topic", "params": {"topic": out}}]
    versions = [
        Version.objects.create(topology=topology, number=number, document=raw)
        for number in (11, 12)
    ]
    row = Deployment.objects.create(
        workspace=topology.workspace,
        topology=topology,
        version=versions[0],
        settings={"memory_mb": 700, "real_time_ms": 5_000},
    )
    from deployments.models import Observation

    Observation.objects.create(deployment=row, state="running")
    (row.directory / "checkpoint").mkdir(parents=True)
    (row.directory / "checkpoint" / "outputs.json").write_text("{}")
    return row


def noted(row: Deployment, began: Any, reached: Any) -> None:
    file = Shadow.objects.get(of=row).deployment.directory / "checkpoint" / "shadow.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    places = {"places": {"orders": {"0": 5}}}
    file.write_text(json.dumps({"began": began | places, "reached": reached | places | {"at": 7}}))


def test_a_shadow_is_started_compared_and_ended(
    running: Deployment, people: People, client_of: Client, out: str, broker: Any
) -> None:
    client = client_of(people.operator)
    path = f"/api/deployments/{running.pk}/shadow"
    assert client.get(path).status_code == 204
    before = client.get(f"/api/deployments/{running.pk}").json()
    made = client.post(path, {"version": 12}, format="json")
    assert made.status_code == 201, made.json()
    suffix, number = made.json()["suffix"], made.json()["deployment"]["id"]
    assert client.post(path, {"version": 12}, format="json").json()["error"]["code"] == "has_shadow"

    # A shadow is not listed among the topology's deployments and cannot be changed.
    listed = client.get("/api/workspaces/main/deployments").json()["results"]
    assert [each["id"] for each in listed] == [running.pk]
    assert client.get(f"/api/deployments/{running.pk}").json() == before
    for change in ("redeploy", "scale"):
        body = {"version": 11} if change == "redeploy" else {"cores": 2}
        answer = client.post(f"/api/deployments/{number}/{change}", body, format="json")
        assert answer.json()["error"]["code"] == "is_shadow"
    assert client.delete(f"/api/deployments/{number}").json()["error"]["code"] == "is_shadow"
    assert client.delete(f"/api/deployments/{running.pk}").json()["error"]["code"] == "has_shadow"
    elsewhere = {"start_from": {"position": "latest"}}
    answer = client.post(f"/api/deployments/{running.pk}/start", elsewhere, format="json")
    assert answer.json()["error"]["code"] == "has_shadow", "it would not read what the shadow reads"

    found = reconciling.load_for_reconcile(number)
    assert found is not None
    assert found.follows is not None
    assert found.follows.checkpoint == running.directory / "checkpoint"
    assert found.follows.copies_state
    assert found.settings == {"memory_mb": 700}, "it follows in micro-batches"
    assert found.document["nodes"][1]["params"]["topic"] == out + suffix
    assert topics.partitions(broker.address, out + suffix) == 2

    compare = f"{path}/comparison"
    assert client.post(compare).json()["error"]["code"] == "nothing_to_compare"
    for topic, values in ((out, "old 1 2 3 late"), (out + suffix, "1 x 4")):
        records = [{"key": f"k{n}", "value": v, "timestamp": 5, "partition": 0}
                   for n, v in enumerate(values.split(), 0 if topic == out else 1)]  # fmt: skip
        topics.produce(broker.address, topic, records)
    noted(running, {"theirs": {out: {"0": [0, 1]}}, "ours": {}},
          {"theirs": {out: {"0": [0, 4]}}, "ours": {out + suffix: {"0": [0, 3]}}})  # fmt: skip
    begun = client.post(compare)
    assert (begun.status_code, begun.json()["state"]) == (202, "reading")
    assert client.post(compare).json()["error"]["code"] == "compares_already"
    shadow = Shadow.objects.get(of=running)
    while comparing.advance(shadow.pk):
        assert comparing.due() == []
    done = client.get(path).json()["comparison"]
    assert (done["state"], done["read"], done["total"], done["error"]) == ("done", 6, 6, None)
    assert (done["running_version"], done["shadow_version"]) == (11, 12)
    assert done["to_offsets"] == {"orders": {"0": 5}}
    (topic,) = done["topics"]
    assert (topic["topic"], topic["sinks"], topic["deleted"]) == (out, ["out"], 0)
    assert [topic[kind] for kind in ("equal", "differing", "only_running", "only_shadow")] == [
        1, 2, 0, 0
    ]  # fmt: skip
    assert [
        (each["key"], each["running"]["value"], each["shadow"]["value"])
        for each in topic["examples"]
    ] == [("k2", "2", "x"), ("k3", "3", "4")]
    assert not (shadow.deployment.directory / "comparison").exists()

    shown = call_command_text("millrace_shadow", str(running.pk))
    assert f"{out}: 1 equal (0 in another order), 2 differing" in shown
    assert "differing  k2: 2 | x" in shown

    client.post(compare)
    assert client.delete(compare).status_code == 204
    assert not comparing.advance(shadow.pk)
    assert client.get(path).json()["comparison"]["state"] == "canceled"

    answer = client.post(f"{path}/end", {"name": "another"}, format="json")
    assert answer.json()["error"]["code"] == "name_does_not_match"
    assert (
        client.post(f"{path}/end", {"name": running.topology.name}, format="json").status_code
        == 202
    )
    found = reconciling.load_for_reconcile(number)
    assert found is not None
    assert (found.ending, found.wants_to_run) == (True, False)
    reconciling.observe(number, "stopped")
    assert number in reconciling.due_for_reconcile(), "stopped, but not yet deleted"
    reconciling.delete_ended(number)
    assert not Deployment.objects.filter(pk=number).exists()
    assert topics.partitions(broker.address, out + suffix) is None
    assert topics.partitions(broker.address, out) == 2
    actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert [each for each in actions if "shadow" in each or "compare" in each] == [
        "deployment.shadow", "deployment.compare", "deployment.compare", "deployment.end_shadow"
    ]  # fmt: skip


def call_command_text(*words: str) -> str:
    import io

    text = io.StringIO()
    call_command(*words, stdout=text)
    return text.getvalue()


def test_a_shadow_that_cannot_be_is_refused(
    running: Deployment, people: People, client_of: Client, out: str, millrace_settings: Any
) -> None:
    client, path = client_of(people.operator), f"/api/deployments/{running.pk}/shadow"

    def code(**body: Any) -> str:
        return str(
            client.post(path, {"version": 12, **body}, format="json").json()["error"]["code"]
        )

    assert code(version=99) == "no_such_version"
    assert code(start="nowhere") == "invalid"
    document = Version.objects.get(number=11).document
    document["nodes"][0]["params"] = {"topic_pattern": f"{out}.*"}
    Version.objects.filter(number=11).update(document=document)
    assert code() == "pattern_reads_shadow"
    millrace_settings.SPARE_MEMORY_MB = 100_000_000
    assert code() == "not_enough_memory"
    (running.directory / "checkpoint" / "outputs.json").unlink()
    assert code() == "not_yet_comparable"
    assert not Shadow.objects.exists()


def test_records_that_the_broker_deleted_are_counted(
    running: Deployment, people: People, client_of: Client, out: str, broker: Any, tmp_path: Path
) -> None:
    client, path = client_of(people.operator), f"/api/deployments/{running.pk}/shadow"
    suffix = client.post(path, {"version": 12, "start": "earliest"}, format="json").json()["suffix"]
    records = [{"key": "k", "value": str(n), "partition": 0, "timestamp": n} for n in range(4)]
    topics.produce(broker.address, out, records)
    topics.delete_before(broker.address, out, 3)
    topics.delete(broker.address, out + suffix)
    noted(running, {"theirs": {}, "ours": {}},
          {"theirs": {out: {"0": [0, 4]}}, "ours": {out + suffix: {"1": [0, 2]}}})  # fmt: skip
    client.post(f"{path}/comparison")
    while comparing.advance(Shadow.objects.get(of=running).pk):
        pass
    done = client.get(path).json()["comparison"]
    assert done["state"] == "done"
    (topic,) = done["topics"]
    assert (topic["deleted"], topic["only_running"], topic["only_shadow"]) == (5, 1, 0)
