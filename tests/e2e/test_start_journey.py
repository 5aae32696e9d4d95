"""Back to an earlier version, and a start from given offsets without the rows."""

from __future__ import annotations

import itertools
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.topics import Sentence, create_topic, write
from tests.runtime import topics

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]

SOURCE, SINK = "start-numbers", "start-sums"


def summing(*between: dict[str, Any]) -> dict[str, Any]:
    """Numbers summed up by key, perhaps behind other steps."""
    formats = {"key": {"format": "string"}, "value": {"format": "string"}}
    params = {"type": "BIGINT", "initializer": "0L", "aggregator": "agg + CAST(value AS BIGINT)"}
    nodes: list[dict[str, Any]] = [
        {"id": "numbers", "kind": "source.stream", "params": {"topics": [SOURCE], **formats}},
        *between,
        {"id": "sum", "kind": "aggregate", "params": params},
        {"id": "out", "kind": "sink.topic", "params": {"topic": SINK}},
    ]
    ids = [each["id"] for each in nodes]
    return {
        "format": "millrace.topology/1",
        "name": "start",
        "topics": {SOURCE: {"partitions": 1}, SINK: {"partitions": 1}},
        "nodes": nodes,
        "edges": [{"source": a, "target": b} for a, b in itertools.pairwise(ids)],
    }


def until_sums(system: System, holds: Callable[[list[int]], bool], seconds: float = 120) -> None:
    """Wait for what is written; a repeated update is allowed."""
    deadline = time.monotonic() + seconds
    while True:
        found = [
            struct.unpack(">q", each.value())[0]
            for each in topics.consume(system.bootstrap_servers, SINK, 1)
        ]
        if holds(found):
            return
        assert time.monotonic() < deadline, f"only {found} came"


@pytest.mark.long
def test_an_earlier_version_runs_again_and_starts_from_given_offsets(
    page: Page, system: System
) -> None:
    """A change is given up before its first batch, and another one is not.

    Then three tasks become one, and all stores are reset: the second record is the first.
    """
    for topic in (SOURCE, SINK):
        create_topic(system.bootstrap_servers, topic, 1)
    now = int(time.time() * 1000)

    def send(value: str) -> None:
        write(system.bootstrap_servers, SOURCE, [Sentence(0, now, value, "a")])

    with Api.of(system.address, page) as api:
        deployment = api.deploy("Start", summing())
        topology = api.call("GET", f"/deployments/{deployment}")["topology"]
        send("5")
        until_sums(system, lambda found: found[-1:] == [5], 240)
        spread = {"id": "spread", "kind": "repartition", "params": {"partitions": 3}}
        body = {"document": summing(spread), "message": "next", "base_version": 1}
        api.call("POST", f"/topologies/{topology}/versions", body)
        api.call("POST", f"/deployments/{deployment}/redeploy", {"version": 2})

        def runs(version: int, seconds: float = 180) -> None:
            deadline = time.monotonic() + seconds
            while True:
                found = api.call("GET", f"/deployments/{deployment}")
                run = found["run"]
                if found["observed"] == "running" and run and run["version"] == version:
                    return
                assert time.monotonic() < deadline, found
                time.sleep(0.3)

        runs(2)
        page.goto(f"{system.address}/w/main/t/{topology}")
        page.get_by_test_id("deployment-pill").click()
        page.get_by_test_id("cancel-change").click()
        runs(1)
        expect(page.get_by_test_id("cancel-change")).to_have_count(0)
        api.call("POST", f"/deployments/{deployment}/redeploy", {"version": 2})
        runs(2)
        send("6")
        until_sums(system, lambda found: found[-1:] == [11])
        page.keyboard.press("Escape")

        page.get_by_role("tab", name="Versions").click()
        page.get_by_role("button", name="Actions for version 1").click()
        page.get_by_role("menuitem", name="Deploy this version…").click()
        dialog = page.get_by_test_id("change-plan")
        expect(dialog).to_contain_text("The number of tasks changes.")
        accept = page.get_by_test_id("change-accept")
        accept.click()
        runs(1)
        send("7")
        until_sums(system, lambda found: found[-1:] == [18])
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 90)

        page.get_by_test_id("deployment-pill").click()
        page.get_by_test_id("start-from").click()
        page.get_by_role("combobox", name="Start from").click()
        page.get_by_role("option", name="Given offsets").click()
        page.get_by_role("dialog").get_by_label("Offsets").fill(f"{SOURCE} 0 1")
        page.get_by_test_id("begin-reset").check(force=True)
        page.get_by_test_id("start-plan").click()
        expect(dialog).to_contain_text("All stores are empty")
        cells = page.get_by_test_id("change-places").locator("tbody td")
        expect(cells).to_have_text([SOURCE, "0", "3", "1", "2"])
        expect(accept).to_be_disabled()
        page.get_by_test_id("change-name").fill("Start")
        accept.click()
        until_sums(system, lambda found: found[-2:] == [6, 13], 180)
        deadline = time.monotonic() + 60
        while len(api.call("GET", f"/deployments/{deployment}/old-state")) < 3:
            assert time.monotonic() < deadline, "the reset was not noted"
            time.sleep(0.3)
        Designer(page).open_panel("Runs")
        kept = page.get_by_test_id("old-state").locator("tbody tr")
        expect(kept).to_have_count(3, timeout=20_000)
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 90)
