"""Fragments: parts of a topology that are drawn once and used at a version.

::

    "fragments": {
      "clean@2": {
        "parameters": {"low": {"type": "number", "default": 10}},
        "nodes": [{"id": "in", "kind": "fragment.input", "params": {"value": "STRUCT<n: INT>"}},
                  {"id": "large", "kind": "filter", "params": {"predicate": "value.n > ${low}"}},
                  {"id": "out", "kind": "fragment.output"}],
        "edges": [{"source": "in", "target": "large"}, {"source": "large", "target": "out"}]
      }
    },
    "nodes": [{"id": "clean", "kind": "fragment",
               "params": {"fragment": "clean@2", "arguments": {"low": 5}}}]

Expanding replaces each ``fragment`` node by the nodes of its definition, whose ids begin with that
of the node (``clean--large``), unless ``identities`` of the node gives them others. Ports of a
definition are nodes: edges to an input continue at what follows it, edges from an output begin
at what it follows, and the children of each node keep their order.

A definition that stands alone, as a document with ports, becomes a topology that reads a topic for
each input and writes one for each output.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

from millrace_model.documents import (
    FRAGMENT,
    DocumentEdge,
    FragmentDefinition,
    TopologyDocument,
)

from millrace_compiler.diagnostics.diagnostics import Diagnostics, kind_of
from millrace_compiler.graphs.expander import Expander
from millrace_compiler.graphs.expansion import Expansion
from millrace_compiler.graphs.fragment_ports import PORTS, alone
from millrace_compiler.graphs.topology_parameters import resolve

_DEFINITION = ("description", "parameters", "nodes", "edges", "drawing")


def expand(raw: object, report: Diagnostics) -> Expansion:
    """Replace the fragment nodes of a document, and report what is wrong. Never raises.

    Parameters of the topology have been filled in. A document without fragments is returned as it
    is.
    """
    if not isinstance(raw, dict) or not isinstance(raw.get("nodes"), list):
        return Expansion(raw)
    kinds = {str(each.get("kind")) for each in raw["nodes"] if isinstance(each, dict)}
    if raw.get("fragments") is None and not kinds & {FRAGMENT, *PORTS}:
        return Expansion(raw)
    document = {name: value for name, value in raw.items() if name != "fragments"}
    document["nodes"] = [alone(each, report) for each in raw["nodes"]]
    whole = cast(TopologyDocument, document)
    return Expander(whole, _definitions(raw, report), report).expanded()


def expanded_but(raw: TopologyDocument, kept: Collection[str]) -> TopologyDocument:
    """Return a valid document in which nodes stand for the fragments in ``kept`` alone."""
    document = {name: value for name, value in raw.items() if name != "fragments"}
    report = Diagnostics()
    whole = cast(TopologyDocument, document)
    found = Expander(whole, _definitions(raw, report), report, kept).expanded().document
    return cast(TopologyDocument, found)


def resolved(raw: TopologyDocument, environment: str | None = None) -> TopologyDocument:
    """Return an ordinary document: with the values of an environment, and without fragments.

    A document with errors in parameters or fragments is returned as it is; the compiler then
    reports them.
    """
    report = Diagnostics()
    found = expand(resolve(raw, report, environment).document, report).document
    if report.failed or not isinstance(found, dict):
        return raw
    return cast(TopologyDocument, found)


def filled(raw: TopologyDocument, environment: str | None = None) -> TopologyDocument:
    """Return a document with the values of an environment and with its fragments.

    A document with errors in its parameters is returned as it is.
    """
    report = Diagnostics()
    found = resolve(raw, report, environment).document
    if report.failed or not isinstance(found, dict):
        return raw
    return cast(TopologyDocument, found)


def edges_in_place(
    raw: TopologyDocument, environment: str | None = None
) -> list[tuple[DocumentEdge, list[DocumentEdge]]]:
    """Return each edge of a document with the edges that run in its place.

    Several run in place of one to or from a fragment. Empty for a document with errors in
    parameters or fragments.
    """
    report = Diagnostics()
    found = expand(resolve(raw, report, environment).document, report)
    if report.failed or not isinstance(found.document, dict):
        return []
    if found.edges is None:
        return [(edge, [edge]) for edge in raw["edges"]]
    running: dict[int | None, list[DocumentEdge]] = {}
    for index, edge in zip(found.edges, found.document["edges"], strict=False):
        running.setdefault(index, []).append(edge)
    return [(edge, running.get(index, [])) for index, edge in enumerate(raw["edges"])]


def _definitions(raw: Mapping[str, object], report: Diagnostics) -> dict[str, FragmentDefinition]:
    given = raw.get("fragments")
    if given is None:
        return {}
    if not isinstance(given, dict):
        report.add(
            "document_shape", parameter="fragments", found=kind_of(given), needed="an object"
        )
        return {}
    found: dict[str, FragmentDefinition] = {}
    for name, row in given.items():
        place = f"fragments.{name}"
        if not isinstance(row, dict):
            report.add("document_shape", parameter=place, found=kind_of(row), needed="an object")
            continue
        for key in row:
            if key not in _DEFINITION:
                known = ", ".join(_DEFINITION)
                report.add("unknown_key", parameter=f"{place}.{key}", place=place, known=known)
        parts = {}
        for part in ("nodes", "edges"):
            rows = row.get(part)
            if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
                needed = "a list of objects"
                report.add(
                    "document_shape", parameter=f"{place}.{part}", found=kind_of(rows),
                    needed=needed,
                )  # fmt: skip
                rows = []
            parts[part] = rows
        found[name] = cast(FragmentDefinition, {**row, **parts})
    return found
