"""The last records on the edges of a running job, while a page shows them.

Each request sets the key `millrace:run:<run>:watched`, which expires some seconds later. While it
exists, the operator keeps the last records of each edge (`Samples.scala`), and
`millrace:run:<run>:records` holds them as JSON, newest first:

    {"at": epoch ms, "edges": {"<source>.<port>><target>.<port>": [record, ...]},
     "keys": {"<edge>": {"since": epoch ms, "records", "sampled", "top": [[key, records], ...],
              "tasks": [[task, records], ...]}}}

`keys`: counts of each edge since it is watched: the most frequent keys (JSON text), from a sample,
and the records of each task.

Executors on other machines keep their own records, and send them to the driver once a second. While
no page shows records, the driver reads one key of Redis a second, an executor asks the driver, and
tasks do nothing.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any, Literal

from millrace_model.documents import DocumentEdge, TopologyDocument
from millrace_model.events import run_records, run_watched
from millrace_model.graphs import TaskGraph
from millrace_model.samples import KeyCounts, SampledRecord, WaySample

from millrace_runtime import columns
from millrace_runtime.reports.trace import Edges

LOOK_SECONDS = 1.0
#: interval after an error
PAUSE_SECONDS = 5.0
#: the records expire this long after the last look
KEPT_SECONDS = 15
#: number of records shown of an edge, equal to the number that the operator keeps
PER_EDGE = 20
#: number of keys shown of an edge, equal to the number that the operator reports
TOP_KEYS = 20


class Ways:
    """Maps connections of the operator's nodes to the edges of a document."""

    def __init__(self, document: TopologyDocument, graph: TaskGraph) -> None:
        self._nodes = {node["id"]: node.get("node") or node["id"] for node in graph["nodes"]}
        self._edges = Edges(document)
        self._names = [edge_name(edge) for edge in document["edges"]]

    def by_edge(self, ways: list[WaySample]) -> dict[str, list[SampledRecord]]:
        """Return the records of each edge that had some, newest first."""
        found: dict[str, list[SampledRecord]] = {}
        for way in ways:
            edge = self._name(way)
            if edge is not None and way["records"]:
                found.setdefault(edge, []).extend(way["records"])
        for name, records in found.items():
            # Each process numbers its own records, so time comes first.
            records.sort(key=lambda record: (-record["seen"], -record["number"]))
            found[name] = records[:PER_EDGE]
        return found

    def _name(self, way: WaySample) -> str | None:
        origin, target = self._nodes.get(way["from"]), self._nodes.get(way["to"])
        if target is None:
            return None
        index = self._edges.find(origin, way["port"], target, way["input"])
        return None if index is None else self._names[index]

    def keys(self, ways: list[WaySample]) -> dict[str, KeyCounts]:
        """Return the counts of keys of each edge, over all ways that belong to it."""
        found: dict[str, KeyCounts] = {}
        for way in ways:
            name = self._name(way)
            if name is None or "keys" not in way:
                continue
            own, known = way["keys"], found.get(name)
            found[name] = own if known is None else _together(known, own)
        return found


def _together(one: KeyCounts, other: KeyCounts) -> KeyCounts:
    """Merge two counts of keys."""

    def added(name: Literal["top", "tasks"]) -> Counter[str]:
        return Counter(dict(one[name])) + Counter(dict(other[name]))

    return {
        "since": min(one["since"], other["since"]),
        "records": one["records"] + other["records"],
        "sampled": one["sampled"] + other["sampled"],
        "top": added("top").most_common(TOP_KEYS),
        "tasks": sorted(added("tasks").items()),
    }


def edge_name(edge: DocumentEdge) -> str:
    """Return the name of an edge of a document: the ports that it connects."""
    source = f"{edge['source']}.{edge.get('source_port') or 'out'}"
    return f"{source}>{edge['target']}.{edge.get('target_port') or 'in'}"


class Sampling:
    """Keeps records while a page shows them. Must be called from one thread.

    `client`: a Redis client; its errors are raised by `look`, which may be called again.
    """

    def __init__(self, client: Any, run: str) -> None:
        self._redis = client
        self._run = run
        self._watched = run_watched(run)
        self._records = run_records(run)
        self._ways: Ways | None = None
        self._due = 0.0
        self._on = False
        self._last = ""

    def describe(self, document: TopologyDocument, graph: TaskGraph) -> None:
        """Set the document whose edges are shown; until then, `look` does nothing."""
        self._ways = Ways(document, graph)

    def look(self) -> None:
        """Start, continue or stop keeping records; does so at most once a second."""
        if self._ways is None or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + PAUSE_SECONDS
        watched, was_on = False, self._on
        try:
            watched = bool(self._redis.exists(self._watched))
            self._due = time.monotonic() + LOOK_SECONDS
        finally:
            # Without Redis there is nothing to show.
            if self._on and not watched:
                self._on = not columns.gateway().Samples.unwatch(self._run)
        if not watched:
            # Old records must not be mistaken for current ones.
            if was_on:
                self._redis.delete(self._records)
            return
        self._show(self._ways)

    def _show(self, ways: Ways) -> None:
        operator = columns.gateway().Samples
        operator.watch(self._run)
        taken = operator.take(self._run)
        if taken is not None or not self._on:
            raw = json.loads(taken or "[]")
            edges, keys = ways.by_edge(raw), ways.keys(raw)
            shown = {"at": int(time.time() * 1000), "edges": edges, "keys": keys}
            self._last = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
        elif self._redis.expire(self._records, KEPT_SECONDS):
            return
        self._on = True
        self._redis.set(self._records, self._last, ex=KEPT_SECONDS)
