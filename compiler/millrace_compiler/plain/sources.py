"""Topics as DataFrames: `kafka.read` for streams and tables, `kafka.table` for lookups."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.operators.sources.base import Source, TimedSource
from millrace_compiler.operators.sources.global_store import SourceGlobalStore
from millrace_compiler.operators.sources.global_table import SourceGlobalTable
from millrace_compiler.operators.sources.stream import SourceStream
from millrace_compiler.parameters.formats import Format
from millrace_compiler.plain.formats import CORRUPT, FOREIGN, byte_length, decode, has_other_keys
from millrace_compiler.plain.keeping import keeps_rows
from millrace_compiler.plain.program import PLACE, Frame, Program
from millrace_compiler.plain.text import Call, Chain, Expr, call
from millrace_compiler.types.types import TIMESTAMP

_PARTS = ("key", "value")


def stream(program: Program, node: TimedSource) -> Mapping[str, Frame]:
    """``source.stream`` and ``source.table``: the records of topics; a table is its changes."""
    _check(program, node)
    kept = set(program.metadata)
    if program.reaches(node, lambda other: bool(other.topic_parameters)):
        kept.add("headers")
    if program.reaches(node, lambda other: other.runs_python):
        kept |= {"headers", *PLACE}
    if program.reaches(node, lambda other: keeps_rows(program, other)):
        kept |= set(PLACE)
    columns = tuple(sorted(kept, key=lambda name: (name != "headers", name)))
    steps = [
        *_whole(program, node),
        _decoded(program, node, ("timestamp", *columns)),
        *_readable(program, node),
        *_timed(program, node),
    ]
    if program.port(node).role == "table":
        steps.append(call("where", "key IS NOT NULL"))
        program.drops_nulls(node, "a null key")
        if node.history is not None:
            raise program.refuse(
                "plain_kind",
                node,
                "store",
                reason="tables have no versions",
                instead="a store.key_value",
            )
    variable = program.assign(node, Chain(_read(node), tuple(steps)))
    program.differs("plain_failed_batch", node)
    return {"out": Frame(variable, program.port(node), columns)}


def table_now(program: Program, node: Source) -> str:
    """The latest row of each key of a source's topic, read again in each micro-batch."""
    [topic] = node.topic_names()
    steps = [
        *_whole(program, node),
        _decoded(program, node, ("offset",)),
        call("where", "key IS NOT NULL"),
        call("groupBy", "key"),
        call("agg", Chain(call("F.max_by", "value", "offset"), (call("alias", "value"),))),
        call("where", "value IS NOT NULL"),
    ]
    return program.assign(node, Chain(call("kafka.table", topic), tuple(steps)), "now")


def global_table(program: Program, node: SourceGlobalTable) -> Mapping[str, Frame]:
    """``source.global_table``: no statement, since the joins that use it read the topic."""
    _check_formats(program, node)
    return {"out": Frame("", program.port(node))}


def global_store(program: Program, node: SourceGlobalStore) -> Mapping[str, Frame]:
    """``source.global_store``: refused."""
    reason = "Spark has no state that every task reads, but one task writes"
    raise program.refuse("plain_source", node, "topic", reason=reason, instead="a global table")


def _check(program: Program, node: TimedSource) -> None:
    _check_formats(program, node)
    if node.read_by():
        reason = "programs of the plain dialect read only topics"
        raise program.refuse("plain_source", node, "reader", reason=reason, instead="read a topic")
    if node.invalid_timestamp == "partition_time":
        reason = "Spark does not track the highest timestamp of a partition"
        raise program.refuse(
            "plain_source", node, "invalid_timestamp", reason=reason, instead="choose skip"
        )


def _check_formats(program: Program, node: Source) -> None:
    for part in _PARTS:
        format_: Format = getattr(node, part)
        if format_.name in FOREIGN:
            raise program.refuse("plain_format", node, part, format=format_.name)
        if format_.name == "json" and format_.type and has_other_keys(format_.type):
            reason = "from_json reads maps with STRING keys only"
            raise program.refuse(
                "plain_source", node, part, reason=reason, instead="declare a MAP<STRING, …>"
            )


def _read(node: Source) -> Call:
    options: dict[str, Expr] = {}
    if isinstance(node, TimedSource) and node.start != "earliest":
        options["starting"] = node.start
    if isinstance(node, SourceStream) and node.topic_pattern:
        return call("kafka.read", pattern=node.topic_pattern, **options)
    return call("kafka.read", *node.topic_names(), **options)


def _decoded(program: Program, node: Source, columns: tuple[str, ...]) -> Call:
    kept = [
        "map_from_entries(headers) AS headers"
        if name == "headers" and "headers" in program.metadata
        else name
        for name in columns
    ]
    decoded = []
    for part in _PARTS:
        format_: Format = getattr(node, part)
        text = decode(part, format_, keep_corrupt=_continues(program) and _is_struct(format_))
        decoded.append(text if text == part else f"{text} AS {part}")
    return call("selectExpr", *decoded, *kept)


def _continues(program: Program) -> bool:
    return program.settings.get("deserialization_handler") == "continue"


def _whole(program: Program, node: Source) -> list[Call]:
    """Drop numbers that are too short or too long if the handler is `continue`."""
    lengths = [(part, byte_length(getattr(node, part))) for part in _PARTS]
    return [
        call("where", f"{part} IS NULL OR length({part}) = {length}")
        for part, length in lengths
        if length and _continues(program)
    ]


def _is_struct(format_: Format) -> bool:
    return format_.name == "json" and format_.type is not None and format_.type.name == "STRUCT"


def _readable(program: Program, node: Source) -> list[Call]:
    """Drop unreadable records if the handler is `continue`."""
    if not _continues(program):
        return []
    steps = []
    for part in _PARTS:
        format_: Format = getattr(node, part)
        if _is_struct(format_):
            steps.append(call("where", f"{part}.{CORRUPT} IS NULL"))
            dropped = Chain(call("F.col", part), (call("dropFields", CORRUPT),))
            steps.append(call("withColumn", part, dropped))
        elif format_.name == "json":
            raise program.refuse(
                "plain_handler", node, part, reason=f"a {format_.name} that fails stops the query"
            )
    program.drops_nulls(node, "bytes that cannot be read")
    return steps


def _timed(program: Program, node: TimedSource) -> list[Call]:
    """Replace the timestamp by the source's timestamp expression, if there is one."""
    if not node.timestamp:
        return []
    text = node.timestamp
    if program.type_of(text, program.port(node)) != TIMESTAMP:
        text = f"timestamp_millis({text})"
    valid = "timestamp >= timestamp_millis(0)"
    steps = [call("withColumn", "timestamp", call("F.expr", text))]
    if node.invalid_timestamp == "skip":
        program.drops_nulls(node, "an invalid timestamp")
        return [*steps, call("where", valid)]
    wrong = "raise_error('The timestamp is null or negative.')"
    return [*steps, call("where", f"if(coalesce({valid}, false), true, {wrong})")]
