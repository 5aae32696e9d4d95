"""Documents in real-time mode or stream threads on a real broker, fed record by record.

Kafka Streams' results are recorded with one record in flight at a time. So each record is written
after the output of the previous one, which also fixes the order of several topics.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from millrace_runtime import columns
from pyspark.sql.streaming.query import StreamingQuery

from tests.runtime import topics
from tests.runtime.sessions import new_session
from tests.runtime.spread import DAY, Line, decode, renamed, to_bytes

#: Threads of the session: all tasks of all levels and sources of a query run at once.
SLOTS = 48
#: The shortest batch that Spark accepts in real-time mode.
BATCH = "5 seconds"
PATIENCE_SECONDS = 60.0
#: headers of dead letters in which the engines word an error; the oracle leaves them out
ERRORS = "__streams.errors."


class Engines:
    """A warm Spark session on a broker, and the oracle."""

    def __init__(self, address: str, name: str, threads: int, real_time: bool = False) -> None:
        from millrace_runtime.analyzer.compiling import session_analyzer
        from millrace_runtime.session import session

        from cli.oracle import Oracle

        self.address = address
        self.oracle = Oracle()
        self.spark = new_session(
            name,
            master=f"local[{threads}]",
            settings={
                "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
                "spark.sql.codegen.wholeStage": "false",
                **session.CHECKPOINTS,
                **(session.REAL_TIME if real_time else {}),
            },
        )
        self.analyzer = session_analyzer(self.spark)

    def close(self) -> None:
        """Stop the session and the oracle."""
        self.oracle.close()
        self.spark.stop()


class Live(Engines):
    """A warm session that runs documents in real-time mode, or in stream threads."""

    def __init__(self, address: str, *, in_threads: bool = False) -> None:
        name, threads = ("stream-threads", 2) if in_threads else ("real-time", SLOTS)
        super().__init__(address, name, threads, real_time=not in_threads)
        self.in_threads = in_threads
        self.alone = threading.Lock()

    def start(self, document: Any, *, batch: str = BATCH, tasks: int | None = None) -> Running:
        """Start a document whose topics exist; by default with as many tasks as partitions."""
        return Running(self, document, batch, tasks)


class Running:
    """One query with its inputs and outputs; in real-time mode, or for a stream thread."""

    def __init__(self, live: Live, document: Any, batch: str, tasks: int | None) -> None:
        from millrace_runtime.analyzer.compiling import compiled

        self.live = live
        self.document = document
        self.graph: Any = compiled(document, live.analyzer).require_task_graph()
        if tasks is not None:
            subs = dict.fromkeys(list(self.graph["subtopologies"]), tasks)
            self.graph |= {"tasks": tasks, "subtopologies": subs}
        self.checkpoint = tempfile.mkdtemp(prefix="millrace-live-")
        self.begin(batch)

    def begin(self, batch: str = BATCH) -> None:
        """Start the query, for the first time or again."""
        from millrace_runtime.job.job import Job
        from millrace_runtime.job.kafka import Kafka

        self.run = uuid.uuid4().hex
        settings: Any = self.document.get("settings") or {}
        spark = self.live.spark.newSession()
        real_time = not self.live.in_threads
        kafka = Kafka(spark, self.live.address, run=self.run, real_time=real_time)
        self.client = kafka.client
        self.job = Job(spark, kafka, self.graph, name="live", run=self.run, updates=True)
        spark.conf.set("spark.sql.shuffle.partitions", str(self.job.shuffle_partitions))
        plan = self.job.query()
        writer = plan.rows.writeStream.outputMode("update")
        trigger = {"realTime": batch} if real_time else {"processingTime": "0 seconds"}
        writer = writer.trigger(**trigger)
        writer = writer.option("checkpointLocation", self.checkpoint)
        self.query = kafka.into(writer, plan.graph, settings).start()

    @property
    def in_thread(self) -> bool:
        """Whether a stream thread continues the query."""
        return str(self.query._jsq.getClass().getSimpleName()) == "StreamThread"

    @property
    def may_be_in_thread(self) -> bool:
        """Whether a stream thread may continue the query."""
        return self.job.only_records and not self.job.extracts_times

    def continue_in_thread(self) -> None:
        """Let a stream thread continue the query, which has processed records, if it may."""
        if self.in_thread or not self.may_be_in_thread:
            return
        java = self.query._jsq
        self.until(lambda: any(p.numInputRows() for p in java.recentProgress()), "a micro-batch")
        assert columns.gateway().StreamThread.fits(java)
        self.until(lambda: not self.query.status["isTriggerActive"], "the end of a micro-batch")
        self.query.stop()
        readings, client = json.dumps(self.job.readings), json.dumps(self.client)
        pattern = self.job.pattern
        self.query = StreamingQuery(
            columns.gateway().StreamThread.start(java, readings, client, pattern)
        )

    def statistics(self) -> Any:
        """Return the operator's statistics."""
        reported: Any = json.loads(columns.gateway().Reports.statistics(self.run))
        return reported

    def check(self) -> None:
        """Raise the error that ended the query, if there is one."""
        error = self.query.exception()
        if error is not None:
            raise error

    def taken(self, places: dict[tuple[str, int], int]) -> bool:
        """Whether records up to these offsets were processed."""
        at = {
            (place["topic"], place["partition"]): place["offset"]
            for task in self.statistics()["tasks"]
            for place in task["topic_partitions"]
        }
        return all(at.get(place, -1) >= offset for place, offset in places.items())

    def until(self, done: Callable[[], bool], what: str) -> None:
        """Wait until the condition holds; raise if the query has ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not done():
            self.check()
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not happen: {self.statistics()}")
            time.sleep(0.01)

    def batches(self) -> int:
        """Return the number of the last batch that ended, or -1."""
        progress = self.query._jsq.lastProgress()
        return -1 if progress is None else int(progress.batchId())

    def rest(self) -> None:
        """Wait until everything processed so far is committed, then stop the query."""
        if self.in_thread:
            self.end()
            return
        kept = self.batches() + 1
        self.until(lambda: self.batches() > kept, "the end of a batch")
        self.end()

    def end(self) -> None:
        """Stop the query; its checkpoint stays."""
        self.query.stop()
        columns.gateway().StreamTasks.release(self.run)

    def close(self) -> None:
        """Stop the query and delete its checkpoint."""
        self.end()
        shutil.rmtree(self.checkpoint, ignore_errors=True)


def formats_by_topic(document: Any, named: Iterable[str] = ()) -> dict[str, Any]:
    """Key and value formats of the topics that are read, by pattern only those that are `named`."""
    found = {}
    for node in document["nodes"]:
        params = node.get("params", {})
        if node["kind"].startswith("source."):
            pattern = params.get("topic_pattern")
            matching = [topic for topic in named if pattern and re.fullmatch(pattern, topic)]
            for topic in params.get("topics") or matching or [params.get("topic")]:
                if topic:
                    found[topic] = {"key": params.get("key"), "value": params.get("value")}
    return found


def sink_formats(graph: Any, topic: str, *, dead: bool) -> tuple[Any, Any]:
    """Return key and value formats of the records written to a topic."""
    if dead:
        return {"format": "bytes"}, {"format": "bytes"}
    sinks = [node["params"] for node in graph["nodes"] if node["op"] == "to"]
    named = [params for params in sinks if params.get("topic") == topic] or sorted(
        (params for params in sinks if params.get("topic_expression")),
        key=lambda params: -_named_in(str(params["topic_expression"]), topic),
    )
    return named[0]["key"], named[0]["value"]


def _named_in(expression: str, topic: str) -> int:
    """Return the length of the longest text in an expression with which a topic ends."""
    texts = re.findall(r"'([^']+)'", expression)
    return max((len(text) for text in texts if topic.endswith(text)), default=0)


@dataclasses.dataclass
class Play:
    """A scenario that is fed record by record."""

    running: Running
    consumer: Consumer
    producer: Producer
    dead: str | None
    outputs: list[Any] = dataclasses.field(default_factory=list)
    #: The last offset written to each topic-partition.
    ends: dict[tuple[str, int], int] = dataclasses.field(default_factory=dict)

    def write(self, line: Line, formats: Any) -> None:
        """Write one record and wait until the broker has it."""
        key, value = to_bytes(line, formats)
        given = (line.get("headers") or {}).items()
        headers = [(n, None if t is None else t.encode()) for n, t in given]
        self.producer.produce(
            line["topic"], key=key, value=value, partition=line.get("partition", 0),
            on_delivery=self._written, timestamp=line["timestamp"], headers=headers,
        )  # fmt: skip
        self.producer.flush(30)

    def _written(self, error: Any, message: Any) -> None:
        self.ends[message.topic(), message.partition()] = message.offset()

    def await_outputs(self, count: int, number: int) -> None:
        """Wait until this many records came out; the new ones belong to this input line."""
        self.running.until(lambda: self.read(number) >= count, f"what line {number} causes")

    def await_taking(self) -> None:
        """Wait until all written records are processed."""
        self.running.until(lambda: self.running.taken(self.ends), "the taking of all")

    def read(self, number: int) -> int:
        """Read new output records; return the number of all so far."""
        for message in self.consumer.consume(100, 0.002):
            topic = str(message.topic())
            key, value = sink_formats(self.running.graph, topic, dead=topic == self.dead)
            headers: Any = message.headers() or []
            record: Any = message
            self.outputs.append(
                {
                    "after": number,
                    "topic": topic,
                    "key": decode(record.key(), key),
                    "value": decode(record.value(), value),
                    "timestamp": message.timestamp()[1],
                    "headers": {
                        name: None if content is None else content.decode()
                        for name, content in headers
                        if not name.startswith(ERRORS)
                    },
                }
            )
        return len(self.outputs)


def play(live: Live, scenario: Any) -> tuple[Any, Any]:
    """Feed a scenario record by record; return Kafka Streams' result and that of Spark."""
    prefix = f"{scenario['id'].lower()}-{uuid.uuid4().hex[:6]}-"
    document = renamed(scenario["topology"], prefix, partitions=None)
    lines = [
        {**line, "topic": prefix + line["topic"], "timestamp": DAY + line.get("timestamp", 0)}
        if "topic" in line
        else line
        for line in scenario["inputs"]
    ]
    formats = formats_by_topic(document, {line["topic"] for line in lines if "topic" in line})
    reported: Any = {**scenario, "topology": document, "inputs": lines}
    with live.alone:  # the oracle answers one request at a time
        expected = live.oracle.run(reported)
    dead = (document.get("settings") or {}).get("dead_letter_topic")
    targets = written_topics(document) | {record["topic"] for record in expected["outputs"]}
    widths = {
        name: (document.get("topics") or {}).get(name, {}).get("partitions", 1)
        for name in {*formats, *targets, *(line["topic"] for line in lines if "topic" in line)}
    }
    topics.create(live.address, widths)
    consumer = Consumer(
        {
            "bootstrap.servers": live.address, "group.id": prefix, "log_level": 0,
            "auto.offset.reset": "earliest", "fetch.wait.max.ms": 5, "enable.auto.commit": False,
        }
    )  # fmt: skip
    consumer.assign([TopicPartition(t, n, 0) for t in targets for n in range(widths[t])])
    producer = Producer({"bootstrap.servers": live.address, "linger.ms": 0})
    running = live.start(document)
    fed = Play(running, consumer, producer, dead)
    due = Counter(record["after"] for record in expected["outputs"])
    try:
        so_far = 0
        for number, line in enumerate(lines, 1):
            so_far += due[number]
            if line.get("restart"):
                running.rest()
                running.begin()
                continue
            if line["topic"] in formats:
                fed.write(line, formats[line["topic"]])
            fed.await_outputs(so_far, number)
            if live.in_threads and fed.ends:
                fed.await_taking()
                running.continue_in_thread()
            following = lines[number : number + 1]
            if not due[number] and following and following[0].get("topic") != line["topic"]:
                fed.await_taking()
        fed.await_taking()
        quiet = time.monotonic() + 0.3
        while time.monotonic() < quiet:
            fed.read(len(lines))
        found = {
            "outputs": fed.outputs, "dropped": running.statistics()["dropped"],
            "in_thread": running.in_thread, "may_be": running.may_be_in_thread and bool(fed.ends),
        }  # fmt: skip
    finally:
        running.close()
        consumer.close()
    return {**reported, "expected": {**expected, "stores": {}}}, found


def written_topics(document: Any) -> set[str]:
    """Return the topics that a document writes by name, including the dead letter topic."""
    named = {
        node["params"].get("topic") for node in document["nodes"] if node["kind"] == "sink.topic"
    }
    return {*named, (document.get("settings") or {}).get("dead_letter_topic")} - {None}
