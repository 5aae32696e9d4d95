"""Conditions of tests: the columns of their predicates, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_compiler.compilation.conditions import Checked, Condition, read_conditions

from tests.compiler.kit import OneTypeAnalyzer, compiled, document, line, node, sink, store, stream

HOUR = {"type": "tumbling", "size": "1 hour"}
GAP = {"type": "session", "gap": "1 hour"}
WINDOWED = "STRUCT<key: STRING, window: STRUCT<start: TIMESTAMP, end: TIMESTAMP>>"
BYTES = "MAP<STRING, BINARY>"
PYTHON = {"code": "class P(Processor):\n    pass\n", "class_name": "P"}


def checked(raw: Any, **about: Any) -> Any:
    """Columns and diagnostics of one condition."""
    condition = Condition("true", **about)
    (found,) = Checked(compiled(raw), [condition], OneTypeAnalyzer()).to_json()
    return found


def counted(kind: str, window: dict[str, str] | None, **params: Any) -> Any:
    """Return a document that counts records into a store."""
    counts = node("count", "count", **({"window": window} if window else {}))
    kept = store("rows", kind, **params)
    return document(
        [stream(), counts, kept, sink()], ["in > count", "rows > count.store", "count > out"]
    )


@pytest.mark.parametrize(
    ("kind", "window", "params", "columns"),
    [
        ("key_value", None, {}, {"key": "STRING", "timestamp": "TIMESTAMP"}),
        ("window", HOUR, {}, {"key": WINDOWED, "timestamp": "TIMESTAMP"}),
        ("session", GAP, {}, {"key": WINDOWED}),
    ],
)
def test_a_predicate_sees_the_rows_of_a_store_as_they_are(
    kind: str, window: dict[str, str] | None, params: Any, columns: dict[str, str]
) -> None:
    raw = counted(kind, window, **params)
    assert checked(raw, store="rows")["columns"] == {"value": "BIGINT", **columns}
    out = {"key": columns["key"], "value": "BIGINT", "timestamp": "TIMESTAMP", "headers": BYTES}
    assert checked(raw, topic="out")["columns"] == out


def test_rows_of_a_processors_store_have_its_types_and_no_timestamp() -> None:
    kept = store("rows", "window", key_type="INT", value_type="a INT", retention="1 day",
                 window_size="1 hour")  # fmt: skip
    output = {"key": "STRING", "value": "STRING"}
    raw = document(
        [stream(), node("p", "process", output=output, **PYTHON), kept, sink()],
        ["in > p", "rows > p.store", "p > out"],
    )
    assert checked(raw, store="rows")["columns"] == {
        "key": WINDOWED.replace("STRING", "INT", 1), "value": "STRUCT<a: INT>",
    }  # fmt: skip


def test_what_a_condition_is_about_must_be_there_and_have_one_type() -> None:
    raw = counted("key_value", None)
    for about, code in (
        ({"topic": "other"}, "condition_topic"),
        ({"store": "other"}, "condition_store"),
    ):
        (found,) = checked(raw, **about)["diagnostics"]
        assert (found["code"], found["path"]) == (code, f"conditions[0].{next(iter(about))}")
    raw["nodes"].append({**sink("again"), "params": {"topic": "out"}})
    raw["edges"].append({"source": "in", "target": "again"})
    (found,) = checked(raw, topic="out")["diagnostics"]
    assert found["code"] == "condition_types"
    assert found["facts"]["second"] == "STRING and STRING"
    dead = line(settings={"processing_handler": "dead_letter", "dead_letter_topic": "dead"})
    assert checked(dead, topic="dead")["columns"]["value"] == "BINARY"


def test_what_is_no_condition_is_named() -> None:
    assert read_conditions(None) == []
    for raw, says in (
        ([1], "conditions[0] must be an object"),
        ([{"topic": "t", "predicate": "true", "for": 1}], "conditions[0] has no field for"),
        ([{"topic": "t", "store": "s", "predicate": "true"}], "either a topic or a store"),
        ([{}] * 51, "at most 50"),
    ):
        with pytest.raises(ValueError, match="conditions") as raised:
            read_conditions(raw)
        assert says in str(raised.value)
