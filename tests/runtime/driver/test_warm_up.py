"""A rehearsal passes processors without running their code; they forward records of their types."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from millrace_compiler.graphs.kinds import python_kinds
from millrace_runtime.driver.warm_up import without_code
from millrace_runtime.processor import Processor, Record


def test_processors_forward_records_of_their_types() -> None:
    struct = "STRUCT<n: BIGINT, s: STRUCT<done: BOOLEAN, tags: ARRAY<STRING>>, at: TIMESTAMP>"
    code: Any = {"code": "raise SystemExit", "class_name": "Own"}
    source: Any = {"op": "stream", "params": {"topics": ["t"]}}
    nodes = [
        source,
        {"op": "process", "params": {**code, "output": {"key": "STRING", "value": struct}}},
        {"op": "process_values", "params": {**code, "output": {"key": "INT", "value": "DOUBLE"}}},
    ]
    unchanged, rekeyed, fixed = harmless(*nodes)
    assert unchanged == source
    value = {"n": 0, "s": {"done": False, "tags": []}, "at": None}
    assert forwarded(rekeyed["params"]) == ("", value, 5)
    assert forwarded(fixed["params"]) == (7, 0, 5)


def test_no_code_of_any_step_in_python_runs_in_a_rehearsal() -> None:
    given = {
        "code": "raise SystemExit", "class_name": "Own", "arguments": {"a": 1},
        "output": {"value": "INT"}, "methods": ["process", "on_payment"],
    }  # fmt: skip
    ops = [kind.removeprefix("source.") for kind in python_kinds()]
    assert len(ops) == 3
    for node in harmless(*({"op": op, "params": given} for op in ops)):
        found = records(node["params"], "process")
        assert node["params"]["arguments"] == {}
        assert records(node["params"], "on_payment") == found
        assert len(found) == (0 if node["op"] == "global_store" else 1)


def test_no_windows_of_ones_own_are_computed_in_a_rehearsal() -> None:
    own = {"type": "custom", "code": "def weeks(at):\n    raise SystemExit", "function": "weeks"}
    [node] = harmless({"op": "aggregate", "params": {"window": own}})
    names: dict[str, Any] = {}
    exec(node["params"]["window"]["code"], names)
    assert names[node["params"]["window"]["function"]](5) == [(5, 6)]


def test_no_handler_of_ones_own_runs_in_a_rehearsal() -> None:
    function = {"code": "raise SystemExit", "name": "decide"}
    settings = {
        "processing_handler": "function", "production_handler": "fail",
        "deserialization_handler": "dead_letter", "functions": {"processing": function},
    }  # fmt: skip
    graph = without_code(cast(Any, {"nodes": [], "settings": settings}))
    assert graph["settings"] == {
        "processing_handler": "continue", "production_handler": "fail",
        "deserialization_handler": "dead_letter",
    }  # fmt: skip


def harmless(*nodes: Any) -> list[Any]:
    """Return nodes as they are in a rehearsal."""
    return [*without_code(cast(Any, {"nodes": list(nodes), "settings": {}}))["nodes"]]


def forwarded(params: Any) -> tuple[Any, Any, int]:
    [record] = records(params, "process")
    return record.key, record.value, record.timestamp


def records(params: Any, method: str) -> list[Record[Any, Any]]:
    found: list[Record[Any, Any]] = []
    names: Any = {"Processor": Processor, "Record": Record}
    exec(params["code"], names)
    processor = names[params["class_name"]]()
    processor.init(SimpleNamespace(forward=found.append))
    getattr(processor, method)(Record(7, "own", 5))
    return found
