"""The page: a pause, a driver that hangs, lost offsets, and old state that is deleted."""

from __future__ import annotations

import json
import os
import signal
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.test_start_journey import summing
from tests.e2e.topics import Sentence, create_topic, write
from tests.runtime import topics

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow, pytest.mark.long]

SOURCE, SINK = "hold-numbers", "hold-sums"


def document() -> dict[str, Any]:
    """Return a topology of sums by key."""
    text = json.dumps(summing())
    return json.loads(text.replace("start-numbers", SOURCE).replace("start-sums", SINK))  # type: ignore[no-any-return]


def family(pid: int) -> list[psutil.Process]:
    driver = psutil.Process(pid)
    return [driver, *driver.children(recursive=True)]


def age(system: System, deployment: int) -> None:
    """Make the old state two days older."""
    notes = system.data / "deployments" / str(deployment) / "checkpoint" / "stores.json"
    found = json.loads(notes.read_text())
    long_ago = datetime.now(UTC) - timedelta(days=2)
    for each in found["kept"]:
        each["left"] = f"{long_ago:%Y%m%dT%H%M%S%fZ}"
    notes.write_text(json.dumps(found))


def test_a_deployment_is_paused_hangs_and_settles_lost_offsets(page: Page, system: System) -> None:
    """Paused across a kill, degraded by SIGSTOP, refused for deleted records, drained, deleted."""
    for topic in (SOURCE, SINK):
        create_topic(system.bootstrap_servers, topic, 1)
    now = int(time.time() * 1000)

    def send(*values: int) -> None:
        write(system.bootstrap_servers, SOURCE, [Sentence(0, now, str(n), "a") for n in values])

    def sums() -> list[int]:
        found = topics.consume(system.bootstrap_servers, SINK, 1)
        return [int.from_bytes(each.value(), "big") for each in found]

    def until_sum(value: int, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while value not in (found := sums()):
            assert time.monotonic() < deadline, found

    with Api.of(system.address, page) as api:
        deployment = api.deploy("Hold", document())
        path = f"/deployments/{deployment}"
        topology = api.call("GET", path)["topology"]
        send(1)
        until_sum(1, 240)
        page.goto(f"{system.address}/w/main/t/{topology}")
        pill = page.get_by_test_id("deployment-pill")
        state = pill.get_by_test_id("deployment-state")

        pill.click()
        page.get_by_test_id("pause").click()
        expect(state).to_have_attribute("data-state", "paused", timeout=30_000)
        page.get_by_test_id("resume").wait_for()
        first = api.call("GET", path)["run"]["pid"]
        send(2)
        os.kill(first, signal.SIGKILL)
        deadline = time.monotonic() + 120
        while (run := api.call("GET", path)["run"]) is None or run["pid"] == first:
            assert time.monotonic() < deadline
            time.sleep(0.3)
        expect(state).to_have_attribute("data-state", "paused", timeout=90_000)
        assert sums()[-1] == 1, "nothing is read while it is paused"
        page.get_by_test_id("resume").click()
        expect(state).to_have_attribute("data-state", "running", timeout=60_000)
        until_sum(3)

        stopped = api.call("GET", path)["run"]["pid"]
        for process in family(stopped):
            process.suspend()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("degraded")).to_contain_text("has not reported", timeout=60_000)
        expect(state).to_have_attribute("data-state", "degraded")
        expect(state).to_have_attribute("data-state", "running", timeout=120_000)
        assert not psutil.pid_exists(stopped)
        send(3)
        until_sum(6)
        Designer(page).open_panel("Runs")
        with page.expect_popup() as opened:
            page.get_by_test_id("threads").click()
        expect(opened.value.locator("body")).to_contain_text("Full thread dump")
        opened.value.close()

        pill.click()
        page.get_by_test_id("stop").click()
        expect(state).to_have_attribute("data-state", "stopped", timeout=60_000)
        send(4, 5, 6)
        topics.delete_before(system.bootstrap_servers, SOURCE, 5)
        page.get_by_test_id("start").click()
        expect(state).to_have_attribute("data-state", "failed", timeout=90_000)
        expect(page.get_by_test_id("failure")).to_contain_text(
            "with “earliest” 2 records are lost, with “latest” 3"
        )
        page.keyboard.press("Escape")
        page.get_by_test_id("deploy-options").click()
        page.get_by_role("combobox", name="Lost offsets").click()
        page.get_by_role("option", name="Continue at the first record").click()
        page.get_by_test_id("deploy-with-options").click()
        expect(state).to_have_attribute("data-state", "running", timeout=120_000)
        until_sum(12)
        assert api.call("GET", path)["settings"]["lost_offsets"] == "earliest"

        pill.click()
        page.get_by_test_id("more-actions").click()
        send(7)
        page.get_by_test_id("drain").click()
        expect(state).to_have_attribute("data-state", "stopped", timeout=90_000)
        assert sums()[-1] == 19

        reset = {"reset": ["stores"], "name": "Hold"}
        api.call("POST", f"{path}/start", reset)
        api.until(deployment, "running", 120)
        send(8)
        until_sum(8)
        api.call("POST", f"{path}/stop")
        api.until(deployment, "stopped", 90)
        page.keyboard.press("Escape")
        kept = page.get_by_test_id("old-state").locator("tbody tr")
        expect(kept).to_have_count(1)
        expect(kept.get_by_role("button", name="Delete…")).to_be_disabled()
        age(system, deployment)
        page.reload()
        tab = page.get_by_role("tab", name="Runs")
        tab.wait_for()
        if tab.get_attribute("aria-selected") != "true":
            tab.click()
        kept.get_by_role("button", name="Delete…").click()
        kept.get_by_role("button", name="Delete permanently").click()
        expect(kept).to_have_count(0)
        assert api.call("GET", f"{path}/old-state") == []
