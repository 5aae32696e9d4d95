"""Records per second, Kafka to Kafka: Millrace on Spark, and a Kafka Streams application.

    ./millrace bench throughput -- --records 2000000
    ./millrace bench throughput -- --guarantee exactly_once --rounds 3

Both run the same documents with the same broker on this machine, with two threads and both
guarantees. Kafka Streams is a process for each round. Spark runs in one process: the first two
rounds warm it up, and the others are measured from the start to the end of the query. Beside
records per second of wall-clock time, the table shows the engine's CPU time per record, which does
not depend on the load of the machine; both as the median, with the lowest and the highest round.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

import psutil
from millrace_runtime import columns
from millrace_runtime.analyzer.compiling import compiled, session_analyzer
from millrace_runtime.job.job import Job
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.session import session

from bench._broker import Broker
from bench._spread import Spread
from cli import oracle

Guarantee = Literal["at_least_once", "exactly_once"]

INPUT = "bench-orders"
TABLE = "bench-items"
PAYMENTS = "bench-payments"
PARTITIONS = 4
KEYS = 10_000
#: rounds at the beginning that only warm up the JVM
WARMING = 2
STREAMS, OWN = "Kafka Streams", "Millrace"
GUARANTEES: tuple[Guarantee, ...] = ("at_least_once", "exactly_once")
#: measured rounds, by guarantee, topology and system
Found = dict[tuple[str, str, str], list[dict[str, Any]]]
#: of every 60 seconds of records, the sessions use the first 30: three per key, 10 s apart
BURST_EVERY, BURST = 60_000, 30_000
#: ms between an order and its payment, and the window of their join: one payment for each order
PAID_AFTER, PAID_WITHIN = 2_000, 5_000
_ORDERS = {
    "id": "orders",
    "kind": "source.stream",
    "params": {
        "topics": [INPUT],
        "key": {"format": "string"},
        "value": {"format": "json", "schema": "amount INT, item STRING, n BIGINT"},
    },
}
#: the same topic as a table: each record is the new row of its key
_ORDERS_TABLE = {
    "id": "orders",
    "kind": "source.table",
    "params": {
        "topic": INPUT,
        "key": {"format": "string"},
        "value": {"format": "json", "schema": "amount INT, item STRING, n BIGINT"},
    },
}
_ITEMS = {
    "id": "items",
    "kind": "source.table",
    "params": {
        "topic": TABLE,
        "key": {"format": "string"},
        "value": {"format": "json", "schema": "city STRING, name STRING"},
    },
}
_PAYMENTS = {
    "id": "payments",
    "kind": "source.stream",
    "params": {
        "topics": [PAYMENTS],
        "key": {"format": "string"},
        "value": {"format": "json", "schema": "city STRING, name STRING"},
    },
}
_UPDATES = {"id": "updates", "kind": "to_stream", "params": {}}


#: Kafka Streams' names of guarantees
_THEIR = {"at_least_once": "at_least_once", "exactly_once": "exactly_once_v2"}


def documents() -> dict[str, dict[str, Any]]:
    """Return the measured documents by name.

    No state; a count by key; a count by key and minute; sessions, each emitted once when it has
    closed; a lookup; a join of two streams; joins of two tables by their keys and by a foreign key.
    """
    stateless = [
        _step("big", "filter", predicate="value.amount > 10"),
        _step(
            "shaped",
            "map_values",
            value="named_struct('twice', value.amount * 2, 'item', upper(value.item))",
        ),
    ]
    minute = {"type": "tumbling", "size": 60_000, "grace": 0}
    windowed = [
        _step("count", "count", window=minute),
        _UPDATES,
        _step("flat", "select_key", key="concat(key.key, '@', unix_millis(key.window.start))"),
    ]
    joined = "named_struct('amount', left.amount, 'city', right.city, 'n', left.n)"
    join = document_of("join", [_step("join", "join.stream_table", type="inner", joiner=joined)])
    _with_right(join, _ITEMS)
    within = {"before": PAID_WITHIN, "after": PAID_WITHIN, "grace": 0}
    of_streams = document_of(
        "stream-stream",
        [_step("join", "join.stream_stream", type="inner", joiner=joined, **within)],
    )
    _with_right(of_streams, _PAYMENTS)
    of_tables = document_of(
        "table-table", [_step("join", "join.table_table", type="inner", joiner=joined), _UPDATES]
    )
    of_tables["nodes"][0] = _ORDERS_TABLE
    _with_right(of_tables, _ITEMS)
    burst = {"type": "session", "gap": 15_000, "grace": 0}
    sessions = [
        _step("bursts", "filter", predicate=f"value.n % {BURST_EVERY} < {BURST}"),
        _step("count", "count", window=burst),
        _step("closed", "suppress", until="window_closes"),
        *windowed[1:],
    ]
    foreign = "concat('key-', value.amount)"
    by_foreign_key = document_of(
        "foreign-key",
        [_step("join", "join.foreign_key", foreign_key=foreign, joiner=joined), _UPDATES],
    )
    by_foreign_key["nodes"][0] = _ORDERS_TABLE
    _with_right(by_foreign_key, _ITEMS)
    return {
        "stateless": document_of("stateless", stateless),
        "count": document_of("count", [_step("count", "count"), _UPDATES]),
        "windowed": document_of("windowed", windowed),
        "sessions": document_of("sessions", sessions),
        "join": join,
        "stream-stream": of_streams,
        "table-table": of_tables,
        "foreign-key": by_foreign_key,
    }


def _with_right(document: Any, source: dict[str, Any]) -> None:
    """Make a source the right input of the node `join`."""
    params = source["params"]
    document["topics"][params.get("topic") or params["topics"][0]] = {"partitions": PARTITIONS}
    document["nodes"].append(source)
    document["edges"][0]["target_port"] = "left"
    document["edges"].append({"source": source["id"], "target": "join", "target_port": "right"})


def _step(id: str, kind: str, **params: Any) -> dict[str, Any]:
    return {"id": id, "kind": kind, "params": params}


def document_of(name: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a document with these steps in a chain from the orders to a topic."""
    sink = _step("out", "sink.topic", topic=f"bench-{name}")
    nodes = [_ORDERS, *steps, sink]
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


def fill(address: str, records: int, topics: Collection[str] = (TABLE, PAYMENTS)) -> None:
    """Write the input: JSON values with ten thousand keys, timestamps a millisecond apart.

    The table has a row for each key, older than all records that are joined with it, and later than
    0, for which librdkafka writes the present time. Every order has a payment. `topics`: those to
    write beside the orders.
    """
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

    keep = {"retention.ms": "-1"}
    names = [INPUT, TABLE, PAYMENTS, *(f"bench-{name}" for name in documents())]
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    made = [NewTopic(name, PARTITIONS, 1, config=keep) for name in names]
    for future in admin.create_topics(made).values():
        future.result()
    producer = Producer(
        {"bootstrap.servers": address, "linger.ms": 20, "queue.buffering.max.messages": 500_000}
    )

    def put(topic: str, key: int, value: str, timestamp: int) -> None:
        while True:
            try:
                producer.produce(topic, value, f"key-{key}", timestamp=timestamp)
                return
            except BufferError:
                producer.poll(0.1)

    for n in range(KEYS if TABLE in topics else 0):
        put(TABLE, n, f'{{"city":"city-{n % 313}","name":"name-{n}"}}', 1 + n % 999)
    for n in range(records):
        value = f'{{"amount":{n % 50},"item":"item-{n % 97}","n":{n}}}'
        put(INPUT, n * 7919 % KEYS, value, 1_000 + n)
        if PAYMENTS in topics:
            paid = f'{{"city":"city-{n % 313}","name":"name-{n % 97}"}}'
            put(PAYMENTS, n * 7919 % KEYS, paid, 1_000 + n + PAID_AFTER)
    producer.flush(120)


def read_of(document: Any, records: int) -> int:
    """Return how many records a document reads, of this number of orders."""
    each = {INPUT: records, TABLE: KEYS, PAYMENTS: records}
    return sum(each[topic] for topic in document["topics"])


def on_spark(
    spark: Any, address: str, document: Any, *, most: int, guarantee: str | None = None
) -> dict[str, Any]:
    """Run a compiled document on all records, in batches of at most `most` records."""
    settings: Any = {"processing_guarantee": guarantee} if guarantee else {}
    graph = compiled(document, session_analyzer(spark)).require_task_graph()
    run = uuid.uuid4().hex
    kafka = Kafka(spark, address, run=run, max_records=most)
    job = Job(spark, kafka, graph, name=document["name"], run=run)
    spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
    plan = job.query()
    checkpoint = tempfile.mkdtemp(prefix="millrace-bench-", dir=session.local_dir())
    writer = (
        plan.rows.writeStream.outputMode("append")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
    )
    writer = kafka.into(writer, plan.graph, settings)
    java = psutil.Process(spark._jvm.java.lang.ProcessHandle.current().pid())
    began, worked = time.monotonic(), sum(java.cpu_times()[:2])
    query = writer.start()
    query.awaitTermination()
    seconds, worked = time.monotonic() - began, sum(java.cpu_times()[:2]) - worked
    rows = sum(int(each["numInputRows"]) for each in query.recentProgress)
    columns.gateway().StreamTasks.release(run)
    shutil.rmtree(checkpoint, ignore_errors=True)
    return figures(rows, seconds, worked)


def figures(records: int, seconds: float, worked: float) -> dict[str, Any]:
    """Return the records per second, and the CPU microseconds per record."""
    return {
        "records": records,
        "seconds": round(seconds, 2),
        "per_second": round(records / seconds),
        "processor_us": round(worked / records * 1e6, 2),
    }


def on_kafka_streams(
    address: str, document: Any, records: int, guarantee: Guarantee = "at_least_once", *,
    threads: int = 2,
) -> dict[str, Any]:  # fmt: skip
    """Run the same document as a Kafka Streams application with so many threads.

    It is a separate process, whose CPU time includes its start.
    """
    worked = _of_children()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "document.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        done = subprocess.run(
            oracle.command(
                "app", str(path), "--bootstrap-servers", address, "--threads", str(threads),
                "--stop-after", str(records), "--guarantee", _THEIR[guarantee],
                scratch=scratch,
            ),
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["no reason given"])[-1]}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    if found["state"].startswith("ERROR") or found["records"] < records:
        return {"error": f"{found['records']} of {records} records, {found['state']}"}
    # Not its own count, which contains records of repartition topics.
    return figures(records, found["seconds"], _of_children() - worked)


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def engine() -> Any:
    """Return a Spark session with two threads."""
    return session.create(
        "millrace-bench",
        master="local[2]",
        settings={
            "spark.driver.memory": "3g",
            "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
            "spark.sql.streaming.numRecentProgressUpdates": "1000",
        },
    )


def main() -> int:
    """Prints a table for each guarantee."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--only", choices=sorted(documents()))
    parser.add_argument("--guarantee", choices=GUARANTEES, help="default: both")
    parser.add_argument("--rounds", type=int, default=2, help="measured, of each (default: 2)")
    arguments = parser.parse_args()
    chosen = {
        name: document for name, document in documents().items() if arguments.only in (None, name)
    }
    guarantees = [one for one in GUARANTEES if arguments.guarantee in (None, one)]
    found: Found = {}
    with Broker() as broker:
        read_by = {topic for document in chosen.values() for topic in document["topics"]}
        fill(broker.address, arguments.records, read_by)
        for guarantee, name in itertools.product(guarantees, chosen):
            read = read_of(chosen[name], arguments.records)
            found[guarantee, name, STREAMS] = [
                on_kafka_streams(broker.address, chosen[name], read, guarantee)
                for _ in range(arguments.rounds)
            ]
        spark = engine()
        try:
            for name, guarantee in itertools.product(chosen, guarantees):
                turns = [
                    on_spark(
                        spark, broker.address, chosen[name],
                        most=4 * arguments.records, guarantee=guarantee,
                    )
                    for _ in range(WARMING + arguments.rounds)
                ]  # fmt: skip
                found[guarantee, name, OWN] = turns[WARMING:]
        finally:
            spark.stop()
    for guarantee in guarantees:
        print(f"\n{guarantee.replace('_', ' ')}, load {os.getloadavg()[0]:.1f}")
        show({key[1:]: turns for key, turns in found.items() if key[0] == guarantee})
    return 0


def show(found: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
    """Print one row per topology: all engines, and what the others need of Millrace's.

    Medians, with the lowest and the highest round.
    """
    systems = list(dict.fromkeys(system for _, system in found))
    others = [each for each in systems if each != OWN]
    print(f"{'':14}" + "".join(f"{each:>49}" for each in systems) + f"{'ratio':>16}" * len(others))
    print(
        f"{'topology':14}"
        + f"{'records/s':>29}{'µs/record':>20}" * len(systems)
        + "".join(f"{'clock':>9}{'cpu':>7}" for _ in others)
    )
    for name in dict.fromkeys(name for name, _ in found):
        cells, notes = [], []
        for system in systems:
            turns = found.get((name, system), [{"error": "not measured"}])
            wrong = [each["error"] for each in turns if "error" in each]
            notes += [f"{system}: {wrong[0]}"] if wrong else []
            cells.append(f"{'-':>29}{'-':>20}" if wrong else _cells(turns))
        cells += [_ratios(found.get((name, other), []), found[name, OWN]) for other in others]
        print(f"{name:14}{''.join(cells)}" + "".join(f"  {note}" for note in notes))


def _cells(turns: list[dict[str, Any]]) -> str:
    by_clock = Spread.of([each["per_second"] for each in turns]).show(0)
    return f"{by_clock:>29}{Spread.of([each['processor_us'] for each in turns]).show(2):>20}"


def _ratios(others: list[dict[str, Any]], own: list[dict[str, Any]]) -> str:
    if not others or any("error" in each for each in (*others, *own)):
        return f"{'-':>9}{'-':>7}"
    clock = _median(own, "per_second") / _median(others, "per_second")
    cpu = _median(others, "processor_us") / _median(own, "processor_us")
    return f"{clock:>9.2f}{cpu:>7.2f}"


def _median(turns: list[dict[str, Any]], figure: str) -> float:
    return Spread.of([float(each[figure]) for each in turns]).median


if __name__ == "__main__":
    sys.exit(main())
