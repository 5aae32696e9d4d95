"""Stateless steps over a DataFrame: `df.transform(map_values("id", "upper(value)"))`.

A DataFrame of records has the columns that expressions see (key, value, timestamp, headers, topic,
partition, offset) and a few hidden ones whose names start with an underscore:

`_merge`, `_path`   the record's place: records are processed in the order of (merge, topic,
                    partition, offset, path), however the input is cut into micro-batches
`_headers`          the headers as a list, in their order
`_raw_key`, `_raw_value`   the source record's own bytes, for dead letters
`_fault`            null, or why a step failed (JSON); later steps leave such a record alone
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime import columns
from millrace_runtime.lineage import stepped

Step: TypeAlias = Callable[[DataFrame], DataFrame]

VISIBLE = ("key", "value", "timestamp", "headers", "topic", "partition", "offset")
HIDDEN = ("_merge", "_path", "_headers", "_raw_key", "_raw_value", "_fault")


def guarded(
    df: DataFrame,
    results: dict[str, tuple[str | Column, str]],
    node: str,
    kind: str = "processing",
) -> DataFrame:
    """Adds one column per result, computed only for records without a fault.

    `results`: column name -> (expression, the parameter it came from). The first that raises
    becomes the record's fault; the results of a record with a fault are null.
    """
    sound = F.col("_fault").isNull()
    for name, (expression, parameter) in results.items():
        made = F.expr(expression) if isinstance(expression, str) else expression
        df = df.withColumn(
            f"_tried_{name}", columns.attempt(F.when(sound, made), node, parameter, kind)
        )
    tried = {name: F.col(f"_tried_{name}") for name in results}
    faults = [tried[name].getField("fault") for name in results]
    df = df.withColumn("_fault", F.coalesce(F.col("_fault"), *faults))
    for name in results:
        df = df.withColumn(name, tried[name].getField("value"))
    return df.drop(*(f"_tried_{name}" for name in results))


def filter_(id: str, predicate: str, *, node: str | None = None) -> Step:
    """Keeps the records for which the predicate is true; null counts as false."""
    return _filter(id, node or id, predicate, keep=True)


def filter_not(id: str, predicate: str, *, node: str | None = None) -> Step:
    """Keeps the records for which the predicate is not true."""
    return _filter(id, node or id, predicate, keep=False)


def _filter(id: str, node: str, predicate: str, *, keep: bool) -> Step:
    def step(df: DataFrame) -> DataFrame:
        df = guarded(df, {"_kept": (predicate, "predicate")}, node)
        passes = F.coalesce(F.col("_kept"), F.lit(False))
        passes = passes if keep else ~passes
        return df.where(F.col("_fault").isNotNull() | passes).drop("_kept")

    return _counted(step, id, node)


def _counted(step: Step, id: str, node: str) -> Step:
    """The step, its records counted where a driver wants to know."""

    def counted(df: DataFrame) -> DataFrame:
        return stepped(df, step(df), id, node)

    return counted


def map_(id: str, key: str, value: str, *, node: str | None = None) -> Step:
    """A new key and a new value for each record; both expressions see the old ones."""

    def step(df: DataFrame) -> DataFrame:
        df = guarded(df, {"_key": (key, "key"), "_value": (value, "value")}, node or id)
        return _replace(df, key="_key", value="_value")

    return _counted(step, id, node or id)


def map_values(id: str, value: str, *, node: str | None = None) -> Step:
    """A new value for each record."""

    def step(df: DataFrame) -> DataFrame:
        return _replace(guarded(df, {"_value": (value, "value")}, node or id), value="_value")

    return _counted(step, id, node or id)


def select_key(id: str, key: str, *, node: str | None = None) -> Step:
    """A new key for each record. A step for another node makes the key that it groups by."""
    parameter = "key" if node in (None, id) else "group_by"

    def step(df: DataFrame) -> DataFrame:
        return _replace(guarded(df, {"_key": (key, parameter)}, node or id), key="_key")

    return _counted(step, id, node or id)


def _replace(df: DataFrame, **made: str) -> DataFrame:
    for name, column in made.items():
        df = df.withColumn(name, F.col(column))
    return df.drop(*made.values())


def flat_map(id: str, records: str, *, node: str | None = None) -> Step:
    """Any number of records for each one: `records` is an ARRAY<STRUCT<key, value>>.

    An empty array gives nothing, a null one is a processing error.
    """

    def step(df: DataFrame) -> DataFrame:
        df = _explode(df, records, "records", node or id)
        fields = df.schema["_item"].dataType.fieldNames()  # type: ignore[attr-defined]
        df = df.withColumn("key", F.col("_item").getField(fields[0]))
        return df.withColumn("value", F.col("_item").getField(fields[1])).drop("_item")

    return _counted(step, id, node or id)


def flat_map_values(id: str, values: str, *, node: str | None = None) -> Step:
    """Any number of values for each record: `values` is an ARRAY.

    An empty array gives nothing, a null one is a processing error.
    """

    def step(df: DataFrame) -> DataFrame:
        df = _explode(df, values, "values", node or id)
        return df.withColumn("value", F.col("_item")).drop("_item")

    return _counted(step, id, node or id)


def _explode(df: DataFrame, array: str, parameter: str, node: str) -> DataFrame:
    """One row per element in `_item`, its place added to `_path`; a fault keeps its one row."""
    missing = F.raise_error(F.lit(f"{parameter} is null: an array is needed"))
    made = F.expr(array)
    df = guarded(df, {"_items": (F.coalesce(made, missing), parameter)}, node)
    items = F.when(F.col("_fault").isNotNull(), F.array(F.lit(None))).otherwise(F.col("_items"))
    kept = [name for name in df.columns if name != "_items"]
    df = df.select(*kept, F.posexplode(items).alias("_position", "_item"))
    place = columns.append(F.col("_path"), F.col("_position"))
    return df.withColumn("_path", place).drop("_position")
