"""The page is built again while it is open: it stays as it is, and offers to reload."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from bench._page_server import BUILT, page_server

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATIENCE = 60_000


def test_a_page_whose_parts_are_gone_stays_and_offers_to_reload(
    browser: Browser, tmp_path: Path
) -> None:
    built = shutil.copytree(BUILT, tmp_path / "dist")
    errors: list[str] = []
    with page_server(8, built=built) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 800}, locale="en-GB")
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        # The browser asks only if the last change has not been sent yet.
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(address)
        node = page.locator('.react-flow__node[data-id="n1"]')
        expect(node).to_be_visible(timeout=PATIENCE)
        node.click()
        name = page.locator('[data-parameter="label"] input')
        expect(name).to_be_visible()
        page.keyboard.press("Control+k")
        commands = page.get_by_role("combobox", name="Commands")
        commands.fill("Download the picture as SVG")
        newer = page.get_by_test_id("new-version")
        expect(newer).to_have_count(0)
        shutil.move(built / "assets", tmp_path / "new")
        commands.press("Enter")
        expect(newer).to_be_visible(timeout=PATIENCE)
        name.fill("Only the large ones")
        expect(node).to_contain_text("Only the large ones")
        page.screenshot(path=tmp_path / "new-version.png")
        expect(page.get_by_text("Something went wrong")).to_have_count(0)

        shutil.move(tmp_path / "new", built / "assets")
        with page.expect_navigation():
            newer.get_by_role("button", name="Reload").click()
        expect(node).to_be_visible(timeout=PATIENCE)
        expect(newer).to_have_count(0)
        page.close()
    assert errors == []
