"""`verify --kafka`: which results of a topology change between releases of Kafka Streams."""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import cast

from millrace_model.documents import TopologyDocument
from millrace_model.scenarios import Expected, Scenario, ScenarioResult
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.comparing import differences

from cli.describing import without_steps
from cli.documents import expanded, read_document, read_lines
from cli.oracle import RELEASES, Oracle
from oracle import fuzz


class Recorded(Expected, total=False):
    """Results of a release, or why it cannot run the scenario."""

    not_run: str


#: scenarios that a release runs before another has its turn
CHUNK = 100

_OUTER = (
    "join.stream_stream", "join.stream_table", "join.stream_global_table", "join.foreign_key",
)  # fmt: skip
#: changes of results: first release with the new ones, where they are described, and the kinds of
#: nodes, or the setting, of the documents that they concern
KNOWN: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("4.2", "KIP-1034, dead letters", ("dead_letter_topic",)),
    ("4.2", "apache/kafka#20605, null foreign keys are dropped records", ("join.foreign_key",)),
    ("4.0", "KIP-962, null keys in left joins", ("join.stream_global_table",)),
    ("3.9", "KAFKA-16394, null results of left joins", ("join.foreign_key",)),
    ("3.8", "KAFKA-15417, records without a match", ("join.stream_stream",)),
    ("3.7", "KIP-962, null keys in left and outer joins", _OUTER),
)


def compare_releases(arguments: argparse.Namespace) -> int:
    """Run scenarios on each release of `--kafka`; exit code 1 if results differ or none ran.

    The results of a release are compared with those recorded in the scenario, else with those of
    the newest given release.
    """
    releases = _ordered(arguments.kafka)
    _refuse_others(arguments)
    if len(releases) < 2 and not arguments.recorded:
        raise MillraceError(
            "option_missing",
            "Pass --kafka twice or more: the results of one release are compared with another's.",
        )
    counts: Counter[tuple[str, str]] = Counter()
    scenarios = _scenarios(arguments)
    # Random topologies have no code but that of processors with twins in the oracle.
    started = functools.partial(Oracle, python=arguments.random is None)
    with ExitStack() as stack:
        # As many releases at a time as there are processors: each runs a chunk of scenarios before
        # its turn ends, so that no release waits for another after each scenario.
        pool = stack.enter_context(ThreadPoolExecutor(os.cpu_count()))
        oracles = [stack.enter_context(each) for each in pool.map(started, releases)]
        for start in range(0, len(scenarios), CHUNK):
            chunk = scenarios[start:][:CHUNK]
            answers = pool.map(functools.partial(_answers, chunk), oracles)
            for scenario, *answered in zip(chunk, *answers, strict=True):
                for release, outcome, found in _outcomes(releases, answered, scenario):
                    counts[release, outcome] += 1
                    if outcome == "equal":
                        continue
                    why = described(release, scenario["topology"])
                    print(f"{scenario['id']} on {release}{why}: {found}", flush=True)
            done = min(start + CHUNK, len(scenarios))
            print(f"{done} of {len(scenarios)}", file=sys.stderr, flush=True)
    for release in releases:
        figures = [f"{counts[release, each]} {each}" for each in ("equal", "differ", "not run")]
        print(f"Kafka Streams {release}: {', '.join(figures)}", file=sys.stderr)
    differ = any(counts[release, "differ"] for release in releases)
    ran = all(counts[release, "equal"] for release in releases)
    return 0 if ran and not differ else 1


def _refuse_others(arguments: argparse.Namespace) -> None:
    """Refuse options of a comparison with Spark, and a second choice of what is run."""
    ignored = {
        "--cut": arguments.cut != "each",
        "--restart-each": arguments.restart_each,
        "--dialect": arguments.dialect != "exact",
        "--unbatched": arguments.unbatched,
        "--describe": arguments.describe,
        "--program": arguments.program,
        "--keep": arguments.keep is not None,
    }
    given = [option for option, is_given in ignored.items() if is_given]
    if given:
        raise MillraceError(
            "option_conflict", f"{given[0]} is for a comparison with Spark; --kafka runs no Spark."
        )
    chosen = [arguments.recorded, arguments.document, arguments.random is not None]
    if sum(map(bool, chosen)) > 1:
        raise MillraceError(
            "option_conflict", "Pass only one of a document, --random N and --recorded DIR."
        )


def _ordered(given: list[str]) -> list[str]:
    unknown = [release for release in given if release not in RELEASES]
    if unknown:
        raise MillraceError(
            "release_unknown",
            f"Kafka Streams {unknown[0]} is not among the releases that can be run: "
            f"{', '.join(RELEASES)}.",
        )
    return [release for release in RELEASES if release in given]


def _scenarios(arguments: argparse.Namespace) -> Sequence[Scenario]:
    if arguments.recorded:
        return _recorded(Path(arguments.recorded))
    if arguments.random is not None:
        draw = functools.partial(fuzz.scenario, wide=arguments.wide, times=arguments.times)
        first: int = arguments.first
        return [draw(arguments.seed, first + number) for number in range(arguments.random)]
    if arguments.document and arguments.inputs:
        document = read_document(arguments.document, arguments.environment, fragments=True)
        topology, inputs = expanded(document), read_lines(arguments.inputs)
        return [{"id": str(arguments.document), "topology": topology, "inputs": inputs}]
    raise MillraceError(
        "option_missing",
        "Pass a document and --inputs IN.jsonl, --random N or --recorded DIR.",
    )


def _recorded(folder: Path) -> list[Scenario]:
    """Return the scenarios in a folder that were recorded from runs."""
    files = sorted(folder.rglob("*.json"))
    if not files:
        raise MillraceError("no_scenarios", f"{folder} contains no scenarios.")
    return [_scenario(file) for file in files]


def _scenario(file: Path) -> Scenario:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MillraceError("scenario_invalid", f"{file} is not JSON: {error}.") from None
    missing = [name for name in ("id", "topology", "inputs") if name not in found]
    if not isinstance(found, dict) or missing:
        raise MillraceError(
            "scenario_invalid",
            f"{file} is not a scenario: it has no {missing[0] if missing else 'fields'}.",
        )
    return cast(Scenario, found)


def _outcomes(
    releases: list[str], answers: list[Recorded], scenario: Scenario
) -> Iterator[tuple[str, str, str]]:
    """Yield each release with equal, differ or not run, and the first difference or the reason."""
    question = scenario.copy()
    expected: Recorded = cast(Recorded, scenario.get("expected")) or answers[0]
    for release, answer in zip(releases, answers, strict=True):
        if "not_run" in answer:
            yield release, "not run", answer["not_run"]
        elif "not_run" in expected:
            yield release, "differ", f"{releases[0]} did not run it"
        elif _refused(answer) or _refused(expected):
            equal = _refused(answer) and _refused(expected)
            found = "refused" if _refused(answer) else "not refused"
            yield release, "equal" if equal else "differ", "" if equal else found
        else:
            question["expected"] = expected
            others = differences(question, answer, "each")
            yield release, "differ" if others else "equal", others[0] if others else ""


def _answers(scenarios: Sequence[Scenario], oracle: Oracle) -> list[Recorded]:
    """Return the results of a release for each scenario."""
    return [_answer(oracle, scenario) for scenario in scenarios]


def _answer(oracle: Oracle, scenario: Scenario) -> Recorded:
    """Return the results of a release, or `not_run` with why it cannot run the scenario."""
    question = scenario.copy()
    question.pop("expected", None)
    try:
        found = oracle.run(question)
        described = scenario.get("compare") == "describe"
        return cast(Recorded, without_steps(found) if described else found)
    except MillraceError as error:
        if error.code != "oracle_cannot":
            raise
        return {"not_run": error.facts["reason"]}


def _refused(answer: ScenarioResult) -> bool:
    return (answer.get("error") or {}).get("kind") == "refused"


def described(release: str, document: TopologyDocument) -> str:
    """Return where changes after this release are described that may explain a difference."""
    numbers = list(RELEASES)
    has = {each["kind"] for each in document["nodes"]} | set(document.get("settings", {}))
    found = [
        f"{where}, in {since}"
        for since, where, concerned in KNOWN
        if numbers.index(release) > numbers.index(since) and has.intersection(concerned)
    ]
    return f" (see {'; '.join(found)})" if found else ""
