"""What a generated job imports: sources, steps, stream tasks, stores and formats of Kafka Streams.

    from millrace_runtime import Job, filter_, json, key_value_store, string

The API is small on purpose: a generated `topology(job)` reads like the drawing it came from. All
durations are whole milliseconds. Expressions are Spark SQL.
"""

from millrace_runtime import main as _main
from millrace_runtime.errors import MillraceError, StreamStopped
from millrace_runtime.formats import (
    Format,
    avro,
    boolean,
    bytes_,
    double,
    float_,
    integer,
    json,
    long,
    protobuf,
    string,
)
from millrace_runtime.job import Job
from millrace_runtime.steps import (
    filter_,
    filter_not,
    flat_map,
    flat_map_values,
    map_,
    map_values,
    select_key,
)
from millrace_runtime.stores import (
    Store,
    key_value_store,
    session_store,
    versioned_store,
    window_store,
)
from millrace_runtime.streams import GlobalTable, GroupedTable, Stream, Table
from millrace_runtime.task import Task

Job.main = staticmethod(_main.main)

__all__ = [
    "Format",
    "GlobalTable",
    "GroupedTable",
    "Job",
    "MillraceError",
    "Store",
    "Stream",
    "StreamStopped",
    "Table",
    "Task",
    "avro",
    "boolean",
    "bytes_",
    "double",
    "filter_",
    "filter_not",
    "flat_map",
    "flat_map_values",
    "float_",
    "integer",
    "json",
    "key_value_store",
    "long",
    "map_",
    "map_values",
    "protobuf",
    "select_key",
    "session_store",
    "string",
    "versioned_store",
    "window_store",
]
