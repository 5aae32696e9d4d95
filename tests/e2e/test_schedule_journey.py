"""A user sets when a deployment runs, and Celery beat stops it at that time."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.test_start_journey import summing
from tests.e2e.topics import create_topic

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]


def test_a_schedule_stops_a_running_deployment(page: Page, system: System) -> None:
    """It is not yet running when the schedule is set, and is stopped at the next minute."""
    document = json.loads(json.dumps(summing()).replace("start-", "schedule-"))
    for topic in document["topics"]:
        create_topic(system.bootstrap_servers, topic, 1)
    with Api.of(system.address, page) as api:
        body = {"name": "Scheduled", "document": document}
        topology = api.call("POST", "/workspaces/main/topologies", body)["id"]
        wanted = {"topology": topology, "version": 1, "target": "local", "settings": {}}
        deployment = api.call("POST", "/workspaces/main/deployments", wanted)["id"]
        page.goto(f"{system.address}/w/main/t/{topology}")
        Designer(page)
        page.get_by_test_id("deployment-pill").click()
        page.get_by_test_id("more-actions").click()
        page.get_by_test_id("schedule-open").click()
        dialog = page.get_by_test_id("schedule")
        days = dialog.get_by_role("group", name="Days")
        for day in ("Sat", "Sun"):
            days.get_by_role("button", name=day).click()
        # At least a few seconds before the minute, so that it is not the one after the next.
        time.sleep(max(0, datetime.now(UTC).second - 54))
        stop = datetime.now(UTC) + timedelta(minutes=1)
        dialog.get_by_label("Start").fill(f"{stop - timedelta(hours=2):%H:%M}")
        dialog.get_by_label("Stop").fill(f"{stop:%H:%M}")
        dialog.get_by_label("Time zone").fill("UTC")
        dialog.get_by_label("Time zone").press("Tab")
        dialog.get_by_test_id("schedule-save").click()
        page.get_by_test_id("deployment-pill").click()
        line = page.get_by_test_id("schedule-line")
        expect(line).to_contain_text("daily")
        expect(line).to_contain_text("Next stop")
        expect(page.get_by_test_id("start")).to_be_visible(timeout=100_000)
        expect(line).to_contain_text("Next start")
        shown = api.call("GET", f"/deployments/{deployment}")
        assert (shown["desired"], shown["schedule"]["last_action"]) == ("stopped", "stop")
        assert datetime.fromisoformat(shown["schedule"]["next_at"]) > datetime.now(UTC)
        page.get_by_test_id("more-actions").click()
        page.get_by_test_id("schedule-open").click()
        dialog.get_by_label("Stop").fill("23:59")
        page.keyboard.press("Escape")
        page.mouse.click(4, 4)
        expect(dialog.get_by_label("Stop")).to_have_value("23:59")
        dialog.get_by_test_id("schedule-remove").click()
        page.get_by_test_id("schedule-remove-now").click()
        expect(dialog).to_have_count(0)
        assert api.call("GET", f"/deployments/{deployment}")["schedule"] is None
        page.get_by_test_id("deployment-pill").click()
        expect(page.get_by_test_id("start")).to_be_enabled(timeout=60_000)
        api.call("DELETE", f"/deployments/{deployment}")
        page.goto(f"{system.address}/w/main")
        api.call("DELETE", f"/topologies/{topology}")
