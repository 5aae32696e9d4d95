"""Every parameter that a record can make fail: the fault names node, parameter and record."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from millrace_compiler.operators.stateless.filter import REJECTED
from millrace_runtime.results.cuts import Cut

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# An INT expression that fails for a record whose value is 0.
DIV = "CAST(60 div value AS INT)"
BOTH = "CAST(60 div (left * right) AS INT)"
AGG = "CAST(60 div value AS INT) + agg"
INTEGER, STRING = {"format": "integer"}, {"format": "string"}

Nodes = list[dict[str, Any]]


def source(name: str, kind: str = "source.stream", **more: Any) -> dict[str, Any]:
    topics = {"topics": [name]} if kind == "source.stream" else {"topic": name}
    return {"id": name, "kind": kind, "params": {**topics, "key": STRING, "value": INTEGER, **more}}


def step(kind: str, **params: Any) -> dict[str, Any]:
    return {"id": "step", "kind": kind, "params": params}


OUT = {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}}
SESSION = {"type": "session", "gap": 100, "grace": 0}
SINK = {"kind": "sink.topic", "id": "step"}

STATELESS: dict[str, tuple[dict[str, Any], str]] = {
    "filter": (step("filter", predicate=f"{DIV} > 0"), "predicate"),
    "filter_not": (step("filter_not", predicate=f"{DIV} > 90"), "predicate"),
    "map, key": (step("map", key=DIV, value="value"), "key"),
    "map, value": (step("map", key="key", value=DIV), "value"),
    "map_values": (step("map_values", value=DIV), "value"),
    "select_key": (step("select_key", key=DIV), "key"),
    "flat_map": (step("flat_map", records=f"array(struct(key, {DIV} AS value))"), "records"),
    "flat_map, null": (
        step("flat_map", records="if(value = 0, null, array(struct(key, value)))"), "records"),
    "flat_map_values": (step("flat_map_values", values=f"array({DIV})"), "values"),
    "flat_map_values, null": (
        step("flat_map_values", values="if(value = 0, null, array(value))"), "values"),
    "sink, topic": (
        {**SINK, "params": {"topic_expression": f"concat('t', {DIV})"}}, "topic_expression"),
    "sink, no topic": (
        {**SINK, "params": {"topic_expression": "if(value = 0, null, 't')"}}, "topic_expression"),
    "sink, partition": ({**SINK, "params": {"topic": "out", "partition": DIV}}, "partition"),
    "sink, no partition": (
        {**SINK, "params": {"topic": "out", "partition": "value - 1"}}, "partition"),
    "sink, value": (
        {**SINK, "params": {"topic": "out", "value": {
            "format": "avro", "schema":
            '{"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}'}}},
        "value"),
}  # fmt: skip


def one_by_one(nodes: Nodes) -> list[dict[str, str]]:
    ids = [node["id"] for node in nodes]
    return [{"source": a, "target": b} for a, b in itertools.pairwise(ids)]


def chain(node: dict[str, Any]) -> dict[str, Any]:
    """Return source, node and sink."""
    nodes = [source("in")]
    if "value" in node["params"] and node["kind"] == "sink.topic":
        made = "named_struct('n', if(value = 0, null, value))"
        nodes.append({"id": "made", "kind": "map_values", "params": {"value": made}})
    nodes.append(node)
    if not node["kind"].startswith("sink."):
        nodes.append(OUT)
    return document(nodes, one_by_one(nodes))


def document(nodes: Nodes, edges: list[dict[str, str]]) -> dict[str, Any]:
    return {"format": "millrace.topology/1", "name": "faults", "nodes": nodes, "edges": edges}


def aggregation(kind: str, **params: Any) -> dict[str, Any]:
    nodes = [source("in"), step(kind, **params), OUT]
    return document(nodes, one_by_one(nodes))


def of_table(kind: str, **params: Any) -> dict[str, Any]:
    by = params.pop("group_by", {"key": "key", "value": "value"})
    nodes = [source("in", "source.table"), step(kind, group_by=by, **params), OUT]
    return document(nodes, one_by_one(nodes))


def join(kind: str, left: str, right: str, **params: Any) -> dict[str, Any]:
    nodes = [source("in", left), source("other", right), step(kind, **params), OUT]
    edges = [{"source": "in", "target": "step", "target_port": "left"},
             {"source": "other", "target": "step", "target_port": "right"},
             {"source": "step", "target": "out"}]  # fmt: skip
    return document(nodes, edges)


STREAM, TABLE, GLOBAL = "source.stream", "source.table", "source.global_table"
TYPED = {"type": "INT", "initializer": "0"}
COGROUP = {"inputs": [{"port": "a", "aggregator": AGG}], **TYPED}


def cogroup(**params: Any) -> dict[str, Any]:
    nodes = [source("in"), step("cogroup", **{**COGROUP, **params}), OUT]
    edges = [{"source": "in", "target": "step", "target_port": "a"},
             {"source": "step", "target": "out"}]  # fmt: skip
    return document(nodes, edges)


STATEFUL: dict[str, tuple[dict[str, Any], str]] = {
    "count": (aggregation("count", group_by={"key": DIV}), "group_by"),
    "reduce": (aggregation("reduce", reducer=AGG), "reducer"),
    "reduce, grouped": (aggregation("reduce", reducer=AGG, group_by={"key": DIV}), "group_by"),
    "aggregate": (aggregation("aggregate", aggregator=AGG, **TYPED), "aggregator"),
    "aggregate, merger": (
        aggregation("aggregate", aggregator="agg + value", window=SESSION,
                    merger="CAST(60 div (right - 5) AS INT)", **TYPED), "merger"),
    "cogroup": (cogroup(), "inputs"),
    "table, key": (of_table("count", group_by={"key": DIV, "value": "value"}), "group_by"),
    "table, value": (of_table("count", group_by={"key": "key", "value": DIV}), "group_by"),
    "table, reducer": (of_table("reduce", reducer=AGG, subtractor="agg - value"), "reducer"),
    "table, adder": (
        of_table("aggregate", aggregator=AGG, subtractor="agg - value", **TYPED), "aggregator"),
    "table, subtractor": (
        of_table("aggregate", aggregator="agg + value",
                 subtractor="CAST(60 div (value - 5) AS INT)", **TYPED), "subtractor"),
    "streams": (
        join("join.stream_stream", STREAM, STREAM, type="inner", before=100, after=100,
             joiner=BOTH), "joiner"),
    "stream and table": (join("join.stream_table", STREAM, TABLE, joiner=BOTH), "joiner"),
    "global table": (
        join("join.stream_global_table", STREAM, GLOBAL, key="key", joiner=BOTH), "joiner"),
    "global table, key": (
        join("join.stream_global_table", STREAM, GLOBAL, key=f"concat('k', {DIV})",
             joiner="left"), "key"),
    "tables": (join("join.table_table", TABLE, TABLE, type="inner", joiner=BOTH), "joiner"),
    "foreign key": (
        join("join.foreign_key", TABLE, TABLE, foreign_key=f"concat('k', {DIV})",
             joiner="left"), "foreign_key"),
    "foreign key, joiner": (
        join("join.foreign_key", TABLE, TABLE, foreign_key="'k'", joiner=BOTH), "joiner"),
}  # fmt: skip


def run(warm: Any, raw: dict[str, Any], **settings: str) -> Any:
    """Simulate a row of the other side, then a good record and a bad one of the topic `in`."""
    raw = {**raw, "settings": settings}
    compiled = warm.compile(raw).require()
    topics = ["other"] if any(node["id"] == "other" for node in raw["nodes"]) else []
    values = [*((topic, 2) for topic in topics), ("in", 5), ("in", 0)]
    lines = [
        {"topic": topic, "key": "k", "value": value, "timestamp": 10 * place}
        for place, (topic, value) in enumerate(values, 1)
    ]
    return warm.simulate(raw, compiled, lines, Cut.parse("each")), len(lines)


def reported(result: Any, parameter: str, last: int) -> dict[str, Any]:
    error: dict[str, Any] = result.error
    assert error is not None
    assert (error["node"], error["parameter"], error["after"]) == ("step", parameter, last)
    assert error["message"]
    record = error["record"]
    assert (record["topic"], record["partition"], record["offset"]) == ("in", 0, 1)
    assert (record["key"], record["timestamp"]) == ("k", 10 * last)
    return error


@pytest.mark.parametrize("name", STATELESS)
def test_a_stateless_step_reports_its_record(warm: Any, name: str) -> None:
    node, parameter = STATELESS[name]
    result, last = run(warm, chain(node))
    assert len(result.outputs) == 1
    error = reported(result, parameter, last)
    if "60 div" in str(node):
        assert "Division by zero" in error["message"]


@pytest.mark.parametrize("name", STATEFUL)
def test_a_stateful_operator_reports_its_record(warm: Any, name: str) -> None:
    raw, parameter = STATEFUL[name]
    result, last = run(warm, raw)
    message = reported(result, parameter, last)["message"]
    assert "Division by zero" in message
    assert "spark.sql" not in message  # a setting that nobody can change here


@pytest.mark.parametrize("name", ["sink, no topic", "sink, no partition"])
def test_where_a_record_cannot_be_sent_to_is_passed_over_by_no_handler(
    warm: Any, name: str
) -> None:
    node, parameter = STATELESS[name]
    raw = chain(node)
    result, last = run(warm, raw, processing_handler="continue")
    assert reported(result, parameter, last)["code"] == "production"


def test_a_time_that_raises_stops_at_its_source(warm: Any) -> None:
    nodes = [source("in", timestamp=f"timestamp_millis({DIV})"), {**OUT, "id": "out"}]
    raw = document(nodes, one_by_one(nodes))
    result, last = run(warm, raw, processing_handler="continue")
    assert (result.error["node"], result.error["parameter"]) == ("in", "timestamp")
    assert result.error["after"] == last


@pytest.mark.parametrize("timestamps", ["fail", "partition_time"])
def test_corrupt_bytes_are_reported_with_a_readable_key(warm: Any, timestamps: str) -> None:
    raw = chain(step("map_values", value="value"))
    lines = [{"topic": "in", "key_bytes": "/wA=", "value_bytes": "AA==", "timestamp": 3}]
    raw["nodes"][0]["params"]["key"] = {"format": "bytes"}
    raw["nodes"][0]["params"]["invalid_timestamp"] = timestamps
    result = warm.simulate(raw, warm.compile(raw).require(), lines, Cut.parse("each"))
    error = result.error
    assert (error["node"], error["parameter"], error["code"]) == ("in", "value", "deserialization")
    assert error["message"] == "format integer needs 4 bytes, found 1"
    assert error["record"] == {
        "topic": "in", "partition": 0, "offset": 0, "timestamp": 3, "key": "/wA="
    }  # fmt: skip


def test_a_sliding_window_without_length_stops_at_its_first_record(warm: Any) -> None:
    """A difference of 0 is accepted and fails at the first record, as in Kafka Streams.

    The contract lists it as refused, but the scenario N07am, recorded from Kafka Streams, accepts
    it. A recorded scenario takes precedence.
    """
    window = {"type": "sliding", "difference": 0, "grace": 0}
    result, _ = run(warm, aggregation("count", window=window))
    assert (result.error["node"], result.error["after"]) == ("step", 1)
    assert "difference 0" in result.error["message"]
    assert result.outputs == []


@pytest.mark.parametrize("kind", ["filter", "filter_not"])
def test_a_rule_does_with_a_rejected_record_what_it_says(warm: Any, kind: str) -> None:
    predicate = "value > 0" if kind == "filter" else "value = 0"
    seen = {}
    for rejected in REJECTED:
        raw = chain(step(kind, predicate=predicate, rejected=rejected))
        result, _ = run(warm, raw, dead_letter_topic="dead", processing_handler="continue")
        written = [(each["topic"], each["after"]) for each in result.outputs]
        counts = result.figures.get("step", {})
        logged = [(each["level"], each["node"], each["message"][-18:]) for each in result.logs]
        seen[rejected] = (written, counts.get("dropped"), logged)
        if rejected == "stop":
            error = reported(result, "predicate", 2)
            assert error["cause"]["facts"] == {"predicate": predicate}
        else:
            assert result.error is None
    first, both = [("out", 1)], [("out", 1), ("out", 2)]
    assert seen == {
        "drop": (first, {}, []),
        "drop_and_count": (first, {"rejected": 1}, []),
        "count": (both, {}, []),
        "warn": (both, {}, [("warning", "step", "(offset 1 of in-0)")]),
        "dead_letter": ([*first, ("dead", 2)], {"dead_letter": 1}, []),
        "stop": (first, None, []),
    }
