"""The cost of a Python function for each record: translated to an expression, and run in Python.

    ./millrace bench functions -- --records 10000

Runs topologies over the same records in one micro-batch of a simulation: without a function, and
with twenty nodes that each apply one: an expression written by hand, a function that becomes the
same expression, and a function that runs in Python. Prints the microseconds of CPU time, of Python,
Spark and the processes of processors together, that a record takes, and that each node adds.
CPU time does not depend on what else the machine does. The last line is what the function costs in
Spark's own Python functions, which get Arrow batches: what batches could save at most.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from typing import Any

import psutil
import pyspark.sql.functions as F  # noqa: N812 - as all of PySpark writes it
from millrace_runtime import Topology, json, string
from millrace_runtime.analyzer.compiling import compiled, session_analyzer
from millrace_runtime.session.simulation import simulation_session
from millrace_runtime.simulator.unbatched import UnbatchedSimulator

from bench._table import processor_seconds

ROUNDS, NODES = 5, 20
#: microseconds that a translated function may add to the same expression by hand
LIMIT_US = 3.0
SQL = "named_struct('item', value.item, 'n', bigint(value.n) * 2)"


def translated(value: Any) -> Any:
    """Become an expression."""
    return {"item": value["item"], "n": value["n"] * 2}


def in_python(value: Any) -> Any:
    """Run in Python, as `round` is not translated."""
    return {"item": value["item"], "n": round(value["n"] * 2)}


def topology(function: Callable[[Any], Any] | str | None) -> Topology:
    """Return a topology that applies a function to each value, in each of its nodes."""
    made = Topology("functions")
    stream = made.stream("in", key=string(), value=json("item STRING, n INT"))
    if function is not None:
        for _ in range(NODES):
            stream.map_values(function).filter("false")
    stream.to("out", value=json())
    return made


def cost_in_arrow_batches(spark: Any, count: int) -> float:
    """Return the microseconds that Spark's Arrow batches of the same values take for a record."""
    value = F.struct(F.lit("pen").alias("item"), F.col("id").cast("int").alias("n"))
    rows = spark.range(0, count, 1, 1).select(value.alias("value"))

    def same(value: Any) -> Any:  # a local function, which Spark sends to its Python as code
        return {"item": value["item"], "n": round(value["n"] * 2)}

    apply = F.udf(same, "item STRING, n BIGINT", useArrow=True)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for applied, found in seconds.items():
            frame = rows.select(apply("value").alias("value")) if applied else rows
            began = processor_seconds(psutil.Process())
            frame.write.format("noop").mode("overwrite").save()
            found.append(processor_seconds(psutil.Process()) - began)
    plain, batched = (statistics.median(seconds[applied][1:]) for applied in (False, True))
    return (batched - plain) / count * 1e6


def main() -> int:
    """Print a table. Return 1 if a translated function costs more than an expression."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=10_000)
    count = parser.parse_args().records
    spark = simulation_session()
    analyzer = session_analyzer(spark)
    lines: Any = [
        (number, {"topic": "in", "key": "a", "value": {"item": "pen", "n": number}, "timestamp": 0})
        for number in range(1, count + 1)
    ]
    forms: dict[str, Callable[[Any], Any] | str | None] = {
        "no function": None,
        "expression": SQL,
        "translated function": translated,
        "function in Python": in_python,
    }
    times: dict[str, list[float]] = {name: [] for name in forms}
    for number in range(1, ROUNDS + 1):
        print(f"round {number} of {ROUNDS}", file=sys.stderr, flush=True)
        for name, function in forms.items():
            graph = compiled(topology(function).document(), analyzer).require_task_graph()
            simulator = UnbatchedSimulator(spark.newSession(), graph, name="functions")
            began = processor_seconds(psutil.Process())
            result = simulator.run_batches([lines])
            used = processor_seconds(psutil.Process()) - began
            times[name].append(used / count * 1e6)
            if result.error is not None or len(result.outputs) != count:
                raise RuntimeError(f"{name}: {result.error}")
    # The first round is slower, because the JVM compiles what it runs.
    found = {name: statistics.median(each[1:]) for name, each in times.items()}
    base = found["no function"]
    print(f"{'':24}{'record':>10}{'each node':>12}")
    for name, each in found.items():
        print(f"{name:24}{each:7.1f} us{(each - base) / NODES:9.1f} us")
    batched = cost_in_arrow_batches(spark, count * 20)
    print(f"{'Spark, Arrow batches':24}{'':>13}{batched:9.1f} us")
    more = (found["translated function"] - found["expression"]) / NODES
    return 1 if more > LIMIT_US else 0


if __name__ == "__main__":
    sys.exit(main())
