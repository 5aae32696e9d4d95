"""A new user simulates a topology, steps to the late record, reads why, and admits it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.topics import create_topic

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOUR = 3_600_000
MINUTE = 60_000
#: milliseconds; a simulator starts, on a busy machine
PATIENCE = 180_000
GATE, PASSED = "gate-texts", "gate-passed"


def order(item: str | None, quantity: int, ordered_at: int) -> str:
    value = {"item": item, "quantity": quantity, "ordered_at": ordered_at}
    return json.dumps({"topic": "orders", "key": "ann", "value": value, "timestamp": ordered_at})


ORDERS = [
    order("tea", 2, 1000),
    order("tea", 0, 2000),
    order("tea", 1, HOUR + 12 * MINUTE),
    order("tea", 7, HOUR // 2),
]


def answer_for_a_node(designer: Designer) -> None:
    """A table of answers stands for a node, which the canvas and the results show."""
    page = designer.page
    designer.select("valid")
    page.keyboard.press("Shift+d")
    dialog = page.get_by_role("dialog")
    dialog.locator('[data-part="when"] .cm-content').click()
    page.keyboard.insert_text("value.quantity = 7")
    dialog.locator('[data-part="value"] .cm-content').click()
    page.keyboard.insert_text("named_struct('item', 'double', 'quantity', 3, 'ordered_at', 9)")
    page.get_by_test_id("save-double").click()
    expect(designer.node("valid").locator("[data-double]")).to_have_text("double")
    page.get_by_test_id("simulate-run").click()
    ran = page.get_by_test_id("part-ran")
    expect(ran).to_have_text(re.compile("A double stood for .*\\."), timeout=60_000)
    summary = page.get_by_test_id("simulation-summary")
    expect(summary).to_contain_text("4 records in, 1 record out")
    designer.command("Remove the double")
    expect(designer.node("valid").locator("[data-double]")).to_have_count(0)
    page.get_by_test_id("simulate-run").click()
    expect(summary).to_contain_text("4 records in, 2 records out, 1 dropped", timeout=60_000)


def bend_an_edge(designer: Designer) -> None:
    """An edge is bent by mouse and by keyboard, and is straight again after undo."""
    page = designer.page
    path = page.locator('[data-wire^="valid."] path').first
    straight = path.get_attribute("d")
    designer.select_edge("valid", "total")
    part = page.locator(".edge-part").first.bounding_box()
    assert part is not None
    page.mouse.move(part["x"] + part["width"] / 2, part["y"] + part["height"] / 2)
    page.mouse.down()
    page.mouse.move(part["x"], part["y"] - 40, steps=4)
    page.mouse.up()
    bends = page.locator(".edge-bend")
    expect(bends).to_have_count(1)
    expect(bends.first).to_be_focused()
    dragged = path.get_attribute("d")
    assert dragged != straight
    page.keyboard.press("ArrowUp")
    expect(path).not_to_have_attribute("d", dragged or "")
    page.keyboard.press("b")
    expect(bends).to_have_count(2)
    page.keyboard.press("Delete")
    expect(bends).to_have_count(1)
    designer.command("Remove all bends")
    expect(path).to_have_attribute("d", straight or "")
    for _ in range(5):
        designer.command("Undo")
    expect(path).to_have_attribute("d", straight or "")
    page.keyboard.press("Escape")


def write_a_struct_as_rows(designer: Designer) -> None:
    """The fields of a struct are rows with checks of their own, and the same text."""
    page = designer.page
    designer.select("flat")
    value = designer.field("value")
    value.get_by_role("button", name="As fields").click()
    names = value.locator(".struct-name input")
    expect(names).to_have_count(3)
    assert [each.input_value() for each in names.all()] == ["item", "hour", "quantity"]
    wrong = value.locator(".editor[data-error]")
    for text, faults in (("valu", 1), ("value", 0)):
        value.locator(".cm-content").last.click()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.insert_text(text)
        expect(wrong).to_have_count(faults, timeout=20_000)
    names.last.click()
    value.get_by_role("button", name="As text").click()
    expect(value.locator(".cm-content")).to_contain_text("'quantity', value)")
    page.keyboard.press("Escape")


def test_a_new_user_steps_to_the_late_record_reads_why_and_lets_it_in(page: Page) -> None:
    page.get_by_test_id("empty-canvas").or_(page.get_by_test_id("new-topology")).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("Simulated")
    dialog.get_by_text("Purchases per hour").first.click()
    dialog.get_by_role("button", name="Create").click()
    designer = Designer(page)

    page.keyboard.press("Alt+r")
    panel = page.get_by_test_id("simulate")
    # The template's own records are replaced.
    expect(page.get_by_test_id("simulation-inputs").locator("[data-row]")).to_have_count(9)
    designer.add_inputs("Paste…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("\n".join(ORDERS))
    dialog.get_by_role("button", name="Replace the records").click()
    page.get_by_test_id("simulate-run").click()
    summary = page.get_by_test_id("simulation-summary")
    expect(summary).to_contain_text("4 records in, 2 records out, 1 dropped", timeout=PATIENCE)
    outputs = page.get_by_test_id("simulation-outputs")
    expect(outputs.locator("tbody tr")).to_have_count(2)
    # Values take the width that the other columns leave.
    whole, value = outputs.bounding_box(), outputs.locator("td.m-mono").last.bounding_box()
    assert whole is not None
    assert value is not None
    assert value["width"] > 0.35 * whole["width"]

    # The count of an edge is shown on it, and its records are listed after a click.
    chip = page.locator(".edge-chip", has_text="4")
    expect(chip.first).to_be_visible()
    expect(designer.node("valid").locator(".node-ended")).to_have_text("1 ended")

    panel.get_by_role("radio", name="Step by step").click()
    why = page.get_by_test_id("simulation-why")
    panel.get_by_role("button", name="Next record that ended").click()
    expect(why).to_contain_text("Filtered out")
    panel.get_by_role("button", name="Next record that ended").click()
    expect(why).to_contain_text("Late by 2 min")
    expect(why).to_contain_text("A longer grace period would accept it")
    expect(designer.node("total").locator("[data-step='ended']")).to_be_visible()
    expect(page.get_by_test_id("simulation-stores").locator("tbody tr")).to_have_count(2)
    page.keyboard.press("Escape")
    panel.get_by_role("button", name="First step").click()
    expect(page.get_by_test_id("simulation-stores").locator("tbody tr")).to_have_count(0)

    # Records are pinned on an edge: only what follows runs. A muted node does nothing.
    ran = page.get_by_test_id("part-ran")
    designer.select_edge("valid", "total")
    page.keyboard.press("p")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Take 3 from the last simulation").click()
    records = dialog.get_by_test_id("pinned-records")
    records.fill(records.input_value() + '\n{"key": 3')
    expect(dialog.get_by_text("Line 4 is not a JSON object.")).to_be_visible()
    records.fill(records.input_value().rsplit("\n", 1)[0])
    dialog.get_by_role("button", name="Pin 3 records").click()
    expect(page.locator(".edge-pin")).to_have_count(1)
    page.get_by_test_id("simulate-run").click()
    expect(ran).to_contain_text("A part ran: 4 of 6 nodes.", timeout=60_000)
    expect(summary).to_contain_text("3 records in, 2 records out, 1 dropped")
    designer.select("total")
    designer.command("Mute in simulations")
    expect(designer.node("total").locator("[data-muted]")).to_be_visible()
    page.get_by_test_id("simulate-run").click()
    expect(ran).to_contain_text("Records stop before", timeout=60_000)
    # Both are undone like any change of the drawing.
    for _ in range(2):
        designer.command("Undo")
    expect(page.locator(".edge-pin")).to_have_count(0)
    designer.select("valid")
    designer.command("Simulate up to the node")
    expect(ran).to_contain_text("A part ran: 2 of 6 nodes.", timeout=60_000)
    page.get_by_test_id("simulate-run").click()
    expect(summary).to_contain_text("4 records in, 2 records out, 1 dropped", timeout=60_000)

    answer_for_a_node(designer)
    bend_an_edge(designer)
    write_a_struct_as_rows(designer)

    # The result becomes a test, which passes.
    panel.get_by_role("radio", name="Outputs").click()
    panel.get_by_role("button", name="Keep as a test…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("Late by two minutes")
    dialog.get_by_role("button", name="Keep", exact=True).click()
    test = page.locator("[data-test='Late by two minutes']")
    expect(test).to_be_visible()
    panel.get_by_role("button", name="Run all tests").click()
    expect(panel.get_by_text("4 tests · 4 passed · 0 failed")).to_be_visible(timeout=60_000)

    # Parts without test coverage are listed, and marked on the canvas.
    coverage = page.get_by_test_id("coverage")
    expect(coverage).to_contain_text("6 of 6 nodes · 5 of 5 edges · 2 of 3 ways")
    expect(coverage).to_contain_text("Orders: no timestamp was invalid")
    expect(designer.node("total").locator("[data-missed]")).to_have_count(0)
    panel.get_by_role("button", name="Run: Orders without an item").click()
    expect(coverage).to_contain_text("2 of 6 nodes · 1 of 5 edges", timeout=60_000)
    expect(designer.node("total").locator("[data-missed]")).to_be_visible()

    # A run of all tests can be canceled: tests that did not run have no verdict.
    panel.get_by_role("button", name="Run all tests").click()
    panel.get_by_role("button", name="Cancel").click()
    expect(panel.get_by_role("button", name="Run all tests")).to_be_visible()
    expect(page.locator("[data-verdict='running']")).to_have_count(0)

    # A test with the same name is replaced.
    panel.get_by_role("radio", name="Outputs").click()
    panel.get_by_role("button", name="Keep as a test…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("late by two minutes")
    dialog.get_by_role("button", name="Replace the test").click()
    test = page.locator("[data-test='late by two minutes']")
    expect(test).to_be_visible()
    expect(panel.locator("[data-test]")).to_have_count(4)

    # With a longer grace, the record is admitted without a manual run.
    designer.option("Run again on every change")
    designer.select("total")
    grace = page.get_by_role("combobox", name="Grace")
    grace.fill("1 hour")
    grace.press("Enter")
    expect(summary).to_contain_text("4 records in, 3 records out, 0 dropped", timeout=60_000)

    # The test shows what changed; its records can be opened, and it can be deleted.
    panel.get_by_role("radio", name="Tests").click()
    expect(panel.get_by_text("4 tests · 0 passed · 0 failed")).to_be_visible()
    panel.get_by_role("button", name="Run: late by two minutes").click()
    expect(test).to_have_attribute("data-verdict", "failed", timeout=60_000)
    diff = test.get_by_test_id("test-diff")
    expect(diff).to_contain_text("Topic purchases-per-hour")
    expect(diff.locator("tr[data-kind='extra']")).to_have_count(1)
    panel.get_by_role("button", name="Open its records: late by two minutes").click()
    expect(page.get_by_test_id("simulation-inputs").locator("[data-row]")).to_have_count(4)
    panel.get_by_role("radio", name="Tests").click()
    panel.get_by_role("button", name="Delete: late by two minutes").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(test).to_have_count(0)
    expect(panel.locator("[data-test]")).to_have_count(3)

    # Nothing typed is lost.
    page.reload()
    inputs = page.get_by_test_id("simulation-inputs").locator("[data-row]")
    expect(inputs).to_have_count(4)

    # What is cleared comes back with Ctrl+Z, which does not undo the edit of the topology.
    designer.option("Clear")
    expect(page.get_by_test_id("inputs-removed")).to_contain_text("4 rows were removed.")
    page.keyboard.press("Control+z")
    expect(inputs).to_have_count(4)
    expect(page.get_by_test_id("inputs-undone")).to_contain_text("Clear 4 rows")
    page.keyboard.press("Control+z")
    designer.select("total")
    expect(page.get_by_role("combobox", name="Grace")).to_have_value("1 hour")


COUNTING = """\
class Counter(Processor):
    def init(self, context):
        self.context = context
        self.seen = {}

    def process(self, record):
        # How often each key came.
        count = self.seen.get(record.key, 0) + 1
        self.seen[record.key] = count
        print(f"{record.key} came {count} times")
        self.context.forward(record.replace(value=str(count)))
"""


def counting() -> dict[str, Any]:
    """Return a topology that counts texts by key in Python."""
    text = {"format": "string"}
    params = {
        "code": COUNTING,
        "class_name": "Counter",
        "output": {"key": "STRING", "value": "STRING"},
    }
    return {
        "format": "millrace.topology/1",
        "name": "counting",
        "nodes": [
            {
                "id": "texts",
                "kind": "source.stream",
                "params": {"topics": ["texts"], "key": text, "value": text},
                "position": {"x": 0, "y": 0},
            },
            {"id": "seen", "kind": "process", "params": params, "position": {"x": 280, "y": 0}},
            {
                "id": "out",
                "kind": "sink.topic",
                "params": {"topic": "seen"},
                "position": {"x": 560, "y": 0},
            },
        ],
        "edges": [{"source": "texts", "target": "seen"}, {"source": "seen", "target": "out"}],
    }


def test_a_breakpoint_is_set_and_its_locals_are_read(page: Page, system: System) -> None:
    with Api.of(system.address, page) as api:
        made = api.call(
            "POST", "/workspaces/main/topologies", {"name": "Counting", "document": counting()}
        )
    page.goto(f"{system.address}/w/main/t/{made['id']}")
    designer = Designer(page)
    designer.select("seen")
    # A comment has no code: the breakpoint moves to the line below.
    lines = page.locator(".inspector-body .cm-lineNumbers .cm-gutterElement")
    lines.get_by_text("7", exact=True).click()
    dots = page.locator(".inspector-body .cm-breakpoints .cm-gutterElement .cm-breakpoint:visible")
    expect(dots).to_have_count(1)
    place = dots.bounding_box()

    designer.open_panel("Simulate")
    panel = page.get_by_test_id("simulate")
    designer.add_inputs("Paste…")
    dialog = page.get_by_role("dialog")
    records = [
        {"topic": "texts", "key": key, "value": "x", "timestamp": n} for n, key in enumerate("aba")
    ]
    dialog.get_by_role("textbox").fill("\n".join(map(json.dumps, records)))
    dialog.get_by_role("button", name="Add records").click()
    page.get_by_test_id("simulate-run").click()
    summary = page.get_by_test_id("simulation-summary")
    expect(summary).to_contain_text("3 records in, 3 records out", timeout=PATIENCE)
    moved = dots.bounding_box()
    assert place is not None
    assert moved is not None
    assert moved["y"] > place["y"] + 10

    # Step through: enter texts, enter seen, pause. At the third record, the first one is stored.
    panel.get_by_role("radio", name="Step by step").click()
    steps = page.get_by_test_id("simulation-steps")
    values = page.get_by_test_id("simulation-locals")
    highlighted = page.locator(".inspector-body .cm-line.cm-stopped")
    for _ in range(2):
        panel.get_by_role("button", name="Next record", exact=True).click()
    for _ in range(2):
        expect(values).to_have_count(0)
        page.keyboard.press(".")
    expect(steps).to_contain_text("Record 3: paused at line 8 of seen, in Counter.process")
    expect(values.get_by_role("row", name="self.seen")).to_contain_text("{'a': 1, 'b': 1}")
    expect(highlighted).to_contain_text("count = self.seen.get(record.key, 0) + 1")
    panel.get_by_role("button", name="Back", exact=True).click()
    expect(highlighted).to_have_count(0)
    expect(page.get_by_test_id("simulation-printed")).to_contain_text("a came 2 times")

    # Steps can be limited to records that contain a text, by button and by Enter.
    wanted = steps.get_by_label("Only steps whose record contains")
    wanted.fill('"b"')
    panel.get_by_role("button", name="First step").click()
    expect(steps).to_contain_text("Record 2 enters texts")
    wanted.press("Enter")
    expect(steps).to_contain_text("Record 2 enters seen")
    wanted.fill("")

    # All lines are listed, each with a link to the step of its record.
    panel.get_by_role("radio", name="Log").click()
    log = page.get_by_test_id("simulation-log")
    expect(log.locator("tbody tr")).to_have_count(3)
    log.get_by_role("button", name="2", exact=True).click()
    expect(page.get_by_test_id("simulation-printed")).to_contain_text("b came 1 times")

    # The breakpoint survives a reload, and is removed the way it was set.
    page.reload()
    designer.select("seen")
    expect(dots).to_have_count(1)
    lines.get_by_text("8", exact=True).click()
    expect(dots).to_have_count(0)


def paste(page: Page, records: list[dict[str, Any]]) -> None:
    """Paste records as JSON lines into the inputs of the open topology."""
    Designer(page).add_inputs("Paste…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("\n".join(map(json.dumps, records)), timeout=PATIENCE)
    dialog.get_by_role("button", name="Add records").click()


def test_counts_are_on_the_edges_during_a_run_and_cancel_keeps_them(
    page: Page, system: System
) -> None:
    document = counting()
    params = document["nodes"][1]["params"]
    params["code"] = params["code"].replace(
        "        print", "        import time; time.sleep(0.01)#"
    )
    with Api.of(system.address, page) as api:
        made = api.call(
            "POST", "/workspaces/main/topologies", {"name": "Slow", "document": document}
        )
    page.goto(f"{system.address}/w/main/t/{made['id']}")
    designer = Designer(page)
    designer.open_panel("Simulate")
    paste(
        page,
        [{"topic": "texts", "key": f"k{n % 7}", "value": "x", "timestamp": n} for n in range(2000)],
    )
    panel = page.get_by_test_id("simulate")
    page.get_by_test_id("simulate-run").click()
    progress = page.get_by_test_id("simulation-progress")
    expect(progress).to_contain_text("of 2000 records so far", timeout=PATIENCE)
    # 2,000 records take at least twenty seconds, so these are the counts of an unfinished run.
    chip = page.locator(".edge-chip").filter(has_text=re.compile(r"[1-9]\d")).first
    expect(chip).to_be_visible()
    expect(panel.get_by_role("button", name="Cancel")).to_be_visible()
    panel.get_by_role("button", name="Cancel").click()
    expect(panel).to_contain_text("Canceled: these are the results of the first", timeout=10_000)
    summary = page.get_by_test_id("simulation-summary").inner_text()
    taken, written = (int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", summary)[:2])
    assert 10 < taken == written < 2000
    expect(page.locator(".edge-chip", has_text=str(taken)).first).to_be_visible()
    expect(page.get_by_test_id("simulation-outputs").locator("tbody tr").first).to_be_visible()


def test_a_test_expects_by_expression_and_names_the_record_that_breaks_it(
    page: Page, system: System
) -> None:
    with Api.of(system.address, page) as api:
        made = api.call(
            "POST", "/workspaces/main/topologies", {"name": "Judged", "document": filtered()}
        )
    page.goto(f"{system.address}/w/main/t/{made['id']}")
    Designer(page).open_panel("Simulate")
    panel = page.get_by_test_id("simulate")
    paste(page, [{"topic": GATE, "key": "a", "value": value, "timestamp": 1} for value in "57"])
    page.get_by_test_id("simulate-run").click()
    panel.get_by_role("button", name="Keep as a test…").click(timeout=PATIENCE)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("A digit passes")
    dialog.get_by_role("switch", name=f"2 records of the topic {PASSED}").click()
    dialog.get_by_role("button", name="Add a condition").click()
    keep = dialog.get_by_role("button", name="Keep", exact=True)
    expect(keep).to_be_disabled()

    def write(predicate: str) -> None:
        dialog.get_by_role("textbox", name="Expression").click()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.insert_text(predicate)
        # A click elsewhere closes the suggestions.
        dialog.get_by_role("textbox", name="Name").click()

    write("valu RLIKE '[0-9]'")
    expect(dialog.locator(".field-problem")).to_contain_text("There is no column “valu” here.")
    expect(dialog.locator(".cm-lintRange-error")).to_have_text("valu")
    expect(keep).to_be_disabled()
    write("value RLIKE '[0-9]'")
    expect(dialog.locator(".field-problem")).to_have_count(0)
    keep.click()
    row = page.locator("[data-test='A digit passes']")
    expect(row).to_contain_text("1 condition")
    row.get_by_role("button", name="Run: A digit passes").click()
    expect(row).to_have_attribute("data-verdict", "passed", timeout=60_000)

    row.get_by_role("button", name="Edit: A digit passes").click()
    write("value = '5'")
    dialog.get_by_role("button", name="Save").click()
    row.get_by_role("button", name="Run: A digit passes").click()
    expect(row).to_have_attribute("data-verdict", "failed", timeout=60_000)
    expect(row).to_contain_text(
        f'{PASSED}[1]: expected value = \'5\', got {{"key": "a", "timestamp": 1, "value": "7"}}'
    )


def filtered() -> dict[str, Any]:
    """Return a topology that copies the texts that are not empty."""
    text = {"format": "string"}
    return {
        "format": "millrace.topology/1",
        "name": "gate",
        "topics": {GATE: {"partitions": 1}, PASSED: {"partitions": 1}},
        "nodes": [
            {
                "id": "texts",
                "kind": "source.stream",
                "params": {"topics": [GATE], "key": text, "value": text},
            },
            {"id": "some", "kind": "filter", "params": {"predicate": "value <> ''"}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": PASSED}},
        ],
        "edges": [{"source": "texts", "target": "some"}, {"source": "some", "target": "out"}],
    }


def passes_with_a_double(api: Api, designer: Designer, system: System, topology: int) -> None:
    """A test that passes with a double of the next version counts, and the plan names it."""
    page = designer.page
    document = filtered()
    document["nodes"][1]["params"]["predicate"] = "length(value) > 0"
    document["drawing"] = {"doubles": [{"node": "some", "rows": [{"value": "value"}]}]}
    version = {"document": document, "message": "With a double", "base_version": 1}
    api.call("POST", f"/topologies/{topology}/versions", version)
    page.goto(f"{system.address}/w/main/t/{topology}")

    def plan_of_version_2() -> Locator:
        page.locator("#left-versions").click()
        page.get_by_label("Actions for version 2").click()
        page.get_by_role("menuitem", name="Deploy this version…").click()
        return page.get_by_test_id("change-plan")

    plan = plan_of_version_2()
    expect(plan.get_by_test_id("tests-needed")).to_contain_text("A text passes")
    expect(page.get_by_test_id("change-accept")).to_be_disabled()
    page.keyboard.press("Escape")
    designer.open_panel("Simulate")
    panel = page.get_by_test_id("simulate")
    panel.get_by_role("radio", name="Tests").click()
    panel.get_by_role("button", name="Run all tests").click()
    expect(panel.get_by_text("with doubles for some")).to_be_visible(timeout=PATIENCE)
    passed = plan_of_version_2().get_by_test_id("tests-passed")
    expect(passed).to_contain_text("With doubles for some, and not without: A text passes.")
    page.keyboard.press("Escape")
    expect(plan).to_have_count(0)


@pytest.mark.kafka
@pytest.mark.long
def test_where_tests_are_required_they_pass_before_a_deploy(
    signed_in: BrowserContext, system: System
) -> None:
    """The switch is in the settings; the refusal names the test that has not passed."""
    for topic in (GATE, PASSED):
        create_topic(system.bootstrap_servers, topic, 1)
    # The `page` fixture fails on console errors, and a refusal is one.
    page = signed_in.new_page()
    page.set_default_timeout(20_000)
    page.goto(f"{system.address}/w/main/settings")
    rule = page.get_by_test_id("tests-required")
    with Api.of(system.address, page) as api:
        try:
            rule.click()
            expect(rule).to_be_checked()
            expect(rule).to_be_enabled()
            made = api.call(
                "POST", "/workspaces/main/topologies", {"name": "Gate", "document": filtered()}
            )
            record = {"topic": GATE, "key": "a", "value": "5", "timestamp": 1_000}
            expected = {"outputs": [{"topic": PASSED, "key": "a", "value": "5"}], "dropped": 0}
            kept = {"name": "A text passes", "inputs": [record], "expected": expected}
            api.call("POST", f"/topologies/{made['id']}/tests", kept)

            page.goto(f"{system.address}/w/main/t/{made['id']}")
            deploy = page.get_by_test_id("deploy")
            deploy.click()
            refusal = page.get_by_role("alert").filter(has_text="1 of 1 tests of “Gate”")
            expect(refusal).to_contain_text("“A text passes”")
            expect(page.get_by_test_id("deployment-pill")).to_have_count(0)

            designer = Designer(page)
            designer.open_panel("Simulate")
            panel = page.get_by_test_id("simulate")
            panel.get_by_role("radio", name="Tests").click()
            panel.get_by_role("button", name="Run all tests").click()
            passed = panel.get_by_text("1 test · 1 passed · 0 failed")
            expect(passed).to_be_visible(timeout=PATIENCE)
            deploy.click()
            designer.expect_state("running", PATIENCE / 1000)
            passes_with_a_double(api, designer, system, made["id"])
            deployment = api.call("GET", f"/topologies/{made['id']}")["deployment"]["id"]
            api.call("POST", f"/deployments/{deployment}/stop")
            api.until(deployment, "stopped", 90)
        finally:
            api.call("PUT", "/workspaces/main/rules", {"tests_required": False})
            page.close()
