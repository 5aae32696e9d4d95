"""The latency from a record's producer to a consumer of its result: real-time mode, micro-batches.

    ./millrace bench realtime -- --records 1500 --rate 50 --batch "60 seconds"

An aggregation by key with four partitions, Kafka to Kafka, in one process and on one broker, with
both triggers in succession. Each record is written separately; its value is its number.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from millrace_runtime import Topology, columns, string
from millrace_runtime.analyzer.compiling import compiled, session_analyzer
from millrace_runtime.job.job import Job
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.session import session

from bench._broker import Broker

PARTITIONS = 4
KEYS = 100
#: records before the measured ones, so that code is compiled by then
WARM = 300


def counted(source: str, target: str, *, by_value: bool) -> Topology:
    """Aggregate each key's records to the latest value; `by_value` repartitions them first."""
    topology = Topology("latency", partitions={source: PARTITIONS})
    records = topology.stream(source, key=string(), value=string())
    grouped = records.group_by("key") if by_value else records.group_by_key()
    latest = grouped.aggregate("STRING", initializer="''", aggregator="value")
    latest.to(target, key=string(), value=string())
    return topology


def measure(
    spark: Any, address: str, arguments: argparse.Namespace, *, real_time: bool, by_value: bool
) -> dict[str, Any]:
    """Return the latency from record to result in ms: p50, p90, p99."""
    run = uuid.uuid4().hex
    source, target = f"in-{run}", f"out-{run}"
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    made = [NewTopic(n, PARTITIONS, 1, config={"retention.ms": "-1"}) for n in (source, target)]
    for future in admin.create_topics(made).values():
        future.result()
    own = spark.newSession()
    kafka = Kafka(own, address, run=run, real_time=real_time)
    document = counted(source, target, by_value=by_value).document()
    graph = compiled(document, session_analyzer(own)).require_task_graph()
    job = Job(own, kafka, graph, name="latency", run=run, updates=True)
    own.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
    plan = job.query()
    checkpoint = tempfile.mkdtemp(prefix="millrace-bench-")
    trigger = {"realTime": arguments.batch} if real_time else {"processingTime": "0 seconds"}
    writer = plan.rows.writeStream.outputMode("update").option("checkpointLocation", checkpoint)
    query = kafka.into(writer.trigger(**trigger), plan.graph, {}).start()
    try:
        took = latencies(address, source, target, arguments)
    finally:
        query.stop()
        columns.gateway().StreamTasks.release(run)
        shutil.rmtree(Path(checkpoint), ignore_errors=True)
    cuts = statistics.quantiles(took, n=100)
    return {
        "trigger": "real time" if real_time else "micro-batches",
        "repartition": by_value,
        "records": len(took),
        **{f"p{p} ms": round(cuts[p - 1], 1) for p in (50, 90, 99)},
        "most ms": round(max(took), 1),
    }


def latencies(address: str, source: str, target: str, arguments: argparse.Namespace) -> list[float]:
    """Write the records at their rate; return the ms until the consumer has the result of each."""
    total = WARM + arguments.records
    sent, arrived = [0.0] * total, [0.0] * total
    consumer = Consumer(
        {
            "bootstrap.servers": address, "group.id": target, "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 5, "log_level": 0,
        }
    )  # fmt: skip
    consumer.subscribe([target])
    seen = 0
    deadline = time.monotonic() + 120 + total / arguments.rate

    def read() -> None:
        nonlocal seen
        while seen < total and time.monotonic() < deadline:
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                number = int(str(message.value(), "ascii"))  # type: ignore[arg-type]
                seen += arrived[number] == 0.0
                arrived[number] = arrived[number] or time.perf_counter()

    reader = threading.Thread(target=read)
    reader.start()
    producer = Producer({"bootstrap.servers": address, "linger.ms": 0})
    for number in range(total):
        sent[number] = time.perf_counter()
        producer.produce(source, key=f"key-{number % KEYS}", value=str(number))
        producer.poll(0)
        if number == 0:  # the query has not started yet
            producer.flush(30)
            while not arrived[0] and time.monotonic() < deadline:
                time.sleep(0.05)
        time.sleep(1 / arguments.rate)
    producer.flush(30)
    reader.join()
    consumer.close()
    if seen < total:
        raise SystemExit(f"only {seen} of {total} records came out")
    return [1_000 * (b - a) for a, b in zip(sent[WARM:], arrived[WARM:], strict=True)]


def main() -> int:
    """Prints one line of JSON per run, and one with the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--rate", type=float, default=50.0, help="records a second (50)")
    parser.add_argument("--batch", default="60 seconds", help="a batch of real time (60 seconds)")
    arguments = parser.parse_args()
    found: dict[tuple[bool, bool], dict[str, Any]] = {}
    with Broker() as broker:
        spark = session.create(
            "millrace-bench",
            master="local[16]",
            settings={
                "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
                **session.CHECKPOINTS,
                **session.REAL_TIME,
            },
        )
        try:
            for by_value in (False, True):
                for real_time in (False, True):
                    result = measure(
                        spark, broker.address, arguments, real_time=real_time, by_value=by_value
                    )
                    found[by_value, real_time] = result
                    print(json.dumps(result), flush=True)
        finally:
            spark.stop()
    for by_value, name in ((False, "without a shuffle"), (True, "behind a repartition")):
        slow, fast = found[by_value, False], found[by_value, True]
        ratios = {p: round(slow[p] / fast[p], 1) for p in ("p50 ms", "p90 ms", "p99 ms")}
        print(json.dumps({f"micro-batches / real time, {name}": ratios}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
