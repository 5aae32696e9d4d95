"""Suppresses updates of a table until a window closes or a time limit passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.operators.aggregations.base import Windowed
from millrace_compiler.operators.tables.suppress import Suppress
from millrace_compiler.plain.between import in_tasks
from millrace_compiler.plain.formats import as_numbers
from millrace_compiler.plain.keeping import (
    ORDERED,
    check_types,
    note_changes,
    numbered,
    place,
    results,
    slides,
    transform,
)
from millrace_compiler.plain.program import Frame, Program, known
from millrace_compiler.plain.text import Name, call


def suppress(program: Program, node: Suppress) -> Mapping[str, Frame]:
    """``suppress`` until windows close, or until a time limit."""
    return _final(program, node) if node.until == "window_closes" else _held_back(program, node)


def _final(program: Program, node: Suppress) -> Mapping[str, Frame]:
    """Final results: output mode append, directly after the aggregation."""
    frame = program.input(node)
    edge = program.graph.inputs[node.id]["in"][0]
    before = program.graph.operators[edge.source]
    if not isinstance(before, Windowed):
        raise program.refuse(
            "plain_kind", node, "in",
            reason="final results come from the aggregation itself",
            instead="put it directly after the aggregation",
        )  # fmt: skip
    if slides(before) and not frame.final:
        raise program.refuse(
            "plain_kind", node, "in",
            reason="the aggregation also emits every update to another node",
            instead="use an aggregation for each",
        )  # fmt: skip
    return {"out": replace(frame, mode="append", final=True, port=program.port(node))}


def _held_back(program: Program, node: Suppress) -> Mapping[str, Frame]:
    """The last update of each key after a time limit, by `transformWithState` per partition."""
    if node.max_bytes is not None:
        raise program.refuse(
            "plain_kind", node, "max_bytes",
            reason="the size of updates in Kafka Streams' memory is unknown",
            instead="use a number of records",
        )  # fmt: skip
    frame = in_tasks(program, node, program.input(node))
    columns = {"key": known(frame.port.key), "value": known(frame.port.value)}
    if columns["key"].name not in ORDERED:
        raise program.refuse(
            "plain_kind", node, "in",
            reason=f"keys of type {columns['key'].text} have no order",
            instead="another key",
        )  # fmt: skip
    check_types(program, node, *columns.values())
    most = {} if node.max_records is None else {"most": Name(str(node.max_records))}
    fails = {"fails": Name("True")} if node.when_full == "fail" else {}
    types = (as_numbers(type_).text for type_ in columns.values())
    processor = call("Suppress", Name(str(node.limit)), *types, **most, **fails)
    steps = (
        call("selectExpr", *(numbered(*column) for column in columns.items()), *place()),
        call("groupBy", "partition"),
        transform(processor, columns),
        *results(columns, *columns),
    )
    note_changes(program, node)
    variable = program.step(node, frame, *steps)
    return {"out": Frame(variable, program.port(node), (), "append", True)}
