"""Journeys of accounts: a first password, a new link, the topics of a workspace."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.system import System
from tests.e2e.test_page_journey import member

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]

PASSWORD = "a-long-enough-phrase-7"


def test_a_member_sets_a_password_at_the_first_sign_in_and_signs_in_with_it_again(
    page: Page, system: System, browser: Browser
) -> None:
    """Nobody is locked out when the session of a one-time link ends."""
    link = member(page, system, "Ada Lovelace")
    theirs = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    other = theirs.new_page()
    other.goto(link)
    expect(other.get_by_role("heading", name="Set a password")).to_be_visible()
    other.get_by_label("New password").fill(PASSWORD)
    other.get_by_role("button", name="Set the password").click()
    other.wait_for_url("**/w/main**")
    other.get_by_test_id("user-menu").click()
    other.get_by_test_id("sign-out").click()
    other.get_by_label("User name").fill("ada")
    other.locator("input[name=password]").fill(PASSWORD)
    other.get_by_role("button", name="Sign in").click()
    other.wait_for_url("**/w/main**")

    other.goto(f"{system.address}/w/main/settings")
    form = other.get_by_test_id("password-form")
    form.get_by_label("Current password").fill("wrong")
    form.get_by_label("New password").fill(f"{PASSWORD}-new")
    form.get_by_role("button", name="Set the password").click()
    expect(form).to_contain_text("Wrong.")
    form.get_by_label("Current password").fill(PASSWORD)
    form.get_by_role("button", name="Set the password").click()
    expect(form).to_contain_text("The password is set.")
    theirs.close()


def test_an_admin_issues_a_new_link_for_a_member(
    page: Page, system: System, browser: Browser
) -> None:
    """The link of the members' page signs in."""
    member(page, system, "Joan Clarke")
    page.goto(f"{system.address}/w/main/settings")
    row = page.get_by_role("row").filter(has_text="Joan Clarke")
    row.get_by_role("button", name="New sign-in link").click()
    link = page.get_by_test_id("sign-in-link").inner_text()
    theirs = browser.new_context(locale="en-GB")
    other = theirs.new_page()
    other.goto(link)
    other.get_by_role("button", name="Not now").click()
    other.wait_for_url("**/w/main**")
    theirs.close()


def test_the_installations_admin_limits_the_topics_of_a_workspace(
    page: Page, system: System
) -> None:
    """What is set in the page is what the API lists."""
    page.get_by_test_id("user-menu").click()
    page.get_by_role("menuitem", name="Installation").click()
    prefixes = page.get_by_role("combobox", name="Topic prefixes of Main")
    prefixes.fill("nothing-has-this-")
    prefixes.press("Enter")
    page.get_by_role("button", name="Save prefixes").click()
    expect(page.get_by_role("button", name="Save prefixes")).to_be_disabled()
    topics = f"{system.address}/api/workspaces/main/topics"
    assert page.request.get(topics).json() == []
    page.reload()
    expect(page.get_by_text("nothing-has-this-")).to_be_visible()
    page.get_by_role("combobox", name="Topic prefixes of Main").press("Backspace")
    page.get_by_role("button", name="Save prefixes").click()
    expect(page.get_by_role("button", name="Save prefixes")).to_be_disabled()
    assert isinstance(page.request.get(topics).json(), list)
