"""A processor under test without a topology: forwards, schedules, commits and stores by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest
from millrace_runtime import (
    WALL_CLOCK_TIME,
    Record,
    key_value_store,
    session_store,
    versioned_store,
    window_store,
)
from millrace_runtime.testing import MockProcessorContext
from millrace_runtime.testing.memory_stores import memory_store

from tests.testing.programs import Reminder, open_store


def test_a_schedule_runs_by_hand() -> None:
    context = MockProcessorContext(stores=[open_store()])
    processor = Reminder()
    processor.init(context)
    processor.process(Record("b", "x", 1))
    processor.process(Record("a", "x", 2))
    assert context.forwarded() == []
    [schedule] = context.scheduled_punctuators()
    assert (schedule.interval, schedule.type) == (10_000, WALL_CLOCK_TIME)
    assert schedule.start_time is None
    context.schedule("1 hour", WALL_CLOCK_TIME, print, start_time=5)
    assert context.scheduled_punctuators()[-1].start_time == 5
    schedule.punctuator(77)
    assert [each.record for each in context.forwarded()] == [Record("a", 1, 77), Record("b", 1, 77)]
    context.reset_forwards()
    assert context.forwarded() == []
    assert context.store("open").get("a") == 1


def test_the_context_has_what_the_test_sets() -> None:
    context = MockProcessorContext(task_id="1_2")
    assert context.offset == -1
    context.set_record_metadata("orders", 2, 41)
    context.set_current_stream_time(10)
    context.set_current_system_time(20)
    assert (context.topic, context.partition, context.offset) == ("orders", 2, 41)
    assert (context.current_stream_time(), context.current_system_time()) == (10, 20)
    assert context.processing_time() == 20
    drawn = context.random().random()
    assert context.random().random() != drawn, "one call of process continues"
    context.set_record_metadata("orders", 2, 42)
    assert context.random().random() != drawn
    context.set_record_metadata("orders", 2, 41)
    assert context.random().random() == drawn, "the record is processed again"
    assert context.task_id == "1_2"
    assert not context.committed()
    context.commit()
    assert context.committed()
    context.reset_commit()
    assert not context.committed()
    context.forward(Record("k", 1, 0), "late")
    context.forward(Record("k", 2, 0))
    assert [each.record.value for each in context.forwarded("late")] == [1, 2]
    assert [each.record.value for each in context.forwarded("other")] == [2]


def test_a_canceled_schedule_is_marked() -> None:
    context = MockProcessorContext()
    schedule = context.schedule("1 second", WALL_CLOCK_TIME, print)
    schedule.cancel()
    assert [each.cancelled for each in context.scheduled_punctuators()] == [True]


def test_an_unknown_store_is_named() -> None:
    with pytest.raises(KeyError, match="no store 'open'"):
        MockProcessorContext().store("open")
    context = MockProcessorContext()
    assert context.add_state_store(open_store()) is context.store("open")


def test_a_store_keeps_a_copy_of_a_value() -> None:
    store: Any = memory_store(open_store())
    value = {"n": 1}
    store.put("a", value)
    value["n"] = 2
    assert store.get("a") == {"n": 1}


def test_structs_of_a_store_have_their_fields_as_attributes() -> None:
    kind = "STRUCT<name: STRING, lines: ARRAY<STRUCT<n: INT>>>"
    store: Any = memory_store(key_value_store("s", key_type="STRING", value_type=kind))
    store.put("a", {"name": "x", "lines": [{"n": 1}]})
    found = store.get("a")
    assert (found.name, found.lines[0].n) == ("x", 1)
    changed = found.copy() | {"name": "y"}
    assert (changed.name, changed.lines[0].n) == ("y", 1)
    windows: Any = memory_store(session_store("s", retention="1 minute", **TYPES))
    windows.put("a", 1, 5, 7)
    [(session, _)] = windows.fetch("a")
    assert (session.key, session.window.start, session.window.end) == ("a", 1, 5)


TYPES: Any = {"key_type": "STRING", "value_type": "BIGINT"}
KINDS = {
    "key_value": lambda: key_value_store("s", **TYPES),
    "window": lambda: window_store("s", retention="2 minutes", window_size="1 minute", **TYPES),
    "window in memory": lambda: window_store(
        "s", retention="2 minutes", window_size="1 minute", persistent=False, **TYPES
    ),
    "duplicates": lambda: window_store(
        "s", retention="2 minutes", window_size="1 minute", retain_duplicates=True, **TYPES
    ),
    "session": lambda: session_store("s", retention="2 minutes", **TYPES),
    "versioned": lambda: versioned_store("s", history_retention="2 minutes", **TYPES),
}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_in_memory_answers_as_that_of_the_operator(
    kind: str, topology_test_driver: Any
) -> None:
    from millrace_runtime import Topology, string

    from tests.testing.programs import Silent

    topology = Topology("compared")
    rows = topology.stream("rows", key=string(), value=string())
    rows.process(Silent, stores=[KINDS[kind]()], name="silent")
    real = topology_test_driver(topology).store("s")
    mock = memory_store(KINDS[kind]())
    draw = random.Random(kind)
    now = 0
    for _ in range(250):
        now += draw.choice([0, 0, 1_000, 20_000])
        name, given = operation(kind, draw, now)
        answers = [getattr(store, name)(*given) for store in (real, mock)]
        first, second = (list(each) if hasattr(each, "__next__") else each for each in answers)
        assert second == first, (name, given)


def operation(kind: str, draw: random.Random, now: int) -> tuple[str, tuple[Any, ...]]:
    """Return a random operation of a store and its arguments."""
    key, value = draw.choice(["a", "ab", "b", "ä"]), draw.choice([None, 1, 2, 3])
    at = max(0, now - draw.choice([0, 0, 5_000, 60_000, 130_000, 400_000]))
    if kind == "key_value":
        calls: list[tuple[str, tuple[Any, ...]]] = [
            ("put", (key, value)), ("put", (key, value)), ("get", (key,)), ("delete", (key,)),
            ("put_if_absent", (key, 7)), ("all", ()), ("range", ("ab", None)),
            ("reverse_range", (None, "b")), ("prefix_scan", ("a",)),
            ("approximate_num_entries", ()),
        ]  # fmt: skip
    elif kind == "session":
        start = max(0, at - draw.choice([0, 3_000]))
        calls = [
            ("put", (key, start, at, value)), ("put", (key, start, at, value)),
            ("remove", (key, start, at)), ("fetch", (key,)),
            ("find_sessions", (key, max(0, at - 20_000), at)),
        ]  # fmt: skip
    elif kind == "versioned":
        calls = [
            ("put", (key, value, at)), ("put", (key, value, at)), ("get", (key,)),
            ("get", (key, at)), ("delete", (key, at)),
        ]  # fmt: skip
    else:
        calls = [
            ("put", (key, value, at)), ("put", (key, value, at)), ("fetch", (key, at)),
            ("fetch", (key, max(0, at - 90_000), at)), ("all", ()),
            ("backward_fetch", (key, 0, now)), ("fetch_all", (max(0, at - 70_000), now)),
        ]  # fmt: skip
    return draw.choice(calls)
