"""Recorded scenarios on a real broker with 4 partitions: each task does what Kafka Streams does.

`MILLRACE_SCENARIOS=all ./millrace test tests/runtime/test_scenarios_on_a_broker.py` runs every
scenario that can be spread (no repartition, no wall clock); without it a sample.
"""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import columns

from tests.runtime import topics
from tests.runtime.spread import (
    PARTITIONS,
    Line,
    Seen,
    decode,
    in_order,
    interleaved,
    partition_of,
    renamed,
    shown,
    widened,
)

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

FOLDER = Path(__file__).parents[1] / "conformance" / "scenarios"
#: ms added to all timestamps, since 0 means now to the client that writes them.
DAY = 86_400_000
#: One of each family, for time.
SAMPLE = ["A06", "C01", "D10", "E05", "F02", "G03", "H02", "I08", "J01", "K52", "L03", "M02"]


def spreadable(scenario: dict[str, Any]) -> bool:
    """Whether the tasks of a scenario are told apart by the partitions of its inputs alone."""
    kinds = {node["kind"] for node in scenario["topology"]["nodes"]}
    moved = any(node.get("params", {}).get("group_by") for node in scenario["topology"]["nodes"])
    return (
        scenario["compare"] in ("sequence", "set_per_input")
        and not scenario["expected"]["error"]
        and not moved
        and not kinds & {"repartition", "join.foreign_key", "sink.print"}
        and all("topic" in line or "restart" in line for line in scenario["inputs"])
    )


def scenarios() -> dict[str, dict[str, Any]]:
    read = (json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json")))
    found = {scenario["id"]: scenario for scenario in read if spreadable(scenario)}
    wanted = os.environ.get("MILLRACE_SCENARIOS", ",".join(SAMPLE))
    return found if wanted == "all" else {n: s for n, s in found.items() if n in wanted.split(",")}


SCENARIOS = scenarios()


class Engines:
    """A warm Spark session on a broker, and the oracle."""

    def __init__(self, address: str) -> None:
        from millrace_runtime import session

        from tools.cli.documents import session_analyzer
        from tools.cli.oracle import Oracle

        self.address = address
        self.oracle = Oracle()
        self.spark = session.create(
            "scenarios",
            master="local[2]",
            settings={
                "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
                "spark.sql.codegen.wholeStage": "false",
            },
        )
        self.analyzer = session_analyzer(self.spark)

    def close(self) -> None:
        self.oracle.close()
        self.spark.stop()

    def run(self, document: dict[str, Any]) -> dict[str, Any]:
        """Runs a document over what its topics hold; its task graph and its figures."""
        from millrace_compiler import compile_document
        from millrace_runtime.job import Job
        from millrace_runtime.kafka import Kafka

        from tools.cli.simulating import topology_of

        compilation = compile_document(document, self.analyzer)
        run = uuid.uuid4().hex
        settings = document.get("settings") or {}
        spark = self.spark.newSession()
        kafka = Kafka(spark, self.address, run=run)
        # A processor may schedule by the wall clock: no scenario here lets it tick.
        job = Job(spark, kafka, name="scenario", settings=settings, tasks=PARTITIONS, run=run)
        topology_of(compilation)(job)
        spark.conf.set("spark.sql.shuffle.partitions", str(job.shuffle_partitions))
        plan = job.plan()
        checkpoint = tempfile.mkdtemp(prefix="millrace-scenario-")
        try:
            writer = plan.rows.writeStream.outputMode("append").trigger(availableNow=True)
            writer = writer.option("checkpointLocation", checkpoint)
            kafka.into(writer, plan.graph, settings).start().awaitTermination()
        finally:
            shutil.rmtree(checkpoint, ignore_errors=True)
        reports = columns.gateway().Reports
        return {"graph": plan.graph, "dropped": json.loads(reports.statistics(run))["dropped"]}

    def key_bytes(self, line: Line, formats: dict[str, Any]) -> tuple[bytes | None, bytes | None]:
        """Key and value of an input line as they go to Kafka."""
        encode = columns.gateway().Simulation.encode
        found = []
        for name in ("key", "value"):
            text = line.get(f"{name}_bytes")
            if text is None:
                text = encode(json.dumps(formats[name]), json.dumps(line.get(name)))
            found.append(None if text is None else base64.b64decode(text))
        return found[0], found[1]


@pytest.fixture(scope="module")
def engines(broker: Any) -> Iterator[Engines]:
    running = Engines(broker.address)
    yield running
    running.close()


def formats_by_topic(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Key and value formats of the topics that are read."""
    found = {}
    for node in document["nodes"]:
        params = node.get("params", {})
        if node["kind"].startswith("source."):
            for topic in params.get("topics") or [params.get("topic")]:
                found[topic] = {"key": params.get("key"), "value": params.get("value")}
    return found


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_task_gives_what_kafka_streams_gives(engines: Engines, name: str) -> None:
    scenario = SCENARIOS[name]
    prefix = f"{name.lower()}-{uuid.uuid4().hex[:6]}-"
    document = renamed(scenario["topology"], prefix)
    lines = [
        {**line, "topic": prefix + line["topic"], "timestamp": DAY + line.get("timestamp", 0)}
        for line in widened([line for line in scenario["inputs"] if "topic" in line])
    ]
    formats = formats_by_topic(document)
    everywhere = {
        node["params"]["topic"]
        for node in document["nodes"]
        if node["kind"] == "source.global_table"
    }
    lines = [line for line in lines if line["topic"] in formats]
    placed = []
    for number, line in enumerate(lines):
        key, value = engines.key_bytes(line, formats[line["topic"]])
        placed.append((line, partition_of(key, number), key, value))

    sinks = {
        node["params"]["topic"]
        for node in document["nodes"]
        if node["kind"] == "sink.topic" and node["params"].get("topic")
    }
    dead = (document.get("settings") or {}).get("dead_letter_topic")
    chosen_by_records = {record["topic"] for record in scenario["expected"]["outputs"]} - {
        topic.removeprefix(prefix) for topic in {*sinks, dead or ""}
    }
    targets = {*sinks, *(prefix + topic for topic in chosen_by_records), *([dead] if dead else [])}
    if targets & formats.keys():
        pytest.skip("a topic that is read and written: the order is the broker's")
    topics.create(engines.address, dict.fromkeys({*formats, *targets}, PARTITIONS))
    for topic in formats:
        topics.produce(
            engines.address,
            topic,
            [
                {
                    "key": key, "value": value, "partition": partition,
                    "timestamp": line["timestamp"],
                    "headers": [(n, t.encode()) for n, t in (line.get("headers") or {}).items()],
                }
                for line, partition, key, value in placed
                if line["topic"] == topic
            ],
        )  # fmt: skip

    ours = engines.run(document)
    expected = []
    dropped = 0
    for partition in range(PARTITIONS):
        own = [
            (line, at) for line, at, *_ in placed if at == partition or line["topic"] in everywhere
        ]
        told = {"topology": document, "inputs": in_order(own), "compare": scenario["compare"]}
        if scenario.get("oracle_processors"):
            told["oracle_processors"] = scenario["oracle_processors"]
        result = engines.oracle.run(told)
        assert not result["error"], result
        dropped += result["dropped"] or 0
        by_topic: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for record in result["outputs"]:
            by_topic[record["topic"]].append(record)
        expected.append(by_topic)

    for topic in sorted(targets):
        records = sum(len(part[topic]) for part in expected)
        compare(engines.address, topic, [part[topic] for part in expected], records, ours["graph"],
                dead=topic == dead)  # fmt: skip
    if scenario["expected"]["dropped"] is not None and not everywhere:
        assert ours["dropped"] == dropped


def compare(
    address: str,
    topic: str,
    tasks: list[list[dict[str, Any]]],
    records: int,
    graph: dict[str, Any],
    *,
    dead: bool,
) -> None:
    """Each partition of a topic has the records of the tasks, each task's in its order."""
    found: dict[int, list[tuple[Seen, bool]]] = defaultdict(list)
    places: dict[str, int] = {}
    formats = sink_formats(graph, topic, dead=dead)
    for message in topics.consume(address, topic, records, seconds=60):
        record = {
            "key": decode(message.key(), formats[0]),
            "value": decode(message.value(), formats[1]),
            "timestamp": message.timestamp()[1],
            "headers": {n: None if v is None else v.decode() for n, v in message.headers() or []},
        }
        text = shown(record, formats)
        found[message.partition()].append((text, record["key"] is None))
        places[text] = message.partition()
    wanted = [[shown(record, formats) for record in task] for task in tasks]
    assert sorted(text for part in found.values() for text, _ in part) == sorted(
        text for part in wanted for text in part
    ), topic
    for partition, part in found.items():
        # A record without a key goes to whichever partition the producer is filling.
        seen = [text for text, keyless in part if not keyless]
        parts = [
            [text for text in task if places[text] == partition and not text.startswith("[null,")]
            for task in wanted
        ]
        assert interleaved(seen, parts), (topic, partition, seen, parts)


def sink_formats(graph: dict[str, Any], topic: str, *, dead: bool) -> tuple[Any, Any]:
    """Key and value formats of what is written to a topic."""
    if dead:
        return {"format": "bytes"}, {"format": "bytes"}
    sinks = [node["params"] for node in graph["nodes"] if node["op"] in ("to", "sink")]
    named = [params for params in sinks if params.get("topic") == topic] or [
        params for params in sinks if params.get("topic_expression")
    ]
    return named[0]["key"], named[0]["value"]


def test_the_partitions_of_the_scenarios_are_all_in_use() -> None:
    chance = random.Random(1)
    keys = [f"{chance.choice('abk')}{n}".encode() for n in range(4)]
    assert len({partition_of(key, 0) for key in keys}) > 1
