"""What the canvas draws at several zooms: text that can be read, and labels that do not collide."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RANDOM: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "topologies.json").read_text(encoding="utf-8")
)
#: each of these zooms of the browser's wheel is looked at
ZOOMS = (1.0, 0.77, 0.6, 0.35, 0.2, 0.12)

#: the zoom of the canvas
ZOOM = """() => new DOMMatrix(
  getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a"""

#: texts on the canvas with their size on the screen, and pairs of labels that overlap.
MEASURE = """() => {
  const zoom = new DOMMatrix(
    getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a;
  const shown = (element) => element.checkVisibility({opacityProperty: true,
    visibilityProperty: true, contentVisibilityAuto: true});
  const all = (selector) => [...document.querySelectorAll(selector)].filter(shown)
    .filter((element) => element.getBoundingClientRect().width > 0);
  const small = all(`.node-label, .node-sentence, .store-name, .node-badge, .node-ended,
    .port-name, .edge-chip, .plan-label, .node-footer span`)
    .filter((element) => element.textContent.trim() !== '')
    .map((element) => [parseFloat(getComputedStyle(element).fontSize) * zoom, element])
    .filter(([size, element]) => size > 0 && size < 9.99)
    .map(([size, element]) => `${element.className} ${size.toFixed(1)} px at ${zoom.toFixed(2)}`);
  const owner = (element) => element.closest('[data-id]')?.dataset.id
    ?? element.closest('[data-wire]')?.dataset.wire ?? '';
  const name = (element) =>
    `${element.getAttribute('class')} “${element.textContent.trim()}” of ${owner(element)}`;
  const labels = all(`.edge-chip, .edge-shuffle, .edge-key, .node-badge, .node-ended,
    .port-name, .plan-label`);
  const nodes = all('.react-flow__node .node, .react-flow__node .store, .node-footer');
  const overlap = (one, two) => {
    const [a, b] = [one.getBoundingClientRect(), two.getBoundingClientRect()];
    return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  };
  const own = (label, node) => node.contains(label)
    || label.closest('.node') !== null && label.closest('.node') === node.closest('.node');
  const pairs = [];
  labels.forEach((label, index) => {
    for (const other of labels.slice(index + 1)) {
      if (overlap(label, other)) pairs.push(`${name(label)} and ${name(other)}`);
    }
    for (const node of nodes) {
      if (!own(label, node) && overlap(label, node)) pairs.push(`${name(label)} and ${name(node)}`);
    }
  });
  nodes.forEach((node, index) => {
    for (const other of nodes.slice(index + 1)) {
      if (node.closest('[data-id]') === other.closest('[data-id]')) continue;
      if (overlap(node, other)) pairs.push(`${name(node)} and ${name(other)}`);
    }
  });
  return {zoom, small: [...new Set(small)], pairs};
}"""


def measured(page: Page, name: str) -> list[str]:
    """Look at the open topology at all zooms, and return what is too small or collides."""
    faults: list[str] = []
    for zoom in ZOOMS:
        zoomed(page, zoom)
        found = page.evaluate(MEASURE)
        faults += [f"{name}, {found['zoom']:.2f}: {each}" for each in found["small"]]
        faults += [f"{name}, {found['zoom']:.2f}: {each}" for each in found["pairs"]]
    return faults


def zoomed(page: Page, zoom: float) -> None:
    """Turn the wheel until the zoom is at most the wanted one."""
    canvas = page.locator(".react-flow__pane")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 4)
    for _ in range(60):
        now = page.evaluate(ZOOM)
        if abs(now / zoom - 1) < 0.02:
            break
        # React Flow's zoom changes by 2 to the power of the distance / 500.
        page.mouse.wheel(0, -math.log2(zoom / now) * 500)
        page.wait_for_timeout(60)
    # Texts get their size when the gesture has ended.
    page.locator(".canvas:not([data-moving])").wait_for()


def covered_while_zooming(page: Page) -> None:
    """While the wheel is turned, an unsteady hand does not search the nodes below the pointer."""
    box = page.locator(".react-flow__pane").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    over = "([x, y]) => document.elementFromPoint(x, y).classList.contains('react-flow__renderer')"
    assert not page.evaluate(over, [x, y])
    for step in range(4):
        page.mouse.wheel(0, -20)
        page.mouse.move(x + step % 2, y)
    assert page.evaluate(over, [x, y])
    page.mouse.move(x + 40, y)
    assert not page.evaluate(over, [x, y])


@pytest.mark.long
def test_labels_do_not_collide_and_text_has_ten_pixels(page: Page, system: System) -> None:
    faults: list[str] = []
    with Api.of(system.address, page) as api:
        documents = {
            each["id"]: api.call(
                "POST",
                "/workspaces/main/topologies",
                {"name": f"{each['title']} drawn", "template": each["id"]},
            )["id"]
            for each in api.call("GET", "/templates")
        }
        for number in (0, *range(len(RANDOM) - 4, len(RANDOM))):
            document = {"format": "millrace.topology/1", "name": f"R{number}", **RANDOM[number]}
            body = {"name": f"Random {number}", "document": document}
            documents[f"random {number}"] = api.call("POST", "/workspaces/main/topologies", body)[
                "id"
            ]
    for name, topology in documents.items():
        page.goto(f"{system.address}/w/main/t/{topology}")
        Designer(page)
        page.get_by_role("radio", name="Design", exact=True).click()
        page.keyboard.press("Shift+l")
        page.wait_for_timeout(600)
        if name == "random 0":
            covered_while_zooming(page)
        faults += measured(page, name)
        if not name.startswith("random"):
            page.get_by_role("radio", name="Plan", exact=True).click()
            zoomed(page, 1.0)
            expect(page.locator(".plan-label").first).to_be_attached()
            faults += measured(page, f"{name}, plan")
    assert faults == []


def led() -> dict[str, Any]:
    """Five filters in a row, of which the middle three are a group; each edge has a bend."""
    ids = ["a", "b", "c", "d", "e"]
    nodes = [
        {
            "id": each,
            "kind": "filter",
            "params": {"predicate": "true"},
            "position": {"x": 280 * index, "y": 0},
        }
        for index, each in enumerate(ids)
    ]
    edges = [{"source": one, "target": two} for one, two in itertools.pairwise(ids)]
    bends = [
        {**edge, "points": [{"x": 280 * index + 248, "y": -80 if index in (0, 3) else 96}]}
        for index, edge in enumerate(edges)
    ]
    group = {"id": "middle", "title": "Middle", "nodes": ["b", "c", "d"]}
    return {
        "format": "millrace.topology/1", "name": "Led", "nodes": nodes, "edges": edges,
        "drawing": {"bends": bends, "groups": [group]},
    }  # fmt: skip


def test_bends_stay_in_groups_and_fragments(page: Page, system: System) -> None:
    """At a collapsed group, in a fragment that is opened in place, and when it is dissolved."""
    with Api.of(system.address, page) as api:
        body = {"name": "Led", "document": led()}
        topology = api.call("POST", "/workspaces/main/topologies", body)["id"]
        page.goto(f"{system.address}/w/main/t/{topology}")
        designer = Designer(page)

        def turns(source: str, target: str) -> int:
            wire = page.locator(f'[data-wire="{source}.out>{target}.in"] .react-flow__edge-path')
            return (wire.first.get_attribute("d") or "").count("Q")

        bent = turns("a", "b")
        assert bent >= 4
        page.locator(".frame-head").click(position={"x": 20, "y": 10})
        page.keyboard.press("ControlOrMeta+.")
        expect(page.locator(".group-node")).to_contain_text("3 nodes")
        assert turns("a", "b") >= 4
        page.get_by_test_id("save").wait_for()
        page.locator(".group-node").dblclick(position={"x": 60, "y": 14})
        expect(designer.node("c")).to_be_visible()

        page.locator(".frame-head").click(position={"x": 20, "y": 10})
        designer.command("Make a fragment")
        page.get_by_test_id("fragment-name").fill("Bent")
        page.get_by_test_id("make-fragment").click()
        expect(designer.node("bent")).to_be_visible()
        assert turns("a", "bent") >= 4
        designer.node("bent").dblclick(position={"x": 60, "y": 14})
        expect(designer.node("c")).to_be_visible()
        assert turns("b", "c") >= 4
        assert turns("c", "d") >= 4
        assert turns("a", "b") >= 4
        expect(page.locator(".frame-title")).to_have_text(["Bent", "Middle"])
        page.locator(".frame").nth(1).get_by_role("button", name="Collapse the group").click()
        expect(designer.node("c")).to_have_count(0)
        page.locator(".group-node").dblclick(position={"x": 60, "y": 14})
        expect(designer.node("c")).to_be_visible()

        def outer() -> Any:
            document = api.call("GET", f"/topologies/{topology}/draft")["document"]
            (bend,) = (each for each in document["drawing"]["bends"] if each["source"] == "a")
            assert bend["target"] == "bent"
            return bend["points"]

        page.get_by_test_id("saved-state").get_by_text("draft saved").wait_for()
        (before,) = outer()
        designer.select_edge("a", "b")
        handle = page.locator(".edge-bend")
        expect(handle).to_have_count(1)
        handle.press("ArrowUp")
        expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")
        expect(handle).to_be_visible()
        page.wait_for_timeout(1_500)
        (after,) = outer()
        assert (after["x"], after["y"]) == (before["x"], before["y"] - 8)
        page.keyboard.press("Escape")
        designer.select("b")
        page.keyboard.press("o")
        expect(designer.node("c")).to_have_count(0)
        designer.select("bent")
        designer.command("Dissolve the fragment")
        expect(designer.node("c")).to_be_visible()
        expect(page.locator(".frame-title")).to_have_text("Middle")
        assert turns("b", "c") >= 4
        expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")
        drawing = api.call("GET", f"/topologies/{topology}/draft")["document"]["drawing"]
        assert len(drawing["bends"]) == 4
