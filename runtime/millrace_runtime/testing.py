"""Tests of a topology in pytest: run a program on the inputs of a test, without Kafka."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from millrace_runtime import simulating
from millrace_runtime.compiling import compiled, session_analyzer
from millrace_runtime.dsl.code import placed
from millrace_runtime.dsl.topology import Topology
from millrace_runtime.expectations import Expectations
from millrace_runtime.input_lines import checked_line
from millrace_runtime.memory import TraceLimits
from millrace_runtime.simulation import simulation_session


def session() -> SparkSession:
    """Return a session for any number of consecutive tests."""
    return simulation_session()


def read_test(path: Path) -> dict[str, Any]:
    """Read a test: `inputs` (lines), `expected` (`outputs`, `stores`, `dropped`, `conditions`)."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def differences(spark: SparkSession, topology: Topology, test: Mapping[str, Any]) -> list[str]:
    """Return the differences from the expected results as sentences; empty if the test passes.

    Parts that `expected` omits are not compared. Raises MillraceError for a topology that does not
    compile, and for invalid input lines or conditions.
    """
    document = topology.document()
    analyzer = session_analyzer(spark)
    compilation = compiled(document, analyzer, topology.places)
    expects = Expectations(spark, analyzer, compilation, test["expected"])
    lines = [checked_line(line, f"Input {n}") for n, line in enumerate(test["inputs"], 1)]
    graph = placed(compilation.task_graph or {}, topology.outside.codes)
    result = simulating.run(spark, document, graph, lines, TraceLimits(steps=0))
    return [str(each) for each in simulating.differing(expects, document, lines, result)]
