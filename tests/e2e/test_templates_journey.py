"""Templates: one is tried in the page, and all of them run on live data."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.alert_rules import create_rule, delete_rule
from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]
#: milliseconds; a simulator starts, on a busy machine
PATIENCE = 180_000
#: seconds until a deployment has written its first record
TO_FIRST_RECORD = 180.0
#: the template that is deployed from the page, with a rule
RULED = "page-views"


def test_a_template_is_tried_its_records_arrive_and_are_stopped(page: Page, system: System) -> None:
    page.get_by_test_id("empty-canvas").or_(page.get_by_test_id("new-topology")).first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("svg[data-template]")).to_have_count(10)
    dialog.get_by_role("radio", name="Page views by region").click()
    proposed = dialog.get_by_role("textbox", name="Name")
    # Other tests may have created such a topology, and its topic.
    expect(proposed).to_have_value(re.compile("^Page views by region( [0-9]+)?$"))
    name = proposed.input_value()
    page.get_by_test_id("try-template").click()
    designer = Designer(page)
    assert set(designer.nodes()) >= {"views", "users", "known", "count", "out"}

    page.keyboard.press("Alt+r")
    panel = page.get_by_test_id("simulate")
    expect(page.get_by_test_id("simulation-inputs").locator("[data-row]")).to_have_count(9)
    page.get_by_test_id("simulate-run").click()
    summary = page.get_by_test_id("simulation-summary")
    expect(summary).to_contain_text("9 records in, 5 records out", timeout=PATIENCE)
    panel.get_by_role("radio", name="Tests").click()
    panel.get_by_role("button", name="Run all tests").click()
    expect(panel.get_by_text("2 tests · 2 passed · 0 failed")).to_be_visible(timeout=PATIENCE)

    # Generated records may have unreadable values, which the server makes.
    panel.get_by_role("radio", name="Inputs").click()
    designer.add_inputs("Generate…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Records", exact=True).fill("5")
    dialog.get_by_role("textbox", name="Malformed values (%)").fill("100")
    dialog.get_by_role("button", name="Replace the records").click()
    rows = page.get_by_test_id("simulation-inputs").locator("[data-row]")
    expect(rows).to_have_count(5)
    expect(page.get_by_label("Value of record 5")).to_have_value(re.compile("^base64:"))

    # Records of the topic; one masked field never leaves the server.
    designer.add_inputs("Sample…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Records", exact=True).fill("3")
    dialog.get_by_role("combobox", name="Mask of value.page").click()
    page.get_by_role("option", name="Replace with").click()
    dialog.get_by_role("textbox", name="Replacement for value.page").fill("hidden")
    dialog.get_by_role("combobox", name="Mask of key").click()
    page.get_by_role("option", name="Hash").click()
    # The generators start when they are first needed, so that the topic may still be empty.
    sampled = dialog.get_by_role("combobox", name="Source").input_value()
    with Api.of(system.address, page) as api:
        until_written(api, [sampled], least=3)
    dialog.get_by_role("button", name="Add to the records").click()
    expect(rows).to_have_count(8)
    expect(page.get_by_label("Value of record 8")).to_have_value('{"page":"hidden"}')
    expect(page.get_by_label("Key of record 8")).to_have_value(re.compile("^[0-9a-f]{12}$"))

    page.goto(page.url.split("/t/")[0] + "/topics")
    newest = page.get_by_test_id("generators").get_by_role("link", name=re.compile("^page-views"))
    written = newest.first.inner_text()
    newest.first.click()
    expect(page.get_by_role("heading", name=written, exact=True)).to_be_visible()
    expect(page.locator('[data-testid="records"] tbody tr').first).to_contain_text('"page"')
    page.get_by_test_id("stop-generator").click()
    expect(page.get_by_test_id("stop-generator")).to_have_count(0)

    # Read in the topology's formats, and one of them simulated there.
    topic = page.url
    page.get_by_test_id("reader").click()
    page.get_by_role("option", name=f"{name} · views").click()
    first = page.locator('[data-testid="records"] tbody tr').first
    expect(first).to_contain_text('"page"', timeout=PATIENCE)
    first.get_by_role("button").click()
    # Other topologies may read the topic as well.
    page.get_by_role("button", name=f"Simulate in {name}", exact=True).click()
    Designer(page)
    inputs = page.get_by_test_id("simulation-inputs").locator("[data-row]")
    expect(inputs).to_have_count(9)
    expect(page.get_by_label("Value of record 9")).to_have_value(re.compile('"page"'))
    page.goto(topic)

    # Another generator, in the formats that the topology reads, ends by itself.
    page.get_by_test_id("generate").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("value.page")).to_be_visible()
    dialog.get_by_label("value.page").fill("/only-this")
    dialog.get_by_label("End after records (0: no limit)").fill("3")
    page.get_by_test_id("start-generator").click()
    page.get_by_role("button", name="Show finished generators").click()
    expect(page.get_by_test_id("generators").get_by_text("Done")).to_be_visible(timeout=30_000)
    page.reload()
    expect(page.locator('[data-testid="records"] tbody tr').first).to_contain_text("/only-this")


@pytest.mark.long
def test_every_template_that_is_tried_and_deployed_writes_records(
    page: Page, system: System
) -> None:
    with Api.of(system.address, page) as api:
        templates = [each["id"] for each in api.call("GET", "/templates")]
        # The last but one, so that the alert of its rule fires while the last one runs.
        templates.remove(RULED)
        templates.insert(-1, RULED)
        for template in templates:
            tried = api.call("POST", f"/workspaces/main/templates/{template}/try")
            topology = tried["topology"]
            document = api.call("GET", f"/topologies/{topology}/versions/1")["document"]
            sinks = [
                node["params"]["topic"]
                for node in document["nodes"]
                if node["kind"] == "sink.topic"
            ]
            if template == RULED:
                page.goto(f"{system.address}/w/main/t/{topology}")
                deploy_with_a_rule(page)
                deployment = api.call("GET", f"/topologies/{topology}")["deployment"]["id"]
            else:
                body = {"topology": topology, "version": 1, "target": "local", "settings": {}}
                deployment = api.call("POST", "/workspaces/main/deployments", body)["id"]
            until_written(api, sinks, deployment)
            if template == RULED:
                see_what_the_rule_rejects(page)
                ruled = (tried, deployment)
            else:
                stop(api, tried, deployment)
        see_the_alert_of_the_rule(page)
        stop(api, *ruled)


def stop(api: Api, tried: dict[str, Any], deployment: int) -> None:
    """Stop the generators and the deployment of a template."""
    for generator in tried["generators"]:
        api.call("POST", f"/generators/{generator['id']}/stop")
    api.call("POST", f"/deployments/{deployment}/stop", {})
    api.until(deployment, "stopped", 90)


def deploy_with_a_rule(page: Page) -> None:
    """Put a rule that warns on an edge, create its alert, and deploy, all with the mouse."""
    designer = Designer(page)
    designer.select_edge("views", "known")
    page.get_by_test_id("add-rule").click()
    expect(page.locator(".react-flow__node[data-id]")).to_have_count(7)
    designer.write("predicate", "value.page <> '/cart'")
    designer.choose("rejected", "Warn")
    designer.name("Not the cart")
    expect(page.locator(".node-badge")).to_have_count(0)
    designer.save("Warns of carts")
    page.get_by_test_id("deploy").click()

    alerts = page.context.new_page()
    alerts.goto(f"{page.url.split('/t/')[0]}/alerts")
    create_rule(alerts, "Carts", "Rejected with a warning", above=0, seconds=0)
    alerts.close()
    designer.expect_state("running", TO_FIRST_RECORD)


def see_what_the_rule_rejects(page: Page) -> None:
    """The canvas shows the count at the node; the form of the node also shows its share."""
    rule = page.locator(".react-flow__node", has_text="Not the cart")
    expect(rule.locator(".node-footer")).to_contain_text(re.compile("[1-9].* rejected"))
    rule.click(position={"x": 60, "y": 14})
    expect(page.get_by_text("Rejected by the rule with a warning")).to_be_visible()
    expect(page.get_by_test_id("node-misses")).to_contain_text(
        re.compile("[1-9][0-9]? % of its records")
    )


def see_the_alert_of_the_rule(page: Page) -> None:
    """The rejected records fire the alert; without its rule it is gone."""
    page.goto(f"{page.url.split('/t/')[0]}/alerts")
    alert = page.get_by_test_id("alert").filter(has_text="Carts")
    expect(alert).to_have_attribute("data-state", "firing")
    expect(alert).to_contain_text("Page views by region")
    delete_rule(page, "Carts")


def until_written(
    api: Api, topics: list[str], deployment: int | None = None, least: int = 1
) -> None:
    """Wait until each of the topics has records; `deployment` writes them, if known."""
    deadline = time.monotonic() + TO_FIRST_RECORD
    while time.monotonic() < deadline:
        found = [api.call("GET", f"/workspaces/main/topics/{topic}") for topic in topics]
        if all(each["records"] >= least for each in found):
            return
        time.sleep(0.5)
    writer = {} if deployment is None else api.call("GET", f"/deployments/{deployment}")
    raise AssertionError(f"{topics} stay empty: {writer}")
