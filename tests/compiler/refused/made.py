"""Documents of one operator, to build refused graphs from."""

from __future__ import annotations

from typing import Any, TypeAlias

from tests.compiler.kit import document, edge, line, node, sink

#: description -> the document, and code, node and parameter of its error
Refused: TypeAlias = dict[str, tuple[Any, tuple[str, str | None, str | None]]]

KEEP = node("keep", "filter", predicate="value > 'm'")
JOINER = "concat(left, right)"
CODE = "class Run(Processor):\n    def process(self, record):\n        pass\n"


def window(**parts: Any) -> Any:
    return line(node("count", "count", window=parts))


def join(kind: str, left: Any, right: Any, **params: Any) -> Any:
    topics = params.pop("topics", {})
    made = node("join", f"join.{kind}", **{"joiner": JOINER, **params})
    edges = [f"{left['id']} > join.left", f"{right['id']} > join.right", "join > out"]
    return document([left, right, made, sink()], edges, topics=topics)


def with_store(raw: Any, target: str, *stores: Any) -> Any:
    raw["nodes"] += stores
    raw["edges"] += [edge(f"{item['id']} > {target}.store") for item in stores]
    return raw


def process(**params: Any) -> Any:
    given = {"code": CODE, "class_name": "Run", "output": {"key": "STRING", "value": "STRING"}}
    kind = params.pop("kind", "process")
    return node("run", kind, **{k: v for k, v in (given | params).items() if v is not None})
