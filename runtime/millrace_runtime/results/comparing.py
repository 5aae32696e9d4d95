"""Differences between the results that a scenario expects and those of a run.

The values of a scenario's `compare`: `sequence` (per topic the exact sequence of records),
`set_per_input` (records of one input line in any order), `last_per_key`, `refused`, `describe`.
Missing fields are null, and 2 equals 2.0.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, TypeAlias, cast

from millrace_model.documents import TopologyDocument
from millrace_model.records import OutputLine, StoreEntry
from millrace_model.scenarios import Described, Expected, Scenario, ScenarioResult

from millrace_runtime.results.differences import Difference

#: fields of an expected record that are compared only if every expected record has them
OPTIONAL = ("after", "timestamp")


def differences(scenario: Scenario, result: ScenarioResult, cut: str) -> list[str]:
    """Return a sentence for each difference; empty if the result is as expected."""
    return [str(each) for each in compared(scenario, result, cut)]


def compared(scenario: Scenario, result: ScenarioResult, cut: str) -> list[Difference]:
    """Return the differences as data.

    `cut`: the input line that caused an output is compared only with `each`.
    """
    return list(_differences(scenario, result, caused=cut == "each"))


def compared_as_test(test: Scenario, result: ScenarioResult, cut: str) -> list[Difference]:
    """Like `compared`, but without the parts that the test's `expected` omits.

    The records of a topic with conditions are omitted as well, if `outputs` has none of them.
    """
    return compared(test, _narrowed(result, test["expected"]), cut)


def _narrowed(result: ScenarioResult, expected: Expected) -> ScenarioResult:
    """Return the result without omitted parts: all outputs, or some of their optional fields."""
    if "outputs" not in result or result.get("error"):
        return result
    rows = expected.get("outputs")
    if rows is None:
        return {**result, "outputs": []}
    dropped = [name for name in OPTIONAL if not all(name in row for row in rows)]
    judged = {each.get("topic") for each in expected.get("conditions") or ()}
    apart = judged - {row["topic"] for row in rows}
    kept = [
        cast(OutputLine, {k: v for k, v in row.items() if k not in dropped})
        for row in result["outputs"]
        if row["topic"] not in apart
    ]
    return {**result, "outputs": kept}


def _differences(
    scenario: Scenario, result: ScenarioResult, *, caused: bool
) -> Iterator[Difference]:
    expected = scenario["expected"]
    mode = scenario.get("compare", "sequence")
    wanted, found = expected.get("error"), result.get("error")
    if mode == "refused" or (wanted or {}).get("kind") == "refused":
        if not found:
            yield Difference.of("not_refused")
        elif not found.get("message"):
            yield Difference.of("refused_without_message", found=found)
        return
    if mode == "describe":
        yield from _described(expected, result, scenario["topology"])
        return
    if found and not wanted:
        shown = canonical(
            {**found, **dict.fromkeys(("cause", "diagnostics", "exception", "facts"))}
        )
        yield Difference.of("failed", found=shown)
        return
    if wanted and not found:
        yield Difference.of("not_stopped", after=wanted.get("after"))
    if wanted and found and found.get("after") not in (None, wanted.get("after")):
        yield Difference.of("stopped_elsewhere", after=wanted["after"], found=found["after"])
    if wanted and "outputs" not in result:
        return
    outputs = expected.get("outputs") or [], result.get("outputs") or []
    compare = {"sequence": _sequence, "set_per_input": _sets, "last_per_key": _last}[mode]
    yield from compare(_by_topic(outputs[0]), _by_topic(outputs[1]), caused)
    if wanted:
        return
    if expected.get("dropped") is not None and expected["dropped"] != result.get("dropped"):
        found = result.get("dropped")
        yield Difference.of("dropped", expected=expected["dropped"], found=found)
    yield from _stores(expected.get("stores") or {}, result.get("stores") or {})


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        whole = math.isfinite(value) and value == int(value)
        return int(value) if whole else float(f"{value:.12g}")
    return value


def canonical(value: Any) -> str:
    """Return the same text for equal values: missing fields are null, and 2 equals 2.0."""
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _shown(record: OutputLine, *, caused: bool) -> str:
    names = ["key", "value", "timestamp", "headers"] + (["after"] if caused else [])
    return canonical({name: record.get(name) or None if name == "headers" else record.get(name)
                  for name in names})  # fmt: skip


def _by_topic(outputs: Iterable[OutputLine]) -> Topics:
    topics: Topics = defaultdict(list)
    for output in outputs:
        topics[output["topic"]].append(output)
    return topics


Topics: TypeAlias = dict[str, list[OutputLine]]
Stores: TypeAlias = dict[str, list[StoreEntry]]


def _sequence(want: Topics, got: Topics, caused: bool) -> Iterator[Difference]:
    for topic in sorted({*want, *got}):
        expected = [_shown(each, caused=caused) for each in want.get(topic, [])]
        found = [_shown(each, caused=caused) for each in got.get(topic, [])]
        for place, (first, second) in enumerate(zip_longest(expected, found)):
            at = {"topic": topic, "place": place}
            if second is None:
                yield Difference.of("record_missing", **at, expected=first)
            elif first is None:
                yield Difference.of("record_unexpected", **at, found=second)
            elif first != second:
                yield Difference.of("record_differs", **at, expected=first, found=second)


def _sets(want: Topics, got: Topics, caused: bool) -> Iterator[Difference]:
    for topic in sorted({*want, *got}):
        rest = [_shown(each, caused=caused) for each in got.get(topic, [])]
        groups: dict[int, list[str]] = defaultdict(list)
        for each in want.get(topic, []):
            groups[each["after"]].append(_shown(each, caused=caused))
        for after, group in groups.items():
            here, rest = Counter(rest[: len(group)]), rest[len(group) :]
            for record in (Counter(group) - here).elements():
                yield Difference.of("input_missing", topic=topic, after=after, record=record)
            for record in (here - Counter(group)).elements():
                yield Difference.of("input_unexpected", topic=topic, after=after, record=record)
        for record in rest:
            yield Difference.of("unexpected", topic=topic, record=record)


def _last(want: Topics, got: Topics, caused: bool) -> Iterator[Difference]:
    for topic in sorted({*want, *got}):
        expected = {
            canonical(each["key"]): canonical(each["value"]) for each in want.get(topic, [])
        }
        found = {canonical(each["key"]): canonical(each["value"]) for each in got.get(topic, [])}
        for key in sorted({*expected, *found}):
            first, second = expected.get(key), found.get(key)
            if first != second:
                at = {"topic": topic, "key": key}
                yield Difference.of("last_differs", **at, expected=first, found=second)


def _stores(want: Stores, got: Stores) -> Iterator[Difference]:
    for name, rows in want.items():
        if name not in got:
            yield Difference.of("store_missing", store=name)
            continue
        expected = {canonical(row["key"]): row for row in rows}
        found = {canonical(row["key"]): row for row in got[name]}
        for key in sorted({*expected, *found}):
            yield from _row({"store": name, "key": key}, expected.get(key), found.get(key))


def _row(
    at: dict[str, str], want: StoreEntry | None, got: StoreEntry | None
) -> Iterator[Difference]:
    if want is None or got is None:
        yield Difference.of("row_missing" if got is None else "row_unexpected", **at)
        return
    expected, found = canonical(want.get("value")), canonical(got.get("value"))
    if expected != found:
        yield Difference.of("row_differs", **at, expected=expected, found=found)
    elif want.get("timestamp") is not None and got.get("timestamp") not in (
        None,
        want["timestamp"],
    ):
        times = {"expected": want["timestamp"], "found": got["timestamp"]}
        yield Difference.of("row_timestamp", **at, **times)


def _described(
    want: Described, got: ScenarioResult, topology: TopologyDocument
) -> Iterator[Difference]:
    if got.get("error"):
        yield Difference.of("failed", found=canonical(got["error"]))
        return
    expected, found = Counter(_shape(want, topology)), Counter(_shape(got, topology))
    for shape in (expected - found).elements():
        yield Difference.of("part_missing", part=shape)
    for shape in (found - expected).elements():
        yield Difference.of("part_unexpected", part=shape)


def _shape(described: Described, topology: TopologyDocument) -> list[str]:
    """Return sub-topologies and internal topics without generated names.

    Stores without a store node, and their changelogs, have generated names and are only counted.
    The number of a sub-topology is ignored: Kafka Streams assigns it by the order of its sources'
    names.
    """
    internal = {topic["name"] for topic in described.get("internal_topics", [])}
    named = {
        node["params"].get("name")
        for node in topology["nodes"]
        if node["kind"].startswith("store.")
    }
    changelogs = {f"{name}-changelog" for name in named}
    # With Kafka Streams' own names, its description has no ids of nodes.
    unnamed = (topology.get("settings") or {}).get("names") == "kafka_streams"
    shapes = [
        "sub-topology "
        + canonical(
            {
                "nodes": [] if unnamed else sorted(sub.get("nodes", [])),
                "sources": sorted(sub.get("sources", [])),
                "sinks": sorted(sub.get("sinks", [])),
                "repartition_sources": sum(t in internal for t in sub.get("sources", [])),
                "stores": sorted(store for store in sub.get("stores", []) if store in named),
                "unnamed_stores": sum(store not in named for store in sub.get("stores", [])),
                "tasks": sub.get("tasks"),
            }
        )
        for sub in described.get("subtopologies", [])
    ]
    for topic in described.get("internal_topics", []):
        if topic.get("kind") == "repartition":
            shapes.append(f"repartition topic {topic['name']}: {topic.get('partitions')}")
        else:
            name = topic["name"] if topic["name"] in changelogs else "without a name"
            shapes.append(f"changelog {name}")
    return shapes
