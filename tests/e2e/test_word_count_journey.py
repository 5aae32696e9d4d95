"""The whole way once, by mouse: draw a word count, deploy it, watch its tasks, export its code."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.alert_rules import create_rule, delete_rule
from tests.e2e.designer import Designer
from tests.e2e.exported import run_job
from tests.e2e.system import System
from tests.e2e.topics import CountReader, Sentence, create_topic, words, write

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

SOURCE = "journey-sentences"
SINK = "journey-counts"
#: seconds; ten are enough on an idle machine
TO_RUNNING = 240.0
TO_COUNT = 180.0

FIRST = [
    Sentence(0, 3_000, "the quick brown fox"),
    Sentence(0, 1_000, "the lazy dog"),
    Sentence(1, 2_000, None),
    Sentence(1, 2_500, ""),
    Sentence(1, 9_000, "Zürich 東京 東京 🦊"),
    Sentence(0, 500, "THE  ÄPFEL  the", key="ключ"),
    Sentence(1, 4_000, "quick quick"),
]
WATCHED = [Sentence(0, 6_000, "the watched fox", key="w")]
SECOND = [
    Sentence(0, 5_000, "the fox is back"),
    Sentence(1, 1_500, "東京 dog"),
    Sentence(1, 9_500, None, key="a"),
]

WORDS = (
    "transform(filter(split(lower(coalesce(value, '')), ' '), word -> word <> ''), "
    "word -> struct(word AS key, word AS value))"
)


def test_a_word_count_is_drawn_deployed_killed_stopped_and_taken_home(
    system: System, page: Page, tmp_path: Path
) -> None:
    create_topic(system.bootstrap_servers, SOURCE, 2)
    designer = new_topology(page, "Journey")
    source, words_node, store = draw(designer)
    see_and_mend_a_wrong_expression(designer)
    designer.save("Counts words")

    page.get_by_test_id("deploy").click()
    create_the_missing_topic(designer)
    designer.expect_state("running", TO_RUNNING)
    expect(page.get_by_test_id("deployment-steps")).to_have_count(0)
    designer.open_deployment()
    page.locator(".react-flow__pane").click(position={"x": 700, "y": 60})
    expect(page.get_by_test_id("deployment-steps")).to_have_count(0)
    first_driver = designer.driver()
    designer.close_deployment()

    write(system.bootstrap_servers, SOURCE, FIRST)
    reader = CountReader(system.bootstrap_servers, SINK)
    reader.until_counted(words(FIRST), TO_COUNT)
    see_the_records_of_an_edge(designer, system, source, words_node)
    reader.until_counted(words(FIRST + WATCHED), TO_COUNT)
    see_the_assignment(designer)
    see_the_charts(designer)
    alerts = see_an_alert_fire(designer, system)

    os.kill(first_driver, signal.SIGKILL)
    write(system.bootstrap_servers, SOURCE, SECOND)
    reader.until_counted(words(FIRST + WATCHED + SECOND), TO_RUNNING)
    reader.close()
    designer.expect_state("running", TO_RUNNING)
    assert designer.driver() != first_driver
    expect(page.get_by_text("1 restart")).to_be_visible()
    designer.close_deployment()
    see_why_the_tasks_moved(designer)
    see_the_alert_resolved(alerts)
    look_into_the_store(designer, store)

    designer.open_deployment()
    page.get_by_test_id("stop").click()
    designer.expect_state("stopped", 90)
    designer.close_deployment()
    look_into_the_store_of_a_stopped_job(designer)

    zipped = export(designer, tmp_path)
    at_home = CountReader(system.bootstrap_servers, SINK, from_end=True)
    run_job(zipped, tmp_path, system.bootstrap_servers)
    at_home.until_counted(words(FIRST + WATCHED + SECOND), 60)
    at_home.close()


def new_topology(page: Page, name: str) -> Designer:
    """Create a topology from the list and return its empty canvas."""
    page.get_by_test_id("empty-canvas").or_(page.get_by_test_id("new-topology")).first.click()
    page.get_by_test_id("topology-name").fill(name)
    page.get_by_test_id("create-topology").click()
    page.wait_for_url("**/t/*")
    designer = Designer(page)
    assert designer.nodes() == []
    return designer


def draw(designer: Designer) -> tuple[str, str, str]:
    """Draw five nodes, wired and filled; return the ids of the first two and the store."""
    source = designer.drag("source.stream", 220, 120)
    flat_map = designer.drag("flat_map", 220, 260)
    count = designer.drag("count", 540, 260)
    sink = designer.drag("sink.topic", 540, 120)
    store = designer.drag("store.key_value", 240, 560)
    designer.page.locator(".react-flow__pane").click(position={"x": 700, "y": 60})

    designer.wire(source, flat_map)
    designer.wire(flat_map, count)
    designer.wire(store, count, port="store", side="store")
    designer.wire(count, sink)

    designer.select(source)
    designer.name("Sentences")
    designer.choose_topic("topics", SOURCE)
    designer.choose("key", "Text")
    designer.choose("value", "Text")

    designer.select(flat_map)
    designer.name("Words")
    designer.write("records", "transform(split(valeu, ' '), word -> struct(word AS key))")

    designer.select(store)
    designer.field("name").locator("input").fill("counts")

    designer.select(sink)
    designer.name("Counts")
    designer.choose_topic("topic", SINK)
    return source, flat_map, store


def see_and_mend_a_wrong_expression(designer: Designer) -> None:
    """The problem is listed; a click leads to its field; a correct expression removes it."""
    page = designer.page
    designer.open_panel("Problems")
    problem = page.get_by_test_id("problem").filter(has_text="valeu")
    expect(problem).to_be_visible()
    page.get_by_test_id("deploy").click()
    expect(page.get_by_test_id("deployment-pill")).to_have_count(0)
    problem.click()
    expect(designer.field("records").locator(".field-problem")).to_contain_text("valeu")
    designer.write("records", WORDS)
    expect(page.get_by_text("No problems")).to_be_visible()


def create_the_missing_topic(designer: Designer) -> None:
    """The sink's topic does not exist: it is created with the requested partitions."""
    question = designer.page.get_by_test_id("missing-topics")
    expect(question).to_contain_text(SINK)
    expect(designer.page.get_by_test_id("deployment-pill")).to_have_count(0)
    question.get_by_label("Partitions").fill("3")
    designer.page.get_by_test_id("create-topics").click()
    expect(question).to_have_count(0)


def see_the_records_of_an_edge(
    designer: Designer, system: System, source: str, target: str
) -> None:
    """The total since the start; records only while the panel is open; they can be simulated."""
    page = designer.page
    designer.select_edge(source, target)
    panel = page.get_by_test_id("edge-records")
    expect(panel.get_by_test_id("edge-total")).to_contain_text(f"{len(FIRST)} records")
    expect(panel).to_have_attribute("data-sampling", "on", timeout=60_000)
    expect(panel).to_contain_text("No records yet")
    write(system.bootstrap_servers, SOURCE, WATCHED)
    row = panel.get_by_role("row").filter(has_text="the watched fox")
    expect(row).to_have_count(1, timeout=TO_COUNT * 1000)
    expect(row).to_contain_text("1970-01-01 00:00:06")
    expect(row.get_by_role("link")).to_contain_text(f"{SOURCE}-0 @ ")
    expect(panel.get_by_test_id("edge-total")).to_contain_text(f"{len(FIRST) + 1} records")
    total = page.locator(".edge-chip[data-rate]", has_text=re.compile(rf"^{len(FIRST) + 1}\b"))
    expect(total.first).to_be_visible()

    panel.get_by_test_id("pause-records").click()
    expect(panel.get_by_role("button", name="Continue")).to_be_visible()
    panel.get_by_test_id("simulate-records").click()
    simulate = page.get_by_test_id("simulate")
    expect(simulate.get_by_label("Value of record 1")).to_have_value("the watched fox")


def see_the_assignment(designer: Designer) -> None:
    """One task for each partition, with executor and thread."""
    page = designer.page
    designer.open_panel("Assignment")
    page.get_by_role("radio", name="Table").click()
    rows = page.get_by_test_id("assignment-table").locator("tbody tr")
    expect(rows.filter(has_text="1_1")).to_have_count(1)
    seen: dict[str, list[str]] = {}
    for row in rows.all():
        task, partition, executor, thread, *_ = row.locator("td").all_inner_texts()
        assert executor, task
        assert thread, task
        seen.setdefault(task, []).append(partition)
    assert seen == {
        "0_0": [f"{SOURCE}-0"],
        "0_1": [f"{SOURCE}-1"],
        "1_0": seen.get("1_0", []),
        "1_1": seen.get("1_1", []),
    }
    page.get_by_role("radio", name="Matrix").click()
    for task in ("0_0", "0_1", "1_0", "1_1"):
        expect(page.get_by_test_id(f"task-{task}")).to_be_visible()


def see_an_alert_fire(designer: Designer, system: System) -> Page:
    """A rule about silence fires while nothing is written; return the page of alerts."""
    page = designer.page.context.new_page()
    page.goto(f"{system.address}/w/main/alerts")
    alert = create_rule(page, "Quiet", "Time without a record", above=5, seconds=1)
    expect(alert).to_have_attribute("data-state", "firing", timeout=60_000)
    expect(alert).to_contain_text("Journey")
    expect(designer.page.get_by_test_id("alert-mark")).to_contain_text("1", timeout=60_000)
    return page


def see_the_alert_resolved(page: Page) -> None:
    """The records that the next driver read resolved the alert, once."""
    resolved = page.locator('[data-testid="alert"][data-state="resolved"]')
    expect(resolved.filter(has_text="Quiet").first).to_be_visible(timeout=60_000)
    delete_rule(page, "Quiet")
    page.close()


def see_why_the_tasks_moved(designer: Designer) -> None:
    """Each task moved from the killed driver to the next one."""
    page = designer.page
    designer.open_panel("Assignment")
    page.get_by_role("radio", name="History").click()
    moves = page.get_by_test_id("moves").locator("tbody tr")
    after, before = (
        moves.filter(has_text="0_0").filter(has_text=reason)
        for reason in ("The previous driver was lost or failed", "The deployment started")
    )
    expect(after).to_have_count(1, timeout=60_000)
    expect(before).to_have_count(1)
    expect(page.get_by_test_id("gantt")).to_contain_text("0_0")
    page.get_by_label("Search moves").fill("0_0")
    expect(moves).to_have_count(2)


def see_the_charts(designer: Designer) -> None:
    """Records in by node, then the lag of one partition, over an hour."""
    page = designer.page
    designer.open_panel("Charts")
    rows = page.get_by_test_id("chart-legend").locator("tbody tr")
    words_in = rows.filter(has_text="Words").locator("td").last
    expect(words_in).to_have_text(re.compile(r"[1-9]"), timeout=120_000)
    expect(page.get_by_test_id("charts").locator("canvas")).to_be_visible()
    page.get_by_role("radio", name="1 h", exact=True).click()
    page.get_by_role("combobox", name="Figure").click()
    page.get_by_role("option", name="Lag in records").click()
    expect(rows.filter(has_text=f"{SOURCE}-1")).to_have_count(1, timeout=60_000)
    page.get_by_role("combobox", name="Shown").click()
    page.get_by_role("option", name=f"{SOURCE}-0").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(f"{SOURCE}-0")


def export(designer: Designer, folder: Path) -> Path:
    """Download the zip of the saved version and return its path."""
    designer.open_panel("Code")
    with designer.page.expect_download() as waiting:
        designer.page.get_by_test_id("export-zip").click()
    target = folder / waiting.value.suggested_filename
    waiting.value.save_as(target)
    return target


def look_into_the_store(designer: Designer, store: str) -> None:
    """From the store's node to its rows; find a key; a refresh shows the next batch."""
    page = designer.page
    page.locator(".react-flow__pane").click(position={"x": 700, "y": 60})
    page.keyboard.press("1")
    designer.select(store)
    page.get_by_test_id("look-into").click()
    expect(page.get_by_test_id("state-as-of")).to_contain_text("as of batch", timeout=240_000)
    expected = str(words(FIRST + WATCHED + SECOND)["the"])
    page.get_by_test_id("state-key").fill("the")
    page.get_by_test_id("state-find").click()
    cells = page.get_by_test_id("state-rows").locator("tbody td")
    until = time.monotonic() + TO_COUNT
    # A count reaches its topic before the batch is committed.
    while cells.all_inner_texts()[:2] != ["the", expected] and time.monotonic() < until:
        page.get_by_test_id("state-refresh").click()
        page.wait_for_timeout(2_000)
    assert cells.all_inner_texts()[:2] == ["the", expected]
    expect(page.get_by_test_id("state-rows").locator("tbody tr")).to_have_count(1)


def look_into_the_store_of_a_stopped_job(designer: Designer) -> None:
    """All words with their counts, in the order of the store; an unknown word is not found."""
    page = designer.page
    page.get_by_role("button", name="All rows").click()
    rows = page.get_by_test_id("state-rows").locator("tbody tr")
    expected = words(FIRST + WATCHED + SECOND)
    expect(rows).to_have_count(len(expected), timeout=60_000)
    found = {}
    for row in rows.all():
        word, count, *_ = row.locator("td").all_inner_texts()
        found[word] = int(count)
    assert found == expected
    assert list(found) == sorted(expected, key=str.encode)
    page.get_by_role("switch", name="Newest first").click()
    expect(rows.first.locator("td").first).to_have_text("zürich", timeout=60_000)
    page.get_by_test_id("state-key").fill("nobody")
    page.get_by_test_id("state-find").click()
    expect(page.get_by_text("No rows", exact=True)).to_be_visible(timeout=60_000)
