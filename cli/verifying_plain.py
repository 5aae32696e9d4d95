"""`verify --dialect plain`: differences from Kafka Streams, and whether they were reported."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections import Counter
from pathlib import Path

from millrace_model.scenarios import Scenario, ScenarioResult
from millrace_runtime.errors import MillraceError
from millrace_runtime.plain.predicting import VERDICTS, unexplained, verdict
from millrace_runtime.results.cuts import Cut

from cli.documents import keep
from cli.oracle import Oracle
from cli.simulating import Warm, run_scenario
from oracle import fuzz


def verify_plain(
    warm: Warm, oracle: Oracle, scenario: Scenario, cut: Cut, *, restart_each: bool
) -> int:
    """Return exit code 0 if all differences were reported; 1 if not, or for a refused document."""
    scenario["expected"] = oracle.run(scenario)
    result = run_scenario(warm, scenario, cut, restart_each=restart_each, dialect="plain")
    if "outputs" not in result:
        print(result["error"]["message"], file=sys.stderr)
        return 1
    found = verdict(scenario, result, cut.kind)
    for difference in unexplained(scenario, result, cut.kind, ()):
        print(difference)
    codes = ", ".join(_codes(result))
    summaries = {"equal": "equal", "predicted": f"different, as reported: {codes}"}
    print(
        summaries.get(found, f"different without a diagnostic; reported: {codes}"), file=sys.stderr
    )
    return 1 if found == "wrong" else 0


def verify_plain_random(arguments: argparse.Namespace, cut: Cut) -> int:
    """Verify random scenarios that plain Spark can express; store wrong ones. Exit code 1: any."""
    folder = Path(arguments.keep or Path(".millrace") / "verify")
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    started = time.monotonic()
    with contextlib.closing(Warm()) as warm, Oracle(remember=folder / "oracle") as oracle:
        for number in range(arguments.first, arguments.first + arguments.random):
            scenario = fuzz.scenario(
                arguments.seed, number, wide=arguments.wide, times=arguments.times
            )
            found, why = _verified(warm, oracle, scenario, cut, arguments.restart_each)
            counts[found] += 1
            if found in ("equal", "predicted", "wrong"):
                kinds.update({node["kind"] for node in scenario["topology"]["nodes"]})
            if found == "wrong":
                kept = keep(folder, scenario)
                print(f"{scenario['id']} is wrong ({kept}): {why}", flush=True)
    for kind, count in sorted(kinds.items()):
        print(f"{count:6} with {kind}", file=sys.stderr)
    shown = [f"{counts[each]} {each}" for each in (*VERDICTS, "not compared")]
    print(f"{', '.join(shown)}, {time.monotonic() - started:.0f} s", file=sys.stderr)
    return 1 if counts["wrong"] else 0


def _verified(
    warm: Warm, oracle: Oracle, scenario: Scenario, cut: Cut, restart_each: bool
) -> tuple[str, str]:
    """Return the verdict on a random scenario, and its first unexplained difference."""
    if cut.kind != "each" and "all" not in scenario["cuts"]:
        return "not compared", ""
    if not warm.compile(scenario["topology"], "plain").ok:
        return "refused", ""
    try:
        scenario["expected"] = oracle.run(scenario)
    except MillraceError:  # Kafka Streams' test driver cannot run it
        return "not compared", ""
    result = run_scenario(warm, scenario, cut, restart_each=restart_each, dialect="plain")
    found = verdict(scenario, result, cut.kind)
    if found != "wrong":
        return found, ""
    left = unexplained(scenario, result, cut.kind, _codes(result))
    return found, str(left[0] if left else (result.get("error") or {}).get("message"))


def _codes(result: ScenarioResult) -> list[str]:
    return sorted({str(each["code"]) for each in result.get("differences") or []})
