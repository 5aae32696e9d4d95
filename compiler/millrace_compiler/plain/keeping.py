"""Helpers for stateful steps by `transformWithState`, on rows in the order of a topic."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.operators.aggregations.base import Aggregation, Windowed
from millrace_compiler.operators.joins.foreign_key import JoinForeignKey
from millrace_compiler.operators.joins.stream_table import JoinStreamTable
from millrace_compiler.operators.joins.table_table import JoinTableTable
from millrace_compiler.operators.processors.base import ProcessorNode
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.operators.stateless.filter import Filter
from millrace_compiler.operators.stateless.map_values import MapValues
from millrace_compiler.operators.tables.suppress import Suppress
from millrace_compiler.plain.between import placed
from millrace_compiler.plain.formats import as_numbers, has_time, to_numbers, to_times
from millrace_compiler.plain.program import PLACE, Frame, Program, reads
from millrace_compiler.plain.text import Call, call
from millrace_compiler.types.types import DataType

_TYPES = {
    "STRING", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL",
    "BINARY", "STRUCT", "ARRAY", "MAP", "TIMESTAMP",
}  # fmt: skip
#: Key types whose serialized bytes are known, so that rows can be iterated in their order.
ORDERED = {"STRING", "BINARY", "INT", "BIGINT"}


def keeps_rows(program: Program, node: Operator) -> bool:
    """Whether a node keeps rows by key, so that it needs the order of its records."""
    return bool(parts_of(program, node)) and not node.runs_python


def parts_of(program: Program, node: Operator) -> tuple[str, ...]:
    """Names of the parts that implement a node's state where Spark has no operator for it."""
    match node:
        case ProcessorNode():
            return ("processor", "key_bytes", "in_order")
        case Aggregation() if slides(node):
            return ("sliding", "in_order")
        case Aggregation() if program.takes_table(node):
            return ("table_changes", "in_order")
        case JoinStreamTable() if topic_path(program, node) is None:
            return ("table_lookup", "in_order")
        case JoinTableTable():
            return ("table_join", "in_order")
        case JoinForeignKey():
            return ("references", "foreign_key_join", "in_order")
        case Suppress(until="time_limit"):
            return ("suppress", "key_bytes", "in_order")
    return ()


def topic_path(program: Program, node: Operator) -> tuple[Source, list[Filter | MapValues]] | None:
    """The source of a lookup's table, and the steps after it; None for a computed table."""
    path: list[Filter | MapValues] = []
    at = program.graph.operators[program.graph.inputs[node.id]["right"][0].source]
    while isinstance(at, Filter | MapValues):
        path.insert(0, at)
        at = program.graph.operators[program.graph.inputs[at.id]["in"][0].source]
    return (at, path) if isinstance(at, Source) else None


def slides(node: Operator) -> bool:
    """Whether a node has sliding windows."""
    return isinstance(node, Windowed) and node.window is not None and node.window.type == "sliding"


def rows_of(program: Program, node: Operator, port: str = "in") -> Frame:
    """The input of a port, with partition and offset. Versioned tables are refused."""
    frame = program.input(node, port)
    if frame.port.history is not None:
        raise program.refuse(
            "plain_kind", node, port, reason="tables have no versions", instead="a store.key_value"
        )
    return placed(program, node, frame)


def check_types(program: Program, node: Operator, *types: DataType, keys: int = 0) -> None:
    """Refuses types that Python's rows do not support. The first `keys` must be hashable."""
    for number, type_ in enumerate(types):
        names = names_in(type_)
        if not names <= _TYPES or (number < keys and names & {"ARRAY", "MAP", "BINARY"}):
            reason = f"Python has no type for {type_.text}"
            raise program.refuse("plain_kind", node, reason=reason, instead="another type")


def names_in(type_: DataType) -> set[str]:
    """The name of a type and those of the types in it."""
    return {type_.name}.union(*(names_in(inner) for inner in type_.inner))


def refuse_columns(program: Program, node: Operator, parameter: str, *columns: str) -> None:
    """Refuses an expression that reads columns that a result of the node does not have."""
    text = str(node.values[parameter])
    for column in columns:
        if reads(text, column):
            raise program.refuse(
                "plain_column", node, parameter, column=column, kind="transformWithState"
            )


def numbered(name: str, type_: DataType, alias: str = "") -> str:
    """The select expression for a column, with milliseconds in place of timestamps."""
    text, alias = to_numbers(name, type_), alias or name
    return text if text == alias else f"{text} AS {alias}"


def place() -> tuple[str, ...]:
    """The select expressions of the columns by which the rows of a key are sorted."""
    return ("unix_millis(timestamp) AS timestamp", *PLACE)


def transform(processor: Call, columns: Mapping[str, DataType], time: str = "none") -> Call:
    """The call of `transformWithState`; its result has milliseconds in place of timestamps."""
    made = ", ".join(f"{name} {as_numbers(type_).text}" for name, type_ in columns.items())
    return call(
        "transformWithState",
        processor,
        outputStructType=f"{made}, timestamp BIGINT",
        outputMode="append",
        timeMode=time,
    )


def results(columns: Mapping[str, DataType], *selected: str) -> list[Call]:
    """Selects from the columns of a `transform`, with milliseconds as timestamps again."""
    time = "timestamp_millis(timestamp) AS timestamp"
    timed = any(has_time(type_) for type_ in columns.values())
    if not timed and not any(reads(each, "timestamp") for each in selected):
        return [call("selectExpr", *selected, time)]
    found = [
        f"{to_times(name, type_)} AS {name}" if has_time(type_) else name
        for name, type_ in columns.items()
    ]
    return [call("selectExpr", *found, time), call("selectExpr", *selected, "timestamp")]


def note_changes(program: Program, node: Operator) -> None:
    """Reports the differences of all steps that keep rows and emit their changes."""
    program.differs("plain_headers", node)
    program.differs("plain_order", node, what="keys")
    program.differs("plain_packages", node)
