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
    unchanged, rekeyed, fixed = without_code(cast(Any, {"nodes": nodes}))["nodes"]
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
    for node in without_code(cast(Any, {"nodes": [{"op": op, "params": given} for op in ops]}))[
        "nodes"
    ]:
        found = records(node["params"], "process")
        assert node["params"]["arguments"] == {}
        assert records(node["params"], "on_payment") == found
        assert len(found) == (0 if node["op"] == "global_store" else 1)


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
