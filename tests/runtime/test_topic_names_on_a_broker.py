"""A topic's name made by an expression: a simulation takes any text, a real broker does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
        "settings": {"processing_handler": "continue"},  # passed over by no handler
        "nodes": nodes,
        "edges": edges,
    }


@pytest.mark.parametrize("task", [True, False])
def test_a_name_that_no_broker_would_take_stops_at_the_sink_and_its_record(
    broker: Broker, tmp_path: Path, task: bool
) -> None:
    topic, taken = f"names-{task}", f"taken-{task}"
    topics.create(broker.address, {topic: 1, taken: 1})
    records = [{"key": b"k", "value": name} for name in (taken.encode(), b"a b")]
    topics.produce(broker.address, topic, records)
    path = tmp_path / "doc.json"
    path.write_text(json.dumps(document(topic, task=task)), encoding="utf-8")
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tools.cli", "run", str(path), "--available-now",
         "--bootstrap-servers", broker.address, "--checkpoint", str(tmp_path / "c")],
        cwd=root, capture_output=True, text=True, check=False, timeout=400,
        env={**os.environ, "SPARK_MASTER": "local[1]",
             "PYTHONPATH": os.pathsep.join([str(root / "compiler"), str(root / "runtime"),
                                            *filter(None, sys.path)])},
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "`a b` is no name of a topic" in done.stderr
    assert "Traceback" not in done.stderr
    assert topics.size(broker.address, taken) == 1
