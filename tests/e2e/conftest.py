"""One running system for all journeys, and a browser signed in to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    StorageState,
    expect,
)

from tests.conftest import unused_port
from tests.e2e.system import System, running_system

#: milliseconds for which a test waits where it names no time of its own
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A running Millrace with an empty workspace."""
    with running_system(tmp_path_factory.mktemp("millrace"), unused_port()) as found:
        yield found


@pytest.fixture(scope="session")
def session(system: System, browser: Browser) -> StorageState:
    """The browser state after the one-time link was opened: a session cookie."""
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(system.link)
    page.wait_for_url("**/w/main", timeout=30_000)
    found = context.storage_state()
    # The tour is shown once in each browser, over what a test looks at.
    found["origins"] = [
        {
            "origin": system.address,
            "localStorage": [{"name": "millrace.tour", "value": "done"}],
        }
    ]
    context.close()
    return found


@pytest.fixture
def signed_in(browser: Browser, session: StorageState) -> Iterator[BrowserContext]:
    """A signed-in browser without a layout saved by an earlier test."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900},
        locale="en-GB",
        accept_downloads=True,
        storage_state=session,
        # What moves for ever is painted for ever, here by the processor.
        reduced_motion="reduce",
    )
    yield context
    context.close()


@pytest.fixture
def page(
    system: System, signed_in: BrowserContext, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """A page at the list of topologies; errors and warnings in its console fail the test."""
    found = signed_in.new_page()
    found.set_default_timeout(PATIENCE)
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(f"{message.type}: {message.text} {message.location['url']}")

    found.on("console", note)
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.goto(f"{system.address}/w/main")
    yield found
    found.screenshot(path=tmp_path / f"{request.node.name}.png")
    found.close()
    assert complaints == []
