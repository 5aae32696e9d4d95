"""`verify`: run a document and records on Kafka Streams and on Spark, and print the differences."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, cast

from millrace_compiler import Analyzer, Refused, compile_document
from millrace_compiler.graphs.fragments import resolved
from millrace_model.documents import DocumentNode, TopicSettings, TopologyDocument
from millrace_model.records import InputLine
from millrace_model.scenarios import Scenario, ScenarioResult
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.comparing import differences
from millrace_runtime.results.cuts import Cut

from cli.describing import described_scenario, verify_description
from cli.documents import analyzer, keep, read_document, read_lines
from cli.oracle import Oracle, own_oracle
from cli.packing import Pack, loops, packable, packs
from cli.programs import is_program, programs
from cli.releases import compare_releases
from cli.round_trip import round_trip
from cli.simulating import Warm, run_scenario
from cli.verifying_plain import verify_plain, verify_plain_random
from oracle import fuzz
from oracle.fuzz.shrinking import smallest, text_of

#: time for the reduction of a scenario that differs
SHRINKING_SECONDS = 120.0


def verify_command(arguments: argparse.Namespace) -> int:
    """Return exit code 0 if the results are equal, else 1.

    With --describe or --program nothing runs: see `describing` and `round_trip`. With --kafka only
    Kafka Streams runs: see `releases`.
    """
    if arguments.kafka:
        return compare_releases(arguments)
    if arguments.recorded:
        raise MillraceError("option_missing", "--recorded needs --kafka RELEASE.")
    cut = Cut.parse(arguments.cut)
    plain = arguments.dialect == "plain"
    if plain and (arguments.describe or arguments.program):
        raise MillraceError("option_conflict", "--dialect plain compares results only.")
    if plain and arguments.random is not None:
        return verify_plain_random(arguments, cut)
    if arguments.random is not None:
        if arguments.program:
            return _programs(arguments)
        return _descriptions(arguments) if arguments.describe else _random(arguments, cut)
    if arguments.document and arguments.program:
        with analyzer() as known:
            return _outcome(round_trip(_ordinary(arguments, known), known))
    if arguments.document and arguments.describe:
        return _description(arguments)
    if not arguments.document or not arguments.inputs:
        raise MillraceError(
            "option_missing", "Pass a document and --inputs IN.jsonl, or --random N."
        )
    inputs = read_lines(arguments.inputs)
    if is_program(arguments.document):
        programs.read(arguments.document)
    # As simulations of the page, unless it is micro-batches that are asked for.
    restart_each = arguments.restart_each
    unbatched = cut.kind == "each" and not (restart_each or plain)
    with own_oracle() as oracle:
        lines = programs.lines.get(arguments.document)
        with contextlib.closing(Warm(unbatched=unbatched, lines=lines)) as warm:
            topology, inputs = _in_one_task(_ordinary(arguments, warm.analyzer), inputs)
            scenario: Scenario = {"id": "document", "topology": topology, "inputs": inputs}
            if plain:
                return verify_plain(warm, oracle, scenario, cut, restart_each=restart_each)
            found = verify(warm, oracle, scenario, cut, restart_each=restart_each)
        _note_stop(scenario)
        return _outcome(found)


def _note_stop(scenario: Scenario) -> None:
    """Print where and why a run stopped, or why only Kafka Streams refused it or stopped."""
    error, theirs = scenario["found"].get("error"), scenario["expected"].get("error")
    if error and theirs:
        place = f"{error['file']}, line {error['line']}: " if "file" in error else ""
        node = f"{error['node']}: " if error.get("node") else ""
        both = "refuse it" if error.get("kind") == "refused" else "stop"
        print(f"Both {both}. {place}{node}{error['message']}", file=sys.stderr)
    if theirs and theirs["kind"] == "refused" and not error:
        told = f"Kafka Streams refuses this topology, which runs here: {theirs['message']}"
        print(told, file=sys.stderr)
    elif theirs and theirs["kind"] == "stopped" and theirs["after"] != (error or {}).get("after"):
        told = f"Kafka Streams stops at input {theirs['after']}: {theirs['message']}"
        print(told, file=sys.stderr)


def _ordinary(arguments: argparse.Namespace, known: Analyzer) -> TopologyDocument:
    """Return the document without fragments.

    Raises Refused, with their nodes, for one with fragments that does not compile.
    """
    document = read_document(arguments.document, arguments.environment, fragments=True)
    if document.get("fragments"):
        compile_document(document, known, dialect=arguments.dialect).require()
    return resolved(document)


def _in_one_task(
    document: TopologyDocument, inputs: list[InputLine]
) -> tuple[TopologyDocument, list[InputLine]]:
    """Return the document and the records with one partition for each topic, as the oracle has."""
    given = document.get("topics", {})
    topics: dict[str, TopicSettings] = {
        name: {**each, "partitions": 1} for name, each in given.items()
    }
    nodes = [_repartitioned_to_one(node) for node in document["nodes"]]
    one: TopologyDocument = {**document, "topics": topics, "nodes": nodes}
    lines = [
        cast(InputLine, {k: v for k, v in each.items() if k != "partition"}) for each in inputs
    ]
    if lines != inputs or nodes != document["nodes"] or topics != given:
        told = "Compared with one partition for each topic, as Kafka Streams' test driver has."
        print(told, file=sys.stderr)
    return one, lines


def _repartitioned_to_one(node: DocumentNode) -> DocumentNode:
    params = node.get("params") or {}
    if node["kind"] != "repartition" or "partitions" not in params:
        return node
    return {**node, "params": {**params, "partitions": 1}}


def _outcome(found: list[str]) -> int:
    """Print the differences and return the exit code."""
    for difference in found:
        print(difference)
    print("equal" if not found else f"{len(found)} differences", file=sys.stderr)
    return 1 if found else 0


def verify(
    warm: Warm,
    oracle: Oracle,
    scenario: Scenario,
    cut: Cut,
    *,
    restart_each: bool = False,
) -> list[str]:
    """Run both at the same time, and return the differences.

    The results become the scenario's `expected` and `found`.
    """
    with ThreadPoolExecutor(1) as pool:
        expected = pool.submit(oracle.run, scenario)
        result = run_scenario(warm, scenario, cut, restart_each=restart_each)
        scenario["expected"] = expected.result()
    scenario["found"] = result
    return differences(scenario, result, cut.kind)


def _random(arguments: argparse.Namespace, cut: Cut) -> int:
    """Verify random scenarios. Those that differ are stored; those already verified are skipped."""
    folder = Path(arguments.keep or Path(".millrace") / "verify")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = functools.partial(fuzz.scenario, wide=arguments.wide, times=arguments.times)
    series = fuzz.series(arguments.seed, wide=arguments.wide, times=arguments.times)
    name = f"seed-{series}-{arguments.cut.replace(':', '-')}"
    name += "-restart" if arguments.restart_each else ""
    name += "-unbatched" if arguments.unbatched else ""
    seen = _Seen(folder / f"{name}.jsonl")
    first: int = arguments.first
    pending = [n for n in range(first, first + arguments.random) if n not in seen.results]
    started = time.monotonic()
    if pending:
        with (
            contextlib.closing(Warm(unbatched=arguments.unbatched)) as warm,
            Oracle(remember=folder / "oracle") as oracle,
            _Random(warm, oracle, cut, arguments.restart_each, arguments.pack) as run,
        ):
            for start in range(0, len(pending), 4 * run.size):
                numbers = pending[start:][: 4 * run.size]
                scenarios = {n: drawn(arguments.seed, n) for n in numbers}
                for number, result in run.over(scenarios):
                    seen.note(number, result)
                    for scenario, found in run.differing:
                        kept = keep(folder, scenario)
                        least = run.smallest(scenario)
                        print(f"{scenario['id']} differs ({kept}): {found}", flush=True)
                        if least is not scenario:
                            print(f"Its smallest form ({keep(folder, least)}):", flush=True)
                            print(text_of(least), flush=True)
                    run.differing.clear()
    counts = seen.counts()
    print(_coverage(seen, arguments.seed, wide=arguments.wide), file=sys.stderr)
    print(
        f"{counts['equal']} equal, {counts['differs']} differ, {counts['other']} not compared, "
        f"{time.monotonic() - started:.0f} s",
        file=sys.stderr,
    )
    return 1 if counts["differs"] else 0


def _descriptions(arguments: argparse.Namespace) -> int:
    """Compare both descriptions of random documents, and store the scenarios that differ."""
    folder = Path(arguments.keep or Path(".millrace") / "verify")
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    started = time.monotonic()
    with analyzer() as known, Oracle(remember=folder / "oracle") as oracle:
        for number in range(arguments.first, arguments.first + arguments.random):
            scenario = described_scenario(arguments.seed, number, wide=arguments.wide)
            try:
                found = verify_description(oracle, known, scenario)
            except MillraceError:  # not supported by the oracle, such as Avro
                counts["not compared"] += 1
                continue
            counts["differ" if found else "equal"] += 1
            if found:
                kept = keep(folder, scenario)
                print(f"{scenario['id']} differs ({kept}): {found[0]}", flush=True)
    print(
        f"{counts['equal']} descriptions equal, {counts['differ']} differ, "
        f"{counts['not compared']} not compared, {time.monotonic() - started:.0f} s",
        file=sys.stderr,
    )
    return 1 if counts["differ"] else 0


def _programs(arguments: argparse.Namespace) -> int:
    """Convert random documents to programs and back."""
    counts: Counter[str] = Counter()
    started = time.monotonic()
    with analyzer() as known:
        for number in range(arguments.first, arguments.first + arguments.random):
            scenario = fuzz.scenario(arguments.seed, number, wide=arguments.wide)
            try:
                found = round_trip(scenario["topology"], known)
            except Refused:
                counts["refused"] += 1
                continue
            counts["differ" if found else "same"] += 1
            if found:
                print(f"{scenario['id']}: {', '.join(found)}", flush=True)
    print(
        f"{counts['same']} documents the same, {counts['differ']} differ, "
        f"{counts['refused']} refused, {time.monotonic() - started:.0f} s",
        file=sys.stderr,
    )
    return 1 if counts["differ"] else 0


def _description(arguments: argparse.Namespace) -> int:
    """Compare both descriptions of one document."""
    with analyzer() as known:
        document = _ordinary(arguments, known)
        compile_document(document, known).require()
        kinds = {node["id"]: node["kind"] for node in document["nodes"]}
        processors = {id_: "PassOn" for id_, kind in kinds.items() if kind.startswith("process")}
        scenario: Scenario = {
            "id": "document",
            "topology": document,
            "inputs": [],
            "oracle_processors": processors,
            "compare": "describe",
        }
        with Oracle() as oracle:
            found = verify_description(oracle, known, scenario)
    return _outcome(found)


def _coverage(seen: _Seen, seed: int, *, wide: bool) -> str:
    """Return, for each kind of node, the number of compared topologies that contain it."""
    held: Counter[str] = Counter()
    for number, result in seen.results.items():
        if result in ("equal", "differs"):
            nodes = fuzz.scenario(seed, number, wide=wide)["topology"]["nodes"]
            held.update({node["kind"] for node in nodes})
    return "\n".join(f"{count:6} with {kind}" for kind, count in sorted(held.items()))


class _Random:
    """Compares random scenarios, many in one query; those that differ there run again alone."""

    def __init__(self, warm: Warm, oracle: Oracle, cut: Cut, restart_each: bool, size: int) -> None:
        self._warm = warm
        self._oracle = oracle
        self._cut = cut
        self._restart_each = restart_each
        self.size = size
        self._held = contextlib.ExitStack()
        self.differing: list[tuple[Scenario, str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def over(self, numbered: dict[int, Scenario]) -> Iterator[tuple[int, str]]:
        """Yield the number and the result of each scenario, in any order."""
        wanted: dict[str, int] = {}
        scenarios = []
        for number, scenario in numbered.items():
            if self._cut.kind != "each" and "all" not in scenario["cuts"]:
                yield number, "left out"
                continue
            try:
                scenario["expected"] = self._oracle.run(scenario)
            except MillraceError as error:
                yield number, f"not run: {error.message}"
                continue
            wanted[scenario["id"]] = number
            scenarios.append(scenario)
        together = [each for each in scenarios if self.size > 1 and packable(each)]
        alone = [each for each in scenarios if not (self.size > 1 and packable(each))]
        for group in packs(together, self.size):
            for scenario, found in self._pack(group):
                if found == []:
                    yield wanted[scenario["id"]], "equal"
                else:
                    alone.append(scenario)
        for scenario in alone:
            warm = self._batched if loops(scenario["topology"]) else self._warm
            result = run_scenario(warm, scenario, self._cut, restart_each=self._restart_each)
            found = differences(scenario, result, self._cut.kind)
            beside = scenario.pop("beside", [])
            if found or beside:
                self.differing.append((scenario, (found or [f"only in a pack: {beside[0]}"])[0]))
            yield wanted[scenario["id"]], "differs" if found or beside else "equal"

    def smallest(self, scenario: Scenario) -> Scenario:
        """Return the smallest form of a scenario that differs, or itself if it is the smallest.

        It differs in the same way: both run, or the same one does not.
        """
        end = time.monotonic() + SHRINKING_SECONDS
        warm = self._batched if loops(scenario["topology"]) else self._warm
        ways: set[tuple[str | None, str | None]] = set()

        def differs(tried: Scenario) -> bool:
            try:
                tried["expected"] = self._oracle.run(tried)
                result = run_scenario(warm, tried, self._cut, restart_each=self._restart_each)
            except MillraceError:
                return False
            way = (_kind(tried["expected"]), _kind(result))
            if not ways and differences(tried, result, self._cut.kind):
                ways.add(way)
            return way in ways and bool(differences(tried, result, self._cut.kind))

        named: Scenario = {**scenario, "id": f"{scenario['id']}-smallest"}
        if not differs(named):  # only beside others
            return scenario
        least = smallest(named, differs, lambda: time.monotonic() < end)
        return scenario if least is named else least

    @functools.cached_property
    def _batched(self) -> Warm:
        """A session with Spark's micro-batches, in which a topology can read its own output."""
        return self._held.enter_context(contextlib.closing(Warm()))

    def _pack(self, group: list[Scenario]) -> Iterator[tuple[Scenario, list[str] | None]]:
        """Yield each scenario with its differences, or with None if the pack did not run."""
        pack = Pack(group)
        try:
            result = self._warm.simulate_pack(pack, self._cut, restart_each=self._restart_each)
        except (MillraceError, Refused) as error:
            print(f"a pack did not run: {error}", file=sys.stderr)
            yield from ((scenario, None) for scenario in group)
            return
        if result.error is not None:
            print(f"a pack stopped: {result.error['message']}", file=sys.stderr)
            yield from ((scenario, None) for scenario in group)
            return
        for scenario, part in zip(group, pack.results(result), strict=True):
            found = differences(scenario, part, self._cut.kind)
            if found:
                scenario["beside"] = found
            yield scenario, found


def _kind(result: ScenarioResult) -> str | None:
    """Return how a run ended early: refused, stopped, or not."""
    error = result.get("error")
    return None if error is None else str(error.get("kind") or error.get("code"))


class _Seen:
    """The results of earlier runs, one per line, so that an interrupted run can be resumed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.results: dict[int, str] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                # Scenarios that differed run again, because the cause may have been fixed since.
                if entry["result"] != "differs":
                    self.results[entry["number"]] = entry["result"]

    def note(self, number: int, result: str) -> None:
        self.results[number] = result
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"number": number, "result": result}) + "\n")

    def counts(self) -> dict[str, int]:
        counts = {"equal": 0, "differs": 0, "other": 0}
        for result in self.results.values():
            counts[result if result in counts else "other"] += 1
        return counts
