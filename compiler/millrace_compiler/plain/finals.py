"""Determines whether only final results of windows are needed."""

from __future__ import annotations

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.operators.tables.suppress import Suppress
from millrace_compiler.plain.program import Program


def finals_only(program: Program, node: Operator) -> bool:
    """Whether only the final results of a windowed table are used."""
    if getattr(node, "emit", "") == "window_close":
        return True
    after = [program.graph.operators[edge.target] for edge in program.graph.outgoing[node.id]]
    return bool(after) and all(
        isinstance(each, Suppress) and each.until == "window_closes" for each in after
    )
