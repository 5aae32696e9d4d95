"""Assigns steps to levels, the consecutive stateful operators of the query.

A record that crosses a repartition topic is processed one level later. A step that looks up a
table runs on the level that stores the table's rows. If that is impossible, because the table
depends on the step's input through a repartition, the table's updates are sent to the step.
"""

from __future__ import annotations

from collections import defaultdict

from millrace_compiler.declarations.steps import Physical
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.planning.union_find import UnionFind

_Edges = dict[str, list[tuple[str, int]]]


def assign_levels(graph: Graph, physical: Physical, report: Diagnostics) -> dict[str, int]:
    """The level of every step; a store shared across a repartition is reported."""
    steps = [id_ for id_, step in physical.steps.items() if not step.is_global]
    known = set(steps)
    must: list[tuple[str, str]] = []
    users: dict[str, str] = {}
    optional: list[tuple[str, str]] = []
    for id_ in steps:
        step = physical.steps[id_]
        for store in step.keeps.stores if step.keeps.shared else ():
            first = users.setdefault(store, id_)
            if first != id_:
                must.append((first, id_))
        for handle, link in step.links:
            if link == "shared":
                optional += [(reader, id_) for reader in sorted(handle.readers) if reader in known]
    edges: list[tuple[str, str, int]] = []
    for id_ in steps:
        for handle, link in physical.steps[id_].links:
            if handle.step in known:
                edges.append((handle.step, id_, 1 if link == "hop" else 0))
    if _solve(steps, edges, must) is None:
        nodes = sorted({physical.steps[b].node for _, b in must})
        for node in nodes:
            report.add("store_across_levels", node, "store", stores=_stores_of(graph, node))
        must = []
    granted = must + _reading(physical, steps, edges, must, report)
    if _solve(steps, edges, granted + optional) is not None:
        granted += optional
    else:
        for candidate in optional:
            if _solve(steps, edges, [*granted, candidate]) is not None:
                granted.append(candidate)
    return _late(_solve(steps, edges, granted) or {}, edges, granted)


def _reading(
    physical: Physical,
    steps: list[str],
    edges: list[tuple[str, str, int]],
    must: list[tuple[str, str]],
    report: Diagnostics,
) -> list[tuple[str, str]]:
    """Pairs of a store's step and a processor that reads it, which run on the same level.

    Reports processors whose records come after a repartition that follows the store.
    """
    found: list[tuple[str, str]] = []
    for reader in steps:
        for owner in physical.steps[reader].stores_read.values():
            if physical.steps[owner].is_global:
                continue
            if _solve(steps, edges, [*must, *found, (owner, reader)]) is None:
                kept = physical.steps[owner].node
                report.add("store_read_across", physical.steps[reader].node, "store", owner=kept)
            else:
                found.append((owner, reader))
    return found


def _late(
    levels: dict[str, int], edges: list[tuple[str, str, int]], equal: list[tuple[str, str]]
) -> dict[str, int]:
    """Moves steps to the latest possible level, where their results are used.

    They then run beside the steps that share their task and clock, and no record has to be passed
    on to a later level.
    """
    together: dict[str, set[str]] = {id_: {id_} for id_ in levels}
    for a, b in equal:
        if together[a] is not together[b]:
            together[a] |= together[b]
            for id_ in together[b]:
                together[id_] = together[a]
    leaving: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for source, target, hop in edges:
        leaving[source].append((target, hop))
    order = sorted(levels, key=lambda id_: -levels[id_])
    moved = True
    while moved:
        moved = False
        for id_ in order:
            group = together[id_]
            if not all(leaving[member] for member in group):
                continue
            outside = (
                levels[target] - hop
                for member in group
                for target, hop in leaving[member]
                if target not in group
            )
            latest = min(outside, default=levels[id_])
            if latest > levels[id_]:
                levels.update(dict.fromkeys(group, latest))
                moved = True
    return levels


def _stores_of(graph: Graph, node: str) -> str:
    operator = graph.operators.get(node)
    return ", ".join(store.store_name() for store in operator.own_stores) if operator else ""


def _solve(
    steps: list[str], edges: list[tuple[str, str, int]], equal: list[tuple[str, str]]
) -> dict[str, int] | None:
    """The lowest levels that satisfy edges and equalities; ``None`` if there are none."""
    groups = UnionFind(steps)
    for a, b in equal:
        groups.unite(a, b)
    find = groups.find
    following: _Edges = defaultdict(list)
    for source, target, hop in edges:
        following[find(source)].append((find(target), hop))
    level = {find(id_): 0 for id_ in steps}
    queue = list(level)
    most = len(steps)
    while queue:
        group = queue.pop()
        for target, hop in following[group]:
            if level[target] < level[group] + hop:
                level[target] = level[group] + hop
                if level[target] > most:
                    return None
                queue.append(target)
    return {id_: level[find(id_)] for id_ in steps}
