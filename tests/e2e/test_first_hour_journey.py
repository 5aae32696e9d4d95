"""The hour of a new user: revenue per category and hour on live data, with typical mistakes."""

from __future__ import annotations

import json
import re
import struct
import time
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.e2e.topics import Sentence, create_topic, write
from tests.runtime import topics

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

NAME = "First hour"
ORDERS, ITEMS, REVENUE = "hour-orders", "hour-items", "hour-revenue"
HOUR = 3_600_000
#: milliseconds; a simulator or a deployment starts, on a busy machine
PATIENCE = 240_000
#: what a person may need: keys, and seconds of reading and thinking
MOST_KEYS, MOST_SECONDS = 300, 25 * 60


@dataclass
class Person:
    """Somebody who opens the designer for the first time.

    Counts the keys that are pressed, and adds up the seconds that a person would take: for each
    click, each key, and each text that has to be read.
    """

    page: Page
    keys: int = 0
    seconds: float = 0.0

    def click(self, target: Locator) -> None:
        """Find something, and click it."""
        target.click()
        self.seconds += 4

    def type(self, text: str) -> None:
        """Type, and look at what appeared."""
        self.page.keyboard.insert_text(text)
        self.keys += len(text)
        self.seconds += 0.4 * len(text)

    def press(self, key: str) -> None:
        """Press one key."""
        self.page.keyboard.press(key)
        self.keys += 1
        self.seconds += 1

    def read(self, target: Locator, *words: str) -> None:
        """Read a message, and think about it."""
        for each in words:
            expect(target).to_contain_text(each, timeout=PATIENCE)
        self.seconds += 20


def order(item: str, quantity: int, price: float, at: int) -> Sentence:
    value = json.dumps({"item": item, "quantity": quantity, "price": price})
    return Sentence(0, at, value, None)


def test_a_new_user_has_revenue_per_category_and_hour_within_the_hour(
    page: Page, system: System
) -> None:
    now = int(time.time() * 1000) // HOUR * HOUR
    create_topic(system.bootstrap_servers, ORDERS, 1)
    create_topic(system.bootstrap_servers, ITEMS, 1)
    categories = {"tea": "drinks", "milk": "drinks", "bread": "food"}
    write(
        system.bootstrap_servers,
        ITEMS,
        [
            Sentence(0, now - HOUR, json.dumps({"category": category}), item)
            for item, category in categories.items()
        ],
    )
    write(
        system.bootstrap_servers,
        ORDERS,
        [order("tea", 2, 1.5, now + 1), order("bread", 1, 2.0, now + 2)],
    )
    person = Person(page)
    person.click(page.get_by_test_id("empty-canvas").or_(page.get_by_test_id("new-topology")).first)
    page.get_by_test_id("topology-name").fill("")
    person.type(NAME)
    person.click(page.get_by_test_id("create-topology"))
    page.wait_for_url("**/t/*")
    designer = Designer(page)
    page.set_default_timeout(PATIENCE)
    designer.open_panel("Problems")
    draw_the_orders(person, designer)
    join_the_categories(person, designer)
    add_up(person, designer)
    try_it(person, designer)
    run_it(person, designer, system, now)
    assert person.keys < MOST_KEYS, person
    assert person.seconds < MOST_SECONDS, person
    print(f"{person.keys} keys, {person.seconds / 60:.1f} minutes")


def add(person: Person, designer: Designer, kind: str, x: int, y: int) -> str:
    """Drag a kind from the palette to the canvas."""
    made = designer.drag(kind, x, y)
    person.seconds += 6
    return made


def see_all(person: Person, designer: Designer) -> None:
    """Bring all nodes into view."""
    page = designer.page
    person.click(page.get_by_role("button", name="Show everything"))
    page.locator(".react-flow__viewport").evaluate(
        """async view => {
            let last, now = view.style.transform;
            do {
                last = now;
                await new Promise(done => setTimeout(done, 400));
                now = view.style.transform;
            } while (last !== now);
        }"""
    )


def wire(person: Person, designer: Designer, source: str, target: str, port: str = "in") -> None:
    """Pull a wire between two nodes."""
    see_all(person, designer)
    designer.wire(source, target, port=port)
    person.seconds += 5


def write_into(person: Person, designer: Designer, parameter: str, text: str) -> None:
    """Type an expression."""
    person.click(designer.field(parameter).locator(".cm-content").first)
    person.press("ControlOrMeta+A")
    person.type(text)
    person.click(designer.page.locator(".inspector-facts").first)


def choose(person: Person, designer: Designer, parameter: str, option: str) -> None:
    """Choose from a list."""
    designer.choose(parameter, option)
    person.seconds += 6


def take_the_schema(person: Person, designer: Designer, topic: str) -> None:
    """The schema of the values comes from the records of the topic."""
    page = designer.page
    person.click(designer.field("value").get_by_test_id("schema-from-records"))
    dialog = page.get_by_role("dialog", name="Schema from records")
    person.click(dialog.get_by_role("button", name=f"Read the latest records of {topic}"))
    person.read(dialog.get_by_test_id("schema-found"), "STRING")
    person.click(dialog.get_by_test_id("use-schema"))


def choose_topic(person: Person, designer: Designer, parameter: str, topic: str) -> None:
    """Choose a topic from those of the broker, after a few letters."""
    person.click(designer.field(parameter).locator("input:not([type=hidden])").last)
    person.type(topic[:6])
    person.click(designer.page.get_by_role("option", name=re.compile(topic)).first)
    person.press("Tab")


def mend(person: Person, designer: Designer, problem: str, fix: str) -> None:
    """Read a problem in the list, and take the fix that it offers."""
    row = designer.page.get_by_test_id("problem").filter(has_text=problem).first
    person.read(row, problem)
    person.click(designer.page.get_by_role("button", name=fix, exact=True).first)
    expect(designer.page.get_by_test_id("problem").filter(has_text=problem)).to_have_count(0)


def draw_the_orders(person: Person, designer: Designer) -> None:
    """The format is forgotten, and the name of a field is misspelled."""
    page = designer.page
    orders = add(person, designer, "source.stream", 60, 120)
    designer.select(orders)
    choose_topic(person, designer, "topics", ORDERS)
    choose(person, designer, "key", "Text")
    choose(person, designer, "value", "Text")
    valid = add(person, designer, "filter", 330, 120)
    wire(person, designer, orders, valid)
    designer.select(valid)
    write_into(person, designer, "predicate", "value.quanity > 0")
    # A text has no fields: the orders are JSON.
    person.read(page.get_by_test_id("problem").first, "value")
    see_all(person, designer)
    designer.select(orders)
    choose(person, designer, "value", "JSON")
    take_the_schema(person, designer, ORDERS)
    mend(person, designer, "quanity", "Write “quantity”")


def join_the_categories(person: Person, designer: Designer) -> None:
    """The items are read as a stream, which a join refuses; the key is forgotten."""
    page = designer.page
    items = add(person, designer, "source.stream", 60, 300)
    designer.select(items)
    choose_topic(person, designer, "topics", ITEMS)
    choose(person, designer, "key", "Text")
    choose(person, designer, "value", "JSON")
    take_the_schema(person, designer, ITEMS)
    join = add(person, designer, "join.stream_table", 560, 240)
    wire(person, designer, "filter", join, "left")
    # The port says why a stream does not fit.
    start, end = page.locator(".react-flow__handle"), page.locator(".wire-hint")
    box = start.and_(page.locator(f'[data-nodeid="{items}"][data-side="output"]')).bounding_box()
    to = start.and_(page.locator(f'[data-nodeid="{join}"][data-handleid="right"]')).bounding_box()
    assert box is not None
    assert to is not None
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(to["x"] + 4, to["y"] + 4, steps=8)
    person.read(end, "table")
    page.mouse.up()
    table = add(person, designer, "to_table", 300, 360)
    wire(person, designer, items, table)
    wire(person, designer, table, join, "right")
    designer.select(join)
    write_into(
        person,
        designer,
        "joiner",
        "struct(right.category, left.quantity * left.price AS amount)",
    )


def add_up(person: Person, designer: Designer) -> None:
    """The window has no unit, which its field and its picture show; nothing writes the result."""
    page = designer.page
    total = add(person, designer, "aggregate", 640, 100)
    wire(person, designer, "join", total)
    designer.select(total)
    write_into(person, designer, "group_by", "value.category")
    person.click(designer.field("type").locator("input").first)
    person.type("DOUBLE")
    write_into(person, designer, "initializer", "0")
    write_into(person, designer, "aggregator", "agg + value.amount")
    choose(person, designer, "window", "Tumbling")
    size = designer.field("window").get_by_role("combobox").nth(1)
    for text, shown in (("60", "60 ms"), ("1 hour", "1 hour")):
        person.click(size)
        person.press("ControlOrMeta+A")
        person.type(text)
        person.press("Tab")
        expect(size).to_have_value(shown)
        person.seconds += 20
    person.read(page.get_by_text("no result is written"), "no sink")
    sink = add(person, designer, "sink.topic", 640, 300)
    wire(person, designer, total, sink)
    designer.select(sink)
    person.click(designer.field("topic").locator("input:not([type=hidden])").last)
    person.type(REVENUE)
    person.press("Enter")
    person.press("Tab")
    person.click(page.get_by_role("button", name="Arrange automatically"))


def sample(person: Person, designer: Designer, source: str) -> None:
    """Take records of a source's topic as inputs."""
    page = designer.page
    designer.add_inputs("Sample…")
    dialog = page.get_by_role("dialog")
    chosen = dialog.get_by_role("combobox", name="Source")
    if chosen.input_value() != source:
        person.click(chosen)
        listed = page.get_by_role("listbox", name="Source")
        person.click(listed.get_by_role("option", name=source))
    person.click(dialog.get_by_role("button", name=re.compile("^Add (to the )?records$")))
    expect(dialog).to_have_count(0)


def try_it(person: Person, designer: Designer) -> None:
    """Nothing comes out: the orders have no key to join by, as the steps say."""
    page = designer.page
    designer.open_panel("Simulate")
    for topic in (ORDERS, ITEMS):
        sample(person, designer, topic)
    person.click(page.get_by_test_id("simulate-run"))
    summary = page.get_by_test_id("simulation-summary")
    person.read(summary, "5 records in, 0 records out, 2 dropped")
    panel = page.get_by_test_id("simulate")
    person.click(panel.get_by_role("radio", name="Step by step"))
    why = page.get_by_test_id("simulation-why")
    for _ in range(8):  # the rows of the table end in it
        person.click(panel.get_by_role("button", name="Next record that ended"))
        if "key is null" in why.inner_text():
            break
    person.read(why, "key is null")
    see_all(person, designer)
    x, y = middle_of_the_edge(page, "filter", "join")
    canvas = page.locator(".react-flow").bounding_box()
    assert canvas is not None
    key = add(person, designer, "select_key", int(x - canvas["x"]), int(y - canvas["y"]))
    see_all(person, designer)
    designer.select(key)
    write_into(person, designer, "key", "value.item")
    person.click(page.get_by_test_id("simulate-run"))
    person.read(summary, "5 records in, 2 records out, 0 dropped")


def middle_of_the_edge(page: Page, source: str, target: str) -> tuple[float, float]:
    """Where a node that is dropped comes into the edge."""
    path = page.locator(f'[data-wire^="{source}."][data-wire*=">{target}."] path').first
    found: list[float] = path.evaluate(
        """path => {
            const at = path.getPointAtLength(path.getTotalLength() / 2);
            const shown = at.matrixTransform(path.getScreenCTM());
            return [shown.x, shown.y];
        }"""
    )
    return found[0], found[1]


def run_it(person: Person, designer: Designer, system: System, now: int) -> None:
    """The topic of the results does not exist yet; then each order adds to its hour."""
    page = designer.page
    person.click(page.get_by_test_id("deploy"))
    person.read(page.get_by_test_id("missing-topics"), REVENUE)
    person.click(page.get_by_test_id("create-topics"))
    designer.expect_state("running", PATIENCE / 1000)
    person.seconds += 60
    write(
        system.bootstrap_servers,
        ORDERS,
        [order("milk", 3, 1.0, now + 10), order("bread", 1, 2.0, now + 11)],
    )
    expected = {("drinks", now): 6.0, ("food", now): 4.0}
    deadline = time.monotonic() + PATIENCE / 1000
    while revenue(system) != expected:
        assert time.monotonic() < deadline, revenue(system)
        time.sleep(1)
    designer.command("Layer: Runtime")
    # From afar, a node has no figures: zoom in where it is.
    designer.node("aggregate").hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    figures = designer.node("aggregate").locator(".node-footer span").first
    figures.hover()
    expect(figures).to_have_attribute("title", re.compile("in all 4"), timeout=PATIENCE)
    designer.open_deployment()
    person.click(page.get_by_test_id("stop"))
    designer.expect_state("stopped", 90)


def revenue(system: System) -> dict[tuple[str, int], float]:
    """Return the last value of each category and hour."""
    size = topics.size(system.bootstrap_servers, REVENUE)
    found = {}
    for each in topics.consume(system.bootstrap_servers, REVENUE, size):
        key = json.loads(each.key())
        found[key["key"], key["window"]["start"]] = struct.unpack(">d", each.value())[0]
    return found
