"""How often and how fast `differ` finds what a change does.

    ./millrace bench differences [-- --changes 200] [--seconds 30]

Changes one thing at random in recorded scenarios (a comparison, a number, a text, a duration, a
kind of join, a filter less) and searches for a difference. A change may have no effect, so those
that were not found are listed. Then it renames nodes and puts expressions in parentheses, which
must give no difference.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from millrace_compiler import DocumentError, Refused
from millrace_runtime.counterexamples import Searched, search
from millrace_runtime.errors import MillraceError
from millrace_runtime.testing.sessions import analyzer_of, session

SCENARIOS = Path(__file__).parents[1] / "tests" / "conformance" / "scenarios"
FOUND, RECORDS = 0.95, 5
SWAPS = (
    (" >= ", " > "), (" <= ", " < "), (" > ", " >= "), (" < ", " <= "), (" = ", " != "),
    (" + ", " - "), (" * ", " + "), ("upper(", "lower("), ("concat(", "concat('x', "),
)  # fmt: skip
NUMBER = re.compile(r"(?<![\w'.])\d+(?![\w'.])")
Document = Any


def places(part: Any, kind: type) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) of all values of a type in parameters."""
    if isinstance(part, dict | list):
        for key, each in part.items() if isinstance(part, dict) else enumerate(part):
            if type(each) is kind:
                yield part, key
            else:
                yield from places(each, kind)


def changed(document: Document, chance: random.Random) -> tuple[str, Document] | None:
    """Return a document with one change and its description, or None if there is nothing to do."""
    made = copy.deepcopy(document)
    nodes = [each for each in made["nodes"] if not each["kind"].startswith(("source", "sink"))]
    options: list[tuple[str, Any, Any, Any]] = []
    for node in nodes:
        params = node.get("params") or {}
        for place, key in places(params, str):
            text = place[key]
            options += [
                (f"{text}: {one}→{other}", place, key, text.replace(one, other, 1))
                for one, other in SWAPS
                if one in text
            ]
            options += [
                (f"{text}: {each[0]} + 1", place, key,
                 f"{text[: each.start()]}{int(each[0]) + 1}{text[each.end() :]}")
                for each in NUMBER.finditer(text)
            ]  # fmt: skip
        options += [
            (f"{node['id']}.{key} + 1", place, key, place[key] + 1)
            for place, key in places(params, int)
        ]
    if not options:
        return None
    name, place, key, value = chance.choice(options)
    place[key] = value
    return name, made


def reworded(document: Document) -> Document:
    """Return a document with other names of nodes and parentheses, and the same results."""
    made = copy.deepcopy(document)
    stores = {"store", "stores", "node"}
    for node in made["nodes"]:
        if node["kind"] in ("filter", "filter_not"):
            node["params"]["predicate"] = f"({node['params']['predicate']})"
    text = json.dumps(made)
    for node in document["nodes"]:
        if node["kind"] in ("filter", "map_values") and not stores & set(node.get("params") or ()):
            text = text.replace(f'"{node["id"]}"', f'"{node["id"]}_renamed"')
    renamed: Document = json.loads(text)
    return renamed


def main() -> int:
    """Print counts. Return 1 if fewer are found, or more records needed, than the goal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)  # noqa: S311
    spark = session()
    analyzer = analyzer_of(spark)
    scenarios = [json.loads(path.read_text("utf-8")) for path in sorted(SCENARIOS.glob("*.json"))]
    scenarios = [
        each
        for each in scenarios
        # Random values depend on the ids of nodes.
        if each.get("compare") != "refused" and "rand(" not in json.dumps(each["topology"])
    ]
    found: list[Searched] = []
    unfound: list[str] = []
    false: list[str] = []
    while len(found) + len(unfound) < asked.changes:
        scenario = chance.choice(scenarios)
        change = changed(scenario["topology"], chance)
        if change is None:
            continue
        try:
            searched = search(
                spark, analyzer, scenario["topology"], change[1], seconds=asked.seconds
            )
            same = search(
                spark, analyzer, scenario["topology"], reworded(scenario["topology"]),
                seconds=asked.seconds, most=20,
            )  # fmt: skip
        except (MillraceError, Refused, DocumentError):
            continue  # the change is refused, which shows it at once
        if same.found:
            false.append(scenario["id"])
        if searched.found:
            found.append(searched)
        else:
            unfound.append(f"{scenario['id']}: {change[0]} ({searched.inputs} inputs)")
            print(f"not found  {unfound[-1]}", flush=True)
    sizes = [len(each.found.inputs) for each in found if each.found]
    times = sorted(each.seconds for each in found)
    print(f"{len(found)} of {asked.changes} changes found ({len(found) / asked.changes:.0%})")
    print(
        f"records: median {statistics.median(sizes)}, at most {max(sizes)}, "
        f"{sum(size <= RECORDS for size in sizes)} with {RECORDS} or fewer; "
        f"seconds: median {statistics.median(times):.2f}, 95 % {times[int(len(times) * 0.95)]:.2f}"
    )
    print(f"other words, same meaning: {len(false)} differences {' '.join(false)}")
    return 0 if len(found) >= FOUND * asked.changes and not false else 1


if __name__ == "__main__":
    sys.exit(main())
