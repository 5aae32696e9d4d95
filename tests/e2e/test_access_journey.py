"""Journeys of accounts: passwords, links, members, tokens, the topics of a workspace."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.api import Api
from tests.e2e.system import System
from tests.e2e.test_page_journey import member

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]

PASSWORD = "a-long-enough-phrase-7"


def test_a_member_sets_a_password_and_signs_in_with_it(
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
    """The link shown on the members' page signs in."""
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
    """Prefixes set in the page limit the topics that the API lists."""
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


def test_members_are_searched_paged_and_removed(
    page: Page, system: System, browser: Browser
) -> None:
    members = "/workspaces/main/members"
    with Api.of(system.address, page) as api:
        made = [
            api.call("POST", members, {"username": f"zoe-{n:02}", "role": "viewer"})
            for n in range(26)
        ]
        theirs = browser.new_context(locale="en-GB")
        other = theirs.new_page()
        other.goto(made[-1]["sign_in_link"])
        other.get_by_role("button", name="Not now").click()
        other.wait_for_url("**/w/main**")

        page.goto(f"{system.address}/w/main/settings")
        section = page.get_by_role("region", name="Members")
        expect(section.get_by_role("row")).to_have_count(1 + 25)
        expect(section.get_by_text("zoe-25")).to_have_count(0)
        section.get_by_role("button", name="2", exact=True).click()
        expect(section.get_by_text("zoe-25").first).to_be_visible()
        section.get_by_label("Search members").fill("zoe-25")
        row = section.get_by_role("row").filter(has_text="zoe-25")
        expect(section.get_by_role("row")).to_have_count(2)
        row.get_by_role("button", name="Remove…").click()
        page.get_by_test_id("remove-member-now").click()
        expect(section.get_by_role("status")).to_have_text("No member matches “zoe-25”.")
        other.reload()
        expect(other.get_by_text("There is nothing at this address for")).to_be_visible()
        theirs.close()
        for each in made[:-1]:
            api.call("DELETE", f"{members}/{each['member']['id']}")


def test_tokens_are_created_paged_searched_and_revoked(page: Page, system: System) -> None:
    with Api.of(system.address, page) as api:
        made = [api.call("POST", "/tokens", {"name": f"pipeline {n:02}"}) for n in range(25)]
        page.goto(f"{system.address}/w/main/settings")
        section = page.get_by_role("region", name="Your tokens")
        section.get_by_label("Name of the token").fill("nightly")
        section.get_by_role("button", name="Create a token").click()
        copy = section.get_by_role("button", name="Copy", exact=True)
        secret = copy.locator("xpath=..").locator("span").first.inner_text()

        def status() -> int:
            headers = {"Authorization": f"Token {secret}"}
            members = f"{system.address}/api/workspaces/main/members"
            return httpx.get(members, headers=headers).status_code

        assert status() == 200
        expect(section.get_by_role("row").nth(1)).to_contain_text("nightly")
        section.get_by_role("button", name="2", exact=True).click()
        expect(section.get_by_role("row").filter(has_text="pipeline 00")).to_be_visible()
        expect(section.get_by_role("row").filter(has_text="nightly")).to_have_count(0)
        section.get_by_label("Search tokens").fill("nightly")
        expect(section.get_by_role("row")).to_have_count(2)
        section.get_by_test_id("revoke-token").click()
        page.get_by_test_id("revoke-token-now").click()
        expect(section.get_by_role("status")).to_have_text("No token matches “nightly”.")
        assert status() == 401
        for each in made:
            api.call("DELETE", f"/tokens/{each['id']}")
