"""Refusals of kinds that the other modules do not cover."""

from __future__ import annotations

from tests.compiler.kit import (
    document,
    global_table,
    line,
    node,
    sink,
    store,
    stream,
    table,
)
from tests.compiler.refused.made import (
    Refused,
    join,
    window,
    with_store,
)

KINDS: Refused = {
    # ---- one for each kind that is not above
    "a wrong predicate to drop by": (
        line(node("drop", "filter_not", predicate="upper(value)")),
        ("expression_type", "drop", "predicate"),
    ),
    "a rule on the rows of a table": (
        document(
            [table(), node("rule", "filter", predicate="true", rejected="warn"), sink()],
            ["table > rule", "rule > out"],
        ),
        ("rejected_rows", "rule", "rejected"),
    ),
    "a rule without a topic for its dead letters": (
        line(node("rule", "filter", predicate="true", rejected="dead_letter")),
        ("dead_letter_topic", None, "dead_letter_topic"),
    ),
    "a new key that does not resolve": (
        line(node("pair", "map", key="value.id", value="value")),
        ("expression_no_parts", "pair", "key"),
    ),
    "a new value that does not resolve": (
        line(node("more", "map_values", value="uper(value)")),
        ("expression_function", "more", "value"),
    ),
    "a message that is no text": (
        line(node("seen", "peek", message="length(value)")),
        ("expression_type", "seen", "message"),
    ),
    "a stream as a stream": (line(node("again", "to_stream")), ("role", "again", "in")),
    "a table as a table": (
        document([table(), node("again", "to_table"), sink()], ["table > again", "again > out"]),
        ("role", "again", "in"),
    ),
    "a global table that is versioned": (
        with_store(
            join("stream_global_table", stream("l"), global_table("r"), key="key"),
            "r",
            store("rows", "versioned", history_retention=5),
        ),
        ("store_kind", "r", "store"),
    ),
    "a key of another type for a global table": (
        join("stream_global_table", stream("l"), global_table("r"), key="length(value)"),
        ("expression_type", "join", "key"),
    ),
    "a cogroup of topics that are not co-partitioned": (
        document(
            [
                stream("a"),
                stream("b"),
                node(
                    "all",
                    "cogroup",
                    type="STRING",
                    initializer="''",
                    inputs=[{"port": p, "aggregator": "agg"} for p in ("a", "b")],
                ),
                sink(),
            ],
            ["a > all.a", "b > all.b", "all > out"],
            topics={"a": 2, "b": 3},
        ),
        ("not_copartitioned", "all", "inputs"),
    ),
    "a label that is no text": (
        document([stream(), node("log", "sink.print", label=3)], ["in > log"]),
        ("parameter_type", "log", "label"),
    ),
    "sessions kept shorter than gap and grace": (
        with_store(
            window(type="session", gap=10, grace=5), "count", store("rows", "session", retention=14)
        ),
        ("retention", "rows", "retention"),
    ),
    "a versioned store without a history": (
        with_store(
            document([table(), sink()], ["table > out"]), "table", store("rows", "versioned")
        ),
        ("parameter_missing", "rows", "history_retention"),
    ),
    # ---- repartition
    "no partitions": (
        line(node("wide", "repartition", partitions=0)),
        ("out_of_bounds", "wide", "partitions"),
    ),
    "a repartition topic made twice": (
        line(node("one", "repartition", name="x"), node("two", "repartition", name="x")),
        ("repartition_name_twice", "two", "name"),
    ),
    "branches that are none": (
        line(node("route", "split", branches=[])),
        ("parameter_type", "route", "branches"),
    ),
    "a branch named twice": (
        document(
            [
                stream(),
                node(
                    "route",
                    "split",
                    branches=[
                        {"port": "a", "predicate": "true"},
                        {"port": "a", "predicate": "true"},
                    ],
                ),
                sink(),
            ],
            ["in > route", "route.a > out"],
        ),
        ("name_twice", "route", "branches"),
    ),
}
