"""``./millrace screens``: pictures of every screen of the page, from a running system.

`SCREENS` lists the screens and their states. `tests/e2e/test_every_screen.py` opens the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Route, ViewportSize, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from checks import chromium
from checks import screen_actions as do
from checks import screen_answers as given
from checks.screen_topologies import Topologies, the_topologies
from launcher import commands, places
from launcher.console import Problem, echo

WIDTHS = {390: 844, 820: 1180, 1024: 768, 1280: 720, 1920: 1080}
LANGUAGES = ("en", "zh")
THEMES = ("light", "dark")
#: milliseconds for what a screen loads after it is shown
SETTLED = 350
#: what is shown while something loads
LOADING = "[data-loading]:not(button), [role=status] .mantine-Loader-root"
ANSWERS = "**/api/**"
SIGNED_OUT: dict[str, Any] = {
    "user": None, "workspaces": [], "has_password": False, "installation_admin": False,
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
    #: prepared answers to GET requests and plans, by the end of their path
    given: Mapping[str, Any] = field(default_factory=dict)
    #: whether a deployment has to run
    running: bool = False
    #: the smallest width at which it exists
    least: int = 0

    def exists(self, topologies: Topologies) -> bool:
        """Return whether there is the topology that it shows."""
        return "{failed}" not in self.path or topologies.failed is not None


TOPOLOGY = "t/{t}"
EMPTY = "t/{empty}"
PARTS = "t/{parts}"
LARGE = "t/{large}"
FAILED = "t/{failed}"

SCREENS = (
    Screen("topologies", ""),
    Screen("topologies-loading", "", answers="hold"),
    Screen("topologies-failed", "", answers="fail"),
    Screen("topologies-none", "?q=nothing-has-this-name"),
    Screen("topologies-empty", "", answers="none"),
    Screen("delete-topology", "", do.menu(-1)),
    Screen("sign-in", "/sign-in", answers="nobody"),
    Screen("sign-in-link-failed", "/sign-in/used", answers="nobody"),
    Screen("new-topology", "", do.click("new-topology")),
    Screen("learn", "", do.click("learn")),
    Screen("user-menu", "", do.click("user-menu")),
    Screen("topics", "topics"),
    Screen("topics-loading", "topics", answers="hold"),
    Screen("topics-failed", "topics", answers="fail"),
    Screen("topics-none", "topics?q=nothing-has-this-name"),
    Screen("topic-failed", "topics/nothing-has-this-name"),
    Screen("new-topic", "topics", do.click("new-topic")),
    Screen("topic", "topics", do.topic("h1"), running=True),
    Screen("topic-record", "topics", do.topic("[data-testid=records] tbody tr"), running=True),
    Screen("topic-partitions", "topics", do.topic("#topic-partitions"), running=True),
    Screen("topic-groups", "topics", do.topic("#topic-groups"), running=True),
    Screen("produce", "topics", do.topic("[data-testid=produce]"), running=True),
    Screen("generate", "topics", do.topic("[data-testid=generate]"), running=True),
    Screen("delete-topic", "topics", do.topic("[data-testid=delete-topic]"), running=True),
    Screen("alerts", "alerts"),
    Screen("alerts-empty", "alerts", answers="none"),
    Screen("alerts-failed", "alerts", answers="fail"),
    Screen("alerts-firing", "alerts", given=given.ALERTS),
    Screen("delete-rule", "alerts", do.click("delete-rule"), given=given.ALERTS),
    Screen("new-rule", "alerts", do.click("new-rule")),
    Screen("settings", "settings"),
    Screen("settings-failed", "settings", answers="fail"),
    Screen("settings-audit", "settings", do.show("audit")),
    Screen("settings-password", "settings", do.show("password-form")),
    Screen("repository", "settings", do.show("repository"), given=given.REPOSITORY),
    Screen(
        "repository-conflict",
        "settings",
        do.first("[data-testid=outside-changes] button"),
        given=given.REPOSITORY,
    ),
    Screen("installation", "/installation"),
    Screen("installation-failed", "/installation", answers="fail"),
    Screen("new-workspace", "/installation", do.click("create-workspace")),
    Screen("new-version", "", do.outdate),
    Screen("not-found", "/nowhere"),
    Screen("designer", TOPOLOGY),
    Screen("designer-loading", TOPOLOGY, answers="hold"),
    Screen("designer-failed", TOPOLOGY, answers="fail"),
    Screen("node", TOPOLOGY, do.choose_node),
    Screen("empty-canvas", EMPTY),
    Screen("empty-simulate", EMPTY, do.tab("bottom-simulate")),
    Screen("empty-code", EMPTY, do.tab("bottom-code")),
    Screen("empty-plan", EMPTY, do.tab("bottom-plan")),
    Screen("empty-charts", EMPTY, do.tab("bottom-charts")),
    Screen("empty-runs", EMPTY, do.tab("bottom-runs")),
    Screen("empty-comments", EMPTY, do.tab("bottom-comments")),
    Screen("empty-versions", EMPTY, do.left("left-versions")),
    Screen("large", LARGE),
    Screen("large-problems", LARGE, do.all_of(do.add("filter"), do.tab("bottom-problems"))),
    Screen("large-plan", LARGE, do.all_of(do.segment("plan"), do.tab("bottom-plan"))),
    Screen("large-find", LARGE, do.find),
    Screen("large-missing-topics", LARGE, do.click("deploy"), given=given.MISSING),
    Screen("parts", PARTS),
    Screen("fragment-node", PARTS, do.choose_fragment),
    Screen("fragment-opened", PARTS, do.all_of(do.choose_fragment, do.click("open-in-place"))),
    Screen("parameters", PARTS, do.run("Parameters and", "参数与环境")),
    Screen("failed", FAILED, running=True),
    Screen("failed-deployment", FAILED, do.click("deployment-pill"), running=True),
    Screen(
        "start-from",
        FAILED,
        do.all_of(do.click("deployment-pill"), do.click("start-from")),
        running=True,
    ),
    Screen(
        "start-plan",
        FAILED,
        do.all_of(do.click("deployment-pill"), do.click("start-from"), do.click("start-plan")),
        given=given.PLAN,
        running=True,
    ),
    Screen(
        "delete-deployment",
        FAILED,
        do.all_of(
            do.click("deployment-pill"), do.click("more-actions"), do.click("delete-deployment")
        ),
        running=True,
    ),
    Screen("failed-logs", FAILED, do.tab("bottom-logs"), running=True),
    Screen("failed-runs", FAILED, do.tab("bottom-runs"), running=True),
    Screen("program", TOPOLOGY, do.press("e")),
    Screen("program-wrong", TOPOLOGY, do.all_of(do.press("e"), do.break_program), least=820),
    Screen("new-node", TOPOLOGY, do.add("filter")),
    Screen("save", TOPOLOGY, do.all_of(do.add("filter"), do.press("ControlOrMeta+s"))),
    Screen("conflict", TOPOLOGY, do.conflict),
    Screen("disconnected", TOPOLOGY, do.disconnect),
    Screen("compare", TOPOLOGY, do.compare("canvas")),
    Screen("compare-state", TOPOLOGY, do.compare("state")),
    Screen("compare-code", TOPOLOGY, do.compare("code")),
    Screen("differing", TOPOLOGY, do.differ("found")),
    Screen("differing-none", TOPOLOGY, do.differ("none")),
    Screen("differing-failed", TOPOLOGY, do.differ("failed")),
    Screen("differing-searching", TOPOLOGY, do.differ("hold")),
    Screen("differing-canceled", TOPOLOGY, do.differ("canceled")),
    Screen("comments", TOPOLOGY, do.all_of(do.choose_node, do.tab("bottom-comments"))),
    Screen("simulated", TOPOLOGY, do.simulate, running=True),
    Screen("simulated-steps", TOPOLOGY, do.all_of(do.simulate, do.segment("steps")), running=True),
    Screen("simulated-path", TOPOLOGY, do.all_of(do.simulate, do.segment("way")), running=True),
    Screen("simulated-log", TOPOLOGY, do.all_of(do.simulate, do.segment("log")), running=True),
    Screen(
        "keep-test",
        TOPOLOGY,
        do.all_of(do.simulate, do.segment("results"), do.keep_test),
        running=True,
    ),
    Screen("tests", TOPOLOGY, do.all_of(do.tab("bottom-simulate"), do.segment("tests"))),
    Screen("plain", TOPOLOGY, do.all_of(do.tab("bottom-simulate"), do.segment("plain"))),
    Screen("pin", TOPOLOGY, do.all_of(do.choose_edge, do.press("p"))),
    Screen("edge", TOPOLOGY, do.choose_edge),
    Screen("fragment", TOPOLOGY, do.all_of(do.choose_node, do.run("Make a fragment", "制作片段"))),
    Screen("outline", TOPOLOGY, do.left("left-outline")),
    Screen("versions", TOPOLOGY, do.left("left-versions")),
    Screen("problems", TOPOLOGY, do.tab("bottom-problems")),
    Screen("simulate", TOPOLOGY, do.tab("bottom-simulate")),
    Screen("code", TOPOLOGY, do.tab("bottom-code")),
    Screen("plan", TOPOLOGY, do.all_of(do.segment("plan"), do.tab("bottom-plan"))),
    Screen("assignment", TOPOLOGY, do.tab("bottom-assignment"), running=True),
    Screen(
        "assignment-history",
        TOPOLOGY,
        do.all_of(do.tab("bottom-assignment"), do.segment("history")),
        running=True,
    ),
    Screen("charts", TOPOLOGY, do.tab("bottom-charts"), running=True),
    Screen("records", TOPOLOGY, do.tab("bottom-records"), running=True),
    Screen(
        "records-of-edge",
        TOPOLOGY,
        do.all_of(do.choose_edge, do.tab("bottom-records")),
        running=True,
    ),
    Screen("state", TOPOLOGY, do.tab("bottom-state"), running=True),
    Screen("logs", TOPOLOGY, do.tab("bottom-logs"), running=True),
    Screen("runs", TOPOLOGY, do.tab("bottom-runs")),
    Screen("live-node", TOPOLOGY, do.all_of(do.segment("runtime"), do.choose_node), running=True),
    Screen("deployment", TOPOLOGY, do.click("deployment-pill"), running=True),
    Screen(
        "schedule",
        TOPOLOGY,
        do.all_of(do.click("deployment-pill"), do.click("more-actions"), do.click("schedule-open")),
        running=True,
    ),
    Screen(
        "scale",
        TOPOLOGY,
        do.all_of(do.click("deployment-pill"), do.click("more-actions"), do.click("scale-open")),
        running=True,
    ),
    Screen(
        "shadow",
        TOPOLOGY,
        do.all_of(do.click("deployment-pill"), do.click("more-actions"), do.click("shadow-open")),
        running=True,
    ),
    Screen("schedule-refused", TOPOLOGY, do.schedule("refused"), running=True),
    Screen("schedule-missed", TOPOLOGY, do.schedule("missed"), running=True),
    Screen("deploy-options", TOPOLOGY, do.click("deploy-options")),
    Screen("import", TOPOLOGY, do.all_of(do.left("left-versions"), do.click("import"))),
    Screen("find", TOPOLOGY, do.find),
    Screen("legend", TOPOLOGY, do.all_of(do.segment("runtime"), do.click("legend-button"))),
    Screen(
        "simulation-options",
        TOPOLOGY,
        do.all_of(do.tab("bottom-simulate"), do.click("simulation-options")),
    ),
    Screen("commands", TOPOLOGY, do.find_command),
    Screen("tour", TOPOLOGY, do.tour),
    Screen("shortcuts", TOPOLOGY, do.press("?")),
    Screen("help", TOPOLOGY, do.press("F1")),
    Screen("add-node", TOPOLOGY, do.press("N")),
    Screen("double", TOPOLOGY, do.all_of(do.choose_node, do.press("Shift+D"))),
    Screen("groups-and-notes", TOPOLOGY, do.draw, least=820),
)


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
            route.fulfill(status=400, json=given.REFUSED)

    if screen.answers:
        page.route(ANSWERS, answer)
    for end, body in screen.given.items():
        page.route(_ending(end), _giving(body))
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
    page.context.set_offline(False)
    for route in held:
        route.abort()
    if screen.answers or screen.given:
        # An answer may still be on its way.
        page.unroute_all(behavior="ignoreErrors")
    page.evaluate("localStorage.removeItem('millrace.view')")
    if "/t/" in page.url and not screen.answers:
        # A change that is not yet saved would be saved after the draft is deleted.
        unsaved = ", ".join(f"[data-draft={state}]" for state in ("saving", "pending", "failed"))
        expect(page.locator(unsaved)).to_have_count(0, timeout=45_000)
        page.request.delete(
            f"{address}/api/topologies/{page.url.split('/t/')[1].split('?')[0]}/draft",
            headers={"X-CSRFToken": _token(page), "Referer": address},
        )


def _ending(end: str) -> Callable[[str], bool]:
    """Whether an address is that of an operation with this end, whatever its query."""

    def ends(address: str) -> bool:
        path = urlsplit(address).path
        return path.startswith("/api/") and path.endswith(end)

    return ends


def _giving(body: Any) -> Callable[[Route], None]:
    return lambda route: route.fulfill(json=body)


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
                except (PlaywrightError, AssertionError) as error:
                    failed.append(name)
                    echo(f"screens: {name}: {str(error).splitlines()[0]}")
        context.close()
    return failed
