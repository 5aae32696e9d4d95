"""The page compares the results of plain Spark with those of Kafka Streams."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.designer import Designer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

#: milliseconds; a simulator starts, on a busy machine
PATIENCE = 180_000


def from_template(page: Page, name: str, template: str) -> Locator:
    """Create a topology from a template and return its *Simulate* panel."""
    page.get_by_test_id("empty-canvas").or_(page.get_by_test_id("new-topology")).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill(name)
    dialog.get_by_text(template).first.click()
    dialog.get_by_role("button", name="Create").click()
    Designer(page)
    page.keyboard.press("Alt+r")
    expect(page.get_by_test_id("simulation-inputs").locator("[data-row]").first).to_be_visible()
    return page.get_by_test_id("simulate")


def test_a_user_sees_both_results_side_by_side_and_why_they_differ(page: Page) -> None:
    panel = from_template(page, "Plain beside exact", "Purchases per hour")
    designer = Designer(page)
    panel.get_by_role("radio", name="Plain Spark").click()
    panel.get_by_role("button", name="Run in plain Spark").click()
    expect(page.get_by_test_id("plain-running")).to_be_visible(timeout=PATIENCE)
    verdict = page.get_by_test_id("plain-verdict")
    expect(verdict).to_have_text(
        "Plain Spark gives the same records as Kafka Streams; only their time differs.",
        timeout=PATIENCE,
    )
    rows = page.get_by_test_id("plain-row")
    expect(rows).to_have_count(6)
    expect(page.locator("[data-topic='purchases-per-hour']")).to_contain_text("6 equal except")
    # The outputs of Kafka Streams are shown as before.
    summary = page.get_by_test_id("simulation-summary")
    expect(summary).to_contain_text("9 records in, 6 records out, 1 dropped")

    # With all records in few micro-batches, only the last update of a key comes out.
    panel.get_by_role("radio", name="As few as possible").click()
    page.get_by_test_id("simulate-run").click()
    expect(verdict).to_contain_text("2 of 6 records are the same", timeout=PATIENCE)
    expect(page.locator("tr[data-group='kafka_streams']")).to_have_count(3)
    panel.get_by_role("switch", name="Differences only").click()
    code = page.locator("[data-code='plain_updates']")
    expect(code).to_have_attribute("data-used", "true")
    code.get_by_role("button").first.click()
    expect(designer.node("total")).to_have_class(re.compile("selected"))
    expect(page.locator("tr[data-marked]")).to_have_count(3)
    expect(panel).to_contain_text("Dropped records: Kafka Streams counts 1, plain Spark 0.")

    # A simulation without plain Spark gives the earlier result.
    panel.get_by_role("radio", name="Outputs").click()
    page.get_by_test_id("simulate-run").click()
    expect(summary).to_contain_text("9 records in, 6 records out, 1 dropped", timeout=60_000)


@pytest.mark.long
def test_what_plain_spark_cannot_express_is_shown_with_reasons(
    page: Page,
) -> None:
    panel = from_template(page, "Sessions of money", "Fraud by session")
    panel.get_by_role("radio", name="Plain Spark").click()
    panel.get_by_role("button", name="Run in plain Spark").click()
    refused = page.get_by_test_id("plain-refused")
    expect(refused).to_contain_text("Plain Spark cannot express this topology", timeout=PATIENCE)
    refused.get_by_test_id("problem").first.click()
    expect(page.locator(".react-flow__node.selected")).to_have_count(1)
