"""Small topologies for tests of the runtime."""

from __future__ import annotations

from typing import Any

from millrace_compiler import Analyzer
from millrace_runtime import (
    Topology,
    json,
    key_value_store,
    long,
    string,
    tumbling,
    within,
)
from millrace_runtime.analyzer.compiling import compiled


def graph_of(topology: Topology, analyzer: Analyzer) -> Any:
    """The task graph of a topology."""
    return compiled(topology.document(), analyzer).require_task_graph()


def word_count(
    source: str = "text-lines", target: str = "word-counts", **settings: Any
) -> Topology:
    """A word count in four tasks."""
    topology = Topology("word-count", partitions={source: 4}, **settings)
    lines = topology.stream(source, key=string(), value=string(), name="lines")
    words = lines.flat_map_values("split(value, ' ')", name="words")
    counts = words.group_by("value").count(store=key_value_store("counts", id="counts"))
    counts.to_stream(name="updates").to(target, key=string(), value=long(), name="word-counts")
    return topology


def upper_case() -> Topology:
    """A topology without state."""
    topology = Topology("upper-case")
    lines = topology.stream("text-lines", key=string(), value=string(), name="lines")
    lines.map_values("upper(value)", name="upper").to("upper-lines", key=string(), value=string())
    return topology


def divide(**settings: Any) -> Topology:
    """A topology that fails for a record whose `d` is 0."""
    topology = Topology("divide", **settings)
    numbers = topology.stream("numbers", key=string(), value=json("n INT, d INT"), name="in")
    numbers.map_values("value.n / value.d", name="divide").to("quotients")
    return topology


def timed() -> Topology:
    """A topology that reads timestamps from `d` and drops records with an invalid one."""
    topology = Topology("timed")
    numbers = topology.stream(
        "numbers", key=string(), value=json("n INT, d INT"),
        timestamp="cast(value.d AS BIGINT)", invalid_timestamp="skip",
    )  # fmt: skip
    numbers.map_values("value.n").to("timed")
    return topology


def countdown() -> Topology:
    """A topology that writes decreasing numbers to the topic that it reads, until they reach 0."""
    topology = Topology("countdown")
    numbers = topology.stream("numbers", key=string(), value=long())
    smaller = numbers.filter("value > 0").map_values("value - 1")
    smaller.to("numbers", key=string(), value=long())
    return topology


def orders(prefix: str = "", **settings: Any) -> Topology:
    """Counts per item, per item and second, and orders joined with prices: two sub-topologies.

    Orders are `item:number` under a customer; prices are `number` under an item.
    """
    names = ("orders", "prices")
    partitions = {f"{prefix}{name}": 4 for name in names}
    topology = Topology("orders", partitions=partitions, **settings)
    sold = topology.stream(f"{prefix}orders", key=string(), value=string(), name="orders")
    by_item = sold.select_key("split(value, ':')[0]", name="by-item")
    items = by_item.repartition(topic="by-item", name="items")
    counts = items.group_by_key().count(store=key_value_store("counts", id="counts"))
    counts.to_stream(name="updates").to(
        f"{prefix}counts", key=string(), value=long(), name="out-counts"
    )
    windows = tumbling("1 second", grace="1 day")
    seconds = items.group_by_key().windowed_by(windows).count(name="seconds")
    named = "unix_millis(key.window.start) || ':' || value"
    seconds.to_stream(name="second-updates").map(key="key.key", value=named, name="second").to(
        f"{prefix}seconds", key=string(), value=string(), name="out-seconds"
    )
    prices = topology.stream(f"{prefix}prices", key=string(), value=string(), name="prices")
    joiner = "split(left, ':')[1] || '@' || right"
    both = items.join(prices, within("1 day", grace="1 day"), joiner=joiner, name="join")
    both.to(f"{prefix}joined", key=string(), value=string(), name="out-joined")
    return topology
