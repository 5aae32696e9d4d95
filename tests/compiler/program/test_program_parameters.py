"""A program declares the parameters of its document and has their names in place of values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_compiler.graphs.fragments import resolved
from millrace_runtime.functions.known_types import KnownTypes
from millrace_runtime.program import load_program

from cli.round_trip import round_trip

FOLDER = Path(__file__).parents[2] / "conformance" / "scenarios"
RECORDED = {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("[A-M]*.json")}
SCENARIOS = sorted(name for name, each in RECORDED.items() if each["expected"].get("outputs"))[::6]
TAG = """class Tag(Processor):
    def __init__(self, least):
        self.least = 2.5 * least

    def process(self, record):
        pass
"""
ORDERS: Any = {
    "format": "millrace.topology/1",
    "name": "orders",
    "parameters": {
        "orders": {"type": "topic", "default": "orders", "values": {"prod": "orders-v2"}},
        "size": {"type": "duration", "default": "1 hour", "values": {"dev": "1 minute"}},
        "low": {"type": "number", "default": 100, "description": "Smallest large order"},
        "strict": {"type": "boolean", "default": True},
        "word": {"type": "text", "default": "big"},
        "parts": {"type": "number", "default": 3},
    },
    "settings": {"dead_letter_topic": "${orders}-dead", "processing_handler": "dead_letter"},
    "topics": {"${orders}": {"partitions": 3}},
    "nodes": [
        {"id": "orders", "kind": "source.stream", "params": {
            "topics": ["${orders}"], "key": {"format": "string"},
            "value": {"format": "json", "schema": "item STRING, amount INT"}}},
        {"id": "big", "kind": "filter", "params": {
            "predicate": "value.amount > ${low} AND ${strict} AND value.item <> ${word}"}},
        {"id": "tag", "kind": "process_values", "params": {
            "code": TAG, "class_name": "Tag", "arguments": {"least": "${low}"}, "output": {}}},
        {"id": "per", "kind": "count", "params": {
            "group_by": {"key": "value.item"},
            "window": {"type": "tumbling", "size": "${size}", "grace": "${size}"}}},
        {"id": "again", "kind": "repartition", "params": {"partitions": "${parts}"}},
        {"id": "s", "kind": "to_stream", "params": {}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "${orders}-per-${word}"}},
        {"id": "other", "kind": "sink.topic", "params": {"topic": "x"}},
    ],
    "edges": [
        {"source": source, "target": target} for source, target in (
            ("orders", "big"), ("big", "tag"), ("tag", "per"), ("per", "s"), ("s", "out"),
            ("tag", "again"), ("again", "other"))
    ],
}  # fmt: skip


def program(raw: Any) -> dict[str, str]:
    compilation = compile_document(raw, KnownTypes())
    assert compilation.code is not None, compilation.diagnostics
    return compilation.code


def again(raw: Any, folder: Path) -> Any:
    """The document of the program of a document."""
    for path, text in program(raw).items():
        (folder / path).write_text(text, encoding="utf-8")
    return load_program(folder).document()


def by_id(raw: Any) -> Any:
    return {each["id"]: each["params"] for each in raw["nodes"]}


def test_a_program_has_the_names_of_parameters_and_gives_the_document_back(tmp_path: Path) -> None:
    text = program(ORDERS)["job.py"]
    assert 'low = topology.param("low", 100, description="Smallest large order")' in text
    assert "topology.stream(orders, key=string()" in text
    assert "tumbling(size, grace=size)" in text
    assert "process_values(Tag, arguments=" in text  # Tag(low) would compute with a text
    found = again(ORDERS, tmp_path)
    assert by_id(found) == by_id(ORDERS)
    for part in ("parameters", "settings", "topics"):
        assert found[part] == ORDERS[part]
    for environment in (None, "dev", "prod"):
        assert by_id(resolved(found, environment)) == by_id(resolved(ORDERS, environment))


def test_with_values_of_an_environment_a_program_has_the_values() -> None:
    text = program(resolved(ORDERS, "prod"))["job.py"]
    assert "param(" not in text
    assert '"orders-v2"' in text


def test_a_parameter_that_a_call_cannot_name_leaves_its_value(tmp_path: Path) -> None:
    raw = json.loads(json.dumps(ORDERS))
    source = raw["nodes"][0]["params"]
    source["topics"], raw["parameters"]["skip"] = ["orders"], {"type": "text", "default": "skip"}
    source["invalid_timestamp"] = "${skip}"
    assert "param(" not in program(raw)["job.py"]


def lifted(raw: Any) -> Any:
    """A topology whose topics and times are parameters."""
    made = json.loads(json.dumps(raw))
    rows: dict[str, Any] = {}

    def lift(type_: str, value: Any) -> str:
        name = f"p{len(rows) + 1}"
        rows[name] = {"type": type_, "default": value}
        return f"${{{name}}}"

    for node in made["nodes"]:
        params = node.get("params") or {}
        if isinstance(params.get("topic"), str):
            params["topic"] = lift("topic", params["topic"])
        params |= (
            {"topics": [lift("topic", each) for each in params["topics"]]}
            if params.get("topics")
            else {}
        )
        window = params.get("window") or {}
        for times in (window, params):
            for part in ("size", "advance", "gap", "difference", "grace", "limit"):
                if times.get(part):
                    times[part] = lift("duration", times[part])
    made["parameters"] = rows
    return made


@pytest.mark.parametrize("name", SCENARIOS)
def test_recorded_topologies_keep_topics_and_times_as_parameters(name: str, tmp_path: Path) -> None:
    raw = lifted(RECORDED[name]["topology"])
    assert round_trip(raw, KnownTypes()) == []
    found = again(raw, tmp_path)
    assert found["parameters"] == raw["parameters"]
    assert found["nodes"] != resolved(found, None)["nodes"]
