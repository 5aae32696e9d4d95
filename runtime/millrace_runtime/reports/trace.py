"""The trace of a simulation: every step of every record, by the nodes of the document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypedDict

from millrace_model.documents import TopologyDocument
from millrace_model.graphs import TaskGraph
from millrace_model.traces import Counts, NodeCounts, RawTrace, TraceStep

Step: TypeAlias = TraceStep


class Count(NamedTuple):
    """Records from an output port of `origin` (None at a source) into an input of `node`."""

    origin: str | None
    port: str | None
    node: str
    input: int
    records: int


class Trace(TypedDict):
    """Steps in the order in which they happened; `truncated` if there were more than are kept.

    A step has `seq` (its number), `parent` (the step that caused it, or None), `after` (the number
    of its input line), `node` (of the document) and `event`:

    - `record`: `record` {key, value, timestamp, headers, and `old` of a table's update} enters
      `node`; `from` is the node it came from and `port` that node's output (None at a source),
      `input` the number of the input; `task` and its `stream_time`, in ms. `inside`: whether it
      was in the node before, and comes from another part of it, maybe in another task: through a
      repartition topic, for example
    - `punctuate`: a schedule of `clock` (stream_time, wall_clock) is due at `now`
    - `drop`: a record ends for `reason`, as a dead letter if `dead_letter`; a late one with its
      `window_start`, `window_end` and `closed_until`, an expired one with `time` and `kept_from`
    - `end`: the record of `parent` goes no further than this node, for a `reason` that is no
      failure: it is filtered, waits, finds nothing to join
    - `log`: a node printed `message`, of the `level` info or warning
    - `stop`: the code of a processor reached a breakpoint at `line` of `function`; `locals`
      [{name, value}] are its variables, and `more_locals` whether there are others
    - `store`: `row` {key, value, timestamp} of `store` is written; without a value it is deleted
      or has expired, unless `tombstone`: a version without a value; rows with which the run began
      come first, with `after` 0
    """

    steps: list[Step]
    truncated: bool
    #: whether there were more stops at breakpoints than are kept
    stops_truncated: bool
    #: whether stores had more rows at the start than are among the steps
    stores_truncated: bool
    #: counts of all records, including those that are not among the steps
    counts: list[Count]


def trace_of(raw: RawTrace, graph: TaskGraph, line_of: Mapping[int, int]) -> Trace:
    """Return the operator's trace in terms of the document and the input lines."""
    node_of = _nodes(graph)
    steps: list[Step] = []
    for raw_step in raw["steps"]:
        step: Any = {**raw_step, "after": line_of.get(raw_step["merge"], 0)}
        del step["merge"]
        step.pop("at", None)
        if step["event"] == "record":
            origin = step.pop("from")
            step["from"] = node_of.get(origin[0]) if origin else None
            step["port"] = origin[1] if origin else None
            step["inside"] = step["from"] == step["node"]
        steps.append(step)
    return {
        "steps": steps,
        "truncated": raw["truncated"],
        "stops_truncated": raw["stops_truncated"],
        "stores_truncated": raw["stores_truncated"],
        "counts": counted(raw["counts"], graph),
    }


def counted(raw: Iterable[Sequence[Any]], graph: TaskGraph) -> list[Count]:
    """Return the operator's counts in terms of the document."""
    node_of = _nodes(graph)
    return [
        Count(node_of.get(parent), port, node_of[node], number, records)
        for parent, port, node, number, records in raw
    ]


def _nodes(graph: TaskGraph) -> dict[str, str]:
    """Map the nodes of a task graph to those of the document."""
    return {node["id"]: node.get("node") or node["id"] for node in graph["nodes"]}


class Edges:
    """The edges of a document, found by the fields of a step in a trace."""

    def __init__(self, document: TopologyDocument) -> None:
        self._between: dict[tuple[str, str], list[tuple[str, str, int]]] = {}
        same = same_sources(document)
        for index, edge in enumerate(document["edges"]):
            pair = (same.get(edge["source"], edge["source"]), edge["target"])
            ports = (edge.get("source_port") or "out", edge.get("target_port") or "in")
            self._between.setdefault(pair, []).append((*ports, index))

    def find(self, origin: str | None, port: str | None, node: str, number: int) -> int | None:
        """Return the index of the edge; None at a source and between the steps of one node.

        If several edges connect a port with a node (a join of a stream with itself), the number of
        the input decides: `left` comes before `right`.
        """
        if origin is None or port is None or origin == node:
            return None
        found = self._between.get((origin, node), [])
        fitting = sorted([each for each in found if each[0] == port] or found, key=lambda e: e[1])
        if not fitting:
            return None
        return fitting[number if number < len(fitting) else 0][2]


def same_sources(document: TopologyDocument) -> dict[str, str]:
    """Map each stream source to the first with the same topics: they are read once, by that one."""
    first: dict[tuple[str, ...], str] = {}
    found = {}
    for node in document["nodes"]:
        topics = (node.get("params") or {}).get("topics")
        if node["kind"] == "source.stream" and isinstance(topics, list):
            found[node["id"]] = first.setdefault(tuple(sorted(map(str, topics))), node["id"])
    return found


def counts_of(
    document: TopologyDocument, counts: Iterable[Count], figures: Mapping[str, NodeCounts]
) -> Counts:
    """Return record counts by edge and node.

    `{"edges": [records by index], "nodes": {id: {"in", "out", "dropped": {reason: n}}}}`. A record
    counts once as `out`, over however many edges it leaves. `figures`: of `Simulator`, by node.
    """
    edges = Edges(document)
    by_edge = [0] * len(document["edges"])
    for count in counts:
        index = edges.find(count.origin, count.port, count.node, count.input)
        if index is not None:
            by_edge[index] += count.records
    nothing: NodeCounts = {"in": 0, "out": 0, "dropped": {}}
    same = same_sources(document)
    nodes: dict[str, NodeCounts] = {
        node["id"]: {**nothing, **figures.get(same.get(node["id"], node["id"]), nothing)}
        for node in document["nodes"]
    }
    return {"edges": by_edge, "nodes": nodes}
