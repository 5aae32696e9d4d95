"""What happens to stores and sources when one document replaces another, as a table of changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from millrace_compiler import ExpressionRequest, ExpressionResult, Refused, compile_document
from millrace_compiler.state.state_changes import StateChange, type_text
from millrace_compiler.state.state_schema import compare_state, spark_json, state_schema
from millrace_compiler.types.types import parse_type

from tests.compiler.kit import (
    Raw,
    document,
    edge,
    global_table,
    line,
    node,
    sink,
    store,
    stream,
    table,
)
from tests.compiler.refused import CODE
from tests.compiler.refused.made import process

HOUR, MINUTE = 3_600_000, 60_000


class CastAnalyzer:
    """A double that reads the type from expressions like ``null::BIGINT``; others are STRING."""

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        return [ExpressionResult(self._type(request)) for request in requests]

    @staticmethod
    def _type(request: ExpressionRequest) -> str:
        _, cast, type_ = request.text.partition("::")
        return parse_type(type_).text if cast else request.expects or "STRING"


def change(old: Raw, new: Raw) -> StateChange:
    before, after = (compile_document(raw, CastAnalyzer()) for raw in (old, new))
    return compare_state(before, after)


def stores(old: Raw, new: Raw) -> dict[str, tuple[str, set[str]]]:
    return {s.id: (s.verdict, set(s.reasons)) for s in change(old, new).stores}


# ---- documents with one store, by its kind -------------------------------------------------


def aggregate(type_: str = "BIGINT", **params: Any) -> Raw:
    return node("sum", "aggregate", type=type_, initializer="null", aggregator="agg", **params)


def with_store(operator: Raw, kept: Raw, **more: Any) -> Raw:
    raw = line(operator, **more)
    raw["nodes"].append(kept)
    raw["edges"].append(edge(f"{kept['id']} > {operator['id']}.store"))
    return raw


def plain(type_: str = "BIGINT", **more: Any) -> Raw:
    return line(aggregate(type_), **more)


def windowed(**window: Any) -> Raw:
    return line(aggregate(window=window))


def tumbling(size: Any = HOUR, type_: str = "BIGINT", **more: Any) -> Raw:
    return line(aggregate(type_, window={"type": "tumbling", "size": size}), **more)


def of_windows(size: int = HOUR) -> Raw:
    """A store without windows of its own, whose keys are those of the windowed table before it."""
    count = node("count", "count", window={"type": "tumbling", "size": size})
    return line(count, node("updates", "to_stream"), aggregate())


def session(gap: int = HOUR, type_: str = "BIGINT") -> Raw:
    window = {"type": "session", "gap": gap}
    return line(aggregate(type_, window=window, merger="left"))


def processor(kept: Raw, **more: Any) -> Raw:
    run = node("run", "process", code=CODE, class_name="Run", output={})
    return with_store(run, kept, **more)


def own(kind: str = "key_value", key: str = "STRING", value: str = "BIGINT", **params: Any) -> Raw:
    return store("rows", kind, **{"key_type": key, "value_type": value, **params})


def own_window(**params: Any) -> Raw:
    return own("window", **{"retention": 4 * HOUR, "window_size": HOUR, **params})


def named(kind: str = "key_value", type_: str = "BIGINT", **params: Any) -> Raw:
    return with_store(aggregate(type_), store("rows", kind, **params))


def joined(value: str = "STRING", right: str = "STRING", key: str = "STRING", **more: Any) -> Raw:
    topics = more.pop("topics", {})
    join = node("join", "join.stream_stream",
                **{"type": "inner", "before": 5, "after": 5, "joiner": "left", **more})  # fmt: skip
    sides = [typed("a", key, value), typed("b", key, right)]
    return document([*sides, join, sink()], ["a > join.left", "b > join.right", "join > out"],
                    topics=topics)  # fmt: skip


FORMATS = {"STRING": "string", "INT": "integer", "BIGINT": "long", "DOUBLE": "double"}


def typed(id_: str, key: str = "STRING", value: str = "STRING") -> Raw:
    def format_(type_: str) -> Raw:
        return {"format": FORMATS[type_]} if type_ in FORMATS else json_of(type_)

    return stream(id_, key=format_(key), value=format_(value))


def json_of(type_: str) -> Raw:
    return {"format": "json", "schema": type_}


def suppressed(window: Any = HOUR, type_: str = "BIGINT", **params: Any) -> Raw:
    params = {"until": "window_closes", **params}
    counted = aggregate(type_, window={"type": "tumbling", "size": window})
    return line(counted, node("wait", "suppress", **params))


def limited(**params: Any) -> Raw:
    return line(node("rows", "to_table"),
                node("wait", "suppress", until="time_limit", limit=5, **params))  # fmt: skip


def graced(value: str = "STRING", grace: int | None = 5) -> Raw:
    join = node("join", "join.stream_table", joiner="left", grace=grace)
    history = store("history", "versioned", history_retention=HOUR)
    nodes = [typed("a", value=value), table("t"), history, join, sink()]
    edges = ["a > join.left", "t > join.right", "history > t.store", "join > out"]
    return document(nodes, edges)


def foreign(left: str = "a INT", right_key: str = "STRING", **more: Any) -> Raw:
    topics = more.pop("topics", {})
    join = node("join", "join.foreign_key", foreign_key="key", joiner="left", **more)
    left_table = table("l", value=json_of(left))
    right_table = table("r", key={"format": FORMATS[right_key]})
    return document([left_table, right_table, join, sink()],
                    ["l > join.left", "r > join.right", "join > out"], topics=topics)  # fmt: skip


def referring(left: int, right: int) -> Raw:
    """A foreign-key join that stores its result, because another join looks it up."""
    raw = foreign(topics={"l": left, "r": right, "x": left})
    raw["nodes"] += [table("x"), node("again", "join.table_table", joiner="left"), sink("second")]
    raw["edges"] += [edge(e) for e in ("join > again.left", "x > again.right", "again > second")]
    return raw


def everywhere(value: str = "STRING", **topics: int) -> Raw:
    join = node("join", "join.stream_global_table", key="key", joiner="left")
    rows = global_table("g", value={"format": FORMATS[value]})
    return document([stream("a"), rows, join, sink()],
                    ["a > join.left", "g > join.right", "join > out"], topics=topics)  # fmt: skip


def everywhere_else() -> Raw:
    """The same document with an ordinary table instead of a global table."""
    join = node("join", "join.stream_table", joiner="left")
    return document([stream("a"), table("g"), join, sink()],
                    ["a > join.left", "g > join.right", "join > out"])  # fmt: skip


def looked_up(**more: Any) -> Raw:
    join = node("join", "join.stream_table", joiner="left")
    return document([stream("a"), table("t"), join, sink()],
                    ["a > join.left", "t > join.right", "join > out"], **more)  # fmt: skip


def unread() -> Raw:
    return document([stream("a"), table("t"), sink()], ["a > out", "t > out"])


KEPT: tuple[str, set[str]] = ("kept", set())
NEW: tuple[str, set[str]] = ("new", set())
LOST: tuple[str, set[str]] = ("lost", set())


def migrated(*reasons: str) -> tuple[str, set[str]]:
    return "migrated", set(reasons)


def incompatible(*reasons: str) -> tuple[str, set[str]]:
    return "incompatible", set(reasons)


WIDER, ADDED, REMOVED = "value_widened", "fields_added", "fields_removed"
MOVED, TASKS, KIND = "fields_reordered", "tasks_changed", "store_kind_changed"
KEY, VALUE, WINDOWS = "key_type_changed", "value_type_changed", "windows_changed"


# ---- types of values -----------------------------------------------------------------------

TYPES = [
    ("BIGINT", "BIGINT", KEPT),
    ("TINYINT", "SMALLINT", migrated(WIDER)),
    ("TINYINT", "BIGINT", migrated(WIDER)),
    ("INT", "BIGINT", migrated(WIDER)),
    ("FLOAT", "DOUBLE", migrated(WIDER)),
    ("BIGINT", "INT", incompatible(VALUE)),
    ("DOUBLE", "FLOAT", incompatible(VALUE)),
    ("DOUBLE", "BIGINT", incompatible(VALUE)),
    ("BIGINT", "DOUBLE", incompatible(VALUE)),
    ("INT", "DOUBLE", incompatible(VALUE)),
    ("INT", "FLOAT", incompatible(VALUE)),
    ("INT", "STRING", incompatible(VALUE)),
    ("DATE", "TIMESTAMP", incompatible(VALUE)),
    ("TIMESTAMP", "BIGINT", incompatible(VALUE)),
    ("DECIMAL(10,2)", "DECIMAL(12,2)", incompatible(VALUE)),
    ("DOUBLE", "STRUCT<sum: DOUBLE>", incompatible(VALUE)),
    ("STRUCT<sum: DOUBLE>", "DOUBLE", incompatible(VALUE)),
    ("STRUCT<a: INT>", "STRUCT<a: INT, b: STRING>", migrated(ADDED)),
    ("STRUCT<a: INT, c: INT>", "STRUCT<a: INT, b: INT, c: INT>", migrated(ADDED)),
    ("STRUCT<a: INT, b: STRING>", "STRUCT<b: STRING>", migrated(REMOVED)),
    ("STRUCT<a: INT, b: STRING>", "STRUCT<b: STRING, a: INT>", migrated(MOVED)),
    ("STRUCT<a: INT>", "STRUCT<b: INT>", migrated(ADDED, REMOVED)),
    ("STRUCT<a: INT>", "STRUCT<A: INT>", KEPT),
    ("STRUCT<a: INT>", "STRUCT<a: BIGINT>", migrated(WIDER)),
    ("STRUCT<a: INT, b: INT, c: INT>", "STRUCT<c: BIGINT, a: INT, d: INT>",
     migrated(WIDER, ADDED, REMOVED, MOVED)),
    ("STRUCT<a: BIGINT, b: INT>", "STRUCT<a: INT, b: BIGINT>", incompatible(VALUE)),
    ("STRUCT<a: INT>", "STRUCT<a: STRING, b: INT>", incompatible(VALUE)),
    ("STRUCT<a: STRUCT<x: INT>>", "STRUCT<a: STRUCT<x: INT, y: INT>>", migrated(ADDED)),
    ("STRUCT<a: STRUCT<x: INT, y: INT>>", "STRUCT<a: STRUCT<y: INT, x: BIGINT>>",
     migrated(MOVED, WIDER)),
    ("ARRAY<INT>", "ARRAY<BIGINT>", migrated(WIDER)),
    ("ARRAY<BIGINT>", "ARRAY<INT>", incompatible(VALUE)),
    ("ARRAY<INT>", "INT", incompatible(VALUE)),
    ("ARRAY<STRUCT<a: INT>>", "ARRAY<STRUCT<a: INT, b: INT>>", migrated(ADDED)),
    ("ARRAY<ARRAY<FLOAT>>", "ARRAY<ARRAY<DOUBLE>>", migrated(WIDER)),
    ("MAP<STRING, INT>", "MAP<STRING, BIGINT>", migrated(WIDER)),
    ("MAP<INT, INT>", "MAP<BIGINT, INT>", migrated(WIDER)),
    ("MAP<STRING, INT>", "MAP<INT, INT>", incompatible(VALUE)),
    ("MAP<STRING, STRUCT<a: INT>>", "MAP<STRING, STRUCT<b: INT>>", migrated(ADDED, REMOVED)),
    ("MAP<STRUCT<a: INT, b: INT>, INT>", "MAP<STRUCT<a: INT>, INT>", incompatible(VALUE)),
    ("MAP<STRING, INT>", "STRUCT<a: INT>", incompatible(VALUE)),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), TYPES)
def test_a_change_of_the_value_s_type_in_any_kind_of_store(
    old: str, new: str, expected: tuple[str, set[str]]
) -> None:
    assert stores(plain(old), plain(new)) == {"sum": expected}
    assert stores(tumbling(type_=old), tumbling(type_=new)) == {"sum": expected}
    assert stores(session(type_=old), session(type_=new)) == {"sum": expected}
    extras: dict[str, Raw] = {"key_value": {}, "versioned": {"history_retention": HOUR}}
    for kind, extra in extras.items():
        before, after = (processor(own(kind, value_type=type_, **extra)) for type_ in (old, new))
        assert stores(before, after) == {"rows": expected}
    assert stores(processor(own_window(value_type=old)), processor(own_window(value_type=new))) == {
        "rows": expected
    }
    assert stores(suppressed(type_=old), suppressed(type_=new))["wait"] == expected


# ---- every kind of store × every kind of change --------------------------------------------

ROWS: list[tuple[str, Raw, Raw, dict[str, tuple[str, set[str]]]]] = [
    ("the same", plain(), plain(), {"sum": KEPT}),
    ("another expression", plain(), line(aggregate() | {"label": "x"}), {"sum": KEPT}),
    ("count in place of aggregate", plain(), line(node("sum", "count")), {"sum": KEPT}),
    ("another id", plain(), line(node("total", "count")), {"sum": LOST, "total": NEW}),
    ("removed", plain(), line(), {"sum": LOST}),
    ("added", line(), plain(), {"sum": NEW}),
    ("a node before it", plain(), line(node("f", "filter", predicate="true"), aggregate()),
     {"sum": KEPT}),
    ("a node after it", plain(), line(aggregate(), node("s", "to_stream")), {"sum": KEPT}),
    ("a repartition before it", plain(), line(node("r", "repartition"), aggregate()),
     {"sum": KEPT}),
    ("a repartition of other width", plain(), line(node("r", "repartition", partitions=4),
     aggregate()), {"sum": migrated(TASKS)}),
    ("another grouping of the same type", plain(), line(aggregate(group_by={"key": "value"})),
     {"sum": KEPT}),
    ("another key", plain(), line(aggregate(group_by={"key": "null::INT"})),
     {"sum": incompatible(KEY)}),
    ("a wider key", line(aggregate(group_by={"key": "null::INT"})),
     line(aggregate(group_by={"key": "null::BIGINT"})), {"sum": incompatible(KEY)}),
    ("fields added to the key", line(aggregate(group_by={"key": "null::STRUCT<a: INT>"})),
     line(aggregate(group_by={"key": "null::STRUCT<a: INT, b: INT>"})),
     {"sum": incompatible(KEY)}),
    ("a field of the key in other letters",
     line(aggregate(group_by={"key": "null::STRUCT<a: INT>"})),
     line(aggregate(group_by={"key": "null::STRUCT<A: INT>"})),
     {"sum": incompatible(KEY)}),
    ("more partitions", plain(topics={"in": 4}), plain(topics={"in": 8}),
     {"sum": migrated(TASKS)}),
    ("fewer partitions", plain(topics={"in": 8}), plain(topics={"in": 4}),
     {"sum": migrated(TASKS)}),
    ("partitions and a wider type", plain("INT", topics={"in": 4}), plain(topics={"in": 8}),
     {"sum": migrated(TASKS, WIDER)}),
    ("partitions and a narrower type", plain(topics={"in": 4}), plain("INT", topics={"in": 8}),
     {"sum": incompatible(TASKS, VALUE)}),
    ("key and value", plain(), line(aggregate("STRING", group_by={"key": "null::INT"})),
     {"sum": incompatible(KEY, VALUE)}),
    # named stores
    ("a store node added", plain(), named(), {"sum": LOST, "rows": NEW}),
    ("a store node removed", named(), plain(), {"sum": NEW, "rows": LOST}),
    ("the store renamed", named(), named(name="other"), {"rows": KEPT}),
    ("kept in memory", named(), named(persistent=False), {"rows": KEPT}),
    ("logging and caching", named(), named(logging=False, caching=True), {"rows": KEPT}),
    ("versions asked for", named(), named("versioned", history_retention=HOUR),
     {"rows": incompatible(KIND)}),
    ("a longer history", named("versioned", history_retention=HOUR),
     named("versioned", history_retention=2 * HOUR), {"rows": KEPT}),
    ("the operator under a store has another id", named(),
     with_store(aggregate() | {"id": "total"}, store("rows")), {"rows": KEPT}),
    # windows
    ("the same size in other words", tumbling(), tumbling("60 minutes"), {"sum": KEPT}),
    ("another size", tumbling(), tumbling(2 * HOUR), {"sum": incompatible(WINDOWS)}),
    ("another grace", windowed(type="tumbling", size=HOUR),
     windowed(type="tumbling", size=HOUR, grace=MINUTE), {"sum": KEPT}),
    ("hopping windows", tumbling(), windowed(type="hopping", size=HOUR, advance=MINUTE),
     {"sum": incompatible(WINDOWS)}),
    ("another advance", windowed(type="hopping", size=HOUR, advance=MINUTE),
     windowed(type="hopping", size=HOUR, advance=2 * MINUTE), {"sum": incompatible(WINDOWS)}),
    ("an offset of 0", tumbling(), windowed(type="tumbling", size=HOUR, offset=0), {"sum": KEPT}),
    ("an offset", tumbling(), windowed(type="tumbling", size=HOUR, offset=MINUTE),
     {"sum": incompatible(WINDOWS)}),
    ("another time zone", windowed(type="tumbling", unit="day", time_zone="Europe/Paris"),
     windowed(type="tumbling", unit="day", time_zone="UTC"), {"sum": incompatible(WINDOWS)}),
    ("another difference", windowed(type="sliding", difference=HOUR),
     windowed(type="sliding", difference=MINUTE), {"sum": incompatible(WINDOWS)}),
    ("sliding windows", tumbling(), windowed(type="sliding", difference=HOUR),
     {"sum": incompatible(WINDOWS)}),
    ("another start of all windows", windowed(type="unlimited", start=0),
     windowed(type="unlimited", start=5), {"sum": incompatible(WINDOWS)}),
    ("another gap", session(), session(MINUTE), {"sum": incompatible(WINDOWS)}),
    ("sessions", tumbling(), session(), {"sum": incompatible(KIND, WINDOWS)}),
    ("a window at all", plain(), tumbling(), {"sum": incompatible(KIND, WINDOWS)}),
    ("keys with windows in place of windows", tumbling(), of_windows(),
     {"sum": incompatible(KIND), "count": NEW}),
    ("keys with other windows", of_windows(), of_windows(MINUTE),
     {"sum": incompatible(WINDOWS), "count": incompatible(WINDOWS)}),
    ("windows and type", tumbling(type_="DOUBLE"), tumbling(2 * HOUR),
     {"sum": incompatible(WINDOWS, VALUE)}),
    ("results at the end only", tumbling(),
     line(aggregate(window={"type": "tumbling", "size": HOUR}, emit="window_close")),
     {"sum": KEPT}),
    ("windows over more partitions", tumbling(topics={"in": 4}), tumbling(topics={"in": 8}),
     {"sum": migrated(TASKS)}),
    # stores of processors
    ("a processor's code", processor(own()), processor(own()) | {"name": "y"}, {"rows": KEPT}),
    ("a processor's key", processor(own()), processor(own(key="INT")), {"rows": incompatible(KEY)}),
    ("a processor's store as windows", processor(own()), processor(own_window()),
     {"rows": incompatible(KIND, WINDOWS)}),
    ("a processor's windows", processor(own_window()), processor(own_window(window_size=MINUTE)),
     {"rows": incompatible(WINDOWS)}),
    ("a processor's retention", processor(own_window()), processor(own_window(retention=9 * HOUR)),
     {"rows": KEPT}),
    ("several values at one time", processor(own_window()),
     processor(own_window(retain_duplicates=True)), {"rows": incompatible(KIND)}),
    ("a processor's sessions", processor(own("session", retention=HOUR)),
     processor(own("session", retention=2 * HOUR)), {"rows": KEPT}),
    ("a processor's versions", processor(own()),
     processor(own("versioned", history_retention=HOUR)), {"rows": incompatible(KIND)}),
    ("a processor's partitions", processor(own(), topics={"in": 2}),
     processor(own(), topics={"in": 3}), {"rows": migrated(TASKS)}),
    ("a processor in place of an operator", named(), processor(own()), {"rows": KEPT}),
    # buffers of joins of streams
    ("the bounds of a join", joined(), joined(before=50, after=0, grace=7), {"join": KEPT}),
    ("an outer join", joined(), joined(type="outer"), {"join": KEPT}),
    ("an inner join", joined(type="left"), joined(), {"join": KEPT}),
    ("a wider left side", joined("INT"), joined("BIGINT"), {"join": migrated(WIDER)}),
    ("fields on the right side", joined(right="a INT"), joined(right="a INT, b INT"),
     {"join": migrated(ADDED)}),
    ("both sides", joined("INT", "a INT, b INT"), joined("BIGINT", "b INT"),
     {"join": migrated(WIDER, REMOVED)}),
    ("one side narrower", joined("INT", "BIGINT"), joined("BIGINT", "INT"),
     {"join": incompatible(VALUE)}),
    ("the key of a join", joined(), joined(key="INT"), {"join": incompatible(KEY)}),
    ("partitions of a join", joined(topics={"a": 2, "b": 2}), joined(topics={"a": 4, "b": 4}),
     {"join": migrated(TASKS)}),
    ("a join added", line(), joined(), {"join": NEW}),
    ("a join with a table", joined(), graced(),
     {"join": incompatible(KIND), "history": NEW}),
    # suppress
    ("another limit", limited(), limited(max_records=5), {"rows": KEPT, "wait": KEPT}),
    ("suppress removed", suppressed(), tumbling(), {"sum": KEPT, "wait": LOST}),
    ("suppress added", tumbling(), suppressed(), {"sum": KEPT, "wait": NEW}),
    ("windows below suppress", suppressed(), suppressed(2 * HOUR),
     {"sum": incompatible(WINDOWS), "wait": incompatible(WINDOWS)}),
    ("until a limit", suppressed(), suppressed(until="time_limit", limit=5),
     {"sum": KEPT, "wait": KEPT}),
    # buffers of joins with a table
    ("another grace of a join", graced(), graced(grace=50), {"history": KEPT, "join": KEPT}),
    ("waiting given up", graced(), graced(grace=None), {"history": KEPT, "join": LOST}),
    ("waiting records", graced("INT"), graced("BIGINT"),
     {"history": KEPT, "join": migrated(WIDER)}),
    # foreign keys
    ("an outer foreign key", foreign(), foreign(type="left"), {"l": KEPT, "r": KEPT, "join": KEPT}),
    ("rows that refer", foreign(), foreign("a INT, b INT"),
     {"l": migrated(ADDED), "r": KEPT, "join": KEPT}),
    ("rows that are referred to", foreign(), foreign(right_key="INT"),
     {"l": KEPT, "r": incompatible(KEY), "join": incompatible(KEY)}),
    ("partitions of the right table", foreign(topics={"l": 2, "r": 2}),
     foreign(topics={"l": 2, "r": 3}), {"l": KEPT, "r": migrated(TASKS), "join": migrated(TASKS)}),
    ("partitions of the left table", foreign(topics={"l": 2, "r": 2}),
     foreign(topics={"l": 3, "r": 2}), {"l": migrated(TASKS), "r": KEPT, "join": KEPT}),
    ("partitions of the left table, with the result's rows", referring(2, 2), referring(3, 2),
     {"l": migrated(TASKS), "r": KEPT, "join": migrated(TASKS), "x": migrated(TASKS)}),
    ("partitions of the right table, with the result's rows", referring(2, 2), referring(2, 3),
     {"l": KEPT, "r": migrated(TASKS), "join": migrated(TASKS), "x": KEPT}),
    ("a foreign key's result that is looked up from now on", foreign(), referring(1, 1),
     {"l": KEPT, "r": KEPT, "join": KEPT, "x": NEW}),
    # tables
    ("a table that is looked up from now on", unread(), looked_up(), {"t": NEW}),
    ("a table that is looked up no more", looked_up(), unread(), {"t": LOST}),
    ("a lookup's partitions", looked_up(topics={"a": 2, "t": 2}),
     looked_up(topics={"a": 3, "t": 3}), {"t": migrated(TASKS)}),
    # global tables
    ("a global table", everywhere(), everywhere("BIGINT"), {"g": incompatible(VALUE)}),
    ("a table in place of a global table", everywhere(), everywhere_else(),
     {"g": incompatible(KIND)}),
    ("a global table in place of a table", everywhere_else(), everywhere(),
     {"g": incompatible(KIND)}),
    ("a global table's partitions", everywhere(g=2), everywhere(g=5), {"g": KEPT}),
    ("the tasks that look a global table up", everywhere(a=2), everywhere(a=5), {"g": KEPT}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "expected"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_a_change_of_a_store(old: Raw, new: Raw, expected: dict[str, tuple[str, set[str]]]) -> None:
    assert stores(old, new) == expected


def test_names_settings_and_guarantee_are_no_change() -> None:
    old = tumbling()
    new = {**tumbling(), "name": "renamed", "settings": {"processing_guarantee": "exactly_once"}}
    for made in new["nodes"]:
        made["label"], made["position"] = "Other", {"x": 1, "y": 2}
    assert change(old, new).accepted


def test_stores_are_sorted_by_id_and_show_whether_all_rows_survive() -> None:
    reported = change(plain(), named()).to_json()
    assert reported == {
        "stores": [
            {"id": "rows", "kind": "key_value", "verdict": "new", "reasons": []},
            {"id": "sum", "kind": "key_value", "verdict": "lost", "reasons": []},
        ],
        "sources": [{"topic": "in", "verdict": "continues"}],
        "accepted": False,
    }
    assert change(plain("INT"), plain()).accepted
    assert not change(plain(), plain("INT")).accepted


# ---- sources -------------------------------------------------------------------------------


def reading(*sources: Raw, **topics: int) -> Raw:
    return document([*sources, sink()], [f"{s['id']} > out" for s in sources], topics=topics)


SOURCES = [
    (reading(stream("a")), reading(stream("a")), {"a": "continues"}),
    (reading(stream("a")), reading(stream("x", ["a"])), {"a": "continues"}),
    (reading(stream("a")), reading(table("a")), {"a": "continues"}),
    (reading(stream("a")), reading(stream("b")), {"a": "gone", "b": "new"}),
    (reading(stream("s", ["b", "a"])), reading(stream("s", ["a", "c"])),
     {"a": "continues", "b": "gone", "c": "new"}),
    (reading(stream("a"), a=1), reading(stream("s", topic_pattern="a|b"), a=1, b=1),
     {"a": "continues", "b": "new"}),
    (reading(stream("a")), reading(stream("s", topic_pattern="a.*")), {"a": "continues"}),
    (reading(stream("s", topic_pattern="a.*")), reading(stream("s", topic_pattern="a.*")),
     {"a.*": "continues"}),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), SOURCES)
def test_the_topics_of_sources(old: Raw, new: Raw, expected: dict[str, str]) -> None:
    assert dict(change(old, new).sources) == expected


def test_internal_topics_are_no_sources() -> None:
    old = line(node("rekey", "select_key", key="value"), node("count", "count"))
    assert dict(change(old, line()).sources) == {"in": "continues"}


# ---- the edges -----------------------------------------------------------------------------


def test_a_document_that_is_refused_has_no_state_schema() -> None:
    with pytest.raises(Refused):
        state_schema(compile_document(line(node("sum", "aggregate")), CastAnalyzer()))


@pytest.mark.parametrize("text", ["STRUCT<a: INT, b: ARRAY<MAP<STRING, BIGINT>>>", "DECIMAL(10,2)"])
def test_types_are_shown_as_they_are_written(text: str) -> None:
    assert type_text(spark_json(parse_type(text))) == text


def test_rows_with_headers_differ_and_windows_of_a_function_are_kept() -> None:
    def stored(**more: Any) -> Raw:
        return with_store(process(), store(key_type="STRING", value_type="INT", **more))

    def counted(code: str) -> Raw:
        window = {"type": "custom", "code": code, "size": HOUR}
        return line(node("count", "count", window=window))

    def verdicts(old: Raw, new: Raw) -> list[tuple[str, list[str]]]:
        compiled = (compile_document(each, CastAnalyzer()) for each in (old, new))
        found = compare_state(*compiled).to_json()["stores"]
        return [(each["verdict"], each["reasons"]) for each in found]

    assert verdicts(stored(), stored(headers=True)) == [("incompatible", ["value_type_changed"])]
    old, new = "def own(t):\n    return []\n", "def own(t):\n    return [(t, t + 1)]\n"
    assert verdicts(counted(old), counted(new)) == [("kept", [])]
