"""The functions that write nodes, by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from millrace_compiler.plain import (
    aggregates,
    joins,
    processors,
    sinks,
    sources,
    stateless,
    suppressing,
    table_joins,
    tables,
)
from millrace_compiler.plain.program import Frame, Program

Writer = Callable[[Program, Any], Mapping[str, Frame]]

WRITERS: dict[str, Writer] = {
    "source.stream": sources.stream,
    "source.table": sources.stream,
    "source.global_table": sources.global_table,
    "source.global_store": sources.global_store,
    "filter": stateless.filter_,
    "filter_not": stateless.filter_,
    "map": stateless.map_,
    "map_values": stateless.map_values,
    "select_key": stateless.select_key,
    "flat_map": stateless.flat_map,
    "flat_map_values": stateless.flat_map_values,
    "peek": stateless.peek,
    "merge": stateless.merge,
    "split": stateless.split,
    "repartition": stateless.repartition,
    "to_table": tables.to_table,
    "to_stream": tables.to_stream,
    "suppress": suppressing.suppress,
    "count": aggregates.aggregation,
    "reduce": aggregates.aggregation,
    "aggregate": aggregates.aggregation,
    "cogroup": aggregates.cogroup,
    "join.stream_stream": joins.stream_stream,
    "join.stream_table": joins.stream_table,
    "join.table_table": table_joins.table_table,
    "join.foreign_key": table_joins.foreign_key,
    "join.stream_global_table": joins.stream_global_table,
    "process": processors.process,
    "process_values": processors.process,
    "sink.topic": sinks.topic,
    "sink.print": sinks.print_,
}
