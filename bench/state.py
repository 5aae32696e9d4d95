"""The cost of state: the first micro-batch after a restart, later ones, and the heap.

    ./millrace bench state -- --keys 10000 --keys 1000000
    ./millrace bench state -- --only latest --keys 2000000 --bytes 1000 [--s3]

A count in windows of a day, a join of two streams and a table of the latest values read a number of
keys from a broker; values have `--bytes` random characters. The checkpoint is on the disk of
temporary files, where Spark also keeps its copy of the state, or with `--s3` in an object store on
this machine (moto); *state* is its size. After a few small micro-batches, the session ends, and
another one resumes from the checkpoint, without that copy. Its first micro-batch has 2,000 records:
*restart* is the time from the start of the query to the end of this micro-batch, *Spark opens* that
in which Spark reads the state's files from the checkpoint, *first batch* the whole of the
micro-batch. Later ones show the cost of a record on two cores: *any key* draws from all keys, so
that few are in the cache and many keys have one record in a micro-batch; *few keys* draws from
10,000 keys, whatever the number in the state. *heap* is the memory that the JVM uses after a
garbage collection, minus what it used before the state was opened.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from millrace_runtime.analyzer.compiling import compiled, session_analyzer
from millrace_runtime.checkpoint import storage
from millrace_runtime.job.job import Job
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.session import session

from bench._broker import Broker
from bench._documents import chain, document, node
from tests.runtime import s3 as object_store

FIRST = 2_000
LATER = 400_000
FEW = 10_000
#: micro-batches that are not measured, while the JVM compiles and the cache fills
WARMING = 2
BATCH = 50_000
#: micro-batches of 2,000 records before the restart
SETTLING = 15
SAVED = 6
TASKS = 4
_STRING = {"format": "string"}
_DAY = 86_400_000


def documents(prefix: str = "state") -> dict[str, dict[str, Any]]:
    """Return the measured documents by name; each reads the topic `PREFIX-NAME`."""
    counted = [
        node("in", "source.stream", topics=[f"{prefix}-windows"], key=_STRING, value=_STRING),
        node("count", "count", window={"type": "tumbling", "size": _DAY, "grace": 0}),
        node("updates", "to_stream"),
        node("flat", "select_key", key="key.key"),
        node("out", "sink.topic", topic="state-out"),
    ]
    joined = [
        node("in", "source.stream", topics=[f"{prefix}-join"], key=_STRING, value=_STRING),
        node("left", "filter", predicate="value <> 'b'"),
        node("right", "filter", predicate="value = 'b'"),
        node("join", "join.stream_stream", type="inner", before=_DAY, after=_DAY,
             grace=0, joiner="concat(left, right)"),
        node("out", "sink.topic", topic="state-out"),
    ]  # fmt: skip
    latest = [
        node("in", "source.stream", topics=[f"{prefix}-latest"], key=_STRING, value=_STRING),
        node("last", "aggregate", type="STRING", initializer="''", aggregator="value"),
        node("updates", "to_stream"),
        node("short", "map_values", value="left(value, 1)"),
        node("out", "sink.topic", topic="state-out"),
    ]
    return {
        "latest": document("latest", latest, chain("in", "last", "updates", "short", "out")),
        "windows": document("windows", counted, chain("in", "count", "updates", "flat", "out")),
        "join": document(
            "join",
            joined,
            [
                *chain("in", "left", "join.left"),
                *chain("in", "right", "join.right"),
                *chain("join", "out"),
            ],
        ),
    }


class Input:
    """The topic of one document, and what has been written to it."""

    def __init__(self, address: str, topic: str) -> None:
        from confluent_kafka import Producer
        from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

        self.topic = topic
        keep = {"retention.ms": "-1"}
        admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
        topics = [NewTopic(each, TASKS, 1, config=keep) for each in (self.topic, "state-out")]
        for topic, future in admin.create_topics(topics).items():
            if topic == self.topic:
                future.result()
        self._producer = Producer(
            {"bootstrap.servers": address, "linger.ms": 20, "queue.buffering.max.messages": 500_000}
        )
        self._time = _DAY

    def write(self, keys: Iterator[int], value: str, size: int = 1) -> None:
        """Write one record for each key, a millisecond apart; values are followed by random text.

        `size`: the length of a value.
        """
        long = random.Random(size).randbytes(1 << 20).hex()  # noqa: S311
        for number in keys:
            self._time += 1
            begin = number * 7919 % (len(long) - size)
            while True:
                try:
                    self._producer.produce(
                        self.topic,
                        value + long[begin : begin + size - 1],
                        f"key-{number:08}",
                        timestamp=_DAY + self._time % _DAY,
                    )
                    break
                except BufferError:
                    self._producer.poll(0.1)
        self._producer.flush(300)


@contextmanager
def spark_session(location: str) -> Iterator[Any]:
    """Yield a session that has not opened any state, for checkpoints at this location."""
    spark: Any = session.create(
        "millrace-bench",
        master="local[2]",
        storage=location,
        settings={
            **storage.spark_settings(location),
            "spark.driver.memory": "4g",
            "spark.sql.streaming.numRecentProgressUpdates": "1000",
            "spark.sql.streaming.metricsEnabled": "true",
            # The interval at which Spark saves the state's files, by default a minute. A restart
            # replays the changes of later batches.
            "spark.sql.streaming.stateStore.maintenanceInterval": "2s",
        },
    )
    try:
        yield spark
    finally:
        spark._jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()
        spark.stop()


def run(spark: Any, address: str, document: Any, checkpoint: str, most: int = BATCH) -> list[Any]:
    """Run from a checkpoint until all records are read; return the progress of the batches."""
    graph = compiled(document, session_analyzer(spark)).require_task_graph()
    name = uuid.uuid4().hex
    kafka = Kafka(spark, address, run=name, max_records=most)
    job = Job(spark, kafka, graph, name=document["name"], run=name)
    spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
    plan = job.query()
    writer = (
        plan.rows.writeStream.outputMode("append")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
    )
    query = kafka.into(writer, plan.graph, {}).start()
    query.awaitTermination()
    return [each for each in query.recentProgress if each["numInputRows"]]


def heap(spark: Any) -> float:
    """Return the MB of heap in use after a garbage collection."""
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    spark._jvm.java.lang.System.gc()
    return float(runtime.totalMemory() - runtime.freeMemory()) / 1e6


def seconds(progress: list[Any]) -> float:
    """Return the seconds of batches, without their commit."""
    return sum(int(each["durationMs"]["addBatch"]) for each in progress) / 1e3


def a_record(progress: list[Any]) -> float:
    """Return the microseconds per record."""
    return seconds(progress) / sum(int(each["numInputRows"]) for each in progress) * 1e6


def opened(progress: Any) -> float:
    """Return the seconds in which Spark read the state's files, in the slowest task."""
    metrics = progress["stateOperators"][0]["customMetrics"]
    return float(metrics.get("rocksdbLoadLatencyMs", metrics.get("rocksdbLoadLatency", 0))) / 1e3


@contextmanager
def place(name: str, *, s3: bool) -> Iterator[str]:
    """Yield an empty location for checkpoints."""
    with tempfile.TemporaryDirectory(prefix="millrace-bench-", ignore_cleanup_errors=True) as made:
        if not s3:
            yield made
            return
        with object_store.server(Path(made) / "configuration") as server:
            os.environ.update(server.environment)
            object_store.end_java()
            yield f"s3a://{object_store.BUCKET}/{name}"


def measure(
    address: str, name: str, keys: int, size: int = 1, *, s3: bool = False
) -> dict[str, float]:
    """Fill the state with this number of keys, then restart from its checkpoint."""
    document, chosen = documents()[name], random.Random(keys)  # noqa: S311 - the same each time
    topic, other = Input(address, f"state-{name}"), Input(address, f"warm-{name}")
    topic.write(iter(range(keys)), "a", size)

    def some(count: int) -> Iterator[int]:
        return (chosen.randrange(keys) for _ in range(count))

    with place(name, s3=s3) as location:
        checkpoint = f"{location}/checkpoint"
        with spark_session(location) as spark:
            run(spark, address, document, checkpoint)
            # Spark saves the state's files with every tenth micro-batch.
            topic.write(some(SETTLING * FIRST), "b", size)
            run(spark, address, document, checkpoint, FIRST)
            time.sleep(SAVED)
        with spark_session(location) as spark:
            # Work that a JVM does only once is not a cost of state.
            for value in "ab":
                other.write(some(FIRST), value, size)
                run(spark, address, documents("warm")[name], f"{location}/warm")
            before = heap(spark)
            bytes_ = bytes_of(checkpoint)
            topic.write(some(FIRST), "b", size)
            began = time.monotonic()
            first = run(spark, address, document, checkpoint)
            restarted = time.monotonic() - began
            after = heap(spark)
            topic.write(some(LATER), "b", size)
            later = run(spark, address, document, checkpoint)
            few = [chosen.randrange(keys) for _ in range(FEW)]
            topic.write((chosen.choice(few) for _ in range(LATER)), "b", size)
            same = run(spark, address, document, checkpoint)
    return {
        "state": bytes_ / 1e9,
        "restart": restarted,
        "opened": opened(first[0]),
        "first": seconds(first[:1]),
        "any": a_record(later[WARMING:]),
        "few": a_record(same[WARMING:]),
        "heap": after - before,
    }


def bytes_of(location: str) -> float:
    """Return the size of a checkpoint's files."""
    if not storage.is_local(location):
        return float(storage.size(storage.StoredPath(location)))
    return float(sum(each.stat().st_size for each in Path(location).rglob("*") if each.is_file()))


#: columns: title, and digits behind the point
COLUMNS = {
    "state": ("state GB", 2), "restart": ("restart s", 2), "opened": ("Spark opens s", 2),
    "first": ("first batch s", 2), "any": ("any key µs", 2), "few": ("few keys µs", 2),
    "heap": ("heap MB", 0),
}  # fmt: skip


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, action="append", help="default: 10,000 and 1,000,000")
    parser.add_argument("--only", choices=sorted(documents()))
    parser.add_argument("--bytes", type=int, default=1, help="characters of a value (1)")
    parser.add_argument("--s3", action="store_true", help="keep checkpoints in an object store")
    arguments = parser.parse_args()
    print(
        " " * 9 + "".join(f"{title:>15}" for title in ("keys", *(t for t, _ in COLUMNS.values())))
    )
    for name in documents():
        if arguments.only == name or (arguments.only is None and name != "latest"):
            for keys in arguments.keys or [10_000, 1_000_000]:
                with Broker() as broker:
                    found = measure(broker.address, name, keys, arguments.bytes, s3=arguments.s3)
                cells = (f"{found[each]:>15.{digits}f}" for each, (_, digits) in COLUMNS.items())
                print(f"{name:9}{keys:>15,}" + "".join(cells), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
