"""`verify`: the same document and records on Kafka Streams and on Spark, and what differs."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from millrace_runtime.errors import MillraceError
from millrace_runtime.simulation import Cut

from tools.cli.comparing import differences
from tools.cli.documents import read_document, read_lines
from tools.cli.oracle import Oracle
from tools.cli.simulating import Warm, run_scenario
from tools.oracle import fuzz


def verify_command(arguments: argparse.Namespace) -> int:
    """Exit 0: equal; 1: something differs."""
    cut = Cut.parse(arguments.cut)
    if arguments.random is not None:
        return _random(arguments, cut)
    if not arguments.document or not arguments.inputs:
        raise MillraceError(
            "option_missing", "Give a document and --inputs IN.jsonl, or --random N."
        )
    scenario = {
        "id": "document",
        "topology": read_document(arguments.document),
        "inputs": read_lines(arguments.inputs),
    }
    warm = Warm()
    try:
        with Oracle() as oracle:
            found = verify(warm, oracle, scenario, cut, restart_each=arguments.restart_each)
    finally:
        warm.close()
    for difference in found:
        print(difference)
    print("equal" if not found else f"{len(found)} differences", file=sys.stderr)
    return 1 if found else 0


def verify(
    warm: Warm,
    oracle: Oracle,
    scenario: dict[str, Any],
    cut: Cut,
    *,
    restart_each: bool = False,
) -> list[str]:
    """What differs; the scenario gets what Kafka Streams did as its `expected`."""
    scenario["expected"] = oracle.run(scenario)
    result = run_scenario(warm, scenario, cut, restart_each=restart_each)
    return differences(scenario, result, cut.kind)


def _random(arguments: argparse.Namespace, cut: Cut) -> int:
    """Random scenarios; those that differ are kept, and those seen before are not run again."""
    folder = Path(arguments.keep or Path(".millrace") / "verify")
    folder.mkdir(parents=True, exist_ok=True)
    name = f"seed-{arguments.seed}-{arguments.cut.replace(':', '-')}"
    name += "-restart" if arguments.restart_each else ""
    seen = _Seen(folder / f"{name}.jsonl")
    warm: Warm | None = None
    oracle: Oracle | None = None
    started = time.monotonic()
    try:
        for number in range(arguments.random):
            if number in seen.results:
                continue
            warm = warm or Warm()
            oracle = oracle or Oracle()
            scenario = fuzz.scenario(arguments.seed, number)
            if cut.kind != "each" and "all" not in scenario["cuts"]:
                seen.note(number, "left out")
                continue
            try:
                found = verify(warm, oracle, scenario, cut, restart_each=arguments.restart_each)
            except MillraceError as error:
                seen.note(number, f"not run: {error.message}")
                continue
            if found:
                kept = folder / f"{scenario['id']}.json"
                kept.write_text(
                    json.dumps(scenario, ensure_ascii=False, indent=1), encoding="utf-8"
                )
                print(f"{scenario['id']} differs ({kept}): {found[0]}", flush=True)
            seen.note(number, "differs" if found else "equal")
    finally:
        if oracle is not None:
            oracle.close()
        if warm is not None:
            warm.close()
    counts = seen.counts()
    print(
        f"{counts['equal']} equal, {counts['differs']} differ, {counts['other']} not compared, "
        f"{time.monotonic() - started:.0f} s",
        file=sys.stderr,
    )
    return 1 if counts["differs"] else 0


class _Seen:
    """What earlier runs found, one line each, so that a run can be broken off and taken up."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.results: dict[int, str] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                # What differed is looked at again: the rule behind it may have been mended.
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
