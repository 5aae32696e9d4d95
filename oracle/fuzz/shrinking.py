"""Reduction of a random scenario that shows a difference to its smallest form.

Whole branches are left out first, then single nodes and parameters, and then input lines. What is
left is whatever the difference needs: leaving out any part of it makes the difference disappear.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import cast

from millrace_model.documents import DocumentEdge, DocumentSettings, TopologyDocument
from millrace_model.records import InputLine
from millrace_model.scenarios import Scenario
from millrace_runtime.counterexamples.shrinking import shrink

#: Whether a scenario is valid and shows the difference.
Differs = Callable[[Scenario], bool]
#: Replacements of an expression, the simplest first.
_SIMPLE = ("value", "key", "true", "0L", "'a'")
#: parameters that are names, formats or code, which are never made simpler
_KEPT = frozenset(
    {"topic", "topics", "code", "class_name", "name", "output", "outputs", "type", "port"}
)


def smallest(
    scenario: Scenario, differs: Differs, more: Callable[[], bool] = lambda: True
) -> Scenario:
    """Return the smallest scenario that differs, as long as there is `more` time.

    The scenario itself must differ. A scenario that `differs` refuses is never returned.
    """
    smaller = True
    while smaller and more():
        scenario, smaller = _smaller_topology(scenario, differs, more)
        lines = _fewer_lines(scenario, differs, more)
        if lines != scenario["inputs"]:
            scenario, smaller = {**scenario, "inputs": lines}, True
    return scenario


def _fewer_lines(scenario: Scenario, differs: Differs, more: Callable[[], bool]) -> list[InputLine]:
    return shrink(scenario["inputs"], lambda lines: differs({**scenario, "inputs": lines}), more)


def text_of(scenario: Scenario) -> str:
    """The nodes, edges and input lines as text, one in each line."""
    topology = scenario["topology"]
    lines = [f"  {key}: {value}" for key, value in sorted((topology.get("settings") or {}).items())]
    for node in topology["nodes"]:
        params = json.dumps(node.get("params") or {}, ensure_ascii=False)
        lines.append(f"  {node['id']} ({node['kind']}) {params}")
    for edge in topology["edges"]:
        ports = f"{edge.get('source_port') or 'out'} > {edge.get('target_port') or 'in'}"
        lines.append(f"  {edge['source']} > {edge['target']} ({ports})")
    lines += [f"  {json.dumps(line, ensure_ascii=False)}" for line in scenario["inputs"]]
    return "\n".join(lines)


def _smaller_topology(
    scenario: Scenario, differs: Differs, more: Callable[[], bool]
) -> tuple[Scenario, bool]:
    """Take the first simpler topology again and again; also return whether there was one."""
    found, again = False, True
    while again:
        again = False
        for topology in _simpler(scenario["topology"]):
            if not more():
                return scenario, found
            tried = _of_read_topics({**scenario, "topology": topology})
            if tried["inputs"] and differs(tried):
                scenario, found, again = tried, True, True
                break
    return scenario, found


def _of_read_topics(scenario: Scenario) -> Scenario:
    """The scenario without lines of topics that nothing reads, and twins of missing processors."""
    nodes = scenario["topology"]["nodes"]
    read: set[str] = set()
    for node in nodes:
        params = node.get("params") or {}
        if "topic_pattern" in params:
            return scenario
        if node["kind"].startswith("source."):
            read.update(params.get("topics") or [params.get("topic")])
    lines = [line for line in scenario["inputs"] if line.get("topic", "") in {"", *read}]
    kept: Scenario = {**scenario, "inputs": lines}
    if "oracle_processors" in kept:
        ids = {node["id"] for node in nodes}
        twins = kept["oracle_processors"].items()
        kept["oracle_processors"] = {id_: name for id_, name in twins if id_ in ids}
    return kept


# ---- topologies --------------------------------------------------------------------------------


def _simpler(topology: TopologyDocument) -> Iterator[TopologyDocument]:
    """Simpler topologies, those that are smaller by most first; not all of them are valid."""
    edges = topology["edges"]
    sinks = [node["id"] for node in topology["nodes"] if node["kind"].startswith("sink.")]
    if len(sinks) > 1:
        for sink in sinks:
            yield _only(topology, {sink, *_reaching(edges, {sink})}, edges)
    for node in topology["nodes"]:
        below = {node["id"], *_reaching([_turned(edge) for edge in edges], {node["id"]})}
        left = {each["id"] for each in topology["nodes"]} - below
        yield _pruned(_only(topology, left, edges))
    for node in topology["nodes"]:
        passed = _passed(edges, node["id"])
        if passed is not None:
            others = {each["id"] for each in topology["nodes"]} - {node["id"]}
            yield _pruned(_only(topology, others, passed))
    for edge in edges:
        yield _pruned({**topology, "edges": [each for each in edges if each is not edge]})
    if topology.get("settings"):
        for name in topology["settings"]:
            kept = {key: value for key, value in topology["settings"].items() if key != name}
            yield {**topology, "settings": cast(DocumentSettings, kept)}
    for place, node in enumerate(topology["nodes"]):
        for params in _simpler_params(node.get("params") or {}):
            nodes = [*topology["nodes"]]
            nodes[place] = {**node, "params": params}
            yield {**topology, "nodes": nodes}


def _turned(edge: DocumentEdge) -> DocumentEdge:
    return {"source": edge["target"], "target": edge["source"]}


def _reaching(edges: Collection[DocumentEdge], targets: set[str]) -> set[str]:
    """The nodes from which edges lead to the targets."""
    found: set[str] = set()
    while new := {e["source"] for e in edges if e["target"] in found | targets} - found - targets:
        found |= new
    return found


def _only(
    topology: TopologyDocument, ids: set[str], edges: Collection[DocumentEdge]
) -> TopologyDocument:
    """The topology with some of its nodes, and the edges between them."""
    return {
        **topology,
        "nodes": [node for node in topology["nodes"] if node["id"] in ids],
        "edges": [edge for edge in edges if edge["source"] in ids and edge["target"] in ids],
    }


def _pruned(topology: TopologyDocument) -> TopologyDocument:
    """The topology without nodes from which nothing reaches a sink."""
    sinks = {node["id"] for node in topology["nodes"] if node["kind"].startswith("sink.")}
    reaching = sinks | _reaching(topology["edges"], sinks)
    return _only(topology, reaching, topology["edges"])


def _passed(edges: Collection[DocumentEdge], node: str) -> list[DocumentEdge] | None:
    """The edges with which records pass by a node with one input, or None if it has others."""
    into = [e for e in edges if e["target"] == node and e.get("target_port") != "store"]
    out_of = [e for e in edges if e["source"] == node]
    if len(into) != 1 or not out_of:
        return None
    [parent] = into
    made: list[DocumentEdge] = []
    for edge in edges:
        if edge["source"] == node:
            passing: DocumentEdge = {"source": parent["source"], "target": edge["target"]}
            if "source_port" in parent:
                passing["source_port"] = parent["source_port"]
            if "target_port" in edge:
                passing["target_port"] = edge["target_port"]
            made.append(passing)
        elif edge["target"] != node:
            made.append(edge)
    return made


def _simpler_params(params: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Parameters without one of them, or with a simpler value."""
    given = dict(params)
    for name in given:
        if name not in _KEPT:
            yield {key: value for key, value in given.items() if key != name}
    for name, value in given.items():
        for simpler in () if name in _KEPT else _simpler_values(value):
            yield {**given, name: simpler}


def _simpler_values(value: object) -> Iterator[object]:
    if isinstance(value, str):
        # An expression; a value that is as short is as simple.
        yield from (each for each in _SIMPLE if len(each) < len(value))
    elif isinstance(value, bool):
        return
    elif isinstance(value, int):
        yield from (each for each in (0, 10) if abs(each) < abs(value))
    elif isinstance(value, dict):
        yield from _simpler_params(value)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield value[:place] + value[place + 1 :]
            for simpler in _simpler_values(each):
                yield [*value[:place], simpler, *value[place + 1 :]]
