"""A shadow of a deployment in the page: started, its outputs compared, ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.system import System
from tests.e2e.test_change_journey import until
from tests.e2e.topics import Sentence, create_topic, write

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow, pytest.mark.long]

SOURCE, SINK = "shadow-numbers", "shadow-sums"


def summing(factor: str) -> dict[str, Any]:
    """Sums by key, in which numbers above 100 count `factor` times."""
    formats = {"key": {"format": "string"}, "value": {"format": "string"}}
    value = f"CAST(value AS BIGINT) * IF(CAST(value AS BIGINT) > 100, {factor}, 1)"
    params = {"type": "BIGINT", "initializer": "0L", "aggregator": f"agg + {value}"}
    return {
        "format": "millrace.topology/1",
        "name": "shadow",
        "topics": {SOURCE: {"partitions": 1}, SINK: {"partitions": 1}},
        "nodes": [
            {"id": "numbers", "kind": "source.stream", "params": {"topics": [SOURCE], **formats}},
            {"id": "sum", "kind": "aggregate", "params": params},
            {"id": "out", "kind": "sink.topic", "params": {"topic": SINK}},
        ],
        "edges": [{"source": "numbers", "target": "sum"}, {"source": "sum", "target": "out"}],
    }


def test_another_version_runs_beside_the_deployment_and_is_compared(
    page: Page, system: System
) -> None:
    for topic in (SOURCE, SINK):
        create_topic(system.bootstrap_servers, topic, 1)

    def send(at: int, key: str, number: int) -> None:
        write(system.bootstrap_servers, SOURCE, [Sentence(0, at, str(number), key)])

    with Api.of(system.address, page) as api:
        deployment = api.deploy("Shadow", summing("1"))
        path = f"/deployments/{deployment}"
        topology = api.call("GET", path)["topology"]
        send(1_000, "a", 22)
        api.until(deployment, "running", 180)
        folder = Path(system.data, "deployments")
        noted = folder / str(deployment) / "checkpoint" / "outputs.json"
        until(noted.exists, 120)  # the first micro-batch is done
        body = {"document": summing("2"), "message": "next", "base_version": 1}
        api.call("POST", f"/topologies/{topology}/versions", body)
        before = api.call("GET", path)["run"]

        page.goto(f"{system.address}/w/main/t/{topology}")
        page.get_by_test_id("deployment-state").first.click()
        page.get_by_test_id("more-actions").click()
        page.get_by_test_id("shadow-open").click()
        dialog = page.get_by_test_id("shadow")
        dialog.get_by_test_id("shadow-version").click()
        page.get_by_role("option", name="v2").click()
        dialog.get_by_test_id("shadow-create").click()
        expect(dialog.get_by_test_id("shadow-reached")).to_contain_text("has not reached")

        until(lambda: api.call("GET", f"{path}/shadow")["deployment"]["observed"] == "running", 300)
        send(2_000, "a", 3)
        compare = dialog.get_by_test_id("shadow-compare")
        expect(compare).to_be_enabled(timeout=120_000)
        compare.click()
        result = dialog.get_by_test_id("shadow-result")
        expect(result).to_have_attribute("data-different", "false", timeout=60_000)

        send(3_000, "a", 1_000)
        send(4_000, "b", 1)
        reached = {SOURCE: {"0": 4}}

        def compared() -> bool:
            compare.click()
            until(lambda: api.call("GET", f"{path}/shadow")["comparison"]["state"] == "done", 60)
            found = api.call("GET", f"{path}/shadow")["comparison"]
            return bool(found["to_offsets"] == reached)

        until(compared, 120)
        expect(result).to_have_attribute("data-different", "true")
        expect(dialog.get_by_test_id("shadow-topic")).to_contain_text(SINK)
        expect(dialog.get_by_test_id("shadow-examples")).to_contain_text("2025")
        found = api.call("GET", f"{path}/shadow")
        (topic,) = found["comparison"]["topics"]
        assert (topic["equal"], topic["differing"], topic["only_running"]) == (2, 1, 0)
        after = api.call("GET", path)
        assert (after["run"], after["version"]) == (before, 1), "the running one is not touched"

        # Switching changes the running deployment; the shadow is ended by typing its name.
        dialog.get_by_test_id("shadow-switch").click()
        page.get_by_test_id("change-accept").click()
        until(lambda: (api.call("GET", path)["run"] or {}).get("version") == 2, 300)
        expect(dialog).to_be_visible()
        dialog.get_by_test_id("shadow-end").click()
        delete = page.get_by_test_id("confirm-delete")
        expect(delete).to_be_disabled()
        page.get_by_test_id("confirm-name").fill("Shadow")
        delete.click()
        expect(dialog.get_by_test_id("shadow-create")).to_be_visible(timeout=60_000)
        names = {each["name"] for each in api.call("GET", "/workspaces/main/topics")}
        assert SINK in names
        assert not {name for name in names if name.endswith(found["suffix"])}
        assert not (folder / str(found["deployment"]["id"])).exists()
