"""Sub-topologies, partitions, levels and placement."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_compiler.planning.plan import Plan

from tests.compiler.kit import (
    OneTypeAnalyzer,
    compiled,
    document,
    faults,
    global_table,
    line,
    node,
    sink,
    store,
    stream,
    table,
)
from tests.compiler.refused import CODE

COUNT = node("count", "count")
REKEY = node("rekey", "select_key", key="value")


def plan(raw: Any) -> Plan:
    assert faults(raw) == []
    found = compiled(raw).plan
    assert found is not None
    return found


def described(raw: Any) -> list[tuple[list[str], list[str], list[str], int]]:
    return [(s.nodes, s.sources, s.sinks, s.tasks) for s in plan(raw).subtopologies]


def steps(raw: Any) -> list[Any]:
    return list(compiled(raw).require_task_graph()["nodes"])


def test_a_changed_key_is_repartitioned_only_before_an_aggregation() -> None:
    assert described(line(COUNT)) == [(["in", "count", "out"], ["in"], ["out"], 1)]
    assert described(line(REKEY, COUNT, topics={"in": 3})) == [
        (["in", "rekey", "count"], ["in"], ["count-repartition"], 3),
        (["count", "out"], ["count-repartition"], ["out"], 3),
    ]


@pytest.mark.parametrize(
    ("changer", "shuffles"),
    [
        (node("x", "map", key="key", value="value"), True),
        (node("x", "select_key", key="key"), True),
        (node("x", "process", code=CODE, class_name="Run", output={}), True),
        (node("x", "process_values", code=CODE, class_name="Run", output={}), False),
        (node("x", "map_values", value="value"), False),
        (node("x", "filter", predicate="true"), False),
        (node("x", "peek", message="value"), False),
    ],
)
def test_only_what_may_change_the_key_leads_to_a_shuffle(changer: Any, shuffles: bool) -> None:
    assert len(plan(line(changer, COUNT)).physical.topics) == shuffles


def test_each_use_of_a_changed_key_has_a_repartition_topic_of_its_own() -> None:
    raw = document(
        [stream(), REKEY, COUNT, node("again", "count"), sink(), sink("two")],
        ["in > rekey", "rekey > count", "rekey > again", "count > out", "again > two"],
    )
    assert list(plan(raw).physical.topics) == ["count-repartition", "again-repartition"]


@pytest.mark.parametrize("edges", [("in", "rekey"), ("rekey", "in")])
def test_a_processor_of_two_streams_has_a_changed_key_if_one_of_them_has(
    edges: tuple[str, str],
) -> None:
    code = {"code": "class P(Processor): ...", "class_name": "P", "output": {}}
    raw = document(
        [stream(), REKEY, node("both", "process_values", **code), COUNT, sink()],
        ["in > rekey", *(f"{id_} > both" for id_ in edges), "both > count", "count > out"],
    )
    assert list(plan(raw).physical.topics) == ["count-repartition"]


def test_the_sides_of_a_stream_join_are_repartitioned_by_themselves() -> None:
    raw = document(
        [
            stream("a"),
            stream("b"),
            REKEY,
            node("join", "join.stream_stream", before=1, after=1, joiner="left"),
            sink(),
        ],
        ["a > rekey", "rekey > join.left", "b > join.right", "join > out"],
        topics={"a": 2, "b": 5},
    )
    found = plan(raw)
    assert list(found.physical.topics) == ["join-left-repartition"]
    assert found.partitions == {"join-left-repartition": 5}
    assert [s.tasks for s in found.subtopologies] == [2, 5]


def test_a_repartition_topic_is_as_wide_as_the_widest_source_before_it() -> None:
    raw = document(
        [stream("a"), stream("b"), node("both", "merge"), REKEY, COUNT, sink()],
        ["a > both", "b > both", "both > rekey", "rekey > count", "count > out"],
        topics={"a": 2, "b": 7},
    )
    assert plan(raw).partitions == {"count-repartition": 7}


def test_partitions_that_are_asked_for_hold_for_what_follows() -> None:
    raw = line(node("wide", "repartition", partitions=6), REKEY, COUNT, topics={"in": 2})
    assert plan(raw).partitions == {"wide-repartition": 6, "count-repartition": 6}


def test_explicit_partitions_that_differ_from_a_joined_topic_are_refused() -> None:
    raw = document(
        [
            stream("a"),
            table("t"),
            node("wide", "repartition", partitions=6),
            node("join", "join.stream_table", joiner="left"),
            sink(),
        ],
        ["a > wide", "wide > join.left", "t > join.right", "join > out"],
        topics={"t": 4},
    )
    assert faults(raw) == [("not_copartitioned", "join", "right")]


def test_a_subtopology_that_feeds_itself_is_as_wide_as_its_topics() -> None:
    raw = document(
        [
            stream("a"),
            table("t"),
            node("count", "count", group_by={"key": "value", "value": "value"}),
            node("join", "join.stream_table", joiner="left"),
            node("more", "join.stream_table", joiner="left"),
            sink(),
        ],
        [
            "t > count",
            "a > join.left",
            "count > join.right",
            "join > more.left",
            "t > more.right",
            "more > out",
        ],
        topics={"a": 3, "t": 3},
    )
    found = plan(raw)
    assert len(found.subtopologies) == 1
    assert found.partitions == {"count-repartition": 3}


def cogrouped(a: int, b: int) -> Any:
    inputs = [
        {"port": "x", "aggregator": "agg"},
        {"port": "y", "aggregator": "agg", "group_by": {"key": "value"}},
    ]
    all_ = node("all", "cogroup", type="STRING", initializer="''", inputs=inputs)
    return document(
        [stream("a"), stream("b"), all_, sink()],
        ["a > all.x", "b > all.y", "all > out"],
        topics={"a": a, "b": b},
    )


def test_the_inputs_of_a_cogroup_are_co_partitioned_as_they_come() -> None:
    assert plan(cogrouped(3, 3)).partitions == {"all-y-repartition": 3}
    assert faults(cogrouped(3, 2)) == [("not_copartitioned", "all", "inputs")]


def test_a_repartition_topic_is_as_wide_as_the_table_it_is_joined_with() -> None:
    raw = document(
        [
            stream("a"),
            table("t"),
            table("u"),
            node("one", "join.stream_table", joiner="left"),
            REKEY,
            node("two", "join.table_table", joiner="left"),
            node("rows", "to_table"),
            sink(),
            sink("other"),
        ],
        [
            "a > rekey",
            "rekey > rows",
            "rows > two.left",
            "t > two.right",
            "two > out",
            "a > one.left",
            "u > one.right",
            "one > other",
        ],
        topics={"a": 5, "u": 5, "t": 2},
    )
    assert plan(raw).partitions == {"rows-repartition": 2}


def test_a_null_key_is_kept_only_where_a_left_join_follows() -> None:
    def kept(kind: str) -> list[bool]:
        made = steps(
            document(
                [
                    stream("a"),
                    table("t"),
                    REKEY,
                    node("join", "join.stream_table", type=kind, joiner="left"),
                    sink(),
                ],
                ["a > rekey", "rekey > join.left", "t > join.right", "join > out"],
            )
        )
        hops = (each["params"] for each in made if each["op"] == "repartition")
        return [params["keep_null_keys"] for params in hops]

    assert kept("left") == [True]
    assert kept("inner") == [False]


def test_processors_that_share_a_store_share_a_subtopology() -> None:
    def run(name: str) -> Any:
        return node(name, "process", code=CODE, class_name="Run", output={})

    raw = document(
        [
            stream("a"),
            stream("b"),
            run("p"),
            run("q"),
            store(key_type="STRING", value_type="STRING"),
            sink(),
            sink("two"),
        ],
        ["a > p", "b > q", "p > out", "q > two", "rows > p.store", "rows > q.store"],
    )
    assert described(raw) == [(["a", "b", "p", "q", "out", "two"], ["a", "b"], ["out", "two"], 1)]


def test_a_topic_between_two_parts_keeps_them_apart() -> None:
    raw = document(
        [stream(), sink("middle"), stream("again", ["middle"]), sink()],
        ["in > middle", "again > out"],
    )
    assert len(plan(raw).subtopologies) == 2


def test_global_tables_belong_to_no_subtopology_and_need_no_shuffle() -> None:
    raw = document(
        [
            stream(),
            global_table(),
            REKEY,
            node("join", "join.stream_global_table", key="key", joiner="right"),
            sink(),
        ],
        ["in > rekey", "rekey > join.left", "global > join.right", "join > out"],
        topics={"in": 3, "global": 5},
    )
    assert described(raw) == [(["in", "rekey", "join", "out"], ["in"], ["out"], 3)]


def test_subtopologies_are_numbered_by_their_sources() -> None:
    raw = document([stream("z"), stream("a"), sink("one"), sink("two")], ["a > one", "z > two"])
    assert [s.sources for s in plan(raw).subtopologies] == [["z"], ["a"]]


def test_tables_keep_rows_only_where_something_asks_for_them() -> None:
    lone = document([table(), sink()], ["table > out"])
    assert plan(lone).subtopologies[0].stores == []
    joined = document(
        [table("a"), table("b"), node("join", "join.table_table", joiner="left"), sink()],
        ["a > join.left", "b > join.right", "join > out"],
    )
    assert plan(joined).subtopologies[0].stores == ["a", "b"]


def test_a_store_without_logging_has_no_changelog() -> None:
    raw = line(COUNT)
    raw["nodes"].append(store("rows", logging=False))
    raw["edges"].append({"source": "rows", "target": "count", "target_port": "store"})
    assert plan(raw).changelogs == []


def test_code_of_processors_is_told_apart_from_the_stream_task() -> None:
    raw = line(node("x", "process", code=CODE, class_name="Run", output={}))
    result = compiled(raw).to_json()["plan"]
    assert isinstance(result, dict)
    runs = {id_: found["runs_as"] for id_, found in result["nodes"].items()}
    assert runs == {"in": "stream_task", "x": "python", "out": "stream_task"}


def test_what_lies_behind_a_repartition_is_one_level_later() -> None:
    raw = line(REKEY, COUNT, node("up", "to_stream"), node("wide", "repartition"), topics={"in": 2})
    found = plan(raw)
    assert found.levels["count"] == 1
    assert found.levels["out"] == 2


def test_a_table_is_read_on_the_level_where_it_is_looked_up() -> None:
    raw = document(
        [stream(), table(), REKEY, node("join", "join.stream_table", joiner="left"), sink()],
        ["in > rekey", "rekey > join.left", "table > join.right", "join > out"],
    )
    levels = plan(raw).levels
    assert levels["table"] == levels["join"] == 1


def test_a_source_waits_for_the_level_of_its_only_child() -> None:
    raw = document(
        [
            stream("a"),
            stream("b"),
            REKEY,
            node("both", "merge"),
            node("wide", "repartition"),
            sink(),
        ],
        ["a > rekey", "rekey > wide", "wide > both", "b > both", "both > out"],
    )
    assert plan(raw).levels["b"] == 1


def test_a_table_that_feeds_its_own_lookup_sends_its_updates_there() -> None:
    raw = document(
        [
            table(),
            node("managed", "join.foreign_key", foreign_key="value", joiner="left"),
            sink(),
        ],
        ["table > managed.left", "table > managed.right", "managed > out"],
    )
    levels = plan(raw).levels
    assert levels["table"] == 0
    assert levels["managed-subscription-response"] == 1
    assert levels["managed"] == 2


def test_two_streams_of_one_topic_are_one_source() -> None:
    raw = document(
        [stream("a", ["t"]), stream("b", ["t"]), sink("one"), sink("two")],
        ["b > two", "a > one"],
    )
    assert [each["id"] for each in steps(raw)] == ["a", "one", "two"]


def test_children_come_in_the_order_of_the_edges() -> None:
    nodes = [stream(), sink("x"), sink("y"), node("keep", "filter", predicate="true"), sink("z")]
    raw = document(nodes, ["in > y", "in > keep", "in > x", "keep > z"])
    steps = list(plan(raw).physical.steps)
    assert steps.index("y") < steps.index("keep") < steps.index("x")


def test_a_child_that_another_child_needs_comes_first_all_the_same() -> None:
    nodes = [stream(), node("both", "merge"), node("keep", "filter", predicate="true"), sink()]
    raw = document(nodes, ["in > both", "in > keep", "keep > both", "both > out"])
    steps = list(plan(raw).physical.steps)
    assert steps.index("keep") < steps.index("both")


def test_names_of_steps_never_hide_a_node_of_the_document() -> None:
    raw = line(node("count", "count", group_by={"key": "value"}), node("count-key", "to_stream"))
    raw["nodes"].append(stream("count-repartition"))
    raw["nodes"].append(sink("two"))
    raw["edges"].append({"source": "count-repartition", "target": "two"})
    assert faults(raw) == []
    steps = plan(raw).physical.steps
    assert steps["count-key"].op == "to_stream"
    assert steps["count-key-2"].op == "select_key"
    assert len({step.id for step in steps.values()}) == len(steps)


def test_edges_show_whether_records_are_shuffled_on_them() -> None:
    raw = document(
        [stream(), table(), REKEY, node("join", "join.stream_table", joiner="left"), sink()],
        ["in > rekey", "rekey > join.left", "table > join.right", "join > out"],
    )
    result = compiled(raw).to_json()["plan"]
    assert isinstance(result, dict)
    assert [e["shuffle"] for e in result["edges"]] == [False, True, False, False]


def test_partitions_on_the_broker_override_declared_ones() -> None:
    nodes = [stream("in"), REKEY, COUNT, node("rows", "to_stream"), sink()]
    edges = ["in > rekey", "rekey > count", "count > rows", "rows > out"]
    raw = document(nodes, edges, topics={"in": 3})
    found = compile_document(raw, OneTypeAnalyzer(), partitions={"in": 2, "other": 9})
    assert found.plan is not None
    assert [sub.tasks for sub in found.plan.subtopologies] == [2, 2]
    assert found.topics_read(found.plan) == [{"name": "in", "partitions": 2, "known": "broker"}]
    # The program is that of the document.
    assert found.code == compiled(raw).code


def test_a_plan_says_which_partitions_are_declared_and_which_assumed() -> None:
    raw = document([stream("a"), stream("b")], [], topics={"a": 3})
    found = compiled(raw)
    assert found.plan is not None
    assert found.topics_read(found.plan) == [
        {"name": "a", "partitions": 3, "known": "declared"},
        {"name": "b", "partitions": 1, "known": "assumed"},
    ]
