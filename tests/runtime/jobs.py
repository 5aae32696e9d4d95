"""Jobs by hand, in the shape in which the compiler writes them."""

from __future__ import annotations

from millrace_runtime import (
    Job,
    flat_map_values,
    json,
    key_value_store,
    long,
    map_values,
    select_key,
    string,
)


def word_count(job: Job, source: str = "text-lines", target: str = "word-counts") -> None:
    """Counts words over four tasks."""
    lines = job.read_stream("lines", topics=[source], key=string(), value=string())
    words = lines.transform(flat_map_values("words", "split(value, ' ')"))
    by_word = words.transform(select_key("count-key", "value", node="count"))
    job.repartition("count-repartition", by_word, partitions=4, node="count")
    with job.subtopology(1, level=1, tasks=4) as task:
        counts = task.repartitioned("count-repartition", node="count").count(
            "count", store=key_value_store("counts", node="counts")
        )
        updates = counts.to_stream("updates")
        updates.to("word-counts", topic=target, key=string(), value=long())


def upper_case(job: Job) -> None:
    """No state at all: plain DataFrame from source to sink."""
    lines = job.read_stream("lines", topics=["text-lines"], key=string(), value=string())
    upper = lines.transform(map_values("upper", "upper(value)"))
    job.write("out", upper, topic="upper-lines", key=string(), value=string())


def divide(job: Job) -> None:
    """Fails for a record whose `d` is 0."""
    numbers = job.read_stream("in", topics=["numbers"], key=string(), value=json("n INT, d INT"))
    quotients = numbers.transform(map_values("divide", "value.n / value.d"))
    job.write("out", quotients, topic="quotients")


def timed(job: Job) -> None:
    """Takes `d` for the timestamp, and drops records in which it is none."""
    numbers = job.read_stream(
        "in", topics=["numbers"], key=string(), value=json("n INT, d INT"),
        timestamp="cast(value.d AS BIGINT)", invalid_timestamp="skip",
    )  # fmt: skip
    job.write("out", numbers.transform(map_values("n", "value.n")), topic="timed")


def countdown(job: Job) -> None:
    """Writes to the topic that it reads until a number is 0."""
    with job.subtopology(0, tasks=1) as task:
        numbers = task.stream("in", topics=["numbers"], key=string(), value=long())
        smaller = numbers.filter("positive", "value > 0").map_values("less", "value - 1")
        smaller.to("out", topic="numbers", key=string(), value=long())


def orders(job: Job, prefix: str = "") -> None:
    """Counts per item, per item and second, and orders joined with prices: two sub-topologies.

    Orders are `item:number` under a customer; prices are `number` under an item.
    """
    sold = job.read_stream("orders", topics=[f"{prefix}orders"], key=string(), value=string())
    by_item = sold.transform(select_key("by-item", "split(value, ':')[0]"))
    job.repartition("by-item-repartition", by_item, partitions=4, node="by-item")
    with job.subtopology(1, level=1, tasks=4) as task:
        items = task.repartitioned("by-item-repartition", node="by-item")
        counts = items.count("count", store=key_value_store("counts", node="counts"))
        counts.to_stream("updates").to(
            "counts", topic=f"{prefix}counts", key=string(), value=long()
        )
        second = {"type": "tumbling", "size": 1_000, "grace": 86_400_000}
        seconds = items.count("seconds", window=second).to_stream("second-updates")
        named = "unix_millis(key.window.start) || ':' || value"
        seconds.map("second", key="key.key", value=named).to(
            "out-seconds", topic=f"{prefix}seconds", key=string(), value=string()
        )
        prices = task.stream("prices", topics=[f"{prefix}prices"], key=string(), value=string())
        both = items.join_stream(
            "join", prices, type="inner", before=86_400_000, after=86_400_000, grace=86_400_000,
            joiner="split(left, ':')[1] || '@' || right",
        )  # fmt: skip
        both.to("out-joined", topic=f"{prefix}joined", key=string(), value=string())
