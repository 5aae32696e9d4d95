"""What a search takes from two documents: constants, spans of time, and where they differ."""

from __future__ import annotations

import copy
from typing import Any

from millrace_runtime.counterexamples.constants import Constants, Focus


def test_durations_of_a_node_and_their_sums_have_neighbors() -> None:
    window = {"type": "tumbling", "size": "10 seconds", "grace": 5}
    spans = Constants.of([{"window": window}]).spans
    assert {9_999, 10_000, 10_001, 4, 5, 6, 10_005, 10_006, 20_005} <= set(spans)


def test_numbers_and_texts_of_expressions_have_neighbors() -> None:
    found = Constants.of([{"predicate": "value.n >= 100 AND value.city LIKE '%bern%'"}])
    assert {99, 100, 101} <= set(found.numbers)
    assert {"%bern%", "bern", "berm", "berna", "BERN"} <= set(found.texts)


def test_texts_without_letters_are_separators() -> None:
    found = Constants.of([{"key": "substring_index(value, '|', -1)"}])
    assert found.separators == ["|"]


def test_intervals_in_expressions_are_spans() -> None:
    assert 300_000 in Constants.of([{"value": "timestamp + INTERVAL '5' MINUTES"}]).spans


def joined() -> Any:
    """Return a document that joins a topic with a table, and counts a third topic."""
    return {
        "format": "millrace.topology/1",
        "name": "joined",
        "nodes": [
            {"id": "clicks", "kind": "source.stream", "params": {"topics": ["clicks"]}},
            {"id": "users", "kind": "source.table", "params": {"topic": "users"}},
            {"id": "join", "kind": "join.stream_table", "params": {"type": "left", "joiner": "1"}},
            {"id": "rest", "kind": "source.stream", "params": {"topics": ["rest"]}},
            {"id": "few", "kind": "filter", "params": {"predicate": "value > 7"}},
        ],
        "edges": [
            {"source": "clicks", "target": "join", "target_port": "left"},
            {"source": "users", "target": "join", "target_port": "right"},
            {"source": "rest", "target": "few"},
        ],
    }


def test_the_focus_is_on_changed_nodes_and_the_topics_above_them() -> None:
    new = joined()
    new["nodes"][4]["params"]["predicate"] = "value > 8"
    focus = Focus.of(joined(), new)
    assert focus.topics == {"rest"}
    assert {7, 8, 9} <= set(focus.constants.numbers)
    assert 1 not in focus.constants.numbers
    new = joined()
    new["nodes"][2]["params"]["type"] = "inner"
    assert Focus.of(joined(), new).topics == {"clicks", "users"}


def test_the_focus_is_empty_for_nodes_with_other_names() -> None:
    new = copy.deepcopy(joined())
    new["nodes"][4]["id"] = "some"
    new["edges"][2]["target"] = "some"
    focus = Focus.of(joined(), new)
    assert (focus.topics, focus.text, focus.constants) == (frozenset(), "[]", Constants())
