"""Names of internal topics and stores: given ones, and those of Kafka Streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from millrace_compiler.state.state_schema import compare_state
from millrace_runtime.program import load_program

from tests.compiler.kit import compiled, document, faults, line, node, sink, store, stream, table

KAFKA = {"settings": {"names": "kafka_streams"}}


def names(raw: Any) -> list[str]:
    """The internal topics of a document."""
    plan = compiled(raw).require().plan
    assert plan is not None
    return [str(topic["name"]) for topic in plan.internal_topics()]


def stores(raw: Any) -> list[str]:
    plan = compiled(raw).require().plan
    assert plan is not None
    return [name for sub in plan.subtopologies for name in sub.stores]


def counted(**more: Any) -> Any:
    """A count by another key, with the store `counts`."""
    made = line(node("words", "count", group_by={"key": "value"}, **more))
    made["nodes"].append(store("counts"))
    made["edges"].append({"source": "counts", "target": "words", "target_port": "store"})
    return made


def joined(type_: str = "inner", **more: Any) -> Any:
    """A join of a stream with a changed key and another one."""
    join = node("pair", "join.stream_stream", type=type_, before=1, after=1, joiner="left", **more)
    nodes = [stream("a"), stream("b"), node("by", "select_key", key="value"), join, sink()]
    return document(nodes, ["a > by", "by > pair.left", "b > pair.right", "pair > out"])


def test_a_repartition_topic_is_named_after_the_node_by_default() -> None:
    assert names(counted()) == ["words-repartition", "counts-changelog"]


def test_a_grouping_has_the_name_that_it_is_given() -> None:
    assert names(counted(repartition="by-word")) == ["by-word-repartition", "counts-changelog"]


def test_an_unnamed_grouping_has_the_name_of_the_store_as_in_kafka_streams() -> None:
    assert names({**counted(), **KAFKA}) == ["counts-repartition", "counts-changelog"]


def test_what_has_no_name_is_numbered_as_in_kafka_streams() -> None:
    raw = line(node("words", "count", group_by={"key": "value"}), **KAFKA)
    store_ = "KSTREAM-AGGREGATE-STATE-STORE-0000000002"
    assert names(raw) == [f"{store_}-repartition", f"{store_}-changelog"]


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("inner", ["e-this-join-store", "e-other-join-store"]),
        ("left", ["e-this-join-store", "e-outer-other-join-store", "e-left-shared-join-store"]),
        (
            "outer",
            ["e-outer-this-join-store", "e-outer-other-join-store", "e-outer-shared-join-store"],
        ),
    ],
)
def test_stores_of_a_join_of_streams_have_the_name_it_is_given(
    type_: str, expected: list[str]
) -> None:
    raw = joined(type_, store_name="e", repartition="j")
    assert stores(raw) == expected
    assert names(raw)[0] == "j-left-repartition"


def test_joins_of_one_stream_share_its_unnamed_repartition_topic() -> None:
    join = {"before": 1, "after": 1, "joiner": "left"}
    nodes = [
        stream("a"), stream("b"), node("by", "select_key", key="value"), sink("o1"), sink("o2"),
        node("one", "join.stream_stream", **join),
        node("two", "join.stream_stream", type="left", **join),
    ]  # fmt: skip
    edges = [
        "a > by", "by > one.left", "by > two.left", "b > one.right", "b > two.right", "one > o1",
        "two > o2",
    ]  # fmt: skip
    raw = document(nodes, edges, **KAFKA)
    found = [name for name in names(raw) if name.endswith("-repartition")]
    assert found == ["KSTREAM-KEY-SELECT-0000000002-repartition"]
    graph = compiled(raw).task_graph
    assert graph is not None
    [writer] = [each for each in graph["nodes"] if each["op"] == "repartition"]
    assert writer["params"]["keep_null_keys"] is True


def test_names_change_no_step_that_state_depends_on() -> None:
    def ids(raw: Any) -> list[str]:
        graph = compiled(raw).task_graph
        assert graph is not None
        return [each["id"] for each in graph["nodes"]]

    assert ids(counted()) == ids({**counted(), **KAFKA}) == ids(counted(repartition="by-word"))
    assert ids(joined("left")) == ids(joined("left", store_name="e", repartition="j"))


def test_a_name_that_is_used_twice_is_refused() -> None:
    raw = counted(repartition="same")
    raw["nodes"] += [
        node("more", "count", group_by={"key": "value"}, repartition="same"),
        sink("o"),
    ]
    raw["edges"] += [{"source": "in", "target": "more"}, {"source": "more", "target": "o"}]
    assert faults(raw) == [("repartition_name_twice", "more", "repartition")]


def test_stores_of_two_joins_with_one_name_are_refused() -> None:
    raw = joined(store_name="e")
    again = node("again", "join.stream_stream", before=1, after=1, joiner="left", store_name="e")
    raw["nodes"] += [again, sink("o")]
    raw["edges"] += [
        {"source": "a", "target": "again", "target_port": "left"},
        {"source": "b", "target": "again", "target_port": "right"},
        {"source": "again", "target": "o"},
    ]
    assert faults(raw)[0] == ("store_name_twice", "again", "store_name")


def test_a_program_gives_back_all_names(tmp_path: Path) -> None:
    foreign = node("fk", "join.foreign_key", foreign_key="value", joiner="left", repartition="f")
    inputs = [
        {"port": "x", "aggregator": "agg", "group_by": {"key": "value"}, "repartition": "x-by"},
        {"port": "y", "aggregator": "agg"},
    ]
    together = node("all", "cogroup", type="STRING", initializer="''", inputs=inputs)
    raw = joined("outer", store_name="e", repartition="j")
    raw["settings"] = {"names": "kafka_streams"}
    raw["nodes"] += [
        table("t"), table("u"), foreign, sink("o"), together, sink("p"),
        node("st", "join.stream_table", joiner="left", repartition="k"), sink("q"),
        node("n", "count", repartition="by-key"), sink("r"),
    ]  # fmt: skip
    raw["edges"] += [
        {"source": "t", "target": "fk", "target_port": "left"},
        {"source": "u", "target": "fk", "target_port": "right"},
        {"source": "fk", "target": "o"},
        {"source": "a", "target": "all", "target_port": "x"},
        {"source": "b", "target": "all", "target_port": "y"},
        {"source": "all", "target": "p"},
        {"source": "by", "target": "st", "target_port": "left"},
        {"source": "t", "target": "st", "target_port": "right"},
        {"source": "st", "target": "q"},
        {"source": "by", "target": "n"},
        {"source": "n", "target": "r"},
    ]
    for path, text in (compiled(raw).require().code or {}).items():
        (tmp_path / path).write_text(text, encoding="utf-8", newline="")
    back = load_program(tmp_path).document()
    given = ("repartition", "store_name", "inputs")
    kept = {each["id"]: {k: each["params"].get(k) for k in given} for each in raw["nodes"]}
    read = {each["id"]: {k: each["params"].get(k) for k in given} for each in back["nodes"]}
    assert read == kept
    assert back["settings"] == raw["settings"]
    assert names(back) == names(raw)


@pytest.mark.parametrize("given", [{}, KAFKA])
def test_a_rule_changes_neither_names_nor_state(given: Any) -> None:
    counting = node("words", "count", group_by={"key": "value"})
    rule = node("rule", "filter", predicate="value <> ''", rejected="warn")
    old, new = line(counting, **given), line(rule, counting, **given)
    assert names(new) == names(old)
    before, after = compiled(old).require(), compiled(new).require()
    assert {each.verdict for each in compare_state(before, after).stores} == {"kept"}
    assert stores(new) == stores(old)
    assert names(line(node("rule", "filter", predicate="true"), counting, **KAFKA)) != names(
        line(counting, **KAFKA)
    )
