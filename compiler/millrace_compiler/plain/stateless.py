"""Steps without state, on streams and on the changes of tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.operators.stateless.filter import Filter
from millrace_compiler.operators.stateless.filter_not import negated
from millrace_compiler.operators.stateless.flat_map import FlatMap
from millrace_compiler.operators.stateless.flat_map_values import FlatMapValues
from millrace_compiler.operators.stateless.map import Map
from millrace_compiler.operators.stateless.map_values import MapValues
from millrace_compiler.operators.stateless.select_key import SelectKey
from millrace_compiler.operators.stateless.split import Split
from millrace_compiler.plain.between import through_topic
from millrace_compiler.plain.program import Frame, Program
from millrace_compiler.plain.text import Call, Chain, Columns, Name, call
from millrace_compiler.planning.physical import keeping_null_keys

Made = Mapping[str, Frame]


def _expr(text: str) -> Call:
    return call("F.expr", text)


def _then(program: Program, node: Operator, *calls: Call) -> Made:
    frame = program.input(node)
    return {"out": frame.to(program.step(node, frame, *calls), program.port(node))}


def filter_(program: Program, node: Filter) -> Made:
    """``filter`` and ``filter_not``; in a table, a rejected row becomes a delete."""
    if node.rejected in ("dead_letter", "stop"):
        raise program.refuse(
            "plain_kind", node, "rejected",
            reason="a query cannot send single records elsewhere, or stop at one",
            instead="drop, count or warn",
        )  # fmt: skip
    if node.is_rule:
        program.differs("plain_rejected", node)
    if node.forwards_rejected:
        return {"out": replace(program.input(node), port=program.port(node))}
    predicate = node.kept()
    if program.port(node).role == "stream":
        return _then(program, node, call("where", predicate))
    frame = program.input(node)
    if frame.final:
        return _then(program, node, call("where", predicate))
    program.differs("plain_unchanged", node)
    kept = _expr(f"CASE WHEN {predicate} THEN value END")
    return _then(program, node, call("withColumn", "value", kept))


def map_values(program: Program, node: MapValues) -> Made:
    """``map_values``; in a table a delete stays a delete."""
    text = node.value
    if program.port(node).role == "table":
        text = f"CASE WHEN value IS NOT NULL THEN {text} END"
    return _then(program, node, call("withColumn", "value", _expr(text)))


def map_(program: Program, node: Map) -> Made:
    """``map``: key and value at once."""
    both = Columns((("key", _expr(node.key)), ("value", _expr(node.value))))
    return _then(program, node, call("withColumns", both))


def select_key(program: Program, node: SelectKey) -> Made:
    """``select_key``."""
    return _then(program, node, call("withColumn", "key", _expr(node.key)))


def flat_map(program: Program, node: FlatMap) -> Made:
    """``flat_map``: an array of records, exploded."""
    program.differs("plain_null_array", node)
    parts = Columns((("key", _expr("record.key")), ("value", _expr("record.value"))))
    return _then(
        program,
        node,
        call("withColumn", "record", call("F.explode", _expr(node.records))),
        call("withColumns", parts),
        call("drop", "record"),
    )


def flat_map_values(program: Program, node: FlatMapValues) -> Made:
    """``flat_map_values``: an array of values, exploded."""
    program.differs("plain_null_array", node)
    return _then(program, node, call("withColumn", "value", call("F.explode", _expr(node.values_))))


def split(program: Program, node: Split) -> Made:
    """``split``: a filter for each branch, without the records of earlier branches."""
    frame = program.input(node)
    taken: list[str] = []
    found: dict[str, Frame] = {}
    branches = [(branch.port, branch.predicate) for branch in node.branches]
    if node.default_port:
        branches.append((node.default_port, ""))
    for port, predicate in branches:
        own = [f"({predicate})"] if taken and predicate else [predicate] if predicate else []
        text = " AND ".join([*taken, *own])
        if program.graph.outgoing[node.id]:
            variable = program.step(node, frame, call("where", text), suffix=port)
            found[port] = frame.to(variable, program.port(node, port))
        if predicate:
            taken.append(negated(predicate))
    return found


def peek(program: Program, node: Operator) -> Made:
    """``peek``: forwards records; nothing is logged."""
    program.differs("plain_peek", node)
    return {"out": replace(program.input(node), port=program.port(node))}


def merge(program: Program, node: Operator) -> Made:
    """``merge``: a union. A query has at most one stateful input; several go through topics."""
    frames = program.merged(node)
    if sum(frame.stateful for frame in frames) > 1:
        frames = [through_topic(program, node, frame) for frame in frames]
    first, *others = frames
    more = any(frame.columns != first.columns for frame in others)
    options = {"allowMissingColumns": Name("True")} if more else {}
    unions = tuple(call("unionByName", Name(frame.variable), **options) for frame in others)
    if not unions:
        return {"out": first.to(first.variable, program.port(node))}
    program.differs("plain_order", node, what="the inputs")
    stateful = next((frame for frame in frames if frame.stateful), first)
    columns = tuple(dict.fromkeys(name for frame in frames for name in frame.columns))
    variable = program.assign(node, Chain(Name(first.variable), unions))
    moved = any(frame.moved for frame in frames)
    made = Frame(variable, program.port(node), columns, stateful.mode, stateful.stateful, moved)
    return {"out": made}


def repartition(program: Program, node: Operator) -> Made:
    """``repartition``: drops null keys as in [RP5]; Spark itself shuffles where necessary."""
    made = replace(program.input(node), port=program.port(node), moved=True)
    if node.id not in keeping_null_keys(program.graph):
        made = replace(made, variable=program.step(node, made, call("where", "key IS NOT NULL")))
    return {"out": made}
