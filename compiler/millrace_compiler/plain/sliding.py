"""Sliding windows: state keeps the records of a key; each record emits the windows it changes."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.operators.aggregations.aggregate import Aggregate
from millrace_compiler.operators.aggregations.base import Aggregation
from millrace_compiler.operators.aggregations.reduce import Reduce
from millrace_compiler.plain.finals import finals_only
from millrace_compiler.plain.folds import fold_of_values
from millrace_compiler.plain.formats import as_numbers
from millrace_compiler.plain.keeping import check_types, numbered, results, rows_of, transform
from millrace_compiler.plain.program import PLACE, Frame, Program, in_brackets, interval, known
from millrace_compiler.plain.text import Chain, Name, call
from millrace_compiler.types.types import BIGINT, parse_type


def sliding(program: Program, node: Aggregation) -> Mapping[str, Frame]:
    """An aggregation in sliding windows, computed from the records of each window."""
    window = node.window
    if window is None or not window.part("difference"):
        raise program.refuse(
            "plain_kind", node, "window",
            reason="a sliding window needs a difference greater than 0",
            instead="choose a difference",
        )  # fmt: skip
    difference, grace = window.part("difference"), window.part("grace")
    frame = rows_of(program, node)
    group = node.group_by.key if node.group_by else "key"
    key, value = known(program.port(node).inner_key), known(frame.port.value)
    check_types(program, node, key, value)
    final = finals_only(program, node)
    size, type_ = Name(str(difference)), as_numbers(value).text
    processor = call("SlidingWindows", size, type_, **({"final": Name("True")} if final else {}))
    records = parse_type(f"ARRAY<{value.text}>")
    columns = {"key": key, "start": BIGINT, "records": records}
    bounds = f"timestamp_millis(start) AS start, timestamp_millis(start + {difference}) AS end"
    steps = [
        call("where", f"{in_brackets(group)} IS NOT NULL AND value IS NOT NULL"),
        call("selectExpr", numbered(group, key, "key"), numbered("value", value), "timestamp",
             "unix_millis(timestamp) AS time", *PLACE),
        call("withWatermark", "timestamp", interval(difference + grace + 1)),
        call("groupBy", "key"),
        transform(processor, columns, "eventTime"),
        *results(
            columns,
            f"named_struct('key', key, 'window', struct({bounds})) AS key",
            f"{_folded(program, node)} AS value",
        ),
    ]  # fmt: skip
    program.drops_nulls(node, "a null key or value")
    for code in ("plain_late", "plain_headers", "plain_packages"):
        program.differs(code, node)
    program.differs("plain_order", node, what="keys")
    variable = program.assign(node, Chain(Name(frame.variable), tuple(steps)))
    return {"out": Frame(variable, program.port(node), (), "append", True, final=final)}


def _folded(program: Program, node: Aggregation) -> str:
    if not isinstance(node, Aggregate | Reduce):
        return "CAST(size(records) AS BIGINT)"
    if isinstance(node, Aggregate):
        program.differs("plain_aggregate_null", node)
    type_ = known(program.port(node).value)
    start, step = fold_of_values(program, node, type_)
    return f"aggregate(records, {start}, (agg, value) -> {step})"
