"""Journeys within the page: with a second person, without a server, and on a tablet."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FloatRect,
    Locator,
    Page,
    StorageState,
    expect,
)

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.designer import middle as middle_of
from tests.e2e.system import System
from tests.e2e.test_word_count_journey import new_topology

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]


COUNTED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "count" / "topology.json").read_text("utf-8")
)


def member(page: Page, system: System, name: str, role: str = "editor") -> str:
    """Add another member as the signed-in administrator and return the sign-in link."""
    page.request.get(f"{system.address}/api/session")
    cookies = page.context.cookies()
    token = next(each["value"] for each in cookies if each["name"] == "csrftoken")
    answer = page.request.post(
        f"{system.address}/api/workspaces/main/members",
        data={
            "username": name.split(maxsplit=1)[0].lower(),
            "display_name": name,
            "role": role,
        },
        headers={"X-CSRFToken": token, "Origin": system.address},
    )
    assert answer.ok, answer.text()
    return str(answer.json()["sign_in_link"])


def test_what_somebody_else_edits_is_marked_on_the_node(
    page: Page, system: System, browser: Browser
) -> None:
    """Two people on one topology see each other, the node that each one edits, and pointers."""
    mine = new_topology(page, "Together")
    node = mine.drag("filter", 300, 300)
    mine.save("A filter")
    link = member(page, system, "Grace Hopper")
    theirs = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    other = theirs.new_page()
    other.goto(link)
    other.get_by_role("button", name="Not now").click()
    other.wait_for_url("**/w/**")
    other.goto(page.url)
    them = Designer(other)
    expect(page.get_by_role("button", name="Grace Hopper has this topology open")).to_be_visible()

    them.select(node)
    mark = page.locator(f'[data-person-node="{node}"]')
    expect(mark).to_be_visible()
    expect(mark).to_contain_text("GH")
    # The pointer is at the same place of the drawing in both windows.
    x, y = middle_of(other.locator(f'.react-flow__node[data-id="{node}"]'))
    other.mouse.move(x - 5, y)
    other.mouse.move(x, y)
    pointer = page.locator(".person-cursor")
    expect(pointer).to_have_text("Grace Hopper")
    page.wait_for_function(
        """([x, y]) => {
            const { left, top } = document.querySelector(".person-cursor").getBoundingClientRect();
            return Math.abs(left - x) < 6 && Math.abs(top - y) < 6;
        }""",
        arg=[*middle_of(page.locator(f'.react-flow__node[data-id="{node}"]'))],
    )
    other.mouse.move(5, 5)
    expect(pointer).to_have_count(0)
    them.page.keyboard.press("Escape")
    them.page.keyboard.press("Escape")
    expect(mark).to_have_count(0)
    theirs.close()
    expect(page.get_by_role("button", name="Grace Hopper has this topology open")).to_have_count(0)


def test_changes_that_the_server_did_not_get_outlive_the_page(
    page: Page, signed_in: BrowserContext
) -> None:
    """The network fails, then the page closes: the next page has the change and can undo it."""
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
    expect(dying.get_by_text("are not saved yet")).to_be_visible()
    dying.close()

    page.reload()
    expect(page.get_by_text("Unsaved changes were restored")).to_be_visible()
    expect(page.locator(".react-flow__node")).to_have_count(2)
    expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")
    page.keyboard.press("ControlOrMeta+z")
    expect(page.locator(".react-flow__node")).to_have_count(1)


def test_a_kind_is_dropped_on_the_words_of_the_empty_canvas(page: Page) -> None:
    """The pointer moves slowly, so that the palette's card opens before the drag begins."""
    new_topology(page, "Slow hand")
    entry = page.locator('[data-kind="filter"]')
    entry.hover()
    expect(page.locator(".palette-card")).to_be_visible()
    words = page.get_by_text("Start with a source of records")
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
    # Its center is where it was dropped, aligned to the grid.
    assert abs(found["x"] + found["width"] / 2 - x) <= 16
    assert abs(found["y"] + found["height"] / 2 - y) <= 16


def test_escape_closes_what_is_on_top_and_nothing_below_it(page: Page) -> None:
    """Completions close before the large editor, a list before the options, and then those."""
    designer = new_topology(page, "Escape")
    designer.drag("process", 300, 300)
    page.get_by_role("button", name="Open in a large window").click()
    window = page.get_by_role("dialog")
    window.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("pr")
    completions = page.locator(".cm-tooltip-autocomplete")
    expect(completions).to_be_visible()
    page.keyboard.press("Escape")
    expect(completions).to_have_count(0)
    expect(window).to_be_visible()
    page.keyboard.press("Escape")
    expect(window).to_have_count(0)

    page.get_by_test_id("deploy-options").click()
    trigger = page.get_by_role("combobox", name="Trigger")
    trigger.click()
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    expect(trigger).to_be_visible()
    page.keyboard.press("Escape")
    expect(trigger).to_have_count(0)
    page.get_by_test_id("deploy-options").click()
    page.locator(".react-flow__pane").click(position={"x": 60, "y": 400})
    expect(trigger).to_have_count(0)


def test_an_import_of_what_is_there_already_gets_a_free_name(page: Page, tmp_path: Path) -> None:
    """An export is imported into the workspace it came from."""
    designer = new_topology(page, "Twice")
    designer.drag("filter", 300, 300)
    designer.save("A filter")
    export = {"format": "millrace.topology/1", "name": "Twice", "nodes": [], "edges": []}
    file = tmp_path / "Twice.json"
    file.write_text(json.dumps(export))
    page.goto(page.url.rsplit("/t/", 1)[0])
    page.get_by_test_id("new-topology").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("radio", name="Import a document").click()
    chooser.value.set_files(file)
    name = page.get_by_test_id("topology-name")
    expect(name).to_have_value("Twice 2")
    page.get_by_test_id("create-topology").click()
    page.wait_for_url("**/t/*")
    expect(page.get_by_role("button", name="Twice 2")).to_be_visible()


def test_on_an_upright_tablet_the_canvas_comes_first(
    page: Page,
) -> None:
    """Panels cover the canvas one at a time; map, tools, tabs and labels do not overlap."""
    designer = new_topology(page, "Tablet")
    left = designer.drag("join.stream_stream", 300, 200)
    page.keyboard.press("n")
    page.keyboard.type("filter")
    page.keyboard.press("Enter")
    expect(page.locator(".react-flow__edge")).to_have_count(1)
    page.set_viewport_size({"width": 768, "height": 1024})
    canvas = page.locator(".react-flow")
    expect(page.locator(".designer-left")).to_have_count(0)
    assert box(canvas)["width"] >= 760
    assert apart(page.locator(".react-flow__minimap"), page.locator(".canvas-tools"))
    page.get_by_role("button", name="Inspector", exact=True).click()
    expect(page.locator(".designer-right")).to_be_visible()
    page.get_by_role("button", name="Left panel").click()
    expect(page.locator(".designer-right")).to_have_count(0)
    page.get_by_role("button", name="Left panel").click()
    tabs = box(page.get_by_role("tablist", name="Problems, code and runtime"))
    assert tabs["x"] + tabs["width"] <= 768
    for port in ("left", "right"):
        handle = designer.node(left).locator(f'[data-handleid="{port}"]')
        name = handle.locator(".port-name")
        assert abs(middle(box(name)) - middle(box(handle))) < 3, port
    page.get_by_role("button", name="Show types on all edges").click()
    chip = page.locator(".edge-chip").first
    expect(chip).to_be_visible()
    for node in page.locator(".react-flow__node").all():
        assert apart(chip, node)
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.locator(".designer-left")).to_be_visible()


def box(part: Locator) -> FloatRect:
    """Return the position and size of a part of the page, in pixels."""
    found = part.bounding_box()
    assert found is not None
    return found


def middle(place: FloatRect) -> float:
    """Return the vertical center of a box."""
    return place["y"] + place["height"] / 2


def apart(one: Locator, other: Locator) -> bool:
    """Whether two parts of the page do not overlap; a hidden part covers nothing."""
    a, b = one.bounding_box(), other.bounding_box()
    return (
        a is None
        or b is None
        or a["x"] + a["width"] <= b["x"]
        or b["x"] + b["width"] <= a["x"]
        or a["y"] + a["height"] <= b["y"]
        or b["y"] + b["height"] <= a["y"]
    )


def test_the_designer_opens_with_less_than_450_kilobytes(
    page: Page, session: StorageState, browser: Browser
) -> None:
    """Counted as transferred, with an empty cache; the second visit fetches no file again."""
    new_topology(page, "Light").drag("filter", 300, 300)
    expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")
    fresh = browser.new_context(storage_state=session, locale="en-GB")
    visitor = fresh.new_page()
    watch = fresh.new_cdp_session(visitor)
    watch.send("Network.enable")
    names: dict[str, str] = {}
    wire: list[tuple[float, str]] = []

    def finished(event: dict[str, Any]) -> None:
        wire.append((event["encodedDataLength"], names.get(event["requestId"], "")))

    def total() -> float:
        return sum(size for size, _ in wire)

    watch.on(
        "Network.responseReceived",
        lambda event: names.update({event["requestId"]: event["response"]["url"]}),
    )
    watch.on("Network.loadingFinished", finished)
    visitor.goto(page.url)
    expect(Designer(visitor).node("filter")).to_be_visible()
    visitor.wait_for_timeout(500)
    assert 50_000 < total() < 450_000, "\n".join(map(str, sorted(wire)))
    wire.clear()
    visitor.reload()
    expect(Designer(visitor).node("filter")).to_be_visible()
    assert total() < 60_000, sorted(wire)
    fresh.close()


def test_plain_code_is_shown_and_exported_with_its_differences(
    page: Page, system: System, tmp_path: Path
) -> None:
    token = next(each["value"] for each in page.context.cookies() if each["name"] == "csrftoken")
    made = page.request.post(
        f"{system.address}/api/workspaces/main/topologies",
        data={"name": "In plain Spark", "document": COUNTED},
        headers={"X-CSRFToken": token, "Origin": system.address},
    )
    assert made.ok, made.text()
    page.goto(f"{system.address}/w/main/t/{made.json()['id']}")
    designer = Designer(page)
    designer.open_panel("Code")
    code = page.get_by_test_id("code")
    expect(code).to_contain_text("millrace_runtime")
    expect(page.get_by_test_id("differences")).to_have_count(0)

    page.get_by_role("radio", name="Plain Spark").click()
    expect(code).to_contain_text("from pyspark.sql import DataFrame, SparkSession")
    differences = page.get_by_test_id("differences")
    expect(differences).to_contain_text("differences from Kafka Streams")
    updates = differences.get_by_text("Each micro-batch emits the last result of a key")
    updates.click()
    expect(page.locator(".react-flow__node.selected")).to_contain_text("Count per word")

    with page.expect_download() as waiting:
        page.get_by_test_id("export-zip").click()
    waiting.value.save_as(tmp_path / "plain.zip")
    with zipfile.ZipFile(tmp_path / "plain.zip") as zipped:
        [job] = [name for name in zipped.namelist() if name.endswith("job.py")]
        assert "millrace" not in zipped.read(job).decode()

    page.get_by_role("radio", name="Exact").click()
    expect(code).to_contain_text("millrace_runtime")


def _put_into_background(page: Page, hidden: bool) -> None:
    page.evaluate(
        """hidden => {
            Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


def test_more_tabs_than_a_browser_has_connections_can_be_open(
    page: Page, signed_in: BrowserContext
) -> None:
    """A background tab receives no events, and catches up when it is shown again."""
    designer = new_topology(page, "Many tabs")
    designer.drag("filter", 300, 300)
    expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")
    _put_into_background(page, True)
    for _ in range(7):
        tab = signed_in.new_page()
        tab.goto(page.url)
        last = Designer(tab)
        expect(tab.locator(".react-flow__node")).to_have_count(1)
        _put_into_background(tab, True)
    _put_into_background(last.page, False)
    last.save("From the last tab")
    _put_into_background(page, False)
    expect(page.get_by_text("Version 1 was saved elsewhere.")).to_be_visible()


def test_the_focus_returns_to_the_button_that_opened_a_dialog(page: Page) -> None:
    """Escape closes the dialog, and keyboard focus returns to its opener."""
    opener = page.get_by_test_id("new-topology")
    opener.click()
    dialog = page.get_by_role("dialog", name="New topology")
    expect(dialog.get_by_role("button", name="Close")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()


def printed_alone(page: Page) -> None:
    """The print window gets the drawing, on one page, and nothing else of the designer."""
    page.evaluate("window.print = () => undefined")
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("print")
    page.keyboard.press("Enter")
    sheet = page.locator(".print-sheet > svg")
    expect(sheet).to_be_attached()
    page.emulate_media(media="print")
    expect(sheet).to_be_visible()
    expect(page.locator(".canvas")).to_be_hidden()
    assert page.pdf().count(b"/Type /Page\n") == 1
    page.emulate_media(media="screen")
    # The browser ended printing.
    expect(page.locator(".print-sheet")).to_have_count(0)


def test_groups_notes_search_and_pictures_of_a_large_drawing(page: Page, tmp_path: Path) -> None:
    """A group is made, collapsed and moved; a note is written; both are found and in pictures."""
    designer = new_topology(page, "Large")
    first = designer.drag("source.stream", 200, 260)
    second = designer.drag("filter", 460, 260)
    third = designer.drag("map_values", 720, 260)
    designer.wire(first, second)
    designer.wire(second, third)
    designer.node(second).click(position={"x": 60, "y": 14})
    designer.node(third).click(position={"x": 60, "y": 14}, modifiers=["ControlOrMeta"])
    page.keyboard.press("ControlOrMeta+g")
    page.get_by_test_id("group-title").fill("Clean up")
    expect(page.locator(".frame-title")).to_have_text("Clean up")

    page.locator(".react-flow__pane").click(position={"x": 420, "y": 90})
    page.keyboard.press("Alt+n")
    expect(page.get_by_role("textbox", name="Text of the note")).to_be_focused()
    page.keyboard.type("# Why\n**Late** records")
    page.keyboard.press("Escape")
    expect(page.locator(".note strong")).to_have_text("Late")

    page.locator(".frame-head").click(position={"x": 20, "y": 10})
    page.keyboard.press("ControlOrMeta+.")
    box = page.locator(".group-node")
    expect(box).to_contain_text("2 nodes")
    expect(designer.node(second)).to_have_count(0)
    expect(page.locator(".react-flow__edge")).to_have_count(1)
    before = box.bounding_box()
    assert before is not None
    page.mouse.move(before["x"] + 30, before["y"] + 12)
    page.mouse.down()
    page.mouse.move(before["x"] + 60, before["y"] + 112, steps=8)
    page.mouse.up()
    after = box.bounding_box()
    assert after is not None
    assert abs(after["y"] - before["y"]) > 40

    page.keyboard.press("ControlOrMeta+f")
    search = page.get_by_role("textbox", name="Find in the topology")
    search.fill("late")
    expect(page.locator(".react-flow__node-note[data-found]")).to_have_count(1)
    search.fill(third)
    search.press("Enter")
    expect(designer.node(third)).to_have_attribute("data-found-now", "")
    search.press("Escape")

    for ending, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        page.keyboard.press("ControlOrMeta+k")
        page.keyboard.type(f"picture as {ending}")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        target = tmp_path / f"picture.{ending}"
        download.value.save_as(target)
        assert target.read_bytes().startswith(start)
    text = (tmp_path / "picture.SVG").read_text(encoding="utf-8")
    assert "Clean up" in text
    assert "Late records" in text
    printed_alone(page)
    page.keyboard.press("ControlOrMeta+z")
    expect(page.locator(".react-flow__minimap")).to_be_visible()
    expect(page.get_by_test_id("saved-state")).to_contain_text("draft saved")
    page.reload()
    expect(page.locator(".note strong")).to_have_text("Late")


def test_lists_are_not_wider_than_a_phone(page: Page, system: System) -> None:
    """Their tables scroll within them, also with columns whose titles are hidden."""
    with Api.of(system.address, page) as api:
        made = api.call("POST", "/workspaces/main/topologies", {"name": "On a phone"})["id"]
        page.set_viewport_size({"width": 390, "height": 844})
        for path in ("", "/topics", "/alerts", "/settings"):
            page.goto(f"{system.address}/w/main{path}")
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            inside = page.locator("main")
            shown = inside.get_by_role("row").or_(inside.get_by_role("status"))
            expect(shown.first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        page.goto(f"{system.address}/w/main")
        api.call("DELETE", f"/topologies/{made}")
