"""DataFrames as sources: the records of a reader or of a DataFrame of the program.

Like a record of Kafka, a record of a DataFrame has a topic, a partition and an offset. By default,
Kafka's partitioner assigns the partition, and offsets are in the order in which Spark reads the
rows. Within a micro-batch, a task processes records in the order of their timestamps, and records
with equal timestamps in the order of their offsets.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from millrace_compiler import ExpressionRequest
from millrace_model.graphs import GraphNode
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it
from pyspark.sql.types import (
    BinaryType,
    DataType,
    IntegralType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from millrace_runtime import columns
from millrace_runtime.analyzer.compiling import SessionAnalyzer
from millrace_runtime.errors import MillraceError, refusal
from millrace_runtime.formats import Format
from millrace_runtime.job.environment import Timed
from millrace_runtime.job.kafka import with_time
from millrace_runtime.job.outside import GIVEN
from millrace_runtime.job.reader_places import ALLOWED, check_allowed, node_error, refuse_function

if TYPE_CHECKING:
    from millrace_runtime.job.outside import Frame

_PARTS: tuple[Literal["key", "value"], ...] = ("key", "value")
_OPTIONAL = ("headers", "topic", "partition", "offset")


def records(session: SparkSession, node: GraphNode, frame: Frame | None) -> DataFrame:
    """Return the records of a source node, with the columns of `Environment.read`.

    `frame`: the program's DataFrame, if the node reads one. Raises MillraceError `reader_…` at the
    node.
    """
    made = _Source(node).records(session, frame)
    if not made.isStreaming:
        raise node_error(
            node,
            "reader_not_streaming",
            "The DataFrame is not a streaming DataFrame. Use spark.readStream.",
        )
    return made


class _Source:
    def __init__(self, node: GraphNode) -> None:
        self.node, self.params = node, node["params"]
        self.topic = self.params["topics"][0]

    def records(self, session: SparkSession, frame: Frame | None) -> DataFrame:
        df = self._read(session) if frame is None else frame
        try:
            df = self._selected(df(session) if callable(df) else df)
            for part in _PARTS:
                df = self._encoded(df, part)
            df = self._placed(df)
            # Spark reports some errors of expressions and types only here.
            return df.select(
                "key", "value", "topic", "partition", "offset", "timestamp", "headers", "merge"
            )
        except PySparkException as error:
            raise self._refused(error) from None

    def _read(self, session: SparkSession) -> DataFrame:
        reader = self.params["reader"]
        if reader["format"] == GIVEN:
            raise self._error(
                "reader_of_program",
                "The DataFrame is defined in the program. Run the program, not its document.",
            )
        check_allowed(self.node, os.environ.get(ALLOWED))
        stream = session.readStream.format(reader["format"]).options(**reader["options"])
        try:
            schema = reader.get("schema")
            return (stream.schema(schema) if schema else stream).load()
        except (PySparkException, Py4JJavaError) as error:
            raise self._refused(error) from None

    def _selected(self, df: DataFrame) -> DataFrame:
        """Select the columns of a record: computed by expressions, or existing ones by name."""
        given = self.params["reader"]["columns"]
        self._check(df, given)
        found = {name: F.expr(text) for name, text in given.items()}
        wanted = ("key", "value", "timestamp", *_OPTIONAL)
        found |= {name: F.col(name) for name in wanted if name in df.columns and name not in found}
        needed = ["key", "value", *([] if self.params.get("timestamp") else ["timestamp"])]
        known = ", ".join(df.columns)
        for name in needed:
            if name not in found:
                raise self._error(
                    "reader_columns",
                    f"There is no column {name} among {known}. Select one AS {name}, or set "
                    f"columns={{{name!r}: ...}} of the reader.",
                    facts={"column": name, "known": known},
                )
        return df.select(*(column.alias(name) for name, column in found.items()))

    def _check(self, df: DataFrame, given: Mapping[str, str]) -> None:
        """Check expressions as in a document: no function may read the machine."""
        seen = tuple((f.name, f.dataType.simpleString()) for f in df.schema.fields)
        asked = [ExpressionRequest(text, seen) for text in given.values()]
        answers = SessionAnalyzer(df.sparkSession).analyze(asked) if asked else []
        for name, answer in zip(given, answers, strict=True):
            if answer.error is not None:
                raise self._error(
                    "reader_expression",
                    f"The column {name}: {answer.error.message}",
                    "reader_columns",
                    facts={"column": name, "reason": answer.error.message},
                )

    def _placed(self, df: DataFrame) -> DataFrame:
        timestamp = _time(df) if "timestamp" in df.columns else F.timestamp_millis(F.lit(-1))
        made = df.select(
            "key",
            "value",
            timestamp.alias("timestamp"),
            _headers(df).alias("headers"),
            F.lit(self.topic).alias("topic"),
            (F.col("topic") if "topic" in df.columns else F.lit(self.topic)).alias("_topic"),
            (F.col("partition") if "partition" in df.columns else F.lit(None))
            .cast("int")
            .alias("_partition"),
            (F.col("offset") if "offset" in df.columns else columns.row_number())
            .cast("bigint")
            .alias("offset"),
        )
        made = made.withColumn("partition", self._partition())
        refuse_function(self.node)
        expression = self.params.get("timestamp")
        key, value = self.params["key"], self.params["value"]
        timed = [Timed((self.topic,), None, key, value, expression)] if expression else []
        made = with_time(made, timed).drop("topic").withColumnRenamed("_topic", "topic")
        # An invalid time does not affect the order; the source refuses the record.
        return made.withColumn("merge", F.coalesce(F.col("_time"), F.lit(0)))

    def _partition(self) -> Column:
        """Return the record's own partition, else that of its key, else that of its value."""
        count = int(self.params["partitions"])
        placed = F.coalesce(F.col("key"), F.col("value"))
        given = F.col("_partition")
        # The number of the partition replaces the # in the message.
        error = self._error(
            "reader_partition",
            f"{self.topic} has {count} partitions, found the partition #",
            facts={"topic": self.topic, "count": count},
        )
        before, after = refusal(error).rsplit("#", 1)
        wrong = F.concat(F.lit(before), given.cast("string"), F.lit(after))
        return F.when(given.isNull(), columns.partition_for(placed, count)).otherwise(
            F.when((given >= 0) & (given < count), given).otherwise(
                F.raise_error(wrong).cast("int")
            )
        )

    def _encoded(self, df: DataFrame, part: Literal["key", "value"]) -> DataFrame:
        """Encode key or value in the source's format; bytes stay as they are.

        Fields of structs are matched by name.
        """
        chosen: Format = self.params[part]
        at = (str(self.node["node"]), part)
        found, needed = df.schema[part].dataType, _type_of(df.sparkSession, chosen, at)
        if isinstance(found, BinaryType):
            return df
        text = chosen["format"] == "json" and not isinstance(needed, StringType)
        if isinstance(found, StringType) and text:
            return df.withColumn(part, F.encode(F.col(part), "UTF-8"))
        fields = [StructField(f.name, needed) if f.name == part else f for f in df.schema.fields]
        try:
            fitted = df.to(StructType(fields))
        except PySparkException:
            raise self._error(
                "reader_types",
                f"The column {part} is {found.simpleString()}; its format needs "
                f"{needed.simpleString()}, or bytes.",
                part,
                facts={
                    "column": part,
                    "found": found.simpleString(),
                    "needed": needed.simpleString(),
                },
            ) from None
        return fitted.withColumn(part, columns.encode(F.col(part), chosen, at=at))

    def _refused(self, error: PySparkException | Py4JJavaError) -> MillraceError:
        java = getattr(error, "java_exception", None)
        first = str(error if java is None else java.getMessage()).strip().splitlines()[0]
        return self._error("reader_refused", f"Spark rejects it: {first}", facts={"reason": first})

    def _error(
        self,
        code: str,
        message: str,
        parameter: str = "reader",
        *,
        facts: Mapping[str, object] | None = None,
    ) -> MillraceError:
        return node_error(self.node, code, message, parameter, facts=facts)


def _type_of(session: SparkSession, format: Format, at: columns.Place) -> DataType:
    nothing = F.lit(None).cast("binary")
    return (
        session.range(0)
        .select(columns.decode(nothing, format, at=at).alias("x"))
        .schema[0]
        .dataType
    )


def _time(df: DataFrame) -> Column:
    """Return the column as TIMESTAMP; null becomes -1 ms, which sources refuse."""
    time = F.col("timestamp")
    if isinstance(df.schema["timestamp"].dataType, IntegralType):
        time = F.timestamp_millis(time)
    return F.coalesce(time.cast("timestamp"), F.timestamp_millis(F.lit(-1)))


def _headers(df: DataFrame) -> Column:
    if "headers" not in df.columns:
        return F.lit(None).cast(columns.HEADERS)
    headers = F.col("headers")
    if isinstance(df.schema["headers"].dataType, MapType):
        headers = F.map_entries(headers)
    return headers.cast(columns.HEADERS)
