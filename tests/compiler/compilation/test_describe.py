"""Descriptions: the text in the format of Kafka Streams, and the JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import Analyzer, Refused, describe

from tests.compiler.kit import (
    OneTypeAnalyzer,
    document,
    line,
    node,
    sink,
    store,
    stream,
    table,
)

GOLDEN = Path(__file__).parents[2] / "golden"


def test_the_word_count_is_described_as_kafka_streams_does(analyzer: Analyzer) -> None:
    raw = json.loads((GOLDEN / "count" / "topology.json").read_text("utf-8"))
    found = describe(raw, analyzer)
    assert found.to_json() == {
        "subtopologies": [
            {
                "id": 0,
                "nodes": ["lines", "words", "count"],
                "sources": ["text-lines"],
                "sinks": ["count-repartition"],
                "stores": [],
                "tasks": 4,
            },
            {
                "id": 1,
                "nodes": ["count", "updates", "word-counts"],
                "sources": ["count-repartition"],
                "sinks": ["word-counts"],
                "stores": ["counts"],
                "tasks": 4,
            },
        ],
        "internal_topics": [
            {"name": "count-repartition", "partitions": 4, "kind": "repartition"},
            {"name": "counts-changelog", "partitions": 4, "kind": "changelog"},
        ],
    }
    assert found.text.startswith(
        "Topologies:\n   Sub-topology: 0\n"
        "    Source: lines (topics: [text-lines])\n      --> words\n"
    )
    assert "    Processor: count (stores: [counts])\n      --> updates\n" in found.text
    assert "    Sink: word-counts (topic: word-counts)\n      <-- updates\n" in found.text


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/describe.txt")), ids=lambda p: p.parent.name)
def test_arrows_lead_to_parts_that_are_there_and_back(path: Path) -> None:
    text = path.read_text("utf-8")
    parts = re.split(r"\n    (?=\w)", text)
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    for part in parts:
        name = re.match(r"(?:Source|Processor|Sink): (\S+)", part)
        if not name:
            continue
        for arrow, found in (("-->", after), ("<--", before)):
            names = re.search(rf"{arrow} (.*)", part)
            listed = names[1].split(", ") if names else []
            found[name[1]] = [x for x in listed if x != "none"]
    assert after
    for source, targets in after.items():
        for target in targets:
            assert source in before[target]
    for target, sources in before.items():
        for source in sources:
            assert target in after[source]


def test_a_topic_by_expression_has_no_name() -> None:
    raw = document([stream(), node("out", "sink.topic", topic_expression="value")], ["in > out"])
    found = describe(raw, OneTypeAnalyzer())
    assert found.plan.subtopologies[0].sinks == []
    assert "Sink: out (extractor class: " in found.text


def test_what_suppress_cannot_take_is_refused_as_in_kafka_streams() -> None:
    versioned = store(kind="versioned", history_retention=1000)
    late = node("late", "suppress", until="time_limit", limit=1)
    raw = document([table(), versioned, late], ["rows > table.store", "table > late"])
    with pytest.raises(Refused, match="versioned table cannot be suppressed"):
        describe(raw, OneTypeAnalyzer())


def test_a_refused_document_is_not_described() -> None:
    with pytest.raises(Refused, match="has no such parameter"):
        describe(line(node("keep", "filter", predicate="true", x=1)), OneTypeAnalyzer())


def test_several_sinks_of_one_topic_are_listed_once() -> None:
    raw = document([stream(), sink("a", topic="t"), sink("b", topic="t")], ["in > a", "in > b"])
    assert describe(raw, OneTypeAnalyzer()).plan.subtopologies[0].sinks == ["t"]


def test_every_node_is_described_with_how_it_runs_and_what_it_promises() -> None:
    raw = line(node("keep", "filter", predicate="true"))
    found = describe(raw, OneTypeAnalyzer())
    nodes = found.to_json(guarantees=True)["nodes"]
    assert isinstance(nodes, dict)
    assert set(nodes) == {each["id"] for each in raw["nodes"]}
    for reported in nodes.values():
        assert reported["runs_as"] == "stream_task"
        assert reported["guarantee"].endswith(".")
        assert reported["why"].endswith(".")
        assert reported["guarantee"] in found.promises


def stores_of(raw: dict[str, Any]) -> list[str]:
    subs = describe(raw, OneTypeAnalyzer()).plan.subtopologies
    return sorted(name for sub in subs for name in sub.stores)


def test_a_join_of_tables_keeps_no_rows_that_it_can_make_anew() -> None:
    joined = node("join", "join.table_table", joiner="left")
    edges = ["a > join.left", "b > join.right", "join > late"]
    raw = document(
        [table("a"), table("b"), joined, node("late", "suppress", until="time_limit", limit=1)],
        edges,
    )
    assert stores_of(raw) == ["a", "b", "late-store"]


def test_a_join_by_foreign_key_keeps_its_rows_where_they_are_asked_for() -> None:
    joined = node("join", "join.foreign_key", foreign_key="value", joiner="left")
    edges = ["a > join.left", "b > join.right"]
    raw = document([table("a"), table("b"), joined, sink()], [*edges, "join > out"])
    assert stores_of(raw) == ["a", "b", "join-subscription-store"]
    asked = document(
        [
            table("a"),
            table("b"),
            joined,
            stream(),
            node("look", "join.stream_table", joiner="left"),
        ],
        [*edges, "in > look.left", "join > look.right"],
    )
    assert stores_of(asked) == ["a", "b", "join", "join-subscription-store"]


def test_a_repartition_topic_is_as_wide_as_its_known_sources() -> None:
    # The writer of the second grouping also reads a topic that it writes itself.
    code = "class Run(Processor):\n    def process(self, record):\n        pass\n"
    run = {"code": code, "class_name": "Run", "output": {"key": "STRING", "value": "STRING"}}
    raw = document(
        [
            stream("a"),
            stream("b"),
            node("first", "process", **run),
            node("second", "process", **run),
            store(key_type="STRING", value_type="STRING"),
            node("other", "select_key", key="value"),
            node("both", "join.stream_stream", before=1, after=1, joiner="left"),
            node("count", "count", group_by={"key": "value"}),
        ],
        [
            "a > first",
            "b > second",
            "rows > first.store",
            "rows > second.store",
            "a > other",
            "other > both.left",
            "b > both.right",
            "b > count",
        ],
        topics={"a": 3, "b": 3},
    )
    topics = describe(raw, OneTypeAnalyzer()).plan.internal_topics()
    assert {t["name"]: t["partitions"] for t in topics if t["kind"] == "repartition"} == {
        "both-left-repartition": 3,
        "count-repartition": 3,
    }
