"""Topic names from an expression: a simulation accepts any text, a real broker does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Broker
from tests.runtime import topics

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]

STRING = {"format": "string"}


def document(topic: str, *, task: bool) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = [
        {"id": "in", "kind": "source.stream",
         "params": {"topics": [topic], "key": STRING, "value": STRING}},
        {"id": "seen", "kind": "peek" if task else "filter",
         "params": {"message": "'seen'"} if task else {"predicate": "true"}},
        {"id": "out", "kind": "sink.topic", "params": {"topic_expression": "value"}},
    ]  # fmt: skip
    edges = [{"source": "in", "target": "seen"}, {"source": "seen", "target": "out"}]
    return {
        "format": "millrace.topology/1",
        "name": "names",
        "settings": {"processing_handler": "continue"},  # no handler skips this fault
        "nodes": nodes,
        "edges": edges,
    }


@pytest.mark.parametrize("task", [True, pytest.param(False, marks=pytest.mark.long)])
@pytest.mark.long
def test_a_name_that_no_broker_would_take_stops_at_the_sink_and_its_record(
    broker: Broker, tmp_path: Path, task: bool
) -> None:
    topic, taken = f"names-{task}", f"taken-{task}"
    topics.create(broker.address, {topic: 1, taken: 1})
    records = [{"key": b"k", "value": name} for name in (taken.encode(), b"a b")]
    topics.produce(broker.address, topic, records)
    done = run(document(topic, task=task), broker, tmp_path)
    assert done.returncode == 3, done.stderr
    assert "`a b` is not a valid topic name" in done.stderr
    assert "Traceback" not in done.stderr
    assert topics.size(broker.address, taken) == 1


@pytest.mark.long
def test_a_pattern_reads_no_topics_of_kafka_and_no_partial_matches(
    broker: Broker, tmp_path: Path
) -> None:
    mine = f"mine-{uuid.uuid4().hex}"
    internal = [f"app-{mine}-store-changelog", f"app-{mine}-count-repartition"]
    topics.create(broker.address, {f"{mine}-a": 1, f"{mine}-b": 1, **dict.fromkeys(internal, 1)})
    out = f"out-{mine}"
    topics.create(broker.address, {out: 1})
    for topic in (f"{mine}-a", f"{mine}-b", *internal):
        topics.produce(broker.address, topic, [{"key": b"k", "value": topic.encode()}])
    topics.consume(broker.address, f"{mine}-a", 1)  # a group writes to __consumer_offsets
    assert topics.size(broker.address, "__consumer_offsets") > 0
    raw = {
        "format": "millrace.topology/1",
        "name": "pattern",
        "nodes": [
            {"id": "in", "kind": "source.stream",
             "params": {"topic_pattern": f"{mine}-.*|__consumer_.*",
                        "key": {"format": "bytes"}, "value": {"format": "bytes"}}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": out}},
        ],
        "edges": [{"source": "in", "target": "out"}],
    }  # fmt: skip
    done = run(raw, broker, tmp_path)
    assert done.returncode == 0, done.stderr
    written = {record.value().decode() for record in topics.consume(broker.address, out, 2)}
    assert written == {f"{mine}-a", f"{mine}-b"}


def run(raw: dict[str, Any], broker: Broker, folder: Path) -> subprocess.CompletedProcess[str]:
    """Process a document over all available records with `run`."""
    path = folder / "doc.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    root = Path(__file__).parents[3]
    return subprocess.run(
        [sys.executable, "-m", "cli", "run", str(path), "--available-now",
         "--bootstrap-servers", broker.address, "--checkpoint", str(folder / "c")],
        cwd=root, capture_output=True, text=True, check=False, timeout=400,
        env={**os.environ, "SPARK_MASTER": "local[1]",
             "PYTHONPATH": os.pathsep.join([str(root / "compiler"), str(root / "runtime"),
                                            *filter(None, sys.path)])},
    )  # fmt: skip
