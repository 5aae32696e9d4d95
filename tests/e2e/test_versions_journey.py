"""Versions in two windows, in two languages and in two environments."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.test_every_screen import AXE, RULES, examine
from tests.e2e.test_word_count_journey import new_topology

#: milliseconds; a fraction is enough on an idle machine
PATIENCE = 60_000

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


def test_a_change_of_the_language_keeps_the_document_and_its_undo(page: Page) -> None:
    """Save, edit, switch to Chinese and edit again: no edit is lost."""
    designer = new_topology(page, "Two languages")
    first = designer.drag("filter", 300, 300)
    designer.save("A filter")
    second = designer.drag("count", 300, 120)
    expect(page.get_by_test_id("saved-state")).to_have_text("v1 · draft saved")
    expect(designer.node(second)).to_have_class(re.compile("selected"))
    place = designer.node(first).bounding_box()

    page.get_by_test_id("user-menu").click()
    page.get_by_role("menuitem", name="中文").click()
    expect(page.get_by_test_id("saved-state")).to_have_text("v1 · 草稿已保存")
    expect(designer.node(second)).to_have_class(re.compile("selected"))
    expect(page.locator('[data-kind="filter"]')).to_contain_text("过滤")
    assert sorted(designer.nodes()) == sorted([first, second])
    assert designer.node(first).bounding_box() == place
    third = designer.drag("map_values", 300, 420)
    page.keyboard.press("ControlOrMeta+z")
    expect(page.locator(".react-flow__node")).to_have_count(2)
    page.keyboard.press("ControlOrMeta+z")
    expect(page.locator(".react-flow__node")).to_have_count(1)
    page.keyboard.press("ControlOrMeta+Shift+z")
    page.keyboard.press("ControlOrMeta+Shift+z")
    expect(page.get_by_test_id("saved-state")).to_have_text("v1 · 草稿已保存")
    page.get_by_test_id("user-menu").click()
    page.get_by_role("menuitem", name="English").click()
    page.reload()
    expect(page.locator(".react-flow__node")).to_have_count(3)
    assert sorted(designer.nodes()) == sorted([first, second, third])


def test_a_draft_of_another_window_is_not_overwritten(
    page: Page, signed_in: BrowserContext
) -> None:
    """The second window chooses, and has both drafts in its undo history."""
    first = new_topology(page, "Two windows")
    begun = first.drag("filter", 300, 300)
    expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")
    other = signed_in.new_page()
    other.goto(page.url)
    second = Designer(other)
    expect(other.locator(".react-flow__node")).to_have_count(1)
    newer = first.drag("count", 300, 120)
    expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")

    late = second.drag("map_values", 300, 420)
    notice = other.get_by_test_id("draft-conflict")
    expect(notice).to_contain_text("another window")
    page.reload()
    expect(page.locator(".react-flow__node")).to_have_count(2)
    assert sorted(first.nodes()) == sorted([begun, newer])
    notice.get_by_role("button", name="Keep this one").click()
    expect(notice).to_have_count(0)
    expect(other.get_by_test_id("saved-state")).to_contain_text("draft saved")
    assert sorted(second.nodes()) == sorted([begun, late])
    other.keyboard.press("ControlOrMeta+z")
    expect(second.node(newer)).to_be_visible()
    other.close()


def test_a_selection_becomes_a_fragment_that_is_updated_and_dissolved(
    page: Page, system: System
) -> None:
    """Make one of two nodes, save its next version, update the topology to it, and dissolve it."""
    text = {"format": "string"}
    source = {"topics": ["in"], "key": text, "value": text}
    document = {
        "format": "millrace.topology/1", "name": "Uses a fragment",
        "nodes": [
            {"id": "in", "kind": "source.stream", "position": {"x": 0, "y": 0}, "params": source},
            {"id": "keep", "kind": "filter", "position": {"x": 280, "y": 0},
             "params": {"predicate": "length(value) > 3"}},
            {"id": "count", "kind": "count", "position": {"x": 560, "y": 0}, "params": {}},
            {"id": "out", "kind": "sink.topic", "position": {"x": 840, "y": 0},
             "params": {"topic": "counts"}},
        ],
        "edges": [{"source": "in", "target": "keep"}, {"source": "keep", "target": "count"},
                  {"source": "count", "target": "out"}],
    }  # fmt: skip
    with Api.of(system.address, page) as api:
        body = {"name": "Uses a fragment", "document": document}
        made = api.call("POST", "/workspaces/main/topologies", body)
    page.goto(f"{system.address}/w/main/t/{made['id']}")
    designer = Designer(page)
    designer.select("keep")
    designer.node("count").click(position={"x": 60, "y": 14}, modifiers=["Shift"])
    designer.command("Make a fragment")
    page.get_by_test_id("fragment-name").fill("Counted")
    expect(page.get_by_test_id("fragment-port-0")).to_have_value("in")
    page.get_by_test_id("make-fragment").click()
    expect(designer.node("counted")).to_be_visible(timeout=PATIENCE)
    assert designer.nodes() == ["in", "counted", "out"]
    designer.open_panel("Problems")
    expect(page.get_by_text("No problems").first).to_be_visible(timeout=PATIENCE)
    designer.save("With a fragment")

    with Api.of(system.address, page) as api:
        [fragment] = api.call("GET", "/workspaces/main/fragments?search=Counted")["results"]
        assert fragment["users"] == 1
    page.get_by_role("link", name="Open the fragment Counted").click()
    designer = Designer(page)
    expect(designer.node("keep")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("deploy")).to_have_count(0)
    designer.select("keep")
    designer.write("predicate", "length(value) > 4")
    designer.save("Longer words")

    page.goto(f"{system.address}/w/main/t/{made['id']}")
    designer = Designer(page)
    designer.select("counted")
    page.get_by_test_id("update-fragment").click(timeout=PATIENCE)
    expect(page.get_by_test_id("fragment-version")).to_contain_text("version 2")
    expect(page.get_by_test_id("update-fragment")).to_have_count(0)
    page.get_by_test_id("dissolve").click()
    expect(designer.node("keep")).to_be_visible(timeout=PATIENCE)
    assert sorted(designer.nodes()) == ["count", "in", "keep", "out"]
    designer.command("Undo")
    designer.select("counted")
    designer.command("Dissolve the fragment")
    expect(designer.node("keep")).to_be_visible(timeout=PATIENCE)
    assert sorted(designer.nodes()) == ["count", "in", "keep", "out"]


def test_an_earlier_version_is_compared_restored_and_saved_again(
    page: Page, system: System
) -> None:
    """As documents and as programs. The restored version is a draft until it is saved."""
    with Api.of(system.address, page) as api:
        body = {"name": "Restored", "template": "word-count"}
        made = api.call("POST", "/workspaces/main/topologies", body)
        path = f"/topologies/{made['id']}/versions"
        first = api.call("GET", f"{path}/1")["document"]
        changed = json.loads(json.dumps(first))
        (sink,) = (each for each in changed["nodes"] if each["kind"] == "sink.topic")
        sink["params"]["topic"] = "counts-elsewhere"
        elsewhere = {"document": changed, "message": "Elsewhere", "base_version": 1}
        api.call("POST", path, elsewhere)
        page.goto(f"{system.address}/w/main/t/{made['id']}")
        designer = Designer(page)
        written = designer.node(sink["id"])
        expect(written).to_contain_text("counts-elsewhere")
        page.get_by_role("tab", name="Versions").click()
        page.get_by_role("button", name="Actions for version 1").click()
        page.get_by_role("menuitem", name="Compare with the drawing").click()
        dialog = page.get_by_role("dialog")
        for segment, text in (
            ("document", '"topic": "counts-elsewhere"'),
            ("code", '.to("counts-elsewhere"'),
        ):
            dialog.locator(f"[data-segment={segment}]").click()
            left, right = dialog.locator(".cm-content").nth(0), dialog.locator(".cm-content").nth(1)
            expect(right).to_contain_text(text, timeout=PATIENCE)
            expect(left).not_to_contain_text("counts-elsewhere")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Actions for version 1").click()
        page.get_by_role("menuitem", name="Restore").click()
        expect(written).not_to_contain_text("counts-elsewhere")
        expect(page.get_by_test_id("saved-state")).to_contain_text("v2 · draft saved")
        designer.save("As it was")
        expect(page.get_by_test_id("saved-state")).to_contain_text("v3")
        assert api.call("GET", f"{path}/3")["document"] == first
        api.call("DELETE", f"/topologies/{made['id']}")


def test_a_version_is_promoted_and_each_environment_is_shown(page: Page, system: System) -> None:
    """By keyboard. The versions do not compile, so that no driver starts."""
    limit = {"type": "number", "default": 1, "values": {"dev": 2, "prod": 5}}
    node = {"id": "large", "kind": "filter", "params": {"predicate": "value > ${low}"}}
    document = {
        "format": "millrace.topology/1",
        "name": "Promoted",
        "parameters": {"low": limit},
        "nodes": [node],
        "edges": [],
    }
    with Api.of(system.address, page) as api:
        deployment = api.deploy("Promoted", document, environment="dev")
        topology = api.call("GET", f"/deployments/{deployment}")["topology"]
        page.goto(f"{system.address}/w/main/t/{topology}")
        switch = page.get_by_test_id("environments")
        expect(switch.get_by_role("button")).to_have_count(1)
        page.get_by_test_id("deploy-options").press("Enter")
        page.get_by_test_id("promote-prod").press("Enter")
        expect(page.get_by_test_id("change-values")).to_contain_text("low25")
        page.evaluate(AXE.read_text())
        assert examine(page, RULES["light"]) == []
        page.get_by_test_id("promote-accept").press("Enter")
        prod = switch.get_by_role("button", name=re.compile("prod"))
        expect(prod).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_test_id("deployment-pill")).to_have_text(re.compile("Failed · v1"))
        dev = switch.get_by_role("button", name=re.compile("dev"))
        dev.press("Enter")
        expect(dev).to_have_attribute("aria-pressed", "true")
        page.reload()
        expect(dev).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_test_id("deploy")).to_contain_text("dev")
        page.goto(f"{system.address}/w/main")
        row = page.get_by_test_id(f"topology-{topology}")
        expect(row.get_by_test_id("deployment-state")).to_have_text(["Failed · v1", "Failed · v1"])
        page.evaluate(AXE.read_text())
        assert examine(page, RULES["light"]) == []
        row.get_by_role("link", name="prod").click()
        expect(prod).to_have_attribute("aria-pressed", "true")
        # An open designer may just ask for what is deleted; its 404 is in the console.
        page.goto(f"{system.address}/w/main")
        expect(row).to_be_visible()
        api.call("DELETE", f"/topologies/{topology}")
        page.reload()
        expect(page.get_by_test_id("new-topology")).to_be_visible()
        expect(row).to_have_count(0)
