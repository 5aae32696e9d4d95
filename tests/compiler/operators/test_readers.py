"""Streams from Spark's readers: what is refused, planned and recovered from the program."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_compiler.compilation.describe import description_of
from millrace_compiler.graphs.needs import topics_of

from tests.compiler.kit import OneTypeAnalyzer, compiled, document, faults, sink, stream, table

READER: Any = {
    "reader": "parquet",
    "reader_options": {"path": "/data", "maxFilesPerTrigger": 1},
    "reader_schema": "id STRING, item STRING",
    "reader_columns": {"key": "id", "value": "upper(item)", "timestamp": "timestamp_millis(0)"},
}


def read(**params: Any) -> Any:
    return document([stream("in", **READER | params), sink()], ["in > out"], topics={"in": 3})


@pytest.mark.parametrize(
    ("params", "code", "parameter"),
    [
        ({"reader": None}, "reader_missing", "reader_options"),
        ({"reader": 3}, "parameter_type", "reader"),
        ({"topics": ["in", "more"]}, "reader_topics", "topics"),
        ({"start": "latest"}, "reader_start", "start"),
        ({"reader_schema": "STRING"}, "reader_schema", "reader_schema"),
        ({"reader_schema": "id NOTHING"}, "type", "reader_schema"),
        ({"reader_options": {"path": ["/data"]}}, "parameter_type", "reader_options"),
        ({"reader_columns": {"when": "id"}}, "reader_column", "reader_columns"),
    ],
)
def test_a_reader_that_cannot_be_is_refused_at_its_parameter(
    params: Any, code: str, parameter: str
) -> None:
    assert (code, "in", parameter) in faults(read(**params))


def test_a_reader_reads_no_pattern() -> None:
    raw = document(
        [stream("in", topic_pattern="in.*", reader="rate"), sink("to")], ["in > to"]
    )  # fmt: skip
    assert ("reader_topics", "in", "topic_pattern") in faults(raw)


def test_expressions_of_columns_are_checked_where_the_schema_is_known() -> None:
    asker = OneTypeAnalyzer()
    assert not faults(read(), asker)
    seen = (("id", "STRING"), ("item", "STRING"))
    texts = ["id", "timestamp_millis(0)", "upper(item)"]
    assert [(r.text, tuple(r.columns)) for r in asker.requests] == [(x, seen) for x in texts]
    asker = OneTypeAnalyzer()
    assert not faults(read(reader_schema=None), asker)
    assert not asker.requests


def test_the_topic_of_a_reader_has_no_sink_and_no_other_source() -> None:
    written = read()
    written["nodes"][1]["params"]["topic"] = "in"
    assert faults(written) == [("reader_written", "out", "topic")]
    twice = read()
    twice["nodes"].append(stream("again", ["in"]))
    assert faults(twice) == [("topic_times", "again", "topics")]


def test_a_reader_is_planned_as_a_topic_that_no_broker_has() -> None:
    found = compiled(read())
    assert "Source: in (topics: [in], reader: parquet)" in description_of(found).text
    assert [need.topic for need in topics_of(read())] == ["out"]
    [source] = [n for n in found.require_task_graph()["nodes"] if n["op"] == "stream"]
    assert source["params"]["partitions"] == 3
    assert source["params"]["reader"] == {
        "format": "parquet",
        "options": {"maxFilesPerTrigger": "1", "path": "/data"},
        "schema": "id STRING, item STRING",
        "columns": READER["reader_columns"],
    }


def test_a_reader_must_be_as_wide_as_what_it_joins() -> None:
    join = {"id": "join", "kind": "join.stream_table", "params": {"joiner": "right"}}
    raw = document(
        [stream("in", **READER), table(), join, sink()],
        ["in > join.left", "table > join.right", "join > out"],
        topics={"in": 3, "table": 4},
    )
    assert faults(raw) == [("not_copartitioned", "join", "right")]


def test_real_time_and_the_plain_dialect_refuse_a_reader() -> None:
    found = compile_document(read(), OneTypeAnalyzer(), real_time=True).diagnostics
    assert [(d.code, d.node, d.parameter) for d in found] == [("real_time_reader", "in", "reader")]
    plain = compile_document(read(), OneTypeAnalyzer(), dialect="plain")
    assert [(d.code, d.parameter) for d in plain.diagnostics if d.severity == "error"] == [
        ("plain_source", "reader")
    ]
