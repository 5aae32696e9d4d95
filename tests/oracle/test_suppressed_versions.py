"""`suppress` behind a versioned table: refused exactly where Kafka Streams refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from millrace_compiler.declarations.operator import registry

from cli.documents import analyzer
from cli.oracle import Oracle
from tests.compiler.kit import Raw, document, faults, global_table, node, sink, store, stream, table

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long]

CODE = "class Run(Processor):\n    def process(self, record): ...\n"
RUN = {"code": CODE, "class_name": "Run", "output": {"key": "STRING", "value": "STRING"}}
BRANCHES = [{"port": "yes", "predicate": "true"}]
#: nodes between a versioned table's updates and a windowed cogroup, by kind: node, further edges
STREAMS: dict[str, tuple[Raw, list[str]]] = {
    "filter": (node("x", "filter", predicate="true"), []),
    "filter_not": (node("x", "filter_not", predicate="false"), []),
    "map": (node("x", "map", key="key", value="value"), []),
    "map_values": (node("x", "map_values", value="value"), []),
    "select_key": (node("x", "select_key", key="key"), []),
    "flat_map": (node("x", "flat_map", records="array(struct(key, value))"), []),
    "flat_map_values": (node("x", "flat_map_values", values="array(value)"), []),
    "peek": (node("x", "peek", message="value"), []),
    "repartition": (node("x", "repartition"), []),
    "split": (node("x", "split", branches=BRANCHES), []),
    "process": (node("x", "process", **RUN), []),
    "process_values": (node("x", "process_values", **RUN), []),
    "merge": (node("x", "merge"), ["plain > x"]),
    "join.stream_table": (node("x", "join.stream_table", joiner="left"), ["other > x.right"]),
    "join.stream_global_table": (
        node("x", "join.stream_global_table", key="key", joiner="left"),
        ["everywhere > x.right"],
    ),
    "join.stream_stream": (
        node("x", "join.stream_stream", joiner="left", before=5, after=5),
        ["plain > x.right"],
    ),
}
#: nodes between a versioned table and `suppress`, by kind
TABLES: dict[str, tuple[Raw, list[str]]] = {
    "filter": (node("x", "filter", predicate="true"), []),
    "filter_not": (node("x", "filter_not", predicate="false"), []),
    "map_values": (node("x", "map_values", value="value"), []),
    "count": (node("x", "count", group_by={"key": "key", "value": "value"}), []),
    "reduce": (
        node("x", "reduce", group_by={"key": "key", "value": "value"}, reducer="value",
             subtractor="agg"),
        [],
    ),
    "aggregate": (
        node("x", "aggregate", group_by={"key": "key", "value": "value"}, type="STRING",
             initializer="''", aggregator="value", subtractor="agg"),
        [],
    ),
    "join.table_table": (node("x", "join.table_table", joiner="left"), ["other > x.right"]),
    "join.foreign_key": (
        node("x", "join.foreign_key", foreign_key="value", joiner="left"),
        ["other > x.right"],
    ),
}  # fmt: skip
#: kinds that read topics, end a branch or are neither
NOT_BETWEEN = {
    "source.stream", "source.table", "source.global_table", "source.global_store", "suppress",
    "to_stream", "to_table", "cogroup", "sink.topic", "sink.print",
}  # fmt: skip
TUMBLING = {"type": "tumbling", "size": 10}


def made(nodes: list[Raw], edges: list[str]) -> Raw:
    """Return a document whose last node is `quiet`; only the sources that it uses are in it."""
    sources = [
        table("t"), table("u"), table("other"), global_table("everywhere"), stream("plain"),
    ]  # fmt: skip
    history = [store("versions", "versioned", history_retention=100),
               store("more", "versioned", history_retention=100)]  # fmt: skip
    used = {text.split(" > ")[0].split(".")[0] for text in edges}
    edges = [*edges, "versions > t.store", *(["more > u.store"] if "u" in used else [])]
    used |= {text.split(" > ")[0] for text in edges}
    kept = [each for each in (*sources, *history) if each["id"] in used]
    return document([*kept, *nodes, sink()], [*edges, "quiet > out"])


def cogroup(window: Raw | None = None, inputs: int = 1) -> Raw:
    listed = [{"port": f"in{n + 1}", "aggregator": "value"} for n in range(inputs)]
    merger = {"merger": "left"} if window and window["type"] == "session" else {}
    params = {"type": "STRING", "initializer": "''", "inputs": listed, **merger}
    return node("all", "cogroup", **params, **({"window": window} if window else {}))


QUIET = node("quiet", "suppress", until="time_limit", limit=5)
TO_STREAM = node("updates", "to_stream")


def documents() -> Iterator[tuple[str, Raw]]:
    """Yield documents in which `suppress` follows a versioned table, with a description."""
    for kind, (between, edges) in STREAMS.items():
        port = ".left" if kind.startswith("join.") else ""
        out = "x.yes" if kind == "split" else "x"
        found = ["t > updates", f"updates > x{port}", *edges, f"{out} > all.in1", "all > quiet"]
        yield f"stream, {kind}", made([TO_STREAM, between, cogroup(TUMBLING), QUIET], found)
        if kind in ("merge", "join.stream_stream"):
            second = [text.replace("plain", "again") for text in found]
            nodes = [TO_STREAM, node("again", "to_stream"), between, cogroup(TUMBLING), QUIET]
            yield f"stream, {kind} of two versioned", made(nodes, ["u > again", *second])
    for kind, (between, edges) in TABLES.items():
        port = ".left" if kind.startswith("join.") else ""
        found = [f"t > x{port}", *edges, "x > quiet"]
        yield f"table, {kind}", made([between, QUIET], found)
        kept = store("kept", key_type="STRING", value_type="BIGINT" if kind == "count" else None)
        kept["params"] = {name: v for name, v in kept["params"].items() if v is not None}
        nodes = [between, kept, QUIET]
        yield f"table, {kind} with a store", made(nodes, [*found, "kept > x.store"])
    yield "table itself", made([QUIET], ["t > quiet"])
    again = node("again", "suppress", until="time_limit", limit=5)
    suppressed = [node("x", "filter", predicate="true"), store("kept"), again, QUIET]
    yield (
        "suppress twice",
        made(suppressed, ["t > x", "kept > x.store", "x > again", "again > quiet"]),
    )
    yield (
        "to_table",
        made([TO_STREAM, node("x", "to_table"), QUIET],
             ["t > updates", "updates > x", "x > quiet"]),
    )  # fmt: skip
    windows: dict[str, Raw | None] = {
        "tumbling": TUMBLING,
        "hopping": {"type": "hopping", "size": 10, "advance": 5},
        "sliding": {"type": "sliding", "difference": 10},
        "session": {"type": "session", "gap": 10},
        "unlimited": {"type": "unlimited"},
        "no window": None,
    }
    counting = node("all", "count", window=TUMBLING)
    direct = ["t > updates", "all > quiet"]
    yield "windowed count", made([TO_STREAM, counting, QUIET], [*direct, "updates > all"])
    for name, window in windows.items():
        yield (
            f"cogroup, {name}",
            made([TO_STREAM, cogroup(window), QUIET], [*direct, "updates > all.in1"]),
        )
    two = [TO_STREAM, cogroup(TUMBLING, 2), QUIET]
    yield (
        "cogroup with a plain stream",
        made(two, [*direct, "updates > all.in1", "plain > all.in2"]),
    )
    yield (
        "cogroup of two versioned",
        made([node("again", "to_stream"), *two],
             [*direct, "u > again", "updates > all.in1", "again > all.in2"]),
    )  # fmt: skip
    for kind in ("filter", "map_values"):
        between = TABLES[kind][0]
        yield (
            f"cogroup, then {kind}",
            made([TO_STREAM, cogroup(TUMBLING), between, QUIET],
                 ["t > updates", "updates > all.in1", "all > x", "x > quiet"]),
        )  # fmt: skip
    keyed = cogroup(TUMBLING)
    keyed["params"]["inputs"][0]["group_by"] = {"key": "value"}
    yield (
        "cogroup, behind a repartition",
        made([TO_STREAM, keyed, QUIET], [*direct, "updates > all.in1"]),
    )


def _refuses(oracle: Oracle, topology: Raw) -> bool:
    processors = {n["id"]: "PassOn" for n in topology["nodes"] if n["kind"].startswith("process")}
    asked: Any = {"id": "s", "topology": topology, "inputs": [], "oracle_processors": processors}
    found = oracle.run(asked)
    return found.get("error") is not None


def test_suppress_is_refused_where_kafka_streams_refuses_it() -> None:
    differing: Any = {}
    refused = []
    with analyzer() as known, Oracle() as oracle:
        for what, raw in documents():
            ours = {code for code, _, _ in faults(raw, known)}
            theirs = _refuses(oracle, raw)
            refused += [what] if theirs else []
            if bool(ours) != theirs or not ours <= {"suppress_versioned", "suppress_inherited"}:
                differing[what] = (ours, theirs)
    assert differing == {}
    assert 20 < len(refused) < len(list(documents()))


def test_every_kind_that_can_stand_before_suppress_is_tried() -> None:
    kinds = {kind for kind in registry() if not kind.startswith("store.")}
    assert kinds == STREAMS.keys() | TABLES.keys() | NOT_BETWEEN
