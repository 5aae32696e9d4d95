"""A running deployment, for tests of its states."""

from __future__ import annotations

from typing import Any

from millrace_workers.doubles import Bench

DOCUMENT: dict[str, Any] = {
    "format": "millrace.topology/1",
    "topics": {"in": {"partitions": 2}},
    "nodes": [
        {"id": "in", "kind": "source.stream", "params": {"topics": ["in"]}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
    ],
    "edges": [{"source": "in", "target": "out"}],
}


def running(bench: Bench) -> Bench:
    bench.tick()
    bench.report("running")
    assert bench.tick() == "running"
    return bench


def driver(bench: Bench) -> int:
    assert bench.deployment.run is not None
    return bench.deployment.run.process.pid
