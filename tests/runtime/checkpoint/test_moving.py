"""When a checkpoint's state and offsets are not where a job looks for them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.checkpoint import checkpoint, moving
from millrace_runtime.checkpoint.files import write_notes
from millrace_runtime.checkpoint.moving import WAITING, Read, arrived, must_move, reads_of, waiting
from millrace_runtime.checkpoint.opening import StateOpening

Raw = Any


def node(id_: str, op: str, level: int, sub: int, *parents: str, **params: Any) -> Raw:
    return {
        "id": id_, "node": id_, "op": op, "level": level, "sub": sub,
        "parents": [[parent, "out"] for parent in parents], "params": params,
    }  # fmt: skip


def notes(*nodes: Raw, tasks: int = 4, clock: bool = False) -> Raw:
    graph: Any = {"nodes": list(nodes), "subtopologies": {"0": tasks}}
    return checkpoint.metadata_of(graph, tasks, clock=clock)


IN = node("in", "stream", 0, 0, topics=["t"])
COUNT = node("count", "count", 0, 0, "in")
MORE = node("more", "stream", 0, 0, topics=["u"])
LATE = node("late", "stream", 0, 0, topics=["u"], start="latest")


@pytest.mark.parametrize(
    ("changed", "moves"),
    [
        (notes(IN, COUNT), False),
        (notes(IN, node("f", "filter", 0, 0, "in"), {**COUNT, "parents": [["f", "out"]]}), False),
        (notes(IN), False),
        (notes(IN, COUNT, tasks=8), True),
        (notes(IN, COUNT, clock=True), True),
        (notes(IN, {**COUNT, "level": 1}), True),
        (notes(IN, {**COUNT, "sub": 1}), True),
        (notes(IN, COUNT, MORE), False),
        (notes(IN, COUNT, LATE), True),
        (notes({**IN, "params": {"topics": ["t"], "start": "latest"}}, COUNT), True),
    ],
)
def test_state_moves_where_levels_tasks_or_sources_are_others(changed: Raw, moves: bool) -> None:
    assert must_move(notes(IN, COUNT), changed, begins_late=False) is moves


def test_a_topic_that_begins_at_its_end_makes_a_move() -> None:
    assert must_move(notes(IN, COUNT), notes(IN, COUNT, MORE), begins_late=True)
    assert not must_move(notes(IN, COUNT, MORE), notes(IN, COUNT), begins_late=True)


def test_a_table_that_is_looked_up_on_another_level_makes_a_move() -> None:
    lookup = node("lookup", "join_table", 1, 0, "hop", "table")
    rest = (IN, node("table", "table", 0, 0, topic="x"), node("hop", "repartition", 0, 0, "in"))
    other = node("other", "peek", 1, 0, "hop")
    assert must_move(notes(*rest, other), notes(*rest, other, lookup), begins_late=False)


def test_the_sources_of_a_query_are_one_for_each_start_position() -> None:
    table = node("table", "table", 0, 0, topic="x")
    pattern = node("all", "stream", 0, 0, pattern="a.*")
    assert reads_of([IN, LATE, table, pattern]) == [
        Read("earliest", ("t", "x"), ("a.*",)),
        Read("latest", ("u",), ()),
    ]


def schema() -> Raw:
    return {"stores": [], "topics": ["t"], "patterns": [], "known": []}


def start(folder: Path, *nodes: Raw, tasks: int = 4) -> tuple[str, StateOpening]:
    """Open the checkpoint, move what must be moved, and return the query's folder."""
    checkpoint.settle(str(folder))
    state = StateOpening(schema(), checkpoint.notes_of(str(folder)), {})

    def move(before: Raw, now: Raw) -> str:
        moved = {**now, "stream": "stream-2", "base": {"stream": "stream", "batch": 3}}
        write_notes(folder / WAITING, moved)
        return "stream-2"

    graph: Any = {"nodes": list(nodes), "subtopologies": {"0": tasks}}
    location = checkpoint.open_checkpoint(str(folder), graph, tasks, state=state, move=move)
    return Path(location).name, state


def test_the_old_checkpoint_is_used_until_the_first_batch_on_the_new_one(
    tmp_path: Path,
) -> None:
    assert start(tmp_path, IN, COUNT)[0] == "stream"
    name, state = start(tmp_path, IN, COUNT, tasks=8)
    assert name == "stream-2"
    # The previous version starts again on the state that it left.
    assert start(tmp_path, IN, COUNT)[0] == "stream"
    name, state = start(tmp_path, IN, COUNT, tasks=8)
    state.done()
    found = json.loads((tmp_path / "stores.json").read_text())
    assert (found["stream"], found["tasks"]) == ("stream-2", 8)
    assert "base" not in found
    assert waiting(tmp_path) is None
    assert start(tmp_path, IN, COUNT, tasks=8)[0] == "stream-2"


def test_a_move_reports_how_far_it_is_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "PROGRESS_SECONDS", 0.01)
    reported: list[Any] = []
    phases = iter([("reading", 0), ("writing", 12_000), ("checking", 30_000)])

    def progress() -> str:
        phase, rows = next(phases)  # then it raises, like a session that ends
        return json.dumps({"phase": phase, "rows": rows})

    deadline = time.monotonic() + 30
    with moving.reporting(reported.append, progress):
        while len(reported) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert [each["message"] for each in reported] == [
        "Moving the state: reading it.",
        "Moving the state: 12,000 rows written.",
        "Moving the state: 30,000 rows written, reading them back.",
    ]
    moves = [(each["code"], each["facts"]["rows"]) for each in reported]
    assert moves == [
        ("moving_state", "0"), ("moving_state_written", "12,000"),
        ("moving_state_checked", "30,000"),
    ]  # fmt: skip


def commit(stream: Path, batch: int, offsets: str) -> None:
    """Write the files of a Spark batch, with the offsets that one source has read to."""
    for name in ("offsets", "commits"):
        (stream / name).mkdir(parents=True, exist_ok=True)
    (stream / "offsets" / str(batch)).write_text(f'v1\n{{"conf": {{}}}}\n{offsets}')
    (stream / "commits" / str(batch)).touch()


def test_a_folder_without_state_is_the_job_s_once_it_has_read_something(tmp_path: Path) -> None:
    moved: Any = {"stream": "stream-2", "base": {"stream": "stream", "batch": 3, "empty": True}}
    stream = tmp_path / "stream-2"
    assert not arrived(tmp_path, moved)
    (stream / "sources" / "0").mkdir(parents=True)
    (stream / "sources" / "0" / "0").write_text('\0v1\n{"t":{"0":7}}')
    commit(stream, 0, '{"t":{"0":7}}')
    assert not arrived(tmp_path, moved)
    commit(stream, 1, '{"t":{"0":9}}')
    assert arrived(tmp_path, moved)


def test_a_batch_on_the_new_checkpoint_counts_though_its_driver_was_killed(
    tmp_path: Path,
) -> None:
    start(tmp_path, IN, COUNT)
    start(tmp_path, IN, COUNT, tasks=8)
    moved = waiting(tmp_path)
    assert moved is not None
    commit(tmp_path / "stream-2", 0, '{"t": {"0": 7}}')
    assert not arrived(tmp_path, moved), "that was the move"
    commit(tmp_path / "stream-2", 1, '{"t":{"0":7}}')
    assert not arrived(tmp_path, moved), "nothing was read"
    commit(tmp_path / "stream-2", 2, '{"t":{"0":8}}')
    checkpoint.settle(str(tmp_path))
    assert checkpoint.notes_of(str(tmp_path))["stream"] == "stream-2"
    assert waiting(tmp_path) is None
