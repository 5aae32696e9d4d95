"""Random topologies in stream threads, beside Kafka Streams: are their results equal?

    ./millrace bench threads -- --random 2000 --seed 7

Draws topologies with random inputs as `./millrace verify --random` does, and puts many of them into
one query, whose first records are processed in micro-batches and all others in a stream thread, on
a broker. Each round writes one record for each topology and waits until it is processed; packs take
turns with both guarantees. Outputs and dropped records are compared with those of Kafka Streams. A
number draws the same topology again; results are kept in `.millrace/threads`, and an interrupted
run continues. Left out are topologies that never run in a thread, and those whose results in Kafka
Streams end with an error. Exit code 1 if any differ.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from millrace_compiler import DocumentError, Refused
from millrace_model.scenarios import Scenario
from millrace_runtime.analyzer.compiling import compiled
from millrace_runtime.errors import MillraceError
from millrace_runtime.job.job import Job
from millrace_runtime.job.kafka import Kafka
from millrace_runtime.results.comparing import differences
from millrace_runtime.results.cuts import Cut

from bench._broker import Broker
from cli.packing import Pack, packable
from oracle import fuzz
from tests.runtime import topics
from tests.runtime.live import Live, Play, formats_by_topic, written_topics
from tests.runtime.spread import DAY, renamed

GUARANTEES = ("exactly_once", "at_least_once")
#: packs after which everything starts again, so that nothing of many queries adds up
SESSION_PACKS = 20


def in_thread(live: Live, scenario: Scenario) -> bool:
    """Whether the document runs in a stream thread; raises Refused if it does not compile."""
    graph = compiled(scenario["topology"], live.analyzer).require_task_graph()
    job = Job(live.spark, Kafka(live.spark, live.address), graph, name="look")
    return job.only_records and not job.extracts_times


def on_broker(scenario: Any) -> Scenario:
    """Return the scenario as a broker can have it.

    Timestamps are later than 0, which means now to a client; topics are read from their beginning;
    records of the reader that the test has are JSON.
    """
    for node in scenario["topology"]["nodes"]:
        params = node.get("params") or {}
        params.pop("start", None)
        for part in ("key", "value"):
            if (params.get(part) or {}).get("format") in ("avro", "protobuf"):
                params[part] = {"format": "json", "schema": "g STRING, n BIGINT, s STRING"}
    for line in scenario["inputs"]:
        if "timestamp" in line:
            line["timestamp"] += DAY
    made: Scenario = scenario
    return made


def drawn(
    live: Live, seed: int, numbers: list[int], results: dict[int, str]
) -> dict[int, Scenario]:
    """Return the scenarios with Kafka Streams' results; notes those that are left out."""
    found = {}
    for number in numbers:
        scenario = on_broker(fuzz.scenario(seed, number, wide=True))
        try:
            scenario["expected"] = live.oracle.run(scenario)
            if not packable(scenario):
                results[number] = "left out: needs a query of its own"
            elif not in_thread(live, scenario):
                results[number] = "left out: never in a thread"
            else:
                found[number] = scenario
        except (MillraceError, Refused, DocumentError) as error:
            results[number] = f"left out: {type(error).__name__}"
    return found


def played(live: Live, scenarios: list[Scenario], guarantee: str) -> Iterator[list[str]]:
    """Play a pack in a stream thread; yield the differences of each scenario."""
    pack = Pack(scenarios)
    prefix = f"{uuid.uuid4().hex[:8]}-"
    whole: Any = pack.document
    document = renamed(whole, prefix, partitions=1)
    document["settings"] = {**document["settings"], "processing_guarantee": guarantee}
    formats = formats_by_topic(document)
    rounds: list[list[Any]] = [
        [{**line, "topic": prefix + line["topic"]} for _, line in batch]
        for batch in pack.batches(Cut.parse("each"))
    ]
    targets = written_topics(document)
    topics.create(live.address, dict.fromkeys({*formats, *targets}, 1))
    consumer = Consumer(
        {
            "bootstrap.servers": live.address, "group.id": prefix, "log_level": 0,
            "auto.offset.reset": "earliest", "fetch.wait.max.ms": 5, "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )  # fmt: skip
    consumer.assign([TopicPartition(name, 0, 0) for name in targets])
    producer = Producer({"bootstrap.servers": live.address, "linger.ms": 0})
    running = live.start(document)
    fed = Play(running, consumer, producer, None)
    try:
        for number, lines in enumerate(rounds, 1):
            for line in lines:
                if line["topic"] in formats:
                    fed.write(line, formats[line["topic"]])
            if fed.ends:
                fed.await_taking()
                running.continue_in_thread()
            fed.read(number)
        if not running.in_thread:
            raise AssertionError("the pack did not run in a thread")
        running.end()
        running.check()
        quiet = time.monotonic() + 1.0
        while time.monotonic() < quiet:
            before = len(fed.outputs)
            if fed.read(len(rounds)) > before:
                quiet = time.monotonic() + 1.0
        nodes = running.statistics()["nodes"]
    finally:
        running.close()
        consumer.close()
    outputs = [{**out, "topic": out["topic"].removeprefix(prefix)} for out in fed.outputs]
    for number, scenario in enumerate(scenarios):
        own = f"c{number}-"
        found: Any = {
            "outputs": [
                {**out, "topic": out["topic"].removeprefix(own)}
                for out in outputs
                if out["topic"].startswith(own)
            ],
            "dropped": sum(
                sum(counts["dropped"].values())
                for node, counts in nodes.items()
                if node.startswith(own)
            ),
            "stores": {},
        }
        expected: Any = {**scenario, "expected": {**scenario["expected"], "stores": {}}}
        yield differences(expected, found, "all")


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(prog="bench threads")
    parser.add_argument("--random", type=int, default=200, help="topologies (200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first (0)")
    parser.add_argument("--pack", type=int, default=20, help="topologies in one query (20)")
    given = parser.parse_args()
    folder = Path(".millrace") / "threads"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed-{given.seed}.jsonl"
    results: dict[int, str] = {}
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            noted = json.loads(line)
            results[noted["number"]] = noted["result"]
    wanted = range(given.first, given.first + given.random)
    pending = [number for number in wanted if number not in results]
    step = given.pack * SESSION_PACKS
    packs = 0
    with path.open("a", encoding="utf-8") as notes:
        for start in range(0, len(pending), step):
            with Broker() as broker:
                live = Live(broker.address, in_threads=True)
                try:
                    for at in range(start, min(start + step, len(pending)), given.pack):
                        numbers = pending[at : min(at + given.pack, start + step)]
                        scenarios = drawn(live, given.seed, numbers, results)
                        judge(live, scenarios, GUARANTEES[packs % 2], results, folder)
                        packs += 1
                        for number in numbers:
                            noted = {"number": number, "result": results[number]}
                            notes.write(json.dumps(noted) + "\n")
                        notes.flush()
                        counts = Counter(
                            results[n].partition(":")[0] for n in wanted if n in results
                        )
                        print(
                            f"{sum(counts.values())} of {len(wanted)}: {dict(counts)}", flush=True
                        )
                finally:
                    live.close()
    counts = Counter(results[number] for number in wanted)
    for result, count in counts.most_common():
        print(f"{count:6} {result}")
    return 1 if any(each.startswith("differs") for each in counts) else 0


def judge(
    live: Live,
    scenarios: dict[int, Scenario],
    guarantee: str,
    results: dict[int, str],
    folder: Path,
) -> None:
    """Play scenarios and note the results; each that differs, or a pack that fails, alone again."""
    grouped: dict[str, list[int]] = {}
    for number, scenario in scenarios.items():
        settings = scenario["topology"].get("settings") or {}
        grouped.setdefault(json.dumps(settings, sort_keys=True), []).append(number)
    for numbers in grouped.values():
        try:
            found = list(played(live, [scenarios[n] for n in numbers], guarantee))
        except Exception as error:  # noqa: BLE001 - whatever ends a query
            if len(numbers) == 1:
                results[numbers[0]] = f"differs: {str(error).splitlines()[0][:200]}"
                keep(folder, scenarios[numbers[0]], [traceback.format_exc()])
                continue
            print(f"a pack failed: {str(error).splitlines()[0][:200]}", flush=True)
            for number in numbers:
                judge(live, {number: scenarios[number]}, guarantee, results, folder)
            continue
        for number, different in zip(numbers, found, strict=True):
            results[number] = "equal"
            if different:
                results[number] = f"differs: {different[0][:200]}"
                keep(folder, scenarios[number], different)
                print(f"{number} differs: {different[0]}", flush=True)


def keep(folder: Path, scenario: Scenario, found: list[str]) -> None:
    """Write a scenario that differs to a file."""
    noted = {**scenario, "differences": found}
    (folder / f"{scenario['id']}.json").write_text(json.dumps(noted, indent=1), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
