"""Programs that the tests of the test driver run."""

from __future__ import annotations

from typing import Any

from millrace_runtime import (
    WALL_CLOCK_TIME,
    Processor,
    ProcessorContext,
    Record,
    Store,
    Topology,
    json,
    key_value_store,
    long,
    string,
    tumbling,
    window_store,
)


def word_count() -> Topology:
    topology = Topology("word-count")
    lines = topology.stream("lines", key=string(), value=string())
    words = lines.flat_map_values("split(value, ' ')", name="words").group_by("value")
    words.count(store=key_value_store("counts")).to_stream().to("counts", value=long())
    return topology


def per_minute() -> Topology:
    topology = Topology("per-minute")
    clicks = topology.stream("clicks", key=string(), value=string())
    counted = clicks.group_by_key().windowed_by(tumbling("1 minute", grace="0 seconds"))
    counted.count(store=window_store("per-minute"), name="count").to_stream().select_key(
        "key.key"
    ).to("per-minute", value=long())
    return topology


def priced(partitions: int = 1) -> Topology:
    """Orders are repartitioned by their item, so the join runs on another level than its table."""
    topology = Topology("priced", partitions={"orders": partitions, "prices": partitions})
    orders = topology.stream("orders", key=string(), value=json("item STRING, n INT"))
    prices = topology.table(
        "prices", key=string(), value=json("price INT"), store=key_value_store("prices")
    )
    joined = orders.select_key("value.item").join(prices, joiner="left.n * right.price")
    joined.to("totals", value=json())
    return topology


class Reminder(Processor):
    """Forwards the number of records of each key every ten seconds."""

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        self.context = context
        self.counts = context.store("open")
        context.schedule("10 seconds", WALL_CLOCK_TIME, self.remind)

    def process(self, record: Record[Any, Any]) -> None:
        if record.value == "broken":
            raise ValueError("this record is broken")
        self.counts.put(record.key, (self.counts.get(record.key) or 0) + 1)

    def remind(self, now: int) -> None:
        for key, count in self.counts.all():
            self.context.forward(Record(key, count, now))


def open_store() -> Store:
    return key_value_store("open", key_type="STRING", value_type="BIGINT")


def reminders() -> Topology:
    topology = Topology("reminders")
    tickets = topology.stream("tickets", key=string(), value=string())
    reminded = tickets.process(
        Reminder, stores=[open_store()], key_type="STRING", value_type="BIGINT", name="remind"
    )
    reminded.to("reminders", value=long())
    return topology


class Silent(Processor):
    """Does nothing; for tests of its stores."""


class Never(Processor):
    """Does not start."""

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        raise ValueError("not today")
