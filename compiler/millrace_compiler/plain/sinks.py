"""Sinks: topics and the console."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.operators.sinks.print import SinkPrint
from millrace_compiler.operators.sinks.topic import SinkTopic
from millrace_compiler.parameters.formats import Format, format_of
from millrace_compiler.plain.formats import FOREIGN, encode, windowed_text
from millrace_compiler.plain.program import Frame, Program, known
from millrace_compiler.plain.text import Call, Chain, Expr, Name, call


def topic(program: Program, node: SinkTopic) -> Mapping[str, Frame]:
    """``sink.topic``: one query for each input."""
    for part in (node.key, node.value):
        if part is not None and part.name in FOREIGN:
            which = "key" if part is node.key else "value"
            raise program.refuse("plain_format", node, which, format=part.name)
    program.differs("plain_sink_timestamp", node)
    frames = program.inputs(node)
    if len(frames) > 1:
        program.differs("plain_order", node, what="the inputs")
    for number, frame in enumerate(frames):
        name = node.id if not number else f"{node.id}-{number + 1}"
        options: dict[str, Expr] = {"topic": node.topic} if node.topic else {}
        if frame.mode != "append":
            options["mode"] = frame.mode
        rows = _encoded(program, node, frame)
        program.add(node, call("kafka.write", rows, name, **options))
    return {}


def _encoded(program: Program, node: SinkTopic, frame: Frame) -> Chain:
    columns = [f"{node.topic_expression} AS topic"] if node.topic_expression else []
    for part, chosen, found in (
        ("key", node.key, frame.port.key),
        ("value", node.value, frame.port.value),
    ):
        format_: Format = chosen or format_of(known(found))
        inner = frame.port.inner_key
        if part == "key" and frame.port.window and inner and format_.name == "json":
            text = windowed_text(part, inner)
        else:
            text = encode(part, format_, known(found))
        columns.append(text if text == part else f"{text} AS {part}")
    if "headers" in frame.columns:
        as_map = "headers" in program.metadata
        columns.append("map_entries(headers) AS headers" if as_map else "headers")
    if node.partition:
        columns.append(f"CAST({node.partition} AS INT) AS partition")
    return Chain(Name(frame.variable), (call("selectExpr", *columns),))


def print_(program: Program, node: SinkPrint) -> Mapping[str, Frame]:
    """``sink.print``: a query for each input, to Spark's console."""
    for number, frame in enumerate(program.inputs(node)):
        name = node.id if not number else f"{node.id}-{number + 1}"
        mode: dict[str, Expr] = {} if frame.mode == "append" else {"mode": frame.mode}
        shown: Call = call("kafka.show", Name(frame.variable), name, **mode)
        program.add(node, shown)
    return {}
