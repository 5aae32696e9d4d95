"""A simulation that a record stops: which record it names, and what the page shows of it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

STRING = {"format": "string"}


def simulated(warm: Any, document: Any, lines: list[Any]) -> Any:
    from millrace_runtime.analyzer.compiling import compiled
    from millrace_runtime.simulator.memory import TraceLimits
    from millrace_runtime.simulator.process import run, shown

    graph = compiled(document, warm.analyzer).require_task_graph()
    return shown(document, run(warm.spark, document, graph, lines, TraceLimits(steps=1000)))


def waiting() -> Any:
    """Numbers that wait, behind a repartition, for a versioned table."""
    text = {"key": STRING, "value": STRING}
    join = {"grace": "1 second", "type": "left", "joiner": "CAST(left AS INT)"}
    history = {"name": "versions", "history_retention": "1 hour"}
    nodes = [
        {"id": "numbers", "kind": "source.stream", "params": {"topics": ["numbers"], **text}},
        {"id": "by-value", "kind": "select_key", "params": {"key": "'k'"}},
        {"id": "names", "kind": "source.table", "params": {"topic": "names", **text}},
        {"id": "versions", "kind": "store.versioned", "params": history},
        {"id": "join", "kind": "join.stream_table", "params": join},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
    ]
    edges = [
        {"source": "numbers", "target": "by-value"},
        {"source": "by-value", "target": "join", "target_port": "left"},
        {"source": "names", "target": "join", "target_port": "right"},
        {"source": "versions", "target": "names", "target_port": "store"},
        {"source": "join", "target": "out"},
    ]
    return {"format": "millrace.topology/1", "name": "waiting", "nodes": nodes, "edges": edges}


def test_a_record_that_failed_behind_a_repartition_can_be_found(warm: Any) -> None:
    lines = [
        {"topic": "numbers", "key": "a", "value": value, "timestamp": at}
        for value, at in (("1", 0), ("bad", 1_000), ("3", 9_000))
    ]
    error = simulated(warm, waiting(), lines)["error"]
    assert (error["node"], error["after"]) == ("join", 3)
    # The record that released it, in a topic of a source and not in the repartition topic.
    assert (error["record"]["topic"], error["record"]["offset"]) == ("numbers", 2)


def test_bytes_of_a_poison_record_stop_the_run_at_its_source(warm: Any) -> None:
    document = waiting()
    document["nodes"][0]["params"]["value"] = {"format": "json", "schema": "n INT"}
    document["nodes"][4]["params"]["joiner"] = "left.n"
    poison = base64.b64encode(b'{"n": ').decode()
    lines = [
        {"topic": "numbers", "key": "a", "value": {"n": 1}, "timestamp": 0},
        {"topic": "numbers", "key": "a", "value_bytes": poison, "timestamp": 1},
    ]
    error = simulated(warm, document, lines)["error"]
    assert (error["kind"], error["node"], error["after"]) == ("stopped", "numbers", 2)
    assert error["code"] == "deserialization"


def test_records_of_a_topic_that_a_pattern_matches_are_read(warm: Any) -> None:
    document = waiting()
    params = document["nodes"][0]["params"]
    del params["topics"]
    params["topic_pattern"] = "num.*"
    lines = [{"topic": "numbers", "key": "a", "value": "1", "timestamp": 0}]
    result = simulated(warm, document, lines)
    entered = {step["node"] for step in result["steps"] if step["event"] == "record"}
    assert {"numbers", "by-value", "join"} <= entered
    assert result["error"] is None
