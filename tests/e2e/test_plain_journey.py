"""A word count runs as plain PySpark: deployed, paused, killed, and replaced by others."""

from __future__ import annotations

import itertools
import os
import re
import signal
import time
from collections import Counter
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.topics import CountReader, Counts, Sentence, create_topic, write

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]

LINES, COUNTS = "plain-lines", "plain-counts"


class Last(Counts):
    """The last update of each word: plain PySpark emits one for each micro-batch."""

    def add(self, word: str, count: int) -> None:
        self.highest[word] = count


def counting(group: str, label: str = "") -> dict[str, Any]:
    text = {"format": "string"}
    nodes = [
        {"id": "lines", "kind": "source.stream",
         "params": {"topics": [LINES], "key": text, "value": text}},
        {"id": "words", "kind": "flat_map_values", "params": {"values": "split(value, ' ')"}},
        {"id": "count", "kind": "count", "label": label, "params": {"group_by": {"key": group}}},
        {"id": "counts", "kind": "sink.topic", "params": {"topic": COUNTS}},
    ]  # fmt: skip
    return {
        "format": "millrace.topology/1",
        "name": "plain-words",
        "nodes": nodes,
        "edges": [{"source": a["id"], "target": b["id"]} for a, b in itertools.pairwise(nodes)],
    }


def sentences(*texts: str) -> list[Sentence]:
    return [Sentence(number % 2, 1000 + number, text) for number, text in enumerate(texts)]


@pytest.mark.long
def test_a_word_count_runs_as_plain_pyspark_through_a_kill_and_a_change(
    page: Page, system: System
) -> None:
    for topic, partitions in ((LINES, 2), (COUNTS, 1)):
        create_topic(system.bootstrap_servers, topic, partitions)
    with Api.of(system.address, page) as api:
        made = api.call("POST", "/workspaces/main/topologies", {"name": "Plain words"})["id"]
        versions = f"/topologies/{made}/versions"
        first = {"document": counting("value"), "message": "1", "base_version": None}
        api.call("POST", versions, first)
        page.goto(f"{system.address}/w/main/t/{made}")
        designer = Designer(page)

        page.get_by_test_id("deploy-options").click()
        page.get_by_test_id("dialect").click()
        page.get_by_role("option", name="Plain PySpark").click()
        expect(page.get_by_test_id("dialect-differences")).to_contain_text("differences from")
        expect(page.get_by_test_id("lost-offsets")).to_have_count(0)
        page.get_by_test_id("dialect-differences").click()
        expect(page.get_by_test_id("differences")).to_contain_text("Kafka Streams")
        page.get_by_test_id("deploy-with-options").click()
        designer.expect_state("running", 240)

        write(system.bootstrap_servers, LINES, sentences("to be", "or not", "to be"))
        read = CountReader(system.bootstrap_servers, COUNTS)
        read.counts = Last()
        read.until(lambda found: found.highest == {"to": 2, "be": 2, "or": 1, "not": 1}, 120)
        expect(designer.node("lines").locator(".node-footer")).to_contain_text("lag 0")
        footer = designer.node("counts").locator(".node-footer span").first
        footer.hover()
        expect(footer).to_have_attribute("title", re.compile("in all [1-9]"))
        expect(designer.node("count").locator(".node-footer")).to_have_text("–")

        killed = designer.driver()
        expect(page.get_by_test_id("runs-plain")).to_be_visible()
        page.get_by_test_id("pause").click()
        designer.expect_state("paused", 60)
        page.get_by_test_id("resume").click()
        designer.expect_state("running", 60)
        designer.close_deployment()
        os.kill(killed, signal.SIGKILL)
        write(system.bootstrap_servers, LINES, sentences("to be"))
        read.until(lambda found: found.highest["be"] == 3, 240)
        designer.expect_state("running", 60)
        assert designer.driver() != killed
        designer.close_deployment()

        change = {"document": counting("upper(value)"), "message": "2"}
        api.call("POST", versions, {**change, "base_version": 1})
        page.reload()
        page.get_by_test_id("deploy").click()
        plan = page.get_by_test_id("change-plan")
        expect(plan).to_contain_text("The queries of the plain PySpark program change")
        accept = page.get_by_test_id("change-accept")
        expect(accept).to_be_disabled()
        plan.get_by_label("Type its name to drop it").fill("count")
        accept.click()
        deployment = api.call("GET", "/workspaces/main/deployments")["results"][0]["id"]
        deadline = time.monotonic() + 240
        while (api.until(deployment, "running", 240)["run"] or {}).get("version") != 2:
            assert time.monotonic() < deadline, "version 2 does not run"
            time.sleep(0.3)
        write(system.bootstrap_servers, LINES, sentences("to be"))
        read.until(lambda found: {"TO", "BE"} <= found.highest.keys(), 240)
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 90)
        found = read.counts.highest
        assert Counter(found) == {"to": 3, "be": 3, "or": 1, "not": 1, "TO": 1, "BE": 1}, (
            "the new program has read only what came after the old one"
        )
        read.close()
