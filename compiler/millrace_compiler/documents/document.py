"""Reads topology documents: from JSON to nodes, edges, topics and settings.

Reading never fails: the result is a :class:`Document` with the parts that are valid, and
diagnostics for all others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace_compiler.diagnostics.diagnostics import Diagnostic, Diagnostics, kind_of, shown
from millrace_compiler.documents.annotations import check_drawing

FORMAT = "millrace.topology/1"
NODE_ID = re.compile(r"[a-z][a-z0-9_-]*")
TOPIC_NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,249}")
MAX_PARTITIONS = 10_000
_MAX_ID = 200
_TOP = (
    "format", "name", "description", "settings", "topics", "parameters", "nodes", "edges",
    "drawing", "fragments",
)  # fmt: skip
_NODE = ("id", "kind", "label", "position", "description", "params")
_EDGE = ("source", "target", "source_port", "target_port")


class DocumentError(ValueError):
    """The text is not a JSON object."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics


@dataclass(frozen=True)
class Node:
    """A node of the document. ``index`` is its position in the list."""

    id: str
    kind: str
    params: Mapping[str, object]
    label: str | None
    description: str | None
    index: int


@dataclass(frozen=True)
class Edge:
    """One edge. ``index`` is its place in the list, which decides the order of children."""

    source: str
    source_port: str
    target: str
    target_port: str
    index: int


@dataclass(frozen=True)
class Document:
    """The valid parts of a document. Ids are unique; the ends of edges are not yet checked."""

    name: str
    description: str | None
    settings: Mapping[str, object]
    topics: Mapping[str, int]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    raw: Mapping[str, object] = field(repr=False)
    #: Number of partitions of topics on the broker, where it is known; it overrides `topics`.
    actual: Mapping[str, int] = field(default_factory=dict)

    def partitions(self, topic: str) -> int:
        """Number of partitions of a topic: on the broker, or else declared, or else 1."""
        return self.actual.get(topic) or self.topics.get(topic, 1)

    def partitions_from(self, topic: str) -> str:
        """Where the number of partitions is from: ``broker``, ``declared`` or ``assumed``."""
        if topic in self.actual:
            return "broker"
        return "declared" if topic in self.topics else "assumed"


def load_document(text: str | bytes) -> dict[str, object]:
    """The JSON object in a text. Raises :class:`DocumentError`, also for NaN and huge numbers."""
    report = Diagnostics()
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        raw = json.loads(text, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        report.add("document_text", reason=f"byte {error.start} is not UTF-8")
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at line {error.lineno}, column {error.colno}"
        report.add("document_text", reason=reason)
    except RecursionError:
        report.add("document_text", reason="it is nested too deeply")
    except ValueError as error:
        report.add("document_text", reason=str(error).split(";")[0])
    else:
        if isinstance(raw, dict):
            return raw
        report.add("document_shape", parameter="document", found=kind_of(raw), needed="an object")
    raise DocumentError(list(report))


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def read_document(raw: object, report: Diagnostics) -> Document:
    """Reads a raw document and reports what is wrong with its shape. Never raises."""
    if not isinstance(raw, dict):
        report.add("document_shape", parameter="document", found=kind_of(raw), needed="an object")
        raw = {}
    else:
        raw = _with_whole_characters(raw, report)
        if raw.get("format") != FORMAT:
            found = shown(raw.get("format"))
            report.add("document_format", parameter="format", found=found, needed=FORMAT)
    for name in raw:
        if name not in _TOP:
            report.add(
                "unknown_key", parameter=str(name), place="the document", known=", ".join(_TOP)
            )
    check_drawing(raw.get("drawing"), report)
    reader = _Reader(raw, report)
    return Document(
        name=reader.text("name") or "topology",
        description=reader.text("description"),
        settings=reader.mapping("settings"),
        topics=reader.topics(),
        nodes=reader.nodes(),
        edges=reader.edges(),
        raw=raw,
    )


def _with_whole_characters(raw: dict[str, object], report: Diagnostics) -> dict[str, object]:
    """The document without unpaired surrogates, which UTF-8 cannot encode."""
    try:
        json.dumps(raw, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace")
    except (RecursionError, TypeError, ValueError):
        return raw
    else:
        return raw
    whole: dict[str, object] = json.loads(text)
    before, after = (part.get("nodes") for part in (raw, whole))
    nodes = (
        [
            new.get("id")
            for old, new in zip(before, after, strict=True)
            if old != new and isinstance(new, dict)
        ]
        if isinstance(before, list) and isinstance(after, list)
        else []
    )
    for id_ in nodes or [None]:
        report.add("half_character", id_ if isinstance(id_, str) else None)
    return whole


class _Reader:
    def __init__(self, raw: Mapping[str, object], report: Diagnostics) -> None:
        self.raw, self.report = raw, report

    def text(self, name: str) -> str | None:
        value = self.raw.get(name)
        if value is None or isinstance(value, str):
            return value
        self.report.add("document_shape", parameter=name, found=kind_of(value), needed="text")
        return None

    def mapping(self, name: str) -> Mapping[str, object]:
        value = self.raw.get(name)
        if value is None:
            return {}
        if isinstance(value, dict):
            return value
        self.report.add("document_shape", parameter=name, found=kind_of(value), needed="an object")
        return {}

    def items(self, name: str) -> list[object]:
        value = self.raw.get(name)
        if value is None:
            return []
        if isinstance(value, list):
            return value
        self.report.add("document_shape", parameter=name, found=kind_of(value), needed="a list")
        return []

    def topics(self) -> dict[str, int]:
        topics: dict[str, int] = {}
        for topic, properties in self.mapping("topics").items():
            if not TOPIC_NAME.fullmatch(topic):
                self.report.add("topic_name", parameter="topics", found=shown(topic))
                continue
            if not isinstance(properties, dict):
                found = kind_of(properties)
                self.report.add("topic_shape", parameter="topics", topic=topic, found=found)
                continue
            count = properties.get("partitions", 1)
            whole = isinstance(count, int) and not isinstance(count, bool)
            if not whole or not 1 <= count <= MAX_PARTITIONS:
                found = shown(count)
                self.report.add(
                    "topic_partitions",
                    parameter="topics",
                    topic=topic,
                    found=found,
                    most=MAX_PARTITIONS,
                )
                continue
            topics[topic] = count
        return topics

    def nodes(self) -> tuple[Node, ...]:
        nodes: dict[str, Node] = {}
        listed = self.items("nodes")
        if not listed:
            self.report.add("no_nodes", parameter="nodes")
        for index, raw in enumerate(listed):
            node = self._node(raw, index)
            if node is None:
                continue
            if node.id in nodes:
                self.report.add("node_id_twice", node.id, "id", found=node.id)
                continue
            nodes[node.id] = node
        return tuple(nodes.values())

    def _node(self, raw: object, index: int) -> Node | None:
        place = f"nodes[{index}]"
        if not isinstance(raw, dict):
            self.report.add(
                "document_shape", parameter=place, found=kind_of(raw), needed="an object"
            )
            return None
        id_ = raw.get("id")
        if not isinstance(id_, str) or not NODE_ID.fullmatch(id_) or len(id_) > _MAX_ID:
            node = id_ if isinstance(id_, str) and id_ else None
            self.report.add("node_id", node, "id", place=place, found=shown(id_))
            return None
        for name in raw:
            if name not in _NODE:
                known = ", ".join(_NODE)
                self.report.add("unknown_key", id_, str(name), place=f"node {id_}", known=known)
        kind = raw.get("kind")
        if not isinstance(kind, str):
            self.report.add("node_part", id_, "kind", found=kind_of(kind), needed="text")
            kind = ""
        elif not kind:
            needed = "text that is not empty"
            self.report.add("node_part", id_, "kind", found=shown(kind), needed=needed)
        params = raw.get("params")
        if params is not None and not isinstance(params, dict):
            self.report.add("node_part", id_, "params", found=kind_of(params), needed="an object")
            params = None
        texts: dict[str, str | None] = {}
        for name in ("label", "description"):
            value = raw.get(name)
            if value is not None and not isinstance(value, str):
                self.report.add("node_part", id_, name, found=kind_of(value), needed="text")
                value = None
            texts[name] = value
        self._position(id_, raw.get("position"))
        return Node(id_, kind, params or {}, texts["label"], texts["description"], index)

    def _position(self, node: str, raw: object) -> None:
        if raw is None:
            return
        good = isinstance(raw, dict) and all(
            isinstance(raw.get(axis), int | float) and not isinstance(raw.get(axis), bool)
            for axis in ("x", "y")
        )
        if not good:
            needed = "an object with the numbers x and y"
            self.report.add("node_part", node, "position", found=shown(raw), needed=needed)

    def edges(self) -> tuple[Edge, ...]:
        edges: list[Edge] = []
        for index, raw in enumerate(self.items("edges")):
            place = f"edges[{index}]"
            if not isinstance(raw, dict):
                found = kind_of(raw)
                self.report.add("document_shape", parameter=place, found=found, needed="an object")
                continue
            for name in raw:
                if name not in _EDGE:
                    known = ", ".join(_EDGE)
                    self.report.add("unknown_key", None, str(name), place=place, known=known)
            parts: dict[str, str] = {}
            for name, default in zip(_EDGE, (None, None, "out", "in"), strict=True):
                value = raw.get(name)
                value = default if value is None else value
                if not isinstance(value, str):
                    found = kind_of(value)
                    self.report.add("edge_part", parameter=place, part=name, found=found)
                    break
                parts[name] = value
            else:
                edges.append(
                    Edge(
                        parts["source"],
                        parts["source_port"],
                        parts["target"],
                        parts["target_port"],
                        index,
                    )
                )
        return tuple(edges)
