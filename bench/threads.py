"""Random topologies in stream threads, beside Kafka Streams: are their results equal?

    ./millrace bench threads -- --random 2000 --seed 7

Draws topologies with random inputs as `./millrace verify --random` does, until so many are
compared, and puts many of them into one query, whose first records are processed in micro-batches
and all others in a stream thread, on a broker. Each round writes one record for each topology and
waits until it is processed; what has to be alone has a query of its own. Queries take turns with
both guarantees. Outputs and dropped records are compared with those of Kafka Streams. A number
draws the same topology again; results are kept in `.millrace/threads`, and an interrupted run
continues. Left out, and counted with the reason, are topologies that never run in a thread, those
that read a topic that they write, and those whose results in Kafka Streams end with an error.
Exit code 1 if any differ.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import threading
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
from cli.packing import Pack, loops, packable
from oracle import fuzz
from tests.runtime import topics
from tests.runtime.live import Live, Play, formats_by_topic, play, written_topics
from tests.runtime.spread import DAY, renamed

GUARANTEES = ("exactly_once", "at_least_once")
#: packs after which everything starts again, so that nothing of many queries adds up
SESSION_PACKS = 20
#: queries that run at once: each mostly waits for records
AT_ONCE = 3


def never(live: Live, scenario: Scenario) -> str | None:
    """Return why a topology never runs in a stream thread, or cannot be compared, or None."""
    document = scenario["topology"]
    if any("code" in (node.get("params") or {}) for node in document["nodes"]):
        return "Python code"
    if loops(document):
        return "reads a topic that it writes"
    try:
        graph = compiled(document, live.analyzer).require_task_graph()
    except (Refused, DocumentError, MillraceError) as error:
        return f"does not compile: {str(error)[:80]}"
    job = Job(live.spark, Kafka(live.spark, live.address), graph, name="look")
    if job.extracts_times:
        return "several inputs with extracted times"
    return None if job.only_records else "not only records"


def on_broker(scenario: Any) -> Scenario:
    """Return the scenario as a broker can have it.

    Timestamps are later than 0, which means now to a client; topics are read from their beginning;
    records of the reader that the test has are JSON; nothing restarts. The guarantee is ours.
    """
    for node in scenario["topology"]["nodes"]:
        params = node.get("params") or {}
        params.pop("start", None)
        for part in ("key", "value"):
            of_part = params.get(part)
            if isinstance(of_part, dict) and of_part.get("format") in ("avro", "protobuf"):
                params[part] = {"format": "json", "schema": "g STRING, n BIGINT, s STRING"}
    (scenario["topology"].get("settings") or {}).pop("processing_guarantee", None)
    scenario["inputs"] = [line for line in scenario["inputs"] if "topic" in line]
    for line in scenario["inputs"]:
        line["timestamp"] += DAY
    made: Scenario = scenario
    return made


def drawn(live: Live, seed: int, number: int) -> Scenario | str:
    """Return the scenario with Kafka Streams' results, or why it is left out."""
    scenario = on_broker(fuzz.scenario(seed, number, wide=True))
    reason = never(live, scenario)
    if reason is None:
        try:
            with live.alone:
                scenario["expected"] = live.oracle.run(scenario)
        except MillraceError as error:
            return f"left out: {error.code}"
        if not scenario["expected"]["error"]:
            return scenario
        reason = "ends with an error"
    return f"left out: {reason}"


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


def alone(live: Live, scenario: Any, guarantee: str) -> list[str]:
    """Play a scenario in a query of its own; return the differences."""
    document = scenario["topology"]
    settings = {**(document.get("settings") or {}), "processing_guarantee": guarantee}
    reported, found = play(live, {**scenario, "topology": {**document, "settings": settings}})
    if not found["in_thread"]:
        raise AssertionError("did not run in a thread")
    result: Any = {**found, "stores": {}}
    return differences(reported, result, "all")


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(prog="bench threads")
    parser.add_argument("--random", type=int, default=200, help="topologies to compare (200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first (0)")
    parser.add_argument("--pack", type=int, default=30, help="topologies in one query (30)")
    given = parser.parse_args()
    notes = Notes(Path(".millrace") / "threads", given.seed)
    numbers = itertools.count(given.first)
    while notes.compared(given.first) < given.random:
        with Broker() as broker:
            live = Live(broker.address, in_threads=True)
            try:
                for packs in range(SESSION_PACKS):
                    missing = given.random - notes.compared(given.first)
                    if missing <= 0:
                        break
                    scenarios: dict[int, Scenario] = {}
                    while len(scenarios) < min(given.pack, missing):
                        number = next(numbers)
                        if number not in notes.results:
                            found = drawn(live, given.seed, number)
                            if isinstance(found, str):
                                notes.note(number, found)
                            else:
                                scenarios[number] = found
                    judge(live, scenarios, GUARANTEES[packs % 2], notes)
                    counts = notes.counts(given.first, short=True)
                    print(f"{counts.total()}: {dict(counts)}", flush=True)
            finally:
                live.close()
    counts = notes.counts(given.first)
    for result, count in counts.most_common():
        print(f"{count:6} {result}")
    return 1 if any(each.startswith("differs") for each in counts) else 0


class Notes:
    """The results by number, kept in a file."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"seed-{seed}.jsonl"
        self._writing = threading.Lock()
        self.results: dict[int, str] = {}
        if self._path.exists():
            for line in self._path.read_text("utf-8").splitlines():
                noted = json.loads(line)
                self.results[noted["number"]] = noted["result"]

    def note(self, number: int, result: str) -> None:
        """Keep a result."""
        with self._writing, self._path.open("a", encoding="utf-8") as file:
            self.results[number] = result
            file.write(json.dumps({"number": number, "result": result}) + "\n")

    def counts(self, first: int, *, short: bool = False) -> Counter[str]:
        """Count the results from a number on; `short`: without reasons."""
        found = [result for number, result in self.results.items() if number >= first]
        return Counter(each.partition(":")[0] if short else each for each in found)

    def compared(self, first: int) -> int:
        """Return how many were compared."""
        counts = self.counts(first, short=True)
        return counts["equal"] + counts["differs"]


def judge(live: Live, scenarios: dict[int, Scenario], guarantee: str, notes: Notes) -> None:
    """Play scenarios and note the results; each of a pack that fails is played alone again."""
    grouped: dict[str, list[int]] = {}
    for number, scenario in scenarios.items():
        settings = json.dumps(scenario["topology"].get("settings") or {}, sort_keys=True)
        key = settings if packable(scenario) else f"alone {number}"
        grouped.setdefault(key, []).append(number)

    def one(numbers: list[int]) -> None:
        chosen: list[Any] = [scenarios[number] for number in numbers]
        try:
            if packable(chosen[0]):
                found = list(played(live, chosen, guarantee))
            else:
                found = [alone(live, chosen[0], guarantee)]
        except Exception as error:  # noqa: BLE001 - whatever ends a query
            reason = str(error).splitlines()[0][:200]
            if len(numbers) > 1:
                print(f"a pack failed: {reason}", flush=True)
                for number in numbers:
                    one([number])
                return
            found = [[reason]]
            chosen[0] = {**chosen[0], "traceback": traceback.format_exc()}
        for number, scenario, different in zip(numbers, chosen, found, strict=True):
            notes.note(number, f"differs: {different[0][:200]}" if different else "equal")
            if different:
                keep(notes.folder, scenario, different)
                print(f"{number} differs: {different[0][:300]}", flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(one, numbers) for numbers in grouped.values()]:
            done.result()


def keep(folder: Path, scenario: Scenario, found: list[str]) -> None:
    """Write a scenario that differs to a file."""
    noted = {**scenario, "differences": found}
    (folder / f"{scenario['id']}.json").write_text(json.dumps(noted, indent=1), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
