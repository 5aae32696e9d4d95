"""Golden jobs run on Spark: a few records through each, without a fault.

A third of them; with MILLRACE_CONFORMANCE=whole all.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import Analyzer, compile_document
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.types.types import DataType

HERE = Path(__file__).parent
WRITING = os.environ.get("MILLRACE_WRITE_GOLDENS") == "1"
NAMES = sorted(path.parent.name for path in HERE.glob("*/topology.json"))
if os.environ.get("MILLRACE_CONFORMANCE") != "whole":
    NAMES = NAMES[::3]
VALUES: dict[str, Any] = {"STRING": "a-b", "INT": 3, "BIGINT": 5, "DOUBLE": 1.5, "BOOLEAN": True}


def sample(type_: DataType | None) -> Any:
    """A value of a type, as an input line has it."""
    assert type_ is not None
    if type_.name == "ARRAY":
        return [sample(type_.inner[0])]
    if type_.name == "STRUCT":
        return {n: sample(t) for n, t in zip(type_.fields, type_.inner, strict=True)}
    return VALUES[type_.name]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif(WRITING, reason="goldens are being written, not run")
@pytest.mark.parametrize("name", NAMES)
def test_golden_job_runs_without_a_fault(name: str, warm: Any, analyzer: Analyzer) -> None:
    from millrace_runtime.results.cuts import Cut

    document = json.loads((HERE / name / "topology.json").read_text("utf-8"))
    compilation = compile_document(document, analyzer).require()
    lines = []
    for time in (1000, 2000):
        for source in compilation.graph.operators.values():
            if not isinstance(source, Source):
                continue
            for topic in source.topic_names() or ("logs-1",):
                key, value = sample(source.key.type), sample(source.value.type)
                lines.append({"topic": topic, "key": key, "value": value, "timestamp": time})
    result = warm.simulate(document, compilation, lines, Cut.parse("all"))
    assert result.error is None
