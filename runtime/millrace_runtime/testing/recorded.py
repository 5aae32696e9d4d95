"""Recorded tests of a topology: the inputs of a test, and what is expected of them."""

from __future__ import annotations

import json
from pathlib import Path

from millrace_compiler import compile_document
from millrace_model.documents import TopologyDocument
from millrace_model.records import InputLine
from millrace_model.scenarios import Scenario
from pyspark.sql import SparkSession

from millrace_runtime.analyzer.compiling import compiled, session_analyzer
from millrace_runtime.dsl.topology import Topology
from millrace_runtime.job.outside import Outside, placed
from millrace_runtime.plain.comparing import judged
from millrace_runtime.plain.simulation import PlainSimulator, module_of
from millrace_runtime.results.cuts import Cut
from millrace_runtime.results.input_lines import checked_line
from millrace_runtime.results.results import Result
from millrace_runtime.simulator import process
from millrace_runtime.simulator.expectations import Expectations
from millrace_runtime.simulator.memory import TraceLimits


def read_test(path: Path) -> Scenario:
    """Read a test: `inputs` (lines), `expected` (`outputs`, `stores`, `dropped`, `conditions`)."""
    found: Scenario = json.loads(path.read_text("utf-8"))
    return found


def differences(spark: SparkSession, topology: Topology, test: Scenario) -> list[str]:
    """Return the differences from the expected results as sentences; empty if the test passes.

    Parts that `expected` omits are not compared. Raises MillraceError for a topology that does not
    compile, and for invalid input lines or conditions.
    """
    return _run(spark, topology.document(), topology, test)[0]


def plain_differences(spark: SparkSession, folder: Path, test: Scenario) -> list[str]:
    """Return the differences of an exported plain program, as sentences; empty if it passes.

    `folder`: of `job.py` and `topology.json`. The topology must give the expected results, and the
    program those of the topology, except where the compiler announces a difference from Kafka
    Streams.
    """
    document = json.loads((folder / "topology.json").read_text("utf-8"))
    found, lines, exact = _run(spark, document, None, test)
    compilation = compile_document(document, session_analyzer(spark), dialect="plain").require()
    program = module_of((folder / "job.py").read_text("utf-8"))
    with process.apart(spark):
        simulator = PlainSimulator(
            spark.newSession(), program.topology, compilation, Cut.parse("each")
        )
        plain = simulator.run(lines)
    verdict, left = judged(compilation, exact, plain, "each")
    if verdict == "wrong":
        found += [f"plain Spark: {each}" for each in left] or [f"plain Spark: {plain.error}"]
    return found


def _run(
    spark: SparkSession,
    document: TopologyDocument,
    topology: Topology | None,
    test: Scenario,
) -> tuple[list[str], list[InputLine], Result]:
    """Return the differences from what a test expects, its input lines and the result.

    `topology`: the program that the document is from, if there is one.
    """
    analyzer = session_analyzer(spark)
    compilation = compiled(document, analyzer, topology.places if topology else None)
    expects = Expectations(spark, analyzer, compilation, test["expected"])
    lines = [checked_line(line, f"Input {n}") for n, line in enumerate(test["inputs"], 1)]
    outside = topology.outside if topology else Outside()
    graph = placed(compilation.require_task_graph(), outside)
    result = process.run(spark, document, graph, lines, TraceLimits(steps=0))
    found = [str(each) for each in process.differing(expects, document, lines, result)]
    return found, lines, result
