"""The cost of `exactly_once`: the same job on the same records with both guarantees, in turns.

    ./millrace bench guarantees -- --records 500000 --batch 100000

Two sub-topologies: orders are repartitioned by item and counted. There is one process and one
broker. The first round warms up both; the ratio is that of the seconds of the later rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys

from millrace_runtime.session import session

from bench._broker import Broker
from bench.throughput import document_of, fill, on_spark

GUARANTEES = ("at_least_once", "exactly_once")


def main() -> int:
    """Prints one line of JSON per run, and one with the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--batch", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    document = document_of(
        "count",
        [
            {"id": "count", "kind": "count", "params": {"group_by": {"key": "value.item"}}},
            {"id": "updates", "kind": "to_stream", "params": {}},
        ],
    )
    seconds: dict[str, list[float]] = {guarantee: [] for guarantee in GUARANTEES}
    with Broker() as broker:
        fill(broker.address, arguments.records)
        spark = session.create(
            "millrace-bench",
            master="local[2]",
            settings={
                "spark.driver.memory": "2g",
                "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
                "spark.sql.streaming.numRecentProgressUpdates": "1000",
            },
        )
        try:
            for turn in range(arguments.rounds + 1):
                for guarantee in GUARANTEES:
                    found = on_spark(
                        spark, broker.address, document, most=arguments.batch, guarantee=guarantee
                    )
                    print(json.dumps({"round": turn, "guarantee": guarantee, **found}), flush=True)
                    if turn:
                        seconds[guarantee].append(found["seconds"])
        finally:
            spark.stop()
    plain, once = (statistics.median(seconds[guarantee]) for guarantee in GUARANTEES)
    print(json.dumps({"exactly_once / at_least_once": round(once / plain, 2)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
