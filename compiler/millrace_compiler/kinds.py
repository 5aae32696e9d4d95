"""Kinds of nodes with a trait, for code that has only a document."""

from __future__ import annotations

from functools import cache

from millrace_model.documents import TopologyDocument

from millrace_compiler.operator import registry


@cache
def python_kinds() -> frozenset[str]:
    """Kinds of nodes that run the user's Python code."""
    return frozenset(kind for kind, operator in registry().items() if operator.runs_python)


def runs_only_expressions(document: TopologyDocument) -> bool:
    """Whether a document has no Python code of the user and reads nothing but topics."""
    python = python_kinds()
    return not any(
        node["kind"] in python or node.get("params", {}).get("reader") for node in document["nodes"]
    )


@cache
def global_kinds() -> frozenset[str]:
    """Kinds of sources that every task reads as a whole, from the beginning of their topic."""
    return frozenset(kind for kind, operator in registry().items() if operator.reads_whole_topic)
