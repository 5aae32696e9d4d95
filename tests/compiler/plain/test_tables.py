"""Plain steps with state: the program's own classes, run by pyspark's tester of state.

Each line is a micro-batch. The output is compared with that of Kafka Streams in the recorded
scenario, including timestamps, which no Spark sink can write.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from millrace_runtime.plain.simulation import module_of
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from tests.compiler.kit import document, node, sink, stream, table
from tests.compiler.plain.test_processors import SCENARIOS, codes
from tests.compiler.plain.test_programs import plain, program


def recorded(name: str) -> Any:
    found: Any = json.loads((SCENARIOS / f"{name}.json").read_text("utf-8"))
    return found


def outputs(scenario: Any, number: int) -> Iterator[tuple[Any, Any, int]]:
    """Yield key, value and timestamp of each output of Kafka Streams after a line."""
    for each in scenario["expected"]["outputs"]:
        if each["after"] == number:
            yield each["key"], each["value"], each["timestamp"]


def parameters(scenario: Any, kind: str) -> Any:
    [found] = [each for each in scenario["topology"]["nodes"] if each["kind"] == kind]
    params: Any = found["params"]
    return params


@pytest.mark.parametrize("name", ["D10", "D11", "D12", "D14a"])
def test_a_table_join_gives_every_change_of_kafka_streams(name: str) -> None:
    scenario = recorded(name)
    how = parameters(scenario, "join.table_table")["type"]
    job = module_of(program(scenario["topology"]))
    tester = TwsTester(job.TableJoin(how, "STRING", "STRING"))
    for number, line in enumerate(scenario["inputs"], 1):
        side = {"L": "left", "R": "right"}[line["topic"]]
        values = {"left": None, "right": None, side: line["value"]}
        row = Row(side=side, key=line["key"], timestamp=line["timestamp"], topic=line["topic"],
                  partition=0, offset=number, **values)  # fmt: skip
        found = [
            (each.key, _joined(how, each.left, each.right), each.timestamp)
            for each in tester.test(line["key"], [row])
        ]
        assert found == list(outputs(scenario, number)), line


@pytest.mark.parametrize(
    ("topic", "options"),
    [("out1", {"limit": 5}), ("out2", {"limit": 3_600_000, "most": 2}), ("out3", {"limit": 0})],
)
def test_an_update_is_held_back_and_comes_when_kafka_streams_gives_it(
    topic: str, options: Any
) -> None:
    path = SCENARIOS.parent / "semantics" / "updates-held-back.json"
    scenario: Any = json.loads(path.read_text("utf-8"))
    expected = scenario["expected"]
    expected["outputs"] = [each for each in expected["outputs"] if each["topic"] == topic]
    job = module_of(program(scenario["topology"]))
    tester = TwsTester(job.Suppress(key="STRING", value="STRING", **options))
    for number, line in enumerate(scenario["inputs"], 1):
        if line["topic"] == "t" and line["key"] is not None:
            row = Row(key=line["key"], value=line["value"], timestamp=line["timestamp"],
                      topic="t", partition=0, offset=number)  # fmt: skip
            found = [(each.key, each.value, each.timestamp) for each in tester.test(0, [row])]
            assert found == list(outputs(scenario, number)), line


def _joined(how: str, left: str | None, right: str | None) -> str | None:
    exists = {"inner": left and right, "left": left, "outer": left or right}[how]
    return f"{left or 'null'}-{right or 'null'}" if exists else None


@pytest.mark.parametrize("name", ["F01a", "F03", "F50", "F51"])
def test_sliding_windows_have_the_contents_of_kafka_streams(name: str) -> None:
    scenario = recorded(name)
    [aggregation] = [
        each for each in scenario["topology"]["nodes"] if each["kind"] in ("aggregate", "count")
    ]
    window = aggregation["params"]["window"]
    behind = window["difference"] + window["grace"] + 1
    job = module_of(program(scenario["topology"]))
    tester = TwsTester(
        job.SlidingWindows(window["difference"], "STRING"),
        timeMode="EventTime",
        eventTimeExtractor=lambda row: row.time,
    )
    watermark = 0
    for number, line in enumerate(scenario["inputs"], 1):
        row = Row(**line | {"time": line["timestamp"], "offset": number, "partition": 0})
        if line["key"] is None or line["value"] is None:
            continue
        found = {
            (each.start, "+".join(["0", *each.records]), each.timestamp)
            if aggregation["kind"] == "aggregate"
            else (each.start, len(each.records), each.timestamp)
            for each in tester.test(line["key"], [row])
        }
        wanted = {
            (key["window"]["start"], value, time) for key, value, time in outputs(scenario, number)
        }
        assert found == wanted, line
        if line["timestamp"] - behind > watermark:
            watermark = line["timestamp"] - behind
            assert tester.setWatermark(watermark) == []


def test_closed_sliding_windows_come_once_and_their_records_go() -> None:
    window = {"type": "sliding", "difference": 10, "grace": 0}
    raw = document([stream(), node("n", "count", window=window, emit="window_close"), sink()],
                   ["in > n", "n > out"])  # fmt: skip
    job = module_of(program(raw))
    tester = TwsTester(
        job.SlidingWindows(10, "STRING", final=True),
        timeMode="EventTime",
        eventTimeExtractor=lambda row: row.time,
    )
    batch = [
        Row(key="k", value=value, time=time, timestamp=time, offset=number, partition=0, topic="in")
        for number, (value, time) in enumerate([("a", 20), ("b", 25), ("c", 25)])
    ]
    assert tester.test("k", batch) == []
    assert [(each.start, each.records) for each in tester.setWatermark(16)] == [
        (10, ["a"]), (15, ["a", "b", "c"]),
    ]  # fmt: skip
    assert [(each.start, each.records) for each in tester.setWatermark(30)] == [(21, ["b", "c"])]
    assert tester.peekMapState("records", "k") == {}


def test_a_change_takes_the_row_before_out_of_its_group() -> None:
    raw = document(
        [table(), node("n", "count", group_by={"key": "value", "value": "value"}), sink()],
        ["table > n", "n > out"],
    )
    tester = TwsTester(module_of(program(raw)).TableChanges("STRING"))
    values = ["a", "b", None, None, "c"]
    batch = [
        Row(key="k", value=value, timestamp=number, offset=number, partition=0, topic="table")
        for number, value in enumerate(values)
    ]
    found = [(each.value, each.sign) for each in tester.test("k", batch[::-1])]
    assert found == [("a", 1), ("a", -1), ("b", 1), ("b", -1), ("c", 1)]


class ForeignKeys:
    """`References` followed by `ForeignKeyJoin`, as in the query."""

    def __init__(self, how: str) -> None:
        raw = document(
            [table("left"), table("right"), sink(),
             node("n", "join.foreign_key", type=how, foreign_key="value", joiner="left")],
            ["left > n.left", "right > n.right", "n > out"],
        )  # fmt: skip
        job = module_of(program(raw))
        self.references = TwsTester(job.References(how, "STRING"))
        self.join = TwsTester(job.ForeignKeyJoin("STRING", "STRING", "STRING"))
        self.offset = 0

    def test(self, *changes: tuple[str, str, str | None]) -> Any:
        """Run a micro-batch of (side, key, value) and return the resulting rows by key."""
        left: dict[str, list[Row]] = defaultdict(list)
        by_foreign_key: dict[str | None, list[Row]] = defaultdict(list)
        for side, key, value in changes:
            self.offset += 1
            at = {"timestamp": self.offset, "offset": self.offset, "partition": 0, "topic": side}
            if side == "left":
                reference = value[0] if value and value != "none" else None
                left[key].append(Row(key=key, left=value, foreign_key=reference, **at))
            else:
                right = Row(foreign_key=key, right=value, key=None, left=None, answer=None, **at)
                by_foreign_key[key].append(right)
        for key, rows in left.items():
            for row in self.references.test(key, rows):
                by_foreign_key[row.foreign_key].append(row)
        found = [row for key, rows in by_foreign_key.items() for row in self.join.test(key, rows)]
        keys = [row.key for row in found]
        assert len(keys) == len(set(keys)), "one row of a key in a micro-batch"
        return {row.key: (row.left, row.right) for row in found}


def test_rows_of_several_partitions_come_by_their_timestamps() -> None:
    raw = document(
        [table(), node("n", "count", group_by={"key": "value", "value": "value"}), sink()],
        ["table > n", "n > out"],
    )
    tester = TwsTester(module_of(program(raw)).TableChanges("STRING"))
    batch = [
        Row(key="k", value=value, timestamp=time, offset=offset, partition=partition, topic="table")
        for value, time, offset, partition in [("late", 9, 3, 0), ("soon", 4, 8, 1)]
    ]
    assert [each.value for each in tester.test("k", batch) if each.sign > 0] == ["soon", "late"]


def test_a_row_moves_from_one_foreign_key_to_another() -> None:
    inner = ForeignKeys("inner")
    assert inner.test(("left", "1", "x")) == {}
    assert inner.test(("right", "x", "X")) == {"1": ("x", "X")}
    assert inner.test(("left", "2", "xx"), ("right", "y", "Y")) == {"2": ("xx", "X")}
    assert inner.test(("left", "1", "y")) == {"1": ("y", "Y")}
    assert inner.test(("right", "x", "X2")) == {"2": ("xx", "X2")}
    assert inner.test(("left", "1", "z")) == {"1": ("z", None)}
    assert inner.test(("left", "2", None)) == {"2": (None, "X2")}
    assert inner.test(("right", "x", None), ("left", "1", "x")) == {"1": ("x", None)}


def test_a_left_join_answers_every_change() -> None:
    left = ForeignKeys("left")
    assert left.test(("left", "1", "x")) == {"1": ("x", None)}
    assert left.test(("left", "1", "y"), ("left", "1", "x"), ("right", "x", "X")) == {
        "1": ("x", "X")
    }
    assert left.test(("left", "1", "none"), ("left", "1", "y")) == {"1": ("y", None)}
    assert left.test(("left", "1", "none")) == {"1": ("none", None)}
    assert left.test(("left", "1", "x"), ("left", "1", "none")) == {"1": ("none", None)}
    assert left.test(("left", "1", None)) == {"1": (None, None)}
    assert left.test(("left", "1", None)) == {}


def _join(right: str, **params: Any) -> Any:
    return document(
        [
            table("a"),
            table("b"),
            node("n", "join.table_table", **{"joiner": "left", **params}),
            sink(),
        ],
        ["a > n.left", f"{right} > n.right", "n > out"],
    )


def test_sides_that_follow_from_the_same_records_are_announced() -> None:
    assert "plain_sides" in codes(_join("a"))
    assert "plain_sides" not in codes(_join("b"))


def test_the_first_update_of_a_computed_table_is_announced() -> None:
    by_value = {"key": "value", "value": "value"}
    raw = document(
        [stream(), node("c", "count"), node("n", "count", group_by=by_value), sink()],
        ["in > c", "c > n", "n > out"],
    )
    assert "plain_first_update" in codes(raw)
    raw["nodes"][1] = node("c", "reduce", reducer="value")
    assert "plain_first_update" not in codes(raw)


def test_a_joiner_that_reads_the_time_is_refused() -> None:
    made = plain(_join("b", joiner="concat(left, timestamp)"))
    errors = [each for each in made.diagnostics if each.severity == "error"]
    assert [(each.code, each.parameter) for each in errors] == [("plain_column", "joiner")]
    assert plain(_join("b", joiner="named_struct('timestamp', left.timestamp)")).ok
