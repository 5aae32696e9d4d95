"""Refusals of stores and processors."""

from __future__ import annotations

from tests.compiler.kit import (
    STRING,
    document,
    edge,
    line,
    node,
    sink,
    store,
    stream,
)
from tests.compiler.refused.made import (
    CODE,
    KEEP,
    Refused,
    process,
    window,
    with_store,
)

GLOBAL = node(
    "global",
    "source.global_store",
    topic="rates",
    key=STRING,
    value=STRING,
    code=CODE,
    class_name="Run",
)
TYPED = store(key_type="STRING", value_type="STRING")

STORES: Refused = {
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
    "a store's port that it does not have": (
        document(
            [stream(), node("count", "count"), store(), sink()],
            ["in > count", "rows.values > count.store", "count > out"],
        ),
        ("port_unknown", "rows", "values"),
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
    "headers in the store of an aggregation": (
        with_store(line(node("count", "count")), "count", store(headers=True)),
        ("store_headers", "rows", "headers"),
    ),
    "a processor's store without types": (
        with_store(line(process()), "run", store()),
        ("store_needs", "rows", "key_type"),
    ),
    "a global store without a store": (
        document([GLOBAL, stream(), sink()], ["in > out"]),
        ("store_missing", "global", "store"),
    ),
    "a global store without types": (
        with_store(document([GLOBAL, stream(), sink()], ["in > out"]), "global", store()),
        ("store_needs", "rows", "key_type"),
    ),
    "records of a global store": (
        with_store(document([GLOBAL, sink()], ["global > out"]), "global", TYPED),
        ("edge_from_sink", "global", "out"),
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
}
STORES["a store of two operators"][0]["edges"].append(edge("rows > again.store"))
