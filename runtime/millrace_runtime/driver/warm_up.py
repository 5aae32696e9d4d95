"""A rehearsal of a job's query, which warms up Spark while another driver still runs.

Some of the newest records of each source go through the whole topology, with a checkpoint that is
deleted at once and a sink that discards everything. The query is stopped after its first
micro-batch and started again, like one that takes over state. Everything that was loaded and
compiled for that is ready when the actual query starts.

Code of the topology's author may have side effects and is not run: instead, a processor forwards a
record of its output types for each input record.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from typing import Any, cast

from millrace_compiler.types.types import DataType, parse_type
from millrace_model.graphs import GraphNode, StepParams, TaskGraph
from millrace_model.state import Windows

from millrace_runtime import columns
from millrace_runtime.driver.options import kafka_options
from millrace_runtime.job.job import Job
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.kafka import topics
from millrace_runtime.session.session import local_dir

#: number of records of each partition, and of each micro-batch
RECORDS, BATCH = 60, 15
#: number of micro-batches after which the query is restarted, and after which it ends
BATCHES = (1, 6)
LONGEST_SECONDS = 60.0
#: steps that run code of the topology's author, and what they do in a rehearsal
CODE = {
    "process": "self.context.forward(Record({key!r}, {value!r}, record.timestamp))",
    "process_values": "self.context.forward(record.replace(value={value!r}))",
    "global_store": "pass",
}
PROCESSOR = """class Rehearsed(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        {body}
"""
WINDOWS = "def windows(timestamp):\n    return [(timestamp, timestamp + 1)]\n"
_SAMPLES = {"STRING": "", "BOOLEAN": False, "BINARY": b"", "ARRAY": [], "MAP": {}}
_NUMBERS = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"})


class Newest:
    """The offsets from which a rehearsal reads."""

    def __init__(self, session: Any, client: dict[str, str]) -> None:
        self._session, self._client = session, client

    def places(
        self, names: Iterable[str], pattern: str | None, start: str
    ) -> dict[str, dict[str, int]]:
        """Return offsets by topic and partition, `RECORDS` before the end."""
        every = list(names)
        if pattern:
            every += topics.matching(self._session, self._client, pattern)
        held = topics.ranges(self._session, self._client, every)
        return {
            topic: {number: max(first, end - RECORDS) for number, (first, end) in ends.items()}
            for topic, ends in held.items()
        }


def rehearse(
    session: Any, name: str, graph: TaskGraph, arguments: argparse.Namespace
) -> str | None:
    """Rehearse a job's query; return the reason if it was skipped or ended early, else None."""
    if any("reader" in node["params"] for node in graph["nodes"]):
        return "it reads DataFrames of its own"
    if not arguments.bootstrap_servers:
        return "it has no broker"
    run = f"{arguments.run}-rehearsal"
    scratch = tempfile.mkdtemp(prefix="millrace-rehearsal-", dir=local_dir())
    try:
        _run(session, name, without_code(graph), arguments, run, scratch)
    except Exception as error:  # noqa: BLE001 - the query itself reports what is wrong
        return f"{type(error).__name__}: {error}".split("\n", 1)[0]
    finally:
        with contextlib.suppress(Exception):
            columns.gateway().StreamTasks.release(run)
        shutil.rmtree(scratch, ignore_errors=True)
    return None


def without_code(graph: TaskGraph) -> TaskGraph:
    """Return the graph without code of the topology's author.

    Processors only forward records, functions of expressions return None, windows of one's own
    last a millisecond, and failures that a function would handle are skipped.
    """
    settings = graph["settings"].copy()
    for kind in settings.pop("functions", {}):
        settings[f"{kind}_handler"] = "continue"  # type: ignore[literal-required]
    return {
        **graph, "settings": settings, "nodes": [_harmless(node) for node in graph["nodes"]],
    }  # fmt: skip


def _harmless(node: GraphNode) -> GraphNode:
    params = node["params"]
    window = params.get("window")
    if window is not None and window.get("code"):
        short = cast(Windows, {**window, "code": WINDOWS, "function": "windows"})
        return {**node, "params": {**params, "window": short}}
    called = params.get("functions")
    if called is not None:
        code = "".join(f"def {name}(*given):\n    return None\n" for name in called["returns"])
        return {**node, "params": {**params, "functions": {**called, "code": code}}}
    if node["op"] not in CODE:
        return node
    types = params.get("output", {})
    given = (("key", types.get("key")), ("value", types.get("value")))
    sample = {part: _sample(parse_type(text)) for part, text in given if text}
    code = PROCESSOR.format(body=CODE[node["op"]].format(**{"key": None, "value": None, **sample}))
    for method in params.get("methods", ()):
        if method != "process":
            code += f"    {method} = process\n"
    rehearsed: StepParams = {
        **params, "code": code, "class_name": "Rehearsed", "arguments": {},
    }  # fmt: skip
    return {**node, "params": rehearsed}


def _sample(type_: DataType) -> Any:
    """Return a value of a type, in the form that processors use."""
    if type_.name == "STRUCT":
        return dict(zip(type_.fields, map(_sample, type_.inner), strict=True))
    return 0 if type_.name in _NUMBERS else _SAMPLES.get(type_.name)


def _run(
    session: Any,
    name: str,
    graph: TaskGraph,
    arguments: argparse.Namespace,
    run: str,
    scratch: str,
) -> None:
    kafka = Kafka(
        session,
        arguments.bootstrap_servers,
        options=kafka_options(arguments.kafka_config, os.environ),
        max_records=BATCH,
        run=run,
    )
    kafka.begin_at(Newest(session, kafka.client))
    job = Job(session, kafka, graph, name=name, run=run, updates=True)
    session.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
    rows = job.query().rows
    writer = rows.writeStream.outputMode("update").queryName(run).format("noop")
    writer = writer.option("checkpointLocation", scratch).trigger(availableNow=True)
    deadline = time.monotonic() + LONGEST_SECONDS
    for batches in BATCHES:
        query = writer.start()
        while query.isActive and time.monotonic() < deadline and _done(query) < batches:
            time.sleep(0.02)
        query.stop()
    there = topics.identities(session, kafka.client, job.sink_topics)
    _open_producer(session, kafka.client, there)
    if job.exactly_once and there:
        # The query itself reports missing permissions.
        with contextlib.suppress(Exception):
            columns.gateway().KafkaSink.rehearse(
                json.dumps(kafka.client), f"millrace-{run}", min(there)
            )


def _done(query: Any) -> int:
    progress = query._jsq.lastProgress()
    return 0 if progress is None else int(progress.batchId()) + 1


def _open_producer(session: Any, client: dict[str, str], names: Iterable[str]) -> None:
    """Load the classes of a producer; nothing is sent, and no transaction begins."""
    jvm = session._jvm
    properties = jvm.java.util.Properties()
    for key, value in client.items():
        properties.setProperty(key, value)
    bytes_of = jvm.org.apache.kafka.common.serialization.ByteArraySerializer
    producer = jvm.org.apache.kafka.clients.producer.KafkaProducer(
        properties, bytes_of(), bytes_of()
    )
    try:
        for name in names:
            producer.partitionsFor(name)
    finally:
        producer.close()
