"""Programs with Python functions in the test driver: translated ones, and ones run in Python."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from millrace_runtime import (
    FrozenStruct,
    Processor,
    Topology,
    json,
    key_value_store,
    long,
    string,
)
from millrace_runtime.testing import RecordFailed, TopologyTestDriver

pytestmark = [pytest.mark.spark, pytest.mark.slow]
Create = Callable[..., TopologyTestDriver]

LIMIT = 10


def with_root(value: Any) -> Any:
    return {**value, "root": math.isqrt(value["n"] + LIMIT)}


@dataclass
class Line:
    item: str
    size: int


def line(value: Any) -> Line:
    return Line(value["item"].title(), round(value["n"]))


class Price:
    """Has a price for each order, as an object that is called."""

    def __init__(self, each: int) -> None:
        self.each = each

    @functools.lru_cache  # noqa: B019 - a method that has no source of its own
    def of(self, n: int) -> int:
        return self.each * n

    def __call__(self, value: Any) -> int:
        return self.of(value["n"])


price = Price(3)
PRICES = {"pen": 2, "ink": 7}


def orders_of(topology: Topology) -> Any:
    return topology.stream("orders", key=string(), value=json("item STRING, n INT"))


def test_translated_and_other_functions_run_in_one_program(topology_test_driver: Create) -> None:
    topology = Topology("functions")
    big = orders_of(topology).filter(lambda key, value: value["n"] > LIMIT, name="big")
    big.peek(lambda value: print("saw", value["n"])).map_values(with_root).to("roots")
    big.flat_map(lambda key, value: [(w, 1) for w in value["item"].split()]).to("words")
    big.group_by(lambda value: f"{value['n']:03d}").count().to_stream().to("counts", value=long())
    totals = big.group_by(lambda value: value["item"].upper()).aggregate(
        "STRUCT<total: BIGINT, count: BIGINT>",
        initializer=lambda: {"total": 0, "count": 0},
        aggregator=lambda key, value, agg: {
            "total": agg["total"] + value["n"], "count": agg["count"] + 1
        },
    )  # fmt: skip
    totals.map_values(lambda value: value["total"] // 2).to_stream().to("halves", value=long())
    driver = topology_test_driver(topology)
    orders = driver.input_topic("orders")
    orders.pipe("a", {"item": "pen red", "n": 15})
    orders.pipe("b", {"item": "ink", "n": 10})
    orders.pipe("c", {"item": "Pen red", "n": 90})
    assert driver.output_topic("roots").read_key_values() == [
        ("a", {"item": "pen red", "n": 15, "root": 5}),
        ("c", {"item": "Pen red", "n": 90, "root": 10}),
    ]
    words = driver.output_topic("words").read_key_values()
    assert [word for word, _ in words] == ["pen", "red", "Pen", "red"]
    assert driver.output_topic("counts").read_key_values() == [("015", 1), ("090", 1)]
    assert driver.output_topic("halves").read_key_values() == [("PEN RED", 7), ("PEN RED", 52)]


def test_objects_that_are_called_and_records_with_a_class(topology_test_driver: Create) -> None:
    topology = Topology("objects")
    orders = orders_of(topology)
    orders.map_values(line).to("lines")
    orders.map_values(price).to("prices", value=long())
    orders.map_values(lambda value: PRICES.get(value["item"], 0) + value["n"]).to("listed")
    orders.foreach(lambda key, value: print("saw", value["item"]))
    sizes = orders.split(
        {"one": lambda value: round(value["n"]) == 1, "two": lambda value: value["n"] == 2},
        default="many",
    )
    for name, stream in sizes.items():
        stream.map_values("value.n").to(name)
    agg = orders.group_by_key().aggregate(
        "MAP<STRING, BIGINT>", initializer=dict,
        aggregator=lambda key, value, agg: {
            **agg, value["item"]: agg.get(value["item"], 0) + value["n"]
        },
    )  # fmt: skip
    agg.to_stream().to("sums")
    driver = topology_test_driver(topology)
    for item, n in (("pen", 2), ("ink", 1), ("pen", 3)):
        driver.input_topic("orders").pipe("a", {"item": item, "n": n})
    assert driver.output_topic("lines").read_value() == {"item": "Pen", "size": 2}
    assert driver.output_topic("prices").read_values() == [6, 3, 9]
    assert driver.output_topic("listed").read_values() == [4, 8, 5]
    found = {name: driver.output_topic(name).read_values() for name in sizes}
    assert found == {"one": [1], "two": [2], "many": [3]}
    last = driver.output_topic("sums").read_values()[-1]
    assert list(last.items()) == [("pen", 5), ("ink", 1)]


def test_an_exception_fails_the_record_in_both_ways(topology_test_driver: Create) -> None:
    topology = Topology("failing", processing_handler="continue")
    orders = orders_of(topology)
    orders.filter(lambda key, value: value["n"] > LIMIT, name="translated").to("a")
    orders.filter(lambda key, value: round(value["n"]) > LIMIT, name="python").to("b")
    driver = topology_test_driver(topology)
    driver.input_topic("orders").pipe("x", {"item": "pen", "n": None})
    driver.input_topic("orders").pipe("y", {"item": "pen", "n": 11})
    for topic in ("a", "b"):
        assert [key for key, _ in driver.output_topic(topic).read_key_values()] == ["y"]
    assert {drop.node for drop in driver.drops} == {"translated", "python"}


@pytest.mark.parametrize("table", [False, True])
def test_a_function_in_python_names_the_line_of_its_program(
    topology_test_driver: Create, *, table: bool
) -> None:
    topology = Topology("lines")
    orders = orders_of(topology)
    rows = orders.to_table() if table else orders
    made = rows.map_values(with_root, name="root")
    (made.to_stream() if table else made).to("out")
    driver = topology_test_driver(topology)
    with pytest.raises(RecordFailed, match=r"test_functions\.py, line 23\)") as failed:
        driver.input_topic("orders").pipe("x", {"item": "pen", "n": -11})
    assert "math.isqrt(value" in str(failed.value)


def test_a_function_joins_streams_in_python(topology_test_driver: Create) -> None:
    topology = Topology("joined")
    items = topology.table("items", key=string(), value=string())
    orders = orders_of(topology).select_key(lambda value: value["item"])
    orders.left_join(items, joiner=lambda left, right: f"{left['n']:d} {right}").to("out")
    driver = topology_test_driver(topology)
    driver.input_topic("items").pipe("pen", "blue")
    driver.input_topic("orders").pipe("x", {"item": "pen", "n": 1})
    driver.input_topic("orders").pipe("y", {"item": "ink", "n": 2})
    assert driver.output_topic("out").read_key_values() == [("pen", "1 blue"), ("ink", "2 None")]


def test_columns_of_spark_are_expressions(topology_test_driver: Create) -> None:
    from millrace_runtime.testing.sessions import session
    from pyspark.sql import functions as F  # noqa: N812

    session()
    topology = Topology("columns")
    value = F.struct(F.upper(F.col("value.item")).alias("item"), (F.col("value.n") * 2).alias("n"))
    kept = (F.col("value.n") > LIMIT) & F.col("value.item").isin("pen", "it's")
    orders_of(topology).filter(kept, name="kept").map_values(value).to("out")
    params = {node["id"]: node["params"] for node in topology.document()["nodes"]}
    assert params["kept"]["predicate"] == ("((value.n > 10) AND (value.item IN ('pen', 'it\\'s')))")
    driver = topology_test_driver(topology)
    driver.input_topic("orders").pipe("x", {"item": "it's", "n": 11})
    assert driver.output_topic("out").read_value() == {"item": "IT'S", "n": 22}


def test_random_columns_are_the_same_whenever_the_program_runs(
    topology_test_driver: Create,
) -> None:
    from millrace_runtime.testing.sessions import session
    from pyspark.sql import functions as F  # noqa: N812

    session()
    texts, values = [], []
    for _ in range(2):
        topology = Topology("drawn")
        drawn = [F.uuid(), F.rand(), F.rand(7), F.unix_millis(F.current_timestamp())]
        orders_of(topology).map_values(F.array(*(each.cast("string") for each in drawn))).to("out")
        texts += [node["params"].get("value") for node in topology.document()["nodes"]][1:2]
        driver = topology_test_driver(topology, initial_wall_clock_time=5)
        driver.input_topic("orders").pipe("x", {"item": "ink", "n": 1})
        driver.input_topic("orders").pipe("x", {"item": "ink", "n": 1})
        values.append(driver.output_topic("out").read_values())
    assert texts[0] == texts[1]
    assert "rand(7)" in str(texts[0])
    assert values[0] == values[1]
    first, second = values[0]
    assert first[3] == second[3] == "5"
    assert len({*first[:3], *second[:3]}) == 6


def test_functions_of_machine_learning_are_registered_when_they_are_used() -> None:
    from millrace_runtime.testing.sessions import session

    spark = session()
    java: Any = spark._jvm
    learning = java.org.apache.spark.ml.functions
    frame: Any = spark.range(1).selectExpr("array(1.0d, 2.0d) AS numbers")
    numbers = frame._jdf
    vector = learning.array_to_vector(numbers.col("numbers"))
    column = learning.vector_to_array(vector, "float64")
    rows = numbers.select(java.PythonUtils.toSeq([column])).collectAsList()
    assert rows.get(0).mkString() == "ArraySeq(1.0, 2.0)"


def time_of(value: Any) -> Any:
    return None if value["n"] == 0 else datetime.fromisoformat(value["item"])


def test_a_function_gives_the_timestamps_of_a_source(topology_test_driver: Create) -> None:
    topology = Topology("times")
    orders = topology.stream(
        "orders", key=string(), value=json("item STRING, n INT"), timestamp=time_of,
        invalid_timestamp="skip",
    )  # fmt: skip
    orders.map_values("timestamp").to("times", value=json())
    driver = topology_test_driver(topology)
    records = driver.input_topic("orders")
    records.pipe("a", {"item": "1970-01-01T00:00:02+00:00", "n": 1}, 7)
    records.pipe("a", {"item": "1970-01-01T00:00:01+00:00", "n": 1}, 8)
    records.pipe("a", {"item": "", "n": 0}, 9)
    records.pipe("a", {"item": "1969-12-31T23:59:59+00:00", "n": 1}, 9)
    assert [each.timestamp for each in driver.output_topic("times").read_records()] == [2000, 1000]
    assert [each.reason for each in driver.drops] == ["skipped_timestamp"] * 2
    with pytest.raises(RecordFailed, match=r"\.py, line \d+\): ValueError: Invalid isoformat"):
        records.pipe("a", {"item": "today", "n": 1}, 9)


def test_key_and_value_of_a_map_are_functions_of_their_own(topology_test_driver: Create) -> None:
    topology = Topology("mapped")
    orders_of(topology).map(key=lambda v: v["item"].title(), value=with_root).to("mapped")
    driver = topology_test_driver(topology)
    driver.input_topic("orders").pipe("a", {"item": "ink", "n": 6})
    [(key, value)] = driver.output_topic("mapped").read_key_values()
    assert (key, value.n, value.root) == ("Ink", 6, 4)


@dataclass(frozen=True)
class Size:
    item: str
    n: int


class PerSize(Processor):
    """Counts orders by item and size in one row, and forwards the rows of an order's item."""

    def init(self, context: Any) -> None:
        self.context = context
        self.counts = context.store("counts")

    def process(self, record: Any) -> None:
        found = self.counts.get("all") or {}
        size = FrozenStruct(record.value)
        assert size in found or len(found) < 2
        self.counts.put("all", {**found, size: found.get(size, 0) + 1})
        own = {key: count for key, count in found.items() if key.item == size.item}
        self.context.forward(record.replace(value={**own, Size("new", size.n): 1}))


def test_the_keys_of_a_map_are_structs(topology_test_driver: Create) -> None:
    topology = Topology("sizes")
    kind = "MAP<STRUCT<item: STRING, n: INT>, BIGINT>"
    counts = key_value_store("counts", key_type=str, value_type=kind)
    made = orders_of(topology).process(PerSize, stores=[counts], value_type=kind)
    made.map_values("map_entries(value)").to("found")
    made.map_values(lambda value: sum(value.values())).to("sums", value=long())
    driver = topology_test_driver(topology)
    for item, n in (("pen", 1), ("ink", 1), ("pen", 1)):
        driver.input_topic("orders").pipe("a", {"item": item, "n": n})
    assert driver.output_topic("sums").read_values() == [1, 1, 2]
    assert driver.output_topic("found").read_values()[-1] == [
        {"key": {"item": "pen", "n": 1}, "value": 1},
        {"key": {"item": "new", "n": 1}, "value": 1},
    ]
    stored = driver.store("counts").get("all")
    assert stored == {FrozenStruct(item="pen", n=1): 2, FrozenStruct(item="ink", n=1): 1}
    driver.store("counts").put("all", {FrozenStruct(item="pen", n=1): 7})
    driver.input_topic("orders").pipe("a", {"item": "pen", "n": 1})
    assert driver.output_topic("sums").read_value() == 8
