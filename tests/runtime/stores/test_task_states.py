"""A simulation that begins with a deployment's state gives the deployment's next results."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.errors import MillraceError

from tests.compiler.kit import Raw, document, edge, global_table, node, store, stream
from tests.runtime import topics
from tests.runtime.changing import KEYS, Changing, Pair, everything, shown

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

SECOND, BEGIN = 1_000, 1_767_225_600_000
SUMMING = """
class Sum(Processor):
    def init(self, context):
        self.context = context
        self.rows, self.recent = context.store("rows"), context.store("recent")
        self.visits = context.store("visits")
        context.schedule(10_000, STREAM_TIME, self.due)

    def due(self, now):
        self.context.forward(Record("due", str(self.rows.approximate_num_entries()), now))

    def process(self, record):
        total = (self.rows.get(record.key) or 0) + int(record.value)
        self.rows.put(record.key, total)
        at = record.timestamp
        self.recent.put(record.key, total, at)
        self.visits.put(record.key, at, at, total)
        seen = [value for _, value in self.recent.fetch(record.key, at - 20_000, at)]
        visits = [value for _, value in self.visits.find_sessions(record.key, at - 20_000, at)]
        self.context.forward(Record(record.key, f"{total} of {seen} {visits}", at))
"""


def tables(left: Pair, right: Pair, known: Pair) -> Raw:
    """Joins of tables and by foreign key, a versioned and a global table, a processor's stores."""
    text = {"key_type": "STRING", "value_type": "BIGINT"}
    nodes = [
        stream("in", [left.source]),
        stream("others", [right.source]),
        node("amounts", "to_table"),
        node("prices", "to_table"),
        node("both", "join.table_table", type="outer", joiner="concat_ws(' + ', left, right)"),
        node("asked", "join.foreign_key", foreign_key="concat('key-', value % 5)", type="left",
             joiner="concat_ws(' by ', left, right)"),
        node("then", "join.stream_table", grace=5 * SECOND,
             joiner="concat_ws(' at ', left, right)"),
        node("history", "to_table"),
        global_table("known", topic=known.source),
        node("looked", "join.stream_global_table", key="key",
             joiner="concat_ws(' knows ', left, right)", type="left"),
        node("sum", "process", code=SUMMING, class_name="Sum",
             output={"key": "STRING", "value": "STRING"}),
        node("counted", "count"),
        node("slow", "suppress", until="time_limit", limit=8 * SECOND),
        store("versions", "versioned", history_retention=60 * SECOND),
        store("rows", **text),
        store("recent", "window", window_size=SECOND, retention=60 * SECOND, **text),
        store("visits", "session", retention=60 * SECOND, **text),
    ]  # fmt: skip
    wires = ["in > amounts", "others > prices", "amounts > both.left", "prices > both.right",
             "amounts > asked.left", "prices > asked.right", "in > then.left", "others > history",
             "history > then.right", "in > looked.left", "known > looked.right", "in > sum",
             "in > counted", "counted > slow"]  # fmt: skip
    kept = ["versions > history.store", "rows > sum.store", "recent > sum.store",
            "visits > sum.store"]  # fmt: skip
    raw: Any = document(nodes, wires, topics={each.source: 1 for each in (left, right, known)})
    raw["edges"] += [edge(each) for each in kept]
    for name in ("both", "asked", "slow"):
        raw["nodes"].append(node(f"{name}-updates", "to_stream"))
        raw["edges"].append(edge(f"{name} > {name}-updates"))
        shown(raw, f"{name}-updates", name, left)
    for name in ("then", "looked", "sum"):
        shown(raw, name, name, left)
    return raw


def summed(pair: Pair, spread: int | None = None) -> Raw:
    """Sums by key in two tasks; `spread`: the partitions of a repartition before the sum."""
    before = [] if spread is None else [node("spread", "repartition", partitions=spread)]
    steps = [stream("in", [pair.source]), *before,
             node("sum", "aggregate", type="BIGINT", initializer="0L",
                  aggregator="agg + CAST(value AS BIGINT)"),
             node("updates", "to_stream")]  # fmt: skip
    ids = [each["id"] for each in steps]
    edges = [f"{a} > {b}" for a, b in itertools.pairwise(ids)]
    raw = document(steps, edges, topics={pair.source: 2})
    shown(raw, "updates", "sum", pair)
    return raw


def lines_of(pair: Pair, since: Sequence[int], partitions: int) -> tuple[list[Raw], list[int]]:
    """Return input lines for a topic's records from these offsets on, and its end offsets."""
    found = topics.consume(pair.address, pair.source, topics.size(pair.address, pair.source))
    ends = [0] * partitions
    lines: Any = []
    for record in found:
        ends[record.partition()] = max(ends[record.partition()], record.offset() + 1)
        if record.offset() >= since[record.partition()]:
            lines.append(
                {
                    "topic": pair.source,
                    "partition": record.partition(),
                    "offset": record.offset(),
                    "timestamp": record.timestamp()[1],
                    "key_bytes": base64.b64encode(record.key()).decode(),
                    "value_bytes": base64.b64encode(record.value()).decode(),
                }
            )
    return lines, ends


def in_order(lines: list[Raw]) -> list[Raw]:
    return sorted(lines, key=lambda line: (line["timestamp"], line["topic"], line["partition"]))


def begun(changing: Changing, folder: Path, tasks: Sequence[int] | None = None) -> Any:
    """Return the initial state of a simulation after the last batch, as sent over a pipe."""
    from millrace_runtime.stores.task_states import Begun, read_batches, read_task_states

    location = changing.location(folder)
    batch: Any = read_batches(location)["batches"][-1]["batch"]
    found = read_task_states(changing.spark, location, batch, tasks)
    return Begun(json.loads(json.dumps(found)))


def simulated(changing: Changing, raw: Raw, lines: Any, begins: Any) -> Any:
    from millrace_compiler import compile_document
    from millrace_runtime.simulator.memory import TraceLimits
    from millrace_runtime.simulator.process import run

    graph = compile_document(raw, changing.analyzer).require_task_graph()
    return run(changing.spark, raw, graph, lines, TraceLimits(), begun=begins)


def outputs(result: Any) -> list[tuple[str, str]]:
    assert result.error is None
    return sorted((out["key"], json.dumps(json.loads(out["value"]))) for out in result.outputs)


@pytest.mark.parametrize(
    ("partitions", "spread"), [(1, None), pytest.param(3, 4, marks=pytest.mark.long)]
)
def test_windows_sessions_joins_and_buffers_go_on_as_in_the_deployment(
    changing: Changing, broker: Any, tmp_path: Path, partitions: int, spread: int | None
) -> None:
    pair = Pair(broker.address, partitions)
    raw = everything(pair, partitions, spread=spread)
    for second in range(8):
        pair.write([(KEYS[n], str(n + second)) for n in range(4)], BEGIN + second * SECOND)
    changing.run(raw, tmp_path)
    pair.new()
    begins = begun(changing, tmp_path)
    _, since = lines_of(pair, [0] * partitions, partitions)
    for second in range(8, 25, 2):
        pair.write([(KEYS[n], str(n + second)) for n in range(4)], BEGIN + second * SECOND)
    lines, _ = lines_of(pair, since, partitions)
    changing.run(raw, tmp_path)
    expected = sorted((key, json.dumps(value)) for key, value in pair.new())
    result = simulated(changing, raw, in_order(lines), begins)
    assert outputs(result) == expected
    assert outputs(simulated(changing, raw, in_order(lines), None)) != expected


def test_tables_foreign_keys_and_stores_go_on_as_in_the_deployment(
    changing: Changing, broker: Any, tmp_path: Path
) -> None:
    left, right, known = (Pair(broker.address) for _ in range(3))
    raw = tables(left, right, known)
    known.write([("key-1", "one")])

    def write(first: int, last: int) -> None:
        for second in range(first, last):
            right.write([(KEYS[second % 5], f"p{second}")], BEGIN + second * SECOND)
            left.write([(KEYS[second % 3], str(second))], BEGIN + second * SECOND + 500)

    write(0, 12)
    changing.run(raw, tmp_path)
    left.new()
    begins = begun(changing, tmp_path)
    _, left_end = lines_of(left, [0], 1)
    _, right_end = lines_of(right, [0], 1)
    write(12, 30)
    lines = lines_of(left, left_end, 1)[0] + lines_of(right, right_end, 1)[0]
    changing.run(raw, tmp_path)
    expected = sorted((key, json.dumps(value)) for key, value in left.new())
    result = simulated(changing, raw, in_order(lines), begins)
    assert outputs(result) == expected
    restored = [step for step in result.trace["steps"] if step["after"] == 0]
    rows = {step["row"]["key"]: step["row"]["value"] for step in restored
            if step["store"] == "rows"}  # fmt: skip
    assert rows == {"key-0": 0 + 3 + 6 + 9, "key-1": 1 + 4 + 7 + 10, "key-2": 2 + 5 + 8 + 11}
    assert {"versions", "rows", "recent", "visits"} <= {step["store"] for step in restored}
    assert not result.trace["stores_truncated"]
    first = next(step for step in result.trace["steps"] if step["after"] > 0)
    assert all(step["seq"] < first["seq"] for step in restored)


def test_states_are_those_of_their_batch_tasks_and_version(
    changing: Changing, broker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from millrace_runtime.stores import task_states

    pair = Pair(broker.address, 2)
    raw = summed(pair)
    location = changing.location(tmp_path)
    for second in range(2):
        pair.write([(key, str(second)) for key in KEYS], BEGIN + second * SECOND)
        changing.run(raw, tmp_path)
    read: Any = task_states.read_batches(location)
    assert (read["levels"], set(read["subtopologies"].values())) == (1, {2})
    first, last = read["batches"][0], read["batches"][-1]
    assert sum(first["places"][pair.source].values()) == len(KEYS)
    assert sum(last["places"][pair.source].values()) == 2 * len(KEYS)
    assert first["batch"] < last["batch"]
    assert first["at"] < last["at"]

    def states(batch: Raw, tasks: list[int] | None) -> Any:
        return task_states.read_task_states(changing.spark, location, batch["batch"], tasks)

    line = {**lines_of(pair, [0, 0], 2)[0][0], "value_bytes": base64.b64encode(b"10").decode()}
    sums = []
    for batch in (first, last):
        result = simulated(changing, raw, [line], task_states.Begun(states(batch, None)))
        sums += [json.loads(out["value"])["sum"] for out in result.outputs]
    assert sums == [10, 11]
    whole = states(last, None)["rows"]
    parts = [states(last, [task])["rows"] for task in (0, 1)]
    assert (sum(parts), min(parts) > 0) == (whole, True)
    with pytest.raises(MillraceError) as refused:
        simulated(changing, summed(pair, 4), [line], task_states.Begun(states(last, None)))
    assert refused.value.code == "state_of_another_version"
    with pytest.raises(MillraceError) as gone:
        states({"batch": 999}, None)
    assert gone.value.code == "state_unreadable"
    monkeypatch.setattr(task_states, "MOST_ROWS", whole - 1)
    with pytest.raises(MillraceError, match="have more than") as large:
        states(last, None)
    assert large.value.code == "state_too_large"
