"""The rows that are exchanged between sources, levels and sinks."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

CONTROL = -2

# The columns of every row between sources, levels and sinks, in their order.
ENVELOPE: dict[str, str] = {
    "task": "INT",
    "dest": "INT",
    "merge": "BIGINT",
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "path": "BINARY",
    "key": "BINARY",
    "value": "BINARY",
    "timestamp": "BIGINT",
    "headers": "ARRAY<STRUCT<key: STRING, value: BINARY>>",
    "out_topic": "STRING",
    "out_partition": "INT",
    "partition_key": "BINARY",
    "fault": "STRING",
}


def union(parts: Sequence[DataFrame]) -> DataFrame:
    """Return one DataFrame with the rows of all parts."""
    result = parts[0]
    for part in parts[1:]:
        result = result.unionByName(part)
    return result
