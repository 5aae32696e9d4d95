"""``./millrace screens``: pictures of every screen of the page, from a running system.

`SCREENS` lists the screens and their states. `tests/e2e/test_every_screen.py` opens the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Route, ViewportSize, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from checks import chromium
from launcher import commands, places
from launcher.console import Problem, echo

WIDTHS = {390: 844, 820: 1180, 1024: 768, 1280: 720, 1920: 1080}
LANGUAGES = ("en", "zh")
THEMES = ("light", "dark")
#: milliseconds for what a screen loads after it is shown
SETTLED = 350
#: what is shown while something loads
LOADING = "[data-loading]:not(button), [role=status] .mantine-Loader-root"
NAME = "Screens"
ANSWERS = "**/api/**"
NOTE = "## Revenue\nUSD, *gross*; see **Refunds**"


@dataclass(frozen=True)
class Screen:
    """A state of the page: an address, and what is done there."""

    name: str
    #: below the address of the workspace; `{t}` is a topology
    path: str
    do: Callable[[Page], None] | None = None
    #: what happens to requests of the API: "hold" (the page shows that it loads) or "fail"
    answers: str = ""
    #: whether a deployment has to run
    running: bool = False
    #: the smallest width at which it exists
    least: int = 0


def _keys(*keys: str) -> Callable[[Page], None]:
    def press(page: Page) -> None:
        for key in keys:
            page.keyboard.press(key)

    return press


def _tab(tab: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f"#{tab}").click()


def _left(tab: str) -> Callable[[Page], None]:
    """Choose a tab of the left panel, which is closed at first on a small screen."""

    def choose(page: Page) -> None:
        if not page.locator(f"#{tab}").is_visible():
            page.keyboard.press("[")
        page.locator(f"#{tab}").click()

    return choose


def _segment(segment: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f"[data-segment={segment}]").first.click()


def _click(test_id: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_test_id(test_id).first.click()


def _all(*steps: Callable[[Page], None]) -> Callable[[Page], None]:
    def run(page: Page) -> None:
        for step in steps:
            step(page)
            page.wait_for_timeout(150)

    return run


def _node(page: Page) -> None:
    page.locator(".react-flow__node-operator").nth(1).click()


def _find(page: Page) -> None:
    page.keyboard.press("ControlOrMeta+F")
    page.keyboard.type("o")


def _command(page: Page) -> None:
    page.keyboard.press("ControlOrMeta+K")
    page.keyboard.type("wind")


def _tour(page: Page) -> None:
    chinese = page.locator("html").get_attribute("lang") == "zh-CN"
    page.keyboard.press("ControlOrMeta+K")
    page.keyboard.insert_text("导览" if chinese else "tour")
    page.keyboard.press("Enter")
    page.get_by_test_id("tour").wait_for()


def _drawing(page: Page) -> None:
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.press("ControlOrMeta+G")
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+N")
    page.locator("textarea:focus").wait_for()
    page.keyboard.type(NOTE)
    page.keyboard.press("Escape")


TOPOLOGY = "t/{t}"

SCREENS = (
    Screen("topologies", ""),
    Screen("topologies-loading", "", answers="hold"),
    Screen("topologies-failed", "", answers="fail"),
    Screen("topologies-none", "?q=nothing-has-this-name"),
    Screen("new-topology", "", _click("new-topology")),
    Screen("learn", "", _click("learn")),
    Screen("user-menu", "", _click("user-menu")),
    Screen("topics", "topics"),
    Screen("topics-failed", "topics", answers="fail"),
    Screen("new-topic", "topics", _click("new-topic")),
    Screen(
        "topic", "topics", lambda page: page.locator("main table a").first.click(), running=True
    ),
    Screen("alerts", "alerts"),
    Screen("new-rule", "alerts", _click("new-rule")),
    Screen("settings", "settings"),
    Screen("settings-failed", "settings", answers="fail"),
    Screen("installation", "/installation"),
    Screen("not-found", "/nowhere"),
    Screen("designer", TOPOLOGY),
    Screen("designer-loading", TOPOLOGY, answers="hold"),
    Screen("designer-failed", TOPOLOGY, answers="fail"),
    Screen("node", TOPOLOGY, _node),
    Screen("outline", TOPOLOGY, _left("left-outline")),
    Screen("versions", TOPOLOGY, _left("left-versions")),
    Screen("problems", TOPOLOGY, _tab("bottom-problems")),
    Screen("simulate", TOPOLOGY, _tab("bottom-simulate")),
    Screen("code", TOPOLOGY, _tab("bottom-code")),
    Screen("plan", TOPOLOGY, _all(_segment("plan"), _tab("bottom-plan"))),
    Screen("assignment", TOPOLOGY, _tab("bottom-assignment"), running=True),
    Screen("charts", TOPOLOGY, _tab("bottom-charts"), running=True),
    Screen("records", TOPOLOGY, _tab("bottom-records"), running=True),
    Screen("state", TOPOLOGY, _tab("bottom-state"), running=True),
    Screen("logs", TOPOLOGY, _tab("bottom-logs"), running=True),
    Screen("runs", TOPOLOGY, _tab("bottom-runs")),
    Screen("live-node", TOPOLOGY, _all(_segment("runtime"), _node), running=True),
    Screen("deployment", TOPOLOGY, _click("deployment-pill"), running=True),
    Screen("deploy-options", TOPOLOGY, _click("deploy-options")),
    Screen("import", TOPOLOGY, _all(_left("left-versions"), _click("import"))),
    Screen("find", TOPOLOGY, _find),
    Screen("legend", TOPOLOGY, _all(_segment("runtime"), _click("legend-button"))),
    Screen(
        "simulation-options", TOPOLOGY, _all(_tab("bottom-simulate"), _click("simulation-options"))
    ),
    Screen("commands", TOPOLOGY, _command),
    Screen("tour", TOPOLOGY, _tour),
    Screen("shortcuts", TOPOLOGY, _keys("?")),
    Screen("help", TOPOLOGY, _keys("F1")),
    Screen("add-node", TOPOLOGY, _keys("N")),
    Screen("double", TOPOLOGY, _all(_node, _keys("Shift+D"))),
    Screen("groups-and-notes", TOPOLOGY, _drawing, least=820),
)


def a_topology(page: Page, address: str) -> int:
    """Return the id of a topology with nodes, which is made if the workspace has none."""
    found = _api(page, "GET", "/api/workspaces/main/topologies")["results"]
    full = [each for each in found if each["node_count"] > 2]
    running = [each for each in full if (each["deployment"] or {}).get("observed") == "running"]
    if full:
        return int((running or full)[0]["id"])
    template = _api(page, "GET", "/api/templates")[0]
    made = _api(
        page,
        "POST",
        "/api/workspaces/main/topologies",
        {"name": NAME, "document": {**template["document"], "name": NAME}},
    )
    return int(made["id"])


def _api(page: Page, method: str, path: str, body: Any = None) -> Any:
    """Call the API with the session of the page."""
    script = """async ([method, path, body]) => {
        const token = /csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? "";
        const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
        const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
        if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
        return answer.json();
    }"""
    return page.evaluate(script, [method, path, body])


@contextmanager
def opened(page: Page, address: str, screen: Screen, topology: int) -> Iterator[None]:
    """Open a screen. Afterwards, the page's draft and layout are as before."""
    held: list[Route] = []

    def answer(route: Route) -> None:
        if "/session" in route.request.url:
            route.continue_()
        elif screen.answers == "hold":
            held.append(route)
        else:
            problem = {"code": "invalid", "message": "The server refused this request."}
            route.fulfill(status=400, content_type="application/json", body=json.dumps(problem))

    if screen.answers:
        page.route(ANSWERS, answer)
    path = screen.path.format(t=topology)
    page.goto(
        f"{address}{path}" if path.startswith("/") else f"{address}/w/main/{path}".rstrip("/")
    )
    if screen.answers == "fail":
        page.get_by_role("alert").first.wait_for()
    elif screen.answers == "hold":
        page.locator(LOADING).first.wait_for()
    else:
        place = ".react-flow__node" if "/t/" in page.url else "main"
        page.locator(place).first.wait_for()
    _settle(page, screen)
    if screen.do is not None:
        screen.do(page)
        _settle(page, screen)
    yield
    if screen.answers:
        for route in held:
            route.abort()
        page.unroute(ANSWERS, answer)
    page.evaluate("localStorage.removeItem('millrace.view')")
    if "/t/" in page.url and not screen.answers:
        # A change that is not yet saved would be saved after the draft is deleted.
        expect(page.locator("[data-draft=saving], [data-draft=pending]")).to_have_count(
            0, timeout=15_000
        )
        page.request.delete(
            f"{address}/api/topologies/{topology}/draft",
            headers={"X-CSRFToken": _token(page), "Referer": address},
        )


def _settle(page: Page, screen: Screen) -> None:
    """Wait until nothing is loading, unless the screen is about that."""
    page.wait_for_timeout(SETTLED)
    if screen.answers != "hold":
        expect(page.locator(LOADING)).to_have_count(0, timeout=15_000)


def _token(page: Page) -> str:
    cookies = {each.get("name"): each.get("value") for each in page.context.cookies()}
    return cookies.get("csrftoken") or ""


def main(arguments: list[str]) -> int:
    """Write the pictures; return 1 if a screen could not be opened."""
    parser = commands.parser("screens")
    parser.add_argument("link", help="the sign-in link that ./millrace up prints")
    parser.add_argument(
        "-o", "--out", type=Path, default=places.REPOSITORY / "test-results/screens"
    )
    parser.add_argument("--only", action="append", help="the name of a screen; may be repeated")
    parser.add_argument("--width", type=int, action="append", choices=sorted(WIDTHS))
    parser.add_argument("--language", action="append", choices=LANGUAGES)
    parser.add_argument("--theme", action="append", choices=THEMES)
    options = parser.parse_args(arguments[1:])
    unknown = sorted(set(options.only or ()) - {screen.name for screen in SCREENS})
    if unknown:
        names = ", ".join(screen.name for screen in SCREENS)
        raise Problem(f"There is no screen {unknown[0]!r}. There are: {names}.")
    program, reason = chromium.ensure()
    if program is None:
        raise Problem(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        return 1 if _write(browser, options) else 0


def _write(browser: Browser, options: Any) -> list[str]:
    """Write the pictures that the options ask for; return the screens that could not be opened."""
    parts = urlsplit(options.link)
    address = f"{parts.scheme}://{parts.netloc}"
    first = browser.new_page()
    first.goto(options.link)
    first.wait_for_url("**/w/main**")
    topology = a_topology(first, address)
    state = first.context.storage_state()
    failed = []
    for language in options.language or LANGUAGES:
        context = browser.new_context(storage_state=state, locale="en-GB")
        context.add_init_script(f"localStorage.setItem('millrace.language', '{language}')")
        # The tour of the sample would cover what is photographed.
        context.add_init_script("localStorage.setItem('millrace.tour', 'done')")
        page = context.new_page()
        page.set_default_timeout(15_000)
        for width in options.width or WIDTHS:
            page.set_viewport_size(ViewportSize(width=width, height=WIDTHS[width]))
            for screen in SCREENS:
                if width < screen.least or screen.name not in (options.only or [screen.name]):
                    continue
                name = f"{screen.name}-{language}-{width}"
                try:
                    with opened(page, address, screen, topology):
                        for theme in options.theme or THEMES:
                            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
                            page.wait_for_timeout(100)
                            page.screenshot(path=options.out / f"{name}-{theme}.png")
                except PlaywrightError as error:
                    failed.append(name)
                    echo(f"screens: {name}: {str(error).splitlines()[0]}")
        context.close()
    return failed
