"""Kafka Streams topologies as Python programs that run on Spark.

    from millrace_runtime import Topology, json, string, tumbling

    topology = Topology("purchases-per-hour")
    orders = topology.stream("orders", key=string(), value=json("item STRING, quantity INT"))
    per_hour = orders.group_by("value.item").windowed_by(tumbling("1 hour")).count()
    per_hour.to("purchases-per-hour")

    if __name__ == "__main__":
        topology.main()

Expressions are Spark SQL. Durations are whole milliseconds or text such as "5 minutes".
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace_runtime.dsl.fragments import (
        Fragment,
        FragmentInput,
        FragmentOutput,
        fragment,
        fragment_output,
        global_table_input,
        parameter,
        stream_input,
        table_input,
    )
    from millrace_runtime.dsl.readers import Reader, reader
    from millrace_runtime.dsl.records import GlobalTable
    from millrace_runtime.dsl.stores import (
        Store,
        key_value_store,
        session_store,
        versioned_store,
        window_store,
    )
    from millrace_runtime.dsl.streams import (
        CogroupedStream,
        GroupedStream,
        GroupedTable,
        Stream,
        Table,
    )
    from millrace_runtime.dsl.topology import Topology
    from millrace_runtime.dsl.windows import (
        custom_windows,
        hopping,
        sessions,
        sliding,
        tumbling,
        unlimited,
        until_time_limit,
        until_window_closes,
        within,
    )
    from millrace_runtime.errors import MillraceError, ProgramError, StreamStopped
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
        session_windowed,
        string,
        time_windowed,
    )
    from millrace_runtime.processor import (
        STREAM_TIME,
        WALL_CLOCK_TIME,
        Processor,
        ProcessorContext,
        Record,
    )
    from millrace_runtime.processor.handling import (
        DeadLetter,
        FailedRecord,
        RecordError,
        Response,
    )
    from millrace_runtime.processor.stores import (
        AggregationWithHeaders,
        KeyValueStore,
        ReadOnlyKeyValueStore,
        ReadOnlySessionStore,
        ReadOnlyVersionedStore,
        ReadOnlyWindowStore,
        SessionStore,
        ValueAndTimestamp,
        ValueTimestampHeaders,
        VersionedStore,
        Window,
        Windowed,
        WindowStore,
    )
    from millrace_runtime.processor.values import FrozenStruct, Struct
    from millrace_runtime.session.session import spark_session

# Names are imported on first use: the process of a processor must not load the compiler.
_HOMES = {
    "dsl.fragments": (
        "Fragment",
        "FragmentInput",
        "FragmentOutput",
        "fragment",
        "fragment_output",
        "global_table_input",
        "parameter",
        "stream_input",
        "table_input",
    ),
    "dsl.readers": ("Reader", "reader"),
    "dsl.stores": (
        "Store",
        "key_value_store",
        "session_store",
        "versioned_store",
        "window_store",
    ),
    "dsl.records": ("GlobalTable",),
    "dsl.streams": (
        "CogroupedStream",
        "GroupedStream",
        "GroupedTable",
        "Stream",
        "Table",
    ),
    "dsl.topology": ("Topology",),
    "dsl.windows": (
        "custom_windows",
        "hopping",
        "sessions",
        "sliding",
        "tumbling",
        "unlimited",
        "until_time_limit",
        "until_window_closes",
        "within",
    ),
    "errors": (
        "MillraceError",
        "ProgramError",
        "StreamStopped",
    ),
    "formats": (
        "Format",
        "avro",
        "boolean",
        "bytes_",
        "double",
        "float_",
        "integer",
        "json",
        "long",
        "protobuf",
        "session_windowed",
        "string",
        "time_windowed",
    ),
    "processor": (
        "STREAM_TIME",
        "WALL_CLOCK_TIME",
        "Processor",
        "ProcessorContext",
        "Record",
    ),
    "session.session": ("spark_session",),
    "processor.handling": ("DeadLetter", "FailedRecord", "RecordError", "Response"),
    "processor.stores": (
        "AggregationWithHeaders",
        "KeyValueStore",
        "ReadOnlyKeyValueStore",
        "ReadOnlySessionStore",
        "ReadOnlyVersionedStore",
        "ReadOnlyWindowStore",
        "SessionStore",
        "ValueAndTimestamp",
        "ValueTimestampHeaders",
        "VersionedStore",
        "Window",
        "Windowed",
        "WindowStore",
    ),
    "processor.values": ("FrozenStruct", "Struct"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


__all__ = [
    "STREAM_TIME",
    "WALL_CLOCK_TIME",
    "AggregationWithHeaders",
    "CogroupedStream",
    "DeadLetter",
    "FailedRecord",
    "Format",
    "Fragment",
    "FragmentInput",
    "FragmentOutput",
    "FrozenStruct",
    "GlobalTable",
    "GroupedStream",
    "GroupedTable",
    "KeyValueStore",
    "MillraceError",
    "Processor",
    "ProcessorContext",
    "ProgramError",
    "ReadOnlyKeyValueStore",
    "ReadOnlySessionStore",
    "ReadOnlyVersionedStore",
    "ReadOnlyWindowStore",
    "Reader",
    "Record",
    "RecordError",
    "Response",
    "SessionStore",
    "Store",
    "Stream",
    "StreamStopped",
    "Struct",
    "Table",
    "Topology",
    "ValueAndTimestamp",
    "ValueTimestampHeaders",
    "VersionedStore",
    "Window",
    "WindowStore",
    "Windowed",
    "avro",
    "boolean",
    "bytes_",
    "custom_windows",
    "double",
    "float_",
    "fragment",
    "fragment_output",
    "global_table_input",
    "hopping",
    "integer",
    "json",
    "key_value_store",
    "long",
    "parameter",
    "protobuf",
    "reader",
    "session_store",
    "session_windowed",
    "sessions",
    "sliding",
    "spark_session",
    "stream_input",
    "string",
    "table_input",
    "time_windowed",
    "tumbling",
    "unlimited",
    "until_time_limit",
    "until_window_closes",
    "versioned_store",
    "window_store",
    "within",
]
