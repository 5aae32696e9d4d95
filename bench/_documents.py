"""Documents that several measurements share."""

from __future__ import annotations

import itertools
from typing import Any

_STRING = {"format": "string"}


def hundred_nodes() -> Any:
    """Ten chains of ten nodes: sources, stateless steps, joins, aggregations, stores, sinks."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, str]] = []
    for n in range(10):
        nodes += [
            node(f"s{n}", "source.stream", topics=[f"s{n}"], key=_STRING, value=_STRING),
            node(f"t{n}", "source.table", topic=f"t{n}", key=_STRING, value=_STRING),
            node(f"f{n}", "filter", predicate=f"value <> '{n}'"),
            node(f"m{n}", "map_values", value=f"concat(value, '{n}')"),
            node(f"k{n}", "select_key", key="value"),
            node(f"j{n}", "join.stream_table", type="left", joiner="left"),
            node(f"c{n}", "count", window={"type": "tumbling", "size": "1 hour"}),
            node(f"w{n}", "store.window", name=f"w{n}"),
            node(f"u{n}", "to_stream"),
            node(f"o{n}", "sink.topic", topic=f"o{n}"),
        ]
        edges += chain(f"s{n}", f"f{n}", f"m{n}", f"k{n}", f"j{n}.left")
        edges += [edge(f"t{n}", f"j{n}.right"), edge(f"w{n}", f"c{n}.store")]
        edges += chain(f"j{n}", f"c{n}", f"u{n}", f"o{n}")
    return document("hundred-nodes", nodes, edges)


def ten_nodes() -> Any:
    """Ten nodes with three stores: a table that is joined, a windowed count, a reduction."""
    nodes = [
        node("lines", "source.stream", topics=["lines"], key=_STRING, value=_STRING),
        node("names", "source.table", topic="names", key=_STRING, value=_STRING),
        node("long", "filter", predicate="length(value) > 0"),
        node("named", "join.stream_table", type="left", joiner="concat(left, coalesce(right, ''))"),
        node("count", "count", window={"type": "tumbling", "size": 1_000, "grace": 0}),
        node("counts", "to_stream"),
        node("counted", "sink.topic", topic="counted"),
        node("longest", "reduce", reducer="if(length(value) > length(agg), value, agg)"),
        node("changes", "to_stream"),
        node("lengths", "sink.topic", topic="lengths"),
    ]
    edges = [*chain("lines", "long", "named.left"), edge("names", "named.right")]
    edges += chain("named", "count", "counts", "counted")
    edges += chain("named", "longest", "changes", "lengths")
    return document("ten-nodes", nodes, edges)


def node(id: str, kind: str, **params: Any) -> dict[str, Any]:
    """A node of a document."""
    return {"id": id, "kind": kind, "params": params}


def chain(*ends: str) -> list[dict[str, str]]:
    """Return edges from each node to the next; the last may name a port."""
    return [edge(first, second) for first, second in itertools.pairwise(ends)]


def edge(source: str, target: str) -> dict[str, str]:
    """Return an edge, ``edge("a", "b.port")``; the port is optional."""
    name, _, port = target.partition(".")
    made = {"source": source, "target": name}
    return {**made, "target_port": port} if port else made


def document(name: str, nodes: list[Any], edges: list[Any]) -> dict[str, Any]:
    """A topology document."""
    return {"format": "millrace.topology/1", "name": name, "nodes": nodes, "edges": edges}


def word_count() -> dict[str, Any]:
    """Lines are split into words, which are counted; each update is written. Two sub-topologies."""
    nodes = [
        node("lines", "source.stream", topics=["start-lines"], key=_STRING, value=_STRING),
        node("words", "flat_map_values", values="split(value, ' ')"),
        node("by-word", "select_key", key="value"),
        node("count", "count"),
        node("updates", "to_stream"),
        node("out", "sink.topic", topic="start-counts"),
    ]
    edges = chain("lines", "words", "by-word", "count", "updates", "out")
    return document("start", nodes, edges)
