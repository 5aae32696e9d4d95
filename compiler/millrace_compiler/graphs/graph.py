"""The graph of a document: operators, valid edges, and an order without cycles. No types yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from millrace_compiler.declarations.operator import Operator, Store, registry
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.diagnostics.guesses import guess
from millrace_compiler.documents.document import Document, Edge, Node
from millrace_compiler.documents.topic_patterns import NoPattern, topic_pattern
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.operators.sources.stream import SourceStream

STORE_PORT = "store"


class Graph:
    """Operators and their valid edges.

    ``order`` has the nodes that are neither stores nor part of a cycle: parents before children,
    and the children of a parent in the order of its edges as far as possible. ``merged`` maps a
    source to an earlier source of the same topics: the two are one node. ``drawing`` has the nodes
    with random values or the processing time, each with a parameter that uses them, once types have
    been inferred. ``kinds``: kinds of nodes beside the operators.
    """

    def __init__(
        self,
        document: Document,
        report: Diagnostics,
        kinds: Mapping[str, Callable[[Node, Diagnostics], Operator]] | None = None,
    ) -> None:
        self.document, self.report = document, report
        self.kinds: dict[str, Callable[[Node, Diagnostics], Operator]] = {
            **registry(),
            **(kinds or {}),
        }
        self.operators: dict[str, Operator] = {}
        self.inputs: dict[str, dict[str, list[Edge]]] = defaultdict(lambda: defaultdict(list))
        self.outgoing: dict[str, list[Edge]] = defaultdict(list)
        self.merged: dict[str, str] = {}
        self.drawing: dict[str, str] = {}
        self._touched: set[tuple[str, str]] = set()
        self._read_nodes()
        self._read_edges()
        self._check_inputs()
        self._check_stores()
        self._check_sources()
        self.order = self._order()

    def parents(self, node: str) -> list[str]:
        """The nodes whose edges end at a node, once each."""
        edges = (edge for port in self.inputs[node].values() for edge in port)
        return list(dict.fromkeys(edge.source for edge in edges))

    def needed_by(self, node: str) -> list[str]:
        """The nodes that come before a node: its parents, and those whose stores it reads.

        Kafka Streams, too, connects a processor only to stores that have been added before it.
        """
        read = (operator.id for operator in self.operators[node].read_tables)
        return list(dict.fromkeys([*self.parents(node), *read]))

    # ---- nodes and edges ------------------------------------------------------------------

    def _read_nodes(self) -> None:
        kinds = self.kinds
        for node in self.document.nodes:
            if not node.kind:
                continue
            operator = kinds.get(node.kind)
            if operator is None:
                self.report.add(
                    "kind_unknown",
                    node.id,
                    "kind",
                    found=node.kind,
                    known=", ".join(sorted(kinds)),
                    guess=guess(node.kind, kinds),
                )
                continue
            self.operators[node.id] = operator(node, self.report)

    def _read_edges(self) -> None:
        known = {node.id for node in self.document.nodes}
        for edge in self.document.edges:
            ends = [end for end in (edge.source, edge.target) if end in known]
            if len(ends) < 2:
                self._touched.add((edge.target, edge.target_port))
                missing = edge.source if edge.source not in known else edge.target
                at, port = (
                    (edge.target, edge.target_port)
                    if edge.source == missing
                    else (
                        edge.source,
                        edge.source_port,
                    )
                )
                node = at if at in known else None
                place = port if node else f"edges[{edge.index}]"
                near = guess(missing, sorted(known))
                self.report.add("edge_end", node, place, missing=missing, guess=near)
                continue
            self._touched.add((edge.target, edge.target_port))
            source, target = self.operators.get(edge.source), self.operators.get(edge.target)
            if source is None or target is None:
                continue
            if self._fits(edge, source, target):
                if edge.target_port == STORE_PORT:
                    target.connected = (*target.connected, source)
                else:
                    self.inputs[target.id][edge.target_port].append(edge)
                    target.incoming[edge.target_port] += 1
                    self.outgoing[source.id].append(edge)

    def _fits(self, edge: Edge, source: Operator, target: Operator) -> bool:
        add = self.report.add
        if isinstance(target, Store):
            add("edge_into_store", target.id, edge.target_port, source=source.id)
            return False
        if edge.target_port == STORE_PORT:
            has_store = isinstance(source, Store) or (
                target.many_stores
                and source.takes_store
                and not source.many_stores
                and source.outputs()
            )
            if not has_store:
                add("edge_no_store", target.id, STORE_PORT, source=source.id, target=target.id)
                return False
            if not target.takes_store:
                add("takes_no_store", target.id, STORE_PORT, kind=target.title, store=source.id)
                return False
            return self._is_port(source.id, edge.source_port, ["out"], "output")
        if isinstance(source, Store):
            add("edge_from_store", target.id, edge.target_port, store=source.id)
            return False
        outputs = source.outputs()
        if not outputs and source.dynamic_outputs:
            sound = False  # A fault of the parameter that names the ports is already reported.
        elif not outputs:
            add("edge_from_sink", source.id, edge.source_port, target=target.id)
            sound = False
        else:
            sound = self._is_port(source.id, edge.source_port, outputs, "output")
        ports = [port.name for port in target.inputs()]
        return self._is_port(target.id, edge.target_port, ports, "input") and sound

    def _is_port(self, node: str, port: str, ports: Sequence[str], side: str) -> bool:
        """Whether a node has a port; reports one that it does not have."""
        if port in ports:
            return True
        known = ", ".join(ports) or "none"
        self.report.add(
            "port_unknown", node, port, side=side, port=port, known=known, guess=guess(port, ports)
        )
        return False

    def _check_inputs(self) -> None:
        for operator in self.operators.values():
            for port in operator.inputs():
                edges = self.inputs[operator.id][port.name]
                if not edges and (operator.id, port.name) not in self._touched:
                    self.report.add("input_missing", operator.id, port.name, port=port.name)
                if len(edges) > 1 and not port.many:
                    sources = ", ".join(edge.source for edge in edges)
                    self.report.add(
                        "input_twice", operator.id, port.name, port=port.name, sources=sources
                    )

    # ---- stores ---------------------------------------------------------------------------

    def _check_stores(self) -> None:
        names: dict[str, str] = {}
        users: dict[str, list[Operator]] = defaultdict(list)
        for operator in self.operators.values():
            if len(operator.stores) > 1 and not operator.many_stores:
                stores = ", ".join(store.id for store in operator.stores)
                self.report.add("store_twice", operator.id, STORE_PORT, stores=stores)
            for connected in operator.stores:
                users[connected.id].append(operator)
        all_stores = [o for o in self.operators.values() if isinstance(o, Store)]
        for store in all_stores:
            if isinstance(store.node.params.get("name"), str):
                first = names.setdefault(store.store_name(), store.id)
                if first != store.id:
                    name = store.store_name()
                    self.report.add("store_name_twice", store.id, "name", name=name, other=first)
            if not users[store.id]:
                touched = any(edge.source == store.id for edge in self.document.edges)
                if not touched:
                    self.report.add("store_unused", store.id, STORE_PORT)
            owners = list(dict.fromkeys(u for u in users[store.id] if not u.many_stores))
            if len(owners) > 1:
                others = ", ".join(user.id for user in owners)
                self.report.add("store_shared", store.id, STORE_PORT, users=others)
            store.owner = owners[0] if owners else None

    # ---- sources --------------------------------------------------------------------------

    def _check_sources(self) -> None:
        readers: dict[str, Source] = {}
        patterns: list[SourceStream] = []
        for source in self.operators.values():
            if not isinstance(source, Source):
                continue
            if isinstance(source, SourceStream) and source.topic_pattern:
                self._check_pattern(source, patterns, readers)
                continue
            for topic in source.topic_names():
                first = readers.setdefault(topic, source)
                if first is not source and not self._same(source, first, topic):
                    break
            for other in patterns:
                self._check_match(other, source)
        for operator in self.operators.values():
            written = operator.values.get("topic") if operator.family == "sinks" else None
            reader = readers.get(str(written)) if written else None
            if reader is not None and reader.read_by():
                self.report.add(
                    "reader_written", operator.id, "topic", topic=str(written), other=reader.id
                )

    def _check_pattern(
        self, source: SourceStream, patterns: list[SourceStream], readers: dict[str, Source]
    ) -> None:
        for other in patterns:
            if other.topic_pattern == source.topic_pattern:
                self._same(source, other, str(source.topic_pattern))
                break
        for other_source in dict.fromkeys(readers.values()):
            self._check_match(source, other_source)
        patterns.append(source)

    def _check_match(self, pattern: SourceStream, source: Source) -> None:
        try:
            compiled = topic_pattern(pattern.topic_pattern or "")
        except NoPattern:
            return
        for topic in source.topic_names():
            if compiled.matches(topic):
                self.report.add(
                    "topic_pattern_overlap",
                    pattern.id,
                    "topic_pattern",
                    topic=topic,
                    other=source.id,
                )

    def _same(self, source: Source, first: Source, topic: str) -> bool:
        [parameter] = source.topic_parameters
        if isinstance(source, SourceStream) and source.topic_pattern:
            parameter = "topic_pattern"
        if source.kind != first.kind:
            code = "topic_roles"
        elif set(source.topic_names()) != set(first.topic_names()):
            code = "topic_overlap"
        elif not source.may_share_topic:
            code = "topic_table_twice"
        elif source.formats() != first.formats():
            code = "topic_formats"
        elif source.time() != first.time():
            code = "topic_times"
        else:
            self.merged[source.id] = self.merged.get(first.id, first.id)
            return True
        self.report.add(code, source.id, parameter, topic=topic, other=first.id)
        return False

    # ---- order ----------------------------------------------------------------------------

    def _order(self) -> list[str]:
        nodes = [o.id for o in self.operators.values() if not isinstance(o, Store)]
        place = {id_: index for index, id_ in enumerate(nodes)}
        siblings = self._siblings(nodes)
        earlier = _count_earlier(siblings)
        waiting = {id_: len(self.needed_by(id_)) for id_ in nodes}
        follow: dict[str, list[str]] = defaultdict(list)
        for id_ in nodes:
            for earlier_node in self.needed_by(id_):
                follow[earlier_node].append(id_)
        ready = [id_ for id_ in nodes if not waiting[id_]]
        done: dict[str, None] = {}
        while ready:
            best = min(ready, key=lambda id_: (earlier[id_], place[id_]))
            ready.remove(best)
            done[best] = None
            groups = dict.fromkeys(self.merged.get(p, p) for p in self.parents(best))
            for group in groups:
                _count_done(siblings[group], best, earlier)
            for child in follow[best]:
                waiting[child] -= 1
                if not waiting[child]:
                    ready.append(child)
        self._report_cycles([id_ for id_ in nodes if id_ not in done], follow)
        return list(done)

    def _siblings(self, nodes: list[str]) -> dict[str, list[Edge]]:
        """Edges by source, in order; those of a merged source follow those of the first source."""
        found: dict[str, list[Edge]] = defaultdict(list)
        for id_ in nodes:
            if id_ not in self.merged:
                found[id_] += self.outgoing[id_]
        for id_ in nodes:
            if id_ in self.merged:
                found[self.merged[id_]] += self.outgoing[id_]
        return found

    def _report_cycles(self, left: list[str], follow: Mapping[str, list[str]]) -> None:
        """Reports each cycle once, at its first node; nodes after a cycle are not reported.

        A cycle through a store that a processor reads is reported at the processor.
        """
        remaining = set(left)
        reported: set[str] = set()
        for start in left:
            if start in reported:
                continue
            path = _cycle_through(start, remaining, follow)
            if not path:
                continue
            reported.update(path)
            steps = zip(path, [*path[1:], start], strict=True)
            read = next(((a, b) for a, b in steps if a not in self.parents(b)), None)
            if read is None:
                self.report.add("cycle", start, "in", through=" → ".join([*path, start]))
            else:
                self.report.add("store_cycle", read[1], STORE_PORT, owner=read[0])


def _cycle_through(
    start: str, within: set[str], follow: Mapping[str, list[str]]
) -> list[str] | None:
    stack: list[tuple[str, list[str]]] = [(start, [start])]
    seen: set[str] = set()
    while stack:
        id_, path = stack.pop()
        for target in follow.get(id_, []):
            if target == start:
                return path
            if target in within and target not in seen:
                seen.add(target)
                stack.append((target, [*path, target]))
    return None


def _count_earlier(siblings: dict[str, list[Edge]]) -> dict[str, int]:
    """Counts, for each node, the edges to other nodes that precede its own, over all parents."""
    counts: dict[str, int] = defaultdict(int)
    for edges in siblings.values():
        to: dict[str, int] = defaultdict(int)
        for index, edge in enumerate(edges):
            counts[edge.target] += index - to[edge.target]
            to[edge.target] += 1
    return counts


def _count_done(edges: list[Edge], done: str, counts: dict[str, int]) -> None:
    """Removes a placed node from the counts of the nodes that follow it."""
    before = 0
    for edge in edges:
        if edge.target == done:
            before += 1
        elif before:
            counts[edge.target] -= before
