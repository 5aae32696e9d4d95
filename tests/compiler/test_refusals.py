"""Every refused graph: the code, node and parameter of its error."""

from __future__ import annotations

import re
from typing import Any

import pytest
from millrace_compiler import Analyzer, compile_document
from millrace_compiler.declarations.operator import registry

from tests.compiler.kit import (
    LONG,
    ORDER,
    compiled,
    document,
    faults,
    line,
    node,
    sink,
    store,
    stream,
    table,
)
from tests.compiler.refused import CODE, KEEP, REFUSED, join, process, window, with_store

#: codes of keys and of values that have another type than needed
KEYS = {"key_types_differ", "sink_key_format"}
VALUES = {"types_differ", "sink_format"}


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_it_is_refused_at_the_node_and_parameter(what: str, analyzer: Analyzer) -> None:
    raw, expected = REFUSED[what]
    found = faults(raw, analyzer)
    assert expected in found
    assert {place for _, place, _ in found} == {expected[1]}
    result = compile_document(raw, analyzer)
    assert result.code is None
    assert not result.ok


def test_exactly_once_is_refused_where_it_is_to_run_in_real_time(analyzer: Analyzer) -> None:
    raw = {**line(KEEP), "settings": {"processing_guarantee": "exactly_once"}}
    assert compile_document(raw, analyzer).ok
    found = compile_document(raw, analyzer, real_time=True)
    assert [(d.code, d.parameter) for d in found.diagnostics] == [
        ("real_time_exactly_once", "processing_guarantee")
    ]
    assert not found.ok
    assert compile_document(line(KEEP), analyzer, real_time=True).ok


def test_a_store_across_a_repartition_is_refused() -> None:
    raw = document(
        [
            stream(),
            process(),
            node("again", "process", code=CODE, class_name="Run", output={}),
            node("wide", "repartition"),
            store(key_type="STRING", value_type="STRING"),
            sink(),
        ],
        [
            "in > run",
            "run > wide",
            "wide > again",
            "again > out",
            "rows > run.store",
            "rows > again.store",
        ],
    )
    assert [code for code, _, _ in faults(raw)] == ["store_across_levels"]


def test_ten_faults_give_ten_diagnostics_each_at_its_place(analyzer: Analyzer) -> None:
    raw = document(
        [
            stream("orders", value=ORDER),
            table("users"),
            table("cities"),
            node("big", "filter", predicate="value.quantity > 10 )"),
            node("odd", "filtre", predicate="true"),
            node("named", "map_values", valu="upper(value.item)"),
            node("count", "count", window={"type": "tumbling", "size": 0}),
            node("quiet", "suppress", until="window_closes"),
            node("joined", "join.stream_table", joiner="concat(left.item, right.name)"),
            node("tables", "join.table_table", joiner="left"),
            node("lonely", "merge"),
            sink("out", value=LONG),
            sink("two"),
        ],
        [
            "orders > big",
            "big > odd",
            "orders > named",
            "orders > count",
            "users > quiet",
            "orders > joined.left",
            "users > joined.right",
            "users > tables.left",
            "cities > tables.right",
            "orders > out",
            "quiet > two",
            "nobody > two",
        ],
        topics={"cities": 2, "users": 1},
        settings={"processing_handler": "stop"},
    )
    assert sorted(faults(raw, analyzer), key=str) == sorted(
        [
            ("choice", None, "processing_handler"),
            ("expression_syntax", "big", "predicate"),
            ("kind_unknown", "odd", "kind"),
            ("parameter_unknown", "named", "valu"),
            ("parameter_missing", "named", "value"),
            ("duration_too_short", "count", "window"),
            ("suppress_window", "quiet", "until"),
            ("expression_no_parts", "joined", "joiner"),
            ("not_copartitioned", "tables", "right"),
            ("input_missing", "lonely", "in"),
            ("sink_format", "out", "value"),
            ("edge_end", "two", "in"),
        ],
        key=str,
    )


def test_a_fault_inside_an_expression_has_a_position(analyzer: Analyzer) -> None:
    raw = line(node("keep", "filter", predicate="length(value) > 3 AND valeu = 'x'"))
    [found] = compile_document(raw, analyzer).diagnostics
    position = found.position
    assert position is not None
    assert "length(value) > 3 AND valeu = 'x'"[position.start : position.stop] == "valeu"
    assert found.to_json()["position"] == {"start": 22, "stop": 27}


def test_a_fault_inside_a_parameter_has_a_path(analyzer: Analyzer) -> None:
    branches = [{"port": "a", "predicate": "true"}, {"port": "b", "predicate": "nothing"}]
    raw = document(
        [stream(), node("route", "split", branches=branches), sink()],
        ["in > route", "route.a > out"],
    )
    [found] = compile_document(raw, analyzer).diagnostics
    assert (found.parameter, found.path) == ("branches", "branches[1].predicate")


def test_types_behind_a_fault_are_still_reported(analyzer: Analyzer) -> None:
    raw = line(
        node("broken", "map_values", value="nothing_of_the_kind"),
        node("keyed", "select_key", key="upper(key)"),
        node("again", "map_values", value="concat(key, '!')"),
        node("keep", "filter", predicate="value = key AND timestmp IS NULL"),
    )
    result = compile_document(raw, analyzer)
    assert [d.node for d in result.diagnostics] == ["broken", "keep"]
    ports = result.to_json()["ports"]
    assert isinstance(ports, dict)
    assert ports["keyed"]["out"] == {
        "role": "stream",
        "key": "STRING",
        "value": "?",
        "key_changed": True,
    }
    assert ports["again"]["out"]["value"] == "STRING"


@pytest.mark.parametrize(
    "raw",
    [
        window(type="session", gap=0),
        window(type="sliding", difference=0),
        join("stream_stream", stream("l"), stream("r"), before=0, after=0, joiner="left"),
        join("stream_stream", stream("l"), stream("r"), before=-2, after=8, joiner="left"),
        document(
            [stream("a", ["t"]), stream("b", ["t"]), sink(), sink("two")], ["a > out", "b > two"]
        ),
        document([stream(), KEEP], ["in > keep"]),
        document(
            [
                stream("a", ["t"], value={"format": "json", "schema": "a INT"}),
                stream("b", ["t"], value={"format": "json", "schema": "struct<a: int>"}),
                sink(),
            ],
            ["a > out", "b > out"],
        ),
        document([stream(), sink()], ["in > out", "in > out"]),
        document(
            [stream(), stream("back", ["out"]), sink(), sink("two")], ["in > out", "back > two"]
        ),
    ],
)
def test_it_is_accepted(raw: dict[str, Any]) -> None:
    assert faults(raw) == []
    assert compiled(raw).ok


def test_a_narrower_type_at_a_sink_is_cast(analyzer: Analyzer) -> None:
    raw = document(
        [stream(key=LONG), node("length", "map_values", value="length(value)"), sink(value=LONG)],
        ["in > length", "length > out"],
    )
    graph = compile_document(raw, analyzer).require().task_graph
    assert graph is not None
    assert {"value": "CAST(value AS BIGINT)"} in [each["params"] for each in graph["nodes"]]


def test_tables_at_streams_places_become_their_updates() -> None:
    raw = document(
        [
            table(),
            stream(),
            node("both", "merge"),
            node("seen", "peek", message="value"),
            node("route", "split", branches=[{"port": "a", "predicate": "true"}]),
            process(),
            sink(),
        ],
        [
            "table > both",
            "in > both",
            "table > seen",
            "table > route",
            "table > run",
            "both > out",
            "seen > out",
            "route.a > out",
            "run > out",
        ],
    )
    assert faults(raw) == []
    graph = compiled(raw).require_task_graph()
    assert [each["op"] for each in graph["nodes"]].count("to_stream") == 4


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        (line(node("keep", "filtre", predicate="true")), "Did you mean filter? Known kinds: "),
        (line(node("keep", "xyzxyz")), "Known kinds: "),
        (
            line(node("named", "map_values", valu="key")),
            "Did you mean value? Known parameters: ",
        ),
        (line(KEEP, settings={"procesing_handler": "fail"}), "Did you mean processing_handler? "),
        (
            document(
                [stream("l"), stream("r"), node("join", "join.stream_stream"), sink()],
                ["l > join.lefft", "r > join.right", "join > out"],
            ),
            "Did you mean left? Available ports: left, right",
        ),
    ],
)
def test_a_name_that_is_nearly_right_is_guessed(raw: dict[str, Any], hint: str) -> None:
    hints = [found.hint for found in compiled(raw).diagnostics]
    assert any(each.startswith(hint) for each in hints), hints


@pytest.mark.parametrize(
    "what", [what for what, (_, expected) in REFUSED.items() if expected[0] in KEYS | VALUES]
)
def test_a_wrong_type_is_converted_by_nodes_that_can_change_it(
    what: str, analyzer: Analyzer
) -> None:
    raw, expected = REFUSED[what]
    [found] = [d for d in compile_document(raw, analyzer).diagnostics if d.code == expected[0]]
    titles = {kind.title: kind for kind in registry().values()}
    named = [titles[title] for title in re.findall("“(.*?)”", found.hint)]
    ways = [kind for kind in named if kind.family == "stateless"]
    assert ways
    assert all(kind.changes_key == (expected[0] in KEYS) for kind in ways)


def test_a_node_with_unreadable_parameters_reports_nothing_else() -> None:
    raw = line(
        node("count", "count", window={"type": "tumbling", "size": 0}), node("out2", "merge")
    )
    summaries = compiled(raw).to_json()["summary"]
    assert isinstance(summaries, dict)
    assert "count" not in summaries
    assert {"in", "out2", "out"} <= set(summaries)


def test_a_store_of_the_wrong_kind_is_told_the_right_one(analyzer: Analyzer) -> None:
    def facts(window: dict[str, Any] | None, kind: str) -> list[tuple[str | None, str | None]]:
        counted = {} if window is None else {"window": window}
        raw = with_store(line(node("count", "count", **counted)), "count", store(kind=kind))
        found = [d.to_json()["facts"] for d in compile_document(raw, analyzer).diagnostics]
        return [(each.get("kind"), each.get("retention")) for each in found]

    tumbling = {"type": "tumbling", "size": "1 hour", "grace": "5 minutes"}
    session = {"type": "session", "gap": "1 hour"}
    assert facts(tumbling, "key_value") == [("store.window", "65 minutes")]
    assert facts(session, "window") == [("store.session", "1 hour")]
    assert facts({"type": "unlimited"}, "key_value") == [("store.window", None)]
    assert facts(None, "session") == [("store.key_value", None)]
