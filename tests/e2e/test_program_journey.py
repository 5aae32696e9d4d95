"""A program written by hand: opened on the canvas and deployed from there."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pyspark.sql import SparkSession

from launcher import places
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.runtime import topics

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

EXAMPLE = places.REPOSITORY / "examples" / "priced_orders.py"
#: other journeys on this system use topics with the example's names
PRICES, REVENUE = "journey-prices", "journey-revenue"
SCHEMA = "id STRING, item STRING, quantity INT, at TIMESTAMP"
HOUR = 3_600


@pytest.fixture
def spark() -> Iterator[SparkSession]:
    from millrace_runtime import session

    found = session.create("orders", master="local[1]")
    yield found
    found.stop()


def test_a_program_over_parquet_and_a_topic_is_opened_on_the_canvas_and_deployed(
    system: System, page: Page, spark: SparkSession, tmp_path: Path
) -> None:
    """`document`, *Import a document…*, *Deploy*: the results are those of the program."""
    orders = system.files / "orders"
    orders.mkdir(parents=True)
    program = tmp_path / "priced_orders.py"
    text = EXAMPLE.read_text(encoding="utf-8")
    text = text.replace('"prices"', f'"{PRICES}"').replace('"revenue-per-hour"', f'"{REVENUE}"')
    program.write_text(text, encoding="utf-8")
    document = tmp_path / "priced-orders.json"
    subprocess.run(
        [sys.executable, "millrace", "document", str(program), "-o", str(document)],
        cwd=places.REPOSITORY,
        env={**os.environ, "ORDERS": str(orders)},
        check=True,
        timeout=120,
    )
    topics.create(system.bootstrap_servers, {PRICES: 3, REVENUE: 1})
    price = struct.pack(">d", 2.5)
    topics.produce(
        system.bootstrap_servers, PRICES, [{"key": "tea", "value": price, "timestamp": 1}]
    )
    add_orders(spark, orders, ("1", "tea", 2, HOUR), ("2", "tea", 4, HOUR + 60))

    page.get_by_test_id("empty-canvas").or_(page.get_by_test_id("new-topology")).first.click()
    page.locator("input[type=file]").set_input_files(document)
    page.get_by_test_id("topology-name").fill("Priced orders")
    page.get_by_test_id("create-topology").click()
    designer = Designer(page)
    assert set(designer.nodes()) >= {"orders", PRICES, "with-price", "revenue"}
    expect(designer.node("with-price")).to_contain_text("Add the price")
    boxes = [designer.node(each).bounding_box() for each in designer.nodes()]
    assert len({(each["x"], each["y"]) for each in boxes if each}) == len(boxes)

    page.get_by_test_id("deploy").click()
    designer.expect_state("running", 240)
    assert revenue(system, 15.0) == [5.0, 15.0]
    add_orders(spark, orders, ("3", "tea", 1, 2 * HOUR))
    assert revenue(system, 2.5) == [5.0, 15.0, 2.5]
    designer.open_deployment()
    page.get_by_test_id("stop").click()
    designer.expect_state("stopped", 90)


def add_orders(spark: SparkSession, folder: Path, *rows: tuple[str, str, int, int]) -> None:
    """Add a Parquet file: id, item, quantity and the time in seconds of each order."""
    made = [(id_, item, n, datetime.fromtimestamp(at, UTC)) for id_, item, n, at in rows]
    spark.createDataFrame(made, SCHEMA).coalesce(1).write.mode("append").parquet(str(folder))


def revenue(system: System, last: float) -> list[float]:
    """Return all written values as soon as the last one is `last`."""
    deadline = time.monotonic() + 180
    while True:
        found = [
            float(struct.unpack(">d", each.value())[0])
            for each in topics.consume(system.bootstrap_servers, REVENUE, 1)
        ]
        if found[-1:] == [last]:
            return found
        assert time.monotonic() < deadline, f"only {found} came"
