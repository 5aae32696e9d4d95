"""What is done on a page before a picture of a screen is taken: keys, clicks, prepared answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, Route

from checks.screen_answers import DIFFERENCE, FOUND, MISSED, REFUSED, THEIRS

NOTE = "## Revenue\nUSD, *gross*; see **Refunds**"


def press(*keys: str) -> Callable[[Page], None]:
    """Press keys, one after the other."""

    def run_all(page: Page) -> None:
        for key in keys:
            page.keyboard.press(key)

    return run_all


def tab(tab: str) -> Callable[[Page], None]:
    """Choose a tab below the canvas."""
    return lambda page: page.locator(f"#{tab}").click()


def left(tab: str) -> Callable[[Page], None]:
    """Choose a tab of the left panel, which is closed at first on a small screen."""

    def choose(page: Page) -> None:
        if not page.locator(f"#{tab}").is_visible():
            page.keyboard.press("[")
        page.locator(f"#{tab}").click()

    return choose


def segment(segment: str) -> Callable[[Page], None]:
    """Choose one of a few options, such as a layer of the canvas."""
    return lambda page: page.locator(f"[data-segment={segment}]").first.click()


def click(test_id: str) -> Callable[[Page], None]:
    """Click the first element with a test id."""
    return lambda page: page.get_by_test_id(test_id).first.click()


def all_of(*steps: Callable[[Page], None]) -> Callable[[Page], None]:
    """Do one after the other."""

    def run(page: Page) -> None:
        for step in steps:
            step(page)
            page.wait_for_timeout(150)

    return run


def choose_node(page: Page) -> None:
    """Click the second operator."""
    page.locator(".react-flow__node-operator").nth(1).click()


def choose_edge(page: Page) -> None:
    """Click the first edge, a third of its way."""
    path = page.locator("[data-wire] path").first
    place = path.evaluate(
        """path => {
            const at = path.getPointAtLength(path.getTotalLength() / 3);
            const shown = at.matrixTransform(path.getScreenCTM());
            return [shown.x, shown.y];
        }"""
    )
    page.mouse.click(*place)


def find(page: Page) -> None:
    """Search the drawing."""
    page.keyboard.press("ControlOrMeta+F")
    page.keyboard.type("o")


def find_command(page: Page) -> None:
    """Search the commands."""
    page.keyboard.press("ControlOrMeta+K")
    page.keyboard.type("wind")


def run(english: str, chinese: str) -> Callable[[Page], None]:
    """Run the first command that the words find."""

    def run(page: Page) -> None:
        language = page.locator("html").get_attribute("lang")
        page.keyboard.press("ControlOrMeta+K")
        page.keyboard.insert_text(chinese if language == "zh-CN" else english)
        page.keyboard.press("Enter")

    return run


def tour(page: Page) -> None:
    """Start the tour."""
    run("tour", "导览")(page)
    page.get_by_test_id("tour").wait_for()


def draw(page: Page) -> None:
    """Group all nodes, and write a note."""
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.press("ControlOrMeta+G")
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+N")
    page.locator("textarea:focus").wait_for()
    page.keyboard.type(NOTE)
    page.keyboard.press("Escape")


def break_program(page: Page) -> None:
    """Type a line into the program that does not end."""
    editor = page.get_by_test_id("program").locator(".cm-content")
    editor.click()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.insert_text("\nbuilder.stream(")
    page.wait_for_timeout(1_500)


def simulate(page: Page) -> None:
    """Run the simulation on its records, or on the first that are typed."""
    page.locator("#bottom-simulate").click()
    page.get_by_test_id("simulate").wait_for()
    if page.get_by_test_id("simulate-run").is_disabled():
        page.get_by_test_id("add-inputs").click()
        page.get_by_role("menu").get_by_role("menuitem").first.click()
    page.get_by_test_id("simulate-run").click()
    page.get_by_test_id("simulation-summary").wait_for(timeout=60_000)


def compare(what: str) -> Callable[[Page], None]:
    """Compare the oldest version with the canvas, on which a node was added."""

    def compare(page: Page) -> None:
        add("filter")(page)
        left("left-versions")(page)
        page.locator("[data-testid^=version-] button").last.click()
        page.get_by_role("menuitem").nth(1).click()
        page.get_by_test_id("compare-canvas").wait_for()
        if what != "canvas":
            page.locator(f"[data-segment={what}]").click()

    return compare


def differ(what: str) -> Callable[[Page], None]:
    """Search for a difference, and get a prepared answer.

    "found", "none", "failed", "hold" (it is still searching) or "canceled".
    """
    held: list[Route] = []

    def answer(route: Route) -> None:
        if what == "failed":
            route.fulfill(status=400, json=REFUSED)
        elif what in ("hold", "canceled"):
            held.append(route)
        else:
            done(route)

    def done(route: Route) -> None:
        result = {**DIFFERENCE, "found": FOUND if what == "found" else None}
        route.fulfill(json={"state": "done", "diagnostics": [], "result": result})

    def differ(page: Page) -> None:
        compare("canvas")(page)
        page.route("**/differences", answer, times=1)
        with page.expect_request("**/differences"):
            page.get_by_test_id("find-difference").click()
        if what in ("hold", "canceled"):
            page.wait_for_timeout(600)
        if what == "canceled":
            page.get_by_test_id("differing").get_by_role("button").first.click()
            done(held.pop())
        if what != "hold":
            page.get_by_test_id("find-difference").wait_for()

    return differ


def schedule(what: str) -> Callable[[Page], None]:
    """Set a schedule, which is "refused", or "missed" its last time."""

    def answer(route: Route) -> None:
        if what == "refused":
            route.fulfill(status=400, json=REFUSED)
            return
        found = route.fetch(url=route.request.url.removesuffix("/schedule"), method="GET")
        route.fulfill(json={**found.json(), "schedule": MISSED})

    def schedule(page: Page) -> None:
        all_of(click("deployment-pill"), click("more-actions"), click("schedule-open"))(page)
        page.route("**/schedule", answer, times=1)
        page.get_by_test_id("schedule-save").click()
        if what == "refused":
            page.get_by_test_id("schedule").locator("[data-tone=failed]").wait_for()
        else:
            page.get_by_test_id("deployment-pill").click()
            page.get_by_test_id("schedule-line").wait_for()

    return schedule


def add(kind: str) -> Callable[[Page], None]:
    """Add a node of a kind, which then lacks what it needs."""

    def add(page: Page) -> None:
        page.keyboard.press("n")
        page.get_by_role("combobox").last.wait_for()
        page.keyboard.insert_text(kind)
        page.keyboard.press("Enter")
        page.wait_for_timeout(600)

    return add


def menu(index: int) -> Callable[[Page], None]:
    """Choose from the menu of the first topology."""

    def choose(page: Page) -> None:
        page.locator("main table").get_by_role("button").last.click()
        page.get_by_role("menuitem").nth(index).click()

    return choose


def show(test_id: str) -> Callable[[Page], None]:
    """Scroll to a part of the page."""
    script = "element => element.scrollIntoView({ block: 'start' })"
    return lambda page: page.get_by_test_id(test_id).evaluate(script)


def first(places: str) -> Callable[[Page], None]:
    """Click the first element that a selector finds."""
    return lambda page: page.locator(places).first.click()


def outdate(page: Page) -> None:
    """Open a part of the page that the server no longer has."""
    page.route("**/assets/*.js", lambda route: route.fulfill(status=404))
    page.get_by_test_id("learn").click()
    page.get_by_test_id("new-version").wait_for()
    page.unroute("**/assets/*.js")


def disconnect(page: Page) -> None:
    """Change the drawing while the server cannot be reached."""
    page.context.set_offline(True)
    add("filter")(page)
    page.locator("[data-draft=failed]").wait_for()


def conflict(page: Page) -> None:
    """Save a version over one that somebody else saved meanwhile."""

    def answer(route: Route) -> None:
        sent: Any = route.request.post_data_json
        mine = sent["document"]
        *before, added = mine["nodes"]
        edges = [each for each in mine["edges"] if added["id"] not in each.values()]
        base = {**mine, "nodes": before, "edges": edges}
        renamed = {**before[0], "label": "Sentences of all sources"}
        other = {**added, "params": {"predicate": "length(value) > 3"}}
        theirs = {**base, "nodes": [renamed, *before[1:], other]}
        error = {
            "code": "version_conflict", "message": "", "base": {"document": base},
            "theirs": {**THEIRS, "document": theirs},
        }  # fmt: skip
        route.fulfill(status=409, json={"error": error})

    add("filter")(page)
    page.keyboard.press("ControlOrMeta+s")
    page.get_by_test_id("version-message").fill("Only long ones")
    page.route("**/versions", answer, times=1)
    page.get_by_test_id("save-version").click()
    page.get_by_test_id("conflict").wait_for()


def topic(places: str) -> Callable[[Page], None]:
    """Open the last topic, and click there."""

    def open_topic(page: Page) -> None:
        page.locator("main table a").last.click()
        page.get_by_test_id("produce").wait_for()
        first(places)(page)

    return open_topic


def choose_fragment(page: Page) -> None:
    """Click the node of the fragment."""
    page.locator('.react-flow__node[data-id="counted"]').click()


def keep_test(page: Page) -> None:
    """Keep the results of the simulation as a test."""
    page.locator("[data-testid=simulate] button").filter(
        has_text=re.compile("^(Keep as a test|保存为测试)")
    ).click()
