"""How often and how fast `differ` finds what a change does.

    ./millrace bench differences [-- --changes 200] [--seconds 30]

Changes one thing in recorded scenarios, each kind of change as often as the others, and searches
for a difference. Changes that provably have no effect are counted apart (`_equivalence`); any
other one that was not found counts as missed. Then each scenario is reworded in several ways, none
of which may give a difference.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from millrace_compiler import Analyzer
from millrace_runtime.counterexamples.search import Searched, search
from millrace_runtime.errors import MillraceError
from millrace_runtime.testing.sessions import analyzer_of, session

from bench._changes import REWORDINGS, Change, changes
from bench._equivalence import refused, why_equivalent

SCENARIOS = Path(__file__).parents[1] / "tests" / "conformance" / "scenarios"
FOUND, RECORDS = 0.95, 5
#: inputs that a rewording is compared on
REWORDED_INPUTS = 200


def scenarios() -> list[Any]:
    """Return the recorded scenarios that compile and draw no random values."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted(SCENARIOS.glob("*.json"))]
    return [
        each
        for each in found
        # Random values depend on the ids of nodes.
        if each.get("compare") != "refused"
        and not any(name in json.dumps(each["topology"]) for name in ("rand", "uuid("))
    ]


def in_turn(seed: int) -> Iterator[tuple[Any, Change]]:
    """Yield (scenario, change) without end of their kinds: one of each kind in turn."""
    chance = random.Random(seed)  # noqa: S311
    by_kind: dict[str, list[tuple[Any, Change]]] = defaultdict(list)
    for scenario in scenarios():
        for change in changes(scenario["topology"]):
            by_kind[change.kind].append((scenario, change))
    for each in by_kind.values():
        chance.shuffle(each)
    while any(by_kind.values()):
        for kind in sorted(by_kind):
            if by_kind[kind]:
                yield by_kind[kind].pop()


class Tally:
    """What the searches found, by kind of change."""

    def __init__(self) -> None:
        self.found: dict[str, list[Searched]] = defaultdict(list)
        self.missed: Counter[str] = Counter()
        self.equivalent: list[str] = []

    @property
    def counted(self) -> int:
        """The number of changes with an effect."""
        return sum(map(len, self.found.values())) + self.missed.total()

    def lines(self) -> Iterator[str]:
        """Yield a line for each kind, and one for all."""
        for kind in sorted({*self.found, *self.missed}):
            yield self._line(kind, self.found[kind], self.missed[kind])
        everything = [each for kind in self.found.values() for each in kind]
        yield self._line("all", everything, self.missed.total())

    @staticmethod
    def _line(kind: str, found: list[Searched], missed: int) -> str:
        line = f"{kind:<12} {len(found):>4} found {missed:>3} missed"
        if not found:
            return line
        sizes = [len(each.found.inputs) for each in found if each.found]
        times = sorted(each.seconds for each in found)
        return (
            f"{line}  records: median {statistics.median(sizes):g}, at most {max(sizes)}, "
            f"{sum(size > RECORDS for size in sizes)} over {RECORDS}; seconds: median "
            f"{statistics.median(times):.2f}, 95 % {times[int(len(times) * 0.95)]:.2f}, "
            f"at most {times[-1]:.2f}"
        )


def main() -> int:
    """Print counts. Return 1 if fewer are found, or more records needed, than the goal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--kind", help="only changes of this kind")
    parser.add_argument("--rewordings", type=int, default=200)
    asked = parser.parse_args()
    spark = session()
    analyzer = analyzer_of(spark)
    tally = Tally()
    for scenario, change in in_turn(asked.seed):
        if tally.counted >= asked.changes:
            break
        if asked.kind not in (None, change.kind) or refused(analyzer, change.document):
            continue
        if reason := why_equivalent(analyzer, scenario, change):
            tally.equivalent.append(f"{scenario['id']}: {change.what} ({reason})")
            continue
        try:
            searched = search(
                spark, analyzer, scenario["topology"], change.document, seconds=asked.seconds
            )
        except MillraceError:
            continue  # a node of one version does not start, which shows it at once
        if searched.found:
            tally.found[change.kind].append(searched)
            size = len(searched.found.inputs)
            how = f"{size} records, {searched.inputs} inputs, {searched.seconds:.2f} s"
            print(f"found   {change.kind}  {scenario['id']}: {change.what} ({how})", flush=True)
        else:
            tally.missed[change.kind] += 1
            what = f"{scenario['id']}: {change.what} ({searched.inputs} inputs)"
            print(f"missed  {change.kind}  {what}", flush=True)
    print(*tally.lines(), sep="\n", flush=True)
    print(f"equivalent, not counted: {len(tally.equivalent)}", *tally.equivalent, sep="\n  ")
    false = reworded(spark, analyzer, asked)
    everything = [each for kind in tally.found.values() for each in kind]
    short = sum(len(each.found.inputs) <= RECORDS for each in everything if each.found)
    return 0 if short >= FOUND * tally.counted and not false else 1


def reworded(spark: Any, analyzer: Analyzer, asked: argparse.Namespace) -> int:
    """Compare scenarios with rewordings of them; return the number of differences."""
    pairs = [
        (scenario, name, made)
        for scenario in scenarios()
        for name, reword in REWORDINGS.items()
        if (made := reword(scenario["topology"])) != scenario["topology"]
    ]
    random.Random(asked.seed).shuffle(pairs)  # noqa: S311
    compared, false, inputs = 0, 0, 0
    for scenario, name, made in pairs:
        if compared == asked.rewordings:
            break
        if refused(analyzer, made):
            continue
        searched = search(
            spark, analyzer, scenario["topology"], made, seconds=asked.seconds, most=REWORDED_INPUTS
        )
        compared, inputs = compared + 1, inputs + searched.inputs
        if searched.found:
            false += 1
            print(f"false   {scenario['id']}: {name} {searched.found.inputs}", flush=True)
    print(f"rewordings: {false} differences in {compared}, on {inputs:,} inputs")
    return false


if __name__ == "__main__":
    sys.exit(main())
