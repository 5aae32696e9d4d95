"""Refusals of the types of ports, expressions and sources."""

from __future__ import annotations

from tests.compiler.kit import (
    LONG,
    STRING,
    document,
    global_table,
    line,
    node,
    sink,
    stream,
    table,
)
from tests.compiler.refused.made import (
    Refused,
    join,
)

TYPES: Refused = {
    # ---- types
    "a stream where a table is needed": (
        join("stream_table", stream("l"), stream("r")),
        ("role", "join", "right"),
    ),
    "a table where a stream is needed": (
        document(
            [table(), node("keyed", "select_key", key="value"), sink()],
            ["table > keyed", "keyed > out"],
        ),
        ("role", "keyed", "in"),
    ),
    "a global table at a sink": (
        document([global_table(), sink()], ["global > out"]),
        ("role_global", "out", "in"),
    ),
    "a table where a global table is needed": (
        join("stream_global_table", stream("l"), table("r"), key="key"),
        ("role_not_global", "join", "right"),
    ),
    "a column that is not there": (
        line(node("keep", "filter", predicate="value.amount > 10")),
        ("expression_no_parts", "keep", "predicate"),
    ),
    "an expression that is no SQL": (
        line(node("keep", "filter", predicate="value >")),
        ("expression_ends", "keep", "predicate"),
    ),
    "a predicate that is not a yes or no": (
        line(node("keep", "filter", predicate="concat(value, 'x')")),
        ("expression_type", "keep", "predicate"),
    ),
    "an aggregate function": (
        line(node("keep", "filter", predicate="count(value) > 1")),
        ("expression_aggregate", "keep", "predicate"),
    ),
    "a random number": (
        line(node("keep", "filter", predicate="uniform(0, 9) > 5")),
        ("expression_random", "keep", "predicate"),
    ),
    "a random number that a grouping would draw again": (
        line(node("count", "count", group_by={"key": "uuid()"})),
        ("expression_evaluated_again", "count", "group_by"),
    ),
    "an array that is none": (
        line(node("words", "flat_map_values", values="upper(value)")),
        ("expression_type", "words", "values"),
    ),
    "records without key and value": (
        line(node("pairs", "flat_map", records="array(struct(1 AS a))")),
        ("expression_type", "pairs", "records"),
    ),
    "a timestamp that is text": (
        document([stream(timestamp="value"), sink()], ["in > out"]),
        ("expression_type", "in", "timestamp"),
    ),
    "an aggregator of another type": (
        line(
            node(
                "sum", "aggregate", type="BIGINT", initializer="0L", aggregator="concat(agg, value)"
            )
        ),
        ("expression_type", "sum", "aggregator"),
    ),
    "merged values that differ": (
        document(
            [stream("a"), stream("b", value=LONG), node("both", "merge"), sink()],
            ["a > both", "b > both", "both > out"],
        ),
        ("types_differ", "both", "in"),
    ),
    "merged keys that differ": (
        document(
            [stream("a"), stream("b", key=LONG), node("both", "merge"), sink()],
            ["a > both", "b > both", "both > out"],
        ),
        ("key_types_differ", "both", "in"),
    ),
    "joined keys that differ": (
        join("stream_table", stream("l"), table("r", key=LONG), joiner="left"),
        ("key_types_differ", "join", "right"),
    ),
    "a foreign key of another type": (
        join("foreign_key", table("l"), table("r"), foreign_key="length(value)"),
        ("expression_type", "join", "foreign_key"),
    ),
    "a sink's format that does not fit": (
        document([stream(), sink(value=LONG)], ["in > out"]),
        ("sink_format", "out", "value"),
    ),
    "a sink's key format that does not fit": (
        document([stream(), sink(key=LONG)], ["in > out"]),
        ("sink_key_format", "out", "key"),
    ),
    "a format that is not known": (
        document([stream(value={"format": "xml"}), sink()], ["in > out"]),
        ("format", "in", "value"),
    ),
    "JSON without a schema": (
        document([stream(value={"format": "json"}), sink()], ["in > out"]),
        ("format_schema", "in", "value"),
    ),
    "a schema that is none": (
        document([stream(value={"format": "json", "schema": "a INTT"}), sink()], ["in > out"]),
        ("format_bad_schema", "in", "value"),
    ),
    # ---- sources
    "a topic in two roles": (
        document([stream("a", ["t"]), table("b", "t"), sink()], ["a > out", "b > out"]),
        ("topic_roles", "b", "topic"),
    ),
    "a topic in two formats": (
        document(
            [stream("a", ["t"]), stream("b", ["t"], value=LONG), sink(), sink("two")],
            ["a > out", "b > two"],
        ),
        ("topic_formats", "b", "topics"),
    ),
    "a topic with two timestamps": (
        document(
            [stream("a", ["t"]), stream("b", ["t"], timestamp="offset"), sink()],
            ["a > out", "b > out"],
        ),
        ("topic_times", "b", "topics"),
    ),
    "lists of topics that overlap": (
        document([stream("a", ["t", "u"]), stream("b", ["t"]), sink()], ["a > out", "b > out"]),
        ("topic_overlap", "b", "topics"),
    ),
    "a topic that is two tables": (
        document([table("a", "t"), table("b", "t"), sink()], ["a > out", "b > out"]),
        ("topic_table_twice", "b", "topic"),
    ),
    "a pattern that matches a topic read elsewhere": (
        document(
            [stream("a", ["log-1"]), stream("b", topic_pattern="log-.*"), sink()],
            ["a > out", "b > out"],
        ),
        ("topic_pattern_overlap", "b", "topic_pattern"),
    ),
    "a topic that no broker has": (
        document([stream("a", [".."]), sink()], ["a > out"]),
        ("parameter_type", "a", "topics"),
    ),
    "a topic named twice in one list": (
        document([stream("a", ["t", "t"]), sink()], ["a > out"]),
        ("name_twice", "a", "topics"),
    ),
    "topics and a pattern": (
        document(
            [
                node(
                    "in", "source.stream", topics=["t"], topic_pattern="u", key=STRING, value=STRING
                ),
                sink(),
            ],
            ["in > out"],
        ),
        ("one_of", "in", "topics"),
    ),
    "a pattern that is none": (
        document([stream(topic_pattern="("), sink()], ["in > out"]),
        ("pattern", "in", "topic_pattern"),
    ),
    "a sink without a topic": (
        document([stream(), node("out", "sink.topic")], ["in > out"]),
        ("one_of", "out", "topic"),
    ),
}
