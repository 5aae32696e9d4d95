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
from tests.e2e.api import Api
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.runtime import topics

AXE = places.REPOSITORY / "node_modules" / "axe-core" / "axe.min.js"
#: milliseconds until a server has answered, on a busy machine
PATIENCE = 180_000

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

EXAMPLE = places.REPOSITORY / "examples" / "priced_orders.py"
#: other journeys on this system use topics with the example's names
PRICES, REVENUE = "journey-prices", "journey-revenue"
SCHEMA = "id STRING, item STRING, quantity INT, at TIMESTAMP"
HOUR = 3_600


@pytest.fixture
def spark() -> Iterator[SparkSession]:
    from millrace_runtime.session import session

    found = session.create("orders", master="local[1]")
    yield found
    found.stop()


def test_a_program_over_parquet_and_a_topic_is_opened_and_deployed(
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


SHOP = """
from millrace_runtime import Topology, key_value_store, string

topology = Topology("shop")
orders = topology.stream("shop-orders", key=string(), value=string(), name="orders")
# How many
counts = orders.group_by_key().count(store=key_value_store("counts"), name="count")
counts.to_stream().to("shop-counts", name="out")
"""


def test_a_program_is_imported_and_again_as_the_next_version(
    system: System, page: Page, tmp_path: Path
) -> None:
    """*New topology*, an error with its line, then *Versions → Import…* and *Save*."""
    program = tmp_path / "shop.py"
    program.write_text(SHOP.replace("group_by_key()", "group_by_ky()"), "utf-8")
    choose(page, program)
    problem = page.get_by_test_id("import-problem")
    expect(problem).to_be_in_viewport(timeout=120_000)
    expect(problem).to_contain_text("shop.py, line 7: AttributeError")
    page.keyboard.press("Escape")

    program.write_text(SHOP, "utf-8")
    choose(page, program)
    expect(page.get_by_test_id("topology-name")).to_have_value("shop", timeout=60_000)
    page.get_by_test_id("create-topology").click()
    designer = Designer(page)
    assert set(designer.nodes()) == {"orders", "count", "counts", "to-stream", "out"}
    expect(designer.node("count")).to_contain_text("How many")
    place = designer.node("out").bounding_box()

    program.write_text(
        SHOP.replace("orders.group_by_key()", "orders.filter(\"value != ''\").group_by_key()"),
        "utf-8",
    )
    page.get_by_role("tab", name="Versions").click()
    page.get_by_test_id("import").click()
    page.locator("input[type=file]").set_input_files(program)
    expect(page.get_by_text("added Filter")).to_be_visible(timeout=60_000)
    page.get_by_test_id("import-replace").click()
    expect(designer.node("filter")).to_be_visible()
    assert designer.node("out").bounding_box() == place
    designer.save("with a filter")
    with Api.of(system.address, page) as api:
        topology = int(page.url.rsplit("/t/", 1)[1])
        saved = api.call("GET", f"/topologies/{topology}/versions")["results"][0]
    assert (saved["number"], saved["message"]) == (2, "with a filter")


FRAGMENT = """
from millrace_runtime import Processor, Stream, Topology, fragment, json, stream_input, string


@fragment("Clean", version=2, inputs={"in": stream_input(value="STRUCT<n: INT>")})
def clean(records: Stream) -> Stream:
    return records.filter("value.n > 5", name="large")


topology = Topology("in-place")
clean(topology.stream("orders", key=string(), value=json("n INT"))).to("large", name="out")
"""


def test_a_fragment_is_changed_in_its_function_and_comments_are_kept(
    system: System, page: Page, tmp_path: Path
) -> None:
    """A node that is typed into a function is drawn in the fragment; another browser has both."""
    program = tmp_path / "in-place.py"
    program.write_text(FRAGMENT, "utf-8")
    choose(page, program)
    expect(page.get_by_test_id("topology-name")).to_have_value("in-place", timeout=PATIENCE)
    page.get_by_test_id("create-topology").click()
    designer = Designer(page)
    page.get_by_role("button", name="Program", exact=True).click()
    text = page.get_by_test_id("program").locator(".cm-content")
    text.locator(".cm-line", has_text="value.n > 5").click(timeout=PATIENCE)
    page.keyboard.press("End")
    page.keyboard.type('.map_values("value.n", name="only")  # mine')
    fragment = designer.node("clean")
    for _ in range(2):  # closing it and opening it again is no loop of selections
        fragment.dblclick(position={"x": 60, "y": 14})
        expect(designer.node("clean--only")).to_be_visible(timeout=PATIENCE)
        page.keyboard.press("o")
        expect(designer.node("clean--only")).to_have_count(0)
    designer.save("Only numbers")
    address = page.url
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.goto("about:blank")
    page.goto(address)
    page.get_by_role("button", name="Program", exact=True).click()
    expect(text).to_contain_text("# mine", timeout=PATIENCE)


def test_a_program_and_its_canvas_follow_each_other(system: System, page: Page) -> None:
    """A typed line is drawn, a deleted node leaves the text, both are undone; a fault is kept."""
    with Api.of(system.address, page) as api:
        body = {"name": "Beside", "template": "word-count"}
        made = api.call("POST", "/workspaces/main/topologies", body)
    page.goto(f"{system.address}/w/main/t/{made['id']}")
    designer = Designer(page)
    page.get_by_role("button", name="Program", exact=True).click()
    program = page.get_by_test_id("program").locator(".cm-content")
    expect(program).to_contain_text("sentences = topology", timeout=PATIENCE)
    place = designer.node("words").get_attribute("style")
    line = program.locator(".cm-line", has_text="count_per_word.to(")
    line.click()
    page.keyboard.press("End")
    added = 'topology.stream("extra", key=string(), value=string()).to("copy")'
    page.keyboard.type(f"\n# mine\n{added}")
    expect(designer.node("extra")).to_be_visible(timeout=PATIENCE)
    assert designer.node("words").get_attribute("style") == place
    page.keyboard.press("Control+z")
    expect(designer.node("extra")).to_have_count(0, timeout=PATIENCE)
    expect(program).not_to_contain_text("mine", timeout=PATIENCE)
    page.keyboard.press("Control+Shift+Z")
    expect(designer.node("extra")).to_be_visible(timeout=PATIENCE)
    expect(program).to_contain_text("mine", timeout=PATIENCE)

    program.locator(".cm-line", has_text='stream("extra"').click()
    page.keyboard.press("End")
    page.keyboard.type(".boom()")
    expect(page.get_by_test_id("program-status")).to_contain_text("boom", timeout=PATIENCE)
    expect(program.locator(".cm-lintRange-error")).to_contain_text("boom", timeout=PATIENCE)
    expect(designer.node("extra")).to_be_visible()
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run('[data-testid=program], [data-testid=program-status]')")
    assert [(each["id"], each["nodes"]) for each in found["violations"]] == []
    page.reload()
    expect(program).to_contain_text("boom", timeout=PATIENCE)


def choose(page: Page, file: Path) -> None:
    """Choose a file in the dialog *New topology*."""
    page.get_by_test_id("empty-canvas").or_(page.get_by_test_id("new-topology")).first.click()
    page.locator("input[type=file]").set_input_files(file)


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
