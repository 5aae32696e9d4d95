"""A running deployment is inspected: where a record went, and why."""

from __future__ import annotations

import itertools
import time
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.topics import Sentence, create_topic, write
from tests.runtime.topics import size

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow, pytest.mark.long]

RUN = uuid.uuid4().hex[:6]
SOURCE, SINK = f"orders-{RUN}", f"counts-{RUN}"


def document() -> dict[str, Any]:
    """Orders of more than ten, counted by item: the key changes, so there is a shuffle."""
    value = {"format": "json", "schema": "item STRING, n INT"}
    text, number = {"format": "string"}, {"format": "long"}
    nodes: list[dict[str, Any]] = [
        {
            "id": "orders",
            "kind": "source.stream",
            "label": "Orders",
            "params": {"topics": [SOURCE], "key": text, "value": value},
        },
        {"id": "large", "kind": "filter", "params": {"predicate": "value.n > 10"}},
        {"id": "count", "kind": "count", "params": {"group_by": {"key": "value.item"}}},
        {"id": "rows", "kind": "to_stream"},
        {
            "id": "out",
            "kind": "sink.topic",
            "params": {"topic": SINK, "key": text, "value": number},
        },
    ]
    ids = [each["id"] for each in nodes]
    for n, node in enumerate(nodes):
        node["position"] = {"x": 280 * n, "y": 0}
    return {
        "format": "millrace.topology/1",
        "name": "inside",
        "topics": {SOURCE: {"partitions": 2}, SINK: {"partitions": 1}},
        "nodes": nodes,
        "edges": [{"source": a, "target": b} for a, b in itertools.pairwise(ids)],
    }


def test_a_record_of_a_deployment_is_followed_to_what_it_became(page: Page, system: System) -> None:
    create_topic(system.bootstrap_servers, SOURCE, 2)
    begin = int(time.time() * 1000) - 60_000
    orders = [("tea", 20), ("rice", 5), ("tea", 30), ("rice", 40), ("tea", 50)]
    write(
        system.bootstrap_servers,
        SOURCE,
        [
            Sentence(n % 2, begin + n * 1_000, f'{{"item":"{item}","n":{amount}}}', f"order-{n}")
            for n, (item, amount) in enumerate(orders)
        ],
    )
    with Api.of(system.address, page) as api:
        deployment = api.deploy(f"Inside {RUN}", document())
        api.until(deployment, "running", 240)
        topology = api.call("GET", f"/deployments/{deployment}")["topology"]
        page.goto(f"{system.address}/w/main/t/{topology}")
        designer = Designer(page)
        designer.open_panel("Records")
        page.get_by_test_id("follow").click()
        page.get_by_test_id("follow-text").fill("order-2")
        page.get_by_test_id("follow-start").click()
        way = page.get_by_test_id("way-steps")
        expect(way).to_contain_text(f"written to {SINK}", timeout=120_000)
        expect(way).to_contain_text("repartition, task 1_")
        # Both orders of tea up to this one, and the row that the last one changed.
        expect(page.get_by_test_id("way-rows")).to_contain_text('"tea"2changed by record')
        begins = page.get_by_test_id("follow-begins")
        expect(begins).to_contain_text(f"{SOURCE}-0 @ 1 in version 1")
        expect(begins).to_contain_text("so stores are complete")
        way.get_by_role("button").nth(1).click()
        expect(way.locator("[aria-current=true]")).to_contain_text("large")

        page.get_by_test_id("way-search").fill("rice")
        page.get_by_test_id("way-inputs").get_by_role("button").first.click()
        expect(way).to_contain_text("Filtered out: “value.n > 10” is not true for it.")

        # The record's topic, filtered by an expression over the formats of the topology's source.
        page.goto(f"{system.address}/w/main/topics/{SOURCE}?reader={topology}:orders")
        rows = page.locator('[data-testid="records"] tbody tr')
        expect(rows).to_have_count(5, timeout=30_000)
        page.get_by_test_id("where").fill("value.n > 25 AND partition = 0")
        page.get_by_test_id("filter").click()
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text('"n": 50')
        expect(page.get_by_test_id("scanned")).to_contain_text("Scanned 5 records.")

        # From the record's page in the topic browser, with too few records before it.
        page.goto(
            f"{system.address}/w/main/topics/{SOURCE}?start=offset&partition=0&offset=2&record=0:2"
        )
        page.get_by_test_id("follow-record").click()
        expect(page.get_by_test_id("way-rows")).to_contain_text('"tea"3unchanged since')
        designer.open_panel("Records")
        page.get_by_test_id("follow").click()
        page.get_by_role("radio", name="Text in it").click()
        page.get_by_test_id("follow-text").fill('"n":50')
        page.get_by_label("Records before it").fill("1")
        page.get_by_label("Mask fields").check(force=True)
        page.get_by_role("combobox", name="Mask of key").click()
        page.get_by_role("option", name="Hash").click()
        page.get_by_test_id("follow-start").click()
        expect(page.get_by_test_id("way-rows")).to_contain_text('"tea"1unchanged since')
        expect(begins).to_contain_text("Stores start empty")
        expect(page.get_by_test_id("way-inputs")).not_to_contain_text("order-")
        page.get_by_test_id("follow-use").click()
        expect(page.get_by_test_id("simulation-inputs").locator("[data-row]")).to_have_count(2)
        # A later order starts from the deployment's stores instead of earlier records.
        write(system.bootstrap_servers, SOURCE, [tea(begin + 9_000, 60, "order-5")])
        until_counted(system, 5)
        designer.open_panel("Records")
        page.get_by_test_id("follow").click()
        page.get_by_test_id("follow-text").fill("order-5")
        page.get_by_label("Records before it").fill("0")
        page.get_by_test_id("follow-start").click()
        expect(begins).to_contain_text("stores of the deployment after batch", timeout=120_000)
        expect(page.get_by_test_id("way-inputs").get_by_role("button")).to_have_count(1)
        expect(page.get_by_test_id("way-rows")).to_contain_text('"tea"4')
        page.get_by_role("radio", name="Step by step").click()
        stores = page.get_by_test_id("simulation-stores")
        expect(stores).to_contain_text('"rice"1')
        expect(stores).to_contain_text('"tea"3')
        page.get_by_role("button", name="Last step", exact=True).click()
        expect(stores).to_contain_text('"tea"4')
        page.get_by_role("radio", name="Outputs").click()
        expect(page.get_by_role("button", name="Keep as a test…")).to_have_count(0)
        see_an_alert_about_latency(page, system)
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 60)


def tea(timestamp: int, amount: int, key: str) -> Sentence:
    return Sentence(0, timestamp, f'{{"item":"tea","n":{amount}}}', key)


def until_counted(system: System, records: int) -> None:
    """Wait until the deployment has written this many counts and committed its batch."""
    until = time.monotonic() + 60
    while size(system.bootstrap_servers, SINK) < records:
        assert time.monotonic() < until
        time.sleep(0.5)
    time.sleep(2)


def see_an_alert_about_latency(page: Page, system: System) -> None:
    """An order that is two minutes late fires the alert; orders in time resolve it."""
    page.goto(f"{system.address}/w/main/alerts")
    page.get_by_test_id("new-rule").click()
    form = page.get_by_test_id("rule-form")
    form.get_by_label("Name").fill(f"Late {RUN}")
    form.get_by_role("combobox", name="Condition").click()
    page.get_by_role("option", name="Latency from the record's time (p99)").click()
    form.get_by_label("Above").fill("60")
    form.get_by_label("For", exact=True).fill("0")
    page.get_by_test_id("save-rule").click()
    expect(form).to_have_count(0)
    alert = page.get_by_test_id("alert").filter(has_text=f"Late {RUN}")

    def until(state: str, minutes_late: int) -> None:
        """Write an order each second until the alert has this state."""
        last = time.monotonic() + 90
        while alert.get_attribute("data-state") != state if alert.count() else True:
            assert time.monotonic() < last, f"the alert is not {state}"
            now = int(time.time() * 1000) - 60_000 * minutes_late
            late = Sentence(0, now, '{"item":"tea","n":20}', "order-late")
            write(system.bootstrap_servers, SOURCE, [late])
            page.wait_for_timeout(1_000)

    until("firing", 2)
    expect(alert).to_contain_text(f"Inside {RUN}")
    until("resolved", 0)
    rule = page.get_by_test_id("alert-rule").filter(has_text=f"Late {RUN}")
    rule.get_by_test_id("delete-rule").click()
    page.get_by_test_id("delete-rule-now").click()
    expect(rule).to_have_count(0)


def test_a_test_is_verified_on_kafka_streams_from_the_page(page: Page, system: System) -> None:
    with Api.of(system.address, page) as api:
        name = f"Verified {RUN}"
        topology = api.call("POST", "/workspaces/main/topologies", {"name": name})["id"]
        version = {"document": document(), "message": "", "base_version": None}
        api.call("POST", f"/topologies/{topology}/versions", version)
        inputs = [
            {"topic": SOURCE, "key": f"order-{n}", "value": {"item": "tea", "n": n}, "timestamp": n}
            for n in (5, 20, 30)
        ]
        kept = {"name": "Large orders of tea", "inputs": inputs, "expected": {"dropped": 0}}
        api.call("POST", f"/topologies/{topology}/tests", kept)
    page.goto(f"{system.address}/w/main/t/{topology}")
    Designer(page).open_panel("Simulate")
    page.get_by_role("radio", name="Tests").click()
    page.get_by_test_id("verify").click()
    verified = page.get_by_test_id("verified")
    expect(verified).to_have_attribute("data-equal", "true", timeout=400_000)
    expect(verified).to_contain_text("Kafka Streams gives the same.")
