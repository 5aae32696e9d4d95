"""Rules of alerts, created and deleted on the page of alerts."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect


def create_rule(page: Page, name: str, condition: str, *, above: int, seconds: int) -> Locator:
    """Create a rule for all deployments; return its alert, which may not be there yet."""
    page.get_by_test_id("new-rule").click()
    form = page.get_by_test_id("rule-form")
    form.get_by_label("Name").fill(name)
    form.get_by_role("combobox", name="Condition").click()
    page.get_by_role("option", name=condition).click()
    form.get_by_label("Above").fill(str(above))
    form.get_by_label("For", exact=True).fill(str(seconds))
    page.get_by_test_id("save-rule").click()
    expect(form).to_have_count(0)
    return page.get_by_test_id("alert").filter(has_text=name)


def delete_rule(page: Page, name: str) -> None:
    rule = page.get_by_test_id("alert-rule").filter(has_text=name)
    rule.get_by_test_id("delete-rule").click()
    page.get_by_test_id("delete-rule-now").click()
    expect(rule).to_have_count(0)
