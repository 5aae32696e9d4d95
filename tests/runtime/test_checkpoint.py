"""A checkpoint folder knows which job wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.checkpoint import is_local, open_checkpoint
from millrace_runtime.errors import MillraceError


def graph(level: int = 1) -> dict[str, Any]:
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
    open_checkpoint(str(tmp_path), graph(), 4)


@pytest.mark.parametrize(("level", "tasks", "what"), [(1, 8, "tasks"), (2, 4, "levels")])
def test_a_checkpoint_of_another_shape_is_refused_with_what_would_do(
    tmp_path: Path, level: int, tasks: int, what: str
) -> None:
    open_checkpoint(str(tmp_path), graph(), 4)
    with pytest.raises(MillraceError, match=rf"{what}.*new checkpoint folder") as refused:
        open_checkpoint(str(tmp_path), graph(level), tasks)
    assert refused.value.code == "checkpoint_mismatch"


def test_the_checkpoint_of_another_topology_is_refused(tmp_path: Path) -> None:
    open_checkpoint(str(tmp_path), graph(), 4)
    other = graph()
    other["nodes"][0]["id"] = "elsewhere"
    with pytest.raises(MillraceError, match=r"another topology \(its sources: in\)") as refused:
        open_checkpoint(str(tmp_path), other, 4)
    assert refused.value.code == "checkpoint_mismatch"


def test_a_store_of_another_kind_under_the_same_name_is_refused_at_its_node(
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
    assert refused.value.code == "checkpoint_mismatch"


def test_folders_of_this_machine_are_told_from_other_storage() -> None:
    assert is_local("/data/x")
    assert is_local("file:///data/x")
    assert not is_local("s3a://bucket/x")
