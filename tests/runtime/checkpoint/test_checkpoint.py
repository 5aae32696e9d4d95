"""A checkpoint folder identifies the job that wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.checkpoint.checkpoint import notes_of, open_checkpoint
from millrace_runtime.checkpoint.opening import StateOpening, decisions_of
from millrace_runtime.errors import MillraceError


def graph(level: int = 1) -> Any:
    store = {"name": "counts", "node": "counts-store", "kind": "key_value"}
    return {
        "nodes": [
            {"id": "in", "op": "stream", "level": 0, "params": {"topics": ["t"]}},
            {"id": "count", "op": "count", "level": level, "params": {"store": store}},
        ]
    }


def test_a_new_checkpoint_notes_the_stores_by_their_identity(tmp_path: Path) -> None:
    open_checkpoint(str(tmp_path / "c"), graph(), 4)
    noted = json.loads((tmp_path / "c" / "stores.json").read_text())
    assert noted["tasks"] == 4
    assert noted["stores"] == [
        {
            "name": "counts",
            "node": "counts-store",
            "kind": "key_value",
            "operator": "count",
            "level": 1,
        }
    ]


def test_the_same_job_opens_its_checkpoint_again(tmp_path: Path) -> None:
    open_checkpoint(str(tmp_path), graph(), 4)
    written = contents(tmp_path)
    assert written
    open_checkpoint(str(tmp_path), graph(), 4)
    assert contents(tmp_path) == written


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("level", "tasks", "what"), [(1, 8, "tasks"), (2, 4, "levels")])
def test_a_checkpoint_of_another_shape_is_refused_with_what_would_do(
    tmp_path: Path, level: int, tasks: int, what: str
) -> None:
    open_checkpoint(str(tmp_path), graph(), 4)
    with pytest.raises(MillraceError, match=rf"{what}.*new checkpoint folder") as refused:
        open_checkpoint(str(tmp_path), graph(level), tasks)
    assert refused.value.code == f"checkpoint_mismatch_{what}"
    assert refused.value.facts.keys() == {"folder", "before", "now"}


def test_the_checkpoint_of_another_topology_is_refused(tmp_path: Path) -> None:
    open_checkpoint(str(tmp_path), graph(), 4)
    other = graph()
    other["nodes"][0]["id"] = "elsewhere"
    with pytest.raises(MillraceError, match=r"another topology \(its sources: in\)") as refused:
        open_checkpoint(str(tmp_path), other, 4)
    assert refused.value.code == "checkpoint_mismatch_topology"


def test_a_store_of_another_kind_is_refused_at_its_node(
    tmp_path: Path,
) -> None:
    open_checkpoint(str(tmp_path), graph(), 4)
    other = graph()
    other["nodes"][1]["params"]["store"] = {
        "name": "counts", "node": "counts-store", "kind": "window"
    }  # fmt: skip
    with pytest.raises(MillraceError, match="the store counts has the kind key_value") as refused:
        open_checkpoint(str(tmp_path), other, 4)
    assert refused.value.node == "counts-store"


@pytest.mark.parametrize("text", ["", "[]", '{"tasks": '])
def test_a_checkpoint_whose_notes_are_damaged_is_refused(tmp_path: Path, text: str) -> None:
    open_checkpoint(str(tmp_path), graph(), 4)
    (tmp_path / "stores.json").write_text(text)
    with pytest.raises(MillraceError, match="cannot be read") as refused:
        open_checkpoint(str(tmp_path), graph(), 4)
    assert refused.value.code == "checkpoint_mismatch_notes"


def schema(value: str = "long", tasks: int = 4, **more: Any) -> Any:
    store = {"id": "counts-store", "name": "counts", "kind": "key_value", "key": "string",
             "values": {"value": value}, "windows": None, "tasks": tasks}  # fmt: skip
    return {"stores": [{**store, **more}], "topics": ["t"], "patterns": [], "known": []}


def opened(folder: Path, new: Any, *decisions: str, other: Any | None = None) -> StateOpening:
    """Open the checkpoint as the job does at its start, up to the first batch."""
    state = StateOpening(new, notes_of(str(folder)), decisions_of(decisions))
    open_checkpoint(str(folder), other or graph(), 4, state=state)
    return state


def test_a_changed_schema_is_noted_when_a_batch_is_done_and_not_before(tmp_path: Path) -> None:
    opened(tmp_path, schema("integer"))
    state = opened(tmp_path, schema("long"))
    assert notes_of(str(tmp_path))["state"] == schema("integer")
    opened(tmp_path, schema("integer"))
    state.done()
    assert notes_of(str(tmp_path))["state"] == schema("long")


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"value": "double"}, "its values were BIGINT, now DOUBLE"),
        ({"key": "integer"}, "its keys were STRING, now INT"),
        ({"kind": "versioned"}, "it was a key_value store, now it is a versioned store"),
        ({"windows": {"type": "session", "gap": 5}}, "its windows were none, now session, gap 5"),
        ({"id": "other"}, "the job no longer has this store"),
    ],
)
def test_a_store_that_cannot_be_carried_over_needs_a_decision(
    tmp_path: Path, changed: Any, cause: str
) -> None:
    opened(tmp_path, schema())
    new = schema(**changed)
    with pytest.raises(MillraceError, match=f"counts-store: {cause}") as refused:
        opened(tmp_path, new)
    assert refused.value.code == "state_undecided"
    assert "--decide counts-store=reset" in refused.value.message
    state = opened(tmp_path, new, "counts-store=reset")
    assert state.changes == [{"drop": ["counts-store"]}]
    state.done()
    # The decision was for that change: it does not reset the store at every start.
    assert opened(tmp_path, new, "counts-store=reset").changes == state.changes


@pytest.mark.parametrize(("layout", "found"), [(2, "2"), (4, "4"), ("new", "new"), (None, "none")])
def test_a_checkpoint_of_another_layout_is_refused_and_stays(
    tmp_path: Path, layout: object, found: str
) -> None:
    opened(tmp_path, schema())
    # A later version may also have changed the shape of the other notes.
    notes = {"layout": layout, "tasks": {"count": 4}}
    (tmp_path / "stores.json").write_text(json.dumps(notes))
    for read in (
        lambda: notes_of(str(tmp_path)),
        lambda: open_checkpoint(str(tmp_path), graph(), 4),
    ):
        with pytest.raises(MillraceError) as refused:
            read()
        assert refused.value.code == "checkpoint_mismatch_layout"
        assert f"has the layout {found}; this version reads the layout 3" in refused.value.message
        assert "the version that wrote the checkpoint, or with a new" in refused.value.message
        assert refused.value.facts["found"] == found
    assert json.loads((tmp_path / "stores.json").read_text()) == notes


def test_an_expression_converts_values_of_another_type_only(
    tmp_path: Path,
) -> None:
    opened(tmp_path, schema())
    state = opened(tmp_path, schema("string"), "counts-store=convert:CAST(old AS STRING)")
    conversion: Any = {"from": "BIGINT", "to": "STRING", "expression": "CAST(old AS STRING)"}
    changes: Any = state.changes
    assert changes == [{"drop": [], "convert": [{"store": "counts-store", **conversion}]}]
    with pytest.raises(MillraceError, match="cannot be converted: its keys were") as refused:
        opened(tmp_path, schema(key="integer"), "counts-store=convert:old")
    assert refused.value.code == "state_not_convertible"


@pytest.mark.parametrize(
    "text", ["counts", "counts=keep", "=", "counts=", "counts=convert:", "counts=convert: "]
)
def test_a_decision_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(MillraceError, match="STORE=reset or STORE=drop"):
        decisions_of([text])
