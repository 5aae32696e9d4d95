"""A fragment is opened in place: a part of it runs, and its rules act on a running deployment."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.test_every_screen import AXE
from tests.e2e.topics import Sentence, create_topic, write
from tests.runtime import topics

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

#: milliseconds; a simulator or a deployment starts, on a busy machine
PATIENCE = 240_000
NAME, FRAGMENT = "Checked", "Checks"
SOURCE, SINK, DEAD = "checked-orders", "checked-good", "checked-dead"
TEXT = {"format": "string"}
#: what each rule expects, and what its form offers for records that do not fulfill it
RULES = {
    "counted": ("value <> 'odd'", "Count"),
    "dropped": ("value <> 'spam'", "Drop and count"),
    "dead": ("value <> 'broken'", "Dead letter"),
    "stopped": ("value <> 'poison'", "Stop"),
}


def document() -> dict[str, Any]:
    """Four filters between a source and a sink."""
    source = {"topics": [SOURCE], "key": TEXT, "value": TEXT}
    nodes = [{"id": "in", "kind": "source.stream", "params": source}]
    nodes += [
        {"id": id_, "kind": "filter", "params": {"predicate": predicate}}
        for id_, (predicate, _) in RULES.items()
    ]
    nodes.append({"id": "out", "kind": "sink.topic", "params": {"topic": SINK}})
    for index, node in enumerate(nodes):
        node["position"] = {"x": 280 * index, "y": 0}
    edges = [{"source": a["id"], "target": b["id"]} for a, b in itertools.pairwise(nodes)]
    settings = {"dead_letter_topic": DEAD}
    return {
        "format": "millrace.topology/1", "name": NAME, "settings": settings,
        "nodes": nodes, "edges": edges,
    }  # fmt: skip


def test_rules_in_a_fragment_that_is_opened_in_place_act_on_live_records(
    page: Page, system: System
) -> None:
    for topic in (SOURCE, SINK, DEAD):
        create_topic(system.bootstrap_servers, topic, 1)
    with Api.of(system.address, page) as api:
        body = {"name": NAME, "document": document()}
        topology = api.call("POST", "/workspaces/main/topologies", body)["id"]
        page.goto(f"{system.address}/w/main/t/{topology}")
        designer = Designer(page)
        make_rules_and_a_fragment_of_them(designer)
        designer.save("With rules")
        page.get_by_test_id("deploy").click()
        run_a_part_of_the_opened_fragment(designer)
        designer.expect_state("running", PATIENCE / 1000)
        see_each_rule_act(designer, system)
        deployment = api.call("GET", f"/topologies/{topology}")["deployment"]["id"]
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 90)


def make_rules_and_a_fragment_of_them(designer: Designer) -> None:
    """Choose what each filter does with rejected records, and make a fragment of the filters."""
    page = designer.page
    for id_, (_, choice) in RULES.items():
        designer.select(id_)
        designer.choose("rejected", choice)
    designer.node("in").click(position={"x": 60, "y": 14})
    for id_ in RULES:
        designer.node(id_).click(position={"x": 60, "y": 14}, modifiers=["Shift"])
    designer.node("in").click(position={"x": 60, "y": 14}, modifiers=["Shift"])
    designer.command("Make a fragment")
    page.get_by_test_id("fragment-name").fill(FRAGMENT)
    page.get_by_test_id("make-fragment").click()
    expect(designer.node("checks")).to_be_visible()


def run_a_part_of_the_opened_fragment(designer: Designer) -> None:
    """Open it, pin records on an inner edge, run up to an inner node, mute one, and close it."""
    page = designer.page
    designer.node("checks").dblclick(position={"x": 60, "y": 14})
    designer.select("counted")
    expect(page.get_by_test_id("inner-details")).to_be_visible()
    # It is changed where it is drawn: the key deletes neither the node nor the fragment.
    page.keyboard.press("Delete")
    expect(page.locator(".react-flow__node-operator")).to_have_count(6)
    select_nothing_and_the_frame(page)

    designer.select_edge("counted", "dropped")
    page.keyboard.press("p")
    dialog = page.get_by_role("dialog")
    lines = [f'{{"key": "a", "value": "{each}"}}' for each in ("odd", "ok", "spam")]
    dialog.get_by_test_id("pinned-records").fill("\n".join(lines))
    dialog.get_by_test_id("pin").click()
    page.keyboard.press("Alt+r")
    ran = page.get_by_test_id("part-ran")
    expect(ran).to_have_text("A part ran: 2 of 3 nodes.", timeout=PATIENCE)
    # After a deploy, the canvas shows live figures.
    designer.command("Layer: Design")

    def over(source: str, target: str, records: str) -> None:
        edge = f"{source}.out>{target}.in"
        expect(page.locator(f'.edge-chip[data-edge="{edge}"]')).to_have_text(records)

    over("dropped", "dead", "2")
    over("stopped", "out", "2")
    designer.select("dead")
    designer.command("Simulate up to the node")
    over("stopped", "out", "0")
    over("dropped", "dead", "2")
    designer.select("dropped")
    page.keyboard.press("d")
    expect(designer.node("dropped").locator(".node-muted")).to_be_visible()
    page.get_by_test_id("simulate-run").click()
    over("stopped", "out", "3")
    page.reload()
    # The browser keeps what is open; a key closes it.
    designer.select("dead")
    page.keyboard.press("o")
    expect(designer.node("checks")).to_be_visible()
    expect(designer.node("dead")).to_have_count(0)


def take_records_from_the_deployment(designer: Designer) -> None:
    """Pins are taken at the edges of a closed fragment, where inner nodes run."""
    page = designer.page
    for source, target, values in (("in", "checks", 5), ("checks", "out", 2)):
        designer.select_edge(source, target)
        page.keyboard.press("p")
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Take from the deployment").click()
        expect(dialog.get_by_test_id("pin")).to_have_text(f"Pin {values} records", timeout=PATIENCE)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


def select_nothing_and_the_frame(page: Page) -> None:
    """By key and by mouse: the frame stands for the fragment's node."""
    frame = page.locator(".react-flow__node-frame.selected")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("inner-details")).to_be_hidden()
    expect(frame).to_have_count(0)
    page.locator(".frame-title").click()
    expect(frame).to_be_visible()
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run('.react-flow__nodes')")
    assert found["violations"] == [], [n["html"] for v in found["violations"] for n in v["nodes"]]
    page.locator(".react-flow__pane").click(position={"x": 20, "y": 200})
    expect(frame).to_have_count(0)


def see_each_rule_act(designer: Designer, system: System) -> None:
    """The canvas counts what rules reject; the dead letter arrives; the last rule stops the job."""
    page = designer.page

    def put(*values: str) -> None:
        now = int(time.time() * 1000)
        write(system.bootstrap_servers, SOURCE, [Sentence(0, now, each, "a") for each in values])

    def written(topic: str, count: int) -> list[str]:
        found = topics.consume(system.bootstrap_servers, topic, count, seconds=120)
        return [each.value().decode() for each in found]

    put("odd", "spam", "spam", "broken", "good")
    assert written(SINK, 2) == ["odd", "good"], "what a rule counts is forwarded"
    assert written(DEAD, 1) == ["broken"]
    take_records_from_the_deployment(designer)
    designer.command("Layer: Runtime")
    expect(designer.node("checks").locator(".node-footer")).to_contain_text("1 dead")
    designer.node("checks").get_by_role("button", name="Open the fragment in place").click()
    for id_, shown in (("counted", "1 rejected"), ("dropped", "2 dropped"), ("dead", "1 dead")):
        expect(designer.node(id_).locator(".node-footer")).to_contain_text(shown)
        expect(designer.node(id_).locator(".task-bars i")).to_have_count(1)
    put("poison")
    failure = page.get_by_test_id("failure")
    expect(failure).to_contain_text(f"{SOURCE}-0 · offset 5", timeout=PATIENCE)
    expect(designer.node("stopped").locator('[data-severity="failure"]')).to_be_visible()
    designer.expect_state("failed", PATIENCE / 1000)
