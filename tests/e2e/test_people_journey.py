"""Journeys of people who work on the same topologies: through git, comments and approvals."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.api import Api
from tests.e2e.system import System
from tests.e2e.test_page_journey import member

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]


def document(**predicates: str) -> Any:
    """Return a document with a filter for each predicate."""
    nodes = [
        {"id": name, "kind": "filter", "params": {"predicate": predicate}}
        for name, predicate in predicates.items()
    ]
    return {"format": "millrace.topology/1", "name": "Refunds", "nodes": nodes, "edges": []}


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody else does."""
    command = ["git", "-c", "user.name=Grace", "-c", "user.email=grace@example.com", *arguments]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_versions_become_commits_and_outside_changes_become_versions(
    page: Page, system: System, tmp_path: Path
) -> None:
    """By a real worker, in a bare repository below the permitted folder."""
    api = Api.of(system.address, page)
    body = {"name": "Refunds", "document": document(a="value > 1")}
    topology = api.call("POST", "/workspaces/main/topologies", body)["id"]
    bare, clone = system.files.parent / "repositories" / "flows.git", tmp_path / "clone"
    bare.mkdir(parents=True)
    git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
    page.goto(f"{system.address}/w/main/settings")
    page.get_by_test_id("bind").click()
    page.get_by_test_id("repository-url").fill(str(bare))
    page.get_by_test_id("bind-now").click()
    state = page.get_by_test_id("repository-state")
    expect(state).to_have_attribute("data-state", "running", timeout=60_000)
    git(tmp_path, "clone", "--quiet", str(bare), str(clone))
    assert json.loads((clone / "Refunds" / "topology.json").read_text()) == document(a="value > 1")
    changed = document(a="value > 1", b="value < 9")
    (clone / "Refunds" / "topology.json").write_text(json.dumps(changed))
    git(clone, "commit", "--quiet", "--all", "--message", "Limit it")
    git(clone, "push", "--quiet")
    page.get_by_test_id("sync").click()
    row = page.get_by_test_id("outside-changes").get_by_role("row").filter(has_text="Refunds")
    expect(row).to_contain_text("Limit it")
    row.get_by_role("button", name="Show…").click()
    page.get_by_role("button", name="Save as version 2").click()
    expect(page.get_by_test_id("no-changes")).to_be_visible()
    assert api.call("GET", f"/topologies/{topology}/versions/2")["document"] == changed
    page.get_by_test_id("unbind").click()
    page.get_by_test_id("unbind-now").click()
    expect(page.get_by_test_id("bind")).to_be_visible()
    api.call("DELETE", f"/topologies/{topology}")


def test_a_comment_is_resolved_and_a_version_approved_by_somebody_else(
    page: Page, system: System, browser: Browser
) -> None:
    """The count is on the node; the refusal of a deploy names who can approve."""
    api = Api.of(system.address, page)
    body = {"name": "Discussed", "template": "word-count"}
    topology = api.call("POST", "/workspaces/main/topologies", body)["id"]
    page.goto(f"{system.address}/w/main/t/{topology}")
    page.locator(".react-flow__node-operator").nth(1).click()
    page.keyboard.press("Alt+C")
    page.get_by_test_id("comment-text").fill("Why lower case, @admin?")
    page.get_by_test_id("comment-send").click()
    expect(page.locator(".node-comments")).to_have_text("1")
    thread = page.get_by_test_id("thread")
    thread.get_by_test_id("answer").click()
    thread.get_by_test_id("comment-text").fill("As in the example.")
    thread.get_by_test_id("comment-send").click()
    expect(thread).to_contain_text("As in the example.")
    page.goto(f"{system.address}/w/main")
    page.get_by_test_id("mentions").get_by_role("link").filter(has_text="Discussed").click()
    page.get_by_test_id("resolve").click()
    expect(page.get_by_text("Resolved: 1")).to_be_visible()
    expect(page.locator(".node-comments")).to_have_count(0)
    api.call("PUT", "/workspaces/main/rules", {"approval_required": True})
    try:
        _approved_by_somebody_else(page, system, browser, topology)
    finally:
        api.call("PUT", "/workspaces/main/rules", {"approval_required": False})
    api.call("DELETE", f"/topologies/{topology}")


def _approved_by_somebody_else(page: Page, system: System, browser: Browser, topology: int) -> None:
    link = member(page, system, "Mary Second", "operator")
    api = Api.of(system.address, page)
    with pytest.raises(AssertionError, match=r"approval_missing.*Mary Second"):
        api.call(
            "POST",
            "/workspaces/main/deployments",
            {"topology": topology, "version": 1, "target": "local", "settings": {}},
        )
    theirs = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    other = theirs.new_page()
    other.goto(link)
    expect(other.get_by_role("heading", name="Set a password")).to_be_visible()
    other.goto(f"{system.address}/w/main/t/{topology}")
    other.locator("#left-versions").click()
    other.get_by_label("Actions for version 1").click()
    other.get_by_role("menuitem", name="Approve").click()
    expect(other.get_by_test_id("version-1")).to_contain_text("approved by Mary Second")
    theirs.close()
    page.goto(f"{system.address}/w/main/t/{topology}")
    page.locator("#left-versions").click()
    expect(page.get_by_test_id("version-1")).to_contain_text("approved by Mary Second")
