"""Topics between queries: in update mode, a streaming query has at most one stateful step."""

from __future__ import annotations

from dataclasses import replace

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.parameters.formats import Format
from millrace_compiler.plain.formats import (
    as_numbers,
    decode,
    has_time,
    json_text,
    to_numbers,
    to_times,
)
from millrace_compiler.plain.program import HEADERS, PLACE, Frame, Program, known
from millrace_compiler.plain.text import Chain, Columns, Expr, Name, call
from millrace_compiler.types.types import (
    BIGINT,
    INT,
    STRING,
    TIMESTAMP,
    DataType,
    parse_type,
    struct,
)
from millrace_compiler.types.types import HEADERS as HEADER_MAP

_METADATA = {"topic": STRING, "partition": INT, "offset": BIGINT}


def stateless(program: Program, node: Operator, frame: Frame) -> Frame:
    """A frame that a stateful step can follow: itself, or read back from a topic."""
    return through_topic(program, node, frame)


def through_topic(program: Program, node: Operator, frame: Frame) -> Frame:
    """Writes a stateful frame to an internal topic and reads it back, with its timestamps."""
    if not frame.stateful:
        return frame
    wanted = (name for name in frame.columns if name == "headers" or name in program.metadata)
    return _written(program, node, replace(frame, columns=tuple(wanted)))


def in_tasks(program: Program, node: Operator, frame: Frame) -> Frame:
    """A frame with the columns of a record's partition, which is its task, and offset.

    A frame that Kafka Streams would repartition is written to an internal topic.
    """
    if not frame.moved and set(PLACE) <= set(frame.columns):
        return frame
    kept = replace(frame, columns=tuple(name for name in frame.columns if name not in PLACE))
    return _written(program, node, kept, *PLACE)


def placed(program: Program, node: Operator, frame: Frame) -> Frame:
    """A frame with partition and offset, for a step that needs the order of records.

    A stateful frame is written to an internal topic, which gives its rows an order.
    """
    if not frame.stateful and set(PLACE) <= set(frame.columns):
        return frame
    return _written(program, node, replace(frame, columns=()), *PLACE)


def _written(program: Program, node: Operator, frame: Frame, *place: str) -> Frame:
    if frame.mode == "update":
        program.differs("plain_updates", node)
    name = f"{program.graph.document.name}-{program.origins[frame.variable]}".replace("_", "-")
    if place and program.metadata & set(PLACE):
        name += "-tasks"  # There may be another topic, whose rows contain their original place.
    name = "".join(c if c.isalnum() or c in "-." else "-" for c in name)
    row = _row(program, frame)
    numbers = as_numbers(row)
    columns = list(zip(row.fields, row.inner, strict=True))
    if name not in program.between:
        program.between.append(name)
        timed = [
            f"{to_numbers(column, type_)} AS {column}" if has_time(type_) else column
            for column, type_ in columns
        ]
        whole = ", ".join(timed)
        written = (
            f"{json_text(f'struct({timed[0]})', struct(key=numbers.inner[0]))} AS key",
            f"{json_text(f'struct({whole})', numbers)} AS value",
        )
        rows = Chain(Name(frame.variable), (call("selectExpr", *written),))
        mode: dict[str, Expr] = {} if frame.mode == "append" else {"mode": frame.mode}
        program.add(node, call("kafka.write", rows, name, topic=name, **mode))
    times = [
        (column, call("F.expr", to_times(column, type_)))
        for column, type_ in columns
        if has_time(type_)
    ]
    steps = (
        call("selectExpr", f"{decode('value', Format('json', numbers))} AS row", *place),
        call("select", "row.*", *place),
        call("withColumns", Columns(tuple(times))),
    )
    variable = program.assign(node, Chain(call("kafka.read", name), steps), "changes")
    return Frame(variable, frame.port, (*frame.columns, *place))


def _row(program: Program, frame: Frame) -> DataType:
    port = frame.port
    columns = {"key": known(port.key), "value": known(port.value), "timestamp": TIMESTAMP}
    for name in frame.columns:
        as_map = name == "headers" and "headers" in program.metadata
        headers = HEADER_MAP if as_map else parse_type(HEADERS)
        columns[name] = headers if name == "headers" else _METADATA[name]
    return struct(**columns)
