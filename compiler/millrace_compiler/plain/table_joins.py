"""Joins of tables: state keeps the rows of both sides by key; each change updates the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.operators.joins.foreign_key import JoinForeignKey
from millrace_compiler.operators.joins.stream_table import JoinStreamTable
from millrace_compiler.operators.joins.table_table import JoinTableTable
from millrace_compiler.plain.formats import as_numbers
from millrace_compiler.plain.keeping import (
    check_types,
    note_changes,
    numbered,
    place,
    refuse_columns,
    results,
    rows_of,
    transform,
)
from millrace_compiler.plain.program import Frame, Program, known
from millrace_compiler.plain.text import Call, Chain, Name, call
from millrace_compiler.types.types import BIGINT, INT, STRING, DataType

_EXISTS = {
    "inner": "left IS NOT NULL AND right IS NOT NULL",
    "left": "left IS NOT NULL",
    "outer": "left IS NOT NULL OR right IS NOT NULL",
}

#: Kafka Streams treats an empty right value as a missing row.
_EMPTY_IS_NULL = {"STRING": "nullif(value, '')", "BINARY": "nullif(value, X'')"}


def table_table(program: Program, node: JoinTableTable) -> Mapping[str, Frame]:
    """``join.table_table``: a union of the changes of both sides, by key."""
    refuse_columns(program, node, "joiner", "timestamp")
    left, right = rows_of(program, node, "left"), rows_of(program, node, "right")
    key = known(left.port.key)
    types = {"left": known(left.port.value), "right": known(right.port.value)}
    check_types(program, node, key, *types.values())
    sides = [
        call("selectExpr", f"'{side}' AS side", numbered("key", key),
             numbered("value", types[side], side), *place())
        for side in types
    ]  # fmt: skip
    joined = call("TableJoin", node.type, *(as_numbers(each).text for each in types.values()))
    columns = {"key": key, **types}
    steps = [
        sides[0],
        call("unionByName", Chain(Name(right.variable), (sides[1],)),
             allowMissingColumns=Name("True")),
        call("groupBy", "key"),
        transform(joined, columns),
    ]  # fmt: skip
    return _joined(program, node, left, steps, columns)


def looked_up_by_key(program: Program, node: JoinStreamTable) -> Mapping[str, Frame]:
    """``join.stream_table`` with a computed table, whose rows the join keeps in its own state."""
    left, right = rows_of(program, node, "left"), rows_of(program, node, "right")
    key = known(left.port.key)
    types = {"left": known(left.port.value), "right": known(right.port.value)}
    check_types(program, node, key, *types.values())
    columns = {"key": key, **types}
    kept = "value IS NOT NULL" if node.type == "left" else "key IS NOT NULL AND value IS NOT NULL"
    steps = [
        call("where", kept),
        call("selectExpr", "'left' AS side", numbered("key", key),
             numbered("value", types["left"], "left"), *place()),
        call("unionByName", Chain(Name(right.variable), (
            call("selectExpr", "'right' AS side", numbered("key", key),
                 numbered("value", types["right"], "right"), *place()),
        )), allowMissingColumns=Name("True")),
        call("groupBy", "key"),
        transform(call("TableLookup", as_numbers(types["right"]).text), columns),
    ]  # fmt: skip
    if node.type == "inner":
        steps.append(call("where", "right IS NOT NULL"))
    steps += results(columns, "key", f"{node.joiner} AS value")
    variable = program.assign(node, Chain(Name(left.variable), tuple(steps)))
    note_changes(program, node)
    program.differs("plain_table_now", node)
    program.drops_nulls(node, "a null key or value")
    moved = left.moved or left.port.key_changed
    return {"out": Frame(variable, program.port(node), (), "append", True, moved)}


def foreign_key(program: Program, node: JoinForeignKey) -> Mapping[str, Frame]:
    """``join.foreign_key``: sends each left row to the foreign key that it refers to."""
    refuse_columns(program, node, "joiner", "timestamp")
    left, right = rows_of(program, node, "left"), rows_of(program, node, "right")
    key, reference = known(left.port.key), known(right.port.key)
    types = {"left": known(left.port.value), "right": known(right.port.value)}
    check_types(program, node, key, reference, *types.values(), keys=2)
    wanted = f"CASE WHEN value IS NOT NULL THEN CAST({node.foreign_key} AS {reference.text}) END"
    moves = {
        "foreign_key": reference, "key": key, "left": types["left"], "answer": STRING,
        "offset": BIGINT, "partition": INT, "topic": STRING,
    }  # fmt: skip
    references = program.step(
        node,
        left,
        call("selectExpr", numbered("key", key), numbered("value", types["left"], "left"),
             numbered(wanted, reference, "foreign_key"), *place()),
        call("groupBy", "key"),
        transform(call("References", node.type, as_numbers(reference).text), moves),
        suffix="references",
    )  # fmt: skip
    rows = call(
        "selectExpr",
        numbered("key", reference, "foreign_key"),
        numbered(_EMPTY_IS_NULL.get(types["right"].name, "value"), types["right"], "right"),
        *place(),
    )
    columns = {"key": key, **types}
    joined = call("ForeignKeyJoin", *(as_numbers(each).text for each in columns.values()))
    steps = [
        call("unionByName", Chain(Name(right.variable), (rows,)), allowMissingColumns=Name("True")),
        call("groupBy", "foreign_key"),
        transform(joined, columns),
    ]
    program.differs("plain_updates", node)
    if node.type == "inner":
        program.drops_nulls(node, "a null foreign key")
    return _joined(program, node, replace(left, variable=references), steps, columns)


def _joined(
    program: Program,
    node: JoinTableTable | JoinForeignKey,
    frame: Frame,
    steps: list[Call],
    columns: Mapping[str, DataType],
) -> Mapping[str, Frame]:
    """Applies the joiner to the rows of both sides, with null where there is no result."""
    value = f"CASE WHEN {_EXISTS[node.type]} THEN {node.joiner} END AS value"
    steps += results(columns, "key", value)
    variable = program.assign(node, Chain(Name(frame.variable), tuple(steps)))
    note_changes(program, node)
    through_topic = any(program.input(node, side).stateful for side in ("left", "right"))
    shared = _sources(program.graph, node, "left") & _sources(program.graph, node, "right")
    if through_topic or shared:
        program.differs("plain_sides", node)
    return {"out": Frame(variable, program.port(node), (), "append", True)}


def _sources(graph: Graph, node: Operator, port: str) -> set[str]:
    """The sources whose records reach a port."""
    waiting, found = [edge.source for edge in graph.inputs[node.id][port]], set[str]()
    while waiting:
        id_ = waiting.pop()
        if id_ not in found:
            found.add(id_)
            waiting += [e.source for edges in graph.inputs[id_].values() for e in edges]
    return {id_ for id_ in found if graph.operators[id_].family == "sources"}
