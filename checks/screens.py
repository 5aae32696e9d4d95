"""``./millrace screens``: pictures of every screen of the page, from a running system.

`SCREENS` lists the screens and their states. `tests/e2e/test_every_screen.py` opens the same ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
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
THINGS = (
    "Orders", "Refunds", "Payments", "Shipments", "Visits",
    "Invoices", "Returns", "Baskets", "Reviews", "Coupons",
)  # fmt: skip
ANSWERS = "**/api/**"
TOPOLOGIES = "/api/workspaces/main/topologies"
SIGNED_OUT: dict[str, Any] = {
    "user": None, "workspaces": [], "has_password": False, "installation_admin": False,
}  # fmt: skip
NOTE = "## Revenue\nUSD, *gross*; see **Refunds**"
REFUSED = {"error": {"code": "invalid", "message": "The server refused this request."}}
#: a schedule whose last time had no effect
MISSED: dict[str, Any] = {
    "times": [{"days": [1, 2, 3, 4, 5], "start": "08:00", "stop": "18:00"}],
    "zone": "Europe/Berlin", "set_by": "Ada", "next_at": "2035-01-05T17:00:00Z",
    "next_action": "stop", "deviates": True, "last_at": "2026-01-05T17:00:00Z",
    "last_action": "stop",
    "failure": {
        "code": "schedule_without_author",
        "message": "The account that set the schedule was deleted.",
        "hint": "Set the schedule again.", "facts": {},
    },
}  # fmt: skip
#: an answer of a search for a difference
DIFFERENCE: dict[str, Any] = {
    "line": "**Different results**", "inputs": 12_431, "seconds": 20.0, "nodes": 12,
    "branches": 31, "covered": 30, "missed": {"old": ["Late orders"], "new": ["Late orders"]},
    "only_old": [], "only_new": ["alarms"],
}  # fmt: skip
_HOUR = {"key": "books", "window": {"start": 0, "end": 3_600_000}}
FOUND: dict[str, Any] = {
    "inputs": [
        {"topic": "orders", "key": "a", "timestamp": 0,
         "value": {"item": "books", "quantity": 3, "amount": 29.95, "country": "CH"}},
        {"advance_wall_clock": 60_000},
        {"topic": "orders", "key": "a", "timestamp": 3_600_000, "value": None},
    ],
    "topics": ["orders-per-hour"],
    "old": [
        {"after": 1, "topic": "orders-per-hour", "key": _HOUR, "value": 3, "timestamp": 0},
    ],
    "new": [
        {"after": 1, "topic": "orders-per-hour", "key": _HOUR, "value": 1, "timestamp": 0},
    ],
    "old_stopped": 3,
    "new_stopped": None,
}  # fmt: skip


@dataclass(frozen=True)
class Screen:
    """A state of the page: an address, and what is done there."""

    name: str
    #: below the address of the workspace; `{t}`, `{empty}`, … are those of `Topologies`
    path: str
    do: Callable[[Page], None] | None = None
    #: what happens to requests of the API: "hold" (the page shows that it loads), "fail", "none"
    #: (all lists are empty) or "nobody" (no user is signed in)
    answers: str = ""
    #: whether a deployment has to run
    running: bool = False
    #: the smallest width at which it exists
    least: int = 0

    def exists(self, topologies: Topologies) -> bool:
        """Return whether there is the topology that it shows."""
        return "{failed}" not in self.path or topologies.failed is not None


@dataclass(frozen=True)
class Topologies:
    """Ids of topologies."""

    #: with nodes; its deployment runs, if there is such a one
    t: int
    empty: int
    #: of eighty nodes
    large: int
    #: whose deployment has failed, if there is one
    failed: int | None


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


def _edge(page: Page) -> None:
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


def _find(page: Page) -> None:
    page.keyboard.press("ControlOrMeta+F")
    page.keyboard.type("o")


def _command(page: Page) -> None:
    page.keyboard.press("ControlOrMeta+K")
    page.keyboard.type("wind")


def _run(english: str, chinese: str) -> Callable[[Page], None]:
    """Run the first command that the words find."""

    def run(page: Page) -> None:
        language = page.locator("html").get_attribute("lang")
        page.keyboard.press("ControlOrMeta+K")
        page.keyboard.insert_text(chinese if language == "zh-CN" else english)
        page.keyboard.press("Enter")

    return run


def _tour(page: Page) -> None:
    _run("tour", "导览")(page)
    page.get_by_test_id("tour").wait_for()


def _drawing(page: Page) -> None:
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.press("ControlOrMeta+G")
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+N")
    page.locator("textarea:focus").wait_for()
    page.keyboard.type(NOTE)
    page.keyboard.press("Escape")


def _garbage(page: Page) -> None:
    """Type a line into the program that does not end."""
    editor = page.get_by_test_id("program").locator(".cm-content")
    editor.click()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.insert_text("\nbuilder.stream(")
    page.wait_for_timeout(1_500)


def _simulate(page: Page) -> None:
    """Run the simulation on its records, or on the first that are typed."""
    page.locator("#bottom-simulate").click()
    page.get_by_test_id("simulate").wait_for()
    if page.get_by_test_id("simulate-run").is_disabled():
        page.get_by_test_id("add-inputs").click()
        page.get_by_role("menu").get_by_role("menuitem").first.click()
    page.get_by_test_id("simulate-run").click()
    page.get_by_test_id("simulation-summary").wait_for(timeout=60_000)


def _compare(what: str) -> Callable[[Page], None]:
    """Compare the oldest version with the canvas, on which a node was added."""

    def compare(page: Page) -> None:
        _add("filter")(page)
        _left("left-versions")(page)
        page.locator("[data-testid^=version-] button").last.click()
        page.get_by_role("menuitem").nth(1).click()
        page.get_by_test_id("compare-canvas").wait_for()
        if what != "canvas":
            page.locator(f"[data-segment={what}]").click()

    return compare


def _differ(what: str) -> Callable[[Page], None]:
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
        _compare("canvas")(page)
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


def _schedule(what: str) -> Callable[[Page], None]:
    """Set a schedule, which is "refused", or "missed" its last time."""

    def answer(route: Route) -> None:
        if what == "refused":
            route.fulfill(status=400, json=REFUSED)
            return
        found = route.fetch(url=route.request.url.removesuffix("/schedule"), method="GET")
        route.fulfill(json={**found.json(), "schedule": MISSED})

    def schedule(page: Page) -> None:
        _all(_click("deployment-pill"), _click("more-actions"), _click("schedule-open"))(page)
        page.route("**/schedule", answer, times=1)
        page.get_by_test_id("schedule-save").click()
        if what == "refused":
            page.get_by_test_id("schedule").locator("[data-tone=failed]").wait_for()
        else:
            page.get_by_test_id("deployment-pill").click()
            page.get_by_test_id("schedule-line").wait_for()

    return schedule


def _add(kind: str) -> Callable[[Page], None]:
    """Add a node of a kind, which then lacks what it needs."""

    def add(page: Page) -> None:
        page.keyboard.press("n")
        page.get_by_role("combobox").last.wait_for()
        page.keyboard.insert_text(kind)
        page.keyboard.press("Enter")
        page.wait_for_timeout(600)

    return add


def _menu(index: int) -> Callable[[Page], None]:
    """Choose from the menu of the first topology."""

    def choose(page: Page) -> None:
        page.locator("main table").get_by_role("button").last.click()
        page.get_by_role("menuitem").nth(index).click()

    return choose


TOPOLOGY = "t/{t}"
EMPTY = "t/{empty}"
LARGE = "t/{large}"
FAILED = "t/{failed}"

SCREENS = (
    Screen("topologies", ""),
    Screen("topologies-loading", "", answers="hold"),
    Screen("topologies-failed", "", answers="fail"),
    Screen("topologies-none", "?q=nothing-has-this-name"),
    Screen("topologies-empty", "", answers="none"),
    Screen("delete-topology", "", _menu(-1)),
    Screen("sign-in", "/sign-in", answers="nobody"),
    Screen("sign-in-link-failed", "/sign-in/used", answers="nobody"),
    Screen("new-topology", "", _click("new-topology")),
    Screen("learn", "", _click("learn")),
    Screen("user-menu", "", _click("user-menu")),
    Screen("topics", "topics"),
    Screen("topics-loading", "topics", answers="hold"),
    Screen("topics-failed", "topics", answers="fail"),
    Screen("topics-none", "topics?q=nothing-has-this-name"),
    Screen("topic-failed", "topics/nothing-has-this-name"),
    Screen("new-topic", "topics", _click("new-topic")),
    Screen(
        "topic", "topics", lambda page: page.locator("main table a").first.click(), running=True
    ),
    Screen("alerts", "alerts"),
    Screen("alerts-empty", "alerts", answers="none"),
    Screen("alerts-failed", "alerts", answers="fail"),
    Screen("new-rule", "alerts", _click("new-rule")),
    Screen("settings", "settings"),
    Screen("settings-failed", "settings", answers="fail"),
    Screen("installation", "/installation"),
    Screen("installation-failed", "/installation", answers="fail"),
    Screen("not-found", "/nowhere"),
    Screen("designer", TOPOLOGY),
    Screen("designer-loading", TOPOLOGY, answers="hold"),
    Screen("designer-failed", TOPOLOGY, answers="fail"),
    Screen("node", TOPOLOGY, _node),
    Screen("empty-canvas", EMPTY),
    Screen("empty-simulate", EMPTY, _tab("bottom-simulate")),
    Screen("empty-code", EMPTY, _tab("bottom-code")),
    Screen("empty-plan", EMPTY, _tab("bottom-plan")),
    Screen("empty-charts", EMPTY, _tab("bottom-charts")),
    Screen("empty-runs", EMPTY, _tab("bottom-runs")),
    Screen("empty-comments", EMPTY, _tab("bottom-comments")),
    Screen("empty-versions", EMPTY, _left("left-versions")),
    Screen("large", LARGE),
    Screen("large-problems", LARGE, _all(_add("filter"), _tab("bottom-problems"))),
    Screen("large-plan", LARGE, _all(_segment("plan"), _tab("bottom-plan"))),
    Screen("large-find", LARGE, _find),
    Screen("failed", FAILED, running=True),
    Screen("failed-deployment", FAILED, _click("deployment-pill"), running=True),
    Screen("failed-logs", FAILED, _tab("bottom-logs"), running=True),
    Screen("failed-runs", FAILED, _tab("bottom-runs"), running=True),
    Screen("program", TOPOLOGY, _keys("e")),
    Screen("program-wrong", TOPOLOGY, _all(_keys("e"), _garbage), least=820),
    Screen("new-node", TOPOLOGY, _add("filter")),
    Screen("save", TOPOLOGY, _all(_add("filter"), _keys("ControlOrMeta+s"))),
    Screen("compare", TOPOLOGY, _compare("canvas")),
    Screen("compare-state", TOPOLOGY, _compare("state")),
    Screen("compare-code", TOPOLOGY, _compare("code")),
    Screen("differing", TOPOLOGY, _differ("found")),
    Screen("differing-none", TOPOLOGY, _differ("none")),
    Screen("differing-failed", TOPOLOGY, _differ("failed")),
    Screen("differing-searching", TOPOLOGY, _differ("hold")),
    Screen("differing-canceled", TOPOLOGY, _differ("canceled")),
    Screen("comments", TOPOLOGY, _all(_node, _tab("bottom-comments"))),
    Screen("simulated", TOPOLOGY, _simulate, running=True),
    Screen("pin", TOPOLOGY, _all(_edge, _keys("p"))),
    Screen("edge", TOPOLOGY, _edge),
    Screen("fragment", TOPOLOGY, _all(_node, _run("Make a fragment", "制作片段"))),
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
    Screen(
        "schedule",
        TOPOLOGY,
        _all(_click("deployment-pill"), _click("more-actions"), _click("schedule-open")),
        running=True,
    ),
    Screen("schedule-refused", TOPOLOGY, _schedule("refused"), running=True),
    Screen("schedule-missed", TOPOLOGY, _schedule("missed"), running=True),
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


def the_topologies(page: Page) -> Topologies:
    """Return topologies of the workspace, and make those that it lacks."""
    found = _api(page, "GET", TOPOLOGIES)["results"]
    made = {each["name"]: int(each["id"]) for each in found if each["name"].startswith(NAME)}

    def make(name: str, document: dict[str, Any]) -> int:
        body = {"name": name, "document": {**document, "name": name}}
        return made.get(name) or int(_api(page, "POST", TOPOLOGIES, body)["id"])

    def observed(each: dict[str, Any]) -> str | None:
        state = (each["deployment"] or {}).get("observed")
        return None if state is None else str(state)

    full = [each for each in found if each["node_count"] > 2 and each["id"] not in made.values()]
    running = [each for each in full if observed(each) == "running"]
    failed = [each for each in found if observed(each) == "failed"]
    template = _api(page, "GET", "/api/templates")[0]["document"]
    first = int((running or full)[0]["id"]) if full else make(NAME, template)
    empty = {"format": template["format"], "nodes": [], "edges": []}
    return Topologies(
        t=first,
        empty=make(f"{NAME}, empty", empty),
        large=make(f"{NAME}, large", _large()),
        failed=int(failed[0]["id"]) if failed else None,
    )


def _large() -> dict[str, Any]:
    """Return a document of ten lanes with eight nodes each."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, str]] = []
    groups: list[dict[str, Any]] = []
    for lane, thing in enumerate(THINGS):
        parts: list[tuple[str, str, dict[str, Any]]] = [
            ("source.stream", f"{thing} received", {
                "topics": [f"{thing.lower()}-received"], "key": {"format": "string"},
                "value": {"format": "json", "schema": "country STRING, amount DOUBLE, at BIGINT"},
            }),
            ("filter", "With an amount", {"predicate": "value.amount > 0"}),
            ("map_values", "Rounded", {
                "value": "named_struct('country', value.country, 'amount', round(value.amount, 2))"
            }),
            ("count", "Number per country", {
                "group_by": {"key": "value.country"},
                "window": {"type": "tumbling", "size": "1 hour", "grace": "10 minutes"},
            }),
            ("to_stream", "Updates", {}),
            ("map", "One row per country and hour", {
                "key": "key.key",
                "value": "named_struct('country', key.key, 'hour', key.window.start, 'n', value)",
            }),
            ("filter", "More than one", {"predicate": "value.n > 1"}),
            ("sink.topic", f"{thing} per hour", {"topic": f"{thing.lower()}-per-hour"}),
        ]  # fmt: skip
        ids = [f"{thing.lower()}_{number}" for number in range(len(parts))]
        for number, (kind, label, params) in enumerate(parts):
            position = {"x": 280 * number, "y": 140 * lane}
            node = {"id": ids[number], "kind": kind, "label": label, "params": params}
            nodes.append({**node, "position": position})
        edges += [{"source": one, "target": two} for one, two in itertools.pairwise(ids)]
        if lane % 3 == 0:
            groups.append({"id": f"g{lane}", "title": f"{thing}, cleaned", "nodes": ids[1:3]})
    drawing = {"groups": groups}
    return {"format": "millrace.topology/1", "nodes": nodes, "edges": edges, "drawing": drawing}


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
def opened(page: Page, address: str, screen: Screen, topologies: Topologies) -> Iterator[None]:
    """Open a screen. Afterwards, the page's draft and layout are as before."""
    held: list[Route] = []

    def answer(route: Route) -> None:
        if screen.answers == "nobody" and route.request.url.endswith("/session"):
            route.fulfill(json=SIGNED_OUT)
        elif "/session" in route.request.url or screen.answers == "nobody":
            route.continue_()
        elif screen.answers == "none":
            _without_rows(route)
        elif screen.answers == "hold":
            held.append(route)
        else:
            route.fulfill(status=400, json=REFUSED)

    if screen.answers:
        page.route(ANSWERS, answer)
    path = screen.path.format(**asdict(topologies))
    page.goto(
        f"{address}{path}" if path.startswith("/") else f"{address}/w/main/{path}".rstrip("/")
    )
    if screen.answers == "fail":
        page.get_by_role("alert").first.wait_for()
    elif screen.answers == "hold":
        page.locator(LOADING).first.wait_for()
    else:
        drawn = "{t}" in screen.path or "{large}" in screen.path
        place = ".react-flow__node" if drawn else "main"
        page.locator(place).first.wait_for()
    _settle(page, screen)
    if screen.do is not None:
        screen.do(page)
        _settle(page, screen)
    yield
    if screen.answers:
        for route in held:
            route.abort()
        # An answer may still be on its way.
        page.unroute_all(behavior="ignoreErrors")
    page.evaluate("localStorage.removeItem('millrace.view')")
    if "/t/" in page.url and not screen.answers:
        # A change that is not yet saved would be saved after the draft is deleted.
        expect(page.locator("[data-draft=saving], [data-draft=pending]")).to_have_count(
            0, timeout=15_000
        )
        page.request.delete(
            f"{address}/api/topologies/{page.url.split('/t/')[1].split('?')[0]}/draft",
            headers={"X-CSRFToken": _token(page), "Referer": address},
        )


def _without_rows(route: Route) -> None:
    """Answer as the server does, but without the rows of a list."""
    if "/live" in route.request.url:
        route.continue_()
        return
    answer = route.fetch()
    body = answer.json() if answer.ok else None
    if isinstance(body, dict) and "results" in body:
        body.update(results=[], count=0)
        route.fulfill(response=answer, json=body)
    else:
        route.fulfill(response=answer)


def _settle(page: Page, screen: Screen) -> None:
    """Wait until nothing is loading, unless the screen is about that."""
    # What loads is invisible for a moment.
    page.wait_for_timeout(SETTLED * 2 if screen.answers == "hold" else SETTLED)
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
    topologies = the_topologies(first)
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
                asked = screen.name in (options.only or [screen.name])
                if width < screen.least or not asked or not screen.exists(topologies):
                    continue
                name = f"{screen.name}-{language}-{width}"
                try:
                    with opened(page, address, screen, topologies):
                        for theme in options.theme or THEMES:
                            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
                            page.wait_for_timeout(100)
                            file = options.out / f"{name}-{theme}.png"
                            # The colors of the other theme would still be fading.
                            page.screenshot(path=file, animations="disabled")
                except PlaywrightError as error:
                    failed.append(name)
                    echo(f"screens: {name}: {str(error).splitlines()[0]}")
        context.close()
    return failed
