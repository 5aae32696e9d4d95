"""The plain dialect on a real broker: the exported program, started by `run`."""

from __future__ import annotations

import itertools
import json
import os
import struct
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CLIENT_VARIABLES
from tests.runtime import topics

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
PATH = os.pathsep.join([str(ROOT / "compiler"), str(ROOT / "runtime"), *filter(None, sys.path)])
TEXT = {"format": "string"}


@pytest.mark.long
def test_a_plain_count_goes_on_from_its_checkpoint(broker: Any, tmp_path: Path) -> None:
    lines, counts = f"lines-{uuid.uuid4()}", f"counts-{uuid.uuid4()}"
    topics.create(broker.address, {lines: 1, counts: 1})
    nodes = [
        {"id": "lines", "kind": "source.stream",
         "params": {"topics": [lines], "key": TEXT, "value": TEXT}},
        {"id": "words", "kind": "flat_map_values", "params": {"values": "split(value, ' ')"}},
        {"id": "count", "kind": "count", "params": {"group_by": {"key": "value"}}},
        {"id": "counts", "kind": "sink.topic", "params": {"topic": counts}},
    ]  # fmt: skip
    edges = [{"source": a["id"], "target": b["id"]} for a, b in itertools.pairwise(nodes)]
    path = tmp_path / "words.json"
    document = {"format": "millrace.topology/1", "name": "w", "topics": {lines: {"partitions": 1}},
                "nodes": nodes, "edges": edges}  # fmt: skip
    path.write_text(json.dumps(document))
    began = int(time.time() * 1000)
    for text, address in (("to be or not", broker.address), ("to be", broker.secured)):
        secrets = CLIENT_VARIABLES if address == broker.secured else {}
        topics.produce(broker.address, lines, [{"key": "k", "value": text, "timestamp": 1000}])
        run = subprocess.run(
            [sys.executable, "-m", "cli", "run", str(path), "--available-now",
             "--dialect", "plain", "--bootstrap-servers", address,
             "--checkpoint", str(tmp_path / "checkpoint")],
            cwd=ROOT, capture_output=True, text=True, timeout=240, check=False,
            env={**os.environ, "SPARK_MASTER": "local[1]", "PYTHONPATH": PATH, **secrets},
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        assert "difference: counts: Records on the topic have the time of writing" in run.stderr
    found = topics.consume(broker.address, counts, 6)
    last = {each.key().decode(): struct.unpack(">q", each.value())[0] for each in found}
    assert last == {"to": 2, "be": 2, "or": 1, "not": 1}
    assert all(each.timestamp()[1] >= began for each in found)
