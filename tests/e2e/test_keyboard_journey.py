"""A topology is built, simulated, deployed and stopped without a mouse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.topics import create_topic

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

SOURCE = "keyboard-orders"
SINK = "keyboard-large"
#: presses of Tab after which a control counts as out of reach
REACH = 80


def tab_to(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press Tab until the control has the focus; help is never a stop on the way."""
    expect(target).to_be_visible()
    for _ in range(REACH):
        if target.evaluate("control => control.contains(document.activeElement)"):
            return
        page.keyboard.press(key)
        stop = page.evaluate("document.activeElement?.className ?? ''")
        assert "field-help" not in str(stop)
    raise AssertionError(f"Tab does not reach {target}")


def arrow_to(page: Page, target: Locator) -> None:
    """Press the arrow until an item of the open menu has the focus."""
    expect(target).to_be_visible()
    page.wait_for_function("document.activeElement.closest('[role=menu]') !== null")
    for _ in range(REACH):
        if target.evaluate("item => item === document.activeElement"):
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"the arrow keys do not reach {target}")


def add(page: Page, words: str) -> str:
    """Add the first kind that the words find, after the selected node; return its id."""
    before = set(Designer(page).nodes())
    page.keyboard.press("n")
    run_first(page, page.get_by_role("dialog", name="Add a node"), words)
    expect(page.locator(".react-flow__node[data-id]")).to_have_count(len(before) + 1)
    (made,) = set(Designer(page).nodes()) - before
    return made


def command(page: Page, words: str) -> None:
    """Run the first command that the words find."""
    page.keyboard.press("Control+k")
    menu = page.get_by_role("dialog").filter(has=page.get_by_role("combobox", name="Commands"))
    run_first(page, menu, words)
    expect(menu).to_have_count(0)


def run_first(page: Page, menu: Locator, words: str) -> None:
    """Search in a menu, and run what it proposes first."""
    expect(menu.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(words)
    expect(menu.get_by_role("combobox")).to_have_value(words)
    proposed = menu.get_by_role("option", selected=True)
    expect(proposed).to_contain_text(re.compile(re.escape(words), re.IGNORECASE))
    page.keyboard.press("Enter")


def test_a_topology_is_built_simulated_deployed_and_stopped_by_keyboard(
    page: Page, system: System
) -> None:
    create_topic(system.bootstrap_servers, SOURCE, 1)
    tab_to(page, page.get_by_test_id("new-topology").or_(page.get_by_test_id("empty-canvas")).first)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("topology-name")).to_be_focused()
    page.keyboard.type("Keyboard")
    page.keyboard.press("Enter")
    page.wait_for_url("**/t/*")
    designer = Designer(page)
    build(page, designer)
    simulate(page)

    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("version-message")).to_be_focused()
    page.keyboard.type("Large orders")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("saved-state")).to_contain_text("v1")
    expect(page.get_by_test_id("save")).to_be_disabled()
    command(page, "Deploy")
    # The topic of the sink does not exist yet.
    tab_to(page, page.get_by_test_id("create-topics"))
    page.keyboard.press("Enter")
    designer.expect_state("running", 240)
    command(page, "Stop the deployment")
    designer.expect_state("stopped", 90)


def build(page: Page, designer: Designer) -> None:
    """Three nodes: two are connected where they are added, the last by the list of ports."""
    source = add(page, "stream from topics")
    page.keyboard.press("Enter")
    expect(designer.field("topics").locator("input:not([type=hidden])").last).to_be_focused()
    page.keyboard.type(SOURCE)
    page.keyboard.press("Enter")
    for parameter in ("key", "value"):
        tab_to(page, designer.field(parameter).locator("input:not([type=hidden])").first)
        page.keyboard.press("ArrowDown")
        option = page.get_by_role("option", name="Text", exact=True)
        expect(option).to_be_visible()
        for _ in range(REACH):
            if option.get_attribute("data-combobox-selected") is not None:
                break
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(option).not_to_be_visible()
    back_to_the_canvas(page, source)

    middle = add(page, "filter")
    expect(page.locator(".react-flow__edge")).to_have_count(1)
    page.keyboard.press("Enter")
    editor = designer.field("predicate").locator(".cm-content")
    expect(editor).to_be_focused()
    page.keyboard.insert_text("length(value) > 3")
    page.keyboard.press("Tab")
    expect(editor).not_to_be_focused()
    back_to_the_canvas(page, middle)

    page.keyboard.press("Escape")
    sink = add(page, "to a topic")
    expect(page.locator(".react-flow__edge")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(designer.field("topic").locator("input:not([type=hidden])").last).to_be_focused()
    page.keyboard.type(SINK)
    page.keyboard.press("Tab")
    back_to_the_canvas(page, sink)
    tab_to(page, designer.node(middle), "Shift+Tab")
    expect(designer.node(middle)).to_have_class(re.compile("selected"))
    page.keyboard.press("Shift+C")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".react-flow__edge")).to_have_count(2)
    expect(page.locator(".node-badge")).to_have_count(0)

    page.keyboard.press("ArrowLeft")
    expect(designer.node(source)).to_have_class(re.compile("selected"))
    page.keyboard.press("F2")
    expect(page.get_by_role("textbox", name="Label")).to_be_focused()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("Orders")
    back_to_the_canvas(page, source)
    expect(designer.node(source)).to_contain_text("Orders")
    page.keyboard.press("ControlOrMeta+z")
    expect(designer.node(source)).not_to_contain_text("Orders")
    page.keyboard.press("ControlOrMeta+Shift+z")
    expect(designer.node(source)).to_contain_text("Orders")


def back_to_the_canvas(page: Page, node: str) -> None:
    """Leave the form; the node has the focus again."""
    page.keyboard.press("Escape")
    expect(page.locator(f'.react-flow__node[data-id="{node}"]')).to_be_focused()


def simulate(page: Page) -> None:
    """Two typed records, of which one is filtered out."""
    page.keyboard.press("Alt+r")
    for number, value, key in ((1, "long enough", "Tab"), (2, "abc", "Shift+Tab")):
        tab_to(page, page.get_by_test_id("add-inputs"), key)
        page.keyboard.press("Enter")
        arrow_to(page, page.get_by_role("menuitem", name="Add a record"))
        page.keyboard.press("Enter")
        tab_to(page, page.get_by_label(f"Value of record {number}", exact=True))
        page.keyboard.type(value)
    page.keyboard.press("Alt+r")
    summary = page.get_by_test_id("simulation-summary")
    expect(summary).to_contain_text("2 records in, 1 record out")
