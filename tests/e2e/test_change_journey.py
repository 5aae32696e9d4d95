"""A running topology is changed: the plan, a confirmed loss of state, and a fallback."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.system import System
from tests.e2e.topics import Sentence, create_topic, write

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]

SOURCE, SINK = "change-numbers", "change-sums"


def summing(type_: str, *, partitions: int | None = None, fails: bool = False) -> dict[str, Any]:
    """Sums by key; `partitions` adds a repartition, `fails` makes every record fail."""
    formats = {"key": {"format": "string"}, "value": {"format": "string"}}
    value = "raise_error('refused')" if fails else "value"
    aggregator = f"agg + CAST({value} AS {type_})"
    params = {"type": type_, "initializer": f"CAST(0 AS {type_})", "aggregator": aggregator}
    nodes: list[dict[str, Any]] = [
        {"id": "numbers", "kind": "source.stream", "params": {"topics": [SOURCE], **formats}},
        {"id": "sum", "kind": "aggregate", "params": params},
        {"id": "sums", "kind": "store.key_value", "params": {"name": "sums"}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": SINK}},
    ]
    edges = [
        {"source": "sums", "target": "sum", "target_port": "store"},
        {"source": "sum", "target": "out"},
    ]
    if partitions is None:
        edges.append({"source": "numbers", "target": "sum"})
    else:
        spread = {"id": "spread", "kind": "repartition", "params": {"partitions": partitions}}
        nodes.insert(1, spread)
        edges += [
            {"source": "numbers", "target": "spread"},
            {"source": "spread", "target": "sum"},
        ]
    return {
        "format": "millrace.topology/1",
        "name": "change",
        "topics": {SOURCE: {"partitions": 1}, SINK: {"partitions": 1}},
        "nodes": nodes,
        "edges": edges,
    }


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.3)


@pytest.mark.long
def test_a_change_is_read_before_it_runs_and_one_that_fails_gives_way(
    page: Page, system: System
) -> None:
    """DOUBLE to BIGINT needs the store's name typed; a version that cannot start is rolled back."""
    for topic in (SOURCE, SINK):
        create_topic(system.bootstrap_servers, topic, 1)
    with Api.of(system.address, page) as api:
        deployment = api.deploy("Change", summing("DOUBLE"))
        topology = api.call("GET", f"/deployments/{deployment}")["topology"]
        write(system.bootstrap_servers, SOURCE, [Sentence(0, 1000, "22", "a")])
        api.until(deployment, "running", 180)
        plan = f"/deployments/{deployment}/plan?version=1"
        until(lambda: [s["verdict"] for s in api.call("GET", plan)["stores"]] == ["kept"])
        until(lambda: [s["rows"] for s in api.call("GET", plan)["stores"]] == [1])
        assert api.call("GET", plan)["stores"][0]["bytes"] > 0

        def save(document: dict[str, Any], base: int) -> None:
            body = {"document": document, "message": "next", "base_version": base}
            api.call("POST", f"/topologies/{topology}/versions", body)

        save(summing("BIGINT"), 1)
        page.goto(f"{system.address}/w/main/t/{topology}")
        page.get_by_test_id("deploy").click()
        dialog = page.get_by_test_id("change-plan")
        expect(dialog).to_contain_text("DOUBLE → BIGINT")
        expect(dialog.get_by_test_id("handover")).to_have_attribute("data-warm", "true")
        accept = page.get_by_test_id("change-accept")
        expect(accept).to_be_disabled()
        assert api.call("GET", f"/deployments/{deployment}")["version"] == 1
        dialog.get_by_label("Type its name to reset it").fill("sums")
        accept.click()

        def runs(version: int) -> bool:
            found = api.call("GET", f"/deployments/{deployment}")
            run = found["run"]
            return bool(found["observed"] == "running" and run and run["version"] == version)

        until(lambda: runs(2), 300)
        # Records written earlier would have been read by the previous version.
        write(system.bootstrap_servers, SOURCE, [Sentence(0, 2000, "6", "a")])
        until(lambda: [s["old"]["values"] for s in api.call("GET", plan)["stores"]] == [["BIGINT"]])

        save(summing("BIGINT", partitions=3), 2)
        page.reload()
        page.get_by_test_id("deploy").click()
        expect(dialog).to_contain_text("The number of tasks changes.")
        page.get_by_test_id("change-accept").click()
        until(lambda: runs(3), 300)
        write(system.bootstrap_servers, SOURCE, [Sentence(0, 3000, "1", "a")])
        until(lambda: [s["old"]["tasks"] for s in api.call("GET", plan)["stores"]] == [3])

        before = api.call("GET", f"/deployments/{deployment}")["run"]["pid"]
        page.get_by_test_id("deployment-state").first.click()
        page.get_by_test_id("more-actions").click()
        page.get_by_test_id("scale-open").click()
        scale = page.get_by_test_id("scale")
        expect(scale.get_by_test_id("handover")).to_contain_text("before version 3 stops")
        scale.get_by_label("Cores").fill("1")
        page.get_by_test_id("scale-accept").click()

        def scaled() -> bool:
            run = api.call("GET", f"/deployments/{deployment}")["run"]
            return runs(3) and run is not None and run["pid"] != before

        until(scaled, 300)
        assert api.call("GET", f"/deployments/{deployment}")["settings"]["cores"] == 1

        save(summing("BIGINT", fails=True), 3)
        page.reload()
        page.get_by_test_id("deploy").click()
        page.get_by_test_id("change-accept").click()
        until(lambda: runs(4), 300)
        write(system.bootstrap_servers, SOURCE, [Sentence(0, 4000, "1", "a")])
        until(lambda: (api.call("GET", f"/deployments/{deployment}")["failure"] or {}).get("code")
              == "fell_back", 300)  # fmt: skip
        until(lambda: runs(3), 120)
        page.get_by_test_id("deployment-state").first.click()
        expect(page.get_by_test_id("failure").first).to_contain_text("Version 3 runs again")
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 90)
