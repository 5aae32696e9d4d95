"""Two windows on one topology: nobody's version is overwritten."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.designer import Designer
from tests.e2e.test_word_count_journey import new_topology

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]


def test_saving_over_a_newer_version_is_answered_with_both_sides(
    page: Page, signed_in: BrowserContext
) -> None:
    """The second window merges node by node and saves the next version."""
    first = new_topology(page, "Shared")
    other = signed_in.new_page()
    other.goto(page.url)
    second = Designer(other)

    filtered = first.drag("filter", 300, 300)
    first.save("A filter")
    expect(page.get_by_test_id("saved-state")).to_contain_text("v1")
    expect(other.get_by_text("Version 1 was saved elsewhere")).to_be_visible()

    counted = second.drag("count", 300, 300)
    other.get_by_test_id("save").click()
    other.get_by_test_id("version-message").fill("A count")
    other.get_by_test_id("save-version").click()
    dialog = other.get_by_test_id("conflict")
    expect(dialog).to_contain_text("A filter")
    other.get_by_test_id("save-merged").click()
    expect(dialog).to_be_hidden()
    expect(other.get_by_test_id("saved-state")).to_contain_text("v2")
    assert sorted(second.nodes()) == sorted([filtered, counted])
    other.close()
