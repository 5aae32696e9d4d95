"""A topic that something may still use is not deleted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from accounts.models import Workspace
from deployments.models import Deployment, Observation, Run, Shadow
from deployments.topic_users import uses_of_topic
from django.utils import timezone
from millrace_backend import redis
from topologies.models import Topology, Version

from .conftest import Client, People

READS: dict[str, Any] = {"id": "in", "kind": "source.stream", "params": {"topics": ["orders"]}}
PATTERN = {"id": "in", "kind": "source.stream", "params": {"topic_pattern": "orders-.*"}}
BROKEN = {"id": "in", "kind": "source.stream", "params": {"topic_pattern": "(?=x)"}}
COMPUTED = {"id": "out", "kind": "sink.topic", "params": {"topic_expression": "concat(key)"}}
COUNT = {"id": "per-item", "kind": "count", "params": {"store": "counts"}}


def deployed(workspace: Workspace, *nodes: Any, name: str = "Sums", **more: Any) -> Deployment:
    topology = Topology.objects.create(workspace=workspace, name=name, updated_at=timezone.now())
    version = Version.objects.create(topology=topology, number=1, document={"nodes": list(nodes)})
    row = Deployment.objects.create(workspace=workspace, topology=topology, version=version, **more)
    Observation.objects.create(deployment=row)
    return row


def run_of(row: Deployment, version: Version | None = None, **more: Any) -> Run:
    return Run.objects.create(
        deployment=row, version=version or row.version, epoch=1, pid=1, host="here",
        process_born="x", report_id=f"{row.pk}-1", **more,
    )  # fmt: skip


def uses(topic: str) -> list[tuple[str, bool]]:
    return [(use.how, use.certain) for use in uses_of_topic(topic)]


@pytest.mark.parametrize(
    ("node", "topic", "how"),
    [
        (READS, "orders", "names it"),
        (PATTERN, "orders-eu", "reads topics like “orders-.*”"),
        (BROKEN, "anything", "reads topics like “(?=x)”"),
        (COUNT, "per-item-repartition", "has a node 'per-item'"),
        (COUNT, "app-counts-changelog", "has a node 'per-item'"),
        (COUNT, "per-item-left-repartition", "has a node 'per-item'"),
    ],
)
def test_names_patterns_and_internal_topics_count_as_uses(
    node: Any, topic: str, how: str, people: People
) -> None:
    deployed(people.workspace, node)
    (found,) = uses(topic)
    assert found[0].startswith(how)
    assert found[1]
    assert uses("unrelated-counts") == ([] if node is not BROKEN else [found])


def test_a_computed_topic_is_a_use_that_is_not_certain(people: People) -> None:
    deployed(people.workspace, COMPUTED, READS)
    assert uses("any") == [("writes topics whose names are computed by “concat(key)”", False)]
    assert uses("orders") == [("names it", True)]


def test_a_deployment_counts_while_it_should_run_or_its_driver_runs(people: People) -> None:
    row = deployed(people.workspace, PATTERN, desired="stopped")
    assert uses("orders-eu") == []
    run = run_of(row)
    assert len(uses("orders-eu")) == 1
    Run.objects.filter(pk=run.pk).update(ended_at=timezone.now())
    assert uses("orders-eu") == []
    Deployment.objects.filter(pk=row.pk).update(desired="running", paused=True)
    assert len(uses("orders-eu")) == 1


def test_the_running_version_and_the_fallback_count_too(people: People) -> None:
    row = deployed(people.workspace, READS)
    old = Version.objects.create(topology=row.topology, number=2, document={"nodes": [PATTERN]})
    assert uses("orders-eu") == []
    run = run_of(row, old)
    assert len(uses("orders-eu")) == 1
    run.delete()
    Deployment.objects.filter(pk=row.pk).update(fallback=2)
    assert len(uses("orders-eu")) == 1


def test_a_running_driver_is_asked_which_topics_it_reads(
    people: People, millrace_settings: Any
) -> None:
    row = deployed(people.workspace, READS)
    run = run_of(row)
    place = {"topic": "found-later", "partition": 0, "offset": 1}
    event = {
        "event": "progress",
        "at": 1,
        "tasks": [{"task": "0_0", "topic_partitions": [place]}],
    }
    redis.client().xadd(redis.run_stream(run.report_id), {"event": json.dumps(event)})
    assert uses("found-later") == [("reads it at this moment", True)]
    assert uses("other") == []
    millrace_settings.REDIS_URL = "redis://127.0.0.1:1/0"
    redis.client.cache_clear()
    (found,) = uses("other")
    assert found[0].startswith("is running and cannot be asked")
    assert not found[1]


def test_topics_of_a_shadow_are_in_use(people: People) -> None:
    sink = {"id": "out", "kind": "sink.topic", "params": {"topic": "sums"}}
    row = deployed(people.workspace, READS, sink)
    made = Deployment.objects.create(
        workspace=people.workspace, topology=row.topology, version=row.version, is_shadow=True
    )
    Shadow.objects.create(deployment=made, of=row, start="empty", suffix="-shadow-1a")
    assert len(uses("sums-shadow-1a")) == 1
    assert len(uses("computed-shadow-1a")) == 1
    assert len(uses("orders")) == 2


@pytest.mark.kafka
def test_a_use_is_named_without_the_names_of_other_workspaces(
    people: People, client_of: Client, topic: str
) -> None:
    admin: Any = client_of(people.admin)
    path = f"/api/workspaces/main/topics/{topic}"
    pattern = {**PATTERN, "params": {"topic_pattern": f"{topic[:-1]}."}}
    theirs = deployed(people.other_workspace, pattern, name="Their secret")
    refused = admin.delete(path)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "topic_in_use"
    assert "a deployment of another workspace uses it" in refused.json()["error"]["message"]
    assert "secret" not in refused.content.decode()
    assert admin.delete(f"{path}?despite_unknown=true").status_code == 409
    theirs.delete()
    people.other_workspace.generators.create(topic=topic, recipe={}, rate=1)
    refused = admin.delete(path).json()["error"]
    assert refused["code"] == "topic_generated"
    assert "another workspace" in refused["message"]
    people.other_workspace.generators.all().delete()
    deployed(people.workspace, COMPUTED)
    refused = admin.delete(path).json()["error"]
    assert refused["code"] == "topic_use_unknown"
    assert "“Sums” writes topics whose names are computed" in refused["message"]
    assert "despite_unknown=true" in refused["hint"]
    assert admin.delete(f"{path}?despite_unknown=true").status_code == 204
