"""Short ways to write small documents, and doubles of the analyzer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from millrace_compiler import ExpressionRequest, ExpressionResult, compile_document
from millrace_compiler.compilation.compilation import Compilation

Raw = Any
STRING = {"format": "string"}
LONG = {"format": "long"}
ORDER = {"format": "json", "schema": "item STRING, quantity INT"}


def node(id_: str, kind_: str, **params: Any) -> Raw:
    return {"id": id_, "kind": kind_, "params": params}


def stream(id_: str = "in", topics: Sequence[str] | None = None, **params: Any) -> Raw:
    formats = {"key": STRING, "value": STRING, **params}
    if "topic_pattern" not in params:
        formats = {"topics": list(topics or [id_]), **formats}
    return node(id_, "source.stream", **formats)


def table(id_: str = "table", topic: str | None = None, **params: Any) -> Raw:
    return node(
        id_, "source.table", **{"topic": topic or id_, "key": STRING, "value": STRING, **params}
    )


def global_table(id_: str = "global", **params: Any) -> Raw:
    return node(
        id_, "source.global_table", **{"topic": id_, "key": STRING, "value": STRING, **params}
    )


def sink(id_: str = "out", **params: Any) -> Raw:
    return node(id_, "sink.topic", **{"topic": id_, **params})


def store(id_: str = "rows", kind: str = "key_value", **params: Any) -> Raw:
    return node(id_, f"store.{kind}", **{"name": id_, **params})


def edge(text: str) -> Raw:
    """Return an edge from ``"a.port > b.port"``; ports may be omitted."""
    made: Raw = {}
    for end, part in zip(("source", "target"), text.split(" > "), strict=True):
        name, _, port = part.partition(".")
        made[end] = name
        if port:
            made[f"{end}_port"] = port
    return made


def document(nodes: Sequence[Raw], edges: Sequence[str], **more: Any) -> Raw:
    topics = {name: {"partitions": n} for name, n in more.pop("topics", {}).items()}
    return {
        "format": "millrace.topology/1",
        "name": "test",
        "topics": topics,
        "nodes": list(nodes),
        "edges": [edge(text) for text in edges],
        **more,
    }


def line(*nodes: Raw, **more: Any) -> Raw:
    """Return a document of nodes in a row, from a source to a sink."""
    made = [stream(), *nodes, sink()]
    ids = [n["id"] for n in made]
    return document(made, [f"{a} > {b}" for a, b in itertools.pairwise(ids)], **more)


class OneTypeAnalyzer:
    """A double that gives every expression the expected type, or one fixed type."""

    def __init__(self, type_: str = "STRING") -> None:
        self.type = type_
        self.rounds = 0
        self.requests: list[ExpressionRequest] = []

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        self.rounds += 1
        self.requests += requests
        return [ExpressionResult(request.expects or self.type) for request in requests]


def compiled(raw: object, analyzer: Any = None) -> Compilation:
    return compile_document(raw, analyzer or OneTypeAnalyzer())


def faults(raw: object, analyzer: Any = None) -> list[tuple[str, str | None, str | None]]:
    """Code, node and parameter of every error."""
    found = compiled(raw, analyzer).diagnostics
    return [(d.code, d.node, d.parameter) for d in found if d.severity == "error"]
