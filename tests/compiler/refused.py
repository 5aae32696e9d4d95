"""Graphs that are refused: a sentence, the document, and code, node and parameter of the error."""

from __future__ import annotations

from typing import Any

from tests.compiler.kit import (
    LONG,
    STRING,
    document,
    edge,
    global_table,
    line,
    node,
    sink,
    store,
    stream,
    table,
)

KEEP = node("keep", "filter", predicate="value > 'm'")
JOINER = "concat(left, right)"
CODE = "class Run(Processor):\n    def process(self, record):\n        pass\n"


def window(**parts: Any) -> dict[str, Any]:
    return line(node("count", "count", window=parts))


def join(kind: str, left: Any, right: Any, **params: Any) -> dict[str, Any]:
    topics = params.pop("topics", {})
    made = node("join", f"join.{kind}", **{"joiner": JOINER, **params})
    edges = [f"{left['id']} > join.left", f"{right['id']} > join.right", "join > out"]
    return document([left, right, made, sink()], edges, topics=topics)


def with_store(raw: dict[str, Any], target: str, *stores: dict[str, Any]) -> dict[str, Any]:
    raw["nodes"] += stores
    raw["edges"] += [edge(f"{item['id']} > {target}.store") for item in stores]
    return raw


def process(**params: Any) -> dict[str, Any]:
    given = {"code": CODE, "class_name": "Run", "output": {"key": "STRING", "value": "STRING"}}
    kind = params.pop("kind", "process")
    return node("run", kind, **{k: v for k, v in (given | params).items() if v is not None})


REFUSED: dict[str, tuple[dict[str, Any], tuple[str, str | None, str | None]]] = {
    # ---- kinds and parameters
    "an unknown kind": (
        line(node("odd", "filtre", predicate="true")),
        ("kind_unknown", "odd", "kind"),
    ),
    "an unknown parameter": (
        line(node("keep", "filter", predicate="true", predicat="x")),
        ("parameter_unknown", "keep", "predicat"),
    ),
    "a missing parameter": (
        line(node("keep", "filter")),
        ("parameter_missing", "keep", "predicate"),
    ),
    "a null parameter": (
        line(node("keep", "filter", predicate=None)),
        ("parameter_missing", "keep", "predicate"),
    ),
    "a predicate that is no text": (
        line(node("keep", "filter", predicate=1)),
        ("parameter_type", "keep", "predicate"),
    ),
    "an empty predicate": (
        line(node("keep", "filter", predicate="  ")),
        ("expression_empty", "keep", "predicate"),
    ),
    "an unknown setting": (
        line(KEEP, settings={"guarantee": 1}),
        ("setting_unknown", None, "guarantee"),
    ),
    "a wrong setting": (
        line(KEEP, settings={"processing_guarantee": "twice"}),
        ("choice", None, "processing_guarantee"),
    ),
    "dead letters without a topic": (
        line(KEEP, settings={"processing_handler": "dead_letter"}),
        ("dead_letter_topic", None, "dead_letter_topic"),
    ),
    # ---- edges
    "a cycle": (
        document(
            [stream(), node("both", "merge"), KEEP, sink()],
            ["in > both", "both > keep", "keep > both", "keep > out"],
        ),
        ("cycle", "both", "in"),
    ),
    "a node that is its own parent": (
        document(
            [stream(), node("self", "merge"), sink()], ["in > self", "self > self", "self > out"]
        ),
        ("cycle", "self", "in"),
    ),
    "a processor without input": (
        document([stream(), KEEP, sink()], ["keep > out"]),
        ("input_missing", "keep", "in"),
    ),
    "a sink without input": (document([stream(), sink()], []), ("input_missing", "out", "in")),
    "a sink as a source": (
        document([stream(), sink(), KEEP], ["in > out", "out > keep"]),
        ("edge_from_sink", "out", "out"),
    ),
    "an edge to a source": (
        document([stream(), stream("two"), sink()], ["in > out", "in > two", "two > out"]),
        ("port_unknown", "two", "in"),
    ),
    "an output port that is not there": (
        document([stream(), KEEP, sink()], ["in > keep", "keep.yes > out"]),
        ("port_unknown", "keep", "yes"),
    ),
    "an input port that is not there": (
        document([stream(), KEEP, sink()], ["in > keep", "in > keep.second", "keep > out"]),
        ("port_unknown", "keep", "second"),
    ),
    "an input filled twice": (
        document(
            [stream(), stream("two"), KEEP, sink()], ["in > keep", "two > keep", "keep > out"]
        ),
        ("input_twice", "keep", "in"),
    ),
    "an edge from nowhere": (
        document([stream(), KEEP, sink()], ["nobody > keep", "in > out"]),
        ("edge_end", "keep", "in"),
    ),
    "an edge to nowhere": (
        document([stream(), sink()], ["in > out", "in > nobody"]),
        ("edge_end", "in", "out"),
    ),
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
        ("role", "out", "in"),
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
        line(node("keep", "filter", predicate="rand() > 0.5")),
        ("expression_random", "keep", "predicate"),
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
    "joined keys that differ": (
        join("stream_table", stream("l"), table("r", key=LONG), joiner="left"),
        ("types_differ", "join", "right"),
    ),
    "a foreign key of another type": (
        join("foreign_key", table("l"), table("r"), foreign_key="length(value)"),
        ("expression_type", "join", "foreign_key"),
    ),
    "a sink's format that does not fit": (
        document([stream(), sink(value=LONG)], ["in > out"]),
        ("sink_format", "out", "value"),
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
    # ---- windows
    "a window of size 0": (
        window(type="tumbling", size=0),
        ("duration_too_short", "count", "window"),
    ),
    "an advance of 0": (
        window(type="hopping", size=10, advance=0),
        ("duration_too_short", "count", "window"),
    ),
    "an advance above the size": (
        window(type="hopping", size=10, advance=11),
        ("window_advance", "count", "window"),
    ),
    "a negative grace": (
        window(type="tumbling", size=10, grace=-1),
        ("duration_too_short", "count", "window"),
    ),
    "a negative gap": (window(type="session", gap=-1), ("duration_too_short", "count", "window")),
    "a negative difference": (
        window(type="sliding", difference=-1),
        ("duration_too_short", "count", "window"),
    ),
    "a window of no type": (window(size=10), ("choice", "count", "window")),
    "a window without size": (window(type="tumbling"), ("window_part_missing", "count", "window")),
    "a part of another window": (
        window(type="tumbling", size=1, gap=1),
        ("window_part", "count", "window"),
    ),
    "a size that is no duration": (
        window(type="tumbling", size="soon"),
        ("duration", "count", "window"),
    ),
    "final results of an unlimited window": (
        line(node("count", "count", window={"type": "unlimited"}, emit="window_close")),
        ("emit_unlimited", "count", "emit"),
    ),
    "final results without a window": (
        line(node("count", "count", emit="window_close")),
        ("needed_with", "count", "window"),
    ),
    "sessions without a merger": (
        line(
            node(
                "sum",
                "aggregate",
                type="STRING",
                initializer="''",
                aggregator="agg",
                window={"type": "session", "gap": 1},
            )
        ),
        ("merger_missing", "sum", "merger"),
    ),
    "a merger without sessions": (
        line(
            node(
                "sum", "aggregate", type="STRING", initializer="''", aggregator="agg", merger="left"
            )
        ),
        ("merger_unwanted", "sum", "merger"),
    ),
    "a retention shorter than size and grace": (
        with_store(
            window(type="tumbling", size=10, grace=5),
            "count",
            store("rows", "window", retention=14),
        ),
        ("retention", "rows", "retention"),
    ),
    "a subtractor for a stream": (
        line(node("sum", "reduce", reducer="agg", subtractor="agg")),
        ("only_for_tables", "sum", "subtractor"),
    ),
    "a value to group a stream by": (
        line(node("count", "count", group_by={"key": "value", "value": "key"})),
        ("group_by_value", "count", "group_by"),
    ),
    "a table that is not grouped": (
        document([table(), node("count", "count"), sink()], ["table > count", "count > out"]),
        ("needed_for_tables", "count", "group_by"),
    ),
    "a table grouped without a value": (
        document(
            [table(), node("count", "count", group_by={"key": "value"}), sink()],
            ["table > count", "count > out"],
        ),
        ("group_by_needs_value", "count", "group_by"),
    ),
    "a table without a subtractor": (
        document(
            [
                table(),
                node("sum", "reduce", reducer="agg", group_by={"key": "key", "value": "value"}),
                sink(),
            ],
            ["table > sum", "sum > out"],
        ),
        ("needed_for_tables", "sum", "subtractor"),
    ),
    "a window on a table": (
        document(
            [
                table(),
                node(
                    "count",
                    "count",
                    group_by={"key": "key", "value": "value"},
                    window={"type": "tumbling", "size": 1},
                ),
                sink(),
            ],
            ["table > count", "count > out"],
        ),
        ("only_for_streams", "count", "window"),
    ),
    # ---- joins, suppress
    "a join window that is empty": (
        join("stream_stream", stream("l"), stream("r"), before=5, after=-6),
        ("join_window", "join", "before"),
    ),
    "a join with a negative grace": (
        join("stream_stream", stream("l"), stream("r"), before=5, after=5, grace=-1),
        ("duration_too_short", "join", "grace"),
    ),
    "an outer join with a table": (
        join("stream_table", stream("l"), table("r"), type="outer"),
        ("choice", "join", "type"),
    ),
    "a grace on a table that is not versioned": (
        join("stream_table", stream("l"), table("r"), grace=2),
        ("join_grace", "join", "grace"),
    ),
    "a grace on a step over a versioned table": (
        with_store(
            document(
                [
                    stream("l"),
                    table("r"),
                    node("some", "filter", predicate="true"),
                    node("join", "join.stream_table", type="inner", joiner="left", grace=2),
                    sink(),
                ],
                ["l > join.left", "r > some", "some > join.right", "join > out"],
            ),
            "r",
            store("rows", "versioned", history_retention=5),
        ),
        ("join_grace", "join", "grace"),
    ),
    "a join that is not co-partitioned": (
        join("table_table", table("l"), table("r"), topics={"l": 2, "r": 3}),
        ("not_copartitioned", "join", "right"),
    ),
    "suppress on a versioned table": (
        with_store(
            document(
                [table(), node("quiet", "suppress", until="time_limit", limit=5), sink()],
                ["table > quiet", "quiet > out"],
            ),
            "table",
            store("rows", "versioned", history_retention=5),
        ),
        ("suppress_versioned", "quiet", "in"),
    ),
    "final results of a table without windows": (
        document(
            [table(), node("quiet", "suppress", until="window_closes"), sink()],
            ["table > quiet", "quiet > out"],
        ),
        ("suppress_window", "quiet", "until"),
    ),
    "a time limit without a limit": (
        document(
            [table(), node("quiet", "suppress", until="time_limit"), sink()],
            ["table > quiet", "quiet > out"],
        ),
        ("needed_with", "quiet", "limit"),
    ),
    "a limit for final results": (
        document(
            [
                stream(),
                node("count", "count", window={"type": "tumbling", "size": 1}),
                node("quiet", "suppress", until="window_closes", limit=3),
                sink(),
            ],
            ["in > count", "count > quiet", "quiet > out"],
        ),
        ("only_with", "quiet", "limit"),
    ),
    "final results that are emitted early": (
        document(
            [
                stream(),
                node("count", "count", window={"type": "tumbling", "size": 1}),
                node("quiet", "suppress", until="window_closes", max_records=3, when_full="emit"),
                sink(),
            ],
            ["in > count", "count > quiet", "quiet > out"],
        ),
        ("suppress_emit", "quiet", "when_full"),
    ),
    "a buffer of no records": (
        document(
            [
                table(),
                node("quiet", "suppress", until="time_limit", limit=1, max_records=0),
                sink(),
            ],
            ["table > quiet", "quiet > out"],
        ),
        ("out_of_bounds", "quiet", "max_records"),
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
    # ---- stores
    "a store for a filter of a stream": (
        with_store(line(KEEP), "keep", store()),
        ("store_for_tables", "keep", "store"),
    ),
    "a store for a sink": (
        with_store(line(KEEP), "out", store()),
        ("takes_no_store", "out", "store"),
    ),
    "a store for a stream": (
        with_store(line(KEEP), "in", store()),
        ("takes_no_store", "in", "store"),
    ),
    "a node at the port for stores": (
        document(
            [stream(), node("count", "count"), sink()],
            ["in > count", "in > count.store", "count > out"],
        ),
        ("edge_no_store", "count", "store"),
    ),
    "a store at a port for records": (
        document([stream(), store(), KEEP, sink()], ["rows > keep", "in > out"]),
        ("edge_from_store", "keep", "in"),
    ),
    "an edge into a store": (
        with_store(
            document(
                [stream(), node("count", "count"), sink()],
                ["in > count", "count > out", "in > rows"],
            ),
            "count",
            store(),
        ),
        ("edge_into_store", "rows", "in"),
    ),
    "a store of the wrong kind": (
        with_store(window(type="tumbling", size=1), "count", store()),
        ("store_kind", "count", "store"),
    ),
    "two stores for one operator": (
        with_store(line(node("count", "count")), "count", store("a"), store("b")),
        ("store_twice", "count", "store"),
    ),
    "two stores of one name": (
        with_store(
            with_store(
                line(node("count", "count"), node("updates", "to_stream"), node("again", "count")),
                "count",
                store("a", name="x"),
            ),
            "again",
            store("b", name="x"),
        ),
        ("store_name_twice", "b", "name"),
    ),
    "a store connected to nothing": (
        {**line(KEEP), "nodes": [*line(KEEP)["nodes"], store()]},
        ("store_unused", "rows", "store"),
    ),
    "a store of two operators": (
        with_store(
            with_store(
                line(node("count", "count"), node("updates", "to_stream"), node("again", "count")),
                "count",
                store(),
            ),
            "again",
        )
        | {},
        ("store_shared", "rows", "store"),
    ),
    "a store of another type": (
        with_store(line(node("count", "count")), "count", store(value_type="STRING")),
        ("store_type", "rows", "value_type"),
    ),
    "a processor's store without types": (
        with_store(line(process()), "run", store()),
        ("store_needs", "rows", "key_type"),
    ),
    # ---- processors
    "code that is no Python": (line(process(code="class Run(")), ("code_syntax", "run", "code")),
    "a class that is not there": (
        line(process(class_name="Walk")),
        ("code_class", "run", "class_name"),
    ),
    "a processor without output types": (
        line(process(output=None)),
        ("parameter_missing", "run", "output"),
    ),
    "an output type that is none": (
        line(process(output={"key": "TEXT"})),
        ("type", "run", "output"),
    ),
    "a port named twice": (line(process(outputs=["out", "out"])), ("name_twice", "run", "outputs")),
    "values with another key": (
        line(process(kind="process_values", output={"key": "BIGINT", "value": "STRING"})),
        ("process_values_key", "run", "output"),
    ),
    # ---- one for each kind that is not above
    "a wrong predicate to drop by": (
        line(node("drop", "filter_not", predicate="upper(value)")),
        ("expression_type", "drop", "predicate"),
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
REFUSED["a store of two operators"][0]["edges"].append(edge("rows > again.store"))
