"""Formats of keys with a window: their types, faults, programs and what the task reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.program import load_program

from tests.compiler.kit import STRING, compiled, document, faults, node, sink, stream, table

TUMBLING = {"type": "tumbling", "size": "5 minutes"}
SESSION = {"type": "session", "gap": "5 minutes"}
TIME = {"format": "time_windowed", "inner": "string", "window_size": "5 minutes"}
KEY = "STRUCT<key: STRING, window: STRUCT<start: TIMESTAMP, end: TIMESTAMP>>"


def counted(window: Any, key: Any) -> Any:
    """A windowed count, whose keys are written in a format."""
    nodes = [stream(), node("count", "count", window=window), sink(key=key)]
    return document(nodes, ["in > count", "count > out"])


def read(key: Any) -> Any:
    return document([table("in", key=key), sink()], ["in > out"])


def test_a_topic_with_windowed_keys_has_the_type_of_a_windowed_table() -> None:
    port = compiled(read(TIME)).require().ports["in", "out"]
    assert port.key is not None
    assert port.key.text == KEY


def test_the_task_gets_the_size_of_the_windows_in_milliseconds() -> None:
    graph = compiled(read(TIME)).require().task_graph
    assert graph is not None
    assert graph["nodes"][0]["params"]["key"] == {
        "format": "time_windowed", "inner": "string", "window_size": 300_000,
    }  # fmt: skip


def test_a_sink_needs_no_size_of_the_windows() -> None:
    assert faults(counted(TUMBLING, {"format": "time_windowed", "inner": "string"})) == []
    json = {"format": "session_windowed", "inner": "json"}
    graph = compiled(counted(SESSION, json)).require().task_graph
    assert graph is not None
    assert graph["nodes"][-1]["params"]["key"] == {**json, "schema": "STRING"}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (read({"format": "time_windowed", "inner": "string"}), "format_window_size"),
        (read({"format": "time_windowed", "window_size": 1}), "format"),
        (read({**TIME, "inner": "time_windowed"}), "format"),
        (read({**TIME, "window_size": 0}), "duration_too_short"),
        (read({**TIME, "gap": 1}), "unknown_part"),
        (read({**TIME, "inner": "json"}), "format_schema"),
        (counted(TUMBLING, {"format": "session_windowed", "inner": "string"}), "sink_key_window"),
        (counted(SESSION, {"format": "time_windowed", "inner": "string"}), "sink_key_window"),
        (counted(TUMBLING, {"format": "time_windowed", "inner": "long"}), "sink_key_format"),
        (document([stream(), sink(key=TIME)], ["in > out"]), "sink_key_format"),
        (
            document(
                [stream(), sink(key={"format": "time_windowed", "inner": "json"})], ["in > out"]
            ),
            "sink_key_format",
        ),
        (document([stream(value=TIME), sink()], ["in > out"]), "format_windowed_value"),
    ],
)
def test_a_format_that_does_not_fit_is_refused(made: Any, expected: str) -> None:
    assert expected in [code for code, _, _ in faults(made)]


def test_a_program_gives_back_windowed_formats(tmp_path: Path) -> None:
    raw = document(
        [
            stream("a", key=TIME),
            sink("x", key={"format": "time_windowed", "inner": "string"}),
            stream("b", key={"format": "session_windowed", "inner": "json", "schema": "a INT"}),
            sink("y", value=STRING),
        ],
        ["a > x", "b > y"],
    )
    code = compiled(raw).require().code or {}
    assert 'key=time_windowed(string(), window_size="5 minutes")' in code["job.py"]
    assert 'key=session_windowed(json("a INT"))' in code["job.py"]
    for path, text in code.items():
        (tmp_path / path).write_text(text, encoding="utf-8", newline="")
    back = {each["id"]: each["params"] for each in load_program(tmp_path).document()["nodes"]}
    assert {id_: params.get("key") for id_, params in back.items()} == {
        each["id"]: each["params"].get("key") for each in raw["nodes"]
    }
