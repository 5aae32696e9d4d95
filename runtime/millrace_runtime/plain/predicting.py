"""Whether the codes that the plain dialect announced explain the differences from Kafka Streams.

Some codes explain only one aspect: times of writing, headers, numbers of dropped records, the order
within one micro-batch, updates that a later one replaced. Others change which records are written.
A result that differs in an aspect that no announced code explains is *wrong*.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection
from typing import Any, Literal

from millrace_model.records import OutputLine
from millrace_model.scenarios import Scenario, ScenarioResult

from millrace_runtime.results.comparing import compared
from millrace_runtime.results.differences import Difference

Verdict = Literal["equal", "predicted", "refused", "wrong"]
VERDICTS: tuple[Verdict, ...] = ("equal", "predicted", "refused", "wrong")

#: Codes that announce other records, or none.
RECORDS = frozenset(
    {
        "plain_late", "plain_session_final", "plain_outer_results", "plain_aggregate_null",
        "plain_table_now", "plain_null_array", "plain_processing_handler", "plain_processor_fields",
        "plain_stream_time", "plain_first_update", "plain_fold_order",
    }
)  # fmt: skip
#: Of these, codes about several records of a micro-batch: no explanation if each has its own.
TOGETHER = frozenset({"plain_table_now"})
#: Codes that announce that only the last result of a key in a micro-batch is the same.
LAST = frozenset({"plain_updates", "plain_sides"})
#: Codes that announce another time, no headers, or another place in the micro-batch.
TIMESTAMP = frozenset({"plain_sink_timestamp"})
HEADERS = frozenset({"plain_headers"})
ORDER = frozenset({"plain_order"})
#: Codes that announce rows that are written again without a change.
REPEATED = frozenset({"plain_unchanged"})
#: Codes that announce what is left of a micro-batch with a record that fails.
FAILED = frozenset({"plain_failed_batch"})
#: Codes that announce that dropped records are not counted.
UNCOUNTED = frozenset({"plain_drops", "plain_late", "plain_null_array"})


def verdict(scenario: Scenario, result: ScenarioResult, cut: str) -> Verdict:
    """Return the verdict on a result of the plain dialect, compared with Kafka Streams."""
    if (result.get("error") or {}).get("kind") == "refused":
        return "refused"
    codes = {each["code"] for each in result.get("differences") or []}
    if result.get("error") and not _may_fail(scenario, result, codes):
        return "wrong"
    if not unexplained(scenario, result, cut, ()):
        return "equal"
    return "wrong" if unexplained(scenario, result, cut, codes) else "predicted"


def unexplained(
    scenario: Scenario, result: ScenarioResult, cut: str, codes: Collection[str]
) -> list[Difference]:
    """Return the differences that none of the codes explains."""
    expected, found = copy.deepcopy(scenario), copy.deepcopy(result)
    wanted = expected["expected"]
    wanted.pop("stores", None)
    if TIMESTAMP.intersection(codes):
        _without(wanted, found, "timestamp")
    if HEADERS.intersection(codes):
        _without(wanted, found, "headers")
    if UNCOUNTED.intersection(codes):
        wanted["dropped"] = None
    if FAILED.intersection(codes) and wanted.get("error") and found.get("error"):
        wanted["outputs"] = found["outputs"] = []
        if cut != "each":
            # The micro-batch failed as a whole, whichever line was the cause.
            wanted["error"].pop("after", None)
            found["error"].pop("after", None)
    if cut != "each" and LAST.intersection(codes) and expected.get("compare") != "last_per_key":
        expected["compare"] = "last_per_key"
        _without_deletes_alone(wanted, found)
    if REPEATED.intersection(codes):
        _without_repeats(wanted)
        _without_repeats(found)
    if cut == "each" and LAST.intersection(codes):
        _last_of_each_line(wanted)
        _last_of_each_line(found)
    left = compared(expected, found, cut)
    if left and ORDER.intersection(codes):
        _sort(wanted, cut)
        _sort(found, cut)
        left = compared(expected, found, cut)
    elsewhere = RECORDS - TOGETHER if cut == "each" else RECORDS
    return [] if elsewhere.intersection(codes) else left


def _may_fail(scenario: Scenario, result: ScenarioResult, codes: Collection[str]) -> bool:
    """Whether a record may stop the program: as in Kafka Streams, or as announced."""
    stopped = result["error"].get("kind") == "stopped"
    wanted = scenario["expected"].get("error")
    return stopped and bool(wanted or "plain_processing_handler" in codes)


def _without(
    wanted: ScenarioResult, found: ScenarioResult, name: Literal["timestamp", "headers"]
) -> None:
    for outputs in (wanted.get("outputs") or [], found.get("outputs") or []):
        for output in outputs:
            output.pop(name, None)


def _last_of_each_line(side: ScenarioResult) -> None:
    """Keep the last update of each key and line, since a line is a micro-batch."""
    last = {
        (output.get("after"), output["topic"], json.dumps(output["key"], sort_keys=True)): output
        for output in side.get("outputs") or []
    }
    side["outputs"] = list(last.values())


def _without_deletes_alone(wanted: ScenarioResult, found: ScenarioResult) -> None:
    """Remove keys that end with a delete on one side, and do not occur on the other."""
    sides = [side.get("outputs") or [] for side in (wanted, found)]
    last = [{_place(output): output["value"] for output in outputs} for outputs in sides]
    for side, outputs, here, there in zip((wanted, found), sides, last, last[::-1], strict=True):
        side["outputs"] = [
            output
            for output in outputs
            if _place(output) in there or here[_place(output)] is not None
        ]


def _place(output: OutputLine) -> tuple[str, str]:
    return output["topic"], json.dumps(output["key"], sort_keys=True)


def _without_repeats(side: ScenarioResult) -> None:
    """Remove outputs that repeat the value of their key."""
    rows: dict[tuple[str, str], Any] = {}
    kept = []
    for output in side.get("outputs") or []:
        place = _place(output)
        if rows.get(place) != output["value"]:
            kept.append(output)
        rows[place] = output["value"]
    side["outputs"] = kept


def _sort(side: ScenarioResult, cut: str) -> None:
    """Sort the records of each micro-batch, so that their order does not matter."""

    def place(output: OutputLine) -> tuple[Any, str]:
        record = {name: value for name, value in output.items() if name != "after"}
        line = output.get("after", 0) if cut == "each" else 0
        return line, json.dumps(record, sort_keys=True)

    side["outputs"] = sorted(side.get("outputs") or [], key=place)
