"""The time that a person waits while editing: compilation and simulation in a warm process.

    ./millrace bench warm

Compiles a graph of a hundred nodes with an analyzer that has already analyzed its expressions, and
simulates a stateful topology of ten nodes with twenty records, one per micro-batch and in as few
micro-batches as possible. Prints the fastest of several rounds, and the first round.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil
from millrace_compiler import compile_document
from millrace_runtime.results.cuts import Cut

from bench._documents import hundred_nodes, ten_nodes
from bench._table import Row, processor_seconds, show
from cli.simulating import Warm

COMPILE_LIMIT = 0.05
SIMULATE_LIMIT = 2.0


def lines() -> list[Any]:
    """Twenty records: five rows of the table, fifteen lines."""
    names = [
        {"topic": "names", "key": f"k{n}", "value": f"name {n}", "timestamp": n} for n in range(5)
    ]
    phases = [
        {"topic": "lines", "key": f"k{n % 4}", "value": "x" * (n % 7), "timestamp": 100 * n}
        for n in range(15)
    ]
    return names + phases


def measured(name: str, rounds: int, limit: float, work: Callable[[], Any]) -> list[Row]:
    """Measure the first round, and the fastest of the others."""
    found = []
    process = psutil.Process()
    for _ in range(rounds + 1):
        began, used = time.monotonic(), processor_seconds(process)
        work()
        found.append((time.monotonic() - began, processor_seconds(process) - used))
    wall, processor = (min(each) for each in zip(*found[1:], strict=True))
    return [Row(f"{name}, first", *found[0]), Row(name, wall, processor, limit)]


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    warm = Warm(cores=2)
    try:
        large, small = hundred_nodes(), ten_nodes()
        rows = measured(
            "compile 100 nodes",
            rounds,
            COMPILE_LIMIT,
            lambda: compile_document(large, warm.analyzer).to_json(),
        )
        compilation = warm.compile(small)
        for cut in ("each", "all"):
            rows += measured(
                f"simulate 10 nodes, 20 records, cut {cut}",
                rounds,
                SIMULATE_LIMIT,
                lambda cut=cut: warm.simulate(small, compilation, lines(), Cut.parse(cut)),  # type: ignore[misc]
            )
    finally:
        warm.close()
    show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
