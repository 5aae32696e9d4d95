"""A topic between two queries: a streaming query has one step with state in update mode."""

from __future__ import annotations

from millrace_compiler.formats import Format
from millrace_compiler.operator import Operator
from millrace_compiler.plain.formats import decode, json_text
from millrace_compiler.plain.program import HEADERS, Frame, Program, known
from millrace_compiler.plain.text import Chain, Name, call
from millrace_compiler.types import BIGINT, INT, STRING, TIMESTAMP, DataType, parse_type, struct
from millrace_compiler.types import HEADERS as HEADER_MAP

_METADATA = {"topic": STRING, "partition": INT, "offset": BIGINT}


def stateless(program: Program, node: Operator, frame: Frame) -> Frame:
    """A frame after which a step with state may follow: itself, or what it wrote to a topic."""
    return through_topic(program, node, frame) if frame.stateful else frame


def through_topic(program: Program, node: Operator, frame: Frame) -> Frame:
    """Writes a frame to a topic of the program's own and reads it again, times included."""
    if not frame.stateful:
        return frame
    program.differs("plain_updates", node)
    name = f"{program.graph.document.name}-{frame.variable}".replace("_", "-")
    name = "".join(c if c.isalnum() or c in "-." else "-" for c in name)
    row = _row(program, frame)
    fields = ", ".join(row.fields)
    if name not in program.between:
        program.between.append(name)
        written = (
            f"{json_text('struct(key)', struct(key=row.inner[0]))} AS key",
            f"{json_text(f'struct({fields})', row)} AS value",
        )
        rows = Chain(Name(frame.variable), (call("selectExpr", *written),))
        program.say(node, call("kafka.write", rows, name, topic=name, mode=frame.mode))
    row_text = decode("value", Format("json", row))
    steps = (call("selectExpr", f"{row_text} AS row"), call("select", "row.*"))
    variable = program.assign(node, Chain(call("kafka.read", name), steps), "changes")
    return Frame(variable, frame.port, frame.columns)


def _row(program: Program, frame: Frame) -> DataType:
    port = frame.port
    columns = {"key": known(port.key), "value": known(port.value), "timestamp": TIMESTAMP}
    for name in frame.columns:
        as_map = name == "headers" and "headers" in program.metadata
        headers = HEADER_MAP if as_map else parse_type(HEADERS)
        columns[name] = headers if name == "headers" else _METADATA[name]
    return struct(**columns)
