"""The rows between sources, levels and sinks: their columns, and how DataFrames become them."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime import columns
from millrace_runtime.formats import Format
from millrace_runtime.steps import guarded

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


def envelope(
    df: DataFrame,
    *,
    dest: Column,
    task: Column,
    key: Column,
    value: Column,
    out_topic: Column | None = None,
    out_partition: Column | None = None,
) -> DataFrame:
    """The records of a DataFrame as rows of the envelope."""
    sound = F.col("_fault").isNull()
    made = {
        "task": task,
        "dest": dest,
        "merge": F.col("_merge"),
        "topic": F.col("topic"),
        "partition": F.col("partition"),
        "offset": F.col("offset"),
        "path": F.col("_path"),
        "key": F.when(sound, key).otherwise(F.col("_raw_key")),
        "value": F.when(sound, value).otherwise(F.col("_raw_value")),
        "timestamp": F.unix_millis("timestamp"),
        "headers": F.col("_headers"),
        "out_topic": out_topic if out_topic is not None else F.lit(None),
        "out_partition": out_partition if out_partition is not None else F.lit(None),
        "partition_key": F.lit(None),
        "fault": F.col("_fault"),
    }
    return df.select(*(made[name].cast(kind).alias(name) for name, kind in ENVELOPE.items()))


def packed(df: DataFrame, node: str) -> DataFrame:
    """Key and value as the bytes in which records travel to stream tasks."""
    return guarded(
        df,
        {
            "_out_key": (columns.encode(F.col("key"), default_format(df, "key")), "key"),
            "_out_value": (columns.pack(F.col("value")), "value"),
        },
        node,
    )


def sql_type(df: DataFrame, column: str) -> str:
    """The type of a column as Spark SQL writes it."""
    java = df._jdf.schema().apply(column).dataType()
    return str(java.sql())


_FORMATS = {
    "string": "string",
    "int": "integer",
    "bigint": "long",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "binary": "bytes",
}


def default_format(df: DataFrame, column: str) -> Format:
    """The format that fits a column's type: its own, or JSON."""
    kind = df.schema[column].dataType.simpleString()
    if kind in _FORMATS:
        return {"format": _FORMATS[kind]}
    return {"format": "json", "schema": sql_type(df, column)}


def union(parts: Sequence[DataFrame]) -> DataFrame:
    """The rows of all parts."""
    result = parts[0]
    for part in parts[1:]:
        result = result.unionByName(part)
    return result
