"""Topics in the page: created, written to, read live, by schema and filtered, deleted."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.system import System
from tests.e2e.test_word_count_journey import new_topology
from tests.runtime import topics

#: 2026-01-01, in milliseconds
BEGIN = 1_767_225_600_000
#: milliseconds until the simulator, which handles Avro, has answered on a busy machine
PATIENCE = 60_000

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list of the page."""
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_topic_is_created_written_to_watched_and_deleted(page: Page, system: System) -> None:
    """Everything by hand; records of another program appear while the page is open."""
    page.get_by_role("link", name="Topics").click()
    page.get_by_test_id("new-topic").first.click()
    page.get_by_test_id("topic-name").fill("visits")
    page.get_by_test_id("create-topic").click()
    expect(page.get_by_role("heading", name="visits")).to_be_visible()
    expect(page.get_by_text("There are no records here")).to_be_visible()

    page.get_by_test_id("produce").click()
    page.get_by_test_id("new-key").fill("anna")
    page.get_by_test_id("new-value").fill("{not JSON")
    page.get_by_test_id("write-record").click()
    expect(page.get_by_text("Not valid JSON")).to_be_visible()
    page.get_by_test_id("new-value").fill('{"page": {"id": 7}}')
    page.get_by_test_id("write-record").click()
    expect(page.get_by_text("Written to partition 0 at offset 0.")).to_be_visible()
    page.keyboard.press("Escape")
    rows = page.locator('[data-testid="records"] tbody tr')
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text('{"page": {"id": 7}}')

    page.get_by_test_id("live").check(force=True)
    values = [json.dumps({"page": {"id": n}}) for n in range(80)]
    topics.produce(system.bootstrap_servers, "visits", [{"value": each} for each in values])
    expect(rows).to_have_count(81)
    expect(rows.first).to_contain_text('{"page": {"id": 79}}')

    page.get_by_test_id("field").fill("value.page.id")
    page.get_by_test_id("equals").fill("7")
    page.get_by_test_id("filter").click()
    expect(rows).to_have_count(2)
    expect(page.get_by_test_id("scanned")).to_contain_text("Scanned 81 records.")
    page.get_by_test_id("compare").click()
    page.get_by_role("option", name="≥", exact=True).click()
    page.get_by_test_id("equals").fill("78")
    page.get_by_test_id("filter").click()
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text('{"page": {"id": 79}}')
    page.get_by_test_id("compare").click()
    page.get_by_role("option", name="=", exact=True).click()
    page.get_by_test_id("equals").fill("7")
    page.get_by_test_id("filter").click()
    expect(rows).to_have_count(2)
    rows.nth(1).click()
    record = page.get_by_test_id("record")
    expect(record).to_contain_text("Partition 0, offset 0")
    record.get_by_role("radio", name="Raw bytes").click()
    expect(record).to_contain_text("61 6e 6e 61")
    page.reload()
    expect(record).to_contain_text("Partition 0, offset 0")
    # The same record again, with its timestamp: it is the newest of those with the number 7.
    written = record.get_by_text("set by the producer").locator("..").inner_text()
    page.get_by_test_id("produce-again").click()
    expect(page.get_by_test_id("new-key")).to_have_value("anna")
    page.get_by_test_id("write-record").click()
    expect(page.get_by_text("Written to partition 0 at offset 81.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(rows).to_have_count(3)
    rows.first.click()
    expect(record).to_contain_text("Partition 0, offset 81")
    expect(record.get_by_text("set by the producer").locator("..")).to_have_text(written)

    page.get_by_role("tab", name="Partitions").click()
    expect(page.get_by_test_id("partitions")).to_contain_text("82")
    page.get_by_role("tab", name="Configuration").click()
    expect(page.get_by_test_id("configuration")).to_contain_text("retention.ms")
    page.get_by_role("tab", name="Consumer groups").click()
    expect(page.get_by_text("No consumer groups")).to_be_visible()

    page.get_by_test_id("delete-topic").click()
    confirm = page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True)
    expect(confirm).to_be_disabled()
    page.get_by_label("Type its name to confirm").fill("visits")
    confirm.click()
    expect(page).to_have_url(re.compile(r"/w/main/topics$"))
    expect(page.get_by_role("link", name="visits")).to_have_count(0)


def test_an_avro_record_is_produced_read_and_produced_again(page: Page, system: System) -> None:
    """The schema is longer than a URL may be."""
    topics.create(system.bootstrap_servers, {"orders-avro": 1})
    fields = [{"name": "item", "type": "string"}, {"name": "n", "type": "int"}]
    order = {"type": "record", "name": "Order", "doc": "é" * 12_000, "fields": fields}
    schema = json.dumps(order, ensure_ascii=False)
    value = {"format": "avro", "schema": schema, "text": '{"item": "milk", "n": 1}'}
    with Api.of(system.address, page) as api:
        # The simulator starts, and writes a first record.
        api.answer("POST", "/workspaces/main/topics/orders-avro/records", 180, {"value": value})
    page.goto(f"{system.address}/w/main/topics/orders-avro")
    page.get_by_test_id("produce").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Format of the value").click()
    page.get_by_role("option", name="Avro", exact=True).click()
    dialog.get_by_test_id("value-schema").fill(schema)
    dialog.get_by_test_id("new-key").fill("anna")
    dialog.get_by_test_id("new-value").fill('{"item": "tea", "n": 2}')
    dialog.get_by_test_id("write-record").click()
    written = page.get_by_text("Written to partition 0 at offset 1.")
    expect(written).to_be_visible(timeout=PATIENCE)
    page.keyboard.press("Escape")
    rows = page.locator('[data-testid="records"] tbody tr')
    expect(rows).to_have_count(2)
    expect(rows.first).not_to_contain_text('"item"')

    choose(page, "Value as", "Avro")
    page.get_by_test_id("value-schema").fill(schema)
    page.get_by_test_id("filter").click()
    expect(rows.first).to_contain_text('{"item": "tea", "n": 2}', timeout=PATIENCE)
    page.reload()
    rows.first.click(timeout=PATIENCE)
    expect(page.get_by_test_id("record")).to_contain_text('"item": "tea"', timeout=PATIENCE)
    page.get_by_test_id("produce-again").click()
    expect(dialog.get_by_test_id("value-schema")).to_have_value(schema)
    expect(dialog.get_by_test_id("new-value")).to_have_value('{\n  "item": "tea",\n  "n": 2\n}')
    dialog.get_by_test_id("new-value").fill('{"item": "tea", "n": 3}')
    dialog.get_by_test_id("write-record").click()
    written = page.get_by_text("Written to partition 0 at offset 2.")
    expect(written).to_be_visible(timeout=PATIENCE)
    page.keyboard.press("Escape")
    expect(rows).to_have_count(3, timeout=PATIENCE)
    expect(rows.first).to_contain_text("anna")
    expect(rows.first).to_contain_text('{"item": "tea", "n": 3}')


def test_a_source_opens_its_topic_from_the_beginning_on(page: Page, system: System) -> None:
    """From the designer to the records and through their pages."""
    topics.create(system.bootstrap_servers, {"clicks-there": 2})
    topics.produce(
        system.bootstrap_servers,
        "clicks-there",
        [{"value": f"click {n}", "timestamp": BEGIN + n, "partition": n % 2} for n in range(120)],
    )
    designer = new_topology(page, "Clicks here")
    designer.select(designer.drag("source.stream", 300, 300))
    designer.choose_topic("topics", "clicks-there")
    page.get_by_test_id("look-at-clicks-there").click()
    rows = page.locator('[data-testid="records"] tbody tr')
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text("click 119")
    page.get_by_test_id("more").click()
    page.get_by_test_id("more").click()
    expect(rows).to_have_count(120)
    expect(page.get_by_test_id("scanned")).to_contain_text("There are no more.")
    choose(page, "Start", "From the beginning")
    expect(rows.first).to_contain_text("click 0")
    choose(page, "Value as", "Long")
    expect(rows.first).to_contain_text(b"click 0".hex())
