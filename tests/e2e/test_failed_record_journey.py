"""A failing record becomes a test and is skipped once; another one goes to the dead letters."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.topics import Sentence, create_topic, write
from tests.runtime import topics

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow, pytest.mark.long]

SOURCE, SINK, DEAD = "failed-numbers", "failed-quotients", "failed-dead"


def document() -> dict[str, Any]:
    """Return a topology that divides 100 by each number, exactly once."""
    text = {"key": {"format": "string"}, "value": {"format": "string"}}
    divided = {"value": "CAST(100 div CAST(value AS INT) AS STRING)"}
    nodes = [
        {"id": "numbers", "kind": "source.stream", "params": {"topics": [SOURCE], **text}},
        {"id": "divide", "kind": "map_values", "params": divided},
        {"id": "out", "kind": "sink.topic", "params": {"topic": SINK, **text}},
    ]
    ids = [each["id"] for each in nodes]
    return {
        "format": "millrace.topology/1",
        "name": "failed",
        "settings": {"processing_guarantee": "exactly_once", "dead_letter_topic": DEAD},
        "topics": {topic: {"partitions": 1} for topic in (SOURCE, SINK, DEAD)},
        "nodes": nodes,
        "edges": [{"source": a, "target": b} for a, b in itertools.pairwise(ids)],
    }


def expect_below(page: Page, node: Locator, message: Locator) -> None:
    """Wait until the message, which lies over the canvas, does not cover the node."""
    deadline = time.monotonic() + 10
    while True:
        place, cover = node.bounding_box(), message.bounding_box()
        assert place is not None, "the node is not drawn"
        assert cover is not None, "the message is not shown"
        if place["y"] >= cover["y"] + cover["height"]:
            return
        assert time.monotonic() < deadline, f"{place} is under {cover}"
        page.wait_for_timeout(100)


def test_a_failing_record_is_skipped_and_the_rest_arrives_exactly_once(
    page: Page, system: System
) -> None:
    for topic in (SOURCE, SINK, DEAD):
        create_topic(system.bootstrap_servers, topic, 1)
    now = int(time.time() * 1000)

    def written(topic: str, count: int) -> list[str]:
        found = topics.consume(system.bootstrap_servers, topic, count, seconds=90)
        return [each.value().decode() for each in found]

    values = ["1", "2", "0", "4", "5", "0", "10"]
    write(system.bootstrap_servers, SOURCE, [Sentence(0, now, each, "a") for each in values])
    with Api.of(system.address, page) as api:
        deployment = api.deploy("Failed", document())
        api.until(deployment, "failed", 240)
        assert written(SINK, 2) == ["100", "50"], "what precedes the record is written"
        path = f"/deployments/{deployment}"
        topology = api.call("GET", path)["topology"]
        page.goto(f"{system.address}/w/main/t/{topology}")
        failure = page.get_by_test_id("failure")
        expect(failure).to_contain_text("failed-numbers-0 · offset 2")
        expect_below(page, Designer(page).node("divide"), failure)

        page.get_by_test_id("failure-test").click()
        kept = page.get_by_text("Record failed-numbers-0 at offset 2")
        expect(kept).to_be_visible()
        page.get_by_test_id("failure-handler").click()
        handler = page.locator('[data-parameter="processing_handler"]')
        expect(handler.locator("input").first).to_be_focused()
        page.get_by_test_id("failure-record").click()
        expect(page.get_by_test_id("record")).to_contain_text("offset 2")
        page.get_by_text("Raw bytes").click()
        expect(page.get_by_test_id("record")).to_contain_text("30")
        page.go_back()

        page.get_by_test_id("failure-skip").click()
        page.get_by_test_id("failure-skip-now").click()
        expect(failure).to_contain_text("offset 5", timeout=120_000)
        assert written(SINK, 4) == ["100", "50", "25", "20"]
        page.get_by_test_id("failure-dead_letter").click()
        page.get_by_test_id("failure-dead_letter-now").click()
        api.until(deployment, "running", 120)
        assert written(SINK, 5) == ["100", "50", "25", "20", "10"]
        assert written(DEAD, 1) == ["0"]
        Designer(page).open_panel("Runs")
        decisions = page.get_by_test_id("record-decisions")
        expect(decisions.locator("tbody tr")).to_have_count(2)
        expect(decisions).to_contain_text("Skipped once")
        (test,) = api.call("GET", f"/topologies/{topology}/tests")["results"]
        assert test["inputs"][0]["value"] == "0"
        api.call("POST", f"{path}/stop")
        api.until(deployment, "stopped", 60)
        api.call("POST", f"{path}/start")
        api.until(deployment, "running", 120)
        write(system.bootstrap_servers, SOURCE, [Sentence(0, now, "50", "a")])
        assert written(SINK, 6)[-2:] == ["10", "2"], "both decisions hold over a restart"
        api.call("POST", f"{path}/stop")
