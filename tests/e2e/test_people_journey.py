"""Journeys of people who work on the same topologies: through git, comments and approvals."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.system import System

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


def test_versions_become_commits_and_a_change_from_outside_becomes_a_version(
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
