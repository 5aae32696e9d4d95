"""Journeys in the page alone: by keyboard, with somebody else, and without a server."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.test_word_count_journey import new_topology

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]


def member(page: Page, system: System, name: str) -> str:
    """Another editor of the workspace, added by the administrator who is signed in; their link."""
    page.request.get(f"{system.address}/api/session")
    cookies = page.context.cookies()
    token = next(each["value"] for each in cookies if each["name"] == "csrftoken")
    answer = page.request.post(
        f"{system.address}/api/workspaces/main/members",
        data={
            "username": name.split(maxsplit=1)[0].lower(),
            "display_name": name,
            "role": "editor",
        },
        headers={"X-CSRFToken": token, "Origin": system.address},
    )
    assert answer.ok, answer.text()
    return str(answer.json()["sign_in_link"])


def test_a_topology_is_drawn_wired_and_filled_by_keyboard_alone(page: Page) -> None:
    """Add, wire, name, type, undo, redo, save: the pointer rests."""
    designer = new_topology(page, "By keyboard")
    keyboard = page.keyboard
    for wish in ("stream from topics", "map values", "to a topic"):
        keyboard.press("n")
        expect(page.get_by_role("dialog", name="Add a node")).to_be_visible()
        keyboard.type(wish)
        keyboard.press("Enter")
        page.get_by_role("dialog", name="Add a node").wait_for(state="hidden")
    expect(page.locator(".react-flow__node")).to_have_count(3)
    expect(page.locator(".react-flow__edge")).to_have_count(2)

    keyboard.press("ArrowLeft")
    keyboard.press("F2")
    keyboard.press("ControlOrMeta+A")
    keyboard.type("Shouted")
    keyboard.press("Enter")
    expect(page.locator(".react-flow__node.selected")).to_contain_text("Shouted")

    keyboard.press("Escape")
    keyboard.press("ControlOrMeta+z")
    expect(page.locator(".react-flow__node", has_text="Shouted")).to_have_count(0)
    keyboard.press("ControlOrMeta+Shift+z")
    expect(page.locator(".react-flow__node", has_text="Shouted")).to_have_count(1)

    keyboard.press("ControlOrMeta+s")
    message = page.get_by_test_id("version-message")
    expect(message).to_be_focused()
    keyboard.type("By keyboard")
    keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_test_id("saved-state")).to_contain_text("v1")
    assert len(designer.nodes()) == 3


def test_what_somebody_else_edits_is_marked_on_the_node(
    page: Page, system: System, browser: Browser
) -> None:
    """Two people on one topology see each other, and where."""
    mine = new_topology(page, "Together")
    node = mine.drag("filter", 300, 300)
    mine.save("A filter")
    link = member(page, system, "Grace Hopper")
    theirs = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    other = theirs.new_page()
    other.goto(link)
    other.wait_for_url("**/w/**")
    other.goto(page.url)
    them = Designer(other)
    expect(page.get_by_role("button", name="Grace Hopper is here")).to_be_visible()

    them.select(node)
    mark = page.locator(f'[data-person-node="{node}"]')
    expect(mark).to_be_visible()
    expect(mark).to_contain_text("GH")
    them.page.keyboard.press("Escape")
    them.page.keyboard.press("Escape")
    expect(mark).to_have_count(0)
    theirs.close()
    expect(page.get_by_role("button", name="Grace Hopper is here")).to_have_count(0)


def test_changes_that_the_server_did_not_get_outlive_the_page(
    page: Page, signed_in: BrowserContext
) -> None:
    """The network is gone, then the page: the next one has the change, and can undo it."""
    designer = new_topology(page, "Not lost")
    designer.drag("filter", 300, 300)
    expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")

    dying = signed_in.new_page()
    dying.goto(page.url)
    lost = Designer(dying)
    expect(dying.locator(".react-flow__node")).to_have_count(1)
    # For good, so that the page's last attempt fails as well.
    dying.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('no network')); }")
    lost.drag("count", 300, 120)
    expect(dying.get_by_text("not on the server yet")).to_be_visible()
    dying.close()

    page.reload()
    expect(page.get_by_text("brought back")).to_be_visible()
    expect(page.locator(".react-flow__node")).to_have_count(2)
    expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")
    page.keyboard.press("ControlOrMeta+z")
    expect(page.locator(".react-flow__node")).to_have_count(1)


def test_a_kind_is_dropped_on_the_words_of_the_empty_canvas_and_stays_there(page: Page) -> None:
    """Slowly, so that the card of the palette has opened before the drag begins."""
    new_topology(page, "Slow hand")
    entry = page.locator('[data-kind="filter"]')
    entry.hover()
    expect(page.locator(".palette-card")).to_be_visible()
    words = page.get_by_text("Start with where records come from")
    place = words.bounding_box()
    assert place is not None
    x, y = place["x"] + 40, place["y"] + 8
    page.mouse.down()
    page.mouse.move(x - 120, y, steps=12)
    page.mouse.move(x, y, steps=12)
    page.mouse.up()
    node = page.locator(".react-flow__node")
    expect(node).to_have_count(1)
    found = node.bounding_box()
    assert found is not None
    # Its middle is where it was let go, to the grid.
    assert abs(found["x"] + found["width"] / 2 - x) <= 16
    assert abs(found["y"] + found["height"] / 2 - y) <= 16
