"""Arguments of the wrong type, and types that are classes of Python."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypedDict

import pytest
from millrace_runtime import (
    Processor,
    Topology,
    json,
    key_value_store,
    long,
    string,
    time_windowed,
    tumbling,
    until_window_closes,
)


@dataclass
class Line:
    item: str
    price: float | None
    state: Literal["open", "closed"]


class Total(NamedTuple):
    count: int
    sum: Decimal


class Order(TypedDict):
    at: datetime
    lines: list[Line]
    notes: dict[str, str]


class PassOn(Processor):
    pass


def made() -> tuple[Topology, Any]:
    topology = Topology("t")
    return topology, topology.stream("orders", key=string(), value=json("n INT"), name="orders")


def params(topology: Topology, node: str) -> Any:
    return next(each["params"] for each in topology.document()["nodes"] if each["id"] == node)


LINE = "STRUCT<item: STRING, price: DOUBLE, state: STRING>"


def test_a_class_stands_for_its_type() -> None:
    topology, orders = made()
    assert json(Order) == {
        "format": "json",
        "schema": f"at TIMESTAMP, lines ARRAY<{LINE}>, notes MAP<STRING, STRING>",
    }
    assert json(list[int]) == {"format": "json", "schema": "ARRAY<BIGINT>"}
    store = key_value_store("lines", key_type=str, value_type=Line)
    assert (store.params["key_type"], store.params["value_type"]) == ("STRING", LINE)
    orders.process(PassOn, stores=[store], key_type=int, value_type=list[Line], name="pass")
    assert params(topology, "pass")["output"] == {"key": "BIGINT", "value": f"ARRAY<{LINE}>"}
    total = orders.group_by_key().aggregate(
        Total, initializer=lambda: {"count": 0, "sum": 0}, aggregator="agg", name="total"
    )
    total.map_values(lambda value: round(value["count"]), returns=int, name="rounded")
    assert params(topology, "total")["type"] == "STRUCT<count: BIGINT, sum: DECIMAL(38,18)>"
    assert params(topology, "rounded")["returns"] == {"map_values": "BIGINT"}


def test_durations_are_timedeltas_too() -> None:
    assert tumbling(timedelta(minutes=5)).parts["size"] == 300_000
    assert time_windowed(string(), timedelta(seconds=1))["window_size"] == 1000


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda s: s.group_by_key().windowed_by("5 minutes"), "windowed_by takes a window such"),
        (lambda s: s.to_table().suppress(until_window_closes), "has to be called: until_window_c"),
        (lambda s: s.to("out", value=long), r"value takes a format .* called: long\(\.\.\.\)"),
        (lambda s: s.to("out", key="string"), "key takes a format such as string"),
        (lambda s: s.split(["true"]), "split takes predicates by the names of their branches"),
        (lambda s: s.process(made), "a processor is a class, an instance"),
        (lambda s: s.process(PassOn, value_type=object), "value_type= takes a Spark SQL type"),
        (lambda _: Topology("t", partitions=3), "partitions= takes numbers by topic"),  # type: ignore[arg-type]
        (lambda _: Topology("t").stream(3, key=string(), value=string()), "names of topics"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_an_argument_of_another_type_is_refused(call: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        call(made()[1])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mapValues", "Stream has no method 'mapValues'. Its name here is map_values."),
        ("branch", "Its name here is split."),
        ("filtre", "Did you mean filter?"),
        ("count", r"Group the records first: group_by_key\(\).count"),
        ("_unknown", "no attribute '_unknown'"),
    ],
)
def test_a_method_of_another_name_is_told_its_name_here(name: str, told: str) -> None:
    with pytest.raises(AttributeError, match=told):
        getattr(made()[1], name)
