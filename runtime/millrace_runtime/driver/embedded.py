"""`Topology.start`: runs a topology on a Spark session and a broker of the caller."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace_compiler.state.state_schema import state_schema
from millrace_model.notes import Notes
from pyspark.sql import DataFrame, SparkSession

from millrace_runtime import columns
from millrace_runtime.analyzer.compiling import compiled, session_analyzer
from millrace_runtime.checkpoint import checkpoint as checkpoints
from millrace_runtime.checkpoint.moving import Move
from millrace_runtime.checkpoint.opening import StateOpening
from millrace_runtime.checkpoint.storage import folder_of
from millrace_runtime.errors import MillraceError
from millrace_runtime.job import outputs
from millrace_runtime.job.job import Job, Query
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.job.runnable import Runnable
from millrace_runtime.session.session import SEMANTICS

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

log = logging.getLogger(__name__)


def start(
    topology: Runnable,
    spark: SparkSession,
    bootstrap_servers: str | None,
    *,
    checkpoint: str,
    options: Mapping[str, str] | None,
    trigger: str,
    available_now: bool,
    max_records: int,
) -> StreamingQuery:
    """Start the query and return it; see `Topology.start`."""
    _check(spark)
    checkpoints.settle(checkpoint)
    compilation = compiled(topology.document, session_analyzer(spark), topology.places)
    state = StateOpening(state_schema(compilation), checkpoints.notes_of(checkpoint), {})
    kafka = _kafka(topology, spark, bootstrap_servers, options, max_records)
    job = Job(
        spark, kafka, compilation.require_task_graph(), name=topology.name, run=kafka.run,
        updates=True, state=state, outside=topology.outside,
    )  # fmt: skip
    query = _planned(spark, kafka, job)

    def move(before: Notes, now: Notes) -> str:
        return Move(
            spark, folder_of(checkpoint), before, now, job.graph, kafka.client, None,
            job.exactly_once, log.info,
        ).run()  # fmt: skip

    location = checkpoints.open_checkpoint(
        checkpoint, query.graph, query.shuffle_partitions, clock=job.uses_wall_clock, state=state,
        move=move,
    )  # fmt: skip
    writer = query.rows.writeStream.outputMode("update")
    writer = writer.queryName(topology.name)
    writer = writer.option("checkpointLocation", location)
    writer = outputs.into(writer, kafka, query, job)
    if available_now:
        started = writer.trigger(availableNow=True).start()
    else:
        started = writer.trigger(processingTime=trigger).start()
    if state.waiting:
        threading.Thread(target=_note_when_committed, args=(started, state), daemon=True).start()
    return started


def dataframe(
    topology: Runnable,
    node: str,
    spark: SparkSession,
    *,
    bootstrap_servers: str | None,
    options: Mapping[str, str] | None,
    max_records: int,
) -> DataFrame:
    """Return the records of a sink; see `Writable.to_dataframe`.

    Raises MillraceError `dataframe_sinks` if there are other sinks, which would not be written.
    """
    _check(spark)
    analyzer = session_analyzer(spark)
    graph = compiled(topology.document, analyzer, topology.places).require_task_graph()
    kafka = _kafka(topology, spark, bootstrap_servers, options, max_records)
    job = Job(spark, kafka, graph, name=topology.name, run=kafka.run, outside=topology.outside)
    written = {str(each["node"]) for each in graph["nodes"] if each["op"] in ("to", "print")}
    if written != {node} or job.sink_topics:
        others = ", ".join(sorted((written - {node}) | set(job.sink_topics)))
        raise MillraceError(
            "dataframe_sinks",
            f"The query that reads this DataFrame would not write {others}. Use foreach_batch in "
            "addition to other sinks, or a separate topology.",
            node=node,
        )
    return outputs.dataframe(_planned(spark, kafka, job), node)


def _kafka(
    topology: Runnable,
    spark: SparkSession,
    bootstrap_servers: str | None,
    options: Mapping[str, str] | None,
    max_records: int,
) -> Kafka:
    run = f"{topology.name}-{uuid.uuid4().hex[:8]}"
    return Kafka(
        spark, bootstrap_servers, options=dict(options or {}), max_records=max_records, run=run
    )


def _planned(spark: SparkSession, kafka: Kafka, job: Job) -> Query:
    """Return the query of a job, after checking its topics and creating missing sink topics."""
    kafka.wall_clock = job.uses_wall_clock
    spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
    kafka.read_whole(job.global_topics, job.found_topics(kafka))
    return job.query()


def _note_when_committed(query: StreamingQuery, state: StateOpening) -> None:
    """Note in the checkpoint, after the first batch, that it belongs to this topology."""
    while query.lastProgress is None and query.isActive:
        time.sleep(0.05)
    if query.lastProgress is not None:
        state.done()


def _check(spark: SparkSession) -> None:
    """Raise MillraceError for a session without the operator or with settings that alter results.

    Codes: `session_without_operator`, `session_settings`.
    """
    try:
        columns.gateway(spark.sparkContext).StreamTasks.release("")
    except TypeError:
        raise MillraceError(
            "session_without_operator",
            "The Spark session does not have Millrace's operator. Create it with "
            "millrace_runtime.spark_session(name).",
        ) from None
    for key, value in SEMANTICS.items():
        if key != "spark.sql.shuffle.partitions" and spark.conf.get(key, None) != value:
            raise MillraceError(
                "session_settings",
                f"The Spark session has {key}={spark.conf.get(key, None)}, but {value} is "
                "required. Create it with millrace_runtime.spark_session(name).",
            )
