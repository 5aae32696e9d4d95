"""Stores read from a checkpoint have the contents of Kafka Streams' recorded stores."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.checkpoint.files import write_notes
from millrace_runtime.results.comparing import differences

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FOLDER = Path(__file__).parent
#: key-value, windows (tumbling, one with a retention), versions, foreign-key and table joins,
#: stores of processors, a global table, days of a time zone, windows with an offset
RECORDED = (
    "B04b", "C52", "D09", "D13", "K01b", "M02", "M12", "N01", "N02", "days-in-a-named-store",
    "hopping-windows-with-an-offset",
)  # fmt: skip
#: the largest ones
SLOW = ("N50", "N53")
#: the test driver recorded no such store: these are compared with the operator's contents
WINDOWED = ("E04", "F01a", "G01a", "G05")
Raw = Any


class Kept:
    """Runs documents on Spark and reads their stores from the resulting checkpoints."""

    def __init__(self) -> None:
        from cli.simulating import Warm

        self.warm = Warm(cores=1)
        self._folders: list[Path] = []

    def run(self, document: Raw, inputs: list[Raw]) -> tuple[Raw, Path]:
        """Return the contents of the stores as the operator dumps them, and the checkpoint."""
        from millrace_compiler.state.state_schema import state_schema
        from millrace_runtime.checkpoint import checkpoint
        from millrace_runtime.checkpoint.opening import StateOpening
        from millrace_runtime.results.input_lines import checked_line
        from millrace_runtime.session.session import CHECKPOINTS
        from millrace_runtime.simulator.simulation import Simulator

        class Keeping(Simulator):
            """Leaves the checkpoint in place: Spark stores absolute paths in it."""

            kept: Path

            def close(self) -> list[Any]:
                self.kept, self._folder = self._folder, self._folder / "nothing"
                state = StateOpening(state_schema(compilation), {}, {})
                tasks = self._job.shuffle_partitions
                notes = checkpoint.metadata_of(self._job.graph, tasks, state=state)
                write_notes(self.kept / checkpoint.NOTES, notes)
                return super().close()

        compilation = self.warm.compile(document).require()
        lines = [checked_line(line, "input") for line in inputs]
        topics = document.get("topics") or {}
        session = self.warm.spark.newSession()
        for name, value in CHECKPOINTS.items():
            session.conf.set(name, value)
        simulator = Keeping(
            session,
            compilation.require_task_graph(),
            partitions={name: int(topic.get("partitions", 1)) for name, topic in topics.items()},
        )
        result = simulator.run(lines)
        assert result.error is None
        self._folders.append(simulator.kept)
        return result.stores, simulator.kept

    def close(self) -> None:
        """End the session and delete the checkpoints."""
        self.warm.close()
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def read(self, folder: Path, store: str, **query: Any) -> Raw:
        """Return a page of a store with keys and values parsed from JSON."""
        from millrace_runtime.stores.reading import StateQuery, read_state

        page = read_state(self.warm.spark, str(folder), store, StateQuery(**query))
        for row in page["rows"]:
            row["key"], row["value"] = json.loads(row["key"]), json.loads(row["value"] or "null")
        return page

    def whole(self, folder: Path, store: str, **query: Any) -> list[Raw]:
        """All rows of a store, page by page."""
        rows, after = [], None
        while True:
            page = self.read(folder, store, after=after, **query)
            rows += page["rows"]
            after = page["next"]
            if after is None:
                return rows


@pytest.fixture(scope="module")
def kept() -> Iterator[Kept]:
    found = Kept()
    yield found
    found.close()


def scenario(name: str) -> Raw:
    [path] = FOLDER.glob(f"s*/{name}.json")
    found: Raw = json.loads(path.read_text(encoding="utf-8"))
    return found


def as_dumped(row: Raw) -> Raw:
    """Return a row in the form of the operator's own dump, which writes windows into keys."""
    key = row["key"]
    if "window" in row:
        end = row["window"]["end"]
        key = {"key": key, "window": {**row["window"], "end": -1 if end is None else end}}
    return {**row, "key": key}


@pytest.mark.parametrize(
    "name", [*RECORDED, *(pytest.param(name, marks=pytest.mark.long) for name in SLOW)]
)
def test_a_store_in_the_checkpoint_is_the_one_that_kafka_streams_had(name: str, kept: Kept) -> None:
    given = scenario(name)
    _, folder = kept.run(given["topology"], given["inputs"])
    stores = {
        store: [as_dumped(row) for row in kept.whole(folder, store, limit=2)]
        for store in given["expected"]["stores"]
    }
    only: Any = {**given, "expected": {"stores": given["expected"]["stores"]}}
    assert differences(only, {"stores": stores}, "all") == []


def with_store(document: Raw, kind: str, **params: Any) -> Raw:
    """Return the document with a store node for its windowed aggregation."""
    counted = next(node["id"] for node in document["nodes"] if node["params"].get("window"))
    return {
        **document,
        "nodes": [*document["nodes"], {"id": "kept", "kind": kind, "params": params}],
        "edges": [
            *document["edges"],
            {"source": "kept", "target": counted, "target_port": "store"},
        ],
    }


@pytest.mark.parametrize("name", WINDOWED)
def test_windows_in_the_checkpoint_are_those_that_the_operator_shows(name: str, kept: Kept) -> None:
    given = scenario(name)
    kind = "store.session" if name.startswith("G") else "store.window"
    document = with_store(given["topology"], kind, name="kept")
    stores, folder = kept.run(document, given["inputs"])
    rows = [as_dumped(row) for row in kept.whole(folder, "kept", limit=1)]
    only: Any = {**given, "expected": {"stores": stores}}
    assert differences(only, {"stores": {"kept": rows}}, "all") == []
    # Pages of one row come in the same order as a single page of all rows.
    assert [as_dumped(row) for row in kept.read(folder, "kept")["rows"]] == rows


def text_stream(id_: str, topic: str) -> Raw:
    text = {"format": "string"}
    return {"id": id_, "kind": "source.stream",
            "params": {"topics": [topic], "key": text, "value": text}}  # fmt: skip


def counted(**params: Any) -> Raw:
    """Return a document that counts the topic `in` in two tasks, in the count's own store."""
    return {
        "format": "millrace.topology/1",
        "name": "counted",
        "topics": {"in": {"partitions": 2}},
        "nodes": [
            text_stream("in", "in"),
            {"id": "count", "kind": "count", "params": params},
            {"id": "rows", "kind": "to_stream", "params": {}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [
            {"source": "in", "target": "count"},
            {"source": "count", "target": "rows"},
            {"source": "rows", "target": "out"},
        ],
    }


def line(key: str, timestamp: int, partition: int = 0, value: str | None = "v") -> Raw:
    return {
        "topic": "in", "key": key, "value": value, "timestamp": timestamp, "partition": partition,
    }  # fmt: skip


def keys(rows: list[Raw]) -> list[str]:
    return [row["key"] for row in rows]


def test_a_store_without_a_node_is_read_by_key_range_prefix_and_time(kept: Kept) -> None:
    names = ["ann", "anna", "bob", "böb", "cy", "dan", "eve"]
    lines = [line(name, 10 + at, at % 2) for at, name in enumerate([*names, "bob"])]
    _, folder = kept.run(counted(), lines)
    page = kept.read(folder, "count")
    assert keys(page["rows"]) == sorted([*names, "bob"], key=str.encode)
    assert page["next"] is None
    assert page["store"] == {"id": "count", "name": "count", "kind": "key_value"}
    assert {task["task"]: task["stream_time"] for task in page["tasks"]} == {"0_0": 16, "0_1": 17}
    assert page["batch"] == 8  # one batch for each line, and one that dumps the stores
    assert kept.read(folder, "count", key="ann")["rows"] == [
        {"key": "ann", "value": 1, "timestamp": 10, "task": 0}
    ]
    # A foreign producer may write the same key to two partitions: each task then has a row.
    assert [row["task"] for row in kept.read(folder, "count", key="bob")["rows"]] == [0, 1]
    assert kept.read(folder, "count", key="nobody")["rows"] == []
    assert keys(kept.read(folder, "count", prefix="an")["rows"]) == ["ann", "anna"]
    assert keys(kept.read(folder, "count", start="bob", end="cy")["rows"])[-1] == "cy"
    assert keys(kept.read(folder, "count", start="cz")["rows"]) == ["dan", "eve"]
    assert keys(kept.read(folder, "count", newest=True, limit=2)["rows"]) == ["bob", "eve"]
    assert keys(kept.whole(folder, "count", newest=True, limit=2))[2:] == [
        "dan", "cy", "böb", "bob", "anna", "ann",
    ]  # fmt: skip


def test_versions_are_read_as_of_a_time_and_one_by_one(kept: Kept) -> None:
    document = counted()
    text = {"format": "string"}
    document["nodes"][0] = {
        "id": "in", "kind": "source.table", "params": {"topic": "in", "key": text, "value": text},
    }  # fmt: skip
    document["nodes"][1] = {
        "id": "past", "kind": "store.versioned",
        "params": {"name": "past", "history_retention": 1000},
    }  # fmt: skip
    document["edges"] = [
        {"source": "past", "target": "in", "target_port": "store"},
        {"source": "in", "target": "rows"},
        {"source": "rows", "target": "out"},
    ]
    given = [("a", 100, "one"), ("b", 150, "other"), ("c", 160, "old"), ("a", 300, "two"),
             ("a", 1200, None), ("a", 1250, "three"), ("b", 1400, "more")]  # fmt: skip
    stores, folder = kept.run(document, [line(key, at, 0, value) for key, at, value in given])

    def values(**query: Any) -> list[tuple[str, Any, int]]:
        rows = kept.whole(folder, "past", **query)
        return [(row["key"], row["value"], row["valid_from"]) for row in rows]

    latest = [("a", "three", 1250), ("b", "more", 1400), ("c", "old", 160)]
    assert values(limit=1) == latest
    assert [(row["key"], row["value"], row["timestamp"]) for row in stores["past"]] == latest
    before = [("b", "other", 150), ("c", "old", 160)]
    assert values(as_of=1100) == [("a", "two", 300), *before]
    assert values(as_of=1200) == before
    # Versions that were replaced before the history begins, at 400, are gone.
    assert values(key="a", versions=True, limit=1) == [
        ("a", "three", 1250), ("a", None, 1200), ("a", "two", 300),
    ]  # fmt: skip
    assert values(key="a", versions=True, from_time=1000) == [
        ("a", "three", 1250), ("a", None, 1200),
    ]  # fmt: skip
    # Before the history, only a latest version that is old enough is known.
    assert values(as_of=200) == [("c", "old", 160)]


def test_windows_are_fetched_by_key_and_time_and_expired_ones_are_gone(kept: Kept) -> None:
    document = with_store(
        counted(window={"type": "tumbling", "size": 10, "grace": 20}), "store.window", name="kept"
    )
    lines = [line("a", 0), line("b", 5), line("a", 12), line("a", 25), line("b", 36)]
    _, folder = kept.run(document, lines)

    def windows(**query: Any) -> list[tuple[str, int, int]]:
        rows = kept.whole(folder, "kept", **query)
        return [(row["key"], row["window"]["start"], row["window"]["end"]) for row in rows]

    # The clock is at 30, the start of the last window; the window that began at 0 has expired.
    assert windows() == [("a", 10, 20), ("a", 20, 30), ("b", 30, 40)]
    assert windows(key="a", from_time=15) == [("a", 20, 30)]
    assert windows(from_time=10, to_time=20) == [("a", 10, 20), ("a", 20, 30)]
    assert windows(newest=True, limit=1) == [("b", 30, 40), ("a", 20, 30), ("a", 10, 20)]


@pytest.mark.long
def test_what_is_chosen_of_many_rows_is_what_all_rows_have(kept: Kept) -> None:
    """Rows are read in pieces, and by the lengths of their keys."""
    chosen = random.Random(11)
    for window in (None, {"type": "tumbling", "size": 10, "grace": 1000}):
        document = counted(**({} if window is None else {"window": window}))
        # Keys of up to five characters.
        records = (
            "transform(sequence(0, 2500), i -> struct(substr("
            "conv(cast(i * 7919 % 100003 AS STRING), 10, 16), 1 + i % 3) AS key, 'v' AS value))"
        )
        document["nodes"].insert(
            1, {"id": "many", "kind": "flat_map", "params": {"records": records}}
        )
        document["edges"][0] = {"source": "in", "target": "many"}
        document["edges"].append({"source": "many", "target": "count"})
        _, folder = kept.run(document, [line("k", 15 * at, at % 2) for at in range(6)])
        rows = kept.whole(folder, "count", limit=1000)
        assert len(rows) > 1500
        assert rows == kept.whole(folder, "count", limit=300)
        for _ in range(3):
            low, high = sorted(chosen.choice(rows)["key"] for _ in range(2))
            between = [row for row in rows if low <= row["key"] <= high]
            assert kept.whole(folder, "count", start=low, end=high, limit=700) == between
            assert kept.whole(folder, "count", key=low) == [
                row for row in rows if row["key"] == low
            ]
            assert kept.whole(folder, "count", prefix=low[:2]) == [
                row for row in rows if row["key"].startswith(low[:2])
            ]
            if window is not None:
                assert kept.whole(folder, "count", end=high, from_time=20, to_time=50) == [
                    row for row in rows
                    if row["key"] <= high and 20 <= row["window"]["start"] <= 50
                ]  # fmt: skip


def test_what_cannot_be_read_is_reported_by_code(kept: Kept, tmp_path: Path) -> None:
    from millrace_runtime.errors import MillraceError
    from millrace_runtime.stores.reader import answer

    numbers = counted()
    numbers["nodes"][0]["params"]["key"] = {"format": "long"}
    _, folder = kept.run(numbers, [{**line("", 1), "key": 7}, {**line("", 2), "key": -1}])

    def code(location: Path, store: str = "count", **query: Any) -> str:
        with pytest.raises(MillraceError) as refused:
            kept.read(location, store, **query)
        return refused.value.code

    assert [row["value"] for row in kept.read(folder, "count", key="7")["rows"]] == [1]
    # Kafka Streams' stores are ordered by bytes, in which -1 is the largest.
    assert [row["key"] for row in kept.read(folder, "count")["rows"]] == [7, -1]
    assert code(folder, key="seven") == "key_invalid"
    # The process that reads stores for the backend returns the error.
    question: Any = {
        "do": "read_state", "checkpoint": str(folder), "store": "count", "query": {"key": "seven"}
    }  # fmt: skip
    assert answer(kept.warm.spark, question)["answer"]["error"]["code"] == "key_invalid"
    assert code(folder, key="") == "key_invalid"
    assert code(folder, prefix="7") == "query_invalid"
    assert code(folder, as_of=1) == "query_invalid"
    assert code(folder, from_time=1) == "query_invalid"
    assert code(folder, after="nonsense") == "query_invalid"
    assert code(folder, limit=0) == "query_invalid"
    assert code(folder, limit=1001) == "query_invalid"
    assert code(folder, "other") == "no_such_store"
    assert code(tmp_path) == "state_unreadable"
    assert code(tmp_path / "nothing") == "no_state_yet"
    (tmp_path / "stores.json").write_text((folder / "stores.json").read_text())
    assert code(tmp_path) == "no_state_yet"


def test_the_command_prints_stores_and_rows(kept: Kept, capsys: pytest.CaptureFixture[str]) -> None:
    from cli.arguments import parser
    from cli.main import main
    from cli.state import show

    _, folder = kept.run(counted(), [line("ann", 1000), line("bob", 2000), line("ann", 3000)])

    def printed(*options: str) -> tuple[str, str]:
        # `main` would end the session that the other tests use.
        show(kept.warm.spark, parser().parse_args(["state", str(folder), "count", *options]))
        reported = capsys.readouterr()
        return reported.out, reported.err

    assert main(["state", str(folder)]) == 0
    assert capsys.readouterr().out == "count  key_value\n"
    out, err = printed("--key", "ann")
    assert out == '"ann"\t2\t1970-01-01T00:00:03.000Z\n'
    assert err.startswith("count as of batch 3, ")
    assert "Stream time: 0_0 1970-01-01T00:00:03.000Z" in err
    page = json.loads(printed("--newest", "--limit", "1", "--json")[0])
    assert [(row["key"], row["value"]) for row in page["rows"]] == [("ann", 2)]
    out, err = printed("--limit", "1")
    assert out.startswith('"ann"')
    assert printed("--limit", "1", "--after", err.split()[-1])[0].startswith('"bob"')
    for asked, words in [
        (["nowhere"], "does not contain a checkpoint"),
        ([str(folder), "count", "--limit", "0"], "1 to 1000 rows"),
        ([str(folder), "count", "--as-of", "noon"], "ISO 8601"),
    ]:
        assert main(["state", *asked]) == 2
        assert words in capsys.readouterr().err
