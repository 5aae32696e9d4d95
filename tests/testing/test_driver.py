"""The test driver of topologies: records one by one, stores to read and fill, clocks by hand."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import (
    MillraceError,
    Topology,
    bytes_,
    json,
    key_value_store,
    long,
    session_store,
    sessions,
    string,
    versioned_store,
)
from millrace_runtime.testing import Drop, RecordFailed, TestRecord, TopologyTestDriver
from millrace_runtime.testing.sessions import session

from tests.testing import programs

pytestmark = [pytest.mark.spark, pytest.mark.slow]
Create = Callable[..., TopologyTestDriver]


def test_what_a_node_prints_is_printed_once(
    topology_test_driver: Create, capsys: pytest.CaptureFixture[str]
) -> None:
    topology = Topology("printing")
    lines = topology.stream("lines", key=string(), value=string())
    lines.peek("concat('saw ', value)", name="see").to("out")
    topology_test_driver(topology).input_topic("lines").pipe("a", "x")
    assert capsys.readouterr().out == "see: saw x\n"
    jvm: Any = session()._jvm
    assert not jvm.org.apache.logging.log4j.LogManager.getLogger("millrace.task").isInfoEnabled()


def test_each_record_is_processed_before_the_next(topology_test_driver: Create) -> None:
    driver = topology_test_driver(programs.word_count())
    lines, counts = driver.input_topic("lines"), driver.output_topic("counts")
    lines.pipe_input("to be", timestamp=5)
    assert counts.read_record() == TestRecord("to", 1, 5)
    assert counts.read_key_value() == ("be", 1)
    assert counts.is_empty()
    lines.pipe_value_list(["or", "not to"])
    assert counts.queue_size() == 3
    assert counts.read_value() == 1
    assert counts.read_key_values() == [("not", 1), ("to", 2)]
    with pytest.raises(MillraceError, match="no record in counts"):
        counts.read_record()


def test_a_store_is_read_and_filled(topology_test_driver: Create) -> None:
    driver = topology_test_driver(programs.word_count())
    store = driver.store("counts")
    store.put("to", 41, timestamp=70)
    driver.input_topic("lines").pipe(None, "to be", 50)
    assert driver.output_topic("counts").read_records()[0] == TestRecord("to", 42, 70)
    assert store.get("to") == 42
    assert store.get_with_timestamp("to") == (42, 70)
    assert list(store.all()) == [("be", 1), ("to", 42)]
    assert list(store.range("c", None)) == [("to", 42)]
    assert list(store.reverse_all()) == [("to", 42), ("be", 1)]
    assert list(store.prefix_scan("t")) == [("to", 42)]
    assert store.delete("to") == 42
    assert store.put_if_absent("to", 7) is None
    assert store.approximate_num_entries() == 2
    assert set(driver.stores) == {"counts"}


def test_a_late_record_is_a_drop_with_its_node(topology_test_driver: Create) -> None:
    driver = topology_test_driver(programs.per_minute())
    clicks = driver.input_topic("clicks")
    clicks.pipe("a", "x", 10)
    clicks.pipe("a", "x", 60_000)
    clicks.pipe("a", "late", 20)
    assert driver.output_topic("per-minute").read_key_values() == [("a", 1), ("a", 1)]
    [drop] = driver.drops
    assert (drop.node, drop.reason) == ("count", "late")
    assert drop.record is not None
    assert drop.record.value == "late"
    windows = driver.store("per-minute")
    assert list(windows.fetch("a", 0, 99_999)) == [(60_000, 1)]  # the other one has expired
    assert windows.get_with_timestamp("a", 60_000) == (1, 60_000)
    windows.put("a", 9, 60_000, timestamp=61_000)
    clicks.pipe("a", "x", 60_001)
    assert driver.output_topic("per-minute").read_record() == TestRecord("a", 10, 61_000)


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_filled_table_joins_behind_a_repartition(
    topology_test_driver: Create, partitions: int
) -> None:
    driver = topology_test_driver(programs.priced(partitions))
    prices = driver.store("prices")
    for item, price in (("pen", 3), ("ink", 5)):
        prices.put(item, {"price": price})
    orders = driver.input_topic("orders")
    for item in ("pen", "ink", "nib"):
        orders.pipe("anna", {"item": item, "n": 2}, partition=partitions - 1)
    assert driver.output_topic("totals").read_key_values() == [("pen", 6), ("ink", 10)]
    prices.delete("pen")
    orders.pipe("anna", {"item": "pen", "n": 2})
    assert driver.output_topic("totals").is_empty()
    assert prices.get("ink") == {"price": 5}
    assert prices.get("pen") is None


def test_filling_a_table_advances_no_clock(topology_test_driver: Create) -> None:
    driver = topology_test_driver(programs.per_minute())
    driver.store("per-minute").put("a", 5, 600_000, timestamp=600_000)
    driver.input_topic("clicks").pipe("a", "x", 10)
    assert [drop.reason for drop in driver.drops] == ["expired"]  # by the store, not as late


def test_the_wall_clock_moves_by_hand_only(topology_test_driver: Create) -> None:
    driver = topology_test_driver(programs.reminders(), initial_wall_clock_time=1_000)
    tickets, reminders = driver.input_topic("tickets"), driver.output_topic("reminders")
    tickets.pipe("a", "x", 999_999)
    driver.advance_wall_clock("9 seconds")
    assert reminders.is_empty()
    driver.advance_wall_clock(timedelta(seconds=1))
    assert reminders.read_record() == TestRecord("a", 1, 11_000)
    driver.store("open").put("b", 5)
    driver.advance_wall_clock(30_000)
    assert reminders.read_key_values() == [("a", 1), ("b", 5)]


def test_a_failing_processor_names_node_and_line(topology_test_driver: Create) -> None:
    driver = topology_test_driver(programs.reminders())
    tickets = driver.input_topic("tickets")
    tickets.pipe("a", "x")
    with pytest.raises(RecordFailed) as caught:
        tickets.pipe("a", "broken")
    lines = Path(programs.__file__).read_text(encoding="utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, 1) if "raise ValueError" in text)
    assert caught.value.node == "remind"
    assert caught.value.place == f"programs.py, line {line}"
    assert str(caught.value).startswith(
        f"remind (programs.py, line {line}): ValueError: this record is broken\n"
    )
    assert f'File "{programs.__file__}", line {line}, in process' in str(caught.value)
    tickets.pipe("a", "x")
    assert driver.store("open").get("a") == 2


def test_a_failing_expression_names_the_line_of_its_call(topology_test_driver: Create) -> None:
    topology = Topology("halves")
    numbers = topology.stream("numbers", key=string(), value=long())
    numbers.group_by_key().count(store=key_value_store("seen"))
    numbers.map_values("10 / value", name="halved").to("halved")
    driver = topology_test_driver(topology)
    with pytest.raises(RecordFailed, match=r"^halved \(test_driver.py, line \d+\): .*[Dd]ivision"):
        driver.input_topic("numbers").pipe("a", 0)
    # As after a restart, nothing of the failed record remains.
    assert driver.store("seen").get("a") is None
    driver.input_topic("numbers").pipe("a", 5)
    assert driver.store("seen").get("a") == 1
    assert driver.output_topic("halved").read_values() == [2.0]


def test_dead_letters_are_bytes_with_headers(topology_test_driver: Create) -> None:
    topology = Topology(
        "dead", dead_letter_topic="dead", deserialization_handler="dead_letter",
        processing_handler="continue",
    )  # fmt: skip
    numbers = topology.stream("numbers", key=string(), value=long(), name="numbers")
    numbers.map_values("10 / value", name="halved").to("halved")
    driver = topology_test_driver(topology)
    driver.input_topic("numbers", value=bytes_()).pipe("a", b"no number", 3, {"trace": "t1"})
    driver.input_topic("numbers").pipe("b", 0)
    dead = driver.output_topic("dead", key=string()).read_record()
    assert (dead.key, dead.value, dead.timestamp) == ("a", b"no number", 3)
    assert dead.header("trace") == b"t1"
    assert dead.header("__streams.errors.exception") is not None
    assert [(drop.node, drop.reason) for drop in driver.drops] == [
        ("numbers", "dead_letter"), ("halved", "processing"),
    ]  # fmt: skip
    assert driver.drops[1].record == TestRecord("b", 0, 0)


def test_sessions_and_versions_are_read_and_filled(topology_test_driver: Create) -> None:
    topology = Topology("both")
    visits = topology.stream("visits", key=string(), value=string())
    visits.group_by_key().windowed_by(sessions("10 ms", grace="1 hour")).count(
        store=session_store("visits")
    )
    rates = topology.table(
        "rates", key=string(), value=long(),
        store=versioned_store("rates", history_retention="1 hour"),
    )  # fmt: skip
    visits.join(rates, joiner="right", name="rated").to("rated", value=long())
    driver = topology_test_driver(topology)
    rated = driver.store("rates")
    rated.put("a", 1, 0)
    rated.put("a", 2, 100)
    driver.store("visits").put("a", 1, 4, 7)
    visit = driver.input_topic("visits")
    visit.pipe("a", "x", 12)
    visit.pipe("a", "x", 150)
    assert driver.output_topic("rated").read_values() == [1, 2]
    assert [
        (each["window"], count) for each, count in driver.store("visits").fetch("a")
    ] == [({"start": 1, "end": 12}, 8), ({"start": 150, "end": 150}, 1)]  # fmt: skip
    assert rated.get("a", 50) == (1, 0)
    assert rated.get("a") == (2, 100)


def test_a_global_table_is_filled_in_all_tasks(topology_test_driver: Create) -> None:
    topology = Topology("global", partitions={"orders": 2})
    items = topology.global_table(
        "items", key=string(), value=string(), store=key_value_store("items")
    )
    orders = topology.stream("orders", key=string(), value=string())
    orders.join(items, key="value", joiner="right").to("named")
    driver = topology_test_driver(topology)
    driver.store("items").put("1", "pen")
    for partition in (0, 1):
        driver.input_topic("orders").pipe("a", "1", partition=partition)
    assert driver.output_topic("named").read_values() == ["pen", "pen"]


def test_records_without_a_timestamp_get_the_time_of_the_topic(
    topology_test_driver: Create,
) -> None:
    driver = topology_test_driver(programs.word_count())
    start = datetime(2026, 1, 1, tzinfo=UTC)
    lines = driver.input_topic("lines", start_timestamp=start, auto_advance="1 second")
    lines.pipe_value_list(["a", "b"])
    lines.advance_time("1 minute")
    lines.pipe_input(TestRecord("k", "c"))
    lines.pipe_key_value_list([("k", "d"), ("k", "e")], 7, 2)
    at = round(start.timestamp() * 1000)
    times = [each.timestamp for each in driver.output_topic("counts").read_records()]
    assert times == [at, at + 1_000, at + 62_000, 7, 9]


def test_a_value_of_another_type_is_refused_before_it_is_piped(
    topology_test_driver: Create,
) -> None:
    topology = Topology("typed")
    topology.stream("numbers", key=string(), value=long()).to("same")
    driver = topology_test_driver(topology)
    with pytest.raises(TypeError, match="the value of numbers must be an int, not str 'x'"):
        driver.input_topic("numbers").pipe("a", "x")
    assert driver.output_topic("same").is_empty()


def test_a_decimal_is_piped_as_a_number_of_json(topology_test_driver: Create) -> None:
    topology = Topology("prices")
    prices = topology.stream(
        "prices", key=string(), value=json("price DECIMAL(38, 18), more ARRAY<DECIMAL(4, 1)>")
    )
    prices.map_values("string(value)").to("out")
    value = {"price": Decimal("12345678901234567890.123456789"), "more": [Decimal("1.5")] * 2}
    driver = topology_test_driver(topology)
    driver.input_topic("prices").pipe("pen", value)
    found = driver.output_topic("out").read_value()
    assert found == "{12345678901234567890.123456789000000000, [1.5, 1.5]}"


def test_unknown_topics_and_stores_are_named_with_the_nearest(
    topology_test_driver: Create,
) -> None:
    driver = topology_test_driver(programs.word_count())
    with pytest.raises(
        MillraceError, match=r"does not read line; it has lines\. Did you mean lines"
    ):
        driver.input_topic("line")
    with pytest.raises(MillraceError, match="does not write count; it has counts"):
        driver.output_topic("count")
    with pytest.raises(MillraceError, match="has no store word; it has counts"):
        driver.store("word")


def test_a_topic_that_is_read_again_is_read_at_once(topology_test_driver: Create) -> None:
    topology = Topology("loop")
    steps = topology.stream("steps", key=string(), value=long())
    steps.filter("value > 0").map_values("value - 1").to("steps", value=long())
    driver = topology_test_driver(topology)
    driver.input_topic("steps").pipe("a", 3, 8)
    assert driver.output_topic("steps").read_values() == [2, 1, 0]


def test_outputs_stay_readable_after_the_driver_is_closed() -> None:
    with TopologyTestDriver(programs.word_count()) as driver:
        driver.input_topic("lines").pipe(None, "a")
        counts = driver.output_topic("counts")
    assert counts.read_key_values() == [("a", 1)]
    with pytest.raises(MillraceError, match="closed"):
        driver.advance_wall_clock(1)


def test_a_processor_that_does_not_start_fails_the_driver() -> None:
    topology = Topology("never")
    rows = topology.stream("rows", key=string(), value=string())
    rows.process(programs.Never, name="never").to("out")
    with pytest.raises(RecordFailed, match=r"^never \(programs.py, line \d+\): .*not today"):
        TopologyTestDriver(topology)


def test_drops_compare_as_tuples() -> None:
    assert Drop("a", "late") == ("a", "late", None)


@pytest.mark.alone
def test_a_record_takes_less_than_twenty_milliseconds(topology_test_driver: Create) -> None:
    """Also through a class in Python and its store, once the first records have been piped."""
    driver = topology_test_driver(programs.reminders())
    tickets, took = driver.input_topic("tickets"), []
    for number in range(300):
        began = time.perf_counter()
        tickets.pipe(f"k{number % 7}", "help")
        took.append(time.perf_counter() - began)
    assert statistics.median(took[100:]) < 0.020, sorted(took[100:])[-20:]
