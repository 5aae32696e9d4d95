"""Kinds of nodes with a trait, for code that has only a document."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import cast

from millrace_model.documents import DocumentNode, TopologyDocument

from millrace_compiler.declarations.operator import registry
from millrace_compiler.parameters.settings import FUNCTION


@cache
def python_kinds() -> frozenset[str]:
    """Kinds of nodes that run the user's Python code."""
    return frozenset(kind for kind, operator in registry().items() if operator.runs_python)


def runs_python(document: TopologyDocument) -> bool:
    """Whether Python code of the user runs: of a node, its windows, or a handler of errors.

    Nodes of fragments count, whether or not the document uses them.
    """
    settings: object = document.get("settings")
    handlers = settings.values() if isinstance(settings, Mapping) else ()
    if any(each == FUNCTION for each in handlers if isinstance(each, str)):
        return True
    kinds = python_kinds()
    return any(
        node.get("kind") in kinds or _has_own_windows(node) or _calls_functions(node)
        for node in nodes_of(document)
    )


def nodes_of(document: TopologyDocument) -> list[DocumentNode]:
    """Return the nodes of a document, and those of its fragments."""
    found = [*document["nodes"]]
    fragments: object = document.get("fragments")
    for row in fragments.values() if isinstance(fragments, dict) else ():
        nodes = row.get("nodes") if isinstance(row, dict) else None
        found += [cast(DocumentNode, each) for each in nodes or () if isinstance(each, dict)]
    return found


def _calls_functions(node: DocumentNode) -> bool:
    return bool((node.get("params") or {}).get("functions"))


def _has_own_windows(node: DocumentNode) -> bool:
    window = (node.get("params") or {}).get("window")
    return isinstance(window, Mapping) and window.get("code") is not None


def runs_only_expressions(document: TopologyDocument) -> bool:
    """Whether a document has no Python code of the user and reads nothing but topics."""
    reads = any((node.get("params") or {}).get("reader") for node in nodes_of(document))
    return not reads and not runs_python(document)


@cache
def global_kinds() -> frozenset[str]:
    """Kinds of sources that every task reads as a whole, from the beginning of their topic."""
    return frozenset(kind for kind, operator in registry().items() if operator.reads_whole_topic)


@cache
def source_kinds() -> frozenset[str]:
    """Kinds of sources that read topics from an offset on: streams and tables."""
    return frozenset(
        kind
        for kind, operator in registry().items()
        if operator.topic_parameters and not operator.in_ports and kind not in global_kinds()
    )


@cache
def sink_kinds() -> frozenset[str]:
    """Kinds of nodes that write records to topics."""
    return frozenset(
        kind
        for kind, operator in registry().items()
        if operator.topic_parameters and not operator.out_ports and kind not in global_kinds()
    )
