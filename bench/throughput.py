"""Records per second, Kafka to Kafka: Millrace on Spark beside a Kafka Streams application.

    ./millrace bench throughput -- --records 2000000

Both run the same documents against the same broker on this machine, with two threads. Spark runs
in this process: a first round warms it, the second is measured from start to the end of the query.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from millrace_compiler import compile_document
from millrace_runtime import session
from millrace_runtime.job import Job
from millrace_runtime.kafka import Kafka

from bench._broker import Broker
from tools.cli import oracle
from tools.cli.documents import session_analyzer
from tools.cli.simulating import topology_of

INPUT = "bench-orders"
PARTITIONS = 4
KEYS = 10_000
_JSON = {"format": "json", "schema": "amount INT, item STRING, n BIGINT"}
_SOURCE = {
    "id": "orders",
    "kind": "source.stream",
    "params": {"topics": [INPUT], "key": {"format": "string"}, "value": _JSON},
}


def documents() -> dict[str, dict[str, Any]]:
    """The topologies that are measured: one without state, one that counts by key."""
    stateless = [
        {"id": "big", "kind": "filter", "params": {"predicate": "value.amount > 10"}},
        {
            "id": "shaped",
            "kind": "map_values",
            "params": {
                "value": "named_struct('twice', value.amount * 2, 'item', upper(value.item))"
            },
        },
    ]
    count = [
        {"id": "count", "kind": "count", "params": {}},
        {"id": "updates", "kind": "to_stream", "params": {}},
    ]
    return {"stateless": _document("stateless", stateless), "count": _document("count", count)}


def _document(name: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    sink = {"id": "out", "kind": "sink.topic", "params": {"topic": f"bench-{name}"}}
    nodes = [_SOURCE, *steps, sink]
    return {
        "format": "millrace.topology/1",
        "name": f"bench-{name}",
        "topics": {INPUT: {"partitions": PARTITIONS}},
        "nodes": nodes,
        "edges": [
            {"source": first["id"], "target": second["id"]}
            for first, second in itertools.pairwise(nodes)
        ],
    }


def fill(address: str, records: int) -> None:
    """Writes the input: JSON values under ten thousand keys, timestamps a millisecond apart."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

    keep = {"retention.ms": "-1"}
    names = [INPUT, *(f"bench-{name}" for name in documents())]
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    topics = [NewTopic(name, PARTITIONS, 1, config=keep) for name in names]
    for future in admin.create_topics(topics).values():
        future.result()
    producer = Producer(
        {"bootstrap.servers": address, "linger.ms": 20, "queue.buffering.max.messages": 500_000}
    )
    for n in range(records):
        value = f'{{"amount":{n % 50},"item":"item-{n % 97}","n":{n}}}'
        while True:
            try:
                producer.produce(INPUT, value, f"key-{n * 7919 % KEYS}", timestamp=1_000 + n)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(120)


def on_spark(spark: Any, address: str, document: dict[str, Any], *, most: int) -> dict[str, Any]:
    """Runs a compiled document over everything there is, in batches of at most so many."""
    compilation = compile_document(document, session_analyzer(spark))
    run = uuid.uuid4().hex
    kafka = Kafka(spark, address, run=run, max_records=most)
    job = Job(spark, kafka, name=document["name"], settings={}, run=run)
    topology_of(compilation)(job)
    spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
    plan = job.plan()
    checkpoint = tempfile.mkdtemp(prefix="millrace-bench-", dir=session.local_dir())
    writer = (
        plan.rows.writeStream.outputMode("append")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
    )
    writer._jwrite = writer._jwrite.foreach(kafka.writer(plan.graph, {}))
    began = time.monotonic()
    query = writer.start()
    query.awaitTermination()
    seconds = time.monotonic() - began
    rows = sum(int(each["numInputRows"]) for each in query.recentProgress)
    shutil.rmtree(checkpoint, ignore_errors=True)
    return {"records": rows, "seconds": round(seconds, 2), "per_second": round(rows / seconds)}


def on_kafka_streams(address: str, document: dict[str, Any], records: int) -> dict[str, Any]:
    """The same document as a Kafka Streams application with two threads."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "document.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        done = subprocess.run(
            oracle.command(
                "app", str(path), "--bootstrap-servers", address, "--threads", "2",
                "--stop-after", str(records), scratch=scratch,
            ),
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["no reason given"])[-1]}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return {
        "records": found["records"],
        "seconds": found["seconds"],
        "per_second": found["records_per_second"],
    }


def main() -> int:
    """Prints one line of JSON per topology and engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--only", choices=sorted(documents()))
    arguments = parser.parse_args()
    chosen = {
        name: document for name, document in documents().items() if arguments.only in (None, name)
    }
    with Broker() as broker:
        fill(broker.address, arguments.records)
        for name, document in chosen.items():
            found = on_kafka_streams(broker.address, document, arguments.records)
            print(json.dumps({"topology": name, "engine": "kafka-streams", **found}), flush=True)
        spark = session.create(
            "millrace-bench",
            master="local[2]",
            settings={
                "spark.driver.memory": "3g",
                "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
                "spark.sql.streaming.numRecentProgressUpdates": "1000",
            },
        )
        try:
            for name, document in chosen.items():
                for measured in (False, True):
                    found = on_spark(spark, broker.address, document, most=1_000_000)
                    if measured:
                        line = {"topology": name, "engine": "millrace", **found}
                        print(json.dumps(line), flush=True)
        finally:
            spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
