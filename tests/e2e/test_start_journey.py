"""A return to an earlier version, and a start from chosen offsets without stored rows."""

from __future__ import annotations

import itertools
import json
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.topics import Sentence, create_topic, write
from tests.runtime import topics

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]

SOURCE, SINK = "start-numbers", "start-sums"


def summing(*between: dict[str, Any]) -> dict[str, Any]:
    """Sums by key, optionally after other steps."""
    formats = {"key": {"format": "string"}, "value": {"format": "string"}}
    params = {"type": "BIGINT", "initializer": "0L", "aggregator": "agg + CAST(value AS BIGINT)"}
    nodes: list[dict[str, Any]] = [
        {"id": "numbers", "kind": "source.stream", "params": {"topics": [SOURCE], **formats}},
        *between,
        {"id": "sum", "kind": "aggregate", "params": params},
        {"id": "out", "kind": "sink.topic", "params": {"topic": SINK}},
    ]
    ids = [each["id"] for each in nodes]
    return {
        "format": "millrace.topology/1",
        "name": "start",
        "topics": {SOURCE: {"partitions": 1}, SINK: {"partitions": 1}},
        "nodes": nodes,
        "edges": [{"source": a, "target": b} for a, b in itertools.pairwise(ids)],
    }


def until_sums(
    system: System,
    holds: Callable[[list[int]], bool],
    seconds: float = 120,
    topic: str = SINK,
) -> None:
    """Wait until the written sums satisfy the condition; repeated updates are possible."""
    deadline = time.monotonic() + seconds
    while True:
        found = [
            struct.unpack(">q", each.value())[0]
            for each in topics.consume(system.bootstrap_servers, topic, 1)
        ]
        if holds(found):
            return
        assert time.monotonic() < deadline, f"only {found} came"


@pytest.mark.long
def test_an_earlier_version_runs_again_and_starts_from_given_offsets(
    page: Page, system: System
) -> None:
    """One change is taken back before its first batch, and another one is not.

    Then three tasks become one, and all stores are reset: the second record is the first.
    """
    for topic in (SOURCE, SINK):
        create_topic(system.bootstrap_servers, topic, 1)
    now = int(time.time() * 1000)

    def send(value: str) -> None:
        write(system.bootstrap_servers, SOURCE, [Sentence(0, now, value, "a")])

    with Api.of(system.address, page) as api:
        deployment = api.deploy("Start", summing())
        topology = api.call("GET", f"/deployments/{deployment}")["topology"]
        send("5")
        until_sums(system, lambda found: found[-1:] == [5], 240)
        spread = {"id": "spread", "kind": "repartition", "params": {"partitions": 3}}
        body = {"document": summing(spread), "message": "next", "base_version": 1}
        api.call("POST", f"/topologies/{topology}/versions", body)
        api.call("POST", f"/deployments/{deployment}/redeploy", {"version": 2})

        def runs(version: int, seconds: float = 300) -> None:
            deadline = time.monotonic() + seconds
            while True:
                found = api.call("GET", f"/deployments/{deployment}")
                run = found["run"]
                if found["observed"] == "running" and run and run["version"] == version:
                    return
                assert time.monotonic() < deadline, found
                time.sleep(0.3)

        runs(2)
        page.goto(f"{system.address}/w/main/t/{topology}")
        page.get_by_test_id("deployment-pill").click()
        page.get_by_test_id("cancel-change").click()
        runs(1)
        expect(page.get_by_test_id("cancel-change")).to_have_count(0)
        api.call("POST", f"/deployments/{deployment}/redeploy", {"version": 2})
        runs(2)
        send("6")
        until_sums(system, lambda found: found[-1:] == [11])
        page.keyboard.press("Escape")

        page.get_by_role("tab", name="Versions").click()
        page.get_by_role("button", name="Actions for version 1").click()
        page.get_by_role("menuitem", name="Deploy this version…").click()
        dialog = page.get_by_test_id("change-plan")
        expect(dialog).to_contain_text("The number of tasks changes.")
        accept = page.get_by_test_id("change-accept")
        accept.click()
        runs(1)
        send("7")
        until_sums(system, lambda found: found[-1:] == [18])
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 90)

        page.get_by_test_id("deployment-pill").click()
        page.get_by_test_id("start-from").click()
        page.get_by_role("combobox", name="Start from").click()
        page.get_by_role("option", name="Given offsets").click()
        page.get_by_role("dialog").get_by_label("Offsets").fill(f"{SOURCE} 0 1")
        page.get_by_test_id("begin-reset").check(force=True)
        page.get_by_test_id("start-plan").click()
        expect(dialog).to_contain_text("All stores start empty")
        cells = page.get_by_test_id("change-places").locator("tbody td")
        expect(cells).to_have_text([SOURCE, "0", "3", "1", "2"])
        expect(accept).to_be_disabled()
        page.get_by_test_id("change-name").fill("Start")
        accept.click()
        until_sums(system, lambda found: found[-2:] == [6, 13], 180)
        deadline = time.monotonic() + 60
        while len(api.call("GET", f"/deployments/{deployment}/old-state")) < 3:
            assert time.monotonic() < deadline, "the reset was not noted"
            time.sleep(0.3)
        Designer(page).open_panel("Runs")
        kept = page.get_by_test_id("old-state").locator("tbody tr")
        expect(kept).to_have_count(3, timeout=20_000)
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 90)


NUMBERS, TOTALS = "state-numbers", "state-sums"
HOUR = 3_600_000


def stores() -> dict[str, Any]:
    """Return sums, sums per hour and the latest text by key, each in a named store."""
    found = json.loads(
        json.dumps(summing()).replace("start-numbers", NUMBERS).replace("start-sums", TOTALS)
    )
    (total,) = (each for each in found["nodes"] if each["id"] == "sum")
    window = {"window": {"type": "tumbling", "size": "1 hour"}}
    found["nodes"] += [
        {"id": "hourly", "kind": "aggregate", "params": {**total["params"], **window}},
        {"id": "latest", "kind": "to_table", "params": {}},
        {"id": "s1", "kind": "store.key_value", "params": {"name": "sums"}},
        {"id": "s2", "kind": "store.window", "params": {"name": "hours", "retention": "1 day"}},
        {
            "id": "s3",
            "kind": "store.versioned",
            "params": {"name": "versions", "history_retention": "1 day"},
        },
    ]
    found["edges"] += [
        {"source": "numbers", "target": "hourly"},
        {"source": "numbers", "target": "latest"},
        {"source": "s1", "target": "sum", "target_port": "store"},
        {"source": "s2", "target": "hourly", "target_port": "store"},
        {"source": "s3", "target": "latest", "target_port": "store"},
    ]
    return found  # type: ignore[no-any-return]


def in_utc(at: int) -> str:
    """Format epoch milliseconds for a time field of the page, in UTC."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S}"


@pytest.mark.long
def test_rows_are_found_by_key_and_time_and_a_failure_is_simulated(
    page: Page, system: System
) -> None:
    """The fields of the state browser, a start from a time, and the failed record."""
    for topic in (NUMBERS, TOTALS):
        create_topic(system.bootstrap_servers, topic, 1)
    hour = int(time.time() * 1000) // HOUR * HOUR
    times = [hour - 2 * HOUR, hour - 2 * HOUR + 60_000, hour - HOUR, hour]
    numbers = [("apple", "1"), ("apricot", "2"), ("banana", "4"), ("apple", "8")]
    sentences = [
        Sentence(0, at, value, key) for at, (key, value) in zip(times, numbers, strict=True)
    ]
    write(system.bootstrap_servers, NUMBERS, sentences)

    with Api.of(system.address, page) as api:
        deployment = api.deploy("Rows", stores())
        topology = api.call("GET", f"/deployments/{deployment}")["topology"]
        until_sums(system, lambda found: found[-1:] == [9], 240, TOTALS)
        page.goto(f"{system.address}/w/main/t/{topology}")
        Designer(page).open_panel("State")
        expect(page.get_by_test_id("state-as-of")).to_contain_text("as of batch", timeout=240_000)
        rows = page.get_by_test_id("state-rows").locator("tbody tr")

        def choose(store: str) -> None:
            page.get_by_role("combobox", name="Store").click()
            page.get_by_role("option", name=store, exact=True).click()

        def shown(*expected: str) -> None:
            keys = rows.locator("td:first-child")
            deadline = time.monotonic() + 90
            while True:
                with suppress(AssertionError):
                    expect(keys).to_have_text(expected, timeout=5_000)
                    return
                assert time.monotonic() < deadline, keys.all_inner_texts()
                # A result reaches its topic before the batch is committed.
                page.get_by_test_id("state-refresh").click()

        def find(by: str, text: str) -> None:
            page.get_by_role("combobox", name="Find rows by").click()
            page.get_by_role("option", name=by).click()
            page.get_by_test_id("state-key").fill(text)
            page.get_by_test_id("state-find").click()

        choose("sums")
        shown("apple", "apricot", "banana")
        find("Key begins with", "ap")
        shown("apple", "apricot")
        find("Keys from", "apricot")
        shown("apricot", "banana")

        choose("hours")
        shown("apple", "apple", "apricot", "banana")
        page.get_by_test_id("state-fromTime").fill(in_utc(hour - HOUR))
        page.get_by_test_id("state-find").click()
        shown("apple", "banana")
        page.get_by_test_id("state-toTime").fill(in_utc(hour - HOUR))
        page.get_by_test_id("state-find").click()
        shown("banana")

        choose("versions")
        shown("apple", "apricot", "banana")
        apple = rows.filter(has_text="apple").locator("td").nth(1)
        expect(apple).to_have_text("8")
        page.get_by_test_id("state-asOf").fill(in_utc(hour - HOUR))
        page.get_by_test_id("state-find").click()
        expect(apple).to_have_text("1")
        page.get_by_test_id("state-asOf").fill(in_utc(hour - 2 * HOUR))
        page.get_by_test_id("state-find").click()
        shown("apple")

        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 90)
        page.get_by_test_id("deployment-pill").click()
        page.get_by_test_id("start-from").click()
        page.get_by_role("combobox", name="Start from").click()
        page.get_by_role("option", name="A time").click()
        page.get_by_role("dialog").get_by_label("Time", exact=True).fill(in_utc(hour - HOUR))
        page.get_by_test_id("begin-reset").check(force=True)
        page.get_by_test_id("start-plan").click()
        cells = page.get_by_test_id("change-places").locator("tbody td")
        expect(cells).to_have_text([NUMBERS, "0", "4", "2", "2"])
        page.get_by_test_id("change-name").fill("Rows")
        page.get_by_test_id("change-accept").click()
        until_sums(system, lambda found: found[-2:] == [4, 8], 180, TOTALS)

        # A record that cannot be summed fails the deployment; the error links to a simulation.
        write(system.bootstrap_servers, NUMBERS, [Sentence(0, hour + 1, "nine", "pear")])
        api.until(deployment, "failed", 180)
        if not page.get_by_test_id("failure-simulate").is_visible():
            page.get_by_test_id("deployment-pill").click()
        page.get_by_test_id("failure-simulate").click()
        panel = page.get_by_test_id("simulate")
        expect(panel.get_by_label("Value of record 1")).to_have_value("nine")
        expect(panel.get_by_label("Key of record 1")).to_have_value("pear")
        page.keyboard.press("Escape")
        page.get_by_test_id("simulate-run").click()
        expect(panel.get_by_text("Stopped at record 1")).to_be_visible(timeout=180_000)
