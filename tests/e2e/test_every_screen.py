"""Every screen of the page, in a language and both themes, as axe-core sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, StorageState

from checks import screens
from checks.screen_topologies import Topologies, the_topologies
from launcher import places
from tests.e2e.system import System

pytestmark = [
    pytest.mark.browser,
    pytest.mark.kafka,
    pytest.mark.spark,
    pytest.mark.long,
]

AXE = places.REPOSITORY / "node_modules" / "axe-core" / "axe.min.js"
#: all rules in the first theme; of the second, the one that a theme can break
RULES: dict[str, dict[str, Any]] = {
    # Menus are drawn at the end of the body, beside the landmarks.
    "light": {"resultTypes": ["violations"], "rules": {"region": {"enabled": False}}},
    "dark": {
        "resultTypes": ["violations"],
        "runOnly": {"type": "rule", "values": ["color-contrast"]},
    },
}
#: those that need no running deployment
SCREENS = [screen for screen in screens.SCREENS if not screen.running]


@pytest.fixture(scope="module", params=screens.LANGUAGES)
def visitor(
    system: System, browser: Browser, session: StorageState, request: pytest.FixtureRequest
) -> Iterator[tuple[str, Page, Topologies]]:
    """A page in a language that all screens share, and topologies."""
    language = str(request.param)
    context = browser.new_context(
        viewport={"width": 1280, "height": 720},
        locale="en-GB",
        storage_state=session,
        reduced_motion="reduce",
    )
    context.add_init_script(f"localStorage.setItem('millrace.language', '{language}')")
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.goto(f"{system.address}/w/main")
    yield language, page, the_topologies(page)
    context.close()


def test_axe_finds_nothing_on_any_screen(
    system: System, visitor: tuple[str, Page, Topologies]
) -> None:
    """Screens alternate between the languages, so that each is examined once."""
    language, page, topologies = visitor
    script = AXE.read_text()
    found: dict[str, list[str]] = {}
    for screen in SCREENS[screens.LANGUAGES.index(language) :: len(screens.LANGUAGES)]:
        with screens.opened(page, system.address, screen, topologies):
            page.evaluate(script)
            for theme in screens.THEMES:
                page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
                violations = examine(page, RULES[theme])
                if violations:
                    found[f"{screen.name}, {theme}"] = violations
    assert found == {}, json.dumps(found, indent=1, ensure_ascii=False)


def examine(page: Page, options: dict[str, Any]) -> list[str]:
    """The rules of axe-core that the page breaks, each with the places."""
    result = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in result["violations"]
        for node in each["nodes"][:3]
    ]
