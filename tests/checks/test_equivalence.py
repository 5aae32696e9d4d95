"""The benchmark of searches leaves out a change only if it provably has no effect."""

from __future__ import annotations

import copy
import json
from typing import Any

from bench._equivalence import closed_at_once, dropped_later
from launcher import places

SCENARIOS = places.REPOSITORY / "tests" / "conformance" / "scenarios"


def scenario(predicate: str = "value.user_address = value.item_address") -> Any:
    """Return purchases with a filter of known users, and a later filter with a predicate."""
    found = json.loads((SCENARIOS / "N04a.json").read_text("utf-8"))["topology"]
    node(found, "same-place")["params"]["predicate"] = predicate
    return found


def node(document: Any, wanted: str) -> Any:
    return next(each for each in document["nodes"] if each["id"] == wanted)


def without(document: Any, filter_: str) -> Any:
    made = copy.deepcopy(document)
    node(made, filter_)["params"]["predicate"] = "true"
    return made


def test_a_filter_has_no_effect_if_a_later_one_drops_the_same() -> None:
    old = scenario()
    assert dropped_later(old, without(old, "known-user"))


def test_a_filter_has_one_if_its_records_arrive_or_move_a_clock() -> None:
    old = scenario()
    assert not dropped_later(old, without(old, "same-place"))
    for predicate in ("value.item_address IS NOT NULL", "value.user_address IS NULL"):
        other = scenario(predicate)
        assert not dropped_later(other, without(other, "known-user"))
    # Without a repartition topic, the windows close by the stream time of the same task.
    timed = scenario()
    node(timed, "per-hour")["params"]["group_by"] = {"key": "key"}
    assert not dropped_later(timed, without(timed, "known-user"))


def test_windows_that_no_record_is_in_are_emitted_never() -> None:
    old = json.loads((SCENARIOS / "N07am.json").read_text("utf-8"))["topology"]
    new = copy.deepcopy(old)
    node(new, "count")["params"]["emit"] = "window_close"
    assert closed_at_once(old, new)
    for each in (old, new):
        node(each, "count")["params"]["window"]["grace"] = 1
    assert not closed_at_once(old, new)
