"""`describe` on random topologies, compared with Kafka Streams' own descriptions."""

from __future__ import annotations

import pytest
from millrace_runtime.comparing import differences

from cli.describing import described_scenario, verify_description
from cli.documents import analyzer
from cli.oracle import Oracle


@pytest.mark.spark
def test_random_topologies_are_described_as_kafka_streams_describes_them() -> None:
    differing = {}
    with analyzer() as known, Oracle() as oracle:
        for number in range(80):
            scenario = described_scenario(41, number, wide=number % 2 == 1)
            found = verify_description(oracle, known, scenario)
            if found:
                differing[scenario["id"]] = found
    assert differing == {}


def test_drawn_documents_show_what_only_a_description_shows() -> None:
    drawn = [described_scenario(41, number)["topology"] for number in range(60)]
    nodes = [node for document in drawn for node in document["nodes"]]
    widths = {topic["partitions"] for document in drawn for topic in document["topics"].values()}
    assert widths == {1, 2, 3, 4}
    assert any(node["id"] == "run-1" for node in nodes)
    assert any(node["id"] == "read-again" for node in nodes)
    assert any(node["params"].get("logging") is False for node in nodes)
    assert any("partitions" in node["params"] for node in nodes if node["kind"] == "repartition")


def test_a_store_too_many_is_a_difference() -> None:
    sub = {"id": 0, "nodes": ["a"], "sources": ["t"], "sinks": [], "stores": ["a"], "tasks": 1}
    topic = {"name": "a-changelog", "kind": "changelog"}
    expected = {"subtopologies": [sub], "internal_topics": [topic], "error": None}
    scenario = {"compare": "describe", "topology": {"nodes": []}, "expected": expected}
    # A store without a name may be called differently.
    renamed = {
        "subtopologies": [{**sub, "stores": ["b"]}],
        "internal_topics": [{"name": "b-changelog", "kind": "changelog", "partitions": 1}],
    }
    assert differences(scenario, renamed, "each") == []
    more = {**renamed, "subtopologies": [{**sub, "stores": ["a", "b"]}]}
    assert len(differences(scenario, more, "each")) == 2
