"""Tables as the changes of their rows, and final results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.operator import Operator
from millrace_compiler.operators.aggregations.base import Windowed
from millrace_compiler.operators.tables.suppress import Suppress
from millrace_compiler.plain.keeping import slides
from millrace_compiler.plain.program import Frame, Program
from millrace_compiler.plain.text import call


def to_table(program: Program, node: Suppress) -> Mapping[str, Frame]:
    """``to_table``: the same changes, of records with a key."""
    frame = program.input(node)
    program.drops_nulls(node, "a null key")
    variable = program.step(node, frame, call("where", "key IS NOT NULL"))
    moved = frame.moved or frame.port.key_changed
    return {"out": replace(frame.to(variable, program.port(node)), moved=moved)}


def to_stream(program: Program, node: Operator) -> Mapping[str, Frame]:
    """``to_stream``: a table is its changes already."""
    return {"out": replace(program.input(node), port=program.port(node))}


def suppress(program: Program, node: Suppress) -> Mapping[str, Frame]:
    """``suppress`` until windows close: output mode append right behind the aggregation."""
    if node.until != "window_closes":
        raise program.refuse(
            "plain_kind", node, "until",
            reason="no step holds rows back for a time",
            instead="use a longer trigger interval",
        )  # fmt: skip
    frame = program.input(node)
    edge = program.graph.inputs[node.id]["in"][0]
    before = program.graph.operators[edge.source]
    if not isinstance(before, Windowed):
        raise program.refuse(
            "plain_kind", node, "in",
            reason="final results come from the aggregation itself",
            instead="put it right behind the aggregation",
        )  # fmt: skip
    if slides(before) and not frame.final:
        raise program.refuse(
            "plain_kind", node, "in",
            reason="the aggregation emits every update to another node",
            instead="use an aggregation for each",
        )  # fmt: skip
    return {"out": replace(frame, mode="append", final=True, port=program.port(node))}
