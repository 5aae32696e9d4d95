"""Reading a document never fails: any JSON ends in diagnostics."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from millrace_compiler import DocumentError, load_document

from tests.compiler.kit import compiled, document, faults, line, node, sink, store, stream, table


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        '"text"',
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": ' + "9" * 5000 + "}",
        "[" * 100_000,
        b"\xff\xfe{}",
    ],
)
def test_a_text_that_is_no_json_object_is_refused_with_a_reason(text: str | bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        load_document(text)
    assert [d.code for d in caught.value.diagnostics] in (["document_text"], ["document_shape"])
    assert caught.value.diagnostics[0].message


def test_a_document_is_read_from_bytes_with_a_byte_order_mark() -> None:
    assert load_document(b"\xef\xbb\xbf{}") == {}


@pytest.mark.parametrize("raw", [None, 3, "x", [], {}, {"format": "millrace.topology/2"}])
def test_what_is_no_document_is_refused(raw: object) -> None:
    assert faults(raw)


@pytest.mark.parametrize("key", ["name", "description", "settings", "topics", "nodes", "edges"])
@pytest.mark.parametrize("value", [3, True, 1e400, "text", [1], {"a": 1}])
def test_a_key_of_the_wrong_type_is_refused(key: str, value: object) -> None:
    raw = line(node("keep", "filter", predicate="true"))
    raw[key] = value
    fits = key in {"name", "description"} and value == "text"
    assert bool(faults(raw)) != fits


DRAWING = {
    "groups": [
        {"id": "all", "title": "All", "color": "join", "nodes": ["gone"], "collapsed": True},
        {"id": "inner", "nodes": ["keep"], "parent": "all"},
    ],
    "notes": [{"id": "why", "text": "*why*", "position": {"x": 0, "y": -80.5}, "width": 200}],
    "bends": [{"source": "orders", "target": "gone", "points": [{"x": 8, "y": -16.5}]}],
    "doubles": [{"node": "keep", "passes": True, "rows": [{"when": "true", "value": "value"}]}],
    "program": {"job.py": "# mine\n"},
}


def test_what_is_drawn_or_simulated_never_affects_the_program() -> None:
    plain = line(node("keep", "filter", predicate="true"))
    assert compiled({**plain, "drawing": DRAWING}).code == compiled(plain).code
    assert not faults({**plain, "drawing": DRAWING})


@pytest.mark.parametrize(
    ("drawing", "place"),
    [
        ([], "drawing"),
        ({"frames": []}, "drawing.frames"),
        ({"groups": {}}, "drawing.groups"),
        ({"groups": [3]}, "drawing.groups[0]"),
        ({"groups": [{"title": "x"}]}, "drawing.groups[0].id"),
        ({"groups": [{"id": "a"}, {"id": "a"}]}, "drawing.groups[1].id"),
        ({"groups": [{"id": "a", "nodes": ["b", 3]}]}, "drawing.groups[0].nodes"),
        ({"groups": [{"id": "a", "collapsed": 1}]}, "drawing.groups[0].collapsed"),
        ({"notes": [{"id": "a", "position": {"x": 0}}]}, "drawing.notes[0].position"),
        ({"notes": [{"id": "a", "size": 3}]}, "drawing.notes[0].size"),
        ({"notes": [{"id": "a", "width": True}]}, "drawing.notes[0].width"),
        ({"pins": [{"source": "a", "records": []}]}, "drawing.pins[0].target"),
        ({"pins": [{"source": "a", "target": "b"}]}, "drawing.pins[0].records"),
        ({"pins": [{"source": "a", "target": "b", "records": [1]}]}, "drawing.pins[0].records"),
        (
            {"pins": [{"source": "a", "target": "b", "records": [{}] * 201}]},
            "drawing.pins[0].records",
        ),
        ({"bends": [{"source": "a", "target": "b"}]}, "drawing.bends[0].points"),
        (
            {"bends": [{"source": "a", "target": "b", "points": [{"x": 1}]}]},
            "drawing.bends[0].points",
        ),
        ({"doubles": [{"rows": []}]}, "drawing.doubles[0].node"),
        ({"doubles": [{"node": "a", "rows": [{"then": "1"}]}]}, "drawing.doubles[0].rows"),
        ({"doubles": [{"node": "a"}, {"node": "a"}]}, "drawing.doubles[1].node"),
        ({"muted": "keep"}, "drawing.muted"),
        ({"program": "# mine"}, "drawing.program"),
        ({"program": {"job.py": 3}}, "drawing.program"),
    ],
)
def test_a_drawing_of_the_wrong_shape_is_refused_at_its_place(drawing: object, place: str) -> None:
    raw = {**line(node("keep", "filter", predicate="true")), "drawing": drawing}
    found = compiled(raw).diagnostics
    assert [each.parameter for each in found if each.code != "narrow_type"] == [place]


@pytest.mark.parametrize("id_", ["", "Big", "1st", "a b", "ä", 3, None, "x" * 201, "a\n"])
def test_an_id_must_be_a_small_name(id_: object) -> None:
    raw = line(node("keep", "filter", predicate="true"))
    raw["nodes"][1]["id"] = id_
    assert any(code == "node_id" for code, _, _ in faults(raw))


@pytest.mark.parametrize("kind", ["", None, 7])
def test_a_kind_must_be_a_text_that_is_not_empty(kind: object) -> None:
    raw = _rich()
    raw["nodes"][5]["kind"] = kind
    assert ("node_part", "run", "kind") in faults(raw)


def test_an_id_that_is_used_twice_is_named() -> None:
    raw = line(node("keep", "filter", predicate="true"))
    raw["nodes"].append(node("keep", "filter", predicate="true"))
    assert faults(raw) == [("node_id_twice", "keep", "id")]


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", None, True, 10**30])
def test_partitions_are_whole_numbers_above_zero(count: object) -> None:
    raw = line(node("keep", "filter", predicate="true"))
    raw["topics"] = {"in": {"partitions": count}}
    assert faults(raw) == [("topic_partitions", None, "topics")]


def test_unknown_keys_are_warnings() -> None:
    raw = line(node("keep", "filter", predicate="true"))
    raw["notes"] = []
    raw["nodes"][1]["color"] = "red"
    raw["edges"][0]["id"] = "e1"
    result = compiled(raw)
    assert result.ok
    assert [(d.code, d.severity, d.blocks) for d in result.diagnostics] == [
        ("unknown_key", "warning", None)
    ] * 3


def test_labels_positions_and_descriptions_do_not_change_the_steps() -> None:
    raw = line(node("keep", "filter", predicate="true"))
    other = copy.deepcopy(raw)
    for item in other["nodes"]:
        item["position"] = {"x": 1.5, "y": -3}
        item["description"] = "text"
        item["label"] = "Label"
    first, second = compiled(raw), compiled(other)
    assert first.task_graph == second.task_graph


_JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["in", "out", "filter", "count", "store", "tumbling", "json", "ARRAY<INT>"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=6) | st.sampled_from(["type", "key", "port"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def _rich() -> dict[str, Any]:
    window = {"type": "hopping", "size": "1 hour", "advance": "5 minutes", "grace": 0}
    raw = document(
        [
            stream(),
            stream("other", invalid_timestamp="skip"),
            table(),
            node("route", "split", branches=[{"port": "a", "predicate": "true"}], default_port="b"),
            node(
                "many",
                "cogroup",
                type="STRING",
                initializer="''",
                window=window,
                inputs=[{"port": "x", "group_by": {"key": "value"}, "aggregator": "agg"}],
            ),
            node(
                "run",
                "process",
                code="class A:\n    pass\n",
                class_name="A",
                outputs=["p", "q"],
                output={"key": "STRING", "value": "STRING"},
            ),
            node("near", "join.stream_stream", before=1, after="2 seconds", joiner="left"),
            node("quiet", "suppress", until="time_limit", limit=5, max_records=3),
            store("rows", key_type="STRING", value_type="STRING", logging_config={"a": 1}),
            sink(),
        ],
        [
            "in > route",
            "route.a > many.x",
            "many > quiet",
            "quiet > out",
            "route.b > run",
            "rows > run.store",
            "run.p > near.left",
            "other > near.right",
            "near > out",
            "table > out",
        ],
        settings={"processing_handler": "dead_letter", "dead_letter_topic": "dead"},
    )
    return copy.deepcopy(raw)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        found += _places(inner, (*path, key))
    return found


def test_the_rich_document_compiles() -> None:
    assert faults(_rich()) == []


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_part_may_be_anything_without_a_traceback(data: st.DataObject) -> None:
    raw = _rich()
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(_places(raw)))
        junk = data.draw(_JUNK)
        if not path:
            raw = junk if isinstance(junk, dict) else raw
            continue
        target: Any = raw
        try:
            for key in path[:-1]:
                target = target[key]
            if isinstance(target, dict) and data.draw(st.booleans()):
                target.pop(path[-1], None)
            else:
                target[path[-1]] = junk
        except (KeyError, IndexError, TypeError):
            continue
    result = compiled(raw)
    json.dumps(result.to_json())
    assert result.ok == (not [d for d in result.diagnostics if d.severity == "error"])
    for diagnostic in result.diagnostics:
        assert diagnostic.message
        assert diagnostic.hint
        assert diagnostic.to_text()
