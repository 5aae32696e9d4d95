"""Two versions of a topology: the shortest input on which they differ, or none."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from millrace_runtime import MillraceError
from millrace_runtime.counterexamples.search import Searched, search
from millrace_runtime.testing.sessions import analyzer_of, session

from launcher.places import REPOSITORY

pytestmark = [pytest.mark.spark, pytest.mark.slow]
Change = Callable[[Any], None]


def visits() -> Any:
    """Return a document that counts large orders by customer and minute."""
    return {
        "format": "millrace.topology/1",
        "name": "visits",
        "nodes": [
            {"id": "in", "kind": "source.stream",
             "params": {"topics": ["orders"], "key": {"format": "string"},
                        "value": {"format": "json", "schema": "amount DOUBLE, city STRING"}}},
            {"id": "large", "kind": "filter", "params": {"predicate": "value.amount > 100"}},
            {"id": "count", "kind": "count",
             "params": {"group_by": {"key": "key"},
                        "window": {"type": "tumbling", "size": 60_000, "grace": 10_000}}},
            {"id": "rows", "kind": "to_stream", "params": {}},
            {"id": "plain", "kind": "select_key", "params": {"key": "key.key"}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "counts"}},
        ],
        "edges": [
            {"source": one, "target": two}
            for one, two in zip(
                ("in", "large", "count", "rows", "plain"),
                ("large", "count", "rows", "plain", "out"),
                strict=True,
            )
        ],
    }  # fmt: skip


def compared(change: Change, seconds: float = 20.0, **options: Any) -> Searched:
    """Search for a difference between the document and a changed one."""
    new = copy.deepcopy(visits())
    change(new)
    spark = session()
    return search(spark, analyzer_of(spark), visits(), new, seconds=seconds, **options)


def param(node: str, name: str, value: Any) -> Change:
    def change(document: Any) -> None:
        found = next(each for each in document["nodes"] if each["id"] == node)
        *way, last = name.split(".")
        place = found["params"]
        for each in way:
            place = place[each]
        place[last] = value

    return change


def test_a_bound_that_moved_is_shown_by_one_record() -> None:
    found = compared(param("large", "predicate", "value.amount >= 100")).found
    assert found is not None
    (line,) = found.inputs
    assert line["value"] == {"amount": 100.0, "city": None}
    assert found.topics == ["counts"]
    assert found.old == []
    assert [(each["after"], each["value"]) for each in found.new] == [(1, 1)]


@pytest.mark.parametrize(
    ("name", "value", "most"),
    [("window.size", 59_999, 2), ("window.grace", 0, 3)],
    ids=["size", "grace"],
)
def test_other_windows_give_a_difference(name: str, value: int, most: int) -> None:
    found = compared(param("count", name, value), seconds=60).found
    assert found is not None
    assert len(found.inputs) <= most


def test_a_grace_behind_joins_and_filters_is_found() -> None:
    """It takes four records: a user and an item of one place, and an order that is too late."""
    file = REPOSITORY / "tests" / "conformance" / "scenarios" / "N01b.json"
    old = json.loads(file.read_text("utf-8"))["topology"]
    new = copy.deepcopy(old)
    (count,) = (each for each in new["nodes"] if each["id"] == "per-hour")
    count["params"]["window"]["grace"] = 1
    spark = session()
    found = search(spark, analyzer_of(spark), old, new, seconds=60).found
    assert found is not None
    assert len(found.inputs) <= 5


def test_other_words_and_names_give_no_difference() -> None:
    def change(document: Any) -> None:
        param("large", "predicate", "NOT (value.amount <= 100)")(document)
        document["nodes"][3]["id"] = "stream"
        for edge in document["edges"]:
            for end in ("source", "target"):
                if edge[end] == "rows":
                    edge[end] = "stream"

    searched = compared(change, seconds=60, most=60)
    assert searched.found is None
    assert searched.inputs == 60
    assert searched.missed == {"old": [], "new": []}
    assert searched.nodes == 12


def test_a_search_begins_with_the_given_inputs() -> None:
    """Nothing in the documents leads to this city; the input of a test does."""
    key = "IF(value.city LIKE 'Z%h', 'x', key)"
    given = [
        {"topic": "orders", "key": "a", "value": {"amount": 200.0, "city": city}, "timestamp": 7}
        for city in ("Oslo", "Zurich", "Bern")
    ]
    change = param("count", "group_by", {"key": key})
    found = compared(change, seeds=[given]).found
    assert found is not None
    assert [line["value"]["city"] for line in found.inputs] == ["Zurich"]


def test_a_topic_that_one_version_writes_is_named_and_not_compared() -> None:
    searched = compared(param("out", "topic", "totals"), most=5)
    assert (searched.only_old, searched.only_new) == (["counts"], ["totals"])
    assert searched.found is None


def test_a_node_that_no_record_reached_is_named_with_its_fragment() -> None:
    raw = visits()
    param("large", "predicate", "false")(raw)
    raw["nodes"][4] = {"id": "plain", "kind": "fragment", "params": {"fragment": "keyed@1"}}
    raw["fragments"] = {
        "keyed@1": {
            "nodes": [
                {"id": "in", "kind": "fragment.input", "params": {"role": "stream"}},
                {"id": "key", "kind": "select_key", "params": {"key": "key.key"}},
                {"id": "out", "kind": "fragment.output", "params": {}},
            ],
            "edges": [{"source": "in", "target": "key"}, {"source": "key", "target": "out"}],
        }
    }
    spark = session()
    found = search(spark, analyzer_of(spark), raw, raw, seconds=20, most=2)
    assert found.missed["new"] == ["count", "out", "plain > key", "rows"]


def test_a_version_that_stops_at_a_record_differs() -> None:
    change = param("large", "predicate", "value.amount > 100 AND 10 / (value.amount - 150) < 1")
    given: Any = [{"topic": "orders", "key": "a", "value": {"amount": 150.0}, "timestamp": 0}]
    found = compared(change, seeds=[given]).found
    assert found is not None
    assert (found.old_stopped, found.new_stopped) == (None, 1)


def test_a_search_ends_when_it_is_told_and_refuses_what_does_not_fit() -> None:
    assert compared(param("large", "predicate", "true"), stop=lambda: True).inputs == 0
    raw = visits()
    param("in", "key", {"format": "bytes"})(raw)
    given: Any = [{"topic": "orders", "key": "no Base64!", "value": None, "timestamp": 0}]
    spark = session()
    with pytest.raises(MillraceError, match="Input 1: the key must be base64"):
        search(spark, analyzer_of(spark), raw, raw, seeds=[given], most=1)
    with pytest.raises(MillraceError, match="nowhere"):
        compared(param("large", "predicate", "value.nowhere > 1"))
