"""Regroups tables: each change removes a row from one group and adds it to another."""

from __future__ import annotations

from dataclasses import replace

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.declarations.ports import Port
from millrace_compiler.operators.aggregations.base import Aggregation
from millrace_compiler.plain.between import through_topic
from millrace_compiler.plain.formats import as_numbers
from millrace_compiler.plain.keeping import (
    check_types,
    numbered,
    place,
    results,
    rows_of,
    transform,
)
from millrace_compiler.plain.program import METADATA, Frame, Program, known, reads
from millrace_compiler.plain.text import Chain, Name, call
from millrace_compiler.types.types import INT, struct


def changes_by_group(program: Program, node: Aggregation) -> Frame:
    """Rows removed from a group, with sign -1, and added to one, through an internal topic."""
    by = node.group_by
    if by is None or by.value is None:
        raise ValueError("an aggregation of a table has a grouping")
    for column in METADATA:
        if reads(by.key, column) or reads(by.value, column):
            raise program.refuse(
                "plain_column", node, "group_by", column=column, kind="transformWithState"
            )
    frame = rows_of(program, node)
    key, value = known(frame.port.key), known(frame.port.value)
    check_types(program, node, key, value)
    columns = {"key": key, "value": value, "sign": INT}
    steps = [
        call("selectExpr", numbered("key", key), numbered("value", value), *place()),
        call("groupBy", "key"),
        transform(call("TableChanges", as_numbers(value).text), columns),
        *results(
            columns,
            by.key if by.key == "key" else f"{by.key} AS key",
            f"struct({by.value} AS value, sign) AS value",
        ),
        call("where", "key IS NOT NULL AND value.value IS NOT NULL"),
    ]
    variable = program.assign(node, Chain(Name(frame.variable), tuple(steps)), "regrouped")
    program.differs("plain_packages", node)
    if _starts_with_initializer(program, node):
        program.differs("plain_first_update", node)
    group = program.type_of(by.key, frame.port), program.type_of(by.value, frame.port)
    port = Port("stream", group[0], struct(value=group[1], sign=INT))
    made = through_topic(program, node, Frame(variable, port, (), "append", True))
    return replace(made, port=port)


def _starts_with_initializer(program: Program, node: Operator) -> bool:
    """Whether the rows come from an aggregation with an initializer."""
    at = node
    while True:
        edge = next(iter(program.graph.inputs[at.id].values()))[0]
        at = program.graph.operators[edge.source]
        if at.stateful and not at.continues_table:
            return at.initializes
