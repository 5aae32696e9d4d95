"""The setting `optimization`: merged repartitions, topics as changelogs, self-joins."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_compiler.state.state_schema import compare_state

from tests.compiler.kit import (
    OneTypeAnalyzer,
    compiled,
    document,
    faults,
    node,
    sink,
    stream,
    table,
)

KEY, LAST = node("by", "select_key", key="value"), node("last", "reduce", reducer="value")
COUNT, SOME = node("count", "count"), node("some", "filter", predicate="true")


def optimized(nodes: list[Any], edges: list[str], chosen: str = "all", **more: Any) -> Any:
    return document(nodes, edges, settings={"optimization": chosen}, **more)


def topics(raw: Any) -> list[str]:
    plan = compiled(raw).require().plan
    assert plan is not None
    return [str(topic["name"]) for topic in plan.internal_topics()]


def together(raw: Any) -> list[list[str]]:
    """The nodes of each sub-topology."""
    plan = compiled(raw).require().plan
    assert plan is not None
    return [sub.nodes for sub in plan.subtopologies]


def rekeyed(chosen: str = "all") -> Any:
    nodes = [stream(), KEY, COUNT, LAST, sink("a"), sink("b")]
    edges = ["in > by", "by > count", "by > last", "count > a", "last > b"]
    return optimized(nodes, edges, chosen)


def self_join(type_: str = "inner", **settings: Any) -> Any:
    join = node("pair", "join.stream_stream", type=type_, before=1, after=1, joiner="left")
    edges = ["in > pair.left", "in > pair.right", "pair > out"]
    return document([stream(), join, sink()], edges, settings=settings)


@pytest.mark.parametrize("chosen", ["all", "merge_repartition_topics"])
def test_repartitions_behind_one_changed_key_are_one_topic(chosen: str) -> None:
    found = [name for name in topics(rekeyed(chosen)) if name.endswith("-repartition")]
    assert found == ["count-repartition"]
    assert together(rekeyed(chosen)) == [["in", "by", "count"], ["count", "last", "a", "b"]]


@pytest.mark.parametrize("chosen", ["none", "reuse_ktable_source_topics", "single_store_self_join"])
def test_other_choices_leave_repartitions_as_they_are(chosen: str) -> None:
    found = [name for name in topics(rekeyed(chosen)) if name.endswith("-repartition")]
    assert found == ["count-repartition", "last-repartition"]


def test_steps_that_follow_one_another_are_behind_the_merged_topic() -> None:
    # Kafka Streams cannot build this topology: two repartitions behind one step between.
    nodes = [stream(), KEY, SOME, COUNT, LAST, sink("a"), sink("b")]
    edges = ["in > by", "by > some", "some > count", "some > last", "count > a", "last > b"]
    raw = optimized(nodes, edges)
    assert together(raw) == [["in", "by", "count"], ["count", "some", "last", "a", "b"]]
    assert {edge["index"] for edge in _plan(raw)["edges"] if edge["shuffle"]} == {1}


def test_a_merged_stream_keeps_a_repartition_that_its_other_side_needs() -> None:
    # Kafka Streams merges both repartitions behind `by` here, and `by-2` loses its own.
    nodes = [
        stream("in"), stream("more"), KEY, node("by-2", "select_key", key="value"),
        node("both", "merge"), COUNT, LAST, sink("a"), sink("b"),
    ]  # fmt: skip
    edges = [
        "in > by", "more > by-2", "by > both", "by-2 > both", "both > count", "by > last",
        "count > a", "last > b",
    ]  # fmt: skip
    repartitions = [name for name in topics(optimized(nodes, edges)) if "repartition" in name]
    assert sorted(repartitions) == ["count-repartition", "last-repartition"]


def test_merged_repartitions_may_have_one_name() -> None:
    raw = rekeyed()
    raw["nodes"] = [
        {**each, "params": {**each["params"], "repartition": "by-value"}}
        if each in (COUNT, LAST)
        else each
        for each in raw["nodes"]
    ]
    assert "by-value-repartition" in topics(raw)
    raw["settings"] = {}
    assert [code for code, *_ in faults(raw)] == ["repartition_name_twice"]


def test_repartitions_behind_a_processor_stay_apart() -> None:
    run = node(
        "run", "process", code="class Run(Processor):\n    pass\n", class_name="Run",
        output={"key": "STRING", "value": "STRING"},
    )  # fmt: skip
    nodes = [stream(), KEY, run, COUNT, LAST, sink("a"), sink("b")]
    edges = ["in > by", "by > run", "run > count", "run > last", "count > a", "last > b"]
    repartitions = [name for name in topics(optimized(nodes, edges)) if "repartition" in name]
    assert sorted(repartitions) == ["count-repartition", "last-repartition"]


def test_a_merged_topic_has_the_partitions_that_a_join_needs() -> None:
    join = node("found", "join.stream_table", joiner="left")
    nodes = [stream(), table("rows"), KEY, COUNT, join, sink("a"), sink("b")]
    edges = [
        "in > by", "by > count", "by > found.left", "rows > found.right", "count > a", "found > b",
    ]  # fmt: skip
    raw = optimized(nodes, edges, topics={"in": 2, "rows": 3})
    plan = compiled(raw).require().plan
    assert plan is not None
    assert plan.partitions["count-repartition"] == 3


def test_a_table_of_a_topic_needs_no_changelog() -> None:
    join = node("found", "join.stream_table", joiner="left")
    nodes = [stream(), table("rows"), join, COUNT, sink("a")]
    edges = ["in > found.left", "rows > found.right", "found > count", "count > a"]
    assert topics(optimized(nodes, edges, "none")) == ["count-changelog", "rows-changelog"]
    assert topics(optimized(nodes, edges)) == ["count-changelog"]


@pytest.mark.parametrize("type_", ["inner", "left", "outer"])
def test_a_join_of_a_stream_with_itself_has_one_store(type_: str) -> None:
    assert topics(self_join(type_, optimization="all")) == ["pair-left-store-changelog"]
    assert len(topics(self_join(type_))) == (2 if type_ == "inner" else 3)


@pytest.mark.parametrize("type_", ["inner", "left", "outer"])
def test_a_join_that_becomes_an_inner_one_is_warned_of(type_: str) -> None:
    made = compiled(self_join(type_, optimization="all"))
    warned = [(each.code, each.node, each.severity) for each in made.diagnostics]
    assert warned == ([] if type_ == "inner" else [("self_join_inner", "pair", "warning")])
    assert made.ok
    assert not compiled(self_join(type_)).diagnostics


def test_the_rows_of_a_join_with_two_stores_are_not_those_of_one() -> None:
    change = compare_state(compiled(self_join()), compiled(self_join(optimization="all")))
    [pair] = change.to_json()["stores"]
    assert (pair["id"], pair["verdict"]) == ("pair", "incompatible")
    assert compare_state(compiled(rekeyed("none")), compiled(rekeyed())).to_json()["accepted"]


def test_plain_spark_does_not_join_a_stream_with_itself_in_one_store() -> None:
    def found(**settings: Any) -> list[str]:
        made = compile_document(self_join(**settings), OneTypeAnalyzer(), dialect="plain")
        return [each.code for each in made.diagnostics if each.severity == "error"]

    assert found(optimization="all") == ["plain_self_join"]
    assert found(optimization="merge_repartition_topics") == []


def test_an_unknown_optimization_is_refused() -> None:
    assert faults(rekeyed("most")) == [("choice", None, "optimization")]


def _plan(raw: Any) -> Any:
    return compiled(raw).to_json()["plan"]
