"""The first hour of a new user: revenue per category and hour on live data, with typical mistakes."""

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
    return Sentence(at % 2, at, value, None)


def test_a_new_user_has_revenue_per_category_and_hour_within_the_hour(
    page: Page, system: System
) -> None:
    now = int(time.time() * 1000) // HOUR * HOUR
    create_topic(system.bootstrap_servers, ORDERS, 2)
    create_topic(system.bootstrap_servers, ITEMS, 2)
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
    person.click(
        page.get_by_test_id("empty-canvas").or_(page.get_by_test_id("new-topology")).first
    )
    page.get_by_test_id("topology-name").fill("")
    person.type("Revenue")
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
    person.click(designer.page.get_by_role("button", name="Show everything"))


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
    """The window has no unit, the total starts as a whole number, and nothing reads the result."""
    page = designer.page
    total = add(person, designer, "aggregate", 640, 100)
    wire(person, designer, "join", total)
    designer.select(total)
    write_into(person, designer, "group_by", "value.category")
    type_ = designer.field("type").locator("input").first
    person.click(type_)
    person.type("DOUBLE")
    write_into(person, designer, "initializer", "0")
    write_into(person, designer, "aggregator", "agg + value.amount")
    choose(person, designer, "window", "Tumbling")
    size = designer.field("window").get_by_role("combobox").nth(1)
    person.click(size)
    person.press("ControlOrMeta+A")
    person.type("60")
    person.press("Tab")


def try_it(person: Person, designer: Designer) -> None:
    """A simulation."""


def run_it(person: Person, designer: Designer, system: System, now: int) -> None:
    """A deployment."""
    assert topics
    assert struct
    assert now
