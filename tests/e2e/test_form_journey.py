"""The form of a node: nothing under the pointer or the caret moves when a problem comes or goes."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]

#: what says beside a field's title that the field is empty
NEEDED = ".field-needed"
PROBLEM = ".field-problem"
#: a place in which a message has less room than it needs
CUT = "[data-cut]"
STRING = {"format": "string"}
NODES: list[dict[str, Any]] = [
    {
        "id": "items",
        "kind": "source.stream",
        "params": {
            "topics": ["steady-items"],
            "key": STRING,
            "value": {"format": "json", "schema": "item STRING, n INT"},
        },
        "position": {"x": 0, "y": 0},
    },
    {"id": "count", "kind": "count", "position": {"x": 280, "y": 0}},
    {"id": "out", "kind": "sink.topic", "position": {"x": 560, "y": 0}},
]


@pytest.fixture
def designer(page: Page, system: System) -> Designer:
    """The designer with items that are counted, and a sink that nothing writes to."""
    name = f"Steady fields {uuid.uuid4().hex[:6]}"
    document = {
        "format": "millrace.topology/1",
        "name": name,
        "nodes": NODES,
        "edges": [{"source": "items", "target": "count"}],
    }
    with Api.of(system.address, page) as api:
        made = api.call(
            "POST",
            "/workspaces/main/topologies",
            {"name": name, "document": document},
        )
    page.goto(f"{system.address}/w/main/t/{made['id']}")
    return Designer(page)


def top(element: Locator) -> float:
    """The place of its upper edge, in pixels."""
    box = element.bounding_box()
    assert box is not None
    return box["y"]


def test_fields_do_not_move_when_the_first_value_is_typed(designer: Designer) -> None:
    designer.select("out")
    topic, key = designer.field("topic"), designer.field("key")
    general = designer.page.locator(".inspector-general")
    before = top(key)
    expect(topic.locator(NEEDED)).to_have_text("required: “Topic” or “Topic expression”")
    expect(general).to_contain_text("Nothing is connected")
    assert top(key) == before
    designer.choose_topic("topic", "steady-counts")
    expect(topic.locator(NEEDED)).to_have_count(0)
    designer.wire("count", "out")
    expect(general).to_have_count(0)
    assert top(key) == before


def test_fields_under_the_pointer_stay_when_a_problem_comes(designer: Designer) -> None:
    page = designer.page
    designer.select("count")
    window, group = designer.field("window"), designer.field("group_by")
    group.locator(".cm-content").click()
    expect(group.locator(".cm-focused")).to_have_count(1)
    usual = top(window)
    window.locator(".field-title").hover()
    page.keyboard.insert_text("value.itme")
    expect(group.locator(PROBLEM)).to_contain_text("itme")
    # What fits into the line that is always there is shown, with the button that fixes it.
    expect(group.locator(CUT)).to_be_visible()
    expect(group.get_by_role("button", name="Write “item”")).to_be_in_viewport()
    assert top(window) == usual
    group.locator(CUT).get_by_title("Show all of it").click()
    expect(group.locator(CUT)).to_have_count(0)
    assert top(window) > usual


def test_a_field_with_the_caret_stays_when_a_problem_comes_above(designer: Designer) -> None:
    page = designer.page
    designer.select("count")
    window, group = designer.field("window"), designer.field("group_by")
    group.locator(".cm-content").click()
    expect(group.locator(".cm-focused")).to_have_count(1)
    usual = top(window)
    page.locator(".react-flow__pane").hover(position={"x": 60, "y": 300})
    page.keyboard.insert_text("value.itme")
    page.keyboard.press("Tab")
    expect(window.locator("input:focus")).to_have_count(1)
    expect(group.locator(CUT)).to_be_visible()
    assert top(window) == usual
    group.locator(".cm-content").click()
    expect(group.locator(CUT)).to_have_count(0)
    assert top(window) > usual


def test_fields_under_the_pointer_stay_when_a_problem_goes(designer: Designer) -> None:
    page = designer.page
    designer.select("count")
    window, group = designer.field("window"), designer.field("group_by")
    group.locator(".cm-content").click()
    expect(group.locator(".cm-focused")).to_have_count(1)
    usual = top(window)
    page.keyboard.insert_text("value.itme")
    expect(group.locator(PROBLEM)).to_contain_text("itme")
    expect(group.get_by_role("button", name="Write “item”")).to_be_visible()
    below = top(window)
    assert below > usual
    window.locator(".field-title").hover()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.press("Delete")
    expect(group.locator(PROBLEM)).to_have_count(0)
    expect(group.locator("[data-held]").first).to_be_attached()
    assert top(window) == below
    # Away from the form, the space of the message is given up.
    page.locator(".react-flow__pane").hover(position={"x": 60, "y": 300})
    expect(group.locator("[data-held]")).to_have_count(0)
    assert top(window) == usual


def test_fields_of_a_list_stay_when_a_port_becomes_wrong(designer: Designer) -> None:
    designer.select(designer.drag("process", 300, 420))
    outputs = designer.field("outputs")
    add = outputs.get_by_role("button", name="Add an output")
    add.click()
    names = outputs.get_by_label("Port")
    expect(names).to_have_count(2)
    expect(outputs.locator(PROBLEM)).to_have_count(0)
    names.nth(1).fill(names.nth(0).input_value())
    add.hover()
    usual = top(add)
    names.nth(1).press("Enter")
    expect(outputs.locator(".list-row").nth(1).locator(PROBLEM)).to_be_visible()
    assert top(add) == usual
