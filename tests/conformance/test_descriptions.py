"""`describe` on random topologies, compared with Kafka Streams' own descriptions."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.comparing import differences

from cli.describing import described_scenario, description, verify_description
from cli.documents import analyzer
from cli.oracle import Oracle


@pytest.mark.spark
def test_random_topologies_are_described_as_kafka_streams_describes_them() -> None:
    differing = {}
    with analyzer() as known, Oracle() as oracle:
        for number in range(20):
            scenario = described_scenario(41, number, wide=number % 2 == 1)
            if number % 4 > 1:
                topology = scenario["topology"]
                topology["settings"] = {**topology.get("settings", {}), "optimization": "all"}
            try:
                found = verify_description(oracle, known, scenario)
            except MillraceError as error:
                # Kafka Streams cannot merge two repartitions behind one step between.
                if "null keyChangingChild" not in error.message:
                    raise
                continue
            if found:
                differing[scenario["id"]] = found
    assert differing == {}


@pytest.mark.spark
def test_internal_names_are_those_of_kafka_streams() -> None:
    differing, same = {}, 0
    with analyzer() as known, Oracle() as oracle:
        for number in range(15):
            scenario = described_scenario(77, number, wide=number % 2 == 1)
            topology = scenario["topology"]
            if _has_twin_with_other_calls(topology):
                continue
            topology["settings"] = {**topology.get("settings", {}), "names": "kafka_streams"}
            try:
                expected = oracle.run(scenario)
            except MillraceError:
                continue  # Kafka Streams cannot name two repartitions of a cogroup.
            found = description(known, scenario)
            if expected["error"] is None and found["error"] is None:
                same += 1
                if _names(found) != _names(expected):
                    differing[scenario["id"]] = (_names(found), _names(expected))
    assert differing == {}
    assert same > 6


def _names(described: Any) -> list[str]:
    """Stores and repartition topics; changelogs have the names of their stores."""
    topics = described["internal_topics"]
    names = [topic["name"] for topic in topics if topic["kind"] == "repartition"]
    return sorted([*names, *(each for sub in described["subtopologies"] for each in sub["stores"])])


def _has_twin_with_other_calls(topology: Any) -> bool:
    """Whether the oracle makes more calls: for joiners with the key, and several output ports."""
    nodes = topology["nodes"]
    return any(
        (
            node["kind"] in ("join.table_table", "join.foreign_key")
            and "key" in str(node["params"]["joiner"])
        )
        or len(node["params"].get("outputs") or ()) > 1
        for node in nodes
    )


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
    scenario: Any = {"compare": "describe", "topology": {"nodes": []}, "expected": expected}
    # A store without a name may be called differently.
    renamed: Any = {
        "subtopologies": [{**sub, "stores": ["b"]}],
        "internal_topics": [{"name": "b-changelog", "kind": "changelog", "partitions": 1}],
    }
    assert differences(scenario, renamed, "each") == []
    more: Any = {**renamed, "subtopologies": [{**sub, "stores": ["a", "b"]}]}
    assert len(differences(scenario, more, "each")) == 2
