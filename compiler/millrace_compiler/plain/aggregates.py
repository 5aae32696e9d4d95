"""Aggregations of streams: `groupBy` with a watermark and a window, and Spark's own aggregates.

An expression that Spark has an aggregate for becomes that (`agg + x` is a sum). Any other is a fold
over the values of the group, which Spark's state then keeps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from millrace_compiler.operator import Operator
from millrace_compiler.operators.aggregations.aggregate import Aggregate
from millrace_compiler.operators.aggregations.base import Aggregation
from millrace_compiler.operators.aggregations.cogroup import Cogroup
from millrace_compiler.operators.aggregations.reduce import Reduce
from millrace_compiler.operators.tables.suppress import Suppress
from millrace_compiler.plain.between import stateless
from millrace_compiler.plain.program import Frame, Program, interval, known, reads
from millrace_compiler.plain.text import Call, Chain, Expr, Name, call
from millrace_compiler.types import DataType
from millrace_compiler.windows import Window

Made = Mapping[str, Frame]

_ZERO = re.compile(r"(?i)(cast\(\s*)?0(\.0*)?\s*(l|s|y|d|f|bd)?(\s+as\s+[\w(), ]+\))?")
_SUMS = (re.compile(r"(?is)\s*agg\s*\+\s*(.+)"), re.compile(r"(?is)(.+)\+\s*agg\s*"))
_BEST = {
    "greatest": ("F.max", re.compile(r"(?is)\s*greatest\(\s*agg\s*,\s*value\s*\)\s*")),
    "least": ("F.min", re.compile(r"(?is)\s*least\(\s*agg\s*,\s*value\s*\)\s*")),
}


@dataclass(frozen=True)
class _Folded:
    """What `agg` computes under the name value, and what makes the result of it."""

    column: Call | Chain
    result: str = "value"


def aggregation(program: Program, node: Aggregation) -> Made:
    """``count``, ``reduce`` and ``aggregate`` of a stream."""
    frame = program.input(node)
    if frame.port.role == "table":
        raise program.refuse(
            "plain_kind", node, "in",
            reason="an aggregation cannot take an old row of a table out again",
            instead="aggregate the stream that the table is made of",
        )  # fmt: skip
    _refuse_window(program, node, node.window)
    frame = stateless(program, node, frame)
    steps = []
    if node.group_by is not None:
        steps.append(call("withColumn", "key", call("F.expr", node.group_by.key)))
    folded = _folded(program, node, frame)
    return _grouped(program, node, frame, steps, folded, node.emit)


def cogroup(program: Program, node: Cogroup) -> Made:
    """``cogroup``: a union of what each input adds, summed."""
    _refuse_window(program, node, node.window)
    sums = [_sum(item.aggregator) for item in node.inputs_]
    if None in sums or not _ZERO.fullmatch(node.initializer.strip()):
        raise program.refuse(
            "plain_kind", node, "inputs",
            reason="inputs with different aggregators can share state only as a sum",
            instead="write each aggregator as agg + x, from 0",
        )  # fmt: skip
    program.differs("plain_aggregate_null", node)
    parts: list[str] = []
    frames = []
    for item, added in zip(node.inputs_, sums, strict=True):
        frame = stateless(program, node, program.input(node, item.port))
        key = item.group_by.key if item.group_by else "key"
        where = "" if node.window else " AND value IS NOT NULL"
        steps = (
            call("where", f"({key}) IS NOT NULL{where}"),
            call("selectExpr", key if key == "key" else f"{key} AS key", f"{added} AS value",
                 "timestamp"),
        )  # fmt: skip
        parts.append(program.step(node, frame, *steps, suffix=item.port))
        frames.append(frame)
    united = frames[0].to(parts[0], replace(frames[0].port, value=node.type))
    unions = [call("unionByName", Name(part)) for part in parts[1:]]
    column = _cast(call("F.sum", "value"), known(node.type))
    return _grouped(program, node, united, unions, _Folded(column), "every_update", checked=True)


# ---- windows ------------------------------------------------------------------------------------


def _refuse_window(program: Program, node: Operator, window: Window | None) -> None:
    if window is not None and window.type == "sliding":
        raise program.refuse(
            "plain_kind", node, "window",
            reason="its windows start at fixed times, not at each record",
            instead="use a hopping window",
        )  # fmt: skip


def _grouped(
    program: Program,
    node: Operator,
    frame: Frame,
    before: list[Call],
    folded: _Folded,
    emit: str,
    *,
    checked: bool = False,
) -> Made:
    """Filter, watermark, groupBy, agg, and the columns of the result."""
    window: Window | None = getattr(node, "window", None)
    steps = [*before]
    if not checked:
        steps.append(call("where", _kept(program, node, window)))
    else:
        program.drops_nulls(node, "a null key or value")
    groups: list[Expr] = ["key"]
    if window is not None and window.type in ("tumbling", "hopping", "session"):
        steps.append(call("withWatermark", "timestamp", interval(window.part("grace"))))
        groups.insert(0, _window(window))
        program.differs("plain_late", node)
    latest = Chain(call("F.max", "timestamp"), (call("alias", "timestamp"),))
    value = folded.column
    aliased = (*value.calls, call("alias", "value")) if isinstance(value, Chain) else None
    column = (
        Chain(value.base, aliased)
        if isinstance(value, Chain) and aliased
        else (
            Chain(value, (call("alias", "value"),))  # type: ignore[arg-type]
        )
    )
    steps += [call("groupBy", *groups), call("agg", column, latest)]
    if window is not None and window.type == "hopping":
        steps.append(call("where", "window.start >= timestamp_millis(0)"))
    columns = (_key(window), _named(folded.result), "timestamp")
    if columns != ("key", "value", "timestamp"):
        steps.append(call("selectExpr", *columns))
    variable = program.assign(node, Chain(Name(frame.variable), tuple(steps)))
    program.differs("plain_headers", node)
    final = emit == "window_close" or (window is not None and window.type == "session")
    if window is not None and window.type == "session" and not _finals_only(program, node):
        program.differs("plain_session_final", node)
    elif not final:
        program.differs("plain_updates", node)
    program.differs("plain_order", node, what="keys")
    mode = "append" if final else "update"
    return {"out": Frame(variable, program.port(node), (), mode, True)}  # type: ignore[arg-type]


def _kept(program: Program, node: Operator, window: Window | None) -> str:
    """Which records count: without a window none with a null value."""
    program.drops_nulls(node, "a null key" if window else "a null key or value")
    kept = "key IS NOT NULL" if window else "key IS NOT NULL AND value IS NOT NULL"
    if window is not None and window.type == "unlimited":
        kept += f" AND timestamp >= timestamp_millis({window.part('start')})"
    return kept


def _window(window: Window) -> Expr:
    if window.type == "session":
        # A distance equal to the gap still is one session in Kafka Streams.
        made = call("F.session_window", "timestamp", interval(window.part("gap") + 1))
    elif window.type == "hopping":
        size, advance = interval(window.part("size")), interval(window.part("advance"))
        made = call("F.window", "timestamp", size, advance)
    else:
        made = call("F.window", "timestamp", interval(window.part("size")))
    return Chain(made, (call("alias", "window"),))


def _key(window: Window | None) -> str:
    if window is None:
        return "key"
    if window.type == "unlimited":
        start = f"timestamp_millis({window.part('start')})"
        bounds = f"named_struct('start', {start}, 'end', CAST(NULL AS TIMESTAMP))"
    elif window.type == "session":
        last = f"window.end - INTERVAL '{interval(window.part('gap') + 1)}'"
        bounds = f"named_struct('start', window.start, 'end', {last})"
    else:
        bounds = "window"
    return f"named_struct('key', key, 'window', {bounds}) AS key"


def _named(text: str) -> str:
    return text if text == "value" else f"{text} AS value"


def _finals_only(program: Program, node: Operator) -> bool:
    """Whether nothing but final results is wanted of a windowed table."""
    if getattr(node, "emit", "") == "window_close":
        return True
    after = [program.graph.operators[edge.target] for edge in program.graph.outgoing[node.id]]
    return bool(after) and all(
        isinstance(each, Suppress) and each.until == "window_closes" for each in after
    )


# ---- the aggregates themselves ------------------------------------------------------------------


def _sum(aggregator: str) -> str | None:
    """What `agg + x` adds."""
    for pattern in _SUMS:
        found = pattern.fullmatch(aggregator)
        if found and not reads(found[1], "agg"):
            return found[1].strip()
    return None


def _cast(column: Call, type_: DataType) -> Chain:
    return Chain(column, (call("cast", type_.text),))


def _folded(program: Program, node: Aggregation, frame: Frame) -> _Folded:
    if isinstance(node, Reduce):
        return _reduced(program, node, frame)
    if isinstance(node, Aggregate):
        return _aggregated(program, node)
    return _Folded(call("F.count", "*"))


def _aggregated(program: Program, node: Aggregate) -> _Folded:
    type_ = known(node.type)
    added = _sum(node.aggregator)
    session = node.window is not None and node.window.type == "session"
    program.differs("plain_aggregate_null", node)
    if added is not None and _ZERO.fullmatch(node.initializer.strip()):
        if session and re.sub(r"\s", "", str(node.merger)) not in ("left+right", "right+left"):
            raise _no_session(program, node)
        return _Folded(_cast(call("F.sum", call("F.expr", added)), type_))
    if session:
        raise _no_session(program, node)
    _refuse_time(program, node, node.aggregator)
    start = f"CAST({node.initializer} AS {type_.text})"
    return _fold(start, f"CAST({node.aggregator} AS {type_.text})")


def _reduced(program: Program, node: Reduce, frame: Frame) -> _Folded:
    type_ = known(frame.port.value)
    added = _sum(node.reducer)
    windowed = node.window is not None
    for name, pattern in _BEST.values():
        if pattern.fullmatch(node.reducer):
            return _Folded(call(name, "value"))
    if added is not None and re.fullmatch(r"\(?\s*value\s*\)?", added):
        if windowed:
            program.differs("plain_aggregate_null", node)
        return _Folded(_cast(call("F.sum", "value"), type_))
    if node.window is not None and node.window.type == "session":
        raise _no_session(program, node)
    _refuse_time(program, node, node.reducer)
    each = f"CASE WHEN agg IS NULL THEN value ELSE CAST({node.reducer} AS {type_.text}) END"
    return _fold(f"CAST(NULL AS {type_.text})", each)


def _fold(start: str, each: str) -> _Folded:
    collected = call("F.collect_list", call("F.struct", "value"))
    return _Folded(collected, f"aggregate(value.value, {start}, (agg, value) -> {each})")


def _no_session(program: Program, node: Operator) -> Exception:
    return program.refuse(
        "plain_kind", node, "window",
        reason="sessions that merge can only be counted, summed, or give the highest or lowest",
        instead="write the aggregator as agg + x, from 0, with the merger left + right",
    )  # fmt: skip


def _refuse_time(program: Program, node: Operator, text: str) -> None:
    if reads(text, "timestamp"):
        raise program.refuse("plain_column", node, None, column="timestamp", kind="groupBy")
