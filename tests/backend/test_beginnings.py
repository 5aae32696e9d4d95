"""A stopped deployment restarts from another position: checks, plan, audit, driver options."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from accounts.models import AuditEntry
from deployments import actions, reconciling
from deployments.models import Deployment
from django.utils import timezone
from millrace_backend import environment, redis
from millrace_compiler import compile_document
from millrace_compiler.state.state_schema import state_schema
from millrace_workers import tasks
from millrace_workers.app import app
from topologies import actions as topologies

from tests.described import validator
from tests.runtime import topics
from tests.served import serving_analyzer

from .conftest import Client, People, RecordedSimulator
from .test_state_plan import ExpectedTypes, summing

pytestmark = pytest.mark.kafka


@pytest.fixture
def topic(broker: Any, millrace_settings: Any) -> str:
    """Two partitions with three records each, one second apart; the first of 0 is deleted."""
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    name = f"in-{uuid.uuid4()}"
    topics.create(broker.address, {name: 2, f"names-{name}": 1})
    records = [
        {"value": "1", "partition": partition, "timestamp": 1_000 * second}
        for partition in (0, 1)
        for second in (1, 2, 3)
    ]
    topics.produce(broker.address, name, records)
    topics.delete_before(broker.address, name, 1)
    return name


def reading(topic: str, id_: str = "sum") -> Any:
    """Return a document that sums a topic and also reads a global table."""
    made = summing("INT", id_)
    made["nodes"][0]["params"]["topics"] = [topic]
    formats = {"key": {"format": "string"}, "value": {"format": "string"}}
    params = {"topic": f"names-{topic}", **formats}
    join = {"type": "left", "key": "key", "joiner": "left"}
    made["nodes"] += [
        {"id": "names", "kind": "source.global_table", "params": params},
        {"id": "named", "kind": "join.stream_global_table", "params": join},
        {"id": "shown", "kind": "sink.topic", "params": {"topic": "shown"}},
    ]
    made["edges"] += [
        {"source": "in", "target": "named", "target_port": "left"},
        {"source": "names", "target": "named", "target_port": "right"},
        {"source": "named", "target": "shown"},
    ]
    return made


@pytest.fixture
def stopped(people: People, topic: str, settings: Any) -> Iterator[Deployment]:
    """A stopped deployment that read one record of partition 1; version 2 has another store."""
    first = reading(topic)
    topology = topologies.create_topology(people.editor, people.workspace, "Sums", first)
    topologies.save_version(people.editor, topology, reading(topic, "total"), "next", 1)
    row = actions.create_deployment(people.operator, topology, 1, "local", {})
    schema = state_schema(compile_document(first, ExpectedTypes()))
    notes = row.directory / "checkpoint" / "stores.json"
    notes.parent.mkdir(parents=True)
    notes.write_text(json.dumps({"state": schema}))
    reconciling.begin_run(row.pk, 100, "here", "boot/1", 1)
    reconciling.end_run(row.pk, "stopped")
    actions.request_stop(people.operator, row)
    reconciling.observe(row.pk, "stopped")
    with serving_analyzer(ExpectedTypes()) as address:
        settings.MILLRACE_ANALYZER = address
        yield row


def reported(row: Deployment, topic: str) -> None:
    """Add the driver's last progress report."""
    read = [
        {"topic": topic, "partition": 0, "offset": 2, "lag": 0},
        {"topic": topic, "partition": 1, "offset": 0, "lag": 2},
    ]
    report = {"event": "progress", "at": 1_000, "stores": [],
              "tasks": [{"task": "0_0", "topic_partitions": read}]}  # fmt: skip
    redis.client().xadd(redis.run_stream(f"{row.pk}-1"), {"event": json.dumps(report)})


def applied(row: Deployment) -> Any | None:
    """Return the start position that the driver would receive, without its id."""
    found = reconciling.load_for_reconcile(row.pk)
    assert found is not None
    if found.beginning is None:
        return None
    return {name: value for name, value in found.beginning.items() if name != "id"}


def test_the_plan_shows_the_offsets_of_a_start_and_what_they_mean(
    stopped: Deployment, topic: str, people: People, client_of: Client
) -> None:
    reported(stopped, topic)

    def plan(**asked: Any) -> tuple[list[tuple[int, int, int]], list[str]]:
        path = f"/api/deployments/{stopped.pk}/plan"
        found = client_of(people.viewer).post(path, {"version": 1, **asked}).json()
        validator("StatePlan").validate(found)
        places = next(each for each in found["sources"] if each["topic"] == topic)["partitions"]
        assert [each["stopped"] for each in places] == [3, 1]
        rows = [(each["partition"], each["offset"], each["lag"]) for each in places]
        return rows, [each["code"] for each in found["warnings"]]

    def start(position: str, **more: Any) -> Any:
        return {"start_from": {"position": position, **more}}

    both = ["counted_again", "written_again"]
    assert plan(**start("earliest")) == ([(0, 1, 2), (1, 0, 3)], both)
    assert plan(**start("latest")) == ([(0, 3, 0), (1, 3, 0)], ["skipped"])
    moment = "1970-01-01T00:00:01.500Z"
    assert plan(**start("time", time=moment)) == ([(0, 1, 2), (1, 1, 2)], both)
    given = {topic: {"1": 3}}
    assert plan(**start("offsets", offsets=given)) == ([(0, 3, 0), (1, 3, 0)], ["skipped"])
    assert plan(reset=["stores"]) == ([(0, 3, 0), (1, 1, 2)], ["begins_empty"])
    assert plan(reset=["stores", "positions"])[1] == ["begins_empty", "written_again"]
    assert plan(reset=["positions"])[1] == both
    assert plan(**start("stopped")) == ([(0, 3, 0), (1, 1, 2)], [])


def test_what_cannot_be_is_refused_with_what_would_do(
    stopped: Deployment, topic: str, people: People, client_of: Client
) -> None:
    client = client_of(people.operator)

    def refused(**asked: Any) -> Any:
        answer = client.post(f"/api/deployments/{stopped.pk}/start", asked)
        assert answer.status_code == 400
        error: Any = answer.json()["error"]
        return error

    def offsets(given: Any) -> Any:
        return refused(start_from={"position": "offsets", "offsets": given})

    beyond = offsets({topic: {"0": 9}})
    assert (beyond["code"], beyond["earliest"], beyond["latest"]) == ("offset_out_of_range", 1, 3)
    assert f"{topic}-0 has no offset 9" in beyond["message"]
    assert "1 to 3" in beyond["hint"]
    assert offsets({topic: {"0": 0}})["code"] == "offset_out_of_range", "deleted by retention"
    assert "partitions are 0 to 1" in offsets({topic: {"2": 0}})["hint"]
    assert topic in offsets({"elsewhere": {"0": 0}})["hint"]
    assert offsets({f"names-{topic}": {"0": 0}})["code"] == "topic_read_whole"
    for nonsense in ({topic: {"x": 0}}, {topic: {"0": -1}}, {topic: 5}, {}):
        assert "start_from" in offsets(nonsense)["fields"]
    assert "start_from" in refused(start_from={"position": "time"})["fields"]
    assert "start_from" in refused(start_from={"position": "latest", "time": "2026-01-01T00:00Z"})[
        "fields"
    ]  # fmt: skip
    assert "reset" in refused(reset=["everything"])["fields"]
    twice = refused(reset=["positions"], start_from={"position": "latest"}, name="Sums")
    assert "reset" in twice["fields"]
    for name in ({}, {"name": "sums"}):
        unnamed = refused(reset=["stores"], **name)
        assert (unnamed["code"], "name" in unnamed["fields"]) == ("name_does_not_match", True)
    stopped.refresh_from_db()
    assert (stopped.desired, stopped.beginning) == ("stopped", None)


def test_a_reset_is_confirmed_by_name_and_passed_to_the_driver(
    stopped: Deployment, topic: str, people: People, client_of: Client
) -> None:
    client = client_of(people.operator)
    path = f"/api/deployments/{stopped.pk}/start"
    given = {"position": "offsets", "offsets": {topic: {"1": 2}}}
    body = {"reset": ["stores"], "start_from": given, "name": "Sums"}
    assert client_of(people.editor).post(path, body).status_code == 403
    answer = client.post(path, body)
    assert (answer.status_code, answer.json()["desired"]) == (200, "running")
    assert applied(stopped) == {"from": "offsets", "reset": True, "offsets": {topic: {"1": 2}}}
    entry = AuditEntry.objects.filter(action="deployment.start").latest("pk")
    assert (entry.detail["reset"], entry.detail["start_from"]) == (["stores"], given)

    reconciling.observe(stopped.pk, "starting")
    busy = client.post(path, {"start_from": {"position": "latest"}})
    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "still_running")
    actions.request_stop(people.operator, stopped)
    reconciling.observe(stopped.pk, "stopped")
    assert client.post(path).status_code == 200
    assert applied(stopped) is not None, "a start continues what was asked for; it is applied once"
    actions.request_stop(people.operator, stopped)
    reconciling.observe(stopped.pk, "stopped")
    assert client.post(path, {"start_from": {"position": "stopped"}}).status_code == 200
    assert applied(stopped) is None


def test_a_version_begins_elsewhere_and_its_requests_go_with_it(
    stopped: Deployment, people: People, client_of: Client
) -> None:
    client = client_of(people.operator)
    start, redeploy = (f"/api/deployments/{stopped.pk}/{each}" for each in ("start", "redeploy"))
    first = {"start_from": {"position": "time", "time": "1970-01-01T00:00:02Z"}}
    assert client.post(start, first).status_code == 200
    reconciling.begin_run(stopped.pk, 101, "here", "boot/1", 2)
    reconciling.observe(stopped.pk, "running")
    before = reconciling.load_for_reconcile(stopped.pk)

    lost = {"version": 2, "start_from": {"position": "earliest"}}
    assert client.post(redeploy, lost).json()["error"]["code"] == "state_undecided"
    reset = {**lost, "reset": ["stores"]}
    assert client.post(redeploy, reset).json()["error"]["code"] == "name_does_not_match"
    assert client.post(redeploy, {**reset, "name": "Sums"}).status_code == 200
    assert applied(stopped) == {"from": "earliest", "reset": True}
    assert reconciling.fall_back(stopped.pk) == 1
    after = reconciling.load_for_reconcile(stopped.pk)
    assert before is not None
    assert after is not None
    assert after.beginning == before.beginning, "version 1 goes on as it did"

    same = {"version": 1, "start_from": {"position": "latest"}}
    assert client.post(redeploy, same).json()["restart_requested"] is True
    assert applied(stopped) == {"from": "latest"}


def name(hours: float) -> str:
    """Return the timestamp at the end of a state folder's name, `hours` ago."""
    return f"{timezone.now() - timedelta(hours=hours):%Y%m%dT%H%M%S%fZ}"


def test_state_that_was_left_is_kept_until_an_operator_deletes_it(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    """State in use, or left less than a day ago, cannot be deleted; the list names its version."""
    folder = deployment.directory / "checkpoint"
    streams = ["stream", *(f"stream-{name(hours)}" for hours in (50, 23))]
    for each in streams:
        (folder / each).mkdir(parents=True)
        (folder / each / "data").write_text("12345678")
    lefts = [each.removeprefix("stream-") for each in streams[1:]]
    kept = [
        {"stream": each, "batch": 3, "left": left}
        for each, left in zip(streams, lefts, strict=False)
    ]
    (folder / "stores.json").write_text(json.dumps({"stream": streams[2], "kept": kept}))
    for epoch, version, hours in ((8, 1, 60), (9, 2, 51)):
        reconciling.begin_run(deployment.pk, 100, "here", f"boot/{epoch}", epoch, version=version)
        reconciling.end_run(deployment.pk, "stopped")
        began = timezone.now() - timedelta(hours=hours)
        deployment.runs.filter(epoch=epoch).update(started_at=began)
    path = f"/api/deployments/{deployment.pk}/old-state"
    young, old = client_of(people.viewer).get(path).json()
    assert (young["name"], old["name"]) == (streams[1], "stream")
    assert (young["version"], old["version"]) == (1, 1)
    assert (old["bytes"], old["deleted_at"]) == (8, None)
    tasks.forget_old_state()
    assert (folder / "stream").is_dir(), "it is not deleted by itself"

    assert client_of(people.editor).delete(f"{path}/stream").status_code == 403
    client = client_of(people.operator)
    refused = client.delete(f"{path}/{streams[1]}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "old_state_is_new")
    for unknown in (streams[2], "..", "nothing"):
        assert client.delete(f"{path}/{unknown}").status_code == 404
    assert client.delete(f"{path}/stream").status_code == 204
    assert sorted(each.name for each in folder.iterdir() if each.is_dir()) == sorted(streams[1:])
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.detail["bytes"]) == ("deployment.delete_old_state", 8)


def test_old_state_is_listed_and_deleted_after_the_days_that_are_set(
    deployment: Deployment, people: People, client_of: Client, millrace_settings: Any
) -> None:
    millrace_settings.OLD_STATE_KEPT = timedelta(days=1)
    folder = deployment.directory / "checkpoint"
    streams = ["stream", *(f"stream-{name(hours)}" for hours in (50, 25, 23))]
    for each in streams:
        (folder / each / "offsets").mkdir(parents=True)
        (folder / each / "offsets" / "0").write_text("12345678")
    following = [each.removeprefix("stream-") for each in streams[1:]]
    kept = [{"stream": each, "batch": 3, "left": left}
            for each, left in zip(streams, following, strict=False)]  # fmt: skip
    kept.append({"stream": "stream-20200101T000000000000Z", "batch": 1, "left": name(60)})
    (folder / "stores.json").write_text(json.dumps({"stream": streams[3], "kept": kept}))
    path = f"/api/deployments/{deployment.pk}/old-state"
    listed = client_of(people.viewer).get(path).json()
    assert [each["bytes"] for each in listed] == [8, 8, 8]
    left_at, deleted_at = (datetime.fromisoformat(listed[0][each])
                           for each in ("left_at", "deleted_at"))  # fmt: skip
    assert deleted_at - left_at == timedelta(days=1)

    scheduled = app.conf.beat_schedule["forget-old-state"]
    assert scheduled["task"] == tasks.forget_old_state.name
    tasks.forget_old_state()
    there = {each.name for each in folder.iterdir() if each.is_dir()}
    assert there == {streams[2], streams[3]}, "what was left 23 hours ago, and what is used"
    assert len(client_of(people.viewer).get(path).json()) == 1
    # A state migration that is pending also protects the state that it starts from.
    waiting = {"stream": "stream-next", "base": {"stream": streams[2], "batch": 3}}
    (folder / "stores.next.json").write_text(json.dumps(waiting))
    millrace_settings.OLD_STATE_KEPT = timedelta(0)
    tasks.forget_old_state()
    assert (folder / streams[2]).is_dir()
    assert environment.read({"MILLRACE_OLD_STATE_DAYS": "7"}).old_state_days == 7
    assert environment.read({}).old_state_days is None


def test_old_state_in_an_object_store_is_listed_and_deleted(
    deployment: Deployment, people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    deployment.settings["checkpoint"] = "s3a://bucket/state"
    deployment.save()
    kept = [{"stream": "stream", "batch": 3, "left": name(50)}]
    (deployment.directory / "checkpoint").mkdir(parents=True)
    (deployment.directory / "checkpoint" / "stores.json").write_text(
        json.dumps({"stream": "stream-2", "kept": kept})
    )
    path, client = f"/api/deployments/{deployment.pk}/old-state", client_of(people.operator)
    simulator.answer = {"bytes": {"stream": 8}}
    assert [(each["name"], each["bytes"]) for each in client.get(path).json()] == [("stream", 8)]
    assert client.delete(f"{path}/stream").status_code == 204
    asked = [(each["do"], each["checkpoint"], each["names"]) for each in simulator.asked]
    place = deployment.state_location
    assert asked[1:] == [("kept_sizes", place, ["stream"]), ("delete_kept", place, ["stream"])]
    simulator.answer = {"error": {"code": "storage_unreachable", "message": "Gone."}}
    assert client.get(path).status_code == 503
