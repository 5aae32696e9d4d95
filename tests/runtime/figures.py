"""Jobs on a real broker in one warm session, and the figures that a driver would report."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
import uuid
from collections.abc import Sequence
from typing import Any, cast

from millrace_model.events import ProgressEvent
from millrace_runtime import Topology, columns
from millrace_runtime.analyzer.compiling import session_analyzer
from millrace_runtime.job.job import Job
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.job.record_handlers import RecordHandler
from millrace_runtime.reports.report import Progress
from millrace_runtime.session import session

from tests.runtime import topics
from tests.runtime.jobs import graph_of
from tests.runtime.sessions import new_session


class Figures:
    """A session in which each job runs until it has read all records."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.spark = new_session(
            "figures",
            master="local[2]",
            settings={
                "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
                **session.CHECKPOINTS,
            },
        )

    def close(self) -> None:
        """Stop the session."""
        self.spark.stop()

    def topic(self, partitions: int = 1) -> str:
        """Create a topic with a unique name."""
        name = f"figures-{uuid.uuid4()}"
        topics.create(self.address, {name: partitions})
        return name

    def job(self, topology: Topology) -> Run:
        """Return a job with a checkpoint of its own."""
        return Run(self, topology)


class Run:
    """One job on a checkpoint; it can be run several times."""

    def __init__(self, figures: Figures, topology: Topology) -> None:
        self._figures = figures
        self._graph = graph_of(topology, session_analyzer(figures.spark))
        self._settings = topology.settings
        self._folder = tempfile.mkdtemp(prefix="millrace-figures-")

    def read_all(
        self,
        during: list[ProgressEvent] | None = None,
        record_handlers: Sequence[RecordHandler] = (),
    ) -> Any:
        """Read all records of the topics and return the last progress event.

        Its `said` are the messages about losses. `during` collects the earlier events, ten a
        second. Raises the error that ended the query.
        """
        run = uuid.uuid4().hex
        spark = self._figures.spark.newSession()
        kafka = Kafka(spark, self._figures.address, run=run, record_handlers=record_handlers)
        job = Job(spark, kafka, self._graph, name="figures", run=run, updates=True)
        spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
        plan = job.query()
        writer = plan.rows.writeStream.outputMode("update").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", self._folder)
        query = kafka.into(writer, plan.graph, cast(Any, self._settings)).start()
        progress = Progress(spark, query, run, kafka.client)
        while during is not None and query.isActive:
            during.append(progress.event())
            time.sleep(0.1)
        try:
            query.awaitTermination()
        finally:
            columns.gateway().StreamTasks.release(run)
        event: Any = json.loads(json.dumps(progress.event(last=True)))
        event["said"] = progress.losses()
        progress.close()
        return event

    def close(self) -> None:
        """Delete the checkpoint."""
        shutil.rmtree(self._folder, ignore_errors=True)
