"""Recorded scenarios on a real broker with 4 partitions: each task gives Kafka Streams' results.

`MILLRACE_SCENARIOS=all ./millrace test tests/runtime/job/test_scenarios_on_a_broker.py` runs every
scenario that can be spread (no repartition, no wall clock); without it a sample.
"""

from __future__ import annotations

import itertools
import json
import operator
import os
import shutil
import tempfile
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import columns
from pyspark.errors import StreamingQueryException

from tests.runtime import topics
from tests.runtime.live import Engines, formats_by_topic, sink_formats
from tests.runtime.spread import (
    DAY,
    PARTITIONS,
    Line,
    Seen,
    decode,
    in_order,
    interleaved,
    moves_records,
    partition_of,
    renamed,
    shown,
    to_bytes,
    widened,
)

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

FOLDER = Path(__file__).parents[2] / "conformance" / "scenarios"
#: One of each family, to save time.
SAMPLE = ["A06", "C01", "D10", "E05", "F02", "G03", "H02", "I08", "J01", "K52", "L03", "M02"]


def spreadable(scenario: Any) -> bool:
    """Whether a scenario's tasks differ only in the partitions of its inputs."""
    document = scenario["topology"]
    read = set(formats_by_topic(document))
    written = {node["params"].get("topic") for node in document["nodes"] if _writes(node)}
    return (
        scenario["compare"] in ("sequence", "set_per_input")
        and not scenario["expected"]["error"]
        and not moves_records(document)
        and not read & written  # the broker decides when such a record comes back
        and all("topic" in line or "restart" in line for line in scenario["inputs"])
    )


def _writes(node: Any) -> bool:
    return bool(node["kind"] == "sink.topic" and node["params"].get("topic"))


def scenarios() -> dict[str, Any]:
    read = (json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json")))
    found = {scenario["id"]: scenario for scenario in read if spreadable(scenario)}
    wanted = os.environ.get("MILLRACE_SCENARIOS", ",".join(SAMPLE))
    return found if wanted == "all" else {n: s for n, s in found.items() if n in wanted.split(",")}


SCENARIOS = scenarios()


class Jobs(Engines):
    """Runs documents in micro-batches."""

    def run(self, document: Any, kept: Path | None = None) -> Any:
        """Run a document over all records of its topics; return its task graph and figures.

        `kept`: a checkpoint to continue.
        """
        from millrace_runtime.analyzer.compiling import compiled
        from millrace_runtime.job.job import Job
        from millrace_runtime.job.kafka import Kafka

        graph = compiled(document, self.analyzer).require_task_graph()
        run = uuid.uuid4().hex
        settings: Any = document.get("settings") or {}
        spark = self.spark.newSession()
        kafka = Kafka(spark, self.address, run=run)
        # A processor may schedule by the wall clock, which does not advance in these scenarios.
        job = Job(spark, kafka, graph, name="scenario", run=run, updates=True)
        spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
        plan = job.query()
        checkpoint = str(kept or tempfile.mkdtemp(prefix="millrace-scenario-"))
        try:
            writer = plan.rows.writeStream.outputMode("update").trigger(availableNow=True)
            writer = writer.option("checkpointLocation", checkpoint)
            kafka.into(writer, plan.graph, settings).start().awaitTermination()
        finally:
            if kept is None:
                shutil.rmtree(checkpoint, ignore_errors=True)
            columns.gateway().StreamTasks.release(run)
        reports = columns.gateway().Reports
        return {"graph": plan.graph, "dropped": json.loads(reports.statistics(run))["dropped"]}


@pytest.fixture(scope="module")
def engines(broker: Any) -> Iterator[Jobs]:
    running = Jobs(broker.address, "scenarios", 2)
    yield running
    running.close()


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_task_gives_what_kafka_streams_gives(engines: Jobs, name: str) -> None:
    check(engines, SCENARIOS[name])


def test_tasks_take_records_in_the_order_of_extracted_timestamps(engines: Jobs) -> None:
    text, timed = {"format": "string"}, {"format": "json", "schema": "at BIGINT, n INT"}
    common = {"key": text, "value": timed, "timestamp": "value.at"}
    document = {
        "format": "millrace.topology/1",
        "name": "extracted",
        "nodes": [
            {"id": "s", "kind": "source.stream", "params": {"topics": ["s"], **common}},
            {"id": "t", "kind": "source.table", "params": {"topic": "t", **common}},
            {
                "id": "join", "kind": "join.stream_table",
                "params": {"type": "left", "joiner": "left.n || '-' || coalesce(right.n, 0)"},
            },
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [
            {"source": "s", "target": "join", "target_port": "left"},
            {"source": "t", "target": "join", "target_port": "right"},
            {"source": "join", "target": "out"},
        ],
    }  # fmt: skip
    # Written in the order of the list; the timestamps in the values give another order.
    inputs = [
        {"topic": topic, "key": "k", "value": {"at": at, "n": at}, "timestamp": n}
        for n, (topic, at) in enumerate([("t", 5), ("t", 9), ("s", 3), ("s", 7), ("s", 11)])
    ]
    check(
        engines,
        {
            "id": "extracted", "topology": document, "inputs": inputs, "compare": "sequence",
            "expected": {"outputs": [{"topic": "out"}], "dropped": 0},
        },
        time=lambda line: int(line["value"]["at"]),
    )  # fmt: skip


DRAWS = "concat(value, ' ', uuid(), ' ', rand(), ' ', unix_micros(now()))"
PROCESSOR = """
class Draw(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        drawn = f"{self.context.random().random()} {self.context.processing_time()}"
        self.context.forward(record.replace(value=f"{record.value} {drawn}"))
"""


def test_a_batch_that_is_processed_again_draws_the_same_values(
    engines: Jobs, tmp_path: Path
) -> None:
    """As after a crash between the output and the commit; on both sides of a repartition."""
    prefix = f"draws-{uuid.uuid4().hex[:6]}-"
    text = {"format": "string"}
    source = {"topics": [f"{prefix}in"], "key": text, "value": text}
    document = {
        "format": "millrace.topology/1",
        "name": "draws",
        "nodes": [
            {"id": "in", "kind": "source.stream", "params": source},
            {"id": "before", "kind": "map_values", "params": {"value": DRAWS}},
            {"id": "twice", "kind": "flat_map_values", "params": {"values": "array(value, value)"}},
            {"id": "key", "kind": "select_key", "params": {"key": "value"}},
            {"id": "moved", "kind": "repartition", "params": {}},
            {"id": "after", "kind": "map_values", "params": {"value": DRAWS}},
            {
                "id": "python", "kind": "process_values",
                "params": {"code": PROCESSOR, "class_name": "Draw", "output": {"value": "STRING"}},
            },
            {"id": "out", "kind": "sink.topic", "params": {"topic": f"{prefix}out"}},
        ],
        "edges": [
            {"source": first, "target": second}
            for first, second in itertools.pairwise(
                ("in", "before", "twice", "key", "moved", "after", "python", "out")
            )
        ],
    }  # fmt: skip
    topics.create(engines.address, {f"{prefix}in": PARTITIONS, f"{prefix}out": PARTITIONS})
    records = [{"value": str(n), "partition": n % PARTITIONS, "timestamp": n} for n in range(20)]
    topics.produce(engines.address, f"{prefix}in", records)
    engines.run(document, tmp_path)
    last = max((tmp_path / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()
    engines.run(document, tmp_path)
    written = topics.consume(engines.address, f"{prefix}out", 80, seconds=60)
    values = Counter(record.value().decode() for record in written)
    assert len(values) == 40, "both records of an input have values of their own"
    assert set(values.values()) == {2}, "and the second run wrote the same"
    parts = [value.split() for value in values]
    for random, distinct in ((1, 20), (2, 20), (4, 40), (5, 40), (7, 40)):
        assert len({part[random] for part in parts}) == distinct
    for now in (3, 6):
        assert {part[now][:-3] for part in parts} == {part[8] for part in parts}


def check(
    engines: Jobs,
    scenario: Any,
    time: Callable[[Line], int] = operator.itemgetter("timestamp"),
) -> None:
    """Compare a scenario with several keys through Kafka with the oracle, by partition."""
    prefix = f"{scenario['id'].lower()}-{uuid.uuid4().hex[:6]}-"
    document = renamed(scenario["topology"], prefix)
    formats = formats_by_topic(document)
    placed = []
    for number, line in enumerate(
        widened([each for each in scenario["inputs"] if "topic" in each])
    ):
        named = prefix + line["topic"]
        if named in formats:
            moved = {**line, "topic": named, "timestamp": DAY + line.get("timestamp", 0)}
            key, value = to_bytes(moved, formats[named])
            placed.append((moved, partition_of(key, number), key, value))

    expected = []
    dropped = 0
    everywhere = [
        node["params"]["topic"]
        for node in document["nodes"]
        if node["kind"] == "source.global_table"
    ]
    stopped = False
    for partition in range(PARTITIONS):
        own = [
            (line, at) for line, at, *_ in placed if at == partition or line["topic"] in everywhere
        ]
        reported: Any = {**scenario, "topology": document, "inputs": in_order(own, time)}
        result = engines.oracle.run(reported)
        stopped = stopped or bool(result["error"])
        dropped += result["dropped"] or 0
        by_topic: dict[str, list[Any]] = defaultdict(list)
        for record in result["outputs"]:
            by_topic[record["topic"]].append(record)
        expected.append(by_topic)

    dead = (document.get("settings") or {}).get("dead_letter_topic")
    targets = {node["params"]["topic"] for node in document["nodes"] if _writes(node)}
    targets |= {topic for part in expected for topic in part} | ({dead} if dead else set())
    topics.create(engines.address, dict.fromkeys({*formats, *targets}, PARTITIONS))
    for topic in formats:
        records = [
            {
                "key": key, "value": value, "partition": partition, "timestamp": line["timestamp"],
                "headers": [(n, t.encode()) for n, t in (line.get("headers") or {}).items()],
            }
            for line, partition, key, value in placed
            if line["topic"] == topic
        ]  # fmt: skip
        topics.produce(engines.address, topic, records)
    if stopped:
        with pytest.raises(StreamingQueryException, match="MILLRACE-FAULT"):
            engines.run(document)
        return
    ours = engines.run(document)
    for topic in sorted(targets):
        formats_of_topic = sink_formats(ours["graph"], topic, dead=topic == dead)
        compare(engines.address, topic, [part[topic] for part in expected], formats_of_topic)
    if scenario["expected"]["dropped"] is not None and not everywhere:
        assert ours["dropped"] == dropped


def compare(address: str, topic: str, tasks: list[list[Any]], formats: tuple[Any, Any]) -> None:
    """Check that each partition of a topic has the records of the tasks, in each task's order."""
    found: dict[int, list[tuple[Seen, bool]]] = defaultdict(list)
    places: dict[str, int] = {}
    for message in topics.consume(address, topic, sum(map(len, tasks)), seconds=60):
        record = {
            "key": decode(message.key(), formats[0]),
            "value": decode(message.value(), formats[1]),
            "timestamp": message.timestamp()[1],
            "headers": {n: None if v is None else v.decode() for n, v in message.headers() or []},
        }
        text = shown(record)
        found[message.partition()].append((text, record["key"] is None))
        places[text] = message.partition()
    wanted = [[shown(record) for record in task] for task in tasks]
    assert sorted(text for part in found.values() for text, _ in part) == sorted(
        text for part in wanted for text in part
    ), topic
    for partition, part in found.items():
        # A record without a key goes to the partition that the producer is currently filling.
        seen = [text for text, keyless in part if not keyless]
        parts = [
            [text for text in task if places[text] == partition and not text.startswith("[null,")]
            for task in wanted
        ]
        assert interleaved(seen, parts), (topic, partition, seen, parts)
