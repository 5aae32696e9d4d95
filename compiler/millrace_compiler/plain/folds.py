"""Aggregators as one of Spark's aggregates, or as a fold over the values of a group."""

from __future__ import annotations

import re
from dataclasses import dataclass

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.operators.aggregations.aggregate import Aggregate
from millrace_compiler.operators.aggregations.reduce import Reduce
from millrace_compiler.plain.program import Frame, Program, known, reads
from millrace_compiler.plain.text import Call, Chain, call
from millrace_compiler.types.types import DataType

ZERO = re.compile(r"(?i)(cast\(\s*)?0(\.0*)?\s*(l|s|y|d|f|bd)?(\s+as\s+[\w(), ]+\))?")
_SUMS = (re.compile(r"(?is)\s*agg\s*\+\s*(.+)"), re.compile(r"(?is)(.+)\+\s*agg\s*"))
_TERM = r"[\w.]+(?:\s*\*\s*[\w.]+)*|\w*\([^()+-]*\)"
_BEST = {
    "greatest": ("F.max", re.compile(r"(?is)\s*greatest\(\s*agg\s*,\s*value\s*\)\s*")),
    "least": ("F.min", re.compile(r"(?is)\s*least\(\s*agg\s*,\s*value\s*\)\s*")),
}


@dataclass(frozen=True)
class Folded:
    """The aggregate in the column `value`, and the expression over it that gives the result."""

    column: Call | Chain
    result: str = "value"


def added_by(aggregator: str) -> str | None:
    """The x of an aggregator `agg + x` or `x + agg`; ``None`` for other forms."""
    for pattern in _SUMS:
        found = pattern.fullmatch(aggregator)
        if found and not reads(found[1], "agg"):
            return found[1].strip()
    return None


def adds(merger: str | None) -> bool:
    """Whether a merger adds the aggregates of two sessions."""
    return re.sub(r"\s", "", str(merger)) in ("left+right", "right+left")


def cast(column: Call, type_: DataType) -> Chain:
    """A cast of a column to a type."""
    return Chain(column, (call("cast", type_.text),))


def aggregated(program: Program, node: Aggregate) -> Folded:
    """The aggregate of an `aggregate` node over a stream."""
    type_ = known(node.type)
    added = added_by(node.aggregator)
    session = node.window is not None and node.window.type == "session"
    program.differs("plain_aggregate_null", node)
    if added is not None and ZERO.fullmatch(node.initializer.strip()):
        if session and not adds(node.merger):
            raise no_session(program, node)
        return Folded(cast(call("F.sum", call("F.expr", added)), type_))
    if session:
        raise no_session(program, node)
    return _fold(*fold_of_values(program, node, type_))


def reduced(program: Program, node: Reduce, frame: Frame) -> Folded:
    """The aggregate of a `reduce` node over a stream."""
    type_ = known(frame.port.value)
    added = added_by(node.reducer)
    windowed = node.window is not None
    for name, pattern in _BEST.values():
        if pattern.fullmatch(node.reducer):
            return Folded(call(name, "value"))
    if added is not None and re.fullmatch(r"\(?\s*value\s*\)?", added):
        if windowed:
            program.differs("plain_aggregate_null", node)
        return Folded(cast(call("F.sum", "value"), type_))
    if node.window is not None and node.window.type == "session":
        raise no_session(program, node)
    return _fold(*fold_of_values(program, node, type_))


def fold_of_values(program: Program, node: Aggregate | Reduce, type_: DataType) -> tuple[str, str]:
    """The start of a fold over `agg` and `value`, and its expression for each value."""
    if program.mixes(node):
        program.differs("plain_fold_order", node)
    if isinstance(node, Aggregate):
        refuse_time(program, node, node.aggregator)
        start = f"CAST({node.initializer} AS {type_.text})"
        return start, f"CAST({node.aggregator} AS {type_.text})"
    refuse_time(program, node, node.reducer)
    each = f"CASE WHEN agg IS NULL THEN value ELSE CAST({node.reducer} AS {type_.text}) END"
    return f"CAST(NULL AS {type_.text})", each


def _fold(start: str, each: str) -> Folded:
    collected = call("F.collect_list", call("F.struct", "value"))
    return Folded(collected, f"aggregate(value.value, {start}, (agg, value) -> {each})")


def once(value: str, agg: str, text: str, type_: DataType) -> str:
    """The expression `text` over `agg` and `value`, with values for both."""
    return f"aggregate(array({value}), {agg}, (agg, value) -> CAST({text} AS {type_.text}))"


def taken_by(subtractor: str) -> str | None:
    """The x of a subtractor `agg - x`, if it is a single term."""
    found = re.fullmatch(rf"(?is)\s*agg\s*-\s*({_TERM})\s*", subtractor)
    return None if found is None or reads(found[1], "agg") else found[1]


def no_session(program: Program, node: Operator) -> Exception:
    """A refusal of sessions whose aggregates Spark cannot merge."""
    return program.refuse(
        "plain_kind", node, "window",
        reason="merging sessions support only counts, sums, minima and maxima",
        instead="use the aggregator agg + x, the initializer 0 and the merger left + right",
    )  # fmt: skip


def refuse_time(program: Program, node: Operator, text: str) -> None:
    """Refuses an expression that reads the time of each record of a group."""
    if reads(text, "timestamp"):
        raise program.refuse("plain_column", node, None, column="timestamp", kind="groupBy")
