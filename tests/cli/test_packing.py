"""Several random topologies in one query: each gets its own input lines and its own results."""

from __future__ import annotations

from typing import Any, cast

from millrace_runtime.results.cuts import Cut
from millrace_runtime.results.results import Result

from cli.packing import Pack, packable, packs
from oracle import fuzz


def scenario(number: int) -> Any:
    return {**fuzz.scenario(1, number), "expected": {"error": None}}


def test_every_scenario_keeps_its_lines_and_has_one_in_each_round() -> None:
    scenarios = [scenario(number) for number in range(4)]
    batches = Pack(scenarios).batches(Cut("each"))
    assert len(batches) == max(len(each["inputs"]) for each in scenarios)
    for number, each in enumerate(scenarios):
        own = [line for batch in batches for place, line in batch if place % 4 == number]
        assert [line["topic"] for line in own] == [
            f"c{number}-{line['topic']}" for line in each["inputs"]
        ]
    assert [len(batch) for batch in Pack(scenarios).batches(Cut("all"))] == [
        sum(len(each["inputs"]) for each in scenarios)
    ]


def test_nodes_and_topics_of_two_scenarios_never_clash() -> None:
    document = Pack([scenario(3), scenario(3)]).document
    ids = [node["id"] for node in document["nodes"]]
    assert len(ids) == len(set(ids))
    assert {edge["source"].split("-")[0] for edge in document["edges"]} == {"c0", "c1"}
    for edge in document["edges"]:
        assert edge["source"].split("-")[0] == edge["target"].split("-")[0]


def test_results_are_distinguished_by_names_and_places() -> None:
    outputs: Any = [
        {"topic": "c0-out", "key": "a", "value": 1, "timestamp": 5, "after": 4},
        {"topic": "c1-out", "key": "b", "value": 2, "timestamp": 6, "after": 5},
    ]
    reported = Result(outputs, 3, {"c0-x": 2, "c1-x": 1}, {"c1-rows": [{"key": "b"}]})
    first, second = Pack([scenario(0), scenario(1)]).results(reported)
    assert first["outputs"] == [{**outputs[0], "topic": "out", "after": 3}]
    assert second["outputs"] == [{**outputs[1], "topic": "out", "after": 3}]
    assert (first["dropped"], second["dropped"]) == (2, 1)
    assert (first["stores"], second["stores"]) == ({}, {"rows": [{"key": "b"}]})


def test_what_asks_for_its_topic_or_stops_runs_alone() -> None:
    plain = scenario(0)
    assert packable(plain)
    assert not packable(cast(Any, {**plain, "expected": {"error": {"kind": "stopped"}}}))
    assert not packable(cast(Any, {**plain, "inputs": [{"advance_wall_clock": 5}]}))
    nosy = {"id": "m", "kind": "map_values", "params": {"value": "concat(topic, '!')"}}
    assert not packable(cast(Any, {**plain, "topology": {**plain["topology"], "nodes": [nosy]}}))


def test_a_pack_holds_scenarios_of_equal_settings() -> None:
    scenarios = [scenario(number) for number in range(6)]
    scenarios[2]["topology"]["settings"] = {"processing_handler": "continue"}
    assert sorted(len(group) for group in packs(scenarios, 3)) == [1, 2, 3]
