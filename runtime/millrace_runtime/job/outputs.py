"""Outputs of a job other than the broker: functions and DataFrames of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace_model.graphs import TaskGraph
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it
from pyspark.sql.streaming.readwriter import DataStreamWriter

from millrace_runtime import columns
from millrace_runtime.errors import FAULT_MARK, MillraceError, refusal

if TYPE_CHECKING:
    from millrace_runtime.job.job import Job, Query
    from millrace_runtime.job.kafka import Kafka
    from millrace_runtime.job.outside import BatchFunction

STOP = -1
# Spark's local property with the id of the query.
_QUERY = "sql.streaming.queryId"


def into(writer: DataStreamWriter, kafka: Kafka, plan: Query, job: Job) -> DataStreamWriter:
    """Return the query's writer: to the broker, and to the functions of the program if any.

    A batch is written to the topics before the functions are called. If a record stops the job,
    they are not called, and get the whole batch when it is run again.
    """
    functions = job.outside.functions
    if not functions:
        return kafka.into(writer, plan.graph, job.settings)
    name = kafka.sink(plan.graph, job.settings)
    targets = {_dest(plan.graph, node): node for node in functions}

    def take(batch: DataFrame, number: int) -> None:
        # The rows must be computed only once, because that changes the tasks' state.
        batch = batch.persist()
        try:
            query = batch.sparkSession.sparkContext.getLocalProperty(_QUERY)
            written = batch.where(~F.col("dest").isin(*targets))
            columns.gateway().KafkaSink.write(written._jdf, name, query, number)
            for dest, node in targets.items():
                _call(functions[node], node, _shown(batch, plan.graph, dest), number)
        finally:
            batch.unpersist()

    return writer.foreachBatch(take)


def _call(function: BatchFunction, node: str, batch: DataFrame, number: int) -> None:
    try:
        function(batch, number)
    except Exception as error:
        # Spark passes on only the traceback; `explain` finds the error in it.
        reason = f"{type(error).__name__}: {error}".split("\n", 1)[0]
        text = f"The function at {node} failed in batch {number}: {reason}"
        facts = {"node": node, "batch": number, "reason": reason}
        failed = MillraceError("function_failed", text, facts=facts)
        raise RuntimeError(refusal(failed)) from error


def dataframe(plan: Query, node: str) -> DataFrame:
    """Return the records of a sink; a record that stops the job fails the query."""
    dest = _dest(plan.graph, node)
    fault = F.raise_error(F.concat(F.lit(FAULT_MARK[:-1]), F.col("fault"))).cast("boolean")
    sound = plan.rows.where(F.when(F.col("dest") == STOP, fault).otherwise(F.col("dest") == dest))
    return _shown(sound, plan.graph, dest)


def _shown(rows: DataFrame, graph: TaskGraph, dest: int) -> DataFrame:
    """Return the rows of a sink as records with decoded keys and values."""
    params = graph["nodes"][dest]["params"]
    return rows.where(F.col("dest") == dest).select(
        columns.decode(F.col("key"), params["key"]).alias("key"),
        columns.decode(F.col("value"), params["value"]).alias("value"),
        F.timestamp_millis("timestamp").alias("timestamp"),
        "headers",
    )


def _dest(graph: TaskGraph, node: str) -> int:
    nodes = enumerate(graph["nodes"])
    return next(i for i, each in nodes if each["node"] == node and each["op"] == "to")
