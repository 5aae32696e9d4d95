"""A user finds the shortest input on which two versions differ, and steps through both."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.system import System
from tests.e2e.topics import Sentence, create_topic, write

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]

SOURCE = "differing-orders"


def counting(predicate: str) -> dict[str, Any]:
    """Counts of the texts that a predicate accepts."""
    formats = {"key": {"format": "string"}, "value": {"format": "string"}}
    return {
        "format": "millrace.topology/1",
        "name": "differing",
        "topics": {SOURCE: {"partitions": 1}},
        "nodes": [
            {"id": "orders", "kind": "source.stream", "params": {"topics": [SOURCE], **formats}},
            {"id": "known", "kind": "filter", "params": {"predicate": predicate}},
            {"id": "count", "kind": "count", "params": {}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "differing-counts"}},
        ],
        "edges": [
            {"source": "orders", "target": "known"},
            {"source": "known", "target": "count"},
            {"source": "count", "target": "out"},
        ],
    }


def test_two_versions_are_stepped_through_on_the_shortest_input(page: Page, system: System) -> None:
    """The input comes from a record of the topic: nothing in the documents leads to its text."""
    create_topic(system.bootstrap_servers, SOURCE, 1)
    write(system.bootstrap_servers, SOURCE, [Sentence(0, 1_000, "Zurich", "a")])
    with Api.of(system.address, page) as api:
        made = api.call("POST", "/workspaces/main/topologies", {"name": "Differing"})["id"]
        for number, text in enumerate(("Bern", "Zurich")):
            digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
            document = counting(f"md5(value) = '{digest}'")
            body = {"document": document, "message": text, "base_version": number or None}
            api.call("POST", f"/topologies/{made}/versions", body)
    page.goto(f"{system.address}/w/main/t/{made}")
    page.locator("#left-versions").click()
    page.get_by_test_id("version-1").get_by_role("button").click()
    page.get_by_role("menuitem", name="Compare with the drawing").click()
    page.get_by_test_id("find-difference").click()
    found = page.get_by_test_id("difference")
    expect(found).to_contain_text("The results differ after 1 record.")
    expect(found.get_by_test_id("difference-old")).to_contain_text("Nothing")
    found.get_by_test_id("step-difference").click()
    expect(found).to_contain_text("Record 1 of 1")
    expect(found.get_by_test_id("steps-old").locator("li")).to_have_count(2)
    apart = found.get_by_test_id("steps-new").locator("li[data-apart]")
    expect(apart.last).to_contain_text("differing-counts")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    found.get_by_test_id("copy-difference").click()
    line = page.evaluate("navigator.clipboard.readText()")
    assert line.startswith(f'**Different results** after 1 record: `{SOURCE} "a" = "Zurich" at ')
    assert line.endswith('`differing-counts`: nothing → `"a" = 1 at 0 ms`.')
    found.get_by_test_id("open-difference").click()
    expect(page.get_by_test_id("difference")).to_be_hidden()


def test_a_search_shows_its_progress_and_ends_with_what_it_has(page: Page, system: System) -> None:
    """Both versions keep the same texts, which only running them shows."""
    with Api.of(system.address, page) as api:
        made = api.call("POST", "/workspaces/main/topologies", {"name": "Alike"})["id"]
        for number, predicate in enumerate(("md5(value) > '4'", "NOT (md5(value) <= '4')")):
            body = {"document": counting(predicate), "message": "", "base_version": number or None}
            api.call("POST", f"/topologies/{made}/versions", body)
    page.goto(f"{system.address}/w/main/t/{made}")
    page.locator("#left-versions").click()
    page.get_by_test_id("version-1").get_by_role("button").click()
    page.get_by_role("menuitem", name="Compare with the drawing").click()
    page.get_by_test_id("find-difference").click()
    search = page.get_by_test_id("differing")
    expect(search).to_contain_text(re.compile(r"[1-9][\d,]* inputs? tried"), timeout=60_000)
    search.get_by_role("button", name="Cancel").click()
    ended = search.get_by_test_id("no-difference")
    expect(ended).to_contain_text("The search was canceled. No difference in", timeout=15_000)
    expect(search.get_by_test_id("find-difference")).to_be_enabled()
