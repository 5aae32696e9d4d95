"""Joins of streams with watermarks and time bounds, and lookups in tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.operators.joins.stream_global_table import JoinStreamGlobalTable
from millrace_compiler.operators.joins.stream_stream import JoinStreamStream
from millrace_compiler.operators.joins.stream_table import JoinStreamTable
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.operators.stateless.map_values import MapValues
from millrace_compiler.plain.between import stateless
from millrace_compiler.plain.keeping import topic_path
from millrace_compiler.plain.program import Frame, Program, interval
from millrace_compiler.plain.sources import table_now
from millrace_compiler.plain.table_joins import looked_up_by_key
from millrace_compiler.plain.text import Call, Chain, Name, call

Made = Mapping[str, Frame]
_HOW = {"inner": "inner", "left": "leftOuter", "outer": "fullOuter"}


def stream_stream(program: Program, node: JoinStreamStream) -> Made:
    """``join.stream_stream``: an equi-join with time bounds and a watermark on both sides."""
    left = stateless(program, node, program.input(node, "left"))
    right = stateless(program, node, program.input(node, "right"))
    wait = interval(max(node.before, 0) + max(node.after, 0) + node.grace)
    sides = (
        _side(program, node, left, "left", node.type in ("left", "outer"), wait),
        _side(program, node, right, "right", node.type == "outer", wait),
    )
    earliest, latest = _moved("left_time", -node.before), _moved("left_time", node.after)
    bounds = f"left_key = right_key AND right_time BETWEEN {earliest} AND {latest}"
    how = () if node.type == "inner" else (_HOW[node.type],)
    steps = (
        call("join", Name(sides[1]), call("F.expr", bounds), *how),
        call("selectExpr", "coalesce(left_key, right_key) AS key", "left", "right",
             "greatest(left_time, right_time) AS timestamp"),
        call("selectExpr", "key", f"{node.joiner} AS value", "timestamp"),
    )  # fmt: skip
    variable = program.assign(node, Chain(Name(sides[0]), steps))
    program.differs("plain_late", node)
    program.differs("plain_headers", node)
    program.differs("plain_order", node, what="pairs")
    if node.type != "inner":
        program.differs("plain_outer_results", node)
    program.drops_nulls(node, "a null key or value")
    return {"out": Frame(variable, program.port(node), (), "append", True)}


def _side(program: Program, node: Operator, frame: Frame, side: str, outer: bool, wait: str) -> str:
    kept = "value IS NOT NULL" if outer else "key IS NOT NULL AND value IS NOT NULL"
    return program.step(
        node,
        frame,
        call("where", kept),
        call("selectExpr", f"key AS {side}_key", f"value AS {side}", f"timestamp AS {side}_time"),
        call("withWatermark", f"{side}_time", wait),
        suffix=side,
    )


def _moved(column: str, milliseconds: int) -> str:
    if not milliseconds:
        return column
    sign = "-" if milliseconds < 0 else "+"
    return f"{column} {sign} INTERVAL '{interval(abs(milliseconds))}'"


def stream_table(program: Program, node: JoinStreamTable) -> Made:
    """``join.stream_table``: each micro-batch reads the table as it is at that time."""
    if node.values.get("grace") is not None:
        raise program.refuse(
            "plain_kind", node, "grace",
            reason="a table has only its current rows",
            instead="remove the grace period",
        )  # fmt: skip
    if topic_path(program, node) is None:
        return looked_up_by_key(program, node)
    table = _table(program, node)
    frame = program.input(node, "left")
    frame = replace(frame, moved=frame.moved or frame.port.key_changed)
    kept = "value IS NOT NULL" if node.type == "left" else "key IS NOT NULL AND value IS NOT NULL"
    renamed = Chain(Name(table), (call("withColumnRenamed", "value", "right"),))
    how = "inner" if node.type == "inner" else "left"
    return _looked_up(
        program,
        node,
        frame,
        call("where", kept),
        call("withColumnRenamed", "value", "left"),
        call("join", renamed, "key", how),
    )


def stream_global_table(program: Program, node: JoinStreamGlobalTable) -> Made:
    """``join.stream_global_table``: like `stream_table`, with the key of an expression."""
    program.input(node, "right")  # Raises if the table was refused.
    edge = program.graph.inputs[node.id]["right"][0]
    source = cast(Source, program.graph.operators[edge.source])
    if source.id not in program.tables:
        program.tables[source.id] = table_now(program, source)
    columns = ("key AS table_key", "value AS right")
    renamed = Chain(Name(program.tables[source.id]), (call("selectExpr", *columns),))
    how = "inner" if node.type == "inner" else "left"
    return _looked_up(
        program,
        node,
        program.input(node, "left"),
        call("where", "value IS NOT NULL"),
        call("withColumn", "mapped_key", call("F.expr", node.key)),
        call("withColumnRenamed", "value", "left"),
        call("join", renamed, call("F.expr", "mapped_key = table_key"), how),
        drop=("mapped_key", "table_key"),
    )


def _looked_up(
    program: Program, node: Operator, frame: Frame, *steps: Call, drop: tuple[str, ...] = ()
) -> Made:
    joiner = str(node.values["joiner"])
    after = (
        call("withColumn", "value", call("F.expr", joiner)),
        call("drop", "left", "right", *drop),
    )
    variable = program.step(node, frame, *steps, *after)
    program.differs("plain_table_now", node)
    program.drops_nulls(node, "a null key or value")
    return {"out": frame.to(variable, program.port(node))}


def _table(program: Program, node: JoinStreamTable) -> str:
    """The variable of the table side: a topic's rows, filtered and mapped if necessary."""
    program.input(node, "right")
    found = topic_path(program, node)
    if found is None:
        raise ValueError("a computed table has no topic")
    at, path = found
    if at.id not in program.tables:
        program.tables[at.id] = table_now(program, at)
    variable = program.tables[at.id]
    for each in path:
        if isinstance(each, MapValues):
            step = call("withColumn", "value", call("F.expr", each.value))
        else:
            step = call("where", each.kept())
        if each.id not in program.tables:
            chain = Chain(Name(variable), (step,))
            program.tables[each.id] = program.assign(each, chain, "now")
        variable = program.tables[each.id]
    return variable
