"""Replaces fragment nodes by the nodes of their definitions, with bounded work."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Any, cast

from millrace_model.documents import (
    FRAGMENT,
    INPUT,
    OUTPUT,
    DocumentNode,
    FragmentDefinition,
    TopologyDocument,
)

from millrace_compiler.diagnostics.diagnostics import Diagnostic, Diagnostics, kind_of, shown
from millrace_compiler.diagnostics.guesses import guess
from millrace_compiler.documents.document import NODE_ID
from millrace_compiler.graphs.expansion import (
    SEPARATOR,
    Expansion,
    Input,
    Origin,
    edge_ends,
)
from millrace_compiler.graphs.fragment_ports import PORTS, Declared, read_port
from millrace_compiler.graphs.topology_parameters import Resolution, resolve

#: limits of what a document is expanded to
DEEPEST, MOST_NODES, MOST_EDGES, MOST_CHARACTERS = 8, 2_000, 10_000, 16 * 1024 * 1024
#: limits of the work: rows of definitions, edges along ports, names for a guess; ports in a row
MOST_STEPS, MOST_PORTS = 100_000, 200
LONGEST_ID = 200
_PARAMS = ("fragment", "arguments", "identities")

#: the id of a node, or the node, side and name of a port that is removed
_End = str | tuple[str, str, str]


class _TooLargeError(Exception):
    pass


@dataclass
class _Frame:
    """The place of a definition while it is expanded."""

    #: id of the fragment node in the expanded document, and in the one with fragments
    id: str
    top: str
    filled: Resolution
    #: the definitions around it
    within: tuple[str, ...]
    #: ids of inner nodes that are given, by their path
    identities: Mapping[str, str]
    #: what comes before an inner id in these paths
    path: str


class Expander:
    """Expands the fragments of one document.

    ``report`` gets what is wrong in it. ``kept``: fragments whose nodes in the document stay.
    """

    def __init__(
        self,
        document: TopologyDocument,
        definitions: Mapping[str, FragmentDefinition],
        report: Diagnostics,
        kept: Collection[str] = (),
    ) -> None:
        self.document, self.definitions, self.report = document, definitions, report
        self.kept = kept
        self.found = Expansion(document)
        self.nodes: list[Any] = []
        self.links: list[tuple[_End, str, _End, str, int | None]] = []
        self.follows: dict[_End, list[int]] = {}
        self.characters, self.used = 0, set[str]()
        #: fragment nodes that were expanded, and what was looked at
        self.expansions, self.steps = 0, 0
        #: targets and ports of the document's edges
        self.wired = {
            ends[2:] for ends in map(edge_ends, self._listed(document.get("edges"))) if ends
        }
        #: names of the ports of fragment nodes, by id and side
        self.ports: dict[tuple[str, str], list[str]] = {}
        self.declared: dict[tuple[str, str], Declared | None] = {}
        #: fragment nodes of the document, by the ids of the fragment nodes in them
        self.tops: dict[str, str] = {}

    def expanded(self) -> Expansion:
        """Return the expansion; where there is too much to expand, without any of it."""
        try:
            self._walk(self.document["nodes"], self._listed(self.document.get("edges")), None)
            self._join()
        except _TooLargeError:
            self.report.add(
                "fragment_too_large", None, "fragments", nodes=MOST_NODES, edges=MOST_EDGES,
                megabytes=MOST_CHARACTERS // 1024 // 1024,
            )  # fmt: skip
            plain = [each for each in self.document["nodes"] if not _is_fragment(each)]
            failed = {str(each.get("id")) for each in self.document["nodes"] if _is_fragment(each)}
            return Expansion({**self.document, "nodes": plain}, failed=failed)
        for name in self.definitions:
            if name not in self.used:
                self.report.add("fragment_unused", parameter=f"fragments.{name}", name=name)
        return self.found

    @staticmethod
    def _listed(rows: object) -> list[Any]:
        return rows if isinstance(rows, list) else []

    def _step(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise _TooLargeError

    def _guess(self, name: str, known: Collection[str]) -> str:
        """The start of a hint; each name that it is compared with is a step."""
        self._step(len(known))
        return guess(name, known)

    # ---- nodes ------------------------------------------------------------------------------

    def _walk(self, nodes: list[Any], edges: list[Any], frame: _Frame | None) -> None:
        inner: set[str] = set()
        if frame is not None:
            self._step(len(nodes) + len(edges))
        for row in nodes:
            if not isinstance(row, dict):
                self.nodes.append(row)
                continue
            node = cast(DocumentNode, row)
            if frame is not None and node.get("kind") in PORTS:
                continue
            if frame is None and self.kept and _reference(node) in self.kept:
                self.nodes.append(node)
            elif _is_fragment(node) and isinstance(node.get("id"), str):
                if node["id"] in inner:
                    self.report.add("node_id_twice", self._top(node, frame), "id", found=node["id"])
                    continue
                inner.add(node["id"])
                self._fragment(node, frame)
            else:
                self._add(node, frame)
        ports = {} if frame is None else _ports(nodes)
        for index, edge in enumerate(edges):
            self._link(edge, inner, frame, index, ports)

    def _add(self, node: DocumentNode, frame: _Frame | None) -> None:
        if frame is None or not isinstance(node.get("id"), str):
            self.nodes.append(node)
            return
        if len(self.nodes) + self.expansions >= MOST_NODES:
            raise _TooLargeError
        id_ = self._id(node["id"], frame)
        self.nodes.append({**node, "id": id_})
        self.found.origins[id_] = Origin(
            frame.top, frame.within[-1], node["id"], frame.filled, node
        )

    def _id(self, id_: str, frame: _Frame | None) -> str:
        """The id of an inner node in the expanded document."""
        if frame is None:
            return id_
        return frame.identities.get(frame.path + id_) or f"{frame.id}{SEPARATOR}{id_}"

    def _top(self, node: DocumentNode, frame: _Frame | None) -> str:
        return str(node["id"]) if frame is None else frame.top

    def _fragment(self, node: DocumentNode, frame: _Frame | None) -> None:
        top, id_ = self._top(node, frame), self._id(str(node["id"]), frame)
        given: object = node.get("params")
        params: Mapping[str, object] = given if isinstance(given, dict) else {}
        name = self._reference(params, top, frame)
        if name is None:
            self._fail(top, id_)
            return
        definition = self.definitions[name]
        self.used.add(name)
        self.expansions += 1
        if len(self.nodes) + self.expansions > MOST_NODES:
            raise _TooLargeError
        self.characters += _size(definition["nodes"])
        if self.characters > MOST_CHARACTERS:
            raise _TooLargeError
        filled = self._filled(definition, params.get("arguments"), top)
        nodes = cast(FragmentDefinition, filled.document)["nodes"]
        self._read_ports(id_, top, nodes, outer=frame is None)
        if frame is None:
            identities, path = self._identities(params.get("identities"), top), ""
        else:
            identities, path = frame.identities, f"{frame.path}{node['id']}{SEPARATOR}"
        within = (*(frame.within if frame else ()), name)
        self._walk(nodes, definition["edges"], _Frame(id_, top, filled, within, identities, path))

    def _fail(self, top: str, id_: str) -> None:
        self.found.failed |= {top, id_}

    def _reference(
        self, params: Mapping[str, object], top: str, frame: _Frame | None
    ) -> str | None:
        """The name of the definition that a fragment node uses; None if it cannot be used."""
        add = self.report.add
        for each in params:
            if each not in _PARAMS:
                known = ", ".join(_PARAMS)
                add("parameter_unknown", top, each, kind=FRAGMENT, known=known, guess="")
        name = params.get("fragment")
        if not isinstance(name, str) or not _is_reference(name):
            add("fragment_reference", top, "fragment", found=shown(name))
            return None
        within = frame.within if frame else ()
        if name in within:
            add("fragment_cycle", top, "fragment", through=" → ".join([*within, name]))
        elif len(within) >= DEEPEST:
            add("fragment_depth", top, "fragment", most=DEEPEST)
        elif name not in self.definitions:
            near = self._guess(name, self.definitions)
            add("fragment_unknown", top, "fragment", name=name, guess=near)
        else:
            return name
        return None

    def _filled(self, definition: FragmentDefinition, given: object, top: str) -> Resolution:
        """The definition with the arguments of a node in place of the defaults."""
        add = self.report.add
        arguments = given if isinstance(given, dict) else {}
        if given is not None and not isinstance(given, dict):
            add("node_part", top, "arguments", found=kind_of(given), needed="an object")
        declared = definition.get("parameters")
        known = declared if isinstance(declared, dict) else {}
        for name in arguments:
            if name not in known:
                add(
                    "fragment_argument", top, "arguments", path=f"arguments.{name}", name=name,
                    guess=self._guess(str(name), known),
                )  # fmt: skip
        rows = {
            name: {**_without(row, "values"), "default": arguments[name]}
            if name in arguments and isinstance(row, dict)
            else row
            for name, row in known.items()
        }
        raw: dict[str, object] = {"nodes": definition["nodes"]}
        if rows or (declared is not None and not isinstance(declared, dict)):
            raw["parameters"] = rows if isinstance(declared, dict) else declared
        local = Diagnostics()
        filled = resolve(raw, local)
        for each in local:
            if each.code == "parameter_unused":
                continue
            argument = (each.parameter or "").split(".")
            if each.node is None and argument[-1] == "default" and argument[1] in arguments:
                place: str | None = f"arguments.{argument[1]}"
                self.report.put(changed(each, node=top, parameter="arguments", path=place))
            else:
                inner = None if each.node is None else f"{top}{SEPARATOR}{each.node}"
                self.report.put(changed(each, node=top, inner=inner))
        return filled

    def _identities(self, given: object, top: str) -> Mapping[str, str]:
        """The ids that inner nodes get in place of those with the node's id before them."""
        if given is None:
            return {}
        found: dict[str, str] = {}
        for path, id_ in (given if isinstance(given, dict) else {"": given}).items():
            if not isinstance(id_, str) or not NODE_ID.fullmatch(id_) or len(id_) > LONGEST_ID:
                place = f"identities.{path}"
                self.report.add(
                    "node_id", top, "identities", path=place, place=place, found=shown(id_)
                )
            else:
                found[str(path)] = id_
        return found

    # ---- ports ------------------------------------------------------------------------------

    def _read_ports(self, id_: str, top: str, nodes: list[Any], *, outer: bool) -> None:
        sides: dict[str, list[str]] = {INPUT: [], OUTPUT: []}
        self.tops[id_] = top
        for node in nodes:
            if node.get("kind") in PORTS and isinstance(node.get("id"), str):
                sides[node["kind"]].append(node["id"])
                if node["kind"] == INPUT:
                    local = Diagnostics()
                    declared = read_port(node, local)
                    self.declared[id_, node["id"]] = declared
                    for each in local:
                        self.report.put(changed(each, node=top, parameter="fragment", path=None))
        for side, names in sides.items():
            self.ports[id_, side] = names
        if not outer:
            return
        for port in sides[INPUT]:
            if (top, port) not in self.wired:
                self.report.add("input_missing", top, port, port=port)

    # ---- edges ------------------------------------------------------------------------------

    def _link(
        self,
        edge: Any,
        inner: set[str],
        frame: _Frame | None,
        index: int,
        ports: Mapping[str, str],
    ) -> None:
        """Adds an edge of a document (frame None) or of a definition."""
        ends = edge_ends(edge)
        if ends is None:
            if frame is None:
                self._put(("", "", str(index)), "", ("", "", ""), "", index)
            else:
                self.report.add("fragment_edge", frame.top, "fragment", found=shown(edge))
            return
        source, source_port, target, target_port = ends
        start = self._end(source, source_port, OUTPUT, inner, frame, ports)
        stop = self._end(target, target_port, INPUT, inner, frame, ports)
        if start is not None and stop is not None:
            self._put(start, source_port, stop, target_port, index if frame is None else None)

    def _put(
        self, start: _End, source_port: str, stop: _End, target_port: str, index: int | None
    ) -> None:
        if len(self.links) >= MOST_EDGES:
            raise _TooLargeError
        self.follows.setdefault(start, []).append(len(self.links))
        self.links.append((start, source_port, stop, target_port, index))

    def _end(
        self,
        node: str,
        port: str,
        side: str,
        inner: set[str],
        frame: _Frame | None,
        ports: Mapping[str, str],
    ) -> _End | None:
        """What an edge begins or ends at; None for a port that does not exist."""
        if frame is not None and node in ports:
            # An edge begins at an input of its own definition, and ends at an output.
            own = INPUT if side == OUTPUT else OUTPUT
            if ports[node] == own:
                return (frame.id, own, node)
            self.report.add("fragment_edge", frame.top, "fragment", found=node)
            return None
        id_ = self._id(node, frame)
        if node not in inner or id_ in self.found.failed:
            return id_
        known = self.ports.get((id_, side), [])
        if port in known:
            return (id_, side, port)
        top = node if frame is None else frame.top
        self.report.add(
            "port_unknown", top, port, side="input" if side == INPUT else "output", port=port,
            known=", ".join(known) or "none", guess=self._guess(port, known),
        )  # fmt: skip
        return None

    def _join(self) -> None:
        """Join the edges before and after each port, and write the document."""
        edges: list[Any] = []
        indexes: list[int | None] = []
        raw = self._listed(self.document.get("edges"))
        for start, source_port, stop, target_port, index in self.links:
            if start == ("", "", str(index)):
                edges.append(raw[index or 0])
                indexes.append(index)
                continue
            if not isinstance(start, str):
                continue
            for target, port, by in self._targets(stop, target_port, index, frozenset()):
                if len(edges) >= MOST_EDGES:
                    raise _TooLargeError
                edges.append(_edge(start, source_port, target, port))
                indexes.append(by)
        self._find_ports()
        self.document = {**self.document, "nodes": self.nodes, "edges": edges}
        self.found.document, self.found.edges = self.document, indexes

    def _targets(
        self, stop: _End, port: str, index: int | None, passed: frozenset[_End]
    ) -> list[tuple[str, str, int | None]]:
        if isinstance(stop, str):
            return [(stop, port, index)]
        if stop in passed:
            self.report.add("fragment_loop", self.tops[stop[0]], stop[2], port=stop[2])
            return []
        if len(passed) >= MOST_PORTS:
            raise _TooLargeError
        found: list[tuple[str, str, int | None]] = []
        for each in self.follows.get(stop, ()):
            self._step()
            _, _, target, target_port, further = self.links[each]
            known = further if index is None else index
            found += self._targets(target, target_port, known, passed | {stop})
            if len(found) > MOST_EDGES:
                raise _TooLargeError
        return found

    def _find_ports(self) -> None:
        """Note what each output of a fragment node follows, and what feeds each typed input."""
        before: dict[_End, list[tuple[_End, str]]] = {}
        for start, source_port, stop, _, _ in self.links:
            before.setdefault(stop, []).append((start, source_port))
        for (id_, side), names in self.ports.items():
            for name in names:
                fed = self._sources((id_, side, name), before)
                if side == OUTPUT and fed:
                    self.found.outputs[id_, name] = fed[0]
                declared = self.declared.get((id_, name))
                top = self.tops[id_]
                if side == INPUT and declared is not None:
                    self.found.inputs.append(Input(top, name, declared, tuple(fed)))
                if side == INPUT and top != id_ and (id_, side, name) not in before:
                    self.report.put(_missing(top, name, id_))
                if side == INPUT and not fed:
                    after = self._targets((id_, side, name), "", None, frozenset())
                    self.found.unfed |= {(target, port) for target, port, _ in after}

    def _sources(
        self, port: _End, before: Mapping[_End, list[tuple[_End, str]]]
    ) -> list[tuple[str, str]]:
        """The nodes and ports whose records come to a port."""
        found: dict[tuple[str, str], None] = {}
        seen, ahead = {port}, [port]
        while ahead:
            for start, source_port in before.get(ahead.pop(), ()):
                self._step()
                if isinstance(start, str):
                    found[start, source_port] = None
                elif start not in seen:
                    seen.add(start)
                    ahead.append(start)
        return list(found)


def _missing(node: str, port: str, inner: str) -> Diagnostic:
    return Diagnostic("input_missing", node, port, data={"port": port}, inner=inner)


def _is_fragment(node: object) -> bool:
    return isinstance(node, dict) and node.get("kind") == FRAGMENT


def _reference(node: DocumentNode) -> object:
    """The fragment of a fragment node, if it has one."""
    return (node.get("params") or {}).get("fragment") if _is_fragment(node) else None


def _is_reference(text: str) -> bool:
    name, _, version = text.rpartition("@")
    return bool(name) and version.isascii() and version.isdigit() and len(text) <= LONGEST_ID


def _ports(nodes: list[Any]) -> dict[str, str]:
    """The kinds of the ports of a definition, by id."""
    return {str(each.get("id")): each["kind"] for each in nodes if each.get("kind") in PORTS}


def _edge(source: str, source_port: str, target: str, target_port: str) -> dict[str, str]:
    found = {"source": source, "target": target}
    if source_port != "out":
        found["source_port"] = source_port
    if target_port != "in":
        found["target_port"] = target_port
    return found


def _without(row: Mapping[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in names}


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str))
