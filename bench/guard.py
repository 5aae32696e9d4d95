"""Fails if a record costs more than 15 % more processor time than when the limits were written.

    ./millrace bench guard
    ./millrace bench guard -- --only join
    ./millrace bench guard -- --write

Measures the topologies of `throughput`, in turns with a fixed query of Spark in the same process:
the calibration. What a record costs is compared as a multiple of what the calibration costs for a
row, so that the limits hold on other machines and beside other load. `guard.json` has the limits;
`--write` replaces those of the measured topologies, after a change that is meant. A topology that
exceeds its limit is measured up to twice more: other load can make it seem dearer, never cheaper.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import psutil

from bench._broker import Broker
from bench.throughput import documents, engine, fill, on_spark

LIMITS = Path(__file__).with_name("guard.json")
LOSS = 1.15
ROUNDS = 4
#: further measurements of a topology that exceeds its limit
AGAIN = 2
#: rounds at the beginning that only warm up the JVM
WARMING = 2
ROWS = 400_000


def calibration(spark: Any) -> float:
    """Return the CPU microseconds of a row of a query that parses, hashes and aggregates."""
    java = psutil.Process(spark._jvm.java.lang.ProcessHandle.current().pid())
    before = sum(java.cpu_times()[:2])
    (
        spark.range(ROWS, numPartitions=2)
        .selectExpr(
            "id % 10000 AS k", "to_json(named_struct('a', id, 'b', concat('item-', id % 97))) AS j"
        )
        .selectExpr("k", "from_json(j, 'a BIGINT, b STRING') AS v")
        .groupBy("k")
        .agg({"v.a": "max", "v.b": "count"})
        .write.format("noop")
        .mode("overwrite")
        .save()
    )
    return (sum(java.cpu_times()[:2]) - before) / ROWS * 1e6


def measured(spark: Any, address: str, document: Any, records: int) -> float:
    """Return what a record of the document costs, in rows of the calibration.

    The lowest of several rounds: load can only make a round dearer.
    """
    found = []
    for turn in range(ROUNDS):
        before = calibration(spark)
        cost = on_spark(spark, address, document, most=4 * records)["processor_us"]
        if turn >= WARMING:
            found.append(cost / ((before + calibration(spark)) / 2))
    return float(min(found))


def main() -> int:
    """Print a table. Return 1 if a topology exceeds its limit."""
    known = documents()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--only", choices=sorted(known))
    parser.add_argument("--write", action="store_true", help="replace the limits")
    given = parser.parse_args()
    limits: dict[str, float] = json.loads(LIMITS.read_text()) if LIMITS.exists() else {}
    chosen = {name: one for name, one in known.items() if given.only in (None, name)}
    found: dict[str, float] = {}
    with Broker() as broker:
        fill(broker.address, given.records, {t for one in chosen.values() for t in one["topics"]})
        spark = engine()
        try:
            for _ in range(ROUNDS):
                calibration(spark)
            for name, one in chosen.items():
                costs: list[float] = []
                for _ in range(1 if given.write else 1 + AGAIN):
                    costs.append(measured(spark, broker.address, one, given.records))
                    if not exceeds(min(costs), limits.get(name)):
                        break
                found[name] = min(costs)
        finally:
            spark.stop()
    over = show(found, limits)
    if given.write:
        limits |= {name: round(cost, 3) for name, cost in found.items()}
        LIMITS.write_text(json.dumps(limits, indent=1) + "\n")
        return 0
    if over:
        print(f"more than {LOSS - 1:.0%} dearer, or without a limit: {', '.join(over)}")
    return 1 if over else 0


def show(found: dict[str, float], limits: dict[str, float]) -> list[str]:
    """Print the costs beside their limits; return the names of topologies that exceed theirs.

    A topology without a limit exceeds it.
    """
    over = []
    print(f"{'a record costs … rows of the calibration':44}{'now':>8}{'before':>8}{'change':>9}")
    for name, cost in found.items():
        before = limits.get(name)
        change = "" if before is None else f"{cost / before - 1:+9.1%}"
        print(f"{name:44}{cost:8.2f}{'none' if before is None else f'{before:.2f}':>8}{change}")
        if exceeds(cost, before):
            over.append(name)
    return over


def exceeds(cost: float, limit: float | None) -> bool:
    """Whether a cost is more than 15 % above a limit, or has none."""
    return limit is None or cost > limit * LOSS


if __name__ == "__main__":
    sys.exit(main())
