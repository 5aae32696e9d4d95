"""Aggregations: `groupBy` with a watermark and a window, and Spark's own aggregates.

An expression is written as one of Spark's aggregates if possible (`agg + x` is a sum), otherwise
as a fold over all values of the group, which Spark's state then contains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.operators.aggregations.aggregate import Aggregate
from millrace_compiler.operators.aggregations.base import Aggregation
from millrace_compiler.operators.aggregations.cogroup import Cogroup
from millrace_compiler.operators.aggregations.reduce import Reduce
from millrace_compiler.parameters.windows import Window
from millrace_compiler.plain.between import stateless
from millrace_compiler.plain.finals import finals_only
from millrace_compiler.plain.folds import (
    ZERO,
    Folded,
    added_by,
    adds,
    aggregated,
    cast,
    no_session,
    once,
    reduced,
    refuse_time,
    taken_by,
)
from millrace_compiler.plain.grouping import changes_by_group
from millrace_compiler.plain.keeping import slides
from millrace_compiler.plain.program import Frame, Program, in_brackets, interval, known
from millrace_compiler.plain.sliding import sliding
from millrace_compiler.plain.text import Call, Chain, Expr, Name, call
from millrace_compiler.types.types import quote

Made = Mapping[str, Frame]


def aggregation(program: Program, node: Aggregation) -> Made:
    """``count``, ``reduce`` and ``aggregate`` of a stream or a table."""
    if program.takes_table(node):
        return _of_table(program, node)
    frame = program.input(node)
    if slides(node):
        return sliding(program, node)
    frame = stateless(program, node, frame)
    steps = []
    if node.group_by is not None:
        steps.append(call("withColumn", "key", call("F.expr", node.group_by.key)))
    folded = _folded(program, node, frame)
    return _grouped(program, node, frame, steps, folded, node.emit)


def _of_table(program: Program, node: Aggregation) -> Made:
    """An aggregation of a table: each change removes the old row and adds the new one."""
    frame = changes_by_group(program, node)
    rows = call("selectExpr", "key", "value.value", "value.sign", "timestamp")
    folded = _folded_changes(program, node)
    return _grouped(program, node, frame, [rows], folded, node.emit, filtered=True)


def cogroup(program: Program, node: Cogroup) -> Made:
    """``cogroup``: a sum over the union of the inputs, or a fold with the input of each value."""
    if slides(node):
        raise program.refuse(
            "plain_kind", node, "window",
            reason="sliding windows are supported for one input only",
            instead="use a hopping window",
        )  # fmt: skip
    sums = [added_by(item.aggregator) for item in node.inputs_]
    summed = None not in sums and bool(ZERO.fullmatch(node.initializer.strip()))
    session = node.window is not None and node.window.type == "session"
    if session and not (summed and adds(node.merger)):
        raise no_session(program, node)
    program.differs("plain_aggregate_null", node)
    parts: list[str] = []
    frames = []
    for item, added in zip(node.inputs_, sums, strict=True):
        frame = stateless(program, node, program.input(node, item.port))
        key = item.group_by.key if item.group_by else "key"
        where = f"{in_brackets(key)} IS NOT NULL{_within(node.window)}"
        named = "key" if key == "key" else f"{key} AS key"
        value = [f"{added} AS value"] if summed else [
            f"'{item.port}' AS input", f"value AS {quote(item.port)}"
        ]  # fmt: skip
        steps = (
            call("where", where),
            call("selectExpr", named, *value, "timestamp"),
        )
        parts.append(program.step(node, frame, *steps, suffix=item.port))
        frames.append(frame)
    united = frames[0].to(parts[0], replace(frames[0].port, value=node.type))
    missing = {} if summed else {"allowMissingColumns": Name("True")}
    unions = [call("unionByName", Name(part), **missing) for part in parts[1:]]
    program.drops_nulls(node, "a null key or value")
    folded = (
        Folded(cast(call("F.sum", "value"), known(node.type)))
        if summed
        else _cogrouped(program, node)
    )
    return _grouped(program, node, united, unions, folded, "every_update", filtered=True)


def _cogrouped(program: Program, node: Cogroup) -> Folded:
    """A fold over the values of all inputs, each with the aggregator of its input."""
    type_ = known(node.type)
    cases = []
    for item in node.inputs_:
        refuse_time(program, node, item.aggregator)
        value = f"record.{quote(item.port)}"
        cases.append(f"WHEN '{item.port}' THEN {once(value, 'agg', item.aggregator, type_)}")
    program.differs("plain_fold_order", node)
    collected = call("F.struct", "input", *(item.port for item in node.inputs_))
    start = f"CAST({node.initializer} AS {type_.text})"
    each = f"CASE record.input {' '.join(cases)} END"
    return Folded(
        call("F.collect_list", collected), f"aggregate(value, {start}, (agg, record) -> {each})"
    )


# ---- windows ------------------------------------------------------------------------------------


def _grouped(
    program: Program,
    node: Operator,
    frame: Frame,
    before: list[Call],
    folded: Folded,
    emit: str,
    *,
    filtered: bool = False,
) -> Made:
    """Filter, watermark, groupBy, agg, and the columns of the result."""
    window: Window | None = getattr(node, "window", None)
    if window is not None and window.unit is not None:
        raise program.refuse(
            "plain_kind", node, "window",
            reason="Spark's windows have one size and no time zone",
            instead="use a size and an offset, or the exact dialect",
        )  # fmt: skip
    if window is not None and window.code is not None:
        raise program.refuse(
            "plain_kind", node, "window",
            reason="Spark's windows cannot be those of a function",
            instead="use a size and an offset, or the exact dialect",
        )  # fmt: skip
    steps = [*before]
    if not filtered:
        steps.append(call("where", _kept(program, node, window)))
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
    if window is not None and window.type == "session" and not finals_only(program, node):
        program.differs("plain_session_final", node)
    elif not final:
        program.differs("plain_updates", node)
    program.differs("plain_order", node, what="keys")
    mode = "append" if final else "update"
    made = Frame(variable, program.port(node), (), mode, True, final=final)  # type: ignore[arg-type]
    return {"out": made}


def _kept(program: Program, node: Operator, window: Window | None) -> str:
    """The filter of records to aggregate; without a window it drops null values."""
    program.drops_nulls(node, "a null key" if window else "a null key or value")
    return f"key IS NOT NULL{_within(window)}"


def _within(window: Window | None) -> str:
    """The condition on records beside a key that is not null."""
    if window is None:
        return " AND value IS NOT NULL"
    if window.type == "unlimited":
        return f" AND timestamp >= timestamp_millis({window.part('start')})"
    return ""


def _window(window: Window) -> Expr:
    if window.type == "session":
        # In Kafka Streams, records whose distance equals the gap are in one session.
        made = call("F.session_window", "timestamp", interval(window.part("gap") + 1))
    else:
        advance = (interval(window.part("advance")),) if window.type == "hopping" else ()
        offset = window.part("offset")
        start = {"startTime": interval(offset)} if offset else {}
        made = call("F.window", "timestamp", interval(window.part("size")), *advance, **start)
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
    elif window.type == "tumbling" and window.part("offset"):
        # The first window begins at the epoch, not before it [TW1].
        start = "greatest(window.start, timestamp_millis(0))"
        bounds = f"named_struct('start', {start}, 'end', window.end)"
    else:
        bounds = "window"
    return f"named_struct('key', key, 'window', {bounds}) AS key"


def _named(text: str) -> str:
    return text if text == "value" else f"{text} AS value"


# ---- aggregates ---------------------------------------------------------------------------------


def _folded(program: Program, node: Aggregation, frame: Frame) -> Folded:
    if isinstance(node, Reduce):
        return reduced(program, node, frame)
    if isinstance(node, Aggregate):
        return aggregated(program, node)
    return Folded(call("F.count", "*"))


def _folded_changes(program: Program, node: Aggregation) -> Folded:
    """The aggregate over removed rows, with sign -1, and added rows, with sign 1."""
    type_ = known(program.port(node).value)
    if not isinstance(node, Aggregate | Reduce):
        return Folded(call("F.sum", "sign"))
    adder = node.aggregator if isinstance(node, Aggregate) else node.reducer
    subtractor = str(node.subtractor)
    added, taken = added_by(adder), taken_by(subtractor)
    zero = isinstance(node, Reduce) or ZERO.fullmatch(node.initializer.strip())
    if added is not None and added == taken and zero:
        if added != "value":
            program.differs("plain_aggregate_null", node)
        return Folded(cast(call("F.sum", call("F.expr", f"sign * {added}")), type_))
    for text in (adder, subtractor):
        refuse_time(program, node, text)
    start = f"CAST(NULL AS {type_.text})"
    before = "agg"
    if isinstance(node, Aggregate):
        before = f"coalesce(agg, CAST({node.initializer} AS {type_.text}))"
    put = once("change.value", before, adder, type_)
    if isinstance(node, Reduce):
        put = f"CASE WHEN agg IS NULL THEN change.value ELSE {put} END"
    take = once("change.value", "agg", subtractor, type_)
    each = f"CASE WHEN change.sign > 0 THEN {put} WHEN agg IS NOT NULL THEN {take} END"
    program.differs("plain_fold_order", node)
    collected = call("F.collect_list", call("F.struct", "sign", "value"))
    return Folded(collected, f"aggregate(value, {start}, (agg, change) -> {each})")
