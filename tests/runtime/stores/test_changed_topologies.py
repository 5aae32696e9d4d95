"""What happens to state when a topology changes, on Spark and Kafka."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.errors import MillraceError

from tests.compiler.kit import Raw, document, edge, node, sink, store, stream, table
from tests.runtime.changing import KEYS, Changing, Pair, by_key, everything, shown

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

JSON = {"format": "json", "schema": "x STRING"}


@pytest.fixture
def pair(broker: Any) -> Pair:
    return Pair(broker.address)


def line(pair: Pair, *nodes: Raw, kept: Raw | None = None, **more: Any) -> Raw:
    """Return a source, steps and a sink that writes JSON; `kept`: the store of the step `sum`."""
    shown = node("shown", "map_values", value="to_json(named_struct('v', value))")
    steps = [stream("in", [pair.source]), *nodes, node("updates", "to_stream"), shown]
    steps.append(sink("out", topic=pair.sink))
    ids = [each["id"] for each in steps]
    edges = [f"{a} > {b}" for a, b in itertools.pairwise(ids)]
    raw = document(steps, edges, **more)
    if kept is not None:
        raw["nodes"].append(kept)
        raw["edges"].append(edge(f"{kept['id']} > sum.store"))
    return raw


def total(type_: str, add: str, zero: str = "0", **more: Any) -> Raw:
    initializer = f"CAST({zero} AS {type_})" if not zero.startswith("named") else zero
    return node("sum", "aggregate", type=type_, initializer=initializer, aggregator=add, **more)


def numbers(type_: str) -> Raw:
    return total(type_, f"agg + CAST(value AS {type_})")


def values(pair: Pair) -> list[Any]:
    return [value["v"] for _, value in pair.new()]


def test_a_store_keeps_its_rows_through_other_names_and_nodes(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    pair.write([("a", "2")])
    changing.run(line(pair, numbers("BIGINT"), kept=store("rows")), tmp_path)
    before, after = (
        node("positive", "filter", predicate="value > '0'"),
        node("b", "filter", predicate="value > 0"),
    )
    renamed = line(pair, before, numbers("BIGINT"), after, kept=store("rows", name="other"))
    pair.write([("a", "3")])
    changing.run(renamed, tmp_path)
    assert values(pair) == [2, 5]


def test_wider_types_and_new_removed_and_moved_fields_keep_the_values(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    first = "STRUCT<n: INT, last: STRING, gone: INT>"
    second = "STRUCT<last: STRING, n: BIGINT, most: INT>"
    zero = "named_struct('n', 0, 'last', '', 'gone', 7)"
    pair.write([("a", "x"), ("a", "y")])
    add = "named_struct('n', agg.n + 1, 'last', value, 'gone', agg.gone)"
    changing.run(line(pair, total(first, add, zero)), tmp_path)
    assert values(pair)[-1] == {"n": 2, "last": "y", "gone": 7}
    pair.write([("a", "z")])
    add = "named_struct('last', agg.last || value, 'n', agg.n + 3000000000, 'most', agg.most)"
    zero = "named_struct('last', '', 'n', 0L, 'most', 1)"
    changing.run(line(pair, total(second, add, zero)), tmp_path)
    assert values(pair) == [{"last": "yz", "n": 3000000002}]


def test_another_type_is_refused_by_store_or_begins_anew_where_decided(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    pair.write([("a", "22.5")])
    changing.run(line(pair, numbers("DOUBLE")), tmp_path)
    assert values(pair) == [22.5]
    notes = (tmp_path / "checkpoint" / "stores.json").read_text()
    pair.write([("a", "6")])
    with pytest.raises(MillraceError, match="sum: its values were DOUBLE, now BIGINT") as refused:
        changing.run(line(pair, numbers("BIGINT")), tmp_path)
    assert refused.value.code == "state_undecided"
    assert (tmp_path / "checkpoint" / "stores.json").read_text() == notes
    assert values(pair) == []
    changing.run(line(pair, numbers("BIGINT")), tmp_path, "sum=reset")
    assert values(pair) == [6]
    pair.write([("a", "1")])
    changing.run(line(pair, numbers("BIGINT")), tmp_path, "sum=reset")
    assert values(pair) == [7]
    assert [(row["key"], row["value"]) for row in changing.rows(tmp_path, "sum")] == [('"a"', "7")]


def test_an_expression_over_the_old_values_converts_them(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    pair.write([("a", "22.5"), ("b", "1.25")])
    changing.run(line(pair, numbers("DOUBLE")), tmp_path)
    pair.write([("a", "6"), ("b", "7")])
    by = "sum=convert:IF(old > 2, CAST(old * 10 AS BIGINT), NULL)"
    changing.run(line(pair, numbers("BIGINT")), tmp_path, by)
    assert values(pair) == [22.5, 1.25, 231, 7]


def test_bits_are_never_read_as_another_type(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    pair.write([("a", "22.5")])
    changing.run(line(pair, numbers("DOUBLE")), tmp_path)
    notes = tmp_path / "checkpoint" / "stores.json"
    kept = {name: each for name, each in json.loads(notes.read_text()).items() if name != "state"}
    notes.write_text(json.dumps(kept))
    pair.write([("a", "6")])
    with pytest.raises(MillraceError, match="holds values of type DOUBLE") as refused:
        changing.run(line(pair, numbers("BIGINT")), tmp_path)
    assert refused.value.code == "state_incompatible"


def test_a_store_that_was_removed_is_empty_when_it_comes_back(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    other = node("other", "aggregate", type="BIGINT", initializer="0L", aggregator="agg + 1")
    pair.write([("a", "2")])
    changing.run(line(pair, numbers("BIGINT")), tmp_path)
    pair.write([("a", "3")])
    with pytest.raises(MillraceError, match="sum: the job no longer has this store"):
        changing.run(line(pair, other), tmp_path)
    changing.run(line(pair, other), tmp_path, "sum=drop")
    pair.write([("a", "4")])
    changing.run(line(pair, numbers("BIGINT")), tmp_path, "other=drop")
    assert values(pair) == [2, 1, 4]


def test_windows_of_another_size_are_refused_and_of_another_grace_go_on(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    def counted(size: int, grace: int = 0) -> Raw:
        window = {"type": "tumbling", "size": size, "grace": grace}
        step = total("BIGINT", "agg + 1", window=window)
        raw = line(pair, step)
        back = node("back", "map", key="key.key", value="value")
        raw["nodes"].insert(-1, back)
        raw["edges"] = [edge(e) for e in
                        ("in > sum", "sum > updates", "updates > shown", "shown > back",
                         "back > out")]  # fmt: skip
        return raw

    pair.write([("a", "x")])
    changing.run(counted(3_600_000), tmp_path)
    pair.write([("a", "x")])
    changing.run(counted(3_600_000, 5000), tmp_path)
    assert values(pair) == [1, 2]
    with pytest.raises(MillraceError, match="windows were tumbling, size 3600000 ms, now tumbling"):
        changing.run(counted(7_200_000), tmp_path)


# ---- a new checkpoint, written from the old one --------------------------------------------------


def test_state_goes_to_the_task_of_its_key_when_topics_are_widened(
    changing: Changing, broker: Any, tmp_path: Path
) -> None:
    grown, never = Pair(broker.address, 4), Pair(broker.address, 8)
    first = [(key, str(n)) for n, key in enumerate(KEYS)]
    for pair in (grown, never):
        pair.write(first, 1_000)
        pair.write(first[::2], 6_000)
    changing.run(everything(grown, 4), tmp_path / "grown")
    grown.grow(8)
    for pair in (grown, never):
        pair.write(first[::3], 9_000)
        pair.write(first, 12_000)
        pair.write([(key, "1") for key in KEYS], 40_000)
    changing.run(everything(grown, 8), tmp_path / "grown")
    changing.run(everything(never, 8), tmp_path / "never")
    assert by_key(grown) == by_key(never)
    folder = tmp_path / "grown" / "checkpoint"
    notes = json.loads((folder / "stores.json").read_text())
    assert notes["stream"].startswith("stream-2")
    assert [each["stream"] for each in notes["kept"]] == ["stream"]
    assert (folder / "stream" / "offsets").is_dir()
    for name in ("sum", "closing", "sliding", "sessions", "windows", "latest"):
        rows = changing.rows(tmp_path / "grown", name)
        assert rows == changing.rows(tmp_path / "never", name)
        assert {row["key"] for row in rows} == {json.dumps(key) for key in KEYS}


@pytest.mark.long
def test_foreign_key_subscriptions_find_the_tasks_that_wait(
    changing: Changing, broker: Any, tmp_path: Path
) -> None:
    left, right = Pair(broker.address, 2), Pair(broker.address, 2)

    def joined(partitions: int) -> Raw:
        steps = [
            table("left", left.source), table("right", right.source),
            node("both", "join.foreign_key", foreign_key="value",
                 joiner="concat(left, ' ', right)"),
            node("updates", "to_stream"),
        ]  # fmt: skip
        edges = ["left > both.left", "right > both.right", "both > updates"]
        topics = {left.source: partitions, right.source: partitions}
        raw = document(steps, edges, topics=topics)
        shown(raw, "updates", "both", left)
        return raw

    left.write([(key, f"f{n % 3}") for n, key in enumerate(KEYS)])
    changing.run(joined(2), tmp_path)
    left.grow(6)
    right.grow(6)
    right.write([("f0", "zero"), ("f1", "one")])
    changing.run(joined(6), tmp_path)
    expected = [
        (key, {"both": f"f{n % 3} {('zero', 'one')[n % 3]}"})
        for n, key in enumerate(KEYS)
        if n % 3 < 2
    ]
    assert sorted(left.new(), key=str) == sorted(expected, key=str)


@pytest.mark.long
def test_a_repartition_and_a_join_around_a_store_keep_its_rows(
    changing: Changing, pair: Pair, broker: Any, tmp_path: Path
) -> None:
    def summed(*before: Raw, kept: str = "sum") -> Raw:
        return line(pair, *before, numbers("BIGINT"), kept=store("rows"))

    pair.write([("a", "2"), ("b", "5")])
    changing.run(summed(), tmp_path)
    pair.write([("a", "3")])
    changing.run(summed(node("spread", "repartition", partitions=3)), tmp_path)
    pair.write([("b", "1")])
    changing.run(summed(), tmp_path)
    asked = Pair(broker.address)
    joined = summed()
    joined["nodes"] += [
        stream("ask", [asked.source]),
        node("known", "join.stream_table", joiner="concat(left, ' ', right)"),
    ]
    joined["edges"] += [edge("ask > known.left"), edge("sum > known.right")]
    shown(joined, "known", "known", asked)
    asked.write([("b", "how much")])
    changing.run(joined, tmp_path)
    assert sorted(values(pair)) == [2, 5, 5, 6]
    assert asked.new() == [("b", {"known": "how much 6"})]


def test_a_source_that_begins_at_its_end_reads_what_comes_later(
    changing: Changing, pair: Pair, broker: Any, tmp_path: Path
) -> None:
    late = Pair(broker.address)
    late.write([("a", "100")])
    pair.write([("a", "2")])
    changing.run(line(pair, numbers("BIGINT")), tmp_path)
    added = line(pair, node("all", "merge"), numbers("BIGINT"))
    added["nodes"].append(stream("late", [late.source], start="latest"))
    added["edges"].append(edge("late > all"))
    pair.write([("a", "3")])
    changing.run(added, tmp_path)
    late.write([("a", "10")])
    changing.run(added, tmp_path)
    assert values(pair) == [2, 5, 15]


def test_another_source_is_read_by_the_same_stores(
    changing: Changing, pair: Pair, broker: Any, tmp_path: Path
) -> None:
    """First another node for the same topic, then another topic, which is read from its beginning.

    Finally everything differs, in a job that is known to have run.
    """

    def version(id_: str, topic: str, step: Raw) -> Raw:
        raw = line(pair, step)
        raw["nodes"][0] = stream(id_, [topic])
        raw["edges"][0]["source"] = id_
        return raw

    other = Pair(broker.address)
    other.write([("a", "10")])
    pair.write([("a", "2")])
    changing.run(version("in", pair.source, numbers("BIGINT")), tmp_path)
    pair.write([("a", "3")])
    changing.run(version("orders", pair.source, numbers("BIGINT")), tmp_path)
    changing.run(version("others", other.source, numbers("BIGINT")), tmp_path)
    assert values(pair) == [2, 5, 15]
    last = version("in", pair.source, node("same", "map_values", value="value"))
    last["nodes"] = [each for each in last["nodes"] if each["id"] != "updates"]
    last["edges"] = [edge("in > same"), edge("same > shown"), edge("shown > out")]
    with pytest.raises(MillraceError, match="another topology"):
        changing.run(last, tmp_path, "sum=drop")
    changing.run(last, tmp_path, "sum=drop", more=["--continues"])
    assert values(pair) == ["2", "3"]


def test_rows_find_the_tasks_of_keys_in_another_format(
    changing: Changing, broker: Any, tmp_path: Path
) -> None:
    text, quoted = Pair(broker.address, 4), Pair(broker.address, 4)

    def version(pair: Pair, **formats: Any) -> Raw:
        raw = line(text, numbers("BIGINT"), topics={pair.source: 4})
        raw["nodes"][0] = stream("in", [pair.source], **formats)
        return raw

    text.write([(key, "1") for key in KEYS])
    changing.run(version(text), tmp_path)
    quoted.write([(json.dumps(key), "2") for key in KEYS])
    changing.run(version(quoted, key={"format": "json", "schema": "STRING"}), tmp_path)
    assert values(text) == [1] * len(KEYS) + [3] * len(KEYS)


def test_a_version_that_fails_before_its_first_batch_changes_nothing(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    def version(*before: Raw, add: str = "CAST(value AS BIGINT)") -> Raw:
        return line(pair, *before, total("BIGINT", f"agg + {add}"))

    pair.write([("a", "2")])
    changing.run(version(), tmp_path)
    notes = (tmp_path / "checkpoint" / "stores.json").read_text()
    left = tmp_path / "checkpoint" / "stream-20200101T000000000000Z"
    (left / "state").mkdir(parents=True)  # left by a driver that was killed halfway
    pair.write([("a", "3")])
    spread = node("spread", "repartition", partitions=2)
    with pytest.raises(MillraceError, match="nonsense"):
        changing.run(version(spread, add="CAST(raise_error('nonsense') AS BIGINT)"), tmp_path)
    assert (tmp_path / "checkpoint" / "stores.json").read_text() == notes
    assert not left.exists()
    changing.run(version(), tmp_path)
    pair.write([("a", "4")])
    changing.run(version(spread), tmp_path)
    assert values(pair) == [2, 5, 9]


@pytest.mark.long
def test_the_guarantee_changes_both_ways_and_with_it_the_number_of_tasks(
    changing: Changing, broker: Any, tmp_path: Path
) -> None:
    pair = Pair(broker.address, 2)

    def version(partitions: int, guarantee: str) -> Raw:
        return line(
            pair, numbers("BIGINT"), topics={pair.source: partitions},
            settings={"processing_guarantee": guarantee},
        )  # fmt: skip

    for partitions, guarantee in ((2, "at_least_once"), (2, "exactly_once"), (4, "exactly_once"),
                                  (4, "at_least_once")):  # fmt: skip
        if (partitions, guarantee) == (4, "exactly_once"):
            pair.grow(4)
        pair.write([("a", "1"), ("b", "10")])
        changing.run(version(partitions, guarantee), tmp_path)
    assert sorted(values(pair)) == [1, 2, 3, 4, 10, 20, 30, 40]


def test_a_processor_keeps_its_store_when_its_code_and_its_level_change(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    def version(add: int, *before: Raw) -> Raw:
        code = f"""
class Sum(Processor):
    def init(self, context):
        self.context = context
        self.rows = context.store("rows")

    def process(self, record):
        total = (self.rows.get(record.key) or 0) + {add}
        self.rows.put(record.key, total)
        self.context.forward(Record(record.key, total, record.timestamp))
"""
        step = node("sum", "process", code=code, class_name="Sum",
                    output={"key": "STRING", "value": "BIGINT"})  # fmt: skip
        raw = document([stream("in", [pair.source]), *before, step], [])
        ids = ["in", *[each["id"] for each in before], "sum"]
        raw["edges"] = [edge(f"{a} > {b}") for a, b in itertools.pairwise(ids)]
        raw["nodes"].append(store("rows", key_type="STRING", value_type="BIGINT"))
        raw["edges"].append(edge("rows > sum.store"))
        shown(raw, "sum", "v", pair)
        return raw

    pair.write([("a", "x")])
    changing.run(version(1), tmp_path)
    pair.write([("a", "x")])
    changing.run(version(10), tmp_path)
    pair.write([("a", "x")])
    changing.run(version(100, node("spread", "repartition", partitions=2)), tmp_path)
    assert values(pair) == [1, 11, 111]
